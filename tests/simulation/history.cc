#include "tests/simulation/history.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/hash.h"

namespace gangway::testutil {
namespace {

using sandbox::Component;

constexpr absl::Duration kFaultWindow = absl::Seconds(90);

struct SimulatedJob {
  std::string name;
  int servers = 2, trainers = 2, min_available = 4, cpu = 1, max_retry = 1000;
  absl::Duration trains_for = absl::Seconds(5);
  bool always_fails = false;
};

// Of what a history draws its crashes from: who has something to do in it.
constexpr std::array kCrashing{Component::kKubelets, Component::kControllers, Component::kScheduler};

std::string TaskJson(absl::string_view name, int replicas, int cpu, absl::string_view annotations, absl::string_view policies) {
  return absl::StrCat(R"({"name":")", name, R"(","replicas":)", replicas, R"(,"policies":[)", policies, R"(],"template":{"metadata":{"annotations":{)",
                      annotations, R"(}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"paddle","resources":{"requests":{"cpu":")",
                      cpu, R"(","memory":"1Gi"}}}]}}})");
}

std::string JobJson(const SimulatedJob& job) {
  const std::string seconds = absl::StrCat(absl::ToInt64Milliseconds(job.trains_for), "ms");
  const std::string outcome =
      job.always_fails ? absl::StrCat(R"("sandbox.gangway.io/fail":")", seconds, R"(:7")") : absl::StrCat(R"("sandbox.gangway.io/finish":")", seconds, R"(")");
  return absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", job.name,
                      R"("},"spec":{"schedulerName":"volcano","minAvailable":)", job.min_available, R"(,"maxRetry":)", job.max_retry,
                      R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}],"tasks":[)",
                      TaskJson("pserver", job.servers, job.cpu, "", ""), ",",
                      TaskJson("trainer", job.trainers, job.cpu, outcome, R"({"event":"TaskCompleted","action":"CompleteJob"})"), "]}}");
}

