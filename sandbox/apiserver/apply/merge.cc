// A configuration laid over a live object.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sandbox/apiserver/apply/typed.h"
#include "sandbox/apiserver/apply/walk.h"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

json::value MergeMaps(const json::value& live, const json::value& config, const schemas::SchemaNode& type) {
  json::object out;
  const json::object* over = config.if_object();
  if (live.is_object()) {
    for (const auto& member : live.get_object()) {
      const json::value* other = over == nullptr ? nullptr : over->if_contains(member.key());
      const schemas::SchemaNode* below = MemberNode(type, KeyOf(member));
      out.emplace(member.key(), other == nullptr   ? member.value()
                                : below == nullptr ? *other
                                                   : Merge(member.value(), *other, *below));
    }
  }
  if (over != nullptr) {
    for (const auto& member : *over) out.emplace(member.key(), member.value());  // those that are there stay
  }
  return out;
}

// The elements of one list, by their steps.
struct Indexed {
  std::vector<PathElement> steps;
  std::vector<const json::value*> values;                        // as they stand
  absl::flat_hash_map<std::string, const json::value*> by_step;  // null: stands twice

  Indexed(const schemas::SchemaNode& node, const json::value& list) {
    if (!list.is_array()) return;
    for (const json::value& element : list.get_array()) {
      std::optional<PathElement> step = StepOf(node, element);
      if (!step.has_value()) continue;
      const auto [at, fresh] = by_step.try_emplace(step->text(), &element);
      if (!fresh) at->second = nullptr;
      steps.push_back(*std::move(step));
      values.push_back(&element);
    }
  }
  bool Has(const PathElement& step) const { return by_step.contains(step.text()); }
};

// Elements of both keep the order that `config` gives them, others the place they had in `live`
// (structured-merge-diff: mergingWalker.visitListItems).
class ListMerge {
 public:
  ListMerge(const json::value& live, const json::value& config, const schemas::SchemaNode& type)
      : type_(type), live_(type, live), config_(type, config) {
    for (const PathElement& step : config_.steps) {
      if (live_.Has(step)) shared_.push_back(&step);
    }
  }

  json::array Run() {
    std::size_t l = 0, c = 0;
    while (l < live_.steps.size() || c < config_.steps.size()) {
      if (l < live_.steps.size() && c < config_.steps.size()) {
        if (live_.steps[l] == config_.steps[c]) {
          Take(config_.steps[c]);
          ++next_shared_;
          ++l, ++c;
          continue;
        }
        const PathElement* next = next_shared_ < shared_.size() ? shared_[next_shared_] : nullptr;
        if (config_.Has(live_.steps[l]) && next != nullptr && !(*next == live_.steps[l])) {
          ++l;  // its turn comes later
          continue;
        }
      }
      if (l < live_.steps.size()) {
        if (!config_.Has(live_.steps[l])) {
          out_.push_back(*live_.values[l]);
          ++l;
          continue;
        }
        if (taken_.contains(live_.steps[l].text())) ++l;
      }
      if (c < config_.steps.size()) {
        const PathElement& step = config_.steps[c++];
        Take(step);
        if (next_shared_ < shared_.size() && *shared_[next_shared_] == step) ++next_shared_;
      }
    }
    return std::move(out_);
  }

 private:
  void Take(const PathElement& step) {
    taken_.insert({step.text(), true});
    const json::value* config = config_.by_step.at(step.text());
    const auto at = live_.by_step.find(step.text());
    const json::value* live = at == live_.by_step.end() ? nullptr : at->second;
    out_.push_back(live == nullptr ? *config : Merge(*live, *config, *type_.element));
  }

  const schemas::SchemaNode& type_;
  const Indexed live_, config_;
  std::vector<const PathElement*> shared_;
  std::size_t next_shared_ = 0;
  absl::flat_hash_map<std::string, bool> taken_;
  json::array out_;
};

bool Empty(const json::value& value) {
  return value.is_null() || (value.is_object() && value.get_object().empty()) ||
         (value.is_array() && value.get_array().empty());
}

}  // namespace

json::value Merge(const json::value& live, const json::value& config, const schemas::SchemaNode& type) {
  const Atom a = AtomOf(type, live), b = AtomOf(type, config);
  if (b == Atom::kLeaf || (a != b && !config.is_null()) || (Empty(live) && Empty(config))) return config;
  return b == Atom::kMap ? MergeMaps(live, config, type) : json::value(ListMerge(live, config, type).Run());
}

}  // namespace gangway::sandbox::apply
