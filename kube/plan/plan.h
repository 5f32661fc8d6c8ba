// What a decision wants written, as a value: stages of writes, events to record, and when to look again.
//
// Writes of a stage go out together; the next stage starts when all have succeeded. Nothing of a half-applied plan is
// kept: the key is decided anew from what is. A plan changes an object at most once. kube/runtime/driver.h carries
// plans out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/meta.h"
#include "api/resource.h"

namespace gangway::kube {

enum class Verb {
  kCreate,  // POST of `body`; "already exists" counts as done when the existing object has the same controller owner
  kMergePatch,           // PATCH of `body`, application/merge-patch+json
  kStrategicMergePatch,  // PATCH of `body`, application/strategic-merge-patch+json: core types only; lists merge by
                         // their keys
  kPut,                  // PUT of `body`: only for objects wholly ours (Lease)
  kDelete,               // DELETE; "not found" counts as done
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct Write {
  Verb verb = Verb::kCreate;
  const api::Resource* resource = nullptr;  // one of api/resource.h's constants
  std::string subresource;                  // "", "status", "binding", "eviction"
  std::string ns;                           // "" for cluster-scoped resources
  std::string name;
  std::string body;
  // What the write was decided on. Set on everything but the creation of objects: the driver adds it as a precondition
  // (delete) or into the patch's metadata; the body of a binding has it already. resourceVersion is for changes; a
  // deletion has it only when a change of the object could save it.
  std::string uid;
  std::string resource_version;
  std::optional<std::int64_t> grace_period_seconds;  // deletions only
  Propagation propagation = Propagation::kBackground;
  bool urgent = false;  // it goes before others of its component
  bool yields = false;  // it only tells what is: what makes something happen may go before it
};

// An event to record on an object; the recorder counts repeats.
struct EventNote {
  enum class Type { kNormal, kWarning };
  Type type = Type::kNormal;
  std::string reason;   // "ExecuteAction": one word, CamelCase
  std::string message;  // one sentence, numbers included
  api::ObjectReference regarding;
};

struct Plan {
  std::vector<std::vector<Write>> stages;
  std::vector<EventNote> events;
  absl::Time look_again = absl::InfiniteFuture();
  // UID of the object it was decided for, where what is refused is told of that object: its name may be another's when
  // the answer comes.
  std::string uid = {};

  bool empty() const { return stages.empty() && events.empty(); }
};

}  // namespace gangway::kube
