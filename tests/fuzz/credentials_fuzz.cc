// Kubeconfigs and the answers of credential programs: an error names the file, and never the secret.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/client/exec_credential.h"
#include "kube/client/kubeconfig.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

constexpr absl::string_view kSecret = "hunter2", kFile = "conf/config";

// Whether the secret stands where secrets do, and nowhere else.
bool IsKept(absl::string_view text) {
  const std::size_t at = text.find(kSecret);
  if (at == absl::string_view::npos || text.find(kSecret, at + 1) != absl::string_view::npos) return false;
  const absl::string_view before = text.substr(0, at);
  for (const absl::string_view place :
       {"  password: ", "  token: ", "  server: https://u:", "  proxy-url: http://u:"}) {
    if (absl::EndsWith(before, place)) return true;
  }
  return false;
}

void TryKubeconfig(absl::string_view text) {
  const absl::StatusOr<kube::Connection> read = kube::ParseKubeconfig(text, std::string(kFile)),
                                         again = kube::ParseKubeconfig(text, std::string(kFile));
  Require(read.status() == again.status(), "the same file is read the same", text);
  if (!read.ok()) {
    const absl::string_view message = read.status().message();
    Require(absl::StrContains(message, kFile), "an error names the file", message);
    Require(!IsKept(text) || !absl::StrContains(message, kSecret), "an error does not tell the secret",
            absl::StrCat(message, "\n", text));
    return;
  }
  Require(*read == *again, "the same file is the same connection", text);
  Require(!read->server.empty(), "a connection has a server", text);
  Require(!absl::StrContains(kube::WithoutSecrets(read->server), "hunter2") || !absl::StrContains(read->server, "@"),
          "an address is told without its password", read->server);
  ++came_out;
}

void TryAnswer(absl::string_view text) {
  for (const absl::string_view version : {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const absl::StatusOr<kube::ExecCredential> read = kube::ParseExecCredential(text, version),
                                               again = kube::ParseExecCredential(text, version);
    Require(read.status() == again.status(), "the same answer is read the same", text);
    if (!read.ok()) {
      Require(!absl::StrContains(read.status().message(), kSecret), "an answer is not quoted", read.status().message());
      continue;
    }
    Require(*read == *again, "the same answer is the same credential", text);
    Require(!read->token.empty() || !read->certificate.empty(), "a credential has something to show", text);
    Require(read->certificate.empty() == read->key.empty(), "a certificate comes with its key", text);
    Require(read->token.find_first_of("\r\n") == std::string::npos, "a token is one line: it becomes a header", text);
    ++came_out;
  }
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view text = TextOf(data, size);
  TryKubeconfig(text);
  TryAnswer(text);
  return 0;
}
