#include "tests/simulation/history.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/hash.h"
#include "tests/simulation/contended.h"
#include "tests/simulation/faulty_connection.h"
#include "tests/simulation/pausable.h"
#include "tests/simulation/provisioner.h"

namespace gangway::testutil {
namespace {

using sandbox::Component;

constexpr absl::Duration kFaultWindow = absl::Seconds(90);
constexpr absl::Duration kAftermath = absl::Seconds(20);  // the last of the faults is got over
constexpr absl::Duration kLongestPause =
    absl::Minutes(1);  // before a write that failed often is tried again (kube/runtime/driver.h)
constexpr absl::Duration kPausesUntil = absl::Minutes(6);
constexpr absl::Duration kSeldom = absl::Minutes(2);
constexpr absl::Duration kNodeGone = absl::Minutes(1);

struct SimulatedJob {
  std::string name;
  absl::Duration at;  // when it is made
  int servers = 2, trainers = 2, min_available = 4, cpu = 1, max_retry = 1000;
  absl::Duration trains_for = absl::Seconds(5);
  bool always_fails = false;
  bool kubeflow = false;  // of PaddleJobs: the training operator's dialect
};

// Whose connections there are: who has something to do in a history.
constexpr std::array kComponents{Component::kKubelets, Component::kControllers, Component::kScheduler,
                                 Component::kPaddleControllers};

std::string TaskJson(absl::string_view name, int replicas, int cpu, absl::string_view annotations,
                     absl::string_view policies) {
  return absl::StrCat(
      R"({"name":")", name, R"(","replicas":)", replicas, R"(,"policies":[)", policies,
      R"(],"template":{"metadata":{"annotations":{)", annotations,
      R"(}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"paddle","resources":{"requests":{"cpu":")",
      cpu, R"(","memory":"1Gi"}}}]}}})");
}

std::string JobJson(const SimulatedJob& job) {
  const std::string seconds = absl::StrCat(absl::ToInt64Milliseconds(job.trains_for), "ms");
  const std::string outcome = job.always_fails ? absl::StrCat(R"("sandbox.gangway.io/fail":")", seconds, R"(:7")")
                                               : absl::StrCat(R"("sandbox.gangway.io/finish":")", seconds, R"(")");
  return absl::StrCat(
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", job.name,
      R"("},"spec":{"schedulerName":"volcano","minAvailable":)", job.min_available, R"(,"maxRetry":)", job.max_retry,
      R"(,"policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}],"tasks":[)",
      TaskJson("pserver", job.servers, job.cpu, "", ""), ",",
      TaskJson("trainer", job.trainers, job.cpu, outcome, R"({"event":"TaskCompleted","action":"CompleteJob"})"),
      "]}}");
}

// What fails does so with a code that no disturbance has (docs/paddlejob.md).
std::string PaddleTemplate(const SimulatedJob& job, bool trains) {
  const std::string time = absl::StrCat(absl::ToInt64Milliseconds(job.trains_for), "ms");
  const std::string outcome = !trains            ? ""
                              : job.always_fails ? absl::StrCat(R"("sandbox.gangway.io/fail":")", time, R"(:1")")
                                                 : absl::StrCat(R"("sandbox.gangway.io/finish":")", time, R"(")");
  return absl::StrCat(
      R"("template":{"metadata":{"annotations":{)", outcome,
      R"(}},"spec":{"restartPolicy":"Never","containers":[{"name":"paddle","image":"paddle","resources":{"requests":{"cpu":")",
      job.cpu, R"("}}}]}})");
}

std::string PaddleJobJson(const SimulatedJob& job) {
  const auto role = [&](int replicas, bool trains) {
    return absl::StrCat(R"({"replicas":)", replicas, job.kubeflow ? R"(,"restartPolicy":"Never",)" : ",",
                        PaddleTemplate(job, trains), "}");
  };
  const std::string meta = absl::StrCat(R"("kind":"PaddleJob","metadata":{"name":")", job.name, R"("})");
  if (job.kubeflow) {
    return absl::StrCat(R"({"apiVersion":"kubeflow.org/v1",)", meta, R"(,"spec":{"paddleReplicaSpecs":{"Worker":)",
                        role(job.trainers, true), "}}}");
  }
  return absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1",)", meta, R"(,"spec":{"ps":)",
                      role(job.servers, false), R"(,"worker":)", role(job.trainers, true), "}}");
}

