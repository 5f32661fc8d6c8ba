// Room in the ResourceQuotas of namespaces (volcano: plugins/resourcequota): a gang is let in while what its PodGroup
// asks for in minResources fits beside what the namespace uses and what was let in before it. Of both, what is for pods
// that are there is left out: the quota counts them. What a quota does not list it does not limit.
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
  const model::Cluster& cluster_;
  std::map<std::string, std::map<std::string, std::int64_t>> promised_;  // by namespace and name
};

}  // namespace gangway::gang
