#include "cmd/process/process.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "api/json.h"
#include "assembly/components.h"
#include "base/asio_loop.h"
#include "base/metrics.h"
#include "base/status_macros.h"
#include "base/thread_time.h"
#include "cmd/conf/conf_files.h"
#include "cmd/process/health.h"
#include "cmd/process/start_memory.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "cmd/terminal/version.h"
#include "kube/client/http_client.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/limited_client.h"
#include "kube/runtime/lease.h"
#include "kube/runtime/pulse.h"
#include "plugin/controller/admission_facts.h"
#include "plugin/controller/live_label_source.h"
#include "plugin/notify/deliverer.h"
#include "plugin/scheduler/live_policy.h"
#include "plugin/webhook/handler.h"
#include "plugin/webhook/service.h"

namespace gangway::cmd {
namespace {

constexpr absl::Duration kLogRepeats = absl::Minutes(1);
constexpr absl::Duration kStartLook = absl::Seconds(1);  // whether the start is over
constexpr absl::Duration kDrainLook = absl::Milliseconds(10);
constexpr absl::Duration kEventPatience = absl::Seconds(1);  // of a drain, once all plans are carried out
constexpr absl::Duration kReleasePatience = absl::Seconds(2);
// A connection that owes an answer and is silent, and a watch without even a bookmark: docs/operations.md says what
// follows from these.
constexpr absl::Duration kSilence = absl::Seconds(3);
constexpr absl::Duration kWatchIdle = absl::Seconds(90);
constexpr absl::Duration kConnectTimeout = absl::Seconds(5);
constexpr absl::Duration kNotifyPatience = absl::Seconds(10);  // of one try
constexpr std::size_t kMaxNotifyAnswer = std::size_t{1} << 20;
constexpr double kRenewalPatience = 0.4;  // of the renew deadline: when one hangs there is time for another

using Notifications = assembly::Options::Notifications;

// `facts` null: no webhook asks. `policy` null: no file says how the scheduler decides. `label_source` null: no file
// says which labels of nodes make HyperNodes.
std::unique_ptr<kube::Components> MakeComponents(ProcessKind kind, Loop& loop, kube::Client& client,
                                                 const Settings& settings, Metrics& metrics,
                                                 std::shared_ptr<controller::AdmissionFacts> facts,
                                                 std::shared_ptr<scheduler::LivePolicy> policy,
                                                 std::shared_ptr<controller::LiveLabelSource> label_source,
                                                 std::shared_ptr<const Notifications> notifications) {
  assembly::Options options;
  options.scheduler_name = settings.scheduler_name;
  options.namespaces = settings.namespaces;
  options.only = settings.only;
  options.standby = settings.leader_elect;
  options.inherit_owner_annotations = settings.inherit_owner_annotations;
  options.ssh.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u));
  options.admission_facts = std::move(facts);
  options.translate = TranslateOptionsOf(settings);
  options.scheduler.live_policy = std::move(policy);
  options.scheduler.thread_time = ThreadTime;
  options.label_source = std::move(label_source);
  options.notifications = std::move(notifications);
  options.metrics = &metrics;
  options.shadow = settings.shadow;
  if (kind == ProcessKind::kScheduler)
    return assembly::MakeComponents(loop, client, {assembly::kScheduler.name}, options);
  return assembly::MakeComponents(loop, client, {assembly::kControllers.name, assembly::kPaddleControllers.name},
                                  options);
}

void ConfigureLogs(const Settings& settings) {
  log::Options options;
  options.level = settings.log_level;
  const bool text = settings.log_format.empty() ? isatty(STDERR_FILENO) != 0 : settings.log_format == "text";
  options.format = text ? log::Format::kText : log::Format::kJson;
  options.repeat_window = kLogRepeats;
  log::Configure(std::move(options));
}

std::string Identity() {
  char host[256] = "unknown";
  gethostname(host, sizeof(host) - 1);
  std::random_device random;
  return absl::StrFormat("%s_%08x%08x", host, random(), random());
}

