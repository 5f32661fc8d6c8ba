// Whom the sandbox's API server knows and by what: its certificate, its administrator, people with certificates.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kube/client/kubeconfig.h"
#include "kube/serve/certificates.h"
#include "kube/serve/http_front.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::cmd {

// What TLS needs: kubectl sends no token without, and pods know the API server by it.
struct SandboxCertificates {
  kube::Certificate authority;
  std::string certificate_file, key_file;  // of the API server, for every name that it has
};
// The files are written into `folder`.
absl::StatusOr<SandboxCertificates> MakeSandboxCertificates(const std::string& folder, absl::Time now);
// A front with them, which asks clients for theirs.
void SpeakTls(const SandboxCertificates& certificates, kube::HttpFrontOptions& options);

// What --rbac brings.
struct SandboxIdentities {
  std::string admin_token;
  sandbox::RbacOptions options;
  std::vector<kube::KubeconfigUser> users;
};
// `users`: "jane", or "jane=team-a,team-b" with groups. InvalidArgument names the one that is wrong.
absl::StatusOr<SandboxIdentities> MakeSandboxIdentities(const std::vector<std::string>& users,
                                                        const kube::Certificate& authority, absl::Time now);

}  // namespace gangway::cmd
