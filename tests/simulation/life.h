// One life of a job on the embedded cluster, told step by step: what a user does when the world has got so far. At
// chosen writes of one component, of the controllers unless the life says another, something goes wrong; the end must
// be the one of the life in which nothing does.
//
// Steps wait for what the API server holds, never for a time, and pods end only when a step says so: a fault that costs
// seconds changes no life.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/resource.h"
#include "base/loop.h"
#include "sandbox/apiserver/journal.h"
#include "sandbox/cluster/cluster.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {

struct UserRequest {
  std::string method;  // PATCH is a merge patch
  const api::Resource* resource = nullptr;
  std::string name, subresource, body;  // in the namespace "default"
};
// Of a pod: its containers end well, or with that code; somebody evicts it by the API.
UserRequest Finish(std::string pod);
UserRequest Fail(std::string pod, int code = 7);
UserRequest Evict(const std::string& pod);

using WorldIs = std::function<bool(const Checker&)>;
WorldIs Always();
WorldIs operator&&(WorldIs a, WorldIs b);

struct LifeStep {
  WorldIs when;
  std::vector<UserRequest> then;  // empty in the last step: that is the end
};

struct Life {
  std::string name;
  std::vector<LifeStep> steps;
  // Whether how often each object was made is told. When a Job is deleted, what was its may be made once more before
  // the controllers hear of it, and goes with the rest; when it is resumed early, what its plugins made may not have
  // gone yet.
  bool counts = true;
  // Whose writes go wrong, and whose creations are told.
  sandbox::Component component = sandbox::Component::kControllers;
};

enum class FaultKind {
  kKilledBefore,  // the process dies, the write never arrives
  kKilledAfter,   // the write is carried out, the process dies before it hears of it
  kReplyLost,
  kConflict,         // 409
  kServerError,      // 500
  kTooManyRequests,  // 429, Retry-After: 2
};
inline constexpr int kFaultKinds = 6;
absl::string_view NameOf(FaultKind kind);

struct Fault {
  int write = 0;  // from 1, of those the component sends, events apart
  FaultKind kind = FaultKind::kKilledBefore;
};

struct LifeOptions {
  std::vector<Fault> faults;  // by rising write
  // Asked at each write that none of them befalls, from 1: what does, if anything.
  std::function<std::optional<FaultKind>(int write)> decide;
  std::uint64_t seed = 1;
  // Replaces the controllers by others on the same loop, with clients of their own; kept until the end.
  std::function<std::shared_ptr<void>(Loop&, sandbox::Cluster&)> replace_controllers;
  std::function<void(const sandbox::JournalRecord&)> on_record;  // to print a life while it is replayed
};

struct LifeResult {
  // What is there when all is quiet and how often the component made each object, a line each; UIDs replaced.
  std::vector<std::string> end;
  std::vector<std::string> violations;
  std::vector<std::string> writes;  // sent by the component, events apart: "POST pods ctr-w-0"
};

LifeResult RunLife(const Life& life, const LifeOptions& options);

}  // namespace gangway::testutil
