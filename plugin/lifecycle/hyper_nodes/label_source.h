// Which labels of nodes say how the network is built: the source `label` of networkTopologyDiscovery in Volcano's
// volcano-controller.conf (volcano: pkg/controllers/hypernode/discovery/label).
//
//   networkTopologyDiscovery:
//     - source: label
//       enabled: true
//       config:
//         networkTopologyTypes:
//           rdma:                                     # widest first
//             - nodeLabel: example.com/spine
//             - nodeLabel: example.com/rack
//             - nodeLabel: kubernetes.io/hostname     # the node itself: the last one makes no HyperNode
//
// A list of such maps is the same as one map. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::lifecycle {

struct TopologyType {
  std::string name;                 // "rdma"
  std::vector<std::string> labels;  // by tier, the first is that of tier 1
  friend bool operator==(const TopologyType&, const TopologyType&) = default;
};

struct LabelSource {
  // Whether labels make HyperNodes at all. Without it those that are there are left alone; with it and without types
  // those that labels made before go.
  bool enabled = false;
  std::vector<TopologyType> types;  // by name
  friend bool operator==(const LabelSource&, const LabelSource&) = default;
};

struct LabelSourceFile {
  LabelSource source;
  // What is not followed, a line each: "volcano-controller.conf:5: ...".
  std::vector<std::string> notes;
};

inline constexpr std::size_t kMaxControllerConfBytes = 64 << 10;
inline constexpr std::size_t kMaxTopologyName = 20;  // longer ones are left out, as Volcano does
inline constexpr std::size_t kMaxTopologyTypes = 64, kMaxTopologyTiers = 16;

// The text of the file. Errors begin with `source`, and the line where there is one.
absl::StatusOr<LabelSourceFile> ReadLabelSource(absl::string_view text, absl::string_view source);

}  // namespace gangway::lifecycle
