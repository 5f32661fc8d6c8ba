#include "kube/runtime/refusal.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "base/strings.h"

namespace gangway::kube {
namespace {

constexpr absl::string_view kCrds = "kubectl apply -f deploy/volcano/crds.yaml";

struct GroupVersion {
  std::string version;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "GroupVersionForDiscovery";
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&GroupVersion::version>("version", "")); }
};
struct ApiGroup {
  std::vector<GroupVersion> versions;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "APIGroup";
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&ApiGroup::versions>("versions", "")); }
};

}  // namespace

ServedVersions VersionsFrom(absl::string_view api_group_json) {
  std::vector<std::string> versions;
  if (const auto group = api::Decode<ApiGroup>(api_group_json); group.ok()) {
    for (const GroupVersion& served : group->versions) versions.push_back(served.version);
  }
  return versions;
}

std::string FullName(const api::Resource& resource) {
  return resource.group.empty() ? std::string(resource.plural)
                                : absl::StrCat(View(resource.plural), ".", View(resource.group));
}

std::string ExplainNotFound(const api::Resource& resource, const ServedVersions& served) {
  const std::string name = FullName(resource);
  if (!absl::EndsWith(View(resource.group), ".volcano.sh")) {
    return absl::StrCat("the API server does not serve ", name, " ", View(resource.version),
                        ": its Kubernetes is too old or this API is switched off");
  }
  const std::string version(resource.version);
  if (served.has_value() && !served->empty() && std::find(served->begin(), served->end(), version) == served->end()) {
    return absl::StrCat("the API server serves ", View(resource.group), " in ", absl::StrJoin(*served, ", "),
                        " and not in ", version, ", which gangway speaks: install the CRDs that came with it: ", kCrds);
  }
  return absl::StrCat("the API server does not know ", name, " (", version, "): install the CRDs: ", kCrds);
}

std::string ExplainRefusal(const api::Resource& resource, absl::string_view verb, absl::string_view ns,
                           const absl::Status& status) {
  const std::string what =
      absl::StrCat(verb, " ", FullName(resource), ns.empty() ? "" : absl::StrCat(" in namespace ", ns));
  if (absl::IsPermissionDenied(status)) {
    return absl::StrCat("may not ", what, ": give its role verbs list and watch on resource ", View(resource.plural),
                        " of API group \"", View(resource.group),
                        "\" (deploy/volcano has the roles): ", status.message());
  }
  if (absl::IsUnauthenticated(status)) {
    return absl::StrCat("the API server does not believe who we are (", what,
                        "): look at the token or the client certificate: ", status.message());
  }
  return absl::StrCat("cannot ", what, ": ", status.message());
}

bool IsUnreached(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status);
}

std::string WhyUnreached(const absl::Status& status) {
  const absl::string_view text = status.message();
  const std::size_t last = text.rfind(": ");
  return std::string(last == absl::string_view::npos ? text : text.substr(last + 2));
}

}  // namespace gangway::kube
