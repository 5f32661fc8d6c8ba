#include "plugin/extender/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/mutex.h"
#include "plugin/extender/decide.h"
#include "plugin/extender/message_budget.h"
#include "plugin/extender/place_gang.h"
#include "plugin/extender/tls_files.h"
#include "plugin/extender/work_pool.h"
#include "proto/gangway/v1/extender.grpc.pb.h"
#include "proto/gangway/v1/lifecycle.grpc.pb.h"

namespace gangway::extender {
namespace {

using Clock = std::chrono::system_clock;
using Reactor = grpc::ServerUnaryReactor;

constexpr absl::Duration kLastWords = absl::Milliseconds(200);

// absl's codes are gRPC's, number by number.
grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

std::chrono::system_clock::time_point After(absl::Duration duration) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(absl::ToChronoNanoseconds(duration));
}

const std::vector<double>& SizeBounds() {
  static const std::vector<double>& bounds =
      *new std::vector<double>{1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25};
  return bounds;
}

// Why the answer is not waited for any more; OK while it is.
absl::Status Wanted(const grpc::CallbackServerContext& context, Clock::time_point deadline) {
  if (Clock::now() >= deadline) return absl::DeadlineExceededError("the call's deadline has passed");
  if (context.IsCancelled()) return absl::CancelledError("the caller has cancelled the call");
  return absl::OkStatus();
}

// What every method does around its translation: a place among the accepted calls, the deadline, the bounds, the
// figures.
class Desk {
 public:
  Desk(const ServerOptions& options, Metrics& metrics)
      : options_(options),
        metrics_(metrics),
        under_way_(metrics.AddGauge("gangway_extender_calls", "calls accepted and not answered yet")),
        pool_(options.threads, options.max_calls) {}

  // `answer`: StatusOr<Out>(const In&, StillWanted).
  template <class In, class Out, class F>
  Reactor* Serve(absl::string_view method, grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                 grpc::ByteBuffer& response, F answer) {
    Reactor* const reactor = context.DefaultReactor();
    const Clock::time_point begin = Clock::now();
    const Clock::time_point deadline =
        std::min(context.deadline(), context.deadline() == Clock::time_point::max() ? After(options_.default_deadline)
                                                                                    : Clock::time_point::max());
    auto work = [=, this, &context, &request, &response] {
      const auto still_wanted = [&] { return Wanted(context, deadline); };
      if (options_.before_call) options_.before_call(method, still_wanted);
      const absl::Status status = Carry<In, Out>(request, response, still_wanted, answer);
      Count(method, status, request.Length(), begin);
      under_way_.Add(-1);
      reactor->Finish(ToGrpc(status));
    };
    under_way_.Add(1);
    const WorkPool::Answer taken = pool_.Offer(std::move(work));
    if (taken == WorkPool::Answer::kTaken) return reactor;
    under_way_.Add(-1);
    const absl::Status refused =
        taken == WorkPool::Answer::kClosed
            ? absl::UnavailableError("the server is about to go")
            : absl::ResourceExhaustedError(absl::StrCat(
                  options_.max_calls, " calls are under way already, which is this server's limit; try again later"));
    Count(method, refused, request.Length(), begin);
    reactor->Finish(ToGrpc(refused));
    return reactor;
  }
  void Close() { pool_.Close(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.drain)); }

