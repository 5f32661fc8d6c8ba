#include "tests/simulation/replicas.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "kube/client/fenced_client.h"
#include "kube/client/write_fence.h"
#include "kube/runtime/lease.h"
#include "plugin/controller/controllers.h"
#include "plugin/scheduler/scheduler.h"
#include "tests/simulation/pausable.h"

namespace gangway::testutil {
namespace {

constexpr absl::Duration kDown = absl::Seconds(1);  // a process that lost its lease ends and comes back
constexpr absl::Duration kLastWords = absl::Seconds(1);

class Process {
 public:
  Process(Loop& loop, sandbox::Cluster& cluster, const ReplicaOptions& options, const std::string& identity, std::function<void()> on_lost)
      : under_(loop), loop_(loop), network_(cluster.NewClient(sandbox::ClientName(options.component))), client_(loop_, *network_),
        fence_([&loop] { return loop.Now(); }), fenced_(loop_, client_, fence_) {
    kube::Client& writes = options.fenced ? static_cast<kube::Client&>(fenced_) : client_;
    if (options.component == sandbox::Component::kScheduler) {
      scheduler::Options own;
      own.standby = options.fenced;
      scheduler_ = std::make_unique<scheduler::Scheduler>(loop_, writes, own);
      scheduler_->Start();
    } else {
      controller::ControllersOptions own;
      own.standby = options.fenced;
      controllers_ = std::make_unique<controller::Controllers>(loop_, writes, own);
      controllers_->Start();
    }
    if (!options.fenced) return;
    kube::LeaseOptions lease;
    lease.ns = "kube-system";
    lease.name = absl::StrCat("gangway-", sandbox::ClientName(options.component));
    lease.identity = identity;
    lease_ = std::make_unique<kube::Lease>(loop_, client_, fence_, lease,
                                           kube::Lease::Callbacks{[this] { Lead(); }, [on_lost = std::move(on_lost)](const std::string&) { on_lost(); }, nullptr});
    lease_->Start();
  }

  void Lead() {
    if (scheduler_ != nullptr) scheduler_->Lead();
    if (controllers_ != nullptr) controllers_->Lead();
  }
  void Stop(absl::Duration time) {
    if (loop_.paused()) return;
    loop_.Pause();
    under_.PostAt(under_.Now() + time, owner_.token(), [this] { loop_.Resume(); });
  }

 private:
  Loop& under_;
  PausableLoop loop_;
  const std::unique_ptr<kube::Client> network_;
  PausableClient client_;
  kube::WriteFence fence_;
  kube::FencedClient fenced_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<controller::Controllers> controllers_;
  std::unique_ptr<kube::Lease> lease_;
  Owner owner_;
};

class Replicas {
 public:
  Replicas(Loop& loop, sandbox::Cluster& cluster, ReplicaOptions options)
      : loop_(loop), cluster_(cluster), options_(options), calm_at_(loop.Now() + options.calm) {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      Start(i);
      PlanStop(i);
    }
  }

 private:
  absl::Duration Upto(absl::Duration most) { return most * UnitInterval(loop_.Random()); }

  void Start(std::size_t i) {
    processes_[i] = std::make_unique<Process>(loop_, cluster_, options_, absl::StrCat("replica-", i, "-", ++started_), [this, i] { Lost(i); });
  }
  // In a task of its own: it is a callback of what is destroyed. Until then nothing of it may be written, which the fence sees to.
  void Lost(std::size_t i) {
    loop_.PostAt(loop_.Now() + Upto(kLastWords), owner_.token(), [this, i] {
      processes_[i].reset();
      loop_.PostAt(loop_.Now() + kDown, owner_.token(), [this, i] { Start(i); });
    });
  }
  void PlanStop(std::size_t i) {
    const absl::Time at = loop_.Now() + Upto(2 * options_.period);
    if (at > calm_at_) return;
    loop_.PostAt(at, owner_.token(), [this, i] {
      if (processes_[i] != nullptr) processes_[i]->Stop(Upto(options_.longest));
      PlanStop(i);
    });
  }

  Loop& loop_;
  sandbox::Cluster& cluster_;
  const ReplicaOptions options_;
  const absl::Time calm_at_;
  int started_ = 0;
  std::array<std::unique_ptr<Process>, 2> processes_;
  Owner owner_;
};

}  // namespace

std::shared_ptr<void> MakeReplicas(Loop& loop, sandbox::Cluster& cluster, ReplicaOptions options) {
  return std::make_shared<Replicas>(loop, cluster, options);
}

}  // namespace gangway::testutil
