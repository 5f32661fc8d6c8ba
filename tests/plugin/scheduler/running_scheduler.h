// The scheduler as the one component of a process.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "kube/runtime/components.h"
#include "plugin/scheduler/scheduler.h"

namespace gangway::scheduler {

class RunningScheduler : public kube::Components {
 public:
  RunningScheduler(Loop& loop, kube::Client& client, Options options = {}, bool standby = false,
                   std::vector<std::string> namespaces = {}, Metrics* metrics = nullptr)
      : Components(loop, client, metrics, std::move(namespaces)) {
    kube::ComponentOptions component;
    component.standby = standby;
    auto scheduler = Scheduler::Make(informers(), std::move(component), std::move(options));
    scheduler_ = scheduler.get();
    Add(std::move(scheduler));
  }
  const model::Cluster& cluster() const { return scheduler_->cluster(); }

 private:
  const Scheduler* scheduler_;
};

}  // namespace gangway::scheduler