 private:
  template <class In, class Out, class F>
  static absl::Status Carry(const grpc::ByteBuffer& request, grpc::ByteBuffer& response, StillWanted still_wanted,
                            const F& answer) {
    if (absl::Status wanted = still_wanted(); !wanted.ok()) return wanted;
    grpc::Slice bytes;
    if (request.Length() > 0 && !request.DumpToSingleSlice(&bytes).ok())
      return absl::InternalError("the request cannot be read");
    const absl::string_view text(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
    if (absl::Status counted = CheckEntries(text, *In::descriptor()); !counted.ok()) return counted;
    In in;
    if (!in.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
      return absl::InvalidArgumentError(
          absl::StrCat("the bytes are no ", In::descriptor()->full_name(), ", or a text in it is not UTF-8"));
    }
    if (absl::Status wanted = still_wanted(); !wanted.ok()) return wanted;
    absl::StatusOr<Out> out = answer(in, still_wanted);
    if (!out.ok()) return out.status();
    const grpc::Slice slice(out->SerializeAsString());
    response = grpc::ByteBuffer(&slice, 1);
    return absl::OkStatus();
  }

  void Count(absl::string_view method, const absl::Status& status, std::size_t bytes, Clock::time_point begin) {
    const std::string name(method);
    metrics_
        .AddCounter("gangway_extender_calls_total", "calls by method and gRPC code",
                    {{"method", name}, {"code", absl::StatusCodeToString(status.code())}})
        .Add();
    metrics_
        .AddHistogram("gangway_extender_call_duration_seconds", "from the whole request to the answer",
                      DurationBounds(), {{"method", name}})
        .Observe(std::chrono::duration<double>(Clock::now() - begin).count());
    metrics_.AddHistogram("gangway_extender_request_bytes", "size of requests", SizeBounds(), {{"method", name}})
        .Observe(static_cast<double>(bytes));
  }

  const ServerOptions& options_;
  Metrics& metrics_;
  Gauge under_way_;
  WorkPool pool_;  // last: its threads use the rest
};

// What gangs are placed by. Thread-safe.
class CurrentPolicy {
 public:
  explicit CurrentPolicy(const gang::Policy& policy) : policy_(std::make_shared<const gang::Policy>(policy)) {}
  std::shared_ptr<const gang::Policy> Get() const {
    const MutexLock lock(mu_);
    return policy_;
  }
  void Set(gang::Policy policy) {
    auto fresh = std::make_shared<const gang::Policy>(std::move(policy));
    const MutexLock lock(mu_);
    policy_.swap(fresh);
  }

 private:
  mutable Mutex mu_;
  std::shared_ptr<const gang::Policy> policy_ ABSL_GUARDED_BY(mu_);
};

// Raw methods: bytes are parsed on the desk's threads, not where they arrive.
class SchedulerService final : public v1::GangScheduler::WithRawCallbackMethod_PlaceGang<v1::GangScheduler::Service> {
 public:
  SchedulerService(Desk& desk, const CurrentPolicy& policy) : desk_(desk), policy_(policy) {}
  using WithRawCallbackMethod_PlaceGang::PlaceGang;
  Reactor* PlaceGang(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                     grpc::ByteBuffer* response) override {
    return desk_.Serve<v1::PlaceGangRequest, v1::PlaceGangResponse>(
        "PlaceGang", *context, *request, *response, [this](const v1::PlaceGangRequest& in, StillWanted still_wanted) {
          return extender::PlaceGang(in, *policy_.Get(), still_wanted);
        });
  }

 private:
  Desk& desk_;
  const CurrentPolicy& policy_;
};

class LifecycleService final : public v1::Lifecycle::WithRawCallbackMethod_Decide<v1::Lifecycle::Service> {
 public:
  explicit LifecycleService(Desk& desk) : desk_(desk) {}
  using WithRawCallbackMethod_Decide::Decide;
  Reactor* Decide(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                  grpc::ByteBuffer* response) override {
    return desk_.Serve<v1::DecideRequest, v1::DecideResponse>(
        "Decide", *context, *request, *response,
        [](const v1::DecideRequest& in, StillWanted) { return extender::Decide(in); });
  }

