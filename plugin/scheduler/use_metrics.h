// What namespaces hold and wait for, and what is idle in the cluster, by resource: cpu in cores, memory in bytes,
// everything else in units. Namespaces beyond a number share one label, and resources beyond one are not said: anybody
// may make a namespace, and ask for any name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/metrics.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

// Without CountIn it counts nothing. The metrics must outlive it.
class UseMetrics {
 public:
  static constexpr std::size_t kMostNamespaces = 200;
  static constexpr int kMostResources = 32;
  static constexpr char kOthers[] = "_others_";  // no namespace is called so

  void CountIn(Metrics& metrics) { metrics_ = &metrics; }
  // As the cluster is now. Of gangs that are not ours it says what they hold.
  void Set(const model::Cluster& cluster);

 private:
  struct Amounts {
    std::map<model::Dim, std::int64_t> held, waiting;
  };
  using Gauges = std::map<std::pair<std::string, model::Dim>, Gauge>;  // by namespace; "" for the cluster

  const std::string& LabelOf(const std::string& ns);
  void Say(Gauges& gauges, const char* name, const char* help, const std::string& ns, model::Dim dim,
           const model::Cluster& cluster, std::int64_t amount);

  Metrics* metrics_ = nullptr;
  std::map<std::string, Amounts> namespaces_;  // that have a label of their own, and kOthers
  Gauges held_, waiting_, idle_;
};

}  // namespace gangway::scheduler
