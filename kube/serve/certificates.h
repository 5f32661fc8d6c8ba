// An authority that only its own kubeconfigs have to believe, and the certificates that it signs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gangway::kube {

// PEM; the key is P-256.
struct Certificate {
  std::string certificate, key;
};

struct CertificateSubject {
  std::string name;                 // CN; Kubernetes' user
  std::vector<std::string> groups;  // O; Kubernetes' groups
  // Of a server: "IP:127.0.0.1,DNS:localhost". "": it is a client.
  std::string server_names;
};

// Valid from an hour before `now`. Internal: OpenSSL failed; so for the next two.
absl::StatusOr<Certificate> MakeAuthority(const std::string& name, absl::Time now, absl::Duration valid_for);
// InvalidArgument: the name or a group is empty, or longer than the 64 bytes that a certificate has room for.
absl::StatusOr<Certificate> MakeCertificate(const Certificate& authority, const CertificateSubject& subject,
                                            absl::Time now, absl::Duration valid_for);

// Bytes that nobody can guess.
absl::StatusOr<std::string> RandomBytes(int count);

}  // namespace gangway::kube