 private:
  Desk& desk_;
};

std::shared_ptr<grpc::ServerCredentials> CredentialsFor(const ServerOptions& options) {
  const TlsFiles& files = options.tls;
  if (!files.any()) return grpc::InsecureServerCredentials();
  const auto seconds = static_cast<unsigned>(std::max<std::int64_t>(1, absl::ToInt64Seconds(options.tls_look_again)));
  grpc::experimental::TlsServerCredentialsOptions tls(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(files.key, files.certificate,
                                                                           files.client_ca, seconds));
  tls.watch_identity_key_cert_pairs();
  if (!files.client_ca.empty()) {
    tls.watch_root_certs();
    tls.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(tls);
}

// What the libraries have to say goes where our lines go, repeats counted there.
void LogGrpc(gpr_log_func_args* line) {
  const log::Level level = line->severity == GPR_LOG_SEVERITY_DEBUG ? log::Level::kDebug : log::Level::kWarning;
  if (log::Enabled(level)) log::Write(level, "grpc", {{"text", absl::string_view(line->message)}});
}
void LogProtobuf(google::protobuf::LogLevel, const char*, int, const std::string& text) {
  log::Debug("protobuf", {{"text", text}});
}

void PrepareLibrary() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(&LogGrpc);
    google::protobuf::SetLogHandler(&LogProtobuf);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Metrics& metrics)
      : options_(std::move(options)),
        desk_(options_, metrics),
        policy_(options_.policy),
        scheduler_(desk_, policy_),
        lifecycle_(desk_),
        quota_("gangway-extender") {}

  absl::Status Start() {
    PrepareLibrary();
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options_.address, CredentialsFor(options_), &port_);
    builder.RegisterService(&scheduler_);
    builder.RegisterService(&lifecycle_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options_.max_message_bytes));
    // Room for health checks beside the calls; what connections bring together is bounded by the quota.
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2 * options_.max_calls + 16);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // or a second server would share the port, unseen
    quota_.Resize(static_cast<std::size_t>((options_.max_calls + 4) * options_.max_message_bytes));
    builder.SetResourceQuota(quota_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0)
      return absl::UnavailableError(absl::StrCat(options_.address, ": cannot be listened on; is it in use?"));
    Serving(true);
    return absl::OkStatus();
  }

  ~Impl() {
    if (server_ == nullptr) return;
    Serving(false);
    desk_.Close();
    // A moment for the last answers on their way; gRPC would wait for connections too, and a client that has no call
    // does not look at its own.
    server_->Shutdown(After(kLastWords));
    server_->Wait();
  }

  void SetPolicy(gang::Policy policy) { policy_.Set(std::move(policy)); }
  int port() const { return port_; }
  std::string address() const {
    return absl::StrCat(options_.address.substr(0, options_.address.rfind(':')), ":", port_);
  }

 private:
  void Serving(bool serving) {
    grpc::HealthCheckServiceInterface* const health = server_->GetHealthCheckService();
    health->SetServingStatus(serving);
    health->SetServingStatus(v1::GangScheduler::service_full_name(), serving);
    health->SetServingStatus(v1::Lifecycle::service_full_name(), serving);
  }

  const ServerOptions options_;
  Desk desk_;
  CurrentPolicy policy_;
  SchedulerService scheduler_;
  LifecycleService lifecycle_;
  grpc::ResourceQuota quota_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options, Metrics& metrics) {
  if (absl::Status files = CheckTlsFiles(options.tls); !files.ok()) return files;
  if (options.address.rfind(':') == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.address, ": is no address; write HOST:PORT, such as 127.0.0.1:9090"));
  }
  if (options.max_message_bytes < 1 || options.max_message_bytes > INT32_MAX || options.threads < 1 ||
      options.max_calls < 1) {
    return absl::InvalidArgumentError(
        "the limits of messages, threads and calls must be at least 1, a message's at most 2147483647 bytes");
  }
  auto impl = std::make_unique<Impl>(std::move(options), metrics);
  if (absl::Status started = impl->Start(); !started.ok()) return started;
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
void Server::SetPolicy(gang::Policy policy) { impl_->SetPolicy(std::move(policy)); }
int Server::port() const { return impl_->port(); }
std::string Server::address() const { return impl_->address(); }

}  // namespace gangway::extender
