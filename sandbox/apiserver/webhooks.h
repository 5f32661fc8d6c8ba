// The webhooks that configurations name, and which of them are to be asked about a request.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/field_error.h"
#include "api/resource.h"
#include "api/selector.h"
#include "boost/json/object.hpp"
#include "sandbox/apiserver/store/store.h"
#include "sandbox/cel/expression.h"

namespace gangway::sandbox {

struct WebhookRule {
  std::vector<std::string> groups, versions, resources, operations;
  std::string scope;  // "*", "Cluster", "Namespaced"
};

struct Webhook {
  bool mutates = false;
  std::string configuration, name;
  std::string url;  // "" when it is a service's:
  std::string service_namespace, service_name, service_path;
  int service_port = 443;
  std::string ca;  // PEM; "": the machine's
  std::vector<WebhookRule> rules;
  bool equivalent = true;        // matchPolicy
  bool ignore_failures = false;  // failurePolicy
  bool reinvoked = false;        // reinvocationPolicy IfNeeded
  bool speaks_v1 = true;         // admissionReviewVersions
  absl::Duration timeout = absl::Seconds(10);
  api::LabelSelector namespaces, objects;
  struct Condition {
    std::string name;
    cel::Expression expression;
  };
  std::vector<Condition> conditions;
};

// What is about to be written, as rules know it.
struct Admission {
  absl::string_view operation;  // "CREATE"
  const api::Resource* resource = nullptr;
  absl::string_view subresource, ns, name;
  bool dry_run = false;
  // Of a subresource whose objects are of another kind.
  absl::string_view other_api_version = {}, other_kind = {};
};

// Whether one of the rules has it, in this version of its group.
bool RulesMatch(const Webhook& webhook, const Admission& what, absl::string_view version);

// All of the configurations, in the order in which they are asked: those by name, their webhooks as they stand.
class Webhooks {
 public:
  // Whenever a configuration has changed.
  void Read(const Store& store);
  bool empty() const { return mutating_.empty() && validating_.empty(); }
  absl::Span<const Webhook> mutating() const { return mutating_; }
  absl::Span<const Webhook> validating() const { return validating_; }

 private:
  std::vector<Webhook> mutating_, validating_;
};

// pkg/apis/admissionregistration/validation. What the sandbox cannot evaluate of conditions is refused, too.
void CheckWebhooks(const boost::json::object& configuration, api::FieldErrors& errors);

}  // namespace gangway::sandbox