std::string Text(const SimulatedJob& job) {
  return absl::StrCat(absl::FormatDuration(job.at), " user: ", job.name, job.kubeflow ? " (kubeflow)" : "", ", ",
                      job.servers, "+", job.trainers, " pods of cpu ", job.cpu, ", minAvailable ", job.min_available,
                      job.always_fails ? ", fails after " : ", trains for ", absl::FormatDuration(job.trains_for));
}

std::string Text(const Doing& doing) { return doing.text; }

// Part of a gang that runs where the rest may not follow, its binding refused and the node cordoned meanwhile, waits
// for as long as that is so.
Contention DrawFor(const HistoryOptions& options) {
  if (options.contended && options.ranked) return DrawRanked(options.seed);
  if (options.contended && options.losing) return DrawLosing(options.seed);
  if (options.contended && options.repeating) return DrawRepeating(options.seed);
  if (options.contended && options.pieces) return DrawPieces(options.seed, options.many_come);
  return options.contended ? DrawContention(options.seed, options.placed, options.placed && options.bindings_fail)
                           : Contention{};
}

class History {
 public:
  explicit History(const HistoryOptions& options)
      : options_(options),
        random_(options.seed),
        loop_(options.seed),
        contention_(DrawFor(options)),
        jobs_(MakeJobs()),
        checker_(MakeRules()),
        network_(loop_) {
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, MakeClusterOptions());
    user_ = cluster_->NewClient("user");
    if (options_.placed)
      provisioner_ = std::make_unique<Provisioner>(loop_, contention_.nodes, options_.seed,
                                                   [this](const UserRequest& request) { Send(request); });
    start_ = loop_.Now();
    if (options_.two_replicas) {
      checker_.DisturbedInPart(start_ + options_.disturbed_for);
    } else {
      checker_.Disturbed(start_ + options_.disturbed_for);
    }
    if (options_.random_faults) checker_.DisturbedInPart(start_ + kFaultWindow + kAftermath + kLongestPause);
    faults_until_ = start_ + (options.random_faults || options.chaos ? kFaultWindow : absl::ZeroDuration());
    network_.server = &cluster_->api_server();
    network_.calm_at = start_ + kFaultWindow;
    network_.jitter = options.random_faults;
    network_.on_fault = [this](const Incident& incident) { OnFault(incident); };
    network_.remake = [this](const std::string& pod, absl::Duration after) {
      loop_.PostAt(loop_.Now() + after, owner_.token(),
                   [this, pod] { Send("DELETE", "pods", pod, "", R"({"gracePeriodSeconds":0})"); });
    };
    Draw();
  }

  HistoryResult Run() {
    for (const Incident& incident : incidents_) {
      if (incident.kind == IncidentKind::kClockOff) Begin(incident);
    }
    StartComponents();
    for (const UserRequest& request : contention_.before) Send(request);
    for (const Doing& doing : doings_) {
      for (const UserStep& step : doing.steps) {
        loop_.PostAt(start_ + step.at, owner_.token(), [this, &step] { Send(step.request); });
        faults_until_ = std::max(faults_until_, start_ + step.at);
      }
    }
    for (const SimulatedJob& job : jobs_) {
      loop_.PostAt(start_ + job.at, owner_.token(), [this, &job] { Submit(job); });
    }
    for (const Incident& incident : incidents_) {
      if (incident.kind != IncidentKind::kClockOff)
        loop_.PostAt(start_ + incident.at, owner_.token(), [this, &incident] { Begin(incident); });
    }
    const auto wrong = [this] {
      return std::any_of(options_.stop_when.begin(), options_.stop_when.end(),
                         [this](Rule rule) { return checker_.broken().contains(rule); });
    };
    loop_.RunUntil([&] { return wrong() || (loop_.Now() >= faults_until_ && AllFinal() && !StillProvisions()); },
                   start_ + options_.limit);
    if (!wrong()) {
      // What queues deserve and have used is told up to a minute later; then all is quiet.
      loop_.RunFor(absl::Minutes(7));
      checker_.AtEnd(loop_.Now());
    }
    HistoryResult result;
    result.violations = checker_.violations();
    result.broken = checker_.broken();
    result.journal_hash = hash_;
    result.records = checker_.records();
    result.writes = writes_;
    result.drawn = drawn_;
    result.incidents = network_.counts;
    for (const Component component : {Component::kControllers, Component::kScheduler})
      result.leaders[component] = checker_.changes_of(LeaseOf(component));
    return result;
  }

 private:
  absl::Duration Upto(absl::Duration most) {
    return most == absl::ZeroDuration() ? most
                                        : absl::Microseconds(static_cast<std::int64_t>(random_.Below(
                                              static_cast<std::uint64_t>(absl::ToInt64Microseconds(most)))));
  }
  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  int Between(int low, int high) {
    return low + static_cast<int>(random_.Below(static_cast<std::uint64_t>(high - low + 1)));
  }

  bool Kept(std::size_t number) const {
    return !options_.keep || std::find(options_.keep->begin(), options_.keep->end(), number) != options_.keep->end();
  }

  // Tells each that was drawn, and leaves out those that shall not be. What is drawn does not depend on it.
  template <class T>
  std::vector<T> Keep(std::vector<T> all) {
    std::vector<T> kept;
    for (T& each : all) {
      drawn_.push_back(Text(each));
      if (Kept(drawn_.size() - 1)) kept.push_back(std::move(each));
    }
    return kept;
  }

  void Draw() {
    for (SimulatedJob& job : jobs_) job.at = Upto(absl::Seconds(options_.random_jobs ? 20 : 0));
    jobs_ = Keep(std::move(jobs_));
    doings_ = Keep(contention_.doings);
    IncidentOptions incidents;
    incidents.window = kFaultWindow;
    incidents.faults = options_.random_faults;
    incidents.chaos = options_.chaos;
    incidents.two_replicas = options_.two_replicas;
    incidents.paddle = options_.paddle;
    incidents.nodes = nodes_;
    incidents_ = Keep(DrawIncidents(random_, incidents));
    for (const Incident& incident : incidents_) {
      if (incident.kind == IncidentKind::kClockOff || incident.kind == IncidentKind::kClockJump)
        checker_.ClocksAreWrong();
    }
    for (const Component component : kComponents) {
      for (auto& connection : connections_[component])
        connection = std::make_unique<FaultyConnection>(network_, component, random_.Next());
    }
  }

  std::vector<SimulatedJob> MakeJobs() {
    std::vector<SimulatedJob> jobs;
    if (options_.contended) return jobs;
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
      job.kubeflow = options_.paddle && Chance(30);
      jobs.push_back(job);
    }
    return jobs;
  }

  Checker::Rules MakeRules() const {
    Checker::Rules rules;
    rules.bindings_fail = options_.bindings_fail;
    // What pods ask of each other is seen as it is when nodes are kept: where they ask for that, one that came
    // meanwhile may be in the way (docs/queues.md).
    rules.lost_members = options_.losing;
    rules.keeps_all_nodes = options_.repeating;
    if (!options_.pieces && !options_.repeating) rules.begin_takes = absl::InfiniteDuration();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (!Kept(i)) continue;
      const SimulatedJob& job = jobs_[i];
      if (options_.paddle) {
        rules.expected_paddle[job.name] = options_.chaos ? "" : job.always_fails ? "Failed" : "Completed";
        continue;
      }
      rules.expected_phase[job.name] = job.always_fails ? "Failed" : "Completed";
      if (!options_.chaos) rules.expected_retries[job.name] = job.always_fails ? job.max_retry : 0;
    }
    return rules;
  }

  sandbox::ClusterOptions MakeClusterOptions() {
    sandbox::ClusterOptions options;
    options.audit_every = AuditEvery(options_.contended);
    options.kubelets.nodes =
        sandbox::MakeNodes({*sandbox::ParseNodeShape("cpu=16,memory=64Gi")}, options_.random_jobs ? Between(3, 6) : 6);
    if (options_.contended) options.kubelets.nodes = contention_.nodes;
    options.kubelets.behaviour = *sandbox::Behaviour::Parse(contention_.finish, {});
    nodes_ = static_cast<int>(options.kubelets.nodes.size());
    options.api_server.journal = [this](sandbox::JournalRecord record) {
      if (options_.falsify) options_.falsify(record);
      OnRecord(record);
    };
    options.faults = [this](Component component) { return MakeFaults(component, 0); };
    options.clock = [this](Component component) -> Loop& {
      clocks_.push_back(std::make_unique<PausableLoop>(loop_, ahead_[{component, 0}]));
      clock_of_[component] = clocks_.back().get();
      return *clocks_.back();
    };
    return options;
  }

  void OnRecord(const sandbox::JournalRecord& record) {
    hash_ = StableHash(
        absl::StrCat(record.revision, " ", absl::ToUnixNanos(record.time), " ", record.client, " ", record.verb, " ",
                     record.subresource, " ", std::string(record.resource->plural), " ", record.key.ToString(), " "),
        hash_);
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
    if (options_.contended && record.resource == &api::kJobs && record.after == nullptr)
      phases_[record.key.name] = "Terminated";
    checker_.OnRecord(record);
    if (provisioner_ != nullptr) provisioner_->OnRecord(record);
    if (options_.on_record) options_.on_record(record);
  }

  bool StillProvisions() const { return provisioner_ != nullptr && loop_.Now() <= provisioner_->answers_until(); }
  bool AllFinal() const {
    const auto over = [](const auto& p) {
      return p.second == "Completed" || p.second == "Failed" || p.second == "Terminated" || p.second == "Aborted";
    };
    const auto made = std::count_if(doings_.begin(), doings_.end(), [](const Doing& doing) { return doing.makes_job; });
    if (options_.paddle) return checker_.PaddleJobsOver() == jobs_.size();
    return phases_.size() == jobs_.size() + static_cast<std::size_t>(made) &&
           std::all_of(phases_.begin(), phases_.end(), over);
  }

  sandbox::Faults MakeFaults(Component component, int replica) {
    sandbox::Faults faults;
    FaultyConnection& connection = *connections_[component][static_cast<std::size_t>(replica)];
    auto dead = std::make_shared<bool>(false);  // of this incarnation
    faults.request = [this, component, dead, replica, &connection](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (*dead) {
        fate.loss = sandbox::RequestFate::Loss::kRequest;
        return fate;
      }
      if (request.method != "GET") {
        const int write = ++writes_[component];
        if (options_.two_replicas && component != Component::kKubelets) OnWriteOfReplica(component, replica, request);
        if (options_.crash && options_.crash->component == component && options_.crash->write == write) {
          *dead = true;
          fate.loss =
              options_.crash->write_lost ? sandbox::RequestFate::Loss::kRequest : sandbox::RequestFate::Loss::kReply;
          loop_.Post(owner_.token(), [this, component] { Crash(component, absl::Seconds(1)); });
          return fate;
        }
      }
      return connection.OnRequest(request);
    };
    faults.frames = [&connection](const kube::Request&, const std::vector<kube::Frame>&) {
      return connection.OnFrames();
    };
    return faults;
  }

  void OnWriteOfReplica(Component component, int replica, const kube::Request& request) {
    if (absl::StrContains(request.path, "/leases")) return;
    checker_.OnSent(LeaseOf(component), IdentityOf(replica), absl::StrCat(request.method, " ", request.path),
                    loop_.Now());
  }

  void StartComponents() {
    Start(Component::kKubelets);
    Start(Component::kControllers);
    Start(Component::kScheduler);
    if (options_.paddle) Start(Component::kPaddleControllers);
  }

  bool IsReplaced(Component component) const {
    return (component == Component::kScheduler && options_.replace_scheduler) ||
           (component == Component::kControllers && options_.replace_controllers);
  }
  bool Runs(Component component) const { return replaced_.contains(component) || cluster_->running(component); }

  void Start(Component component) {
    const bool ours = component == Component::kScheduler || component == Component::kControllers;
    if (IsReplaced(component)) {
      const auto& make = component == Component::kScheduler ? options_.replace_scheduler : options_.replace_controllers;
      replaced_[component] = make(loop_, *cluster_, MakeFaults(component, 0));
    } else if (options_.two_replicas && ours) {
      ReplicaOptions replicas;
      replicas.component = component;
      replicas.leak = options_.leak;
      // In half of the histories there is time between pauses for what may last so long.
      if (options_.leak == Leak::kNone && options_.seed % 2 == 0) replicas.period = kSeldom;
      if (options_.random_faults) replicas.period = absl::InfiniteDuration();  // pauses are drawn
      replicas.calm = kPausesUntil;
      replicas.on_pause = [this, component](absl::Duration time) {
        Incident pause;
        pause.kind = IncidentKind::kPause;
        pause.who = component;
        pause.lasts = time;
        OnFault(pause);
      };
      replicas.faults = [this, component](int replica) { return MakeFaults(component, replica); };
      replicas.ahead = [this, component](int replica) { return ahead_[{component, replica}]; };
      replicas_[component] = MakeReplicas(loop_, *cluster_, replicas);
    } else {
      cluster_->Start(component);
    }
  }

  void Crash(Component component, absl::Duration down) {
    if (replaced_.erase(component) == 0) cluster_->Stop(component);
    loop_.PostAt(loop_.Now() + down, owner_.token(), [this, component] {
      if (!Runs(component)) Start(component);
    });
  }

  void Begin(const Incident& incident) {
    checker_.DisturbedInPart(loop_.Now() + incident.lasts + kAftermath);
    if (FaultyConnection::Concerns(incident.kind)) {
      connections_[incident.who][static_cast<std::size_t>(incident.replica)]->Begin(incident);
    } else if (Happens(incident)) {
      ++network_.counts[{incident.kind, incident.who}];
      OnFault(incident);
    }
  }

  // Nobody waits for what happens to events.
  void OnFault(const Incident& incident) {
    const absl::Duration time = GotOverIn(incident);
    if (time == absl::ZeroDuration()) return;
    const bool of_scheduler = incident.who == Component::kScheduler || incident.kind == IncidentKind::kServerRestart;
    const bool of_cluster = incident.kind >= IncidentKind::kEviction || incident.kind == IncidentKind::kRemadeMeanwhile;
    checker_.OnFault(loop_.Now(), loop_.Now() + time,
                     of_scheduler ? FaultOf::kScheduler
                     : of_cluster ? FaultOf::kCluster
                                  : FaultOf::kOthers);
  }

  // False when there is nobody it could happen to.
  bool Happens(const Incident& incident) {
    const Component who = incident.who;
    switch (incident.kind) {
      case IncidentKind::kWatchesBroken:
        cluster_->BreakWatches(who);
        return cluster_->running(who);
      case IncidentKind::kCrash:
        if (!Runs(who)) return false;
        Crash(who, incident.lasts);
        return true;
      case IncidentKind::kClockOff:
        ahead_[{who, incident.replica}] = incident.lasts;
        return true;
      case IncidentKind::kClockJump:
        ahead_[{who, 0}] += incident.lasts;
        if (cluster_->running(who)) clock_of_[who]->Jump(incident.lasts);
        return true;
      case IncidentKind::kPause:
      case IncidentKind::kSuspend:
        return replicas_[who]->Pause(incident.replica, incident.lasts, incident.kind == IncidentKind::kSuspend);
      case IncidentKind::kCompaction:
        cluster_->api_server().CompactHistory();
        cluster_->BreakWatches(who);
        return true;
      case IncidentKind::kServerRestart:
        cluster_->api_server().Restart();
        network_.server_down_until = std::max(network_.server_down_until, loop_.Now() + incident.lasts);
        return true;
      case IncidentKind::kEviction:
      case IncidentKind::kPodDeleted:
        return RemovePod(incident.pick, incident.kind == IncidentKind::kEviction);
      case IncidentKind::kNodeSilent:
        SilenceNode(NodeOf(incident.pick), incident.lasts);
        return true;
      case IncidentKind::kNodeDeleted:
        return DeleteNode(NodeOf(incident.pick));
      default:
        return false;
    }
  }

  int NodeOf(std::uint64_t pick) const { return static_cast<int>(pick % static_cast<std::uint64_t>(nodes_)); }

  void SilenceNode(int node, absl::Duration time) {
    const absl::Time to = loop_.Now() + time;
    Annotate(node, R"("true")");
    loop_.PostAt(to, owner_.token(), [this, node] { Annotate(node, "null"); });
    faults_until_ = std::max(faults_until_, to);
  }

  // One only: what is left must have room for every job. In contended histories it has not, and the node comes back.
  bool DeleteNode(int node) {
    if (std::exchange(node_deleted_, true)) return false;
    Send("DELETE", "nodes", NodeName(node), "", "");
    if (!options_.contended) return true;
    const absl::Time back = loop_.Now() + kNodeGone;
    loop_.PostAt(back, owner_.token(), [this, node] {
      Send({"POST", &api::kNodes, "", "",
            sandbox::NodeBody(contention_.nodes[static_cast<std::size_t>(node)], loop_.Now())});
    });
    checker_.DisturbedInPart(back + kAftermath);
    checker_.OnFault(loop_.Now(), back + kAftermath, FaultOf::kCluster);
    faults_until_ = std::max(faults_until_, back);
    return true;
  }

  bool RemovePod(std::uint64_t victim, bool evict) {
    if (live_pods_.empty()) return false;
    const std::string name = live_pods_[victim % live_pods_.size()].name;
    if (evict) {
      Send("POST", "pods", name, "eviction",
           absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", name,
                        R"(","namespace":"default"}})"));
    } else {
      Send("DELETE", "pods", name, "", "");
    }
    return true;
  }

  void Annotate(int node, absl::string_view value) {
    Send("PATCH", "nodes", NodeName(node), "",
         absl::StrCat(R"({"metadata":{"annotations":{"sandbox.gangway.io/lost":)", value, "}}}"));
  }
  static std::string LeaseOf(Component component) { return absl::StrCat("gangway-", sandbox::ClientName(component)); }
  static std::string NodeName(int node) { return absl::StrCat("node-00", node); }

  void Submit(const SimulatedJob& job) {
    if (!options_.paddle) return Send({"POST", &api::kJobs, "", "", JobJson(job)});
    Send({"POST", job.kubeflow ? &api::paddle::kubeflow::kPaddleJobs : &api::paddle::kPaddleJobs, "", "",
          PaddleJobJson(job)});
  }

  // A user whose API server is away tries again when it is back.
  void Send(std::string method, absl::string_view plural, absl::string_view name, absl::string_view subresource,
            std::string body) {
    const api::Resource& resource = plural == "nodes" ? api::kNodes : api::kPods;
    Send({std::move(method), &resource, std::string(name), std::string(subresource), std::move(body)});
  }
  void Send(const UserRequest& wish) {
    kube::Request request;
    const bool posts = wish.method == "POST" && wish.subresource.empty();
    request.path = api::PathOf(*wish.resource, wish.resource->namespaced ? "default" : "", posts ? "" : wish.name,
                               wish.subresource);
    request.content_type = wish.method == "PATCH" ? "application/merge-patch+json" : "application/json";
    request.method = wish.method;
    request.body = wish.body;
    SendOnce(std::move(request));
  }
  void SendOnce(kube::Request request) {
    const absl::Time back = network_.server_down_until;
    if (loop_.Now() < back) {
      loop_.PostAt(back, owner_.token(),
                   [this, request = std::move(request)]() mutable { SendOnce(std::move(request)); });
      return;
    }
    user_->Send(request, owner_.token(), [this, request](absl::StatusOr<kube::Response> reply) {
      if (!reply.ok()) SendOnce(request);  // the server was killed meanwhile
    });
  }

  const HistoryOptions options_;
  RandomStream random_;
  SimulatedLoop loop_;
  const Contention contention_;
  std::vector<std::string> drawn_;
  std::vector<SimulatedJob> jobs_;
  std::vector<Doing> doings_;
  std::vector<Incident> incidents_;
  Checker checker_;
  Network network_;
  std::map<Component, std::array<std::unique_ptr<FaultyConnection>, 2>>
      connections_;                                            // of each replica, if there are two
  std::map<std::pair<Component, int>, absl::Duration> ahead_;  // of the right time
  std::vector<std::unique_ptr<PausableLoop>> clocks_;          // of every process there was
  std::map<Component, PausableLoop*> clock_of_;                // of those that run
  bool node_deleted_ = false;
  int nodes_ = 0;
  absl::Time start_, faults_until_;
  std::uint64_t hash_ = 0;
  std::map<std::string, std::string> phases_;  // of jobs
  std::vector<api::NamespacedName> live_pods_;
  std::map<Component, int> writes_;
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  std::unique_ptr<Provisioner> provisioner_;
  std::map<Component, std::shared_ptr<void>> replaced_;
  std::map<Component, std::shared_ptr<Replicas>> replicas_;
  Owner owner_;
};

}  // namespace

HistoryResult RunHistory(const HistoryOptions& options) { return History(options).Run(); }

}  // namespace gangway::testutil
