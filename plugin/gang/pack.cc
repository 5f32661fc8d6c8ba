#include "plugin/gang/pack.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/types/span.h"

namespace gangway::gang {

using model::Dim;
using model::Resources;

namespace {

constexpr double kWhole = 1 << 20;  // sizes are in parts of all there is of a resource, summed over resources

class Packer {
 public:
  Packer(const std::vector<Load>& loads, const std::vector<Resources>& bins, int& budget)
      : loads_(loads), bins_(bins.size()), budget_(budget) {
    int dims = 0;
    for (const Load& load : loads) dims = std::max(dims, load.request.size());
    for (Dim dim = 0; dim < dims; ++dim) {
      const auto asks = [dim](const Load& load) { return load.request[dim] > 0; };
      if (std::any_of(loads.begin(), loads.end(), asks)) dims_.push_back(dim);
    }
    all_.assign(dims_.size(), 0);
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      for (std::size_t d = 0; d < dims_.size(); ++d) {
        free_.push_back(std::max<std::int64_t>(bins[bin][dims_[d]], 0));
        all_[d] += free_.back();
      }
    }
    for (const Load& load : loads) {
      for (const Dim dim : dims_) request_.push_back(load.request[dim]);
    }
  }

  std::optional<std::vector<std::vector<int>>> Run() {
    std::vector<std::size_t> in_order(loads_.size());
    std::iota(in_order.begin(), in_order.end(), std::size_t{0});
    if (!CouldFit(in_order)) return std::nullopt;
    const std::vector<std::size_t> largest_first = Sorted(
        in_order, [this](std::size_t load) { return -static_cast<double>(Size(&request_[load * dims_.size()])); });
    std::vector<double> places;
    for (std::size_t load = 0; load < loads_.size(); ++load) places.push_back(static_cast<double>(Places(load)));
    const std::vector<std::size_t> tightest_first =
        Sorted(in_order, [&](std::size_t load) { return places[load] / loads_[load].count; });
    const std::vector<std::size_t> fewest_places_first =
        Sorted(in_order, [&](std::size_t load) { return places[load]; });
    for (const auto* const order : {&largest_first, &tightest_first, &fewest_places_first}) {
      if (FillInOrder(*order)) return std::move(chosen_);
    }
    const int at_first = budget_;
    for (const auto* const order : {&fewest_places_first, &largest_first}) {
      stop_at_ = order == &fewest_places_first ? at_first / 2 : 0;
      Clear();
      if (SearchFrom(*order, 0)) return std::move(chosen_);
      if (budget_ > stop_at_) break;  // all ways were tried
    }
    return std::nullopt;
  }

 private:
  using Count = std::int64_t;

