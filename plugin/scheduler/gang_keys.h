// How the scheduler's driver names what it decides on: PodGroups of three kinds, and queues.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

// Queues have no namespace, so their keys never meet those of PodGroups.
api::NamespacedName KeyOfQueue(absl::string_view name);
bool IsOfQueue(const api::NamespacedName& key);

// Names have no slashes, so neither do keys of one kind of gang meet those of another.
api::NamespacedName KeyOfGang(model::GangKind kind, const std::string& ns, const std::string& name);
api::NamespacedName KeyOfGang(const model::Gang& gang);
// Empty: kNone, or its PodGroup is not there.
api::NamespacedName KeyOfGang(const model::Cluster& cluster, model::GangId id);
// kNone: there is none, and no pod names it.
model::GangId FindGang(const model::Cluster& cluster, const api::NamespacedName& key);

}  // namespace gangway::scheduler
