// The ResourceQuotas of namespaces. A part of the Cluster.
#pragma once

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"

namespace gangway::model {

class Quotas {
 public:
  using ByName = std::map<std::string, QuotaFacts, std::less<>>;

  void Set(const QuotaFacts& facts) { by_namespace_[facts.ns][facts.name] = facts; }
  void Remove(absl::string_view ns, absl::string_view name) {
    const auto of = by_namespace_.find(ns);
    if (of == by_namespace_.end()) return;
    of->second.erase(std::string(name));
    if (of->second.empty()) by_namespace_.erase(of);
  }
  bool empty() const { return by_namespace_.empty(); }
  // nullptr: there are none.
  const ByName* Of(absl::string_view ns) const {
    const auto of = by_namespace_.find(ns);
    return of == by_namespace_.end() ? nullptr : &of->second;
  }

 private:
  absl::flat_hash_map<std::string, ByName> by_namespace_;
};

}  // namespace gangway::model
