#include "translator/lifecycle/notes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/plan/writes.h"

namespace gangway::paddle_lifecycle {

using Type = kube::EventNote::Type;

void Notes::Add(Type type, std::string reason, std::string message) {
  notes_.push_back({type, std::move(reason), std::move(message), kube::ReferenceTo(*of_.resource, *of_.metadata)});
}

void Notes::Normal(std::string reason, std::string message) {
  Add(Type::kNormal, std::move(reason), std::move(message));
}

void Notes::Warning(std::string reason, std::string message) {
  Add(Type::kWarning, std::move(reason), std::move(message));
}

void Notes::Tell(const convert::Findings& findings) {
  for (const convert::Finding& finding : findings) {
    switch (finding.level()) {
      case convert::Level::kError:
        Warning("TranslationError", finding.ToString());
        break;
      case convert::Level::kWarning:
        Warning("TranslationWarning", finding.ToString());
        break;
      case convert::Level::kInfo:
        Normal("TranslationInfo", finding.ToString());
        break;
    }
  }
}

void Notes::TellPhase(const Progress& from, const Progress& to) {
  if (to.phase == from.phase) return;
  switch (to.phase) {
    case Phase::kCompleted:
      return Normal("Completed", "the job has completed");
    case Phase::kFailed:
      if (to.final())
        Warning("Failed", to.message.empty() ? "the job has failed" : to.message);  // else its translation has told why
      return;
    case Phase::kRestarting:
      if (to.restarts == 0) return Warning("Restarting", to.message);  // it was edited
      return Warning("Restarting", absl::StrCat("restart ", to.restarts, to.message.empty() ? "" : ": ", to.message));
    case Phase::kAborted:
      return Normal(to.suspended ? "Suspended" : "Aborted", "the job has no pods until it is resumed");
    case Phase::kNone:
    case Phase::kPending:
    case Phase::kStarting:
    case Phase::kRunning:
    case Phase::kScaling:
    case Phase::kAborting:
    case Phase::kCompleting:
    case Phase::kTerminating:
      return;
  }
}

}  // namespace gangway::paddle_lifecycle
