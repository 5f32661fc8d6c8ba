// Which resources count when fuller nodes are filled first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/resources.h"

namespace gangway::constraint {

struct Packing {
  // By resource; one that is not named does not count. Absent: those that a node is bought for count the same, cpu,
  // memory and devices. Disk and pod slots would outvote them on small nodes.
  std::optional<absl::btree_map<std::string, std::int64_t>> weights;

  std::int64_t WeightOf(model::Dim dim, absl::string_view name) const {
    if (!weights.has_value()) return dim != model::kPods && dim != model::kEphemeralStorage ? 1 : 0;
    const auto found = weights->find(name);
    return found == weights->end() ? 0 : found->second;
  }
  friend bool operator==(const Packing&, const Packing&) = default;
};

inline const Packing kPackAlike{};

}  // namespace gangway::constraint
