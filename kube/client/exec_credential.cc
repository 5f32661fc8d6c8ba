#include "kube/client/exec_credential.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/meta.h"
#include "base/strings.h"

namespace gangway::kube {
namespace {

using api::MakeField;
using api::MakeFields;

struct StatusFields {
  std::string token, certificate, key;
  api::Time expires;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "ExecCredentialStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&StatusFields::token>("token", "bearer token"),
                      MakeField<&StatusFields::certificate>("clientCertificateData", "PEM"),
                      MakeField<&StatusFields::key>("clientKeyData", "PEM"),
                      MakeField<&StatusFields::expires>("expirationTimestamp", "when to ask again"));
  }
};
struct CredentialFields {
  std::string api_version, kind;
  std::optional<StatusFields> status;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "ExecCredential";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&CredentialFields::api_version>("apiVersion", "client.authentication.k8s.io/v1"),
                      MakeField<&CredentialFields::kind>("kind", "ExecCredential"),
                      MakeField<&CredentialFields::status>("status", "the credentials"));
  }
};

}  // namespace

std::string ExecInfo(const Connection& connection, const CredentialProgram& program, absl::string_view ca_pem) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("kind", "ExecCredential").Field("apiVersion", program.api_version).Key("spec").BeginObject();
  if (program.provide_cluster_info) {
    json.Key("cluster").BeginObject().Field("server", connection.server);
    if (!connection.tls_server_name.empty()) json.Field("tls-server-name", connection.tls_server_name);
    if (connection.insecure_skip_tls_verify) json.Field("insecure-skip-tls-verify", true);
    if (!ca_pem.empty()) json.Field("certificate-authority-data", absl::Base64Escape(ca_pem));
    if (!connection.proxy_url.empty()) json.Field("proxy-url", connection.proxy_url);
    if (!program.cluster_config.empty()) json.RawField("config", program.cluster_config);
    json.EndObject();
  }
  json.Field("interactive", false).EndObject().EndObject();
  return out;
}

absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view json, absl::string_view api_version) {
  const auto wrong = [](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("its answer ", what));
  };
  const absl::StatusOr<CredentialFields> fields = api::Decode<CredentialFields>(json);
  if (!fields.ok()) return wrong("is no ExecCredential in JSON");
  if (fields->kind != "ExecCredential") return wrong("is no ExecCredential: it has another kind");
  if (fields->api_version != api_version)
    return wrong(absl::StrCat("is not in ", api_version, ", which the kubeconfig asks for"));
  if (!fields->status.has_value()) return wrong("has no status");
  ExecCredential out{fields->status->token, fields->status->certificate, fields->status->key, std::nullopt};
  if (out.certificate.empty() != out.key.empty())
    return wrong("has only one of clientCertificateData and clientKeyData");
  if (out.token.empty() && out.certificate.empty()) return wrong("has neither a token nor a client certificate");
  if (HasControl(out.token)) return wrong("has a token with control characters");
  if (fields->status->expires.at != absl::InfinitePast() && fields->status->expires.at != api::Time().at)
    out.expires = fields->status->expires.at;
  return out;
}

}  // namespace gangway::kube
