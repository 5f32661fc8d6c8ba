// The events of a PaddleJob.
#pragma once

#include <string>
#include <vector>

#include "kube/plan/plan.h"
#include "translator/convert/codes.h"
#include "translator/lifecycle/progress.h"
#include "translator/lifecycle/wanted.h"

namespace gangway::paddle_lifecycle {

class Notes {
 public:
  explicit Notes(const Wanted& of) : of_(of) {}
  void Normal(std::string reason, std::string message);
  void Warning(std::string reason, std::string message);
  // One for each.
  void Tell(const convert::Findings& findings);
  // That the job ended, restarts or was suspended.
  void TellPhase(const Progress& from, const Progress& to);
  std::vector<kube::EventNote> Take() && { return std::move(notes_); }

 private:
  void Add(kube::EventNote::Type type, std::string reason, std::string message);

  const Wanted& of_;
  std::vector<kube::EventNote> notes_;
};

}  // namespace gangway::paddle_lifecycle
