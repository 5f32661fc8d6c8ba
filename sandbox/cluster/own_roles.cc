#include "sandbox/cluster/own_roles.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/manifest/manifest.h"
#include "base/check.h"

extern "C" const char gangway_own_manifest_begin[];
extern "C" const char gangway_own_manifest_end[];

namespace gangway::sandbox {
namespace {

constexpr std::array<absl::string_view, 6> kKinds{"Namespace",   "ServiceAccount", "Role",
                                                  "RoleBinding", "ClusterRole",    "ClusterRoleBinding"};

}  // namespace

std::vector<OwnObject> OwnRoles(absl::string_view component) {
  const absl::string_view text(gangway_own_manifest_begin,
                               static_cast<std::size_t>(gangway_own_manifest_end - gangway_own_manifest_begin));
  absl::StatusOr<std::vector<api::ManifestDocument>> documents = api::ReadManifest(text, "gangway.yaml");
  GW_CHECK(documents.ok());
  std::vector<OwnObject> out;
  const std::string label = absl::StrCat("\"app.kubernetes.io/component\":\"", component, "\"");
  for (api::ManifestDocument& document : *documents) {
    const bool wanted = document.kind == "Namespace" || absl::StrContains(document.json, label);
    if (wanted && std::find(kKinds.begin(), kKinds.end(), document.kind) != kKinds.end())
      out.push_back({document.kind, document.ns, std::move(document.json)});
  }
  return out;
}

}  // namespace gangway::sandbox
