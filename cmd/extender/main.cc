// gangway-extender: what `gangway extender` runs. The only program that links gRPC.
#include <optional>

#include "cmd/extender/extender_command.h"
#include "cmd/terminal/command_line.h"
#include "cmd/terminal/version.h"

namespace {

void AddFlags(gangway::cmd::CommandLine extender, gangway::cmd::ExtenderFlags& flags) {
  extender.Footer(
      "  gangway extender --listen 127.0.0.1:0              any free port; it is printed\n\nSee docs/extender.md.");
  extender.Add("--listen", flags.listen, "HOST:PORT; port 0: any free one").ShowDefault();
  extender.Add("--tls-cert", flags.tls_cert,
               "file with the server's certificate chain (PEM); read again when it changes");
  extender.Add("--tls-key", flags.tls_key, "file with its key");
  extender.Add("--client-ca", flags.client_ca, "file with the authorities whose clients are served; no others are");
  extender.AddSwitch("--insecure", flags.insecure,
                     "serve everybody who reaches an address other than loopback, without TLS");
  extender.Add("--max-message-bytes", flags.max_message_bytes, "of a request").Within(1024, 1 << 30).ShowDefault();
  extender.Add("--max-connections", flags.max_connections, "of gRPC; beyond it new ones are closed at once")
      .Within(1, 1'000'000)
      .ShowDefault();
  extender.Add("--max-calls", flags.max_calls, "running and waiting; beyond it calls are refused at once")
      .Within(1, 10000)
      .ShowDefault();
  extender.Add("--max-streams", flags.max_streams, "of Follow; beyond it new ones are refused at once")
      .Within(1, 1000)
      .ShowDefault();
  extender.Add("--max-stream-bytes", flags.max_stream_bytes, "that the cluster of one stream may take")
      .Within(1 << 20, std::int64_t{1} << 40)
      .ShowDefault();
  extender.Add("--threads", flags.threads, "that carry out calls").Within(1, 256).ShowDefault();
  extender.Add("--default-deadline", flags.default_deadline, "of calls that bring none").ShowDefault();
  extender.Add("--drain-timeout", flags.drain_timeout, "for calls under way, after SIGTERM").ShowDefault();
  extender.Add("--metrics-addr", flags.metrics_addr, "HOST:PORT of /metrics (Prometheus) and /healthz; default: none");
  extender
      .Add("--scheduler-conf", flags.scheduler_conf,
           "how gangs are placed: file as Volcano's volcano-scheduler.conf; read again when it changes; default: "
           "none")
      .FromEnvironment("GANGWAY_SCHEDULER_CONF");
  extender.Add("--http-listen", flags.http.listen,
               "HOST:PORT for Volcano's extender plugin (HTTP/JSON), beside --listen; default: none");
  extender.Add("--mode", flags.http.mode, "what of Volcano's decisions is ours: light, steer or full")
      .OneOf({"light", "steer", "full"})
      .ShowDefault();
  extender
      .Add("--admit", flags.http.admit,
           "which gangs Volcano lets in: whole-gang, whose minimum has room; sums, as its own plugins do")
      .OneOf({"whole-gang", "sums"})
      .ShowDefault();
  extender
      .Add("--http-budget", flags.http.budget,
           "a session, or a verb of mode light, is answered after so long, planned or not")
      .ShowDefault();
  extender.Add("--max-session-bytes", flags.http.max_session_bytes, "of a verb's body")
      .Within(1 << 20, std::int64_t{1} << 32)
      .ShowDefault();
  extender.Add("--kubeconfig", flags.http.kubeconfig, "of the cluster that mode light watches; default: as kubectl")
      .FromEnvironment("KUBECONFIG");
  extender.Add("--context", flags.http.context, "context of the kubeconfig");
  extender.Add("--scheduler-name", flags.http.scheduler_name, "spec.schedulerName of the pods that Volcano places")
      .ShowDefault();
  extender.Add("--log-level", flags.log_level, "debug, info, warning, error or off").ShowDefault();
  extender.Add("--log-format", flags.log_format, "text or json").OneOf({"text", "json"}).ShowDefault();
}

}  // namespace

int main(int argc, char** argv) {
  gangway::cmd::MainCommand program(
      "gangway extender",
      "Placement and job policies as a gRPC service (gangway.v1), and for Volcano's extender plugin.",
      gangway::cmd::VersionLine());
  gangway::cmd::ExtenderFlags flags;
  AddFlags(program, flags);
  if (const std::optional<int> code = program.Read(argc, argv)) return *code;
  return gangway::cmd::RunExtender(flags);
}
