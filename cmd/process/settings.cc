#include "cmd/process/settings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/duration.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/name.h"
#include "assembly/components.h"
#include "base/nearest.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/text_file.h"
#include "kube/runtime/lease.h"
#include "plugin/notify/notice.h"

namespace gangway::cmd {
namespace {

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }
absl::Status MustBe(absl::string_view what, const std::string& text) {
  return Wrong(absl::StrCat("must be ", what, ", not \"", text, "\""));
}

absl::Status SetDuration(absl::Duration& into, const std::string& text) {
  const auto duration = api::ParseGoDuration(text);
  if (!duration.ok() || *duration <= absl::ZeroDuration())
    return MustBe("a positive duration such as 15s or 500ms", text);
  into = *duration;
  return absl::OkStatus();
}

absl::Status SetAddress(ListenAddress& into, const std::string& text) {
  if (text.empty() || text == "0") {
    into = {};
    return absl::OkStatus();
  }
  const std::size_t colon = text.rfind(':');
  int port = -1;
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return MustBe("HOST:PORT, such as 127.0.0.1:8081 or :8081 for every address", text);
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  into = {host.empty() ? "0.0.0.0" : host, static_cast<std::uint16_t>(port)};
  return absl::OkStatus();
}

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> out;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (!part.empty()) out.emplace_back(part);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

absl::Status SetNamespaces(Settings& s, const std::string& text) {
  s.namespaces = SplitList(text);
  for (const std::string& ns : s.namespaces) {
    if (!api::CheckDns1123Label(ns).empty()) return MustBe("names of namespaces, separated by commas", text);
  }
  return absl::OkStatus();
}

absl::Status SetOnly(Settings& s, const std::string& text) {
  s.only = SplitList(text);
  const std::vector<std::string> known = assembly::Reconcilers();
  for (const std::string& name : s.only) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = Nearest(name, known);
    return Wrong(absl::StrCat("there is no reconciler \"", name, "\"",
                              near.empty() ? "" : absl::StrCat("; did you mean ", near, "?"), " They are ",
                              absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

const char* OnlyHelp() {
  static const auto& help = *new std::string(absl::StrCat(
      "which reconcilers run, separated by commas: ", absl::StrJoin(assembly::Reconcilers(), ", "), "; default: all"));
  return help.c_str();
}

absl::Status SetPaddleTarget(Settings& s, const std::string& text) {
  s.paddle_target.reset();
  for (const convert::Target target : {convert::Target::kVolcano, convert::Target::kGangway}) {
    if (View(convert::TargetName(target)) == text) s.paddle_target = target;
  }
  return text.empty() || s.paddle_target.has_value() ? absl::OkStatus() : MustBe("volcano or gangway", text);
}

absl::Status SetVolcanoVersion(Settings& s, const std::string& text) {
  const absl::StatusOr<convert::VolcanoVersion> version = convert::ParseVolcanoVersion(text);
  if (!version.ok()) return MustBe("a release of Volcano such as 1.13", text);
  s.volcano_version = *version;
  return absl::OkStatus();
}

absl::Status SetElasticEtcd(Settings& s, const std::string& text) {
  if (!text.empty() && !convert::IsEtcdAddress(text)) return MustBe("HOST:PORT, such as etcd.infra:2379", text);
  s.elastic_etcd = text;
  return absl::OkStatus();
}

// Apart, since a Connection has no query. The message does not repeat it: it may be its own secret.
absl::Status SetNotifyUrl(Settings& s, const std::string& text) {
  s.notify_server.clear();
  if (text.empty()) return absl::OkStatus();
  const std::size_t host = text.find("://");
  const bool known = absl::StartsWith(text, "https://") || absl::StartsWith(text, "http://");
  if (!known || host + 3 == text.size() || absl::StrContains(text, "#") || absl::StrContains(text, " "))
    return Wrong("must be a URL such as https://hooks.example/jobs");
  const std::size_t end = std::min(text.find_first_of("/?", host + 3), text.size());
  const std::size_t query = std::min(text.find('?', end), text.size());
  s.notify_server = text.substr(0, end);
  s.notify_path = query == end ? "/" : text.substr(end, query - end);
  s.notify_query = query == text.size() ? "" : text.substr(query + 1);
  return absl::OkStatus();
}

absl::Status SetNotifyEvents(Settings& s, const std::string& text) {
  s.notify_events = SplitList(text);
  for (const std::string& event : s.notify_events) {
    if (!notify::ParseEvent(event).has_value())
      return MustBe(absl::StrCat("some of ", absl::StrJoin(notify::EventNames(), ", ")), text);
  }
  return absl::OkStatus();
}

absl::Status SetNotifyQueues(Settings& s, const std::string& text) {
  s.notify_queues = SplitList(text);
  return absl::OkStatus();
}

absl::Status SetClusterDomain(Settings& s, const std::string& text) {
  if (!convert::IsClusterDomain(text)) return MustBe("the domain of a cluster, such as cluster.local", text);
  s.cluster_domain = text;
  return absl::OkStatus();
}

absl::Status SetSwitch(bool& into, const std::string& text) {
  if (text != "true" && text != "false") return MustBe("true or false", text);
  into = text == "true";
  return absl::OkStatus();
}

absl::Status SetQps(Settings& s, const std::string& text) {
  double qps = 0;
  if (!absl::SimpleAtod(text, &qps) || !(qps >= 0) || qps > 1e6) return MustBe("a number, 0 or more", text);
  s.kube_api_qps = qps;
  return absl::OkStatus();
}

absl::Status SetBurst(Settings& s, const std::string& text) {
  int burst = 0;
  if (!absl::SimpleAtoi(text, &burst) || burst < 1) return MustBe("a whole number, 1 or more", text);
  s.kube_api_burst = burst;
  return absl::OkStatus();
}

absl::Status SetName(std::string& into, const std::string& text) {
  if (!text.empty() && !api::CheckDns1123Subdomain(text).empty())
    return MustBe("a name such as gangway-scheduler: lower case letters, digits, - and .", text);
  into = text;
  return absl::OkStatus();
}

absl::Status SetFormat(Settings& s, const std::string& text) {
  if (!text.empty() && text != "text" && text != "json") return MustBe("text or json", text);
  s.log_format = text;
  return absl::OkStatus();
}

template <std::string Settings::* member>
absl::Status SetText(Settings& s, const std::string& text) {
  s.*member = text;
  return absl::OkStatus();
}
template <std::string Settings::* member>
absl::Status SetNameOf(Settings& s, const std::string& text) {
  return SetName(s.*member, text);
}
template <absl::Duration Settings::* member>
absl::Status SetDurationOf(Settings& s, const std::string& text) {
  return SetDuration(s.*member, text);
}
template <ListenAddress Settings::* member>
absl::Status SetAddressOf(Settings& s, const std::string& text) {
  return SetAddress(s.*member, text);
}

constexpr bool kReloadable = true, kFixed = false, kSwitch = true, kValue = false;
constexpr std::optional<ProcessKind> kBoth, kControllerOnly = ProcessKind::kController,
                                            kSchedulerOnly = ProcessKind::kScheduler;

const Setting kSettings[] = {
    {"kubeconfig", "kubeconfig", "",
     "file that says where the API server is and who we are; default: $KUBECONFIG, the pod's own identity, "
     "~/.kube/config",
     kFixed, kBoth, kValue, SetText<&Settings::kubeconfig>},
    {"context", "context", "", "of the kubeconfig; default: its current-context", kFixed, kBoth, kValue,
     SetText<&Settings::context>},
    {"namespaces", "namespaces", "", "only these are watched and written, separated by commas; default: all", kFixed,
     kBoth, kValue, SetNamespaces},
    {"scheduler-name", "schedulerName", "volcano", "spec.schedulerName of the pods that are ours", kFixed, kBoth,
     kValue, SetNameOf<&Settings::scheduler_name>},
    {"scheduler-conf", "schedulerConf", "",
     "file as Volcano's volcano-scheduler.conf; read again when it changes; default: none", kFixed, kSchedulerOnly,
     kValue, SetText<&Settings::scheduler_conf>},
    {"controller-conf", "controllerConf", "",
     "file as Volcano's volcano-controller.conf: which labels of nodes make HyperNodes; read again when it changes; "
     "default: none, HyperNodes are left alone",
     kFixed, kControllerOnly, kValue, SetText<&Settings::controller_conf>},
    {"only", "only", "", OnlyHelp(), kFixed, kControllerOnly, kValue, SetOnly},
    {"inherit-owner-annotations", "inheritOwnerAnnotations", "true",
     "PodGroups of pods that no Job made take annotations from the pods' ReplicaSet, StatefulSet, DaemonSet or Job",
     kFixed, kControllerOnly, kValue,
     [](Settings& s, const std::string& text) { return SetSwitch(s.inherit_owner_annotations, text); }},
    {"shadow", "shadow", "false",
     "decide, write nothing, and compare with what another scheduler of that name does; read it in /debug/dump", kFixed,
     kSchedulerOnly, kSwitch, [](Settings& s, const std::string& text) { return SetSwitch(s.shadow, text); }},
    {"leader-elect", "leaderElection.enabled", "false", "of several replicas one works, the one that holds the lease",
     kFixed, kBoth, kSwitch, [](Settings& s, const std::string& text) { return SetSwitch(s.leader_elect, text); }},
    {"leader-elect-lease-duration", "leaderElection.leaseDuration", "15s",
     "how long the others wait after the last renewal they saw; whole seconds", kFixed, kBoth, kValue,
     SetDurationOf<&Settings::lease_duration>},
    {"leader-elect-renew-deadline", "leaderElection.renewDeadline", "10s",
     "how long the leader writes without a renewal and without an answer to its work", kFixed, kBoth, kValue,
     SetDurationOf<&Settings::renew_deadline>},
    {"leader-elect-retry-period", "leaderElection.retryPeriod", "2s", "between two tries to take or renew the lease",
     kFixed, kBoth, kValue, SetDurationOf<&Settings::retry_period>},
    {"leader-elect-resource-name", "leaderElection.resourceName", "",
     "name of the Lease; default: gangway-scheduler, gangway-controller", kFixed, kBoth, kValue,
     SetNameOf<&Settings::lease_name>},
    {"leader-elect-resource-namespace", "leaderElection.resourceNamespace", "",
     "its namespace; default: the pod's own, outside of a cluster gangway-system", kFixed, kBoth, kValue,
     SetNameOf<&Settings::lease_namespace>},
    {"metrics-addr", "metricsAddr", "", "HOST:PORT that serves /metrics; default: nowhere", kFixed, kBoth, kValue,
     SetAddressOf<&Settings::metrics_addr>},
    {"health-addr", "healthAddr", "",
     "HOST:PORT that serves /healthz, /livez, /readyz and /debug/dump; may be the same; default: nowhere", kFixed,
     kBoth, kValue, SetAddressOf<&Settings::health_addr>},
    {"tls-cert", "tls.cert", "",
     "file with the certificate chain (PEM) of both; read again when it changes; default: plain HTTP", kFixed, kBoth,
     kValue, SetText<&Settings::tls_cert>},
    {"tls-key", "tls.key", "", "file with its key", kFixed, kBoth, kValue, SetText<&Settings::tls_key>},
    {"webhook", "webhook.addr", "",
     "HOST:PORT where the API server may ask about Jobs, CronJobs, PodGroups and Queues before it writes them; "
     "default: nowhere",
     kFixed, kControllerOnly, kValue, SetAddressOf<&Settings::webhook_addr>},
    {"webhook-tls-cert", "webhook.tls.cert", "", "file with its certificate chain (PEM); read again when it changes",
     kFixed, kControllerOnly, kValue, SetText<&Settings::webhook_cert>},
    {"webhook-tls-key", "webhook.tls.key", "", "file with its key", kFixed, kControllerOnly, kValue,
     SetText<&Settings::webhook_key>},
    {"paddle-target", "paddle.target", "",
     "for whose controller PaddleJobs become Jobs: volcano (no delayed actions) or gangway; default: gangway where its "
     "reconciler job runs too",
     kFixed, kControllerOnly, kValue, SetPaddleTarget},
    {"elastic-etcd", "paddle.elasticEtcd", "",
     "HOST:PORT of the etcd in which elastic PaddleJobs that name none meet; default: none, such jobs are refused",
     kFixed, kControllerOnly, kValue, SetElasticEtcd},
    {"volcano-version", "paddle.volcanoVersion", "1.13", "the release of Volcano that runs PaddleJobs, where it does",
     kFixed, kControllerOnly, kValue, SetVolcanoVersion},
    {"cluster-domain", "paddle.clusterDomain", "cluster.local", "of the absolute names of PaddleJobs' pods", kFixed,
     kControllerOnly, kValue, SetClusterDomain},
    {"notify-url", "notify.url", "",
     "URL of a webhook that is told when jobs complete, fail, restart or wait for long; default: nobody is told",
     kFixed, kControllerOnly, kValue, SetNotifyUrl},
    {"notify-token-file", "notify.tokenFile", "",
     "file with a secret that the webhook gets in the header Authorization, after Bearer; read again when it changes",
     kFixed, kControllerOnly, kValue, SetText<&Settings::notify_token_file>},
    {"notify-ca-file", "notify.caFile", "", "who vouches for the webhook (PEM); default: the system's authorities",
     kFixed, kControllerOnly, kValue, SetText<&Settings::notify_ca_file>},
    {"notify-events", "notify.events", "completed,failed,restarted,waiting",
     "what is told, separated by commas; there is also aborted", kFixed, kControllerOnly, kValue, SetNotifyEvents},
    {"notify-queues", "notify.queues", "", "of which queues, separated by commas; default: all", kFixed,
     kControllerOnly, kValue, SetNotifyQueues},
    {"notify-waiting", "notify.waiting", "30m", "how long a job waits until that is told", kFixed, kControllerOnly,
     kValue, SetDurationOf<&Settings::notify_waiting>},
    {"notify-cluster", "notify.cluster", "", "name of this cluster, which each notification says; default: none",
     kFixed, kControllerOnly, kValue, SetText<&Settings::notify_cluster>},
    {"kube-api-qps", "kubeAPI.qps", "0", "most writes a second, events included; 0: as many as the API server takes",
     kReloadable, kBoth, kValue, SetQps},
    {"kube-api-burst", "kubeAPI.burst", "100", "how many of them at once", kReloadable, kBoth, kValue, SetBurst},
    {"drain-timeout", "drainTimeout", "5s", "after SIGTERM, for the writes of what was decided", kFixed, kBoth, kValue,
     SetDurationOf<&Settings::drain_timeout>},
    {"log-level", "log.level", "info", "debug, info, warning, error or off", kReloadable, kBoth, kValue,
     [](Settings& s, const std::string& text) {
       return log::ParseLevel(text, s.log_level) ? absl::OkStatus()
                                                 : MustBe("debug, info, warning, error or off", text);
     }},
    {"log-format", "log.format", "", "text or json; default: text on a terminal, else json", kReloadable, kBoth, kValue,
     SetFormat},
};

// A value of the file and where it stands.
struct FileValue {
  std::string text, where;  // "config.yaml:4: leaderElection.leaseDuration"
};

// Takes a configuration file apart into the values of the table's keys.
class FileReader {
 public:
  FileReader(ProcessKind kind, const api::ManifestDocument& document) : document_(document) {
    for (const Setting* setting : SettingsOf(kind)) keys_.push_back(setting->key);
  }

  absl::StatusOr<std::map<std::string, FileValue>> Read() {
    GW_ASSIGN_OR_RETURN(const boost::json::value root, api::ParseJson(document_.json));
    if (root.is_null()) return std::move(values_);
    if (!root.is_object()) return Wrong(absl::StrCat(Where(""), "must be a map of settings"));
    GW_RETURN_IF_ERROR(Walk(root.as_object(), ""));
    return std::move(values_);
  }

 private:
  std::string Where(const std::string& path) const {
    return absl::StrCat(document_.source, ":", document_.Find(path).line, ": ", path, path.empty() ? "" : ": ");
  }

  absl::Status Walk(const boost::json::object& map, const std::string& prefix) {
    for (const auto& member : map) {
      const std::string path =
          absl::StrCat(prefix, prefix.empty() ? "" : ".", absl::string_view(member.key().data(), member.key().size()));
      const bool known = std::find(keys_.begin(), keys_.end(), path) != keys_.end();
      const bool group = std::any_of(keys_.begin(), keys_.end(),
                                     [&](const std::string& key) { return key.rfind(path + ".", 0) == 0; });
      if (member.value().is_null() && (known || group)) continue;
      if (known) {
        GW_RETURN_IF_ERROR(Take(path, member.value()));
      } else if (group && member.value().is_object()) {
        GW_RETURN_IF_ERROR(Walk(member.value().as_object(), path));
      } else if (group) {
        return Wrong(absl::StrCat(Where(path), "must be a map"));
      } else {
        const std::string near = Nearest(path, keys_);
        return Wrong(absl::StrCat(Where(path), "there is no such setting",
                                  near.empty() ? "" : absl::StrCat("; did you mean ", near, "?")));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Take(const std::string& path, const boost::json::value& value) {
    std::string text;
    if (value.is_array()) {
      std::vector<std::string> items;
      for (const boost::json::value& item : value.as_array()) {
        if (!item.is_string()) return Wrong(absl::StrCat(Where(path), "must be a list of words"));
        items.emplace_back(item.as_string());
      }
      text = absl::StrJoin(items, ",");
    } else if (value.is_object()) {
      return Wrong(absl::StrCat(Where(path), "must be a value, not a map"));
    } else {
      text = value.is_string() ? std::string(value.as_string()) : api::ToJson(value);
    }
    std::string where = Where(path);
    where.resize(where.size() - 2);
    values_[path] = {std::move(text), std::move(where)};
    return absl::OkStatus();
  }

  const api::ManifestDocument& document_;
  std::vector<std::string> keys_;
  std::map<std::string, FileValue> values_;
};

absl::StatusOr<std::map<std::string, FileValue>> ReadConfigFile(ProcessKind kind, const std::string& path) {
  if (path.empty()) return std::map<std::string, FileValue>();
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return absl::Status(text.status().code(), absl::StrCat("--config ", text.status().message()));
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadDocuments(*text, path));
  if (documents.empty()) return std::map<std::string, FileValue>();
  if (documents.size() > 1)
    return Wrong(absl::StrCat(path, ": one document is expected, there are ", documents.size()));
  return FileReader(kind, documents[0]).Read();
}

// Where each value came from, for messages: "--log-level", "GANGWAY_LOG_LEVEL", "config.yaml:3: log.level".
struct Chosen {
  std::map<std::string, std::string> text, where;  // by key; only those that are not the default
};

absl::StatusOr<Chosen> Choose(ProcessKind kind, const SettingSources& sources) {
  GW_ASSIGN_OR_RETURN(const auto file, ReadConfigFile(kind, sources.config_file));
  Chosen chosen;
  for (const Setting* setting : SettingsOf(kind)) {
    if (const auto flag = sources.flags.find(setting->flag); flag != sources.flags.end()) {
      chosen.text[setting->key] = flag->second;
      chosen.where[setting->key] = absl::StrCat("--", setting->flag);
      continue;
    }
    const std::string name = EnvironmentName(*setting);
    if (auto value = sources.environment ? sources.environment(name) : std::nullopt; value.has_value()) {
      chosen.text[setting->key] = *std::move(value);
      chosen.where[setting->key] = name;
    } else if (const auto found = file.find(setting->key); found != file.end()) {
      chosen.text[setting->key] = found->second.text;
      chosen.where[setting->key] = found->second.where;
    }
  }
  return chosen;
}

// What only shows when several are looked at together.
absl::Status CheckTogether(const Settings& settings, const Chosen& chosen) {
  const auto where = [&](const std::string& key) {
    const auto found = chosen.where.find(key);
    return found == chosen.where.end() ? key : found->second;
  };
  kube::LeaseOptions lease;
  lease.lease_duration = settings.lease_duration;
  lease.renew_deadline = settings.renew_deadline;
  lease.retry_period = settings.retry_period;
  if (const absl::Status status = kube::CheckLeaseOptions(lease); !status.ok()) {
    const std::vector<std::string> parts = absl::StrSplit(status.message(), absl::MaxSplits(": ", 1));
    return Wrong(absl::StrCat(where(absl::StrCat("leaderElection.", parts[0])), ": ", parts[1]));
  }
  if (settings.shadow && settings.leader_elect)
    return Wrong(
        absl::StrCat(where("shadow"), ": a shadow writes nothing, so it holds no lease; leave out --leader-elect"));
  if (settings.tls_cert.empty() != settings.tls_key.empty()) {
    return Wrong(absl::StrCat(where(settings.tls_cert.empty() ? "tls.key" : "tls.cert"),
                              ": TLS needs a certificate and its key"));
  }
  if (settings.webhook_addr.set() && settings.webhook_cert.empty()) {
    return Wrong(absl::StrCat(where("webhook.tls.cert"),
                              ": an API server calls webhooks in TLS only: give a certificate and its key"));
  }
  if (settings.notify_server.empty() && !settings.notify_token_file.empty())
    return Wrong(absl::StrCat(where("notify.tokenFile"), ": nobody gets it; give --notify-url"));
  if (absl::StartsWith(settings.notify_server, "http://") && !settings.notify_token_file.empty()) {
    return Wrong(absl::StrCat(where("notify.url"),
                              ": the secret of --notify-token-file would not be encrypted on its way; use https"));
  }
  if (settings.webhook_cert.empty() != settings.webhook_key.empty()) {
    return Wrong(absl::StrCat(where(settings.webhook_cert.empty() ? "webhook.tls.key" : "webhook.tls.cert"),
                              ": TLS needs a certificate and its key"));
  }
  return absl::OkStatus();
}

}  // namespace

const char* ProcessName(ProcessKind kind) { return kind == ProcessKind::kScheduler ? "scheduler" : "controller"; }

std::vector<const Setting*> SettingsOf(ProcessKind kind) {
  std::vector<const Setting*> out;
  for (const Setting& setting : kSettings) {
    if (setting.only_of.value_or(kind) == kind) out.push_back(&setting);
  }
  return out;
}

std::string EnvironmentName(const Setting& setting) {
  return absl::StrCat("GANGWAY_", absl::StrReplaceAll(absl::AsciiStrToUpper(setting.flag), {{"-", "_"}}));
}

absl::StatusOr<Settings> ReadSettings(ProcessKind kind, const SettingSources& sources) {
  GW_ASSIGN_OR_RETURN(const Chosen chosen, Choose(kind, sources));
  Settings settings;
  settings.lease_name = absl::StrCat("gangway-", ProcessName(kind));
  for (const Setting* setting : SettingsOf(kind)) {
    const auto text = chosen.text.find(setting->key);
    if (text == chosen.text.end()) continue;
    if (const absl::Status status = setting->set(settings, text->second); !status.ok()) {
      return Wrong(absl::StrCat(chosen.where.at(setting->key), ": ", status.message()));
    }
  }
  GW_RETURN_IF_ERROR(CheckTogether(settings, chosen));
  settings.given = chosen.text;
  return settings;
}

bool Runs(const Settings& settings, absl::string_view reconciler) {
  return settings.only.empty() ||
         std::find(settings.only.begin(), settings.only.end(), reconciler) != settings.only.end();
}

convert::TranslateOptions TranslateOptionsOf(const Settings& settings) {
  convert::TranslateOptions options;
  options.target =
      settings.paddle_target.value_or(Runs(settings, "job") ? convert::Target::kGangway : convert::Target::kVolcano);
  options.volcano = settings.volcano_version;
  options.cluster_domain = settings.cluster_domain;
  options.elastic_etcd = settings.elastic_etcd;
  return options;
}

std::vector<std::string> NeedRestart(ProcessKind kind, const Settings& before, const Settings& after) {
  const auto given = [](const Settings& settings, const char* key) {
    const auto found = settings.given.find(key);
    return found == settings.given.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  std::vector<std::string> keys;
  for (const Setting* setting : SettingsOf(kind)) {
    if (!setting->reloadable && given(before, setting->key) != given(after, setting->key))
      keys.emplace_back(setting->key);
  }
  return keys;
}

}  // namespace gangway::cmd
