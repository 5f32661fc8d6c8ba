// Gives a PodGroup to every pod that names our scheduler and has none. Used on its loop.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "kube/runtime/driver.h"
#include "plugin/controller/caches.h"

namespace gangway::controller {

class BarePodController {
 public:
  BarePodController(Loop& loop, kube::Client& client, kube::Recorder& recorder, Caches& caches, std::string scheduler_name,
                    kube::DriverOptions options);

  void OnPod(const api::NamespacedName& key, const std::shared_ptr<const api::core::Pod>& pod);

  // Asleep it keeps its indices and decides nothing; Wake() looks at everything.
  void Sleep() { driver_.Sleep(); }
  void Wake();
  const kube::Driver& driver() const { return driver_; }

 private:
  kube::Plan Decide(const api::NamespacedName& key) const;

  Caches& caches_;
  const std::string scheduler_name_;
  absl::flat_hash_map<api::NamespacedName, std::shared_ptr<const api::core::Pod>> waiting_;  // those without a group
  kube::Driver driver_;
};

}  // namespace gangway::controller
