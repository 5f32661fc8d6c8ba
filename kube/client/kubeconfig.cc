#include "kube/client/kubeconfig.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "api/manifest/manifest.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace gangway::kube {
namespace {

using api::MakeField;
using api::MakeFields;

struct Extension {
  std::string name;
  api::Document extension;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedExtension";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Extension::name>("name", "whose it is"),
                      MakeField<&Extension::extension>("extension", "anything"));
  }
};
struct ClusterFields {
  std::string server, tls_server_name, ca_file, ca_data, proxy_url;
  bool insecure = false, disable_compression = false;
  std::vector<Extension> extensions;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Cluster";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ClusterFields::server>("server", "URL of the API server"),
                      MakeField<&ClusterFields::tls_server_name>("tls-server-name", "the name to verify"),
                      MakeField<&ClusterFields::insecure>("insecure-skip-tls-verify", "believe any certificate"),
                      MakeField<&ClusterFields::ca_file>("certificate-authority", "file"),
                      MakeField<&ClusterFields::ca_data>("certificate-authority-data", "base64 of PEM"),
                      MakeField<&ClusterFields::proxy_url>("proxy-url", "http, https or socks5"),
                      MakeField<&ClusterFields::disable_compression>("disable-compression", "do not ask for gzip"),
                      MakeField<&ClusterFields::extensions>("extensions", "what programs keep here"));
  }
};
struct EnvFields {
  std::string name, value;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "ExecEnvVar";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&EnvFields::name>("name", "of the variable"),
                      MakeField<&EnvFields::value>("value", "its text"));
  }
};
struct ExecFields {
  std::string api_version, command, install_hint, interactive_mode;
  std::vector<std::string> args;
  std::vector<EnvFields> env;
  bool provide_cluster_info = false;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "ExecConfig";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ExecFields::api_version>("apiVersion", "client.authentication.k8s.io/v1 or v1beta1"),
                      MakeField<&ExecFields::command>("command", "the program"),
                      MakeField<&ExecFields::args>("args", "its arguments"),
                      MakeField<&ExecFields::env>("env", "beside our own"),
                      MakeField<&ExecFields::install_hint>("installHint", "for who has not got the program"),
                      MakeField<&ExecFields::interactive_mode>("interactiveMode", "Never, IfAvailable or Always"),
                      MakeField<&ExecFields::provide_cluster_info>("provideClusterInfo", "tell it which API server"));
  }
};
struct UserFields {
  std::string certificate_file, certificate_data, key_file, key_data, token, token_file, username, password;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::map<std::string, std::vector<std::string>> as_extra;
  std::optional<ExecFields> exec;
  api::Document auth_provider;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "User";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&UserFields::certificate_file>("client-certificate", "file"),
                      MakeField<&UserFields::certificate_data>("client-certificate-data", "base64 of PEM"),
                      MakeField<&UserFields::key_file>("client-key", "file"),
                      MakeField<&UserFields::key_data>("client-key-data", "base64 of PEM"),
                      MakeField<&UserFields::token>("token", "bearer token"),
                      MakeField<&UserFields::token_file>("tokenFile", "file; read again when it changes"),
                      MakeField<&UserFields::username>("username", "for basic authentication"),
                      MakeField<&UserFields::password>("password", "for basic authentication"),
                      MakeField<&UserFields::exec>("exec", "a program that makes credentials"),
                      MakeField<&UserFields::auth_provider>("auth-provider", "gone from Kubernetes"),
                      MakeField<&UserFields::as>("as", "whom to act as"),
                      MakeField<&UserFields::as_uid>("as-uid", "its uid"),
                      MakeField<&UserFields::as_groups>("as-groups", "its groups"),
                      MakeField<&UserFields::as_extra>("as-user-extra", "what else is known of it"));
  }
};
struct ContextFields {
  std::string cluster, user, ns;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Context";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ContextFields::cluster>("cluster", "a name in clusters"),
                      MakeField<&ContextFields::user>("user", "a name in users"),
                      MakeField<&ContextFields::ns>("namespace", "the default namespace"));
  }
};
struct NamedCluster {
  std::string name, path;  // path: the file it stands in
  ClusterFields cluster;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedCluster";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NamedCluster::name>("name", "for contexts"),
                      MakeField<&NamedCluster::cluster>("cluster", ""));
  }
};
struct NamedUser {
  std::string name, path;
  UserFields user;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedUser";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NamedUser::name>("name", "for contexts"), MakeField<&NamedUser::user>("user", ""));
  }
};
struct NamedContext {
  std::string name, path;
  ContextFields context;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedContext";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NamedContext::name>("name", "for people"),
                      MakeField<&NamedContext::context>("context", ""));
  }
};
struct KubeconfigFields {
  std::string kind, current_context;
  std::vector<NamedCluster> clusters;
  std::vector<NamedUser> users;
  std::vector<NamedContext> contexts;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Config";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&KubeconfigFields::kind>("kind", "Config"),
                      MakeField<&KubeconfigFields::current_context>("current-context", "a name in contexts"),
                      MakeField<&KubeconfigFields::clusters>("clusters", ""),
                      MakeField<&KubeconfigFields::users>("users", ""),
                      MakeField<&KubeconfigFields::contexts>("contexts", ""));
  }
};

