// From a request line to what it asks for: resource, namespace, name, subresource and the query's options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/resource.h"
#include "api/selector.h"
#include "sandbox/apiserver/refusal.h"
#include "sandbox/apiserver/served_versions.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

struct Target {
  const api::Resource* resource = nullptr;
  std::string ns;           // "" for cluster scope and for a list over all namespaces
  std::string name;         // "" for the collection
  std::string subresource;  // "" or one that discovery lists
  api::NamespacedName key() const { return {ns, name}; }
};

// 404 for a path that is no resource's; 400 for broken percent-encoding.
Outcome<Target> ParsePath(absl::string_view path, const ServedVersions& served);

// Name and value pairs of a query, decoded, in their order.
class Query {
 public:
  static Outcome<Query> Parse(absl::string_view query);
  // The first of that name; "" when absent.
  absl::string_view Get(absl::string_view name) const;
  std::vector<absl::string_view> All(absl::string_view name) const;
  bool Has(absl::string_view name) const;
  // Absent is false (unset); else as Go reads it for the API server: everything but "", "0" and "false" is true.
  bool Flag(absl::string_view name) const;
  // nullopt when absent; 400 when no integer.
  Outcome<std::optional<std::int64_t>> Integer(absl::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// What a list or a watch selects, and from when.
struct ListOptions {
  api::LabelSelector labels;
  api::FieldSelector fields;
  std::int64_t limit = 0;
  std::string continue_token;
  std::optional<Revision> revision;  // unset: the latest
  enum class Match { kUnset, kExact, kNotOlderThan } match = Match::kUnset;
  bool bookmarks = false;
  std::optional<bool> initial_events;
  std::optional<absl::Duration> timeout;
};
Outcome<ListOptions> ParseListOptions(const Query& query, const Target& target);

// Options of creates, updates and patches.
enum class FieldValidation { kIgnore, kWarn, kStrict };
struct WriteOptions {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::string field_manager;
  bool force = false;
};
// `kind` names the options in refusals: "CreateOptions".
// An apply must name its manager, and only it may use force.
Outcome<WriteOptions> ParseWriteOptions(const Query& query, absl::string_view kind, bool apply = false);

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<std::string> uid, resource_version;
  enum class Propagation { kUnset, kBackground, kForeground, kOrphan } propagation = Propagation::kUnset;
};
// From the query and, when there is one, the body (a DeleteOptions object), which wins.
Outcome<DeleteOptions> ParseDeleteOptions(const Query& query, absl::string_view body);

// "application/json; charset=utf-8" -> "application/json", in lower case.
std::string MediaType(absl::string_view content_type);

// A list's place, opaque to clients.
struct ContinueToken {
  Revision revision = 0;
  api::NamespacedName after;
  std::int64_t remaining = 0;  // objects behind `after` at that revision, within the list's scope
};
std::string EncodeContinue(const ContinueToken& token);
std::optional<ContinueToken> DecodeContinue(absl::string_view text);

}  // namespace gangway::sandbox
