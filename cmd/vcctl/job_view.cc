#include "cmd/vcctl/job_view.h"

#include <map>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "api/core/pod.h"
#include "api/json.h"
#include "api/schemas/table.h"
#include "base/printable.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;
using api::volcano::JobStatus;

constexpr char kOwnRecord[] = "gangway.io/";

// A container as a view prints it.
struct ContainerText {
  std::string image, name, working_dir;
  std::vector<std::string> command;
  std::vector<api::core::ContainerPort> ports;
  api::core::ResourceRequirements resources;
  static constexpr std::string_view kName = "Container";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&ContainerText::name>("name", ""), api::MakeField<&ContainerText::image>("image", ""),
        api::MakeField<&ContainerText::command>("command", ""), api::MakeField<&ContainerText::ports>("ports", ""),
        api::MakeField<&ContainerText::resources>("resources", ""),
        api::MakeField<&ContainerText::working_dir>("workingDir", ""));
  }
};
struct PullSecretText {
  std::string name;
  static constexpr std::string_view kName = "LocalObjectReference";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&PullSecretText::name>("name", "")); }
};
struct PodSpecText {
  std::vector<ContainerText> containers;
  std::vector<PullSecretText> image_pull_secrets;
  std::string restart_policy;
  static constexpr std::string_view kName = "PodSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&PodSpecText::containers>("containers", ""),
                           api::MakeField<&PodSpecText::image_pull_secrets>("imagePullSecrets", ""),
                           api::MakeField<&PodSpecText::restart_policy>("restartPolicy", ""));
  }
};
struct TemplateText {
  api::ObjectMeta metadata;
  PodSpecText spec;
  static constexpr std::string_view kName = "PodTemplateSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&TemplateText::metadata>("metadata", ""),
                           api::MakeField<&TemplateText::spec>("spec", ""));
  }
};