// Which namespace the Lease is in when nobody said: the pod's own.
std::string LeaseNamespace(const Settings& settings, const kube::Connection& connection) {
  if (!settings.lease_namespace.empty()) return settings.lease_namespace;
  const bool in_pod =
      settings.kubeconfig.empty() && connection.context.empty() && !kube::InClusterSourceFromEnvironment().host.empty();
  return in_pod ? connection.default_namespace : "gangway-system";
}

kube::HttpFrontOptions At(const ListenAddress& address, const std::string& certificate_file,
                          const std::string& key_file) {
  kube::HttpFrontOptions options;
  options.address = address.host;
  options.port = address.port;
  options.tls_certificate_file = certificate_file;
  options.tls_key_file = key_file;
  return options;
}

absl::Status About(absl::string_view flag, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(flag, ": ", status.message()));
}

class Process {
 public:
  Process(ProcessKind kind, SettingSources sources, Settings settings)
      : kind_(kind),
        sources_(std::move(sources)),
        settings_(std::move(settings)),
        loop_(static_cast<std::uint64_t>(absl::ToUnixNanos(absl::Now())) ^ static_cast<std::uint64_t>(getpid())) {}

  absl::StatusOr<int> Run() {
    GW_RETURN_IF_ERROR(Connect());
    GW_RETURN_IF_ERROR(About("--notify-url", ConnectNotifications()));
    loop_.OnSignals({SIGHUP, SIGINT, SIGTERM}, owner_.token(), [this](int signal) { OnSignal(signal); });
    GW_RETURN_IF_ERROR(About("--scheduler-conf", scheduler_conf_.Start()));
    GW_RETURN_IF_ERROR(About("--controller-conf", controller_conf_.Start()));
    const std::string version = VersionLine();
    metrics_.AddGauge("gangway_build_info", "1; its label says which version this is", {{"version", version}}).Set(1);
    components_ =
        MakeComponents(kind_, loop_, *client_, settings_, metrics_, facts_, policy_, label_source_, notifications_);
    health_ = std::make_unique<Health>(
        loop_, *pulse_, metrics_,
        HealthSources{[this] { return StuckFor(loop_.Now(), started_at_, pulse_->answered_at()); },
                      [this] { return NotReady(); }, [this] { return Dump(); }});
    if (const absl::Status served = Serve(); !served.ok()) {
      Say(ProcessName(kind_), served.message());
      return kNoAnswer;
    }
    log::Info("starting",
              {{"process", ProcessName(kind_)},
               {"version", version},
               {"server", connection_.server},
               {"namespaces", settings_.namespaces.empty() ? "all" : absl::StrJoin(settings_.namespaces, ",")},
               {"leader_elect", settings_.leader_elect}});
    started_at_ = loop_.Now();
    pulse_->Start();
    components_->Start();
    if (lease_ != nullptr) lease_->Start();
    EndStart();
    if (!sources_.config_file.empty() || scheduler_conf_.set() || controller_conf_.set()) WatchFiles();
    loop_.Run();
    End();
    return exit_code_;
  }

 private:
  // ---- start

  absl::Status Connect() {
    GW_ASSIGN_OR_RETURN(connection_, kube::FindConnection(settings_.kubeconfig, settings_.context));
    kube::HttpClientOptions options;
    options.user_agent = absl::StrCat("gangway-", ProcessName(kind_));
    options.connect_timeout = kConnectTimeout;
    options.silence_timeout = kSilence;
    options.watch_idle_timeout = kWatchIdle;
    // That of a shadow is never opened: whatever it were to write would not be sent.
    if (settings_.leader_elect || settings_.shadow) options.fence = fence_;
    GW_ASSIGN_OR_RETURN(http_, kube::HttpClient::Make(loop_, connection_, options));
    pulse_ = std::make_unique<kube::Pulse>(
        loop_, *http_, settings_.leader_elect ? kube::QuietFor(settings_.renew_deadline) : kube::kQuiet);
    client_ = std::make_unique<kube::LimitedClient>(loop_, *pulse_, settings_.kube_api_qps, settings_.kube_api_burst);
    return settings_.leader_elect ? ConnectLease(std::move(options)) : absl::OkStatus();
  }

