#include "plugin/gang/constraint/attach_limits.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/most_often.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::Attachments;
using model::Row;

template <class List>
auto FindVolume(List& added, Attachments::VolumeId volume) {
  return std::find_if(added.begin(), added.end(), [&](const auto& each) { return each.first == volume; });
}

// Volumes of pods that are placed, row by row; none while no node has a limit.
class AddedVolumes final : public State {
 public:
  explicit AddedVolumes(const model::Cluster& cluster) : volumes_(cluster.volumes()) {}

  void Add(Row row, const model::Shape& shape, int pods) override {
    if (row == model::kNone || shape.claims.empty() || !volumes_.attachments().limited()) return;
    std::vector<std::pair<Attachments::VolumeId, int>>& added = by_row_[row];
    for (const model::ClaimId claim : shape.claims) {
      const Attachments::VolumeId volume = volumes_.attachable(claim);
      if (volume == model::kNone) continue;
      const auto it = FindVolume(added, volume);
      if (it == added.end()) {
        added.emplace_back(volume, pods);
      } else if ((it->second += pods) == 0) {
        added.erase(it);
      }
    }
  }
  void Remove(Row row, const model::Shape& shape, int pods) override { Add(row, shape, -pods); }

  bool Has(Row row, Attachments::VolumeId volume) const {
    const auto it = by_row_.find(row);
    return it != by_row_.end() && FindVolume(it->second, volume) != it->second.end();
  }
  // Of the driver, beside those that count there without the pods.
  int NewOf(Row row, Attachments::DriverId driver) const {
    const auto it = by_row_.find(row);
    if (it == by_row_.end()) return 0;
    const Attachments& attachments = volumes_.attachments();
    return static_cast<int>(std::count_if(it->second.begin(), it->second.end(), [&](const auto& added) {
      return attachments.driver(added.first) == driver && !attachments.CountedOn(row, added.first);
    }));
  }

 private:
  const model::Volumes& volumes_;
  absl::flat_hash_map<Row, std::vector<std::pair<Attachments::VolumeId, int>>> by_row_;
};

using VolumesByDriver = std::map<Attachments::DriverId, std::vector<Attachments::VolumeId>>;

class AttachLimits final : public Constraint {
 public:
  AttachLimits(const model::Cluster& cluster, const AddedVolumes& added, VolumesByDriver wanted)
      : cluster_(cluster), attachments_(cluster.volumes().attachments()), added_(added), wanted_(std::move(wanted)) {}

  // Pods of a shape have the same claims: where one is, others need nothing more.
  int Copies(Row row) const override { return FullOn(row) == wanted_.end() ? kAnyNumber : 0; }
  Changes changes() const override { return Changes::kRow; }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const Words driver = MostOften(refused, [&](Row row) {
      const auto full = FullOn(row);
      if (full == wanted_.end()) return Words();
      return Words(phrases::kAtMostOf, cluster_.names().Text(full->first),
                   attachments_.LimitOn(row, full->first)->most);
    });
    const int nodes = static_cast<int>(refused.size());
    reason.AddHindrance(kAttachLimits, nodes, phrases::kAttachesNoMore(nodes), driver);
  }

 private:
  // The first driver that cannot attach what is wanted.
  VolumesByDriver::const_iterator FullOn(Row row) const {
    return std::find_if(wanted_.begin(), wanted_.end(), [&](const auto& each) {
      const auto& [driver, volumes] = each;
      const std::optional<Attachments::Limit> limit = attachments_.LimitOn(row, driver);
      if (!limit.has_value()) return false;
      // One that is attached for no pod counts, and counts again for the pod: it may be on its way out.
      const auto more = std::count_if(volumes.begin(), volumes.end(), [&](Attachments::VolumeId volume) {
        return !attachments_.HeldOn(row, volume) && !added_.Has(row, volume);
      });
      return more > 0 && added_.NewOf(row, driver) + static_cast<int>(more) > limit->left;
    });
  }

  const model::Cluster& cluster_;
  const Attachments& attachments_;
  const AddedVolumes& added_;
  const VolumesByDriver wanted_;
};

}  // namespace

std::unique_ptr<State> BeginAttachLimits(const model::Cluster& cluster) {
  return std::make_unique<AddedVolumes>(cluster);
}

std::unique_ptr<Constraint> AskAttachLimits(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.claims.empty()) return nullptr;
  const model::Volumes& volumes = placed.cluster().volumes();
  const Attachments& attachments = volumes.attachments();
  if (!attachments.limited()) return nullptr;
  VolumesByDriver wanted;
  for (const model::ClaimId claim : shape.claims) {
    const Attachments::VolumeId volume = volumes.attachable(claim);
    if (volume == model::kNone || !attachments.limited(attachments.driver(volume))) continue;
    std::vector<Attachments::VolumeId>& of_driver = wanted[attachments.driver(volume)];
    if (std::find(of_driver.begin(), of_driver.end(), volume) == of_driver.end()) of_driver.push_back(volume);
  }
  if (wanted.empty()) return nullptr;
  return std::make_unique<AttachLimits>(placed.cluster(), static_cast<const AddedVolumes&>(*state), std::move(wanted));
}

}  // namespace gangway::constraint
