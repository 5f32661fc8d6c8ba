// What we and a credential program say to each other (client.authentication.k8s.io). Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/client/connection.h"

namespace gangway::kube {

// The program's answer: a token, or a certificate with its key, or both.
struct ExecCredential {
  std::string token;
  std::string certificate, key;  // PEM
  std::optional<absl::Time> expires;
  friend bool operator==(const ExecCredential&, const ExecCredential&) = default;
};

// $KUBERNETES_EXEC_INFO. `ca_pem`: of the connection's authority, its file already read.
std::string ExecInfo(const Connection& connection, const CredentialProgram& program, absl::string_view ca_pem);

// InvalidArgument says what is wrong with the answer; it never quotes it.
absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view json, absl::string_view api_version);

}  // namespace gangway::kube
