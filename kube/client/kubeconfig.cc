#include "kube/client/kubeconfig.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "api/manifest/manifest.h"
#include "base/status_macros.h"

namespace gangway::kube {
namespace {

using api::MakeField;
using api::MakeFields;

struct ClusterFields {
  std::string server, tls_server_name, ca_file, ca_data, proxy_url;
  bool insecure = false;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Cluster";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ClusterFields::server>("server", "URL of the API server"),
                      MakeField<&ClusterFields::tls_server_name>("tls-server-name", "the name to verify"),
                      MakeField<&ClusterFields::insecure>("insecure-skip-tls-verify", "believe any certificate"),
                      MakeField<&ClusterFields::ca_file>("certificate-authority", "file"),
                      MakeField<&ClusterFields::ca_data>("certificate-authority-data", "base64 of PEM"),
                      MakeField<&ClusterFields::proxy_url>("proxy-url", "http, https or socks5"));
  }
};
struct UserFields {
  std::string certificate_file, certificate_data, key_file, key_data, token, token_file, username, password;
  api::Document exec, auth_provider, impersonate;
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
                      MakeField<&UserFields::impersonate>("as", "whom to act as"));
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
  std::string name;
  ClusterFields cluster;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedCluster";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NamedCluster::name>("name", "for contexts"), MakeField<&NamedCluster::cluster>("cluster", ""));
  }
};
struct NamedUser {
  std::string name;
  UserFields user;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedUser";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NamedUser::name>("name", "for contexts"), MakeField<&NamedUser::user>("user", ""));
  }
};
struct NamedContext {
  std::string name;
  ContextFields context;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "NamedContext";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NamedContext::name>("name", "for people"), MakeField<&NamedContext::context>("context", ""));
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
                      MakeField<&KubeconfigFields::clusters>("clusters", ""), MakeField<&KubeconfigFields::users>("users", ""),
                      MakeField<&KubeconfigFields::contexts>("contexts", ""));
  }
};

// Reads one file's fields into a Connection; every error begins with the file's name.
class Reader {
 public:
  Reader(const std::string& path, const KubeconfigFields& config) : path_(path), config_(config) {}

  absl::StatusOr<Connection> Read(absl::string_view wanted_context) const {
    const std::string name = wanted_context.empty() ? config_.current_context : std::string(wanted_context);
    if (name.empty()) return Wrong(absl::StrCat("current-context is not set; set it or name one of: ", Names(config_.contexts)));
    GW_ASSIGN_OR_RETURN(const NamedContext* const context, Find(config_.contexts, name, "contexts", "context"));
    const std::string of = absl::StrCat("contexts[", name, "]");
    if (context->context.cluster.empty()) return Wrong(absl::StrCat(of, ".context.cluster is not set"));
    GW_ASSIGN_OR_RETURN(const NamedCluster* const cluster,
                        Find(config_.clusters, context->context.cluster, "clusters", absl::StrCat(of, ".context.cluster")));
    Connection out;
    out.context = name;
    if (!context->context.ns.empty()) out.default_namespace = context->context.ns;
    GW_RETURN_IF_ERROR(ReadCluster(*cluster, out));
    if (!context->context.user.empty()) {
      GW_ASSIGN_OR_RETURN(const NamedUser* const user,
                          Find(config_.users, context->context.user, "users", absl::StrCat(of, ".context.user")));
      GW_RETURN_IF_ERROR(ReadUser(*user, out));
    }
    return out;
  }