// A file name in a kubeconfig is relative to its folder.
std::string Beside(const std::string& path, const std::string& file) {
  const std::size_t slash = path.rfind('/');
  if (absl::StartsWith(file, "/") || slash == std::string::npos) return file;
  return absl::StrCat(path.substr(0, slash + 1), file);
}

// Reads a kubeconfig's fields into a Connection; every error begins with the name of the file (or files) it is about.
class Reader {
 public:
  Reader(const std::string& path, const KubeconfigFields& config) : path_(path), config_(config) {}

  absl::StatusOr<Connection> Read(absl::string_view wanted_context) const {
    const std::string name = wanted_context.empty() ? config_.current_context : std::string(wanted_context);
    if (name.empty())
      return Wrong(absl::StrCat("current-context is not set; set it or name one of: ", Names(config_.contexts)));
    GW_ASSIGN_OR_RETURN(const NamedContext* const context, Find(config_.contexts, name, "contexts", "context"));
    const std::string of = absl::StrCat("contexts[", name, "]");
    if (context->context.cluster.empty()) return Wrong(absl::StrCat(of, ".context.cluster is not set"));
    GW_ASSIGN_OR_RETURN(const NamedCluster* const cluster, Find(config_.clusters, context->context.cluster, "clusters",
                                                                absl::StrCat(of, ".context.cluster")));
    Connection out;
    out.context = name;
    if (!context->context.ns.empty()) out.default_namespace = context->context.ns;
    GW_RETURN_IF_ERROR(ReadCluster(*cluster, out));
    if (!context->context.user.empty()) {
      GW_ASSIGN_OR_RETURN(const NamedUser* const user,
                          Find(config_.users, context->context.user, "users", absl::StrCat(of, ".context.user")));
      GW_RETURN_IF_ERROR(ReadUser(*user, *cluster, out));
    }
    return out;
  }

 private:
  absl::Status Wrong(absl::string_view what) const { return Wrong(path_, what); }
  static absl::Status Wrong(const std::string& path, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  }

  template <class T>
  static std::string Names(const std::vector<T>& entries) {
    std::vector<std::string> names;
    for (const T& entry : entries) names.push_back(entry.name);
    return names.empty() ? "(there are none)" : absl::StrJoin(names, ", ");
  }
  template <class T>
  absl::StatusOr<const T*> Find(const std::vector<T>& entries, const std::string& name, absl::string_view list,
                                absl::string_view who) const {
    for (const T& entry : entries) {  // as kubectl: the first of a name counts
      if (entry.name == name) return &entry;
    }
    return Wrong(absl::StrCat(who, " \"", name, "\" is not in ", list, "; there are: ", Names(entries)));
  }

