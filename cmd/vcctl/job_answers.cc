#include "cmd/vcctl/job_answers.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/schemas/table.h"
#include "api/volcano/restarts.h"
#include "base/printable.h"
#include "plugin/lifecycle/job/last_failure.h"
#include "plugin/lifecycle/pod_failure.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

using api::core::Pod;
using api::volcano::Job;
using api::volcano::PodGroup;
using api::volcano::PodGroupCondition;
using lifecycle::LastFailure;
using lifecycle::PodFailure;

constexpr std::size_t kMaxLines = 2048;  // bytes of the last lines

// A pod and how it failed.
struct Failed {
  const Pod* pod;
  PodFailure failure;
};

std::vector<Failed> FailedPods(absl::Span<const Pod> pods) {
  std::vector<Failed> out;
  for (const Pod& pod : pods) {
    if (std::optional<PodFailure> failure = lifecycle::FailureOf(pod)) out.push_back({&pod, *std::move(failure)});
  }
  std::sort(out.begin(), out.end(), [](const Failed& a, const Failed& b) {
    return std::tie(a.failure.at, a.pod->metadata.name) < std::tie(b.failure.at, b.pod->metadata.name);
  });
  return out;
}

int VersionOf(const Pod& pod) {
  int version = -1;
  const auto at = pod.metadata.annotations.find(std::string(lifecycle::kJobVersionKey));
  return at != pod.metadata.annotations.end() && absl::SimpleAtoi(at->second, &version) ? version : -1;
}

// What is told: the record, a pod that is there, or both when they are of one failure.
struct Story {
  std::optional<LastFailure> record;
  std::optional<Failed> there;
};

Story FindStory(const Job& job, absl::Span<const Pod> pods) {
  Story story;
  story.record = lifecycle::ReadLastFailure(job.status.controlled_resources);
  for (Failed& failed : FailedPods(pods)) {
    if (!story.record.has_value()) {
      story.there = std::move(failed);
      break;
    }
    if (VersionOf(*failed.pod) > story.record->version) {  // made since then
      story.record.reset();
      story.there = std::move(failed);
      break;
    }
    const bool same =
        failed.pod->metadata.name == story.record->pod && failed.failure.container == story.record->container &&
        failed.failure.exit_code == story.record->exit_code && VersionOf(*failed.pod) == story.record->version;
    if (same) story.there = std::move(failed);
  }
  return story;
}

std::string Inline(const std::string& text, const std::string& message) {
  return message.empty() ? text : absl::StrCat(text, ": ", message);
}

PodFailure AsFailure(const LastFailure& record) {
  PodFailure failure;
  failure.container = record.container;
  failure.exit_code = record.exit_code;
  failure.reason = record.reason;
  return failure;
}

std::string RecordText(const LastFailure& record) {
  if (record.event == "PodEvicted")
    return absl::StrCat("pod ", record.pod, " was deleted", lifecycle::ReasonText(record.reason));
  if (record.event == "Unknown") return "a part of its running gang was lost";
  const std::string how = record.container.empty() && record.reason.empty()
                              ? absl::StrCat("failed with exit code ", record.exit_code)
                              : lifecycle::Describe(AsFailure(record));
  return absl::StrCat(record.event == "TaskFailed"
                          ? absl::StrCat("the containers of task ", record.task, " restarted too often; ")
                          : "",
                      "pod ", record.pod, ": ", how);
}

std::string AnswerText(const LastFailure& record) {
  if (record.action.empty()) return absl::StrCat("no policy for ", record.event, "; the job ended by itself");
  return absl::StrCat(record.action, record.policy.empty() ? "" : absl::StrCat(", by ", record.policy), " for ",
                      record.event);
}

std::string Ago(absl::Time at, absl::Time now) {
  return at == absl::InfinitePast() || at == absl::InfiniteFuture()
             ? std::string()
             : absl::StrCat(", ", schemas::HumanDuration(now - at), " ago");
}