 private:
  absl::Status Wrong(absl::string_view what) const { return absl::InvalidArgumentError(absl::StrCat(path_, ": ", what)); }

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
    if (cluster.server.empty()) return Wrong(absl::StrCat(at, ".server is not set; write it like https://10.0.0.1:6443"));
    out.server = cluster.server;
    out.tls_server_name = cluster.tls_server_name;
    out.insecure_skip_tls_verify = cluster.insecure;
    out.proxy_url = cluster.proxy_url;
    GW_ASSIGN_OR_RETURN(out.ca, ReadSecret(at, "certificate-authority", cluster.ca_data, cluster.ca_file));
    if (out.insecure_skip_tls_verify && out.ca.set()) {
      return Wrong(absl::StrCat(at, ".insecure-skip-tls-verify: a certificate authority is given as well; remove one of them"));
    }
    return absl::OkStatus();
  }

  absl::Status ReadUser(const NamedUser& entry, Connection& out) const {
    const UserFields& user = entry.user;
    const std::string at = absl::StrCat("users[", entry.name, "].user");
    GW_RETURN_IF_ERROR(RefuseUnsupported(at, user));
    GW_ASSIGN_OR_RETURN(out.client_certificate, ReadSecret(at, "client-certificate", user.certificate_data, user.certificate_file));
    GW_ASSIGN_OR_RETURN(out.client_key, ReadSecret(at, "client-key", user.key_data, user.key_file));
    if (out.client_certificate.set() != out.client_key.set()) {
      return Wrong(absl::StrCat(at, out.client_key.set() ? ".client-certificate" : ".client-key",
                                " is not set; a certificate and its key go together"));
    }
    // As kubectl: a token file is newer than the token beside it.
    if (!user.token_file.empty()) {
      out.token.file = Beside(user.token_file);
    } else {
      out.token.data = user.token;
    }
    out.username = user.username;
    out.password = user.password;
    return absl::OkStatus();
  }

  absl::Status RefuseUnsupported(absl::string_view at, const UserFields& user) const {
    if (!user.exec.empty()) {
      return Wrong(absl::StrCat(at, ".exec: credential programs are not run; put a token or a client certificate there, "
                                    "for instance that of a service account"));
    }
    if (!user.auth_provider.empty()) {
      return Wrong(absl::StrCat(at, ".auth-provider: is not supported; put a token or a client certificate there"));
    }
    if (!user.impersonate.empty()) {
      return Wrong(absl::StrCat(at, ".as: impersonation is not supported; name a user that may do the work itself"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Secret> ReadSecret(absl::string_view at, absl::string_view field, const std::string& data,
                                    const std::string& file) const {
    Secret secret;
    if (!data.empty()) {
      if (!absl::Base64Unescape(data, &secret.data) || secret.data.empty()) {
        return Wrong(absl::StrCat(at, ".", field, "-data: is not base64; to name a file use ", field));
      }
    } else if (!file.empty()) {
      secret.file = Beside(file);
    }
    return secret;
  }

  // A file name in a kubeconfig is relative to its folder.
  std::string Beside(const std::string& file) const {
    const std::size_t slash = path_.rfind('/');
    if (absl::StartsWith(file, "/") || slash == std::string::npos) return file;
    return absl::StrCat(path_.substr(0, slash + 1), file);
  }

  const std::string& path_;
  const KubeconfigFields& config_;
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.good() && !in.eof()) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return text;
}

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

constexpr absl::string_view kHowToFind = "name a kubeconfig with --kubeconfig or $KUBECONFIG; `gangway sandbox` writes one";

}  // namespace

absl::StatusOr<Connection> ParseKubeconfig(absl::string_view text, const std::string& path, absl::string_view context) {
  api::ManifestLimits limits;
  limits.max_bytes = std::size_t{8} << 20;
  limits.max_document_bytes = limits.max_bytes;
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadDocuments(text, path, limits));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no kubeconfig: one YAML document was expected, there are ", documents.size()));
  }
  absl::StatusOr<KubeconfigFields> config = api::Decode<KubeconfigFields>(documents.front().json);
  if (!config.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", config.status().message()));
  }
  if (config->kind != "Config" && !config->kind.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no kubeconfig: its kind is ", config->kind, ", not Config"));
  }
  return Reader(path, *config).Read(context);
}

absl::StatusOr<Connection> LoadKubeconfig(const std::string& path, absl::string_view context) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return absl::Status(text.status().code(), absl::StrCat(text.status().message(), "; ", kHowToFind));
  return ParseKubeconfig(*text, path, context);
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
    if (!ReadFile(file).ok()) {
      return absl::NotFoundError(absl::StrCat(file, ": cannot be read; does the pod mount its service account's token?"));
    }
  }
  if (absl::StatusOr<std::string> ns = ReadFile(absl::StrCat(source.folder, "/namespace")); ns.ok() && !ns->empty()) {
    out.default_namespace = std::string(absl::StripAsciiWhitespace(*ns));
  }
  return out;
}

absl::StatusOr<Connection> FindConnection(const std::string& path, absl::string_view context) {
  if (!path.empty()) return LoadKubeconfig(path, context);
  if (const std::string named = Environment("KUBECONFIG"); !named.empty()) return LoadKubeconfig(named, context);
  const InClusterSource pod = InClusterSourceFromEnvironment();
  if (!pod.host.empty() && context.empty()) return InClusterConnection(pod);
  const std::string home = Environment("HOME");
  if (home.empty()) return absl::NotFoundError(absl::StrCat("no API server is configured; ", kHowToFind));
  return LoadKubeconfig(absl::StrCat(home, "/.kube/config"), context);
}

}  // namespace gangway::kube
