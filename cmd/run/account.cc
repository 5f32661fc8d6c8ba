#include "cmd/run/account.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/volcano/restarts.h"
#include "base/counted.h"
#include "base/printable.h"

namespace gangway::cmd {
namespace {

using Tone = AccountLine::Tone;
using api::core::ContainerStatus;
using api::core::Pod;
using api::paddle::PaddleJob;
using KubeflowPaddleJob = api::paddle::kubeflow::PaddleJob;
using api::volcano::Job;
using api::volcano::JobFlow;
using api::volcano::JobStatus;
using api::volcano::PodGroup;
using api::volcano::PodGroupCondition;
using api::volcano::TaskSpec;

std::string Name(absl::string_view kind, const api::ObjectMeta& meta) {
  return absl::StrCat(kind, " ", meta.ns, "/", meta.name);
}

// A PodGroup's name carries its job's UID; the job's name says as much to a reader.
std::string GroupName(const api::ObjectMeta& meta) {
  const api::OwnerReference* owner = meta.Controller();
  return absl::StrCat("podgroup ", meta.ns, "/", owner == nullptr ? meta.name : owner->name);
}

std::string Tasks(const Job& job) {
  return absl::StrJoin(job.spec.tasks, " + ", [](std::string* out, const TaskSpec& task) {
    absl::StrAppend(out, task.replicas, " ", task.name);
  });
}

// "2 running, 1 succeeded"; "no pods"
std::string Counts(const JobStatus& status) {
  std::vector<std::string> parts;
  const auto add = [&](int n, absl::string_view what) {
    if (n > 0) parts.push_back(absl::StrCat(n, " ", what));
  };
  add(status.pending, "pending");
  add(status.running, "running");
  add(status.succeeded, "succeeded");
  add(status.failed, "failed");
  add(status.unknown, "unknown");
  add(status.terminating, "terminating");
  return parts.empty() ? "no pods" : absl::StrJoin(parts, ", ");
}

Tone ToneOfPhase(absl::string_view phase) {
  if (phase == "Running" || phase == "Completed") return Tone::kGood;
  if (phase == "Failed" || phase == "Terminated" || phase == "Aborted") return Tone::kBad;
  return phase == "Pending" ? Tone::kPlain : Tone::kWaiting;
}

const PodGroupCondition* Find(const PodGroup* group, absl::string_view type) {
  if (group == nullptr) return nullptr;
  const auto it = std::find_if(group->status.conditions.begin(), group->status.conditions.end(),
                               [&](const PodGroupCondition& c) { return c.type == type && c.status == "True"; });
  return it == group->status.conditions.end() ? nullptr : &*it;
}

// "exit code 137 (OOMKilled)" of the first container that failed; "" when none did.
std::string Failure(const Pod& pod) {
  for (const ContainerStatus& container : pod.status.container_statuses) {
    const auto& ended = container.state.terminated;
    if (ended && ended->exit_code != 0) {
      return absl::StrCat("container ", container.name, " ended with exit code ", ended->exit_code,
                          ended->reason.empty() ? "" : absl::StrCat(" (", ended->reason, ")"),
                          ended->reason == "StartError" ? absl::StrCat(": ", ended->message) : "");
    }
  }
  return pod.status.message;
}

int Restarts(const Pod* pod) {
  int restarts = 0;
  if (pod != nullptr) {
    for (const ContainerStatus& container : pod->status.container_statuses) restarts += container.restart_count;
  }
  return restarts;
}

}  // namespace

bool IsFinalPhase(absl::string_view phase) {
  return phase == "Completed" || phase == "Succeeded" || phase == "Failed" || phase == "Terminated" ||
         phase == "Aborted";
}

std::vector<AccountLine> Tell(const Job* before, const Job* after) {
  if (after == nullptr) return {{Name("job", before->metadata), "deleted", Tone::kPlain}};
  std::vector<AccountLine> lines;
  const std::string subject = Name("job", after->metadata);
  if (before == nullptr) {
    lines.push_back({subject,
                     absl::StrCat("created: ", Tasks(*after), ", a gang of ", after->spec.min_available, " in queue ",
                                  after->spec.queue),
                     Tone::kPlain});
  }
  const std::string old_phase = before == nullptr ? "" : before->status.state.phase;
  const JobStatus& status = after->status;
  if (status.state.phase != old_phase && !status.state.phase.empty()) {
    std::string text = absl::StrCat(status.state.phase, ": ", Counts(status));
    if (status.retry_count > (before == nullptr ? 0 : before->status.retry_count)) {
      absl::StrAppend(&text, ", ", api::volcano::RetryText(status.retry_count, after->spec.max_retry));
    }
    if (!status.state.message.empty()) absl::StrAppend(&text, "; ", status.state.message);
    lines.push_back({subject, std::move(text), ToneOfPhase(status.state.phase)});
  }
  return lines;
}

std::string StateOf(const KubeflowPaddleJob& job) {
  return job.status.conditions.empty() ? std::string() : job.status.conditions.back().type;
}

std::vector<AccountLine> Tell(const PaddleJob* before, const PaddleJob* after) {
  if (after == nullptr) return {{Name("paddlejob", before->metadata), "deleted", Tone::kPlain}};
  std::vector<AccountLine> lines;
  const std::string subject = Name("paddlejob", after->metadata);
  if (before == nullptr) {
    std::vector<std::string> roles;
    for (const auto& [name, role] : {std::pair("ps", &after->spec.ps), std::pair("worker", &after->spec.worker),
                                     std::pair("heter", &after->spec.heter)}) {
      if (role->has_value()) roles.push_back(absl::StrCat((*role)->replicas, " ", name));
    }
    lines.push_back(
        {subject, absl::StrCat("created: ", roles.empty() ? "no role" : absl::StrJoin(roles, " + ")), Tone::kPlain});
  }
  const std::string& phase = after->status.phase;
  const std::string& message = after->status.message;
  const bool same_phase = phase == (before == nullptr ? std::string() : before->status.phase);
  if (phase.empty() || (same_phase && (message.empty() || before == nullptr || message == before->status.message)))
    return lines;
  lines.push_back({subject, message.empty() ? phase : absl::StrCat(phase, ": ", message), ToneOfPhase(phase)});
  return lines;
}

std::vector<AccountLine> Tell(const KubeflowPaddleJob* before, const KubeflowPaddleJob* after) {
  if (after == nullptr) return {{Name("paddlejobs.kubeflow.org", before->metadata), "deleted", Tone::kPlain}};
  const std::string state = StateOf(*after);
  if (state.empty() || (before != nullptr && state == StateOf(*before))) return {};
  const std::string& message = after->status.conditions.back().message;
  const Tone tone = state == "Succeeded" || state == "Running" ? Tone::kGood
                    : state == "Failed"                        ? Tone::kBad
                    : state == "Created"                       ? Tone::kPlain
                                                               : Tone::kWaiting;
  return {{Name("paddlejobs.kubeflow.org", after->metadata),
           message.empty() ? state : absl::StrCat(state, ": ", message), tone}};
}

std::vector<AccountLine> Tell(const JobFlow* before, const JobFlow* after) {
  if (after == nullptr) return {{Name("jobflow", before->metadata), "deleted", Tone::kPlain}};
  const std::string& phase = after->status.state.phase;
  const std::size_t completed = after->status.completed_jobs.size();
  const bool same =
      before != nullptr && before->status.state.phase == phase && before->status.completed_jobs.size() == completed;
  if (phase.empty() || same) return {};
  const Tone tone = phase == "Succeed" ? Tone::kGood : ToneOfPhase(phase);
  return {{Name("jobflow", after->metadata),
           absl::StrCat(phase, ": ", completed, " of ", Counted(after->spec.flows.size(), "job"), " Completed"), tone}};
}

std::vector<AccountLine> Tell(const PodGroup* before, const PodGroup* after) {
  if (after == nullptr) return {{GroupName(before->metadata), "deleted", Tone::kPlain}};
  std::vector<AccountLine> lines;
  const std::string subject = GroupName(after->metadata);
  const std::string old_phase = before == nullptr ? "" : before->status.phase;
  if (after->status.phase != old_phase && !after->status.phase.empty()) {
    const std::string& phase = after->status.phase;
    const absl::string_view meaning = phase == "Inqueue" ? ": let in" : phase == "Running" ? ": placed" : "";
    lines.push_back({subject, absl::StrCat(phase, meaning, ", minMember ", after->spec.min_member),
                     phase == "Running" ? Tone::kGood : Tone::kPlain});
  }
  const PodGroupCondition* waiting = Find(after, "Unschedulable");
  const PodGroupCondition* waited = Find(before, "Unschedulable");
  if (waiting != nullptr && (waited == nullptr || waited->message != waiting->message)) {
    lines.push_back({subject, waiting->message, Tone::kWaiting});
  }
  return lines;
}

std::vector<AccountLine> Tell(const Pod* before, const Pod* after) {
  if (after == nullptr) return {{Name("pod", before->metadata), "gone", Tone::kPlain}};
  std::vector<AccountLine> lines;
  const std::string subject = Name("pod", after->metadata);
  if (after->bound() && (before == nullptr || !before->bound()))
    lines.push_back({subject, absl::StrCat("-> ", after->spec.node_name), Tone::kPlain});
  if (after->metadata.deleting() && before != nullptr && !before->metadata.deleting())
    lines.push_back({subject, "is being deleted", Tone::kPlain});
  const std::string old_phase = before == nullptr ? "Pending" : before->status.phase;
  const std::string& phase = after->status.phase;
  if (phase != old_phase && phase != "Pending") {
    const std::string failure = phase == "Failed" ? Failure(*after) : std::string();
    lines.push_back({subject, failure.empty() ? phase : absl::StrCat(phase, ": ", failure),
                     phase == "Failed" ? Tone::kBad : Tone::kGood});
  }
  if (Restarts(after) > Restarts(before))
    lines.push_back({subject, absl::StrCat("container restarted, ", Restarts(after), " so far"), Tone::kWaiting});
  return lines;
}

std::vector<AccountLine> Tell(const api::core::Event* before, const api::core::Event* after) {
  // What a job's PodGroup waits for is the PodGroup's line.
  if (after == nullptr || (before != nullptr && before->count == after->count)) return {};
  const bool warning = after->type == "Warning";
  const bool flow = after->involved_object.kind == "JobFlow" && warning && after->reason != "Failed";
  const bool job = after->involved_object.kind == "Job" && after->reason != "PodGroupPending";
  const bool paddle = after->involved_object.kind == "PaddleJob";
  const bool kubeflow = paddle && after->involved_object.api_version == api::paddle::kubeflow::kPaddleJobs.ApiVersion();
  if (!flow && !job && !paddle) return {};
  return {{absl::StrCat(flow       ? "jobflow "
                        : kubeflow ? "paddlejobs.kubeflow.org "
                        : paddle   ? "paddlejob "
                                   : "job ",
                        after->involved_object.ns, "/", after->involved_object.name),
           after->message, warning ? Tone::kBad : Tone::kWaiting}};
}

std::string Render(const AccountLine& line, absl::Duration since_start, bool colours) {
  const char* colour = "";
  switch (line.tone) {
    case Tone::kPlain:
      break;
    case Tone::kGood:
      colour = "\033[32m";
      break;
    case Tone::kWaiting:
      colour = "\033[33m";
      break;
    case Tone::kBad:
      colour = "\033[31m";
      break;
  }
  const bool paint = colours && *colour != '\0';
  return absl::StrFormat("%8.2fs  %-40s  %s%s%s", absl::ToDoubleSeconds(since_start), OneLine(line.subject),
                         paint ? colour : "", OneLine(line.text), paint ? "\033[0m" : "");
}

}  // namespace gangway::cmd