  // A client of its own, before no fence, so that renewals wait behind nobody's writes.
  absl::Status ConnectLease(kube::HttpClientOptions options) {
    options.fence = nullptr;
    options.silence_timeout =
        absl::InfiniteDuration();  // a renewal that hangs is given up by its time, and its connection with it
    options.request_timeout = settings_.renew_deadline * kRenewalPatience;
    options.connect_timeout = std::min(options.connect_timeout, options.request_timeout);
    GW_ASSIGN_OR_RETURN(lease_http_, kube::HttpClient::Make(loop_, connection_, std::move(options)));
    kube::LeaseOptions lease;
    lease.ns = LeaseNamespace(settings_, connection_);
    lease.name = settings_.lease_name;
    lease.identity = identity_;
    lease.lease_duration = settings_.lease_duration;
    lease.renew_deadline = settings_.renew_deadline;
    lease.retry_period = settings_.retry_period;
    lease.answered_at = [this] { return pulse_->answered_at(); };
    lease.metrics = &metrics_;
    lease_ =
        std::make_unique<kube::Lease>(loop_, *lease_http_, *fence_, std::move(lease),
                                      kube::Lease::Callbacks{[this] { components_->Lead(); },
                                                             [this](const std::string& why) { OnLost(why); }, nullptr});
    return absl::OkStatus();
  }

  // To a host that is none of the cluster's, at its own pace.
  absl::Status ConnectNotifications() {
    if (settings_.notify_server.empty()) return absl::OkStatus();
    kube::Connection connection;
    connection.server = settings_.notify_server;
    connection.token.file = settings_.notify_token_file;
    connection.ca.file = settings_.notify_ca_file;
    kube::HttpClientOptions options;
    options.user_agent = absl::StrCat("gangway-", ProcessName(kind_));
    options.connect_timeout = kConnectTimeout;
    options.request_timeout = kNotifyPatience;
    options.max_response_bytes = kMaxNotifyAnswer;
    GW_ASSIGN_OR_RETURN(notify_http_, kube::HttpClient::Make(loop_, std::move(connection), std::move(options)));
    deliverer_ = std::make_unique<notify::Deliverer>(loop_, *notify_http_, settings_.notify_path,
                                                     settings_.notify_query, &metrics_);
    auto to = std::make_shared<Notifications>();
    for (const std::string& name : settings_.notify_events) to->about.events.insert(*notify::ParseEvent(name));
    to->about.queues = {settings_.notify_queues.begin(), settings_.notify_queues.end()};
    to->about.waiting = settings_.notify_waiting;
    to->about.cluster = settings_.notify_cluster;
    to->deliver = [this](std::string json) { deliverer_->Add(std::move(json)); };
    notifications_ = std::move(to);
    return absl::OkStatus();
  }

  absl::Status Serve() {
    const bool same = settings_.metrics_addr == settings_.health_addr && settings_.health_addr.port != 0;
    if (settings_.health_addr.set()) GW_RETURN_IF_ERROR(Listen("health", settings_.health_addr, same, true));
    if (settings_.metrics_addr.set() && !same)
      GW_RETURN_IF_ERROR(Listen("metrics", settings_.metrics_addr, true, false));
    if (settings_.webhook_addr.set()) GW_RETURN_IF_ERROR(ListenWebhook());
    return absl::OkStatus();
  }

  absl::Status ListenWebhook() {
    auto handler = std::make_unique<webhook::Handler>(
        [facts = facts_] { return facts->complete(); },
        [facts = facts_](absl::string_view name) { return facts->Queue(name); },
        [facts = facts_](absl::string_view ns) { return facts->NamespaceQueue(ns); }, &metrics_);
    auto service = webhook::Service::Start(At(settings_.webhook_addr, settings_.webhook_cert, settings_.webhook_key),
                                           std::move(handler));
    if (!service.ok())
      return absl::Status(service.status().code(), absl::StrCat("--webhook: ", service.status().message()));
    webhook_ = *std::move(service);
    log::Info("serving", {{"what", "webhook"}, {"url", webhook_->url()}});
    return absl::OkStatus();
  }

