#include "plugin/extender/server.h"

#include <algorithm>
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

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "plugin/extender/calls/decide.h"
#include "plugin/extender/calls/explain_gang.h"
#include "plugin/extender/calls/place_gang.h"
#include "plugin/extender/desk.h"
#include "plugin/extender/follow_stream.h"
#include "plugin/extender/guarded_reads.h"
#include "plugin/extender/listener.h"
#include "plugin/extender/session_service.h"
#include "plugin/extender/tls_files.h"
#include "plugin/extender/wire/arrivals.h"
#include "proto/gangway/v1/explain.grpc.pb.h"
#include "proto/gangway/v1/extender.grpc.pb.h"
#include "proto/gangway/v1/lifecycle.grpc.pb.h"

namespace gangway::extender {
namespace {

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(std::clamp<std::int64_t>(absl::ToInt64Milliseconds(duration), 1, INT32_MAX));
}

constexpr absl::Duration kLastWords = absl::Milliseconds(200);

// Raw methods: bytes are parsed on the desk's threads, not where they arrive.
class SchedulerService final : public v1::GangScheduler::WithRawCallbackMethod_PlaceGang<
                                   v1::GangScheduler::WithRawCallbackMethod_Follow<v1::GangScheduler::Service>> {
 public:
  SchedulerService(Desk& desk, const CurrentPolicy& policy, FollowStreams& streams)
      : desk_(desk), policy_(policy), streams_(streams) {}
  using WithRawCallbackMethod_PlaceGang::PlaceGang;
  Reactor* PlaceGang(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                     grpc::ByteBuffer* response) override {
    return desk_.Serve<v1::PlaceGangRequest, v1::PlaceGangResponse>(
        "PlaceGang", *context, *request, *response, [this](const v1::PlaceGangRequest& in, StillWanted still_wanted) {
          return extender::PlaceGang(in, *policy_.Get(), still_wanted);
        });
  }
  using WithRawCallbackMethod_Follow::Follow;
  FollowStreams::Stream* Follow(grpc::CallbackServerContext* context) override { return streams_.Begin(*context); }

 private:
  Desk& desk_;
  const CurrentPolicy& policy_;
  FollowStreams& streams_;
};

class ExplainService final : public v1::Explain::WithRawCallbackMethod_Explain<v1::Explain::Service> {
 public:
  ExplainService(Desk& desk, const CurrentPolicy& policy) : desk_(desk), policy_(policy) {}
  using WithRawCallbackMethod_Explain::Explain;
  Reactor* Explain(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                   grpc::ByteBuffer* response) override {
    return desk_.Serve<v1::ExplainRequest, v1::ExplainResponse>(
        "Explain", *context, *request, *response, [this](const v1::ExplainRequest& in, StillWanted still_wanted) {
          return ExplainGang(in, *policy_.Get(), still_wanted);
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

CutConnections CutCounters(Metrics& metrics) {
  const auto counter = [&](const char* why) {
    return metrics.AddCounter("gangway_extender_connections_cut_total",
                              "connections of gRPC that were cut off for what their clients sent", {{"why", why}});
  };
  return {counter("header"), counter("streams"), counter("resets"), counter("frames")};
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Metrics& metrics)
      : options_(std::move(options)),
        desk_(options_, metrics),
        policy_(options_.policy),
        streams_(desk_, policy_, metrics),
        scheduler_(desk_, policy_, streams_),
        sessions_(desk_, policy_),
        lifecycle_(desk_),
        explain_(desk_, policy_),
        refused_(metrics.AddCounter("gangway_extender_connections_refused_total",
                                    "connections of gRPC that were closed because too many were open")),
        cuts_(CutCounters(metrics), arrivals_),
        quota_("gangway-extender") {}

  absl::Status Start() {
    GW_ASSIGN_OR_RETURN(listener_, Listener::Start(options_.address, options_.max_connections, arrivals_, refused_));
    PrepareLibrary();
    grpc::ServerBuilder builder;
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, CredentialsFor(options_));
    builder.RegisterService(&scheduler_);
    builder.RegisterService(&sessions_);
    builder.RegisterService(&lifecycle_);
    builder.RegisterService(&explain_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options_.max_message_bytes));
    // Room for health checks beside the calls; what connections bring together is bounded by the quota.
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2 * options_.max_calls + options_.max_streams + 16);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(kMaxMetadataBytes));
    // Or connections that nobody uses would keep others out.
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(options_.greeting_timeout));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, Milliseconds(options_.idle_timeout));
    quota_.Resize(
        static_cast<std::size_t>((options_.max_calls + options_.max_streams + 4) * options_.max_message_bytes));
    builder.SetResourceQuota(quota_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::InternalError("the gRPC server cannot be built");
    Serving(true);
    listener_->Begin([this](int socket) {
      if (!options_.tls.any()) GuardReads(socket);
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.fd = socket;
      acceptor_->HandleNewConnection(&connection);
    });
    return absl::OkStatus();
  }

  ~Impl() {
    if (server_ == nullptr) return;
    Serving(false);
    streams_.Close();
    desk_.Close();
    listener_.reset();
    // A moment for the last answers on their way; gRPC would wait for connections too, and a client that has no call
    // does not look at its own.
    server_->Shutdown(After(kLastWords));
    server_->Wait();
  }

  void SetPolicy(gang::Policy policy) { policy_.Set(std::move(policy)); }
  int port() const { return listener_->port(); }
  std::string address() const {
    return absl::StrCat(options_.address.substr(0, options_.address.rfind(':')), ":", port());
  }

 private:
  void Serving(bool serving) {
    grpc::HealthCheckServiceInterface* const health = server_->GetHealthCheckService();
    health->SetServingStatus(serving);
    health->SetServingStatus(v1::GangScheduler::service_full_name(), serving);
    health->SetServingStatus(v1::Extender::service_full_name(), serving);
    health->SetServingStatus(v1::Lifecycle::service_full_name(), serving);
    health->SetServingStatus(v1::Explain::service_full_name(), serving);
  }

  const ServerOptions options_;
  Desk desk_;
  CurrentPolicy policy_;
  FollowStreams streams_;
  SchedulerService scheduler_;
  SessionService sessions_;
  LifecycleService lifecycle_;
  ExplainService explain_;
  const Counter refused_;
  Arrivals arrivals_;
  const CutsCounted cuts_;
  grpc::ResourceQuota quota_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Listener> listener_;  // last: it hands connections to the server
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options, Metrics& metrics) {
  if (absl::Status files = CheckTlsFiles(options.tls); !files.ok()) return files;
  if (options.max_message_bytes < 1 || options.max_message_bytes > INT32_MAX || options.threads < 1 ||
      options.max_calls < 1 || options.max_connections < 1 || options.max_streams < 1 || options.max_stream_bytes < 1) {
    return absl::InvalidArgumentError(
        "the limits of messages, threads, connections, calls and streams must be at least 1, a message's at most "
        "2147483647 bytes");
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
