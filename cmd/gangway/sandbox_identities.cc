#include "cmd/gangway/sandbox_identities.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "cmd/gangway/process_sandbox.h"

namespace gangway::cmd {
namespace {

constexpr absl::Duration kValidity = absl::Hours(24 * 365);

absl::Status WriteOwnFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
}

absl::StatusOr<kube::KubeconfigUser> MakeUser(const std::string& text, const kube::Certificate& authority,
                                              absl::Time now) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const std::vector<std::string> groups = absl::StrSplit(parts.second, ',', absl::SkipEmpty());
  if (parts.first == kube::KubeconfigEntry().context)
    return absl::InvalidArgumentError("that context is the administrator's; take another name");
  GW_ASSIGN_OR_RETURN(kube::Certificate made,
                      kube::MakeCertificate(authority, {parts.first, groups, ""}, now, kValidity));
  return kube::KubeconfigUser{parts.first, std::move(made.certificate), std::move(made.key)};
}

}  // namespace

absl::StatusOr<SandboxCertificates> MakeSandboxCertificates(const std::string& folder, absl::Time now) {
  SandboxCertificates out;
  GW_ASSIGN_OR_RETURN(out.authority, kube::MakeAuthority("gangway-sandbox", now, kValidity));
  const kube::CertificateSubject server{
      "kube-apiserver",
      {},
      absl::StrCat("IP:127.0.0.1,DNS:localhost,IP:", kApiServerIp,
                   ",DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
                   "DNS:kubernetes.default.svc.cluster.local")};
  GW_ASSIGN_OR_RETURN(const kube::Certificate made, kube::MakeCertificate(out.authority, server, now, kValidity));
  out.certificate_file = folder + "/server.crt";
  out.key_file = folder + "/server.key";
  GW_RETURN_IF_ERROR(WriteOwnFile(out.certificate_file, made.certificate));
  GW_RETURN_IF_ERROR(WriteOwnFile(out.key_file, made.key));
  return out;
}

void SpeakTls(const SandboxCertificates& certificates, kube::HttpFrontOptions& options) {
  options.tls_certificate_file = certificates.certificate_file;
  options.tls_key_file = certificates.key_file;
  options.tls_client_ca = certificates.authority.certificate;
}

absl::StatusOr<SandboxIdentities> MakeSandboxIdentities(const std::vector<std::string>& users,
                                                        const kube::Certificate& authority, absl::Time now) {
  SandboxIdentities out;
  std::set<std::string> names;
  for (const std::string& text : users) {
    auto user = MakeUser(text, authority, now);
    if (user.ok() && !names.insert(user->name).second)
      user = absl::InvalidArgumentError("there is somebody of that name already");
    if (!user.ok())
      return absl::Status(user.status().code(), absl::StrCat("--user ", text, ": ", user.status().message()));
    out.users.push_back(*std::move(user));
  }
  GW_ASSIGN_OR_RETURN(const std::string token, kube::RandomBytes(24));
  GW_ASSIGN_OR_RETURN(out.options.token_secret, kube::RandomBytes(32));
  out.admin_token = absl::BytesToHexString(token);
  out.options.tokens[out.admin_token] = {
      .name = "kubernetes-admin", .uid = {}, .groups = {std::string(sandbox::kMastersGroup)}, .extra = {}};
  return out;
}

}  // namespace gangway::cmd