  absl::Status Listen(const char* what, const ListenAddress& address, bool metrics, bool health) {
    auto front = kube::PageFront::Start(loop_, health_->Pages(metrics, health),
                                        At(address, settings_.tls_cert, settings_.tls_key));
    if (!front.ok())
      return absl::Status(front.status().code(), absl::StrCat("--", what, "-addr: ", front.status().message()));
    log::Info("serving", {{"what", what}, {"url", (*front)->url()}});
    pages_.push_back(*std::move(front));
    return absl::OkStatus();
  }

  // When the caches are full, and what they bring about has begun.
  void EndStart() {
    loop_.PostAt(loop_.Now() + kStartLook, owner_.token(),
                 [this, full = components_->synced()] { full ? GiveBackStartMemory() : EndStart(); });
  }

  // ---- what it says of itself

  std::string NotReady() const {
    if (ending_) return "stopping";
    const std::string problem = components_->problem();
    if (components_->synced()) return problem;
    return absl::StrCat("the caches are not full yet", problem.empty() ? "" : ": ", problem);
  }

  std::string Dump() const {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject().Field("process", ProcessName(kind_)).Field("version", VersionLine());
    json.Field("notReady", NotReady())
        .Field("synced", components_->synced())
        .Field("writesWaiting", static_cast<std::int64_t>(client_->waiting()));
    json.Key("leaderElection").BeginObject().Field("enabled", lease_ != nullptr);
    if (lease_ != nullptr)
      json.Field("leading", lease_->held()).Field("identity", identity_).Field("leader", lease_->holder());
    json.EndObject().RawField("component", components_->Dump()).EndObject();
    return out;
  }

  // ---- what it hears

  void OnSignal(int signal) {
    if (signal == SIGHUP) return ReadFilesAgain();
    if (ending_) std::_Exit(128 + signal);
    ending_ = true;
    log::Info("stopping", {{"signal", signal}});
    if (settings_.shadow) PutExact(stdout, components_->Dump() + "\n");
    components_->Stop();
    give_up_ = loop_.Now() + settings_.drain_timeout;
    Drain();
  }

  // Until everything decided is written, and for a moment for the events about it.
  void Drain() {
    const absl::Time now = loop_.Now();
    const bool stopped = components_->stopped();
    if (stopped) give_up_ = std::min(give_up_, now + kEventPatience);
    if (now < give_up_ && !(stopped && components_->events_waiting() == 0 && client_->waiting() == 0)) {
      loop_.PostAt(now + kDrainLook, owner_.token(), [this] { Drain(); });
      return;
    }
    if (!stopped) log::Warning("writes are left undone", {{"waited", settings_.drain_timeout}});
    if (lease_ == nullptr) return loop_.Stop();
    lease_->Release(kReleasePatience, [this] { loop_.Stop(); });
  }

  void OnLost(const std::string& why) {
    if (ending_) return loop_.Stop();
    log::Error("ending, so that a fresh process starts: what was decided under the lost lease must not be written",
               {{"why", why}});
    ending_ = true;
    exit_code_ = kNotReached;
    loop_.Stop();
  }

  // ---- the configuration file

  void WatchFiles() {
    loop_.PostAt(loop_.Now() + kFileLook, owner_.token(), [this] {
      if (FileVersion(sources_.config_file) != config_version_) ReadConfigAgain();
      scheduler_conf_.Look();
      controller_conf_.Look();
      WatchFiles();
    });
  }

  void ReadFilesAgain() {
    ReadConfigAgain();
    scheduler_conf_.TakeAgain();
    controller_conf_.TakeAgain();
  }

