// A certificate for a server that only its own kubeconfig has to believe.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::kube {

struct SelfSigned {
  std::string certificate, key;  // PEM; the certificate is its own authority
};

// A P-256 key and its certificate, valid from an hour before `now`. `names`: "IP:127.0.0.1,DNS:localhost". Internal:
// OpenSSL failed.
absl::StatusOr<SelfSigned> MakeSelfSigned(const std::string& names, absl::Time now, absl::Duration valid_for);

// Bytes that nobody can guess.
absl::StatusOr<std::string> RandomBytes(int count);

}  // namespace gangway::kube
