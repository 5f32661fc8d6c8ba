#include "cmd/extender/extender_http.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/terminal/listen_address.h"
#include "kube/client/http_client.h"
#include "kube/client/kubeconfig.h"
#include "kube/runtime/components.h"
#include "kube/serve/http_front.h"
#include "plugin/extender/http/verb_handler.h"
#include "plugin/extender/watch/hyper_node_watch.h"
#include "plugin/extender/watch/live_cluster.h"
#include "plugin/extender/work/work_pool.h"

namespace gangway::cmd {
namespace {

// A scheduler keeps two connections and makes others when it needs them; a second one may ask for a while.
constexpr int kMaxConnections = 256;
// A plan may be begun while the thread is still putting the one before away.
constexpr int kPlanAndItsEnd = 2;

absl::StatusOr<kube::HttpFrontOptions> FrontOptions(const ExtenderHttpFlags& flags) {
  kube::HttpFrontOptions options;
  GW_ASSIGN_OR_RETURN(const ListenAt at, ParseListenAt("--http-listen", flags.listen));
  if (!at.loopback() && !flags.insecure) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--http-listen ", flags.listen,
        ": Volcano's extender plugin shows no certificate, so everybody who reaches this address would be served, and "
        "sent what is in the cluster's pods; use 127.0.0.1 in the scheduler's own pod, or --insecure where something "
        "else keeps strangers out"));
  }
  if (!at.loopback()) log::Warning("everybody who reaches this address is served", {{"http_listen", flags.listen}});
  options.address = at.ip();
  options.port = at.port;
  options.max_connections = kMaxConnections;
  options.replace_idle = true;
  options.max_header_fields = 64;
  options.max_body_bytes = static_cast<std::size_t>(flags.max_session_bytes);
  options.max_bytes_in_flight = 2 * options.max_body_bytes;
  options.body_timeout = absl::Seconds(10);
  return options;
}

absl::StatusOr<extender::VerbOptions> HandlerOptions(const ExtenderHttpFlags& flags, const gang::Policy& policy) {
  extender::VerbOptions options;
  const std::optional<extender::Mode> mode = extender::ModeOf(flags.mode);
  if (!mode.has_value())
    return absl::InvalidArgumentError(absl::StrCat("--mode ", flags.mode, ": must be light, steer or full"));
  options.mode = *mode;
  options.plan.policy = policy;
  options.plan.whole_gangs = flags.admit == "whole-gang";
  options.plan.sums = !options.plan.whole_gangs;
  const auto budget = api::ParseGoDuration(flags.budget);
  if (!budget.ok() || *budget <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("--http-budget ", flags.budget,
                                                   ": write a positive number and a unit, such as 700ms, below the "
                                                   "scheduler's extender.httpTimeout"));
  }
  options.budget = *budget;
  return options;
}

}  // namespace

class ExtenderHttp::Impl {
 public:
  Impl(Loop& loop, extender::VerbOptions options, Metrics& metrics)
      : loop_(loop), options_(std::move(options)), metrics_(metrics) {}
  // What is asked goes before who answers.
  ~Impl() { front_.reset(); }

  absl::Status Connect(const ExtenderHttpFlags& flags) {
    GW_ASSIGN_OR_RETURN(const kube::Connection connection, kube::FindConnection(flags.kubeconfig, flags.context));
    kube::HttpClientOptions client;
    client.user_agent = "gangway-extender";
    client.connect_timeout = absl::Seconds(5);
    client.silence_timeout = absl::Seconds(3);
    client.watch_idle_timeout = absl::Seconds(90);
    GW_ASSIGN_OR_RETURN(client_, kube::HttpClient::Make(loop_, connection, client));
    components_ = std::make_unique<kube::Components>(loop_, *client_, &metrics_);
    return absl::OkStatus();
  }

  // The whole cluster, without which mode light answers nothing.
  absl::Status Watch(const ExtenderHttpFlags& flags) {
    GW_RETURN_IF_ERROR(Connect(flags));
    planner_ = std::make_unique<extender::WorkPool>(1, kPlanAndItsEnd);
    auto cluster = std::make_unique<extender::LiveCluster>(
        components_->informers(),
        extender::LiveClusterOptions{flags.scheduler_name, options_.plan, options_.budget,
                                     [this](auto work) { planner_->Offer(std::move(work)); }});
    cluster_ = cluster.get();
    components_->Add(std::move(cluster));
    components_->Start();
    options_.live = {[this](auto then) { cluster_->Ask(std::move(then)); }, [this] { return cluster_->last(); },
                     [this] { return cluster_->up_to_date(); }};
    return absl::OkStatus();
  }

