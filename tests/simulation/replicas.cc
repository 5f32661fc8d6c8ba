#include "tests/simulation/replicas.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "assembly/components.h"
#include "base/random.h"
#include "kube/client/fenced_client.h"
#include "kube/client/write_fence.h"
#include "kube/runtime/lease.h"
#include "tests/simulation/pausable.h"

namespace gangway::testutil {
namespace {

constexpr absl::Duration kReplicaDown = absl::Seconds(1);  // a process that lost its lease ends and comes back
constexpr absl::Duration kLastWords = absl::Seconds(1);

class Process {
 public:
  Process(Loop& loop, sandbox::Cluster& cluster, const ReplicaOptions& options, int replica,
          const std::string& identity, std::function<void()> on_lost)
      : under_(loop),
        loop_(loop, options.ahead ? options.ahead(replica) : absl::ZeroDuration()),
        network_(cluster.NewClient(sandbox::ClientName(options.component),
                                   options.faults ? options.faults(replica) : sandbox::Faults{})),
        client_(loop_, *network_),
        fence_([&loop] { return loop.Now(); }),
        fenced_(loop_, client_, fence_) {
    kube::Client& writes =
        options.fenced && options.leak == Leak::kNone ? static_cast<kube::Client&>(fenced_) : client_;
    assembly::Options own;
    own.standby = options.fenced;
    own.translate.target = convert::Target::kGangway;
    components_ = assembly::MakeComponents(loop_, writes, {sandbox::ClientName(options.component)}, own);
    components_->Start();
    if (!options.fenced) return;
    kube::LeaseOptions lease;
    lease.ns = "kube-system";
    lease.name = absl::StrCat("gangway-", sandbox::ClientName(options.component));
    lease.identity = identity;
    lease_ = std::make_unique<kube::Lease>(
        loop_, client_, fence_, lease,
        kube::Lease::Callbacks{[this] { components_->Lead(); },
                               [on_lost = std::move(on_lost)](const std::string&) { on_lost(); }, nullptr});
    lease_->Start();
  }

  bool Pause(absl::Duration time, bool suspended) {
    if (loop_.paused()) return false;
    loop_.Pause();
    under_.PostAt(under_.Now() + time, owner_.token(),
                  [this, behind = suspended ? time : absl::ZeroDuration()] { loop_.Resume(behind); });
    return true;
  }

 private:
  Loop& under_;
  PausableLoop loop_;
  const std::unique_ptr<kube::Client> network_;
  PausableClient client_;
  kube::WriteFence fence_;
  kube::FencedClient fenced_;
  std::unique_ptr<kube::Components> components_;
  std::unique_ptr<kube::Lease> lease_;
  Owner owner_;
};

class TwoReplicas final : public Replicas {
 public:
  TwoReplicas(Loop& loop, sandbox::Cluster& cluster, ReplicaOptions options)
      : loop_(loop), cluster_(cluster), options_(std::move(options)), calm_at_(loop.Now() + options_.calm) {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      Start(i);
      PlanPause(i);
    }
  }

  bool Pause(int replica, absl::Duration time, bool suspended) override {
    const auto& process = processes_[static_cast<std::size_t>(replica)];
    return process != nullptr && process->Pause(time, suspended);
  }

 private:
  absl::Duration Upto(absl::Duration most) { return most * UnitInterval(loop_.Random()); }

  void Start(std::size_t i) {
    processes_[i] =
        std::make_unique<Process>(loop_, cluster_, options_, static_cast<int>(i),
                                  absl::StrCat(IdentityOf(static_cast<int>(i)), ++started_), [this, i] { Lost(i); });
  }
  // In a task of its own: it is a callback of what is destroyed. Until then nothing of it may be written, which the
  // fence sees to.
  void Lost(std::size_t i) {
    if (options_.leak == Leak::kGoesOn) return;
    loop_.PostAt(loop_.Now() + Upto(kLastWords), owner_.token(), [this, i] {
      processes_[i].reset();
      loop_.PostAt(loop_.Now() + kReplicaDown, owner_.token(), [this, i] { Start(i); });
    });
  }
  void PlanPause(std::size_t i) {
    if (options_.period == absl::InfiniteDuration()) return;
    const absl::Time at = loop_.Now() + Upto(2 * options_.period);
    if (at > calm_at_) return;
    loop_.PostAt(at, owner_.token(), [this, i] {
      const absl::Duration time = Upto(options_.longest);
      if (Pause(static_cast<int>(i), time, false) && options_.on_pause) options_.on_pause(time);
      PlanPause(i);
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

std::string IdentityOf(int replica) { return absl::StrCat("replica-", replica, "-"); }

std::shared_ptr<Replicas> MakeReplicas(Loop& loop, sandbox::Cluster& cluster, ReplicaOptions options) {
  return std::make_shared<TwoReplicas>(loop, cluster, std::move(options));
}

}  // namespace gangway::testutil