class History {
 public:
  explicit History(const HistoryOptions& options)
      : options_(options), random_(options.seed), loop_(options.seed), jobs_(MakeJobs()), checker_(MakeRules()) {
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, MakeClusterOptions());
    user_ = cluster_->NewClient("user");
    start_ = loop_.Now();
    faults_until_ = start_ + (options.random_faults || options.chaos ? kFaultWindow : absl::ZeroDuration());
  }

  HistoryResult Run() {
    StartComponents();
    for (const SimulatedJob& job : jobs_) {
      loop_.PostAt(start_ + Upto(absl::Seconds(options_.random_jobs ? 20 : 0)), owner_.token(), [this, &job] { Send("POST", "jobs", "", "", JobJson(job)); });
    }
    if (options_.random_faults) PlanCrashes();
    if (options_.chaos) PlanChaos();
    loop_.RunUntil([&] { return loop_.Now() >= faults_until_ && AllFinal(); }, start_ + options_.limit);
    loop_.RunFor(absl::Minutes(6));
    checker_.AtEnd(loop_.Now());
    HistoryResult result;
    result.violations = checker_.violations();
    result.journal_hash = hash_;
    result.records = checker_.records();
    result.writes = writes_;
    return result;
  }

 private:
  absl::Duration Upto(absl::Duration most) {
    return most == absl::ZeroDuration() ? most : absl::Microseconds(static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(absl::ToInt64Microseconds(most)))));
  }
  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  int Between(int low, int high) { return low + static_cast<int>(random_.Below(static_cast<std::uint64_t>(high - low + 1))); }

  std::vector<SimulatedJob> MakeJobs() {
    std::vector<SimulatedJob> jobs;
    if (!options_.random_jobs) {
      jobs.push_back({});
      jobs.back().name = "job-0";
      if (!options_.chaos) jobs.back().max_retry = 3;
      return jobs;
    }
    const int count = Between(1, 3);
    for (int i = 0; i < count; ++i) {
      SimulatedJob job;
      job.name = absl::StrCat("job-", i);
      job.servers = Between(1, 3);
      job.trainers = Between(1, 3);
      job.min_available = job.servers + job.trainers - (Chance(20) ? 1 : 0);
      job.cpu = Between(1, 6);
      job.trains_for = absl::Milliseconds(Between(0, 20'000));
      if (!options_.chaos) {
        job.max_retry = 3;
        job.always_fails = Chance(25);
      }
      jobs.push_back(job);
    }
    return jobs;
  }

  Checker::Rules MakeRules() const {
    Checker::Rules rules;
    for (const SimulatedJob& job : jobs_) {
      rules.expected_phase[job.name] = job.always_fails ? "Failed" : "Completed";
      if (!options_.chaos) rules.expected_retries[job.name] = job.always_fails ? job.max_retry : 0;
    }
    return rules;
  }

  sandbox::ClusterOptions MakeClusterOptions() {
    sandbox::ClusterOptions options;
    options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape("cpu=16,memory=64Gi")}, options_.random_jobs ? Between(3, 6) : 6);
    nodes_ = static_cast<int>(options.kubelets.nodes.size());
    options.api_server.journal = [this](const sandbox::JournalRecord& record) { OnRecord(record); };
    options.faults = [this](Component component) { return MakeFaults(component); };
    return options;
  }

  void OnRecord(const sandbox::JournalRecord& record) {
    hash_ = StableHash(absl::StrCat(record.revision, " ", absl::ToUnixNanos(record.time), " ", record.client, " ", record.verb, " ", record.subresource, " ",
                                    std::string(record.resource->plural), " ", record.key.ToString(), " "), hash_);
    if (record.after != nullptr) hash_ = StableHash(*record.after, hash_);
    if (record.resource == &api::kPods) {
      if (record.after == nullptr) {
        live_pods_.erase(std::remove(live_pods_.begin(), live_pods_.end(), record.key), live_pods_.end());
      } else if (record.before == nullptr) {
        live_pods_.push_back(record.key);
      }
    }
    if (record.resource == &api::kJobs && record.after != nullptr) {
      const auto job = api::Decode<api::volcano::Job>(*record.after);
      if (job.ok()) phases_[record.key.name] = job->status.state.phase;
    }
    checker_.OnRecord(record);
    if (options_.on_record) options_.on_record(record);
  }

  bool AllFinal() const {
    return phases_.size() == jobs_.size() &&
           std::all_of(phases_.begin(), phases_.end(), [](const auto& p) { return p.second == "Completed" || p.second == "Failed"; });
  }

  bool FaultsOn() const { return options_.random_faults && loop_.Now() < start_ + kFaultWindow; }

  sandbox::Faults MakeFaults(Component component) {
    sandbox::Faults faults;
    auto dead = std::make_shared<bool>(false);  // of this incarnation
    faults.request = [this, component, dead](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (*dead) {
        fate.loss = sandbox::RequestFate::Loss::kRequest;
        return fate;
      }
      if (request.method != "GET") {
        const int write = ++writes_[component];
        if (options_.crash && options_.crash->component == component && options_.crash->write == write) {
          *dead = true;
          fate.loss = options_.crash->write_lost ? sandbox::RequestFate::Loss::kRequest : sandbox::RequestFate::Loss::kReply;
          loop_.Post(owner_.token(), [this, component] { Crash(component, absl::Seconds(1)); });
          return fate;
        }
      }
      if (!FaultsOn()) return fate;
      if (Chance(3)) fate.loss = Chance(50) ? sandbox::RequestFate::Loss::kRequest : sandbox::RequestFate::Loss::kReply;
      fate.request_delay = Upto(absl::Milliseconds(Chance(5) ? 3000 : 20));
      fate.reply_delay = Upto(absl::Milliseconds(Chance(5) ? 3000 : 20));
      return fate;
    };
    faults.frames = [this](const kube::Request&, const std::vector<kube::Frame>&) {
      sandbox::WatchFate fate;
      if (!FaultsOn()) return fate;
      fate.break_before = Chance(2);
      fate.delay = Upto(absl::Milliseconds(Chance(10) ? 5000 : 20));
      return fate;
    };
    return faults;
  }

  void StartComponents() {
    cluster_->Start(Component::kKubelets);
    if (options_.replace_controllers) {
      replaced_.push_back(options_.replace_controllers(loop_, *cluster_));
    } else {
      cluster_->Start(Component::kControllers);
    }
    if (options_.replace_scheduler) {
      replaced_.push_back(options_.replace_scheduler(loop_, *cluster_));
    } else {
      cluster_->Start(Component::kScheduler);
    }
  }

  void Crash(Component component, absl::Duration down) {
    if (!cluster_->running(component)) return;
    cluster_->Stop(component);
    loop_.PostAt(loop_.Now() + down, owner_.token(), [this, component] {
      if (!cluster_->running(component)) cluster_->Start(component);
    });
  }

  void PlanCrashes() {
    for (int i = Between(0, 5); i > 0; --i) {
      const Component component = kCrashing[random_.Below(kCrashing.size())];
      const absl::Duration down = Upto(absl::Seconds(10));
      loop_.PostAt(start_ + Upto(kFaultWindow), owner_.token(), [this, component, down] { Crash(component, down); });
    }
    for (int i = Between(0, 3); i > 0; --i) {
      const Component component = kCrashing[random_.Below(kCrashing.size())];
      const bool compact = Chance(50);
      loop_.PostAt(start_ + Upto(kFaultWindow), owner_.token(), [this, component, compact] {
        if (compact) cluster_->api_server().CompactHistory();
        cluster_->BreakWatches(component);
      });
    }
  }

  void PlanChaos() {
    for (int i = Between(0, 4); i > 0; --i) {
      const std::uint64_t victim = random_.Next();
      const bool evict = Chance(50);
      loop_.PostAt(start_ + Upto(kFaultWindow), owner_.token(), [this, victim, evict] { RemovePod(victim, evict); });
    }
    if (Chance(40)) {
      const int node = Between(0, nodes_ - 1);
      const absl::Time from = start_ + Upto(kFaultWindow);
      const absl::Time to = from + Upto(absl::Minutes(15));
      loop_.PostAt(from, owner_.token(), [this, node] { Annotate(node, R"("true")"); });
      loop_.PostAt(to, owner_.token(), [this, node] { Annotate(node, "null"); });
      faults_until_ = std::max(faults_until_, to);
    }
    if (nodes_ > 4 && Chance(30)) {
      const int node = Between(0, nodes_ - 1);
      loop_.PostAt(start_ + Upto(kFaultWindow), owner_.token(), [this, node] { Send("DELETE", "nodes", NodeName(node), "", ""); });
    }
  }

  void RemovePod(std::uint64_t victim, bool evict) {
    if (live_pods_.empty()) return;
    const std::string name = live_pods_[victim % live_pods_.size()].name;
    if (evict) {
      Send("POST", "pods", name, "eviction", absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", name, R"(","namespace":"default"}})"));
    } else {
      Send("DELETE", "pods", name, "", "");
    }
  }

  void Annotate(int node, absl::string_view value) {
    Send("PATCH", "nodes", NodeName(node), "", absl::StrCat(R"({"metadata":{"annotations":{"sandbox.gangway.io/lost":)", value, "}}}"));
  }
  static std::string NodeName(int node) { return absl::StrCat("node-00", node); }

  void Send(std::string method, absl::string_view plural, absl::string_view name, absl::string_view subresource, std::string body) {
    const api::Resource& resource = plural == "jobs" ? api::kJobs : plural == "nodes" ? api::kNodes : api::kPods;
    kube::Request request;
    request.path = api::PathOf(resource, resource.namespaced ? "default" : "", name, subresource);
    request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
    request.method = std::move(method);
    request.body = std::move(body);
    user_->Send(std::move(request), owner_.token(), [](absl::StatusOr<kube::Response>) {});
  }

  const HistoryOptions options_;
  RandomStream random_;
  SimulatedLoop loop_;
  std::vector<SimulatedJob> jobs_;
  Checker checker_;
  int nodes_ = 0;
  absl::Time start_, faults_until_;
  std::uint64_t hash_ = 0;
  std::map<std::string, std::string> phases_;  // of jobs
  std::vector<api::NamespacedName> live_pods_;
  std::map<Component, int> writes_;
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  std::vector<std::shared_ptr<void>> replaced_;
  Owner owner_;
};

}  // namespace

HistoryResult RunHistory(const HistoryOptions& options) { return History(options).Run(); }

}  // namespace gangway::testutil
