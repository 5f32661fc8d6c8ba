#include "plugin/lifecycle/job/verdict.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "plugin/lifecycle/policy/decide.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Command;
using kube::EventNote;

class Judging {
 public:
  Judging(const JobView& seen, const Roster& roster, const Record& record, JobPhase phase, absl::Time now)
      : seen_(seen), roster_(roster), record_(record), phase_(phase), now_(now) {}

  Verdict Run() && {
    verdict_.action = Action::kSyncJob;
    verdict_.transition = TransitionOf(phase_, Action::kSyncJob);
    if (RestartsAreSpent(phase_, *seen_.job)) return std::move(verdict_);
    const bool commanded = JudgeCommands();
    if (!commanded && KeepsPods(phase_)) JudgeFacts();
    return std::move(verdict_);
  }

 private:
  // At most one command is carried out at a time, and only when the one before it is gone: the record names one.
  bool JudgeCommands() {
    bool last_is_still_there = false;
    for (const Command* command : seen_.commands) {
      if (command->metadata.deleting()) continue;
      if (command->metadata.uid == record_.last_command) {
        verdict_.spent.push_back(command);
        last_is_still_there = true;
      }
    }
    for (const Command* command : seen_.commands) {
      if (command->metadata.deleting() || command->metadata.uid == record_.last_command) continue;
      if (command->target && !command->target->uid.empty() && command->target->uid != seen_.job->metadata.uid) {
        Discard(command, "is for an earlier job of this name");
        continue;
      }
      const Action action = ParseAction(command->action);
      if (!HasEffect(phase_, action)) {
        Discard(command, action == Action::kOther ? absl::StrCat("is no action of a job")
                                                  : absl::StrCat("has no effect: the job is ", NameOf(phase_)));
        continue;
      }
      Happening cause;
      cause.event = Event::kCommandIssued;
      cause.action = action;
      if (!HasTarget(*seen_.job, action, cause)) {
        Discard(command, "has no effect: a command names no partition");
        continue;
      }
      if (last_is_still_there) return false;  // and those after it, in their order
      Take(action, TransitionOf(phase_, action), std::move(cause));
      verdict_.command = command;
      verdict_.spent.push_back(command);
      Note(EventNote::Type::kNormal, "CommandIssued",
           absl::StrCat("Start to execute command ", command->action,
                        ", and clean it up to make sure executed not more than once."));
      return true;
    }
    return false;
  }

  void Discard(const Command* command, const std::string& why) {
    verdict_.spent.push_back(command);
    Note(EventNote::Type::kWarning, "CommandIgnored", absl::StrCat("command ", command->action, " ", why));
  }

  void JudgeFacts() {
    const EventSet wanted(*seen_.job);
    for (const Fact& fact : FindFacts(seen_, roster_, record_, wanted)) {
      const Resolution resolution = Resolve(*seen_.job, fact.happening);
      if (!HasEffect(phase_, resolution.action) || !HasTarget(*seen_.job, resolution.action, fact.happening)) continue;
      if (resolution.delay > absl::ZeroDuration()) {
        if (!Due(fact, resolution)) continue;
      } else if (fact.made_anew) {
        continue;
      }
      if (verdict_.cause.event == Event::kNone) {
        Take(resolution.action, TransitionOf(phase_, resolution.action), fact.happening);
      } else if (fact.happening.event == Event::kPodEvicted) {
        verdict_.held.insert(fact.happening.pod);  // its turn comes with the next look
      }
    }
  }

  // Whether a delayed action has waited long enough. It begins with the first look that sees its reason.
  bool Due(const Fact& fact, const Resolution& resolution) {
    const Happening& happening = fact.happening;
    const bool of_pod = happening.event == Event::kPodPending || happening.event == Event::kPodFailed ||
                        happening.event == Event::kPodEvicted;
    const DelayKey key{std::string(NameOf(happening.event)), of_pod ? happening.pod : happening.task,
                       std::string(NameOf(resolution.action))};
    auto under_way = record_.delayed.find(key);
    if (under_way == record_.delayed.end()) {
      if (fact.made_anew) return false;
      verdict_.delayed[key] = now_;
      verdict_.look_again = std::min(verdict_.look_again, now_ + resolution.delay);
      Note(EventNote::Type::kNormal, "ExecuteAction",
           absl::StrCat("Execute action ", key.action, " after ", api::FormatGoDuration(resolution.delay),
                        " unless it ends before: ", key.event, key.target.empty() ? "" : " of ", key.target));
      return false;
    }
    verdict_.delayed[key] = under_way->second;
    const absl::Time due = under_way->second + resolution.delay;
    if (now_ >= due) return true;
    verdict_.look_again = std::min(verdict_.look_again, due);
    return false;
  }

  void Take(Action action, const Transition& transition, Happening cause) {
    verdict_.action = action;
    verdict_.transition = transition;
    verdict_.cause = std::move(cause);
    Note(EventNote::Type::kNormal, "ExecuteAction",
         absl::StrCat("Start to execute action ", NameOf(action), ": ",
                      Explain(*seen_.job, verdict_.cause, transition)));
  }

  void Note(EventNote::Type type, std::string reason, std::string message) {
    verdict_.notes.push_back({type, std::move(reason), std::move(message), {}});
  }

  const JobView& seen_;
  const Roster& roster_;
  const Record& record_;
  const JobPhase phase_;
  const absl::Time now_;
  Verdict verdict_;
};

}  // namespace

Verdict Judge(const JobView& seen, const Roster& roster, const Record& record, JobPhase phase, absl::Time now) {
  return Judging(seen, roster, record, phase, now).Run();
}

}  // namespace gangway::lifecycle
