// gangway-extender: what `gangway extender` runs. The only program that links gRPC.
#include <CLI/CLI.hpp>

#include <optional>

#include "cmd/gangway/extender_command.h"
#include "cmd/terminal/command_line.h"
#include "cmd/terminal/version.h"

namespace {

void AddFlags(CLI::App& extender, gangway::cmd::ExtenderFlags& flags) {
  extender.footer(
      "  gangway extender --listen 127.0.0.1:0              any free port; it is printed\n\nSee docs/extender.md.");
  extender.add_option("--listen", flags.listen, "HOST:PORT; port 0: any free one")->capture_default_str();
  extender.add_option("--tls-cert", flags.tls_cert,
                      "file with the server's certificate chain (PEM); read again when it changes");
  extender.add_option("--tls-key", flags.tls_key, "file with its key");
  extender.add_option("--client-ca", flags.client_ca,
                      "file with the authorities whose clients are served; no others are");
  extender.add_flag("--insecure", flags.insecure,
                    "serve everybody who reaches an address other than loopback, without TLS");
  extender.add_option("--max-message-bytes", flags.max_message_bytes, "of a request")
      ->check(CLI::Range(1024, 1 << 30))
      ->capture_default_str();
  extender.add_option("--max-calls", flags.max_calls, "running and waiting; beyond it calls are refused at once")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  extender.add_option("--threads", flags.threads, "that carry out calls")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  extender.add_option("--default-deadline", flags.default_deadline, "of calls that bring none")->capture_default_str();
  extender.add_option("--drain-timeout", flags.drain_timeout, "for calls under way, after SIGTERM")
      ->capture_default_str();
  extender.add_option("--metrics-addr", flags.metrics_addr,
                      "HOST:PORT of /metrics (Prometheus) and /healthz; default: none");
  extender
      .add_option(
          "--scheduler-conf", flags.scheduler_conf,
          "how gangs are placed: file as Volcano's volcano-scheduler.conf; read again when it changes; default: "
          "none")
      ->envname("GANGWAY_SCHEDULER_CONF");
  extender.add_option("--log-level", flags.log_level, "debug, info, warning, error or off")->capture_default_str();
  extender.add_option("--log-format", flags.log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Placement and job policies as a gRPC service (gangway.v1).", "gangway extender"};
  app.set_version_flag("--version", gangway::cmd::VersionLine());
  gangway::cmd::ExtenderFlags flags;
  AddFlags(app, flags);
  if (const std::optional<int> code = gangway::cmd::ReadCommandLine(app, argc, argv)) return *code;
  return gangway::cmd::RunExtender(flags);
}
