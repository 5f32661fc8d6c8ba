#include "cmd/simulate/jobs.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/duration.h"
#include "api/json.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/quantity.h"
#include "api/volcano/defaults.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cmd/explain/sight.h"
#include "cmd/translate/object_check.h"
#include "plugin/ingest/ingest.h"
#include "plugin/lifecycle/job/pod.h"
#include "translator/files/manifest.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;

constexpr char kJobColumn[] = "job";

absl::Status Wrong(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

// ---- tables

bool IsTable(absl::string_view text) {
  const absl::string_view first = text.substr(0, text.find('\n'));
  return absl::StrContains(first, ',') && !absl::StrContains(first, ':') && !absl::StrContains(first, '{');
}

std::vector<std::string> CellsOf(absl::string_view line) {
  std::vector<std::string> cells;
  for (const absl::string_view cell : absl::StrSplit(line, ',')) cells.emplace_back(absl::StripAsciiWhitespace(cell));
  return cells;
}

absl::StatusOr<std::int32_t> CountOf(absl::string_view where, absl::string_view column, const std::string& cell) {
  std::int32_t count = 0;
  if (!absl::SimpleAtoi(cell, &count) || count < 1)
    return Wrong(where, absl::StrCat(column, " ", cell, ": must be a number from 1"));
  return count;
}

absl::StatusOr<Job> JobOfRow(const std::vector<std::string>& columns, const std::vector<std::string>& cells,
                             const std::string& where) {
  if (cells.size() != columns.size())
    return Wrong(where, absl::StrCat("has ", cells.size(), " cells, the first line ", columns.size()));
  Job job;
  job.metadata.ns = "default";
  api::volcano::TaskSpec task;
  task.name = "worker";
  task.replicas = 1;
  std::string requests;
  api::JsonWriter writer(requests);
  writer.BeginObject();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string &column = columns[i], &cell = cells[i];
    if (cell.empty()) continue;
    if (column == kJobColumn) {
      job.metadata.name = cell;
    } else if (column == "namespace") {
      job.metadata.ns = cell;
    } else if (column == "queue") {
      job.spec.queue = cell;
    } else if (column == "priorityClassName") {
      job.spec.priority_class_name = cell;
    } else if (column == "arrives") {
      job.metadata.annotations[std::string(kArrivesAnnotation)] = cell;
    } else if (column == "runs") {
      if (!api::ParseGoDuration(cell).ok())
        return Wrong(where, absl::StrCat("runs ", cell, ": write a number and a unit, such as 2h"));
      job.metadata.annotations[std::string(ingest::kExpectedRuntimeKey)] = cell;
    } else if (column == "replicas") {
      GW_ASSIGN_OR_RETURN(task.replicas, CountOf(where, column, cell));
    } else if (column == "minAvailable") {
      GW_ASSIGN_OR_RETURN(job.spec.min_available, CountOf(where, column, cell));
    } else {
      if (!api::Quantity::Parse(cell).ok())
        return Wrong(where, absl::StrCat(column, " ", cell, ": must be an amount, such as 8 or 64Gi"));
      writer.Field(column, cell);
    }
  }
  writer.EndObject();
  if (job.metadata.name.empty()) return Wrong(where, "has no job");
  task.pod_template.json = absl::StrCat(
      R"({"spec":{"containers":[{"name":"worker","image":"simulated","resources":{"requests":)", requests, "}}]}}");
  job.spec.tasks.push_back(std::move(task));
  return job;
}

