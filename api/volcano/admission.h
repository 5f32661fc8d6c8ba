// Whether an object of Volcano's may be created, changed or deleted. A pure function: object, old object and look-ups
// in, verdict out. `gangway validate`, the webhook and the sandbox's API server ask the same one.
//
// The verdicts are those of Volcano's CRDs and webhooks (Volcano: pkg/webhooks/admission/*/validate), in their HTTP
// codes: 422 Invalid where the schema refuses, 400 where the webhooks do. The texts are ours: field, rule, what to do.
// Unlike theirs, a verdict lists every error, in the order of the fields.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/field_error.h"
#include "api/resource.h"
#include "api/volcano/scheduling.h"
#include "boost/json/fwd.hpp"

namespace gangway::api::volcano {

struct Verdict {
  int code = 0;         // 0 allowed, 400 refused by a rule, 422 refused by the schema
  std::string reason;   // metav1 status reason: "Invalid" with 422, "" with 400
  FieldErrors errors;   // in stable order; empty when allowed
  std::string message;  // one line with all of them: `job default/ctr is refused: spec.tasks[0]...`
  bool allowed() const { return code == 0; }
};

// What admission must know of a queue.
struct QueueFacts {
  std::string state;  // "" is a queue that no controller has seen yet; it counts as not open
  std::string parent;
  std::vector<std::string> children;  // sorted
  std::int64_t allocated_pods = 0;    // pods placed in it
};
// nullopt: there is no such queue.
using QueueLookup = std::function<std::optional<QueueFacts>(absl::string_view name)>;

// What the namespace's annotation kQueueNameAnnotation (defaults.h) says; "": nothing, or there is no such namespace.
using NamespaceQueueLookup = std::function<std::string(absl::string_view ns)>;

// A look-up over all queues there are.
QueueLookup LookupIn(absl::Span<const Queue> queues);

enum class Operation { kCreate, kUpdate, kDelete };

struct AdmissionRequest {
  const Resource* resource = nullptr;  // a kind whose row has an Admission; anything else is allowed
  Operation operation = Operation::kCreate;
  std::string ns, name;                            // `name` may be empty on create, for generateName
  const boost::json::value* old_object = nullptr;  // on update and delete
  std::string namespace_queue = {};  // on create of a PodGroup: the annotation kQueueNameAnnotation of `ns`
};

// What is asked of the objects of one kind: a row of the catalogue (api/kind.h) has one.
struct Admission {
  Verdict (*judge)(const AdmissionRequest& request, boost::json::value* object, const QueueLookup& queues);
  // The defaults of a create, of an object whose types are right; null: it has none.
  void (*fill_in)(const AdmissionRequest& request, boost::json::value& object) = nullptr;
  bool deletions = false;  // are judged too
  // What a cluster asks our webhooks about (deploy/volcano/components/webhook); the rest its definitions say.
  bool mutating_webhook = false;
  bool validating_webhook = true;
};

// Applies the defaults of a create to `object` in place, then judges. `object` is null exactly on delete. It may be any
// JSON; unknown fields are kept and not judged. When the verdict is a refusal, `object` may carry some of its defaults.
// Writes to /status are not admission's business. `queues` may be empty (gangway validate without a cluster): then no
// rule about other queues is judged.
Verdict Admit(const AdmissionRequest& request, boost::json::value* object, const QueueLookup& queues);

}  // namespace gangway::api::volcano