  absl::Status ReadCluster(const NamedCluster& entry, Connection& out) const {
    const ClusterFields& cluster = entry.cluster;
    const std::string at = absl::StrCat("clusters[", entry.name, "].cluster");
    if (cluster.server.empty())
      return Wrong(entry.path, absl::StrCat(at, ".server is not set; write it like https://10.0.0.1:6443"));
    out.server = cluster.server;
    out.tls_server_name = cluster.tls_server_name;
    out.insecure_skip_tls_verify = cluster.insecure;
    out.proxy_url = cluster.proxy_url;
    out.disable_compression = cluster.disable_compression;
    GW_ASSIGN_OR_RETURN(out.ca, ReadSecret(entry.path, at, "certificate-authority", cluster.ca_data, cluster.ca_file));
    if (out.insecure_skip_tls_verify && out.ca.set()) {
      return Wrong(
          entry.path,
          absl::StrCat(at, ".insecure-skip-tls-verify: a certificate authority is given as well; remove one of them"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadUser(const NamedUser& entry, const NamedCluster& cluster, Connection& out) const {
    const UserFields& user = entry.user;
    const std::string at = absl::StrCat("users[", entry.name, "].user");
    if (!user.auth_provider.empty()) {
      return Wrong(entry.path,
                   absl::StrCat(at, ".auth-provider: is not supported; put a token or a client certificate there"));
    }
    GW_ASSIGN_OR_RETURN(out.client_certificate,
                        ReadSecret(entry.path, at, "client-certificate", user.certificate_data, user.certificate_file));
    GW_ASSIGN_OR_RETURN(out.client_key, ReadSecret(entry.path, at, "client-key", user.key_data, user.key_file));
    if (out.client_certificate.set() != out.client_key.set()) {
      return Wrong(entry.path, absl::StrCat(at, out.client_key.set() ? ".client-certificate" : ".client-key",
                                            " is not set; a certificate and its key go together"));
    }
    // As kubectl: a token file is newer than the token beside it.
    if (!user.token_file.empty()) {
      out.token.file = Beside(entry.path, user.token_file);
    } else {
      out.token.data = user.token;
    }
    out.username = user.username;
    out.password = user.password;
    out.impersonate = {user.as, user.as_uid, user.as_groups, user.as_extra};
    if (user.as.empty() && !(out.impersonate == Impersonation())) {
      return Wrong(entry.path, absl::StrCat(at, ".as is not set; groups, a uid or extra fields need a user to act as"));
    }
    if (user.exec.has_value())
      GW_RETURN_IF_ERROR(ReadProgram(entry.path, absl::StrCat(at, ".exec"), *user.exec, cluster.cluster, out));
    return absl::OkStatus();
  }

  static absl::Status ReadProgram(const std::string& path, const std::string& at, const ExecFields& exec,
                                  const ClusterFields& cluster, Connection& out) {
    const bool v1 = exec.api_version == "client.authentication.k8s.io/v1";
    if (!v1 && exec.api_version != "client.authentication.k8s.io/v1beta1") {
      return Wrong(path, absl::StrCat(at, ".apiVersion: \"", exec.api_version,
                                      "\" must be client.authentication.k8s.io/v1 or .../v1beta1"));
    }
    if (exec.command.empty()) return Wrong(path, absl::StrCat(at, ".command is not set"));
    const std::string& mode = exec.interactive_mode;
    if (mode == "Always") {
      return Wrong(
          path,
          absl::StrCat(at, ".interactiveMode: Always needs somebody at a terminal; programs are run without one here"));
    }
    if (mode.empty() ? v1 : mode != "Never" && mode != "IfAvailable") {
      return Wrong(path, absl::StrCat(at, ".interactiveMode: \"", mode, "\" must be Never, IfAvailable or Always"));
    }
    CredentialProgram program;
    program.api_version = exec.api_version;
    program.command = absl::StrContains(exec.command, '/') ? Beside(path, exec.command) : exec.command;
    program.args = exec.args;
    for (const EnvFields& variable : exec.env) {
      if (variable.name.empty() || absl::StrContains(variable.name, '=')) {
        return Wrong(path, absl::StrCat(at, ".env: \"", variable.name, "\" is no name of a variable"));
      }
      program.env.emplace_back(variable.name, variable.value);
    }
    program.install_hint = exec.install_hint;
    program.provide_cluster_info = exec.provide_cluster_info;
    for (const Extension& extension : cluster.extensions) {
      if (extension.name == "client.authentication.k8s.io/exec") program.cluster_config = extension.extension.json;
    }
    out.program = std::move(program);
    return absl::OkStatus();
  }

  static absl::StatusOr<Secret> ReadSecret(const std::string& path, absl::string_view at, absl::string_view field,
                                           const std::string& data, const std::string& file) {
    Secret secret;
    if (!data.empty()) {
      if (!absl::Base64Unescape(data, &secret.data) || secret.data.empty()) {
        return Wrong(path, absl::StrCat(at, ".", field, "-data: is not base64; to name a file use ", field));
      }
    } else if (!file.empty()) {
      secret.file = Beside(path, file);
    }
    return secret;
  }

  const std::string& path_;
  const KubeconfigFields& config_;
};

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<KubeconfigFields> ParseFields(absl::string_view text, const std::string& path) {
  api::ManifestLimits limits;
  limits.max_bytes = std::size_t{8} << 20;
  limits.max_document_bytes = limits.max_bytes;
  limits.quotes = false;
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadDocuments(text, path, limits));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is no kubeconfig: one YAML document was expected, there are ", documents.size()));
  }
  absl::StatusOr<KubeconfigFields> config = api::Decode<KubeconfigFields>(documents.front().json);
  if (!config.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", config.status().message()));
  }
  if (config->kind != "Config" && !config->kind.empty()) {
    // Where a quote is not closed, the rest of the file, with its secrets, is a part of it.
    const bool is_word = std::all_of(config->kind.begin(), config->kind.end(), absl::ascii_isalnum);
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no kubeconfig: its kind is ",
                                                   is_word ? absl::StrCat(config->kind, ", ") : "", "not Config"));
  }
  for (NamedCluster& entry : config->clusters) entry.path = path;
  for (NamedUser& entry : config->users) entry.path = path;
  for (NamedContext& entry : config->contexts) entry.path = path;
  return config;
}