// Failure, Answer and Last lines; "" when nothing failed.
std::string StoryText(const Story& story, absl::Time now, absl::string_view log_tail) {
  if (!story.record.has_value() && !story.there.has_value()) return "";
  const std::string text = story.record.has_value() ? RecordText(*story.record)
                                                    : absl::StrCat("pod ", story.there->pod->metadata.name, ": ",
                                                                   lifecycle::Describe(story.there->failure));
  const absl::Time at = story.record.has_value() ? story.record->at.at : story.there->failure.at;
  const std::string message = story.record.has_value() ? story.record->message : story.there->failure.message;
  const std::string lines = lifecycle::TailOf(log_tail.empty() ? absl::string_view(message) : log_tail, kMaxLines);
  const bool block = absl::StrContains(lines, '\n') || !log_tail.empty();
  std::string out = absl::StrCat("Failure:\t", OneLine(block ? text : Inline(text, lines)), Ago(at, now), "\n");
  if (story.record.has_value()) absl::StrAppend(&out, "Answer:\t", OneLine(AnswerText(*story.record)), "\n");
  if (!block) return out;
  absl::StrAppend(&out, "Last lines:\n");
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) absl::StrAppend(&out, "\t| ", Lines(line), "\n");
  return out;
}

// What the last event says that restarted anything.
std::string LastRestart(absl::Span<const JobEvent> events) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->reason == "ExecuteAction" && absl::StrContains(event->message, "action Restart")) {
      return std::string(absl::StripAsciiWhitespace(event->message));
    }
  }
  return "";
}

const PodGroupCondition* Unschedulable(const PodGroup& group) {
  for (const PodGroupCondition& condition : group.status.conditions) {
    if (condition.type == "Unschedulable" && condition.status == "True") return &condition;
  }
  return nullptr;
}

std::string Restarts(const Job& job) {
  const int done = api::volcano::RestartsOf(job.status.retry_count, job.spec.max_retry),
            most = api::volcano::MostRestarts(job.spec.max_retry);
  return absl::StrCat(done, " of ", most, " (maxRetry ", job.spec.max_retry, "), ",
                      done < most ? absl::StrCat(most - done, " left") : std::string("none left"));
}

}  // namespace

std::string FirstFailure(absl::Span<const Pod> pods) {
  const std::vector<Failed> failed = FailedPods(pods);
  if (failed.empty()) return "";
  const Failed& first = failed.front();
  return Inline(absl::StrCat("pod ", first.pod->metadata.name, ": ", lifecycle::Describe(first.failure)),
                first.failure.message);
}

std::optional<FailedLog> LogOfFailure(const Job& job, absl::Span<const Pod> pods) {
  const Story story = FindStory(job, pods);
  if (!story.there.has_value() || story.there->failure.container.empty()) return std::nullopt;
  return FailedLog{story.there->pod->metadata.name, story.there->failure.container, story.there->failure.run_again};
}

std::string WhyItWaits(const Job& job, const PodGroup* group) {
  const std::string& phase = job.status.state.phase;
  if (phase.empty()) return "no controller has seen it yet: is gangway controller (or Volcano's) running?";
  if (phase != "Pending") return "";
  if (group == nullptr) return "it has no PodGroup yet; its events say why";
  if (const PodGroupCondition* condition = Unschedulable(*group);
      condition != nullptr && group->status.phase != "Running")
    return condition->message;
  if (group->status.phase.empty() || group->status.phase == "Pending") {
    return absl::StrCat("queue ", group->spec.queue.empty() ? "default" : group->spec.queue, " has not let it in yet");
  }
  return group->status.phase == "Inqueue" ? "it is let in and not placed yet" : "its pods are placed and start";
}

std::string JobAnswersText(const Job& job, absl::Span<const Pod> pods, const PodGroup* group,
                           absl::Span<const JobEvent> events, absl::Time now, absl::string_view log_tail) {
  std::string out = absl::StrCat("Restarts:\t", Restarts(job), "\n");
  std::string failure = StoryText(FindStory(job, pods), now, log_tail);
  if (failure.empty() && job.status.retry_count > 0) {
    if (const std::string event = LastRestart(events); !event.empty())
      failure = absl::StrCat("Failure:\t", OneLine(event), "\n");
  }
  out += failure;
  if (const std::string waits = WhyItWaits(job, group); !waits.empty())
    absl::StrAppend(&out, "Waits:\t", OneLine(waits), "\n");
  return out;
}

}  // namespace gangway::cmd
