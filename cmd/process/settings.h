// The settings of `gangway scheduler` and `gangway controller`: one table from which flags, environment variables, keys
// of the configuration file and docs/configuration.md come.
//
// A value is taken from the flag, else from the environment (GANGWAY_ and the flag's name: --log-level is
// GANGWAY_LOG_LEVEL), else from the file, else it is the default. What is wrong is said with where it stands:
// "config.yaml:4: leaderElection.leaseDuration: ...".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/log.h"
#include "translator/convert/options.h"

namespace gangway::cmd {

enum class ProcessKind { kScheduler, kController };
const char* ProcessName(ProcessKind kind);  // "scheduler", "controller"

// An address to listen on; port 0: any that is free.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
  bool set() const { return !host.empty(); }
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

struct Settings {
  std::string kubeconfig, context;
  std::vector<std::string> namespaces;  // sorted; empty: all
  std::string scheduler_name = "volcano";
  std::string scheduler_conf;     // a file; "": none
  std::string controller_conf;    // a file; "": none
  std::vector<std::string> only;  // sorted; empty: all reconcilers
  bool inherit_owner_annotations = true;
  bool leader_elect = false;
  bool shadow = false;
  std::string lease_name, lease_namespace;
  absl::Duration lease_duration = absl::Seconds(15), renew_deadline = absl::Seconds(10),
                 retry_period = absl::Seconds(2);
  ListenAddress metrics_addr, health_addr;
  std::string tls_cert, tls_key;
  ListenAddress webhook_addr;
  std::string webhook_cert, webhook_key;
  std::optional<convert::Target> paddle_target;  // absent: whoever runs Jobs here
  std::string elastic_etcd;                      // "host:port"; "": none
  convert::VolcanoVersion volcano_version;
  std::string cluster_domain = "cluster.local";
  std::string notify_server, notify_path, notify_query;  // of the webhook's URL, apart; "": nobody is told
  std::string notify_token_file, notify_ca_file, notify_cluster;
  std::vector<std::string> notify_events = {"completed", "failed", "restarted", "waiting"};  // sorted
  std::vector<std::string> notify_queues;                                                    // sorted; empty: all
  absl::Duration notify_waiting = absl::Minutes(30);
  double kube_api_qps = 0;
  int kube_api_burst = 100;
  absl::Duration drain_timeout = absl::Seconds(5);
  log::Level log_level = log::Level::kInfo;
  std::string log_format;                    // "text" or "json"; "": text on a terminal, else json
  std::map<std::string, std::string> given;  // by key, as written; what is the default is not among them
};

struct Setting {
  const char* flag;      // "leader-elect-lease-duration", without dashes
  const char* key;       // in the file: "leaderElection.leaseDuration"
  const char* fallback;  // the default, as it would be written
  const char* help;
  bool reloadable;                     // a change of the file takes effect without a restart
  std::optional<ProcessKind> only_of;  // absent: of both
  bool is_switch;                      // the flag alone means true
  // The message says what must stand there; not where.
  absl::Status (*set)(Settings& settings, const std::string& text);
};
// Of `kind`, in the order they are documented.
std::vector<const Setting*> SettingsOf(ProcessKind kind);
// "GANGWAY_LEADER_ELECT_LEASE_DURATION"
std::string EnvironmentName(const Setting& setting);

struct SettingSources {
  std::map<std::string, std::string> flags;  // by Setting::flag; those that were given
  std::string config_file;                   // "" for none
  std::function<std::optional<std::string>(const std::string&)> environment;
};

// InvalidArgument, or NotFound for the file.
absl::StatusOr<Settings> ReadSettings(ProcessKind kind, const SettingSources& sources);

// Whether the reconciler of that name (job, paddlejob, ...) runs.
bool Runs(const Settings& settings, absl::string_view reconciler);
// How PaddleJobs become Jobs. Without a paddle_target: for gangway where its reconciler of Jobs runs too, else for
// volcano.
convert::TranslateOptions TranslateOptionsOf(const Settings& settings);

// Keys of the settings that differ and take effect only with a restart.
std::vector<std::string> NeedRestart(ProcessKind kind, const Settings& before, const Settings& after);

}  // namespace gangway::cmd
