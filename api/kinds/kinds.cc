#include "api/kinds/kinds.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/kinds/coscheduling_kinds.h"
#include "api/kinds/kubernetes_kinds.h"
#include "api/paddle/kinds.h"
#include "api/volcano/kinds.h"
#include "base/check.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

// "v1" or "group/v1"
bool Is(const Resource& resource, absl::string_view api_version) {
  if (resource.group.empty()) return api_version == View(resource.version);
  return api_version.size() == resource.group.size() + 1 + resource.version.size() &&
         api_version.substr(0, resource.group.size()) == View(resource.group) &&
         api_version[resource.group.size()] == '/' &&
         api_version.substr(resource.group.size() + 1) == View(resource.version);
}

const KindRow* FindRow(const Resource& resource) {
  if (resource.declared != nullptr) return resource.declared;
  static const auto& rows = *[] {
    auto* made = new absl::flat_hash_map<const Resource*, const KindRow*>();
    for (const KindRow& row : Kinds()) made->emplace(row.resource, &row);
    return made;
  }();
  const auto at = rows.find(&resource);
  return at == rows.end() ? nullptr : at->second;
}

}  // namespace

std::span<const KindRow> Kinds() {
  static const auto& all = *[] {
    auto* rows = new std::vector<KindRow>();
    for (const std::span<const KindRow> of :
         {KubernetesKinds(), volcano::Kinds(), paddle::Kinds(), CoschedulingKinds()})
      rows->insert(rows->end(), of.begin(), of.end());
    return rows;
  }();
  return all;
}

const KindRow& RowOf(const Resource& resource) {
  const KindRow* row = FindRow(resource);
  GW_CHECK(row != nullptr);
  return *row;
}

bool IsCustom(const Resource& resource) {
  const KindRow* row = FindRow(resource);
  return row != nullptr && row->custom();
}

const Resource* FindKind(absl::string_view api_version, absl::string_view kind) {
  for (const KindRow& row : Kinds()) {
    if (kind == View(row.resource->kind) && Is(*row.resource, api_version)) return row.resource;
  }
  return nullptr;
}

}  // namespace gangway::api
