// How many volumes of each CSI driver a node can attach, and which it has: those that pods on it use, whatever claims
// they use them by, and those of VolumeAttachments. A part of the Cluster; Volumes says which volume a claim stands
// for. kubernetes: plugins/nodevolumelimits
//
// Nodes are known here by their names, whoever told of them first. Used on one loop; const calls may run together.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"

namespace gangway::model {

class Nodes;

class Attachments {
 public:
  using VolumeId = int;
  using DriverId = int;  // its name, interned

  Attachments(Names& names, Nodes& nodes) : names_(names), nodes_(nodes) {}

  // Events.
  void SetNode(const CsiNodeFacts& facts);
  void RemoveNode(absl::string_view name);

  // For one more, or less, that stands for the volume.
  VolumeId Use(absl::string_view driver, absl::string_view handle);
  void Unuse(VolumeId volume);
  // So many pods on the node, an interned name, use it more, or less; VolumeAttachments likewise.
  void Hold(int node, VolumeId volume, int pods) { Count(node, volume, pods, 0); }
  void Attach(int node, VolumeId volume, int times) { Count(node, volume, 0, times); }

  DriverId driver(VolumeId volume) const { return volumes_[volume].driver; }
  // Whether any node, or any for this driver, has a limit.
  bool limited() const { return !limiting_.empty(); }
  bool limited(DriverId driver) const { return limiting_.contains(driver); }
  struct Limit {
    int most = 0, left = 0;  // left: may be less than nothing
  };
  std::optional<Limit> LimitOn(Row row, DriverId driver) const;
  // Whether pods on it use the volume; whether it counts for any reason.
  bool HeldOn(Row row, VolumeId volume) const;
  bool CountedOn(Row row, VolumeId volume) const;

  // What counts on nodes, as `pods` and `attached` have it: how often, by name of the node and volume.
  using Counts = absl::flat_hash_map<std::pair<int, VolumeId>, int>;
  void Audit(const Counts& pods, const Counts& attached, const absl::flat_hash_map<VolumeId, int>& users,
             std::vector<std::string>& wrong) const;
  int slots() const { return volumes_.size(); }

 private:
  struct Volume {
    std::string key;
    DriverId driver = 0;
    int users = 0;
  };
  struct Uses {
    int pods = 0, attached = 0;
  };
  struct OnNode {
    std::vector<std::pair<DriverId, int>> limits;
    absl::flat_hash_map<VolumeId, Uses> volumes;
    std::vector<std::pair<DriverId, int>> counts;  // of volumes
  };
  void Count(int node, VolumeId volume, int pods, int attached);
  void SetLimits(int node, std::vector<std::pair<DriverId, int>> limits);
  void EraseIfEmpty(int node);
  const OnNode* Find(Row row) const;
  void Touch(int node);

  Names& names_;
  Nodes& nodes_;
  SlotTable<Volume> volumes_;
  absl::flat_hash_map<std::string, VolumeId> by_key_;
  absl::flat_hash_map<int, OnNode> on_;          // by name
  absl::flat_hash_map<DriverId, int> limiting_;  // nodes
};

}  // namespace gangway::model
