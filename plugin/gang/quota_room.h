// Room in the ResourceQuotas of namespaces (volcano: plugins/resourcequota): a gang is let in while what its PodGroup
// asks for in minResources fits beside what the namespace uses and what was let in before it and has no pods yet. What
// a quota does not list it does not limit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

class QuotaRoom {
 public:
  // The cluster must outlive it.
  explicit QuotaRoom(const model::Cluster& cluster);

  // The first quota by name that has not enough.
  std::optional<model::Reason> Refusal(const model::Gang& gang) const;
  void LetIn(const model::Gang& gang);

 private:
  // So many of `whole` parts of what the gang asks for.
  void Promise(const model::Gang& gang, std::int64_t parts, std::int64_t whole);

  const model::Cluster& cluster_;
  std::map<std::string, std::map<std::string, std::int64_t>> promised_;  // by namespace and name
};

}  // namespace gangway::gang
