// What is known of one probe of one run of a container, as a kubelet's worker goes by it (pkg/kubelet/prober). Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

// What a handler of a container is for.
enum class HandlerUse { kStartup, kLiveness, kReadiness, kPostStart, kPreStop };

// "Startup", "Liveness", "Readiness", "PostStart", "PreStop".
absl::string_view NameOf(HandlerUse use);

// nullptr: there is none for that use, or it is a hook.
const HostedProbe* ProbeFor(const HostedContainer& container, HandlerUse use);
// Nothing is set in it when there is none.
HostedHandler HandlerFor(const HostedContainer& container, HandlerUse use);

struct HandlerResult {
  enum class Answer { kSuccess, kFailure, kUnknown };  // kUnknown: it could not be asked
  HandlerUse use = HandlerUse::kReadiness;
  Answer answer = Answer::kUnknown;
  std::string message;      // also a warning that comes with success
  std::string output = {};  // of a hook's command that failed
};

struct ProbeState {
  bool under_way = false;
  bool settled = false;             // asked no more: the container has started, or is to be killed
  std::optional<bool> verdict;      // none yet
  std::optional<absl::Time> asked;  // when last
  std::optional<bool> last;         // answer
  int in_row = 0;                   // of such answers
};

// When it is to be asked again; InfiniteFuture: not before something else happens. `since`: the run's start.
absl::Time NextProbe(const HostedProbe& probe, const ProbeState& state, absl::Time since);

// Of a probe; an answer that is not known changes no verdict.
void TakeAnswer(const HostedProbe& probe, const HandlerResult& result, ProbeState& state);

}  // namespace gangway::sandbox