  template <class F>
  static std::vector<std::size_t> Sorted(std::vector<std::size_t> order, F by) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return by(a) < by(b); });
    return order;
  }

  std::int64_t& free(std::size_t bin, std::size_t d) { return free_[bin * dims_.size() + d]; }
  std::int64_t request(std::size_t load, std::size_t d) const { return request_[load * dims_.size() + d]; }

  // Pods count for nothing: bins are seldom full of them. A sum of whole numbers, so that the order of resources does
  // not matter.
  std::int64_t Size(const std::int64_t* amounts) const {
    std::int64_t size = 0;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (dims_[d] == model::kPods || all_[d] == 0) continue;
      size += static_cast<std::int64_t>(static_cast<double>(amounts[d]) * (kWhole / static_cast<double>(all_[d])));
    }
    return size;
  }

  Count Copies(std::size_t load, std::size_t bin) {
    if (!loads_[load].allowed[bin]) return 0;
    Count copies = std::numeric_limits<int>::max();
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (request(load, d) > 0) copies = std::min(copies, free(bin, d) / request(load, d));
    }
    return copies;
  }
  Count Places(std::size_t load) {
    Count places = 0;
    for (std::size_t bin = 0; bin < bins_; ++bin) places += Copies(load, bin);
    return places;
  }

  void Clear() { chosen_.assign(loads_.size(), std::vector<int>(bins_, 0)); }
  void Take(std::size_t load, std::size_t bin, int count) {
    for (std::size_t d = 0; d < dims_.size(); ++d) free(bin, d) -= request(load, d) * count;
    chosen_[load][bin] += count;
  }

  // Bins with less of what the load does not ask for before others, then the fullest.
  std::vector<std::size_t> BinsFor(std::size_t load, bool mind_others) {
    std::vector<std::pair<int, std::int64_t>> rank;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      int unasked = 0;
      for (std::size_t d = 0; mind_others && d < dims_.size(); ++d)
        unasked += request(load, d) == 0 && free(bin, d) > 0 ? 1 : 0;
      rank.emplace_back(unasked, Size(&free(bin, 0)));
    }
    std::vector<std::size_t> order(bins_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
    return order;
  }

  bool FillInOrder(const std::vector<std::size_t>& order) {
    Clear();
    const std::vector<std::int64_t> before = free_;
    const bool all = std::all_of(order.begin(), order.end(), [&](std::size_t load) {
      budget_ -= static_cast<int>(bins_);
      Count left = loads_[load].count;
      for (const std::size_t bin : BinsFor(load, false)) {
        const Count here = std::min(left, Copies(load, bin));
        Take(load, bin, static_cast<int>(here));
        if ((left -= here) == 0) return true;
      }
      return false;
    });
    free_ = before;
    return all;
  }

  // Whether each of the loads alone has places enough, and what they ask for in sum is there on bins that take any.
  bool CouldFit(absl::Span<const std::size_t> loads) {
    budget_ -= static_cast<int>(loads.size() * bins_);
    std::vector<std::int64_t> missing(dims_.size(), 0);
    std::vector<bool> takes_any(bins_, false);
    for (const std::size_t load : loads) {
      Count places = 0;
      for (std::size_t bin = 0; bin < bins_; ++bin) {
        const Count copies = Copies(load, bin);
        places += copies;
        if (copies > 0) takes_any[bin] = true;
      }
      if (places < loads_[load].count) return false;
      for (std::size_t d = 0; d < dims_.size(); ++d) missing[d] += request(load, d) * loads_[load].count;
    }
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      for (std::size_t d = 0; takes_any[bin] && d < dims_.size(); ++d) missing[d] -= free(bin, d);
    }
    return std::all_of(missing.begin(), missing.end(), [](std::int64_t amount) { return amount <= 0; });
  }

  bool may_go_on() const { return budget_ > stop_at_; }

  bool SearchFrom(const std::vector<std::size_t>& order, std::size_t next) {
    if (next == order.size()) return true;
    if (!may_go_on() || !CouldFit(absl::MakeConstSpan(order).subspan(next))) return false;
    return SearchBins(order, next, BinsFor(order[next], true), 0, loads_[order[next]].count);
  }

  bool SearchBins(const std::vector<std::size_t>& order, std::size_t next, const std::vector<std::size_t>& bins,
                  std::size_t i, Count left) {
    if (left == 0) return SearchFrom(order, next + 1);
    budget_ -= static_cast<int>(bins.size() - i);
    if (i == bins.size()) return false;
    const std::size_t load = order[next];
    Count behind = 0;
    for (std::size_t j = i + 1; j < bins.size(); ++j) behind += Copies(load, bins[j]);
    const Count least = std::max<Count>(0, left - behind);
    for (Count count = std::min(left, Copies(load, bins[i])); count >= least && may_go_on(); --count) {
      Take(load, bins[i], static_cast<int>(count));
      if (SearchBins(order, next, bins, i + 1, left - count)) return true;
      Take(load, bins[i], -static_cast<int>(count));
    }
    return false;
  }

  const std::vector<Load>& loads_;
  const std::size_t bins_;
  int& budget_;
  std::vector<Dim> dims_;              // that a load asks for
  std::vector<std::int64_t> all_;      // free in all bins, by dim
  std::vector<std::int64_t> free_;     // by bin and dim
  std::vector<std::int64_t> request_;  // by load and dim
  std::vector<std::vector<int>> chosen_;
  int stop_at_ = 0;  // what a search leaves of the budget
};

}  // namespace

std::optional<std::vector<std::vector<int>>> Pack(const std::vector<Load>& loads, const std::vector<Resources>& bins,
                                                  int& budget) {
  return Packer(loads, bins, budget).Run();
}

}  // namespace gangway::gang
