#include "cmd/extender/extender_command.h"

#include <csignal>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "base/asio_loop.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status_macros.h"
#include "cmd/conf/conf_files.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/listen_address.h"
#include "cmd/terminal/output.h"
#include "cmd/terminal/version.h"
#include "kube/serve/pages.h"
#include "plugin/extender/server.h"

namespace gangway::cmd {
namespace {

absl::Status OfFlag(absl::string_view flag, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(flag, ": ", status.message()));
}

absl::StatusOr<absl::Duration> PositiveDuration(absl::string_view flag, const std::string& text) {
  const auto duration = api::ParseGoDuration(text);
  if (!duration.ok() || *duration <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", text, ": write a positive number and a unit, such as 30s or 500ms"));
  }
  return *duration;
}

// Who may call may spend the calls of all.
absl::Status CheckExposure(const ExtenderFlags& flags, bool loopback) {
  if (loopback || !flags.client_ca.empty()) return absl::OkStatus();
  if (flags.tls_cert.empty() && !flags.insecure) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen ", flags.listen,
        ": the service would be open to everybody who reaches this address, and not encrypted; give --tls-cert, "
        "--tls-key and --client-ca, or --insecure where something else keeps strangers out"));
  }
  log::Warning(flags.tls_cert.empty() ? "everybody who reaches this address is served, and nothing is encrypted; give "
                                        "--tls-cert, --tls-key and --client-ca"
                                      : "everybody who reaches this address is served; give --client-ca, so that only "
                                        "clients with a certificate are",
               {{"listen", flags.listen}});
  return absl::OkStatus();
}

absl::StatusOr<extender::ServerOptions> ReadOptions(const ExtenderFlags& flags) {
  extender::ServerOptions options;
  GW_ASSIGN_OR_RETURN(const ListenAt address, ParseListenAt("--listen", flags.listen));
  options.address = flags.listen;
  options.tls = {flags.tls_cert, flags.tls_key, flags.client_ca};
  if (options.tls.any() && (flags.tls_cert.empty() || flags.tls_key.empty())) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key: TLS needs both");
  }
  GW_RETURN_IF_ERROR(CheckExposure(flags, address.loopback()));
  options.max_message_bytes = flags.max_message_bytes;
  options.max_connections = flags.max_connections;
  options.max_calls = flags.max_calls;
  options.max_streams = flags.max_streams;
  options.max_stream_bytes = flags.max_stream_bytes;
  options.threads = flags.threads;
  GW_ASSIGN_OR_RETURN(options.default_deadline, PositiveDuration("--default-deadline", flags.default_deadline));
  GW_ASSIGN_OR_RETURN(options.drain, PositiveDuration("--drain-timeout", flags.drain_timeout));
  return options;
}

// `http`: may be null, then and until it is served.
absl::StatusOr<std::unique_ptr<kube::PageFront>> ServePages(Loop& loop, const Metrics& metrics, const std::string& text,
                                                            const std::unique_ptr<ExtenderHttp>& http) {
  if (text.empty()) return std::unique_ptr<kube::PageFront>();
  GW_ASSIGN_OR_RETURN(const ListenAt address, ParseListenAt("--metrics-addr", text));
  const auto alive = [](kube::HttpHandler::Respond respond) { respond(kube::TextPage(200, "ok")); };
  const auto ready = [&http](kube::HttpHandler::Respond respond) {
    const std::string problem = http == nullptr ? "" : http->problem();
    respond(problem.empty() ? kube::TextPage(200, "ok") : kube::TextPage(503, problem));
  };
  const auto sessions = [&http](kube::HttpHandler::Respond respond) {
    kube::Response page = kube::TextPage(200, http == nullptr ? "{}" : http->DebugSessions());
    page.content_type = "application/json";
    respond(std::move(page));
  };
  kube::HttpFrontOptions where;
  where.address = address.ip();
  where.port = address.port;
  auto front = kube::PageFront::Start(loop,
                                      {kube::MetricsPage(metrics),
                                       {"/healthz", alive},
                                       {"/livez", alive},
                                       {"/readyz", ready},
                                       {"/debug/sessions", sessions}},
                                      std::move(where));
  GW_RETURN_IF_ERROR(OfFlag("--metrics-addr", front.status()));
  return front;
}

absl::Status Run(const ExtenderFlags& flags) {
  log::Options logs;
  if (!log::ParseLevel(flags.log_level, logs.level)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--log-level ", flags.log_level, ": must be debug, info, warning, error or off"));
  }
  logs.format = flags.log_format == "json" ? log::Format::kJson : log::Format::kText;
  log::Configure(std::move(logs));
  GW_ASSIGN_OR_RETURN(extender::ServerOptions options, ReadOptions(flags));

  AsioLoop loop(1);
  Owner owner;
  Metrics metrics;
  std::unique_ptr<extender::Server> server;
  std::unique_ptr<ExtenderHttp> http;
  ConfFile scheduler_conf(flags.scheduler_conf, "scheduler configuration",
                          [&](const std::string& path) -> absl::Status {
                            GW_ASSIGN_OR_RETURN(conf::SchedulerConf conf, ReadPolicyFile(path));
                            LogPolicyFile(path, conf);
                            options.policy = conf.policy;
                            if (http != nullptr) http->SetPolicy(conf.policy);
                            if (server != nullptr) server->SetPolicy(std::move(conf.policy));
                            return absl::OkStatus();
                          });
  GW_RETURN_IF_ERROR(OfFlag("--scheduler-conf", scheduler_conf.Start()));
  std::vector<int> signals = {SIGINT, SIGTERM};
  if (scheduler_conf.set()) signals.push_back(SIGHUP);
  loop.OnSignals(signals, owner.token(), [&](int signal) {
    if (signal != SIGHUP) return loop.Stop();
    scheduler_conf.TakeAgain();
  });
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<kube::PageFront> front,
                      ServePages(loop, metrics, flags.metrics_addr, http));
  if (!flags.http.listen.empty()) {
    ExtenderHttpFlags http_flags = flags.http;
    http_flags.insecure = flags.insecure;
    auto started = ExtenderHttp::Start(loop, http_flags, options.policy, metrics);
    GW_RETURN_IF_ERROR(started.status());
    http = *std::move(started);
    options.more_sessions = http->sessions();
  }
  GW_ASSIGN_OR_RETURN(server, extender::Server::Start(options, metrics));
  const std::function<void()> look = [&] {
    scheduler_conf.Look();
    loop.PostAt(loop.Now() + kFileLook, owner.token(), look);
  };
  if (scheduler_conf.set()) look();
  Put(stdout,
      absl::StrCat(
          VersionLine(), "\nextender at ", server->address(), flags.tls_cert.empty() ? "" : " (TLS)", "\n",
          http == nullptr ? "" : absl::StrCat("Volcano's extender (", flags.http.mode, ") at ", http->url(), "\n"),
          front == nullptr ? "" : absl::StrCat("metrics at ", front->url(), "/metrics\n")));
  loop.Run();
  log::Info("ending: calls under way are carried out", {{"at_most", flags.drain_timeout}});
  http.reset();
  server.reset();
  log::Flush();
  return absl::OkStatus();
}

}  // namespace

int RunExtender(const ExtenderFlags& flags) {
  const absl::Status status = Run(flags);
  if (status.ok()) return kDone;
  Say("extender", status.message());
  return kNoAnswer;
}

}  // namespace gangway::cmd
