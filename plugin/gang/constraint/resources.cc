#include "plugin/gang/constraint/resources.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {
namespace {

using model::Dim;
using model::Row;

__extension__ using Int128 = __int128;

constexpr std::int64_t kFullnessScale = 1'000'000;
constexpr std::int64_t kSmall =
    std::numeric_limits<std::int64_t>::max() / kFullnessScale;  // what can be multiplied by it in 64 bits

class Room final : public Constraint {
 public:
  Room(const Placed& placed, const model::Shape& shape)
      : placed_(placed), shape_(shape), whole_node_(!placed.packing().weights.has_value()) {
    bool asks_for_some = false;
    for (Dim dim = 0; dim < placed.cluster().dims().count(); ++dim) {
      if (shape.request[dim] != 0) asked_.emplace_back(dim, shape.request[dim]);
      if (shape.request[dim] == 0 && !whole_node_) continue;
      const std::int64_t weight = placed.packing().WeightOf(dim, placed.cluster().dims().Name(dim));
      if (weight == 0) continue;
      filled_.push_back({dim, shape.request[dim], weight});
      weights_ += weight;
      asks_for_some = asks_for_some || shape.request[dim] != 0;
    }
    if (!asks_for_some) filled_.clear();
  }

  int Copies(Row row) const override {
    std::int64_t copies = kAnyNumber;
    const model::Resources* const taken = placed_.TakenOn(row);
    for (const auto& [dim, wanted] : asked_) {
      const std::int64_t room = placed_.cluster().free(row, dim) - (taken == nullptr ? 0 : (*taken)[dim]);
      if (room < wanted) return 0;
      copies = std::min(copies, room / wanted);
    }
    return static_cast<int>(copies);
  }

  Changes changes() const override { return Changes::kRow; }
  bool more_fit_less() const override { return true; }

  std::optional<Level> level() const override { return Level::kPack; }
  // How full the row would be with one more pod of the shape. With weights over the resources the shape asks for
  // (volcano: plugins/binpack); else over all that the row has: a pod that asks for no GPUs goes where none are left.
  std::int64_t Score(Row row) const override {
    if (filled_.empty()) return 0;
    const model::Resources* const taken = placed_.TakenOn(row);
    Int128 sum = 0;
    for (const auto& [dim, wanted, weight] : filled_) {
      const std::int64_t allocatable = placed_.cluster().allocatable(row, dim);
      if (allocatable <= 0) continue;
      const std::int64_t used =
          allocatable - placed_.cluster().free(row, dim) + (taken == nullptr ? 0 : (*taken)[dim]) + wanted;
      const Int128 full = used > -kSmall && used < kSmall ? Int128{used * kFullnessScale / allocatable}
                                                          : Int128{used} * kFullnessScale / allocatable;
      // What a row does not have is not left on it.
      sum += weight * (whole_node_ ? full - kFullnessScale : full);
    }
    return static_cast<std::int64_t>(whole_node_ ? sum : sum / weights_);
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    // Nodes are many, and each decision that leaves a gang waiting comes here.
    struct Sum {
      std::int64_t best_free = 0;
      int nodes = 0;
    };
    std::vector<Sum> sums(static_cast<std::size_t>(placed_.cluster().dims().count()));
    for (const Refusal& refusal : refused) {
      const Dim dim = LackAfter(refusal);
      Sum& sum = sums[static_cast<std::size_t>(dim)];
      sum.best_free = std::max(sum.best_free, placed_.free(refusal.row, dim) - shape_.request[dim] * refusal.copies);
      ++sum.nodes;
    }
    for (Dim dim = 0; dim < placed_.cluster().dims().count(); ++dim) {
      const Sum& sum = sums[static_cast<std::size_t>(dim)];
      if (sum.nodes == 0) continue;
      model::Lack& lack = reason.lacks.emplace_back();
      lack.dim = std::string(placed_.cluster().dims().Name(dim));
      lack.needed = shape_.request[dim];
      lack.best_free = sum.best_free;
      lack.nodes = sum.nodes;
    }
  }

 private:
  // The first resource that a further pod lacks.
  Dim LackAfter(const Refusal& refusal) const {
    for (const auto& [dim, wanted] : asked_) {
      if (placed_.free(refusal.row, dim) - wanted * refusal.copies < wanted) return dim;
    }
    return model::kPods;
  }

  const Placed& placed_;
  const model::Shape& shape_;
  const bool whole_node_;
  std::vector<std::pair<Dim, std::int64_t>> asked_;
  struct Filled {
    Dim dim;
    std::int64_t wanted, weight;
  };
  std::vector<Filled> filled_;
  std::int64_t weights_ = 0;
};

}  // namespace

std::unique_ptr<Constraint> AskResources(const Placed& placed, const State*, const model::Shape& shape) {
  return std::make_unique<Room>(placed, shape);
}

std::string RequestText(const model::Cluster& cluster, const model::Shape& shape) {
  std::string text;
  for (Dim dim = 0; dim < shape.request.size(); ++dim) {
    if (shape.request[dim] == 0 || dim == model::kPods) continue;
    const absl::string_view name = cluster.dims().Name(dim);
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", model::AmountText(name, shape.request[dim]));
  }
  return text;
}

}  // namespace gangway::constraint
