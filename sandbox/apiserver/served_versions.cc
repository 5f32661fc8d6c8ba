#include "sandbox/apiserver/served_versions.h"

#include <algorithm>

#include "api/kinds/kinds.h"
#include "base/strings.h"
#include "sandbox/apiserver/declared_kinds.h"

namespace gangway::sandbox {

bool ServedVersions::Has(const api::KindRow& kind) const {
  return !kind.on_request ||
         std::find(asked_for_.begin(), asked_for_.end(), kind.resource->ApiVersion()) != asked_for_.end();
}

const api::Resource* ServedVersions::Find(absl::string_view group, absl::string_view version,
                                          absl::string_view plural) const {
  for (const api::KindRow& kind : api::Kinds()) {
    const api::Resource& resource = *kind.resource;
    if (View(resource.plural) == plural && View(resource.group) == group && View(resource.version) == version &&
        Has(kind))
      return &resource;
  }
  return declared_.Find(group, version, plural);
}

const api::Resource* ServedVersions::FindKind(absl::string_view api_version, absl::string_view kind) const {
  if (const api::Resource* const found = api::FindKind(api_version, kind); found != nullptr && Has(api::RowOf(*found)))
    return found;
  return declared_.FindKind(api_version, kind);
}

bool ServedVersions::HasBuiltInGroup(absl::string_view group) const {
  return std::any_of(api::Kinds().begin(), api::Kinds().end(),
                     [&](const api::KindRow& kind) { return View(kind.resource->group) == group && Has(kind); });
}
bool ServedVersions::HasGroup(absl::string_view group) const {
  return HasBuiltInGroup(group) || declared_.HasGroup(group);
}

void ServedVersions::ForEach(absl::FunctionRef<void(const api::KindRow&)> visit) const {
  for (const api::KindRow& kind : api::Kinds()) {
    if (Has(kind)) visit(kind);
  }
  declared_.ForEach(visit);
}

}  // namespace gangway::sandbox