  void ReadConfigAgain() {
    config_version_ = FileVersion(sources_.config_file);
    const absl::StatusOr<Settings> fresh = ReadSettings(kind_, sources_);
    if (!fresh.ok())
      return log::Warning("the configuration changed and cannot be used; the last one goes on",
                          {{"error", fresh.status().message()}});
    ConfigureLogs(*fresh);
    client_->SetRate(fresh->kube_api_qps, fresh->kube_api_burst);
    log::Info("configuration read again");
    if (const std::vector<std::string> keys = NeedRestart(kind_, settings_, *fresh); !keys.empty()) {
      log::Warning("some changes take effect only with a restart", {{"keys", absl::StrJoin(keys, ", ")}});
    }
  }

  // ---- Volcano's configuration

  absl::Status TakePolicy(const std::string& path) {
    GW_ASSIGN_OR_RETURN(const conf::SchedulerConf conf, ReadPolicyFile(path));
    LogPolicyFile(path, conf);
    if (policy_ == nullptr) policy_ = std::make_shared<scheduler::LivePolicy>(conf.policy);
    policy_->Set(conf.policy);
    return absl::OkStatus();
  }

  absl::Status TakeLabelSource(const std::string& path) {
    GW_ASSIGN_OR_RETURN(const lifecycle::LabelSourceFile file, ReadLabelSourceFile(path));
    LogLabelSourceFile(path, file);
    if (label_source_ == nullptr) label_source_ = std::make_shared<controller::LiveLabelSource>(file.source);
    label_source_->Set(file.source);
    return absl::OkStatus();
  }

  // Backwards through construction.
  void End() {
    webhook_.reset();
    pages_.clear();
    lease_.reset();
    components_.reset();
    log::Info("ended", {{"exit_code", exit_code_}});
    log::Flush();
  }

  const ProcessKind kind_;
  const SettingSources sources_;
  const Settings settings_;  // those of the start
  const std::string identity_ = Identity();
  const std::shared_ptr<kube::WriteFence> fence_ = std::make_shared<kube::WriteFence>();
  Metrics metrics_;
  AsioLoop loop_;
  kube::Connection connection_;
  std::unique_ptr<kube::HttpClient> http_, lease_http_;
  std::unique_ptr<kube::Pulse> pulse_;             // in front of http_
  std::unique_ptr<kube::LimitedClient> client_;    // in front of pulse_
  std::unique_ptr<kube::HttpClient> notify_http_;  // null: nobody is told
  std::unique_ptr<notify::Deliverer> deliverer_;
  std::shared_ptr<const Notifications> notifications_;
  std::unique_ptr<kube::Components> components_;
  std::unique_ptr<kube::Lease> lease_;  // null: this process leads always
  std::unique_ptr<Health> health_;
  std::vector<std::unique_ptr<kube::PageFront>> pages_;
  const std::shared_ptr<controller::AdmissionFacts> facts_ =  // null: there is no webhook
      settings_.webhook_addr.set() ? std::make_shared<controller::AdmissionFacts>() : nullptr;
  std::unique_ptr<webhook::Service> webhook_;
  std::string config_version_ = FileVersion(sources_.config_file);
  std::shared_ptr<scheduler::LivePolicy> policy_;  // null: no file says how the scheduler decides
  ConfFile scheduler_conf_{settings_.scheduler_conf, "scheduler configuration",
                           [this](const std::string& path) { return TakePolicy(path); }};
  std::shared_ptr<controller::LiveLabelSource> label_source_;  // null: no file says which labels make HyperNodes
  ConfFile controller_conf_{settings_.controller_conf, "controller configuration",
                            [this](const std::string& path) { return TakeLabelSource(path); }};
  bool ending_ = false;
  absl::Time started_at_, give_up_;
  int exit_code_ = kDone;
  Owner owner_;
};

}  // namespace

int RunProcess(ProcessKind kind, SettingSources sources) {
  const auto wrong = [&](const absl::Status& status) {
    Say(ProcessName(kind), status.message());
    return kNoAnswer;
  };
  absl::StatusOr<Settings> settings = ReadSettings(kind, sources);
  if (!settings.ok()) return wrong(settings.status());
  ConfigureLogs(*settings);
  Process process(kind, std::move(sources), *std::move(settings));
  const absl::StatusOr<int> code = process.Run();
  return code.ok() ? *code : wrong(code.status());
}

}  // namespace gangway::cmd
