// Of which gang a pod is. Checkers ask it of every pod at every record, so nothing is made for the answer.
#pragma once

#include <string>

#include "api/core/pod.h"
#include "api/meta.h"

namespace gangway::testutil {

inline const std::string kGangName = "scheduling.k8s.io/group-name";

inline bool IsOfSomeGang(const api::core::Pod& pod) { return pod.metadata.annotations.contains(kGangName); }
inline bool IsOfGang(const api::core::Pod& pod, const api::NamespacedName& gang) {
  const auto it = pod.metadata.annotations.find(kGangName);
  return it != pod.metadata.annotations.end() && it->second == gang.name && pod.metadata.ns == gang.ns;
}
// Without a name: of none.
inline api::NamespacedName GangNameOf(const api::core::Pod& pod) {
  const auto it = pod.metadata.annotations.find(kGangName);
  return {pod.metadata.ns, it == pod.metadata.annotations.end() ? "" : it->second};
}

}  // namespace gangway::testutil