// Lines, two spaces a level. Values and texts are others' and are made printable; labels are ours.
class Page {
 public:
  void Line(int level, absl::string_view text) {
    absl::StrAppend(&out_, std::string(static_cast<std::size_t>(2 * level), ' '), text, "\n");
  }
  void Field(int level, absl::string_view label, absl::string_view value) {
    Line(level, absl::StrCat(label, "\t", OneLine(value)));
  }
  // Each of its lines as deep as the first, so that none passes for one of ours.
  void Text(int level, absl::string_view text) {
    for (const absl::string_view line : absl::StrSplit(text, '\n')) Line(level, Lines(line));
  }
  void Number(int level, absl::string_view label, std::int64_t value) { Field(level, label, absl::StrCat(value)); }
  void NumberUnlessZero(int level, absl::string_view label, std::int64_t value) {
    if (value > 0) Number(level, label, value);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string GoTime(const api::Time& time) {
  return time.set() ? absl::FormatTime("%Y-%m-%d %H:%M:%S +0000 UTC", time.at, absl::UTCTimeZone())
                    : "0001-01-01 00:00:00 +0000 UTC";
}

std::string MapText(const std::map<std::string, std::string>& map) {
  if (map.empty()) return "<none>";
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject();
  for (const auto& [key, value] : map) json.Field(key, value);
  json.EndObject();
  return out;
}

std::string ValueOf(const std::map<std::string, std::string>& map, const std::string& key) {
  const auto at = map.find(key);
  return at == map.end() ? "" : at->second;
}

std::string Amount(const api::ResourceList& list, const std::string& name) {
  const auto at = list.find(name);
  return at == list.end() ? "0" : at->second.ToString();
}

// A job plugin's flags as Go prints a list: [a b].
std::string PluginFlags(const Job& job, const std::string& name) {
  std::string out = "[";
  if (const auto at = job.spec.plugins.find(name); at != job.spec.plugins.end()) {
    for (const std::string& flag : at->second) absl::StrAppend(&out, out.size() == 1 ? "" : " ", flag);
  }
  return out + "]";
}

void WriteResources(const ContainerText& container, Page& page) {
  page.Line(5, "Resources:");
  page.Line(6, "Limits:");
  page.Field(7, "Cpu:   ", Amount(container.resources.limits, "cpu"));
  page.Field(7, "Memory:", Amount(container.resources.limits, "memory"));
  page.Line(6, "Requests:");
  page.Field(7, "Cpu:   ", Amount(container.resources.requests, "cpu"));
  page.Field(7, "Memory:", Amount(container.resources.requests, "memory"));
  page.Field(6, "Working Dir:", container.working_dir);
}

void WriteContainer(const ContainerText& container, Page& page) {
  page.Line(5, "Command:");
  for (const std::string& word : container.command) page.Text(6, word);
  page.Field(5, "Image:", container.image);
  page.Field(5, "Name: ", container.name);
  page.Line(5, "Ports:");
  for (const api::core::ContainerPort& port : container.ports) {
    page.Number(6, "Container Port:", port.container_port);
    page.Field(6, "Name:          ", port.name);
  }
  WriteResources(container, page);
}

void WriteTask(const api::volcano::TaskSpec& task, Page& page) {
  page.Field(2, "Name:", task.name);
  page.Number(2, "Replicas:", task.replicas);
  page.Line(2, "Template:");
  const absl::StatusOr<TemplateText> pod =
      api::Decode<TemplateText>(task.pod_template.empty() ? "{}" : task.pod_template.json);
  if (!pod.ok()) return page.Text(3, absl::StrCat("<", pod.status().message(), ">"));
  page.Line(3, "Metadata:");
  page.Line(4, "Annotations:");
  page.Field(5, "Cri . Cci . Io / Container - Type:          ",
             ValueOf(pod->metadata.annotations, "cri.cci.io/container-type"));
  page.Field(5, "Kubernetes . Io / Availablezone:            ",
             ValueOf(pod->metadata.annotations, "kubernetes.io/availablezone"));
  page.Field(5, "Network . Alpha . Kubernetes . Io / Network:",
             ValueOf(pod->metadata.annotations, "network.alpha.kubernetes.io/network"));
  page.Field(4, "Creation Timestamp:", GoTime(pod->metadata.creation_timestamp));
  page.Line(3, "Spec:");
  page.Line(4, "Containers:");
  for (const ContainerText& container : pod->spec.containers) WriteContainer(container, page);
  page.Line(4, "Image Pull Secrets:");
  for (const PullSecretText& secret : pod->spec.image_pull_secrets) page.Field(5, "Name:     ", secret.name);
  page.Field(4, "Restart Policy:   ", pod->spec.restart_policy);
}

void WriteHead(const Job& job, Page& page) {
  const api::ObjectMeta& meta = job.metadata;
  page.Field(0, "Name:       ", meta.name);
  page.Field(0, "Namespace:  ", meta.ns);
  page.Field(0, "Labels:     ", MapText(meta.labels));
  page.Field(0, "Annotations:", MapText(meta.annotations));
  page.Field(0, "API Version:", job.api_version);
  page.Field(0, "Kind:       ", job.kind);
  page.Line(0, "Metadata:");
  page.Field(1, "Creation Timestamp:", GoTime(meta.creation_timestamp));
  page.Field(1, "Generate Name:     ", meta.generate_name);
  page.Number(1, "Generation:        ", meta.generation);
  page.Field(1, "Resource Version:  ", meta.resource_version);
  page.Field(1, "UID:               ", meta.uid);
}

void WriteStatus(const JobStatus& status, Page& page) {
  page.Line(0, "Status:");
  page.NumberUnlessZero(1, "Succeeded:    ", status.succeeded);
  page.NumberUnlessZero(1, "Pending:      ", status.pending);
  page.NumberUnlessZero(1, "Running:      ", status.running);
  page.NumberUnlessZero(1, "Failed:       ", status.failed);
  page.NumberUnlessZero(1, "Terminating:  ", status.terminating);
  page.NumberUnlessZero(1, "Unknown:      ", status.unknown);
  page.NumberUnlessZero(1, "RetryCount:   ", status.retry_count);
  page.NumberUnlessZero(1, "Min Available:", status.min_available);
  page.NumberUnlessZero(1, "Version:      ", status.version);
  page.Line(1, "State:");
  page.Field(2, "Phase:", status.state.phase);
  bool titled = false;
  for (const auto& [key, value] : status.controlled_resources) {
    if (absl::StartsWith(key, kOwnRecord)) continue;
    if (!titled) page.Line(1, "Controlled Resources:");
    titled = true;
    page.Field(2, absl::StrCat(OneLine(key), ": "), value);
  }
  if (status.conditions.empty()) return;
  page.Line(1, "Conditions:");
  page.Line(2, "Status\tTransitionTime");
  for (const api::volcano::JobCondition& condition : status.conditions) {
    page.Line(2, absl::StrCat(OneLine(condition.status), " \t", GoTime(condition.last_transition_time), " "));
  }
}

std::string AgeOf(const api::Time& time, absl::Time now) {
  return time.set() ? schemas::HumanDuration(now - time.at) : "<unknown>";
}

std::string EventAge(const JobEvent& event, absl::Time now) {
  if (event.count <= 1) return AgeOf(event.first_timestamp, now);
  return absl::StrCat(AgeOf(event.last_timestamp, now), " (x", event.count, " over ", AgeOf(event.first_timestamp, now),
                      ")");
}

}  // namespace

std::string JobViewText(const Job& job) {
  Page page;
  WriteHead(job, page);
  page.Line(0, "Spec:");
  page.Number(1, "Min Available:     ", job.spec.min_available);
  page.Line(1, "Plugins:");
  page.Field(2, "Env:", PluginFlags(job, "env"));
  page.Field(2, "Ssh:", PluginFlags(job, "ssh"));
  page.Field(1, "Scheduler Name:    ", job.spec.scheduler_name);
  page.Line(1, "Tasks:");
  for (const api::volcano::TaskSpec& task : job.spec.tasks) WriteTask(task, page);
  WriteStatus(job.status, page);
  return page.Take();
}

std::string JobEventsText(absl::Span<const JobEvent> events, absl::Time now) {
  if (events.empty()) return "Events: \t<none>\n";
  std::string out = "Events:\n";
  const auto row = [&out](absl::string_view type, absl::string_view reason, absl::string_view age,
                          absl::string_view from, absl::string_view message) {
    absl::StrAppendFormat(&out, "%-15s\t%-40s\t%-30s\t%-40s\t%s\n", type, reason, age, from, message);
  };
  row("Type", "Reason", "Age", "Form", "Message");  // "Form" is vcctl's
  row("-------", "-------", "-------", "-------", "-------");
  for (const JobEvent& event : events) {
    const std::string from = event.source.host.empty() ? event.source.component
                                                       : absl::StrCat(event.source.component, ", ", event.source.host);
    row(OneLine(event.type), OneLine(event.reason), EventAge(event, now), OneLine(from),
        OneLine(absl::StripAsciiWhitespace(event.message)));
  }
  return out;
}

}  // namespace gangway::cmd