absl::StatusOr<std::vector<Job>> ReadTable(absl::string_view text, absl::string_view source) {
  const JobsLimits limits;
  std::vector<Job> jobs;
  std::vector<std::string> columns;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const std::string where = absl::StrCat(source, ":", number);
    if (columns.empty()) {
      columns = CellsOf(line);
      if (std::find(columns.begin(), columns.end(), kJobColumn) == columns.end())
        return Wrong(where, "a table of jobs begins with the names of its columns, of which one is job");
      continue;
    }
    GW_ASSIGN_OR_RETURN(Job job, JobOfRow(columns, CellsOf(line), where));
    if (jobs.size() == limits.max_jobs) return Wrong(where, absl::StrCat("more than ", limits.max_jobs, " jobs"));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// ---- files of objects

absl::StatusOr<std::vector<Job>> ReadObjects(absl::string_view text, absl::string_view source) {
  GW_ASSIGN_OR_RETURN(const std::vector<api::MixedDocument> documents, api::ReadMixedManifest(text, source));
  convert::TranslateOptions options;
  options.target = convert::Target::kGangway;
  options.kept = true;
  const convert::ManifestTranslation translation = convert::TranslateManifest(documents, options, CheckTypes);
  for (const convert::PlacedFinding& placed : translation.findings) {
    if (placed.finding.level() == convert::Level::kError) return absl::InvalidArgumentError(placed.ToString());
  }
  std::vector<Job> jobs;
  for (const convert::ManifestObject& object : translation.objects) {
    const api::ManifestDocument& input = documents[object.input].document;
    GW_ASSIGN_OR_RETURN(const boost::json::value value, api::ParseJson(object.json));
    if (api::FindKind(api::TextAt(value, {"apiVersion"}), api::TextAt(value, {"kind"})) != &api::kJobs) continue;
    absl::StatusOr<Job> job = api::Decode<Job>(object.json);
    if (!job.ok()) return Wrong(input.Where(""), job.status().message());
    if (job->metadata.ns.empty()) job->metadata.ns = "default";
    jobs.push_back(*std::move(job));
  }
  return jobs;
}

absl::StatusOr<absl::Time> ArrivalTime(const Job& job, absl::Time begin) {
  const auto said = job.metadata.annotations.find(std::string(kArrivesAnnotation));
  if (said == job.metadata.annotations.end()) return begin;
  if (const auto after = api::ParseGoDuration(said->second); after.ok()) return begin + *after;
  if (const auto at = api::ParseTime(said->second); at.ok()) return *at;
  return absl::InvalidArgumentError(
      absl::StrCat("job ", job.metadata.ns, "/", job.metadata.name, ": ", kArrivesAnnotation, " ", said->second,
                   ": write a time, such as 2026-11-24T07:00:00Z, or a duration after the beginning, such as 2h30m"));
}

// The pods of a task are alike but for their index, so that one is decoded and not all.
absl::StatusOr<std::vector<model::PodFacts>> PodsOf(const Job& job, const std::string& group,
                                                    absl::string_view scheduler_name) {
  std::vector<model::PodFacts> out;
  for (const api::volcano::TaskSpec& task : job.spec.tasks) {
    Job one = job;
    one.spec.tasks = {task};
    const bool alike = !task.partition_policy.has_value() && task.replicas > 0;
    if (alike) one.spec.tasks.front().replicas = 1;
    GW_ASSIGN_OR_RETURN(std::vector<model::PodFacts> pods, WantedPods(one, group, scheduler_name));
    if (alike && pods.size() == 1) {
      const std::string stem(absl::StripSuffix(pods.front().name, "0"));
      for (std::int32_t i = 1; i < task.replicas; ++i) {
        pods.push_back(pods.front());
        pods.back().name = absl::StrCat(stem, i);
        pods.back().index = i;
      }
    }
    std::move(pods.begin(), pods.end(), std::back_inserter(out));
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<Job>> ReadJobs(absl::string_view text, absl::string_view source) {
  GW_ASSIGN_OR_RETURN(std::vector<Job> jobs, IsTable(text) ? ReadTable(text, source) : ReadObjects(text, source));
  if (jobs.empty()) return Wrong(source, "there is no job in it");
  return jobs;
}

absl::StatusOr<simulate::Arrival> ArrivalOf(Job job, std::size_t known, absl::Time begin,
                                            const lifecycle::PriorityClasses& classes, absl::string_view scheduler_name,
                                            const lifecycle::RunHistory& history) {
  api::volcano::ApplyDefaults(job);
  job.metadata.uid = absl::StrFormat("00000000-0000-4000-8000-%012d", known);
  simulate::Arrival out;
  GW_ASSIGN_OR_RETURN(out.comes, ArrivalTime(job, begin));
  GW_ASSIGN_OR_RETURN(api::volcano::PodGroupSpec spec, lifecycle::WantedPodGroupSpec(job.spec, classes, {}));
  api::volcano::PodGroup group = lifecycle::NewPodGroup(job, std::move(spec), history.Before(job));
  group.metadata.ns = job.metadata.ns;
  group.metadata.uid = absl::StrCat("podgroup-", job.metadata.uid);
  out.gang = ingest::GangFactsOf(group);
  GW_ASSIGN_OR_RETURN(out.pods, PodsOf(job, group.metadata.name, scheduler_name));
  return out;
}

}  // namespace gangway::cmd
