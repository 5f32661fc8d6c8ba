#include "sandbox/kubelet/behaviour.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

enum class Ending { kFinish, kFail };

// DURATION[:EXITCODE][xTIMES]
absl::StatusOr<RunOutcome> ParseOutcome(absl::string_view text, Ending ending) {
  RunOutcome outcome;
  outcome.exit_code = ending == Ending::kFail ? 1 : 0;
  absl::string_view rest = text;
  if (const auto x = rest.rfind('x'); x != absl::string_view::npos) {
    int times = 0;
    if (!absl::SimpleAtoi(rest.substr(x + 1), &times) || times < 1) {
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": after 'x' stands how many times, such as x1"));
    }
    outcome.times = times;
    rest = rest.substr(0, x);
  }
  if (const auto colon = rest.find(':'); colon != absl::string_view::npos) {
    if (ending == Ending::kFinish) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\": a container that finishes has exit code 0; use --fail for others"));
    }
    if (!absl::SimpleAtoi(rest.substr(colon + 1), &outcome.exit_code) || outcome.exit_code < 1 ||
        outcome.exit_code > 255) {
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": the exit code must be from 1 to 255"));
    }
    rest = rest.substr(0, colon);
  }
  GW_ASSIGN_OR_RETURN(outcome.after, api::ParseGoDuration(rest));
  if (outcome.after < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": the duration must not be negative"));
  }
  return outcome;
}

// EVERY[:TEXT]
absl::StatusOr<LogLines> ParseLogLines(absl::string_view text) {
  LogLines lines;
  const auto colon = text.find(':');
  GW_ASSIGN_OR_RETURN(lines.every, api::ParseGoDuration(text.substr(0, colon)));
  if (lines.every != absl::ZeroDuration() && lines.every < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": a line is written every 1ms at most; 0s for none"));
  }
  if (colon != absl::string_view::npos) lines.text = std::string(text.substr(colon + 1));
  if (lines.text.find('\n') != std::string::npos)
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": the text must be one line"));
  return lines;
}

std::string AnnotationOf(const api::ObjectMeta& pod, absl::string_view key) {
  const auto it = pod.annotations.find(std::string(key));
  return it == pod.annotations.end() ? std::string() : it->second;
}

int JobVersion(const HostedPod& pod) {
  int version = 0;
  return absl::SimpleAtoi(AnnotationOf(pod.metadata, "volcano.sh/job-version"), &version) ? version : 0;
}

bool Applies(const RunOutcome& outcome, const HostedPod& pod) {
  return !outcome.times.has_value() || JobVersion(pod) < *outcome.times;
}

}  // namespace

std::string Behaviour::TaskOf(const api::ObjectMeta& pod) { return AnnotationOf(pod, "volcano.sh/task-spec"); }

bool Behaviour::Names(absl::string_view rule, const api::ObjectMeta& pod) {
  const std::string task = TaskOf(pod);
  if (rule == pod.name || (!task.empty() && rule == task)) return true;
  const std::string index = AnnotationOf(pod, "volcano.sh/task-index");
  return !task.empty() && !index.empty() && rule == absl::StrCat(task, "-", index);
}

absl::StatusOr<Behaviour> Behaviour::Parse(const std::vector<std::string>& finish, const std::vector<std::string>& fail,
                                           const std::vector<std::string>& log) {
  Behaviour behaviour;
  const auto add = [&](const std::vector<std::string>& rules, Ending ending) -> absl::Status {
    for (const std::string& rule : rules) {
      const auto equals = rule.find('=');
      if (equals == std::string::npos || equals == 0) {
        return absl::InvalidArgumentError(absl::StrCat("\"", rule, "\": write NAME=DURATION, such as trainer=5s",
                                                       ending == Ending::kFail ? " or worker-1=3s:137" : ""));
      }
      GW_ASSIGN_OR_RETURN(RunOutcome outcome, ParseOutcome(absl::string_view(rule).substr(equals + 1), ending));
      behaviour.rules_.push_back({rule.substr(0, equals), outcome});
    }
    return absl::OkStatus();
  };
  GW_RETURN_IF_ERROR(add(fail, Ending::kFail));
  GW_RETURN_IF_ERROR(add(finish, Ending::kFinish));
  for (const std::string& rule : log) {
    const auto equals = rule.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", rule, "\": write NAME=EVERY[:TEXT], such as trainer=500ms:step"));
    }
    GW_ASSIGN_OR_RETURN(LogLines lines, ParseLogLines(absl::string_view(rule).substr(equals + 1)));
    behaviour.log_rules_.push_back({rule.substr(0, equals), std::move(lines)});
  }
  return behaviour;
}

LogLines Behaviour::LogLinesOf(const HostedPod& pod) const {
  if (const std::string text = AnnotationOf(pod.metadata, kLogAnnotation); !text.empty()) {
    if (auto lines = ParseLogLines(text); lines.ok()) return *std::move(lines);
  }
  for (const LogRule& rule : log_rules_) {
    if (Names(rule.name, pod.metadata)) return rule.lines;
  }
  return {};
}

std::optional<RunOutcome> Behaviour::For(const HostedPod& pod) const {
  for (const auto& [key, ending] :
       {std::pair(kFailAnnotation, Ending::kFail), std::pair(kFinishAnnotation, Ending::kFinish)}) {
    const std::string text = AnnotationOf(pod.metadata, key);
    if (text.empty()) continue;
    if (const auto outcome = ParseOutcome(text, ending); outcome.ok() && Applies(*outcome, pod)) return *outcome;
  }
  for (const Rule& rule : rules_) {
    if (Names(rule.name, pod.metadata) && Applies(rule.outcome, pod)) return rule.outcome;
  }
  return std::nullopt;
}

absl::Status Behaviour::CheckAnnotations(const HostedPod& pod) {
  for (const auto& [key, ending] :
       {std::pair(kFailAnnotation, Ending::kFail), std::pair(kFinishAnnotation, Ending::kFinish)}) {
    const std::string text = AnnotationOf(pod.metadata, key);
    if (text.empty()) continue;
    if (const auto outcome = ParseOutcome(text, ending); !outcome.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("annotation ", key, ": ", outcome.status().message()));
    }
  }
  if (const std::string text = AnnotationOf(pod.metadata, kLogAnnotation); !text.empty()) {
    if (const auto lines = ParseLogLines(text); !lines.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("annotation ", kLogAnnotation, ": ", lines.status().message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace gangway::sandbox