// As kubectl: what an earlier file says of a name stands, whole.
void Merge(KubeconfigFields from, KubeconfigFields& into) {
  if (into.current_context.empty()) into.current_context = std::move(from.current_context);
  const auto append = [](auto& entries, auto& to) {
    std::move(entries.begin(), entries.end(), std::back_inserter(to));
  };
  append(from.clusters, into.clusters);  // of a name the first one counts: see Find
  append(from.users, into.users);
  append(from.contexts, into.contexts);
}

constexpr absl::string_view kHowToFind =
    "name a kubeconfig with --kubeconfig or $KUBECONFIG; `gangway sandbox` writes one";

}  // namespace

absl::StatusOr<Connection> ParseKubeconfig(absl::string_view text, const std::string& path, absl::string_view context) {
  GW_ASSIGN_OR_RETURN(const KubeconfigFields config, ParseFields(text, path));
  return Reader(path, config).Read(context);
}

absl::StatusOr<Connection> LoadKubeconfig(const std::string& path, absl::string_view context) {
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return absl::Status(text.status().code(), absl::StrCat(text.status().message(), "; ", kHowToFind));
  return ParseKubeconfig(*text, path, context);
}

absl::StatusOr<Connection> LoadKubeconfigs(absl::string_view paths, absl::string_view context) {
  KubeconfigFields merged;
  bool any = false;
  for (const absl::string_view path : absl::StrSplit(paths, ':', absl::SkipEmpty())) {
    const std::string name(path);
    std::error_code unknown;
    if (!std::filesystem::exists(name, unknown)) continue;
    GW_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(name));
    any = true;
    if (absl::StripAsciiWhitespace(text).empty()) continue;
    GW_ASSIGN_OR_RETURN(KubeconfigFields fields, ParseFields(text, name));
    Merge(std::move(fields), merged);
  }
  if (!any) return absl::NotFoundError(absl::StrCat(paths, ": cannot be read; ", kHowToFind));
  return Reader(std::string(paths), merged).Read(context);
}

InClusterSource InClusterSourceFromEnvironment() {
  InClusterSource source;
  source.host = Environment("KUBERNETES_SERVICE_HOST");
  source.port = Environment("KUBERNETES_SERVICE_PORT");
  return source;
}

absl::StatusOr<Connection> InClusterConnection(const InClusterSource& source) {
  if (source.host.empty() || source.port.empty()) {
    return absl::NotFoundError("this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  Connection out;
  const bool v6 = absl::StrContains(source.host, ':');
  out.server = absl::StrCat("https://", v6 ? "[" : "", source.host, v6 ? "]" : "", ":", source.port);
  out.token.file = absl::StrCat(source.folder, "/token");
  out.ca.file = absl::StrCat(source.folder, "/ca.crt");
  out.context = "in-cluster";
  for (const std::string& file : {out.token.file, out.ca.file}) {
    if (!ReadTextFile(file).ok()) {
      return absl::NotFoundError(
          absl::StrCat(file, ": cannot be read; does the pod mount its service account's token?"));
    }
  }
  if (absl::StatusOr<std::string> ns = ReadTextFile(absl::StrCat(source.folder, "/namespace"));
      ns.ok() && !ns->empty()) {
    out.default_namespace = std::string(absl::StripAsciiWhitespace(*ns));
  }
  return out;
}

absl::StatusOr<Connection> FindConnection(const std::string& path, absl::string_view context) {
  if (!path.empty()) return LoadKubeconfig(path, context);
  if (const std::string named = Environment("KUBECONFIG"); !named.empty()) return LoadKubeconfigs(named, context);
  const InClusterSource pod = InClusterSourceFromEnvironment();
  if (!pod.host.empty() && context.empty()) return InClusterConnection(pod);
  const std::string home = Environment("HOME");
  if (home.empty()) return absl::NotFoundError(absl::StrCat("no API server is configured; ", kHowToFind));
  return LoadKubeconfig(absl::StrCat(home, "/.kube/config"), context);
}

}  // namespace gangway::kube
