// What the API server says no with: a metav1.Status, its texts those of Kubernetes where programs and people know them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/resource.h"
#include "base/strings.h"
#include "kube/client/client.h"

namespace gangway::sandbox {

struct Cause {
  std::string reason, message, field;
};

struct Refusal {
  int code = 500;
  std::string reason = {};  // "NotFound"
  std::string message = {};
  // details; all may be empty.
  std::string name = {}, group = {}, kind = {}, uid = {};
  std::vector<Cause> causes = {};
  int retry_after_seconds = 0;
  bool generic = false;  // of no object: has details, empty ones (apimachinery: NewGenericServerResponse)
  bool text = false;     // the message alone, as text: of what Kubernetes' router does not know

  std::string ToJson() const;
  kube::Response ToResponse() const;
};

// However many there are: what is told of them is cut when they become a refusal.
inline void AddError(api::FieldErrors& errors, api::FieldError::Type type, absl::string_view field,
                     absl::string_view value_json, absl::string_view rule) {
  errors.push_back({.type = type,
                    .field = std::string(field),
                    .value = std::string(value_json),
                    .rule = std::string(rule),
                    .fix = ""});
}

// A value, or why there is none.
template <class T>
class Outcome {
 public:
  Outcome(T value) : held_(std::move(value)) {}            // NOLINT: by design
  Outcome(Refusal refusal) : held_(std::move(refusal)) {}  // NOLINT: by design
  bool ok() const { return std::holds_alternative<T>(held_); }
  T& operator*() { return std::get<T>(held_); }
  T* operator->() { return &std::get<T>(held_); }
  Refusal& refusal() { return std::get<Refusal>(held_); }

 private:
  std::variant<T, Refusal> held_;
};
// nullopt: allowed.
using Objection = std::optional<Refusal>;

Refusal BadRequest(std::string message);
Refusal PathNotFound();  // of an API group that is there
Refusal NoSuchPath();    // of none
Refusal MethodNotAllowed();
Refusal ServerError(absl::string_view why);  // 500, "Internal error occurred: ..."
Refusal NotAcceptable();
Refusal TooLarge();         // the body
Refusal TooLargeToStore();  // the object
Refusal UnsupportedMediaType(absl::string_view accepted);
Refusal Expired(std::string message);
Refusal TooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current);
Refusal NotFound(const api::Resource& resource, absl::string_view name);
Refusal AlreadyExists(const api::Resource& resource, absl::string_view name);
// A name that was to be generated, and is taken.
Refusal GeneratedNameExists(const api::Resource& resource, absl::string_view name);
Refusal Conflict(const api::Resource& resource, absl::string_view name, absl::string_view why);
Refusal Forbidden(const api::Resource& resource, absl::string_view name, absl::string_view why);
Refusal Invalid(const api::Resource& resource, absl::string_view name, const api::FieldErrors& errors);
// Of options that are no part of an object: `CreateOptions.meta.k8s.io "" is invalid: ...`.
Refusal InvalidOptions(absl::string_view kind, const api::FieldErrors& errors);
Refusal InvalidLogOptions(absl::string_view pod, const api::FieldErrors& errors);

inline constexpr absl::string_view kApplyMediaType = "application/apply-patch+yaml";

inline constexpr absl::string_view kModifiedMeanwhile =
    "the object has been modified; please apply your changes to the latest version and try again";

// "jobs.batch.volcano.sh", "pods"
std::string GroupResource(const api::Resource& resource);

// Status Success; `kind`, `name` and `uid` say of what, and may be empty.
kube::Response SuccessStatus(int code, const api::Resource* resource = nullptr, absl::string_view name = {},
                             absl::string_view uid = {});
kube::Response JsonResponse(int code, Bytes body);

}  // namespace gangway::sandbox
