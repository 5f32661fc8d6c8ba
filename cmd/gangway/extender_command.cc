#include "cmd/gangway/extender_command.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "base/asio_loop.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status_macros.h"
#include "cmd/gangway/version.h"
#include "kube/client/status.h"
#include "kube/serve/http_front.h"
#include "plugin/extender/server.h"

namespace gangway::cmd {
namespace {

absl::Status Named(absl::string_view flag, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(flag, ": ", status.message()));
}

absl::StatusOr<absl::Duration> PositiveDuration(absl::string_view flag, const std::string& text) {
  const auto duration = api::ParseGoDuration(text);
  if (!duration.ok() || *duration <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": write a positive number and a unit, such as 30s or 500ms"));
  }
  return *duration;
}

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

absl::StatusOr<Address> ParseAddress(absl::string_view flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  int port = -1;
  if (colon == std::string::npos || colon == 0 || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": write HOST:PORT, such as 127.0.0.1:9443; port 0 is any that is free"));
  }
  return Address{text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

bool Loopback(const std::string& host) { return absl::StartsWith(host, "127.") || host == "localhost" || host == "[::1]"; }

absl::StatusOr<extender::ServerOptions> ReadOptions(const ExtenderFlags& flags) {
  extender::ServerOptions options;
  GW_ASSIGN_OR_RETURN(const Address address, ParseAddress("--listen", flags.listen));
  options.address = flags.listen;
  options.tls = {flags.tls_cert, flags.tls_key, flags.client_ca};
  if (options.tls.any() && (flags.tls_cert.empty() || flags.tls_key.empty())) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key: TLS needs both");
  }
  if (!options.tls.any() && !Loopback(address.host)) {
    log::Warning("the service is open to everybody who reaches this address, and not encrypted; give --tls-cert, --tls-key and --client-ca",
                 {{"listen", flags.listen}});
  }
  options.max_message_bytes = flags.max_message_bytes;
  options.max_calls = flags.max_calls;
  options.threads = flags.threads;
  GW_ASSIGN_OR_RETURN(options.default_deadline, PositiveDuration("--default-deadline", flags.default_deadline));
  GW_ASSIGN_OR_RETURN(options.drain, PositiveDuration("--drain-timeout", flags.drain_timeout));
  return options;
}

// GET /metrics and nothing else.
class MetricsPage final : public kube::HttpHandler {
 public:
  explicit MetricsPage(const Metrics& metrics) : metrics_(metrics) {}
  bool IsWatch(const kube::Request&) override { return false; }
  void HandleRequest(kube::Request request, kube::HttpCaller, Respond respond) override {
    kube::Response response;
    const bool here = request.path == "/metrics" && (request.method == "GET" || request.method == "HEAD");
    response.code = here ? 200 : 404;
    response.content_type = here ? "text/plain; version=0.0.4; charset=utf-8" : "application/json";
    response.body = MakeBytes(here ? metrics_.Expose() : kube::StatusBody(404, "NotFound", "only GET /metrics is served here"));
    respond(std::move(response));
  }
  WatchAnswer StartWatch(kube::Request, kube::HttpCaller, kube::Client::OnFrames, kube::Client::OnEnd) override { return {}; }

 private:
  const Metrics& metrics_;
};

absl::StatusOr<std::unique_ptr<kube::HttpFront>> ServeMetrics(Loop& loop, MetricsPage& page, const std::string& text) {
  if (text.empty()) return std::unique_ptr<kube::HttpFront>();
  GW_ASSIGN_OR_RETURN(const Address address, ParseAddress("--metrics-addr", text));
  kube::HttpFrontOptions options;
  options.address = address.host;
  options.port = address.port;
  options.io_threads = 1;
  auto front = kube::HttpFront::Start(loop, page, options);
  GW_RETURN_IF_ERROR(Named("--metrics-addr", front.status()));
  return front;
}

absl::Status Run(const ExtenderFlags& flags) {
  log::Options logs;
  if (!log::ParseLevel(flags.log_level, logs.level)) {
    return absl::InvalidArgumentError(absl::StrCat("--log-level ", flags.log_level, ": must be debug, info, warning, error or off"));
  }
  logs.format = flags.log_format == "json" ? log::Format::kJson : log::Format::kText;
  log::Configure(std::move(logs));
  GW_ASSIGN_OR_RETURN(extender::ServerOptions options, ReadOptions(flags));

  AsioLoop loop(1);
  Owner owner;
  Metrics metrics;
  MetricsPage page(metrics);
  loop.OnSignals({SIGINT, SIGTERM}, owner.token(), [&](int) { loop.Stop(); });
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<kube::HttpFront> front, ServeMetrics(loop, page, flags.metrics_addr));
  auto server = extender::Server::Start(std::move(options), metrics);
  GW_RETURN_IF_ERROR(server.status());
  std::printf("%s\nextender at %s%s\n", VersionLine().c_str(), (*server)->address().c_str(), flags.tls_cert.empty() ? "" : " (TLS)");
  if (front != nullptr) std::printf("metrics at %s/metrics\n", front->url().c_str());
  std::fflush(stdout);
  loop.Run();
  log::Info("ending: calls under way are carried out", {{"at_most", flags.drain_timeout}});
  server->reset();
  log::Flush();
  return absl::OkStatus();
}

}  // namespace

int RunExtender(const ExtenderFlags& flags) {
  const absl::Status status = Run(flags);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gangway extender: %s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace gangway::cmd