  // HyperNodes, for those who send sessions: where a cluster is named, or we are in one.
  absl::Status WatchHyperNodes(const ExtenderHttpFlags& flags) {
    if (flags.kubeconfig.empty() && !kube::InClusterConnection(kube::InClusterSourceFromEnvironment()).ok()) {
      log::Info(
          "HyperNodes are not known: gangs that must lie in one are left to the scheduler; --kubeconfig names a "
          "cluster to read them from");
      return absl::OkStatus();
    }
    GW_RETURN_IF_ERROR(Connect(flags));
    auto watch = std::make_unique<extender::HyperNodeWatch>(components_->informers());
    options_.hyper_nodes = [seen = watch.get()] { return seen->HyperNodes(); };
    components_->Add(std::move(watch));
    components_->Start();
    return absl::OkStatus();
  }

  absl::Status Serve(kube::HttpFrontOptions front) {
    handler_ = std::make_unique<extender::VerbHandler>(loop_, options_, metrics_);
    GW_ASSIGN_OR_RETURN(front_, kube::HttpFront::Start(loop_, *handler_, std::move(front)));
    return absl::OkStatus();
  }

  void SetPolicy(const gang::Policy& policy) {
    handler_->SetPolicy(policy);
    if (cluster_ != nullptr) cluster_->SetPolicy(policy);
  }
  std::string url() const { return front_->url(); }
  std::string problem() const {
    if (cluster_ == nullptr) return "";
    const std::string problem = components_->problem();
    if (components_->synced()) return problem;
    return absl::StrCat("the cluster is not listed yet", problem.empty() ? "" : ": ", problem);
  }
  std::shared_ptr<const extender::SessionStore> sessions() const { return handler_->sessions(); }
  std::string DebugSessions() const { return handler_->DebugSessions(); }

 private:
  Loop& loop_;
  extender::VerbOptions options_;
  Metrics& metrics_;
  std::unique_ptr<kube::HttpClient> client_;
  std::unique_ptr<kube::Components> components_;  // null: nothing is watched
  extender::LiveCluster* cluster_ = nullptr;      // one of them, in mode light
  std::unique_ptr<extender::WorkPool> planner_;   // in mode light; its thread uses the cluster
  std::unique_ptr<extender::VerbHandler> handler_;
  std::unique_ptr<kube::HttpFront> front_;
};

absl::StatusOr<std::unique_ptr<ExtenderHttp>> ExtenderHttp::Start(Loop& loop, const ExtenderHttpFlags& flags,
                                                                  const gang::Policy& policy, Metrics& metrics) {
  GW_ASSIGN_OR_RETURN(kube::HttpFrontOptions front, FrontOptions(flags));
  GW_ASSIGN_OR_RETURN(extender::VerbOptions options, HandlerOptions(flags, policy));
  auto impl = std::make_unique<Impl>(loop, options, metrics);
  GW_RETURN_IF_ERROR(options.mode == extender::Mode::kLight ? impl->Watch(flags) : impl->WatchHyperNodes(flags));
  GW_RETURN_IF_ERROR(impl->Serve(std::move(front)));
  return std::unique_ptr<ExtenderHttp>(new ExtenderHttp(std::move(impl)));
}

ExtenderHttp::ExtenderHttp(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExtenderHttp::~ExtenderHttp() = default;
void ExtenderHttp::SetPolicy(const gang::Policy& policy) { impl_->SetPolicy(policy); }
std::string ExtenderHttp::url() const { return impl_->url(); }
std::string ExtenderHttp::problem() const { return impl_->problem(); }
std::shared_ptr<const extender::SessionStore> ExtenderHttp::sessions() const { return impl_->sessions(); }
std::string ExtenderHttp::DebugSessions() const { return impl_->DebugSessions(); }

}  // namespace gangway::cmd
