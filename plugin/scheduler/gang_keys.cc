#include "plugin/scheduler/gang_keys.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "plugin/ingest/ingest.h"
#include "plugin/scheduler/group_kinds.h"

namespace gangway::scheduler {

using api::NamespacedName;
using model::GangKind;

NamespacedName KeyOfQueue(absl::string_view name) { return {"", std::string(name)}; }

bool IsOfQueue(const NamespacedName& key) { return key.ns.empty(); }

NamespacedName KeyOfGang(GangKind kind, const std::string& ns, const std::string& name) {
  if (kind == GangKind::kVolcano) return {ns, name};
  return {ns, absl::StrCat(std::string(ingest::ResourceOf(kind).plural), ".",
                           std::string(ingest::ResourceOf(kind).group), "/", name)};
}

NamespacedName KeyOfGang(const model::Gang& gang) { return KeyOfGang(gang.kind, gang.ns, gang.name); }

NamespacedName KeyOfGang(const model::Cluster& cluster, model::GangId id) {
  return id == model::kNone || !cluster.gang(id).known ? NamespacedName{} : KeyOfGang(cluster.gang(id));
}

model::GangId FindGang(const model::Cluster& cluster, const NamespacedName& key) {
  if (!absl::StrContains(key.name, '/')) return cluster.FindGang(key.ns, key.name);
  for (const GangKind kind : {GangKind::kKubernetes, GangKind::kCoscheduling}) {
    const std::string prefix = KeyOfGang(kind, "", "").name;
    if (absl::StartsWith(key.name, prefix))
      return cluster.FindGang(key.ns, absl::string_view(key.name).substr(prefix.size()), kind);
  }
  return model::kNone;
}

}  // namespace gangway::scheduler
