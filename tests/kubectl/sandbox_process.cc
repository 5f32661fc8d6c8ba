#include "tests/kubectl/sandbox_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <regex>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "gtest/gtest.h"

namespace gangway::testutil {

SandboxProcess::SandboxProcess(std::vector<std::string> flags) : kubeconfig_(folder() + "/kubeconfig") {
  std::vector<std::string> argv{GW_GANGWAY, "sandbox", "--quiet", "--kubeconfig", kubeconfig_};
  argv.insert(argv.end(), flags.begin(), flags.end());
  int pipe[2];
  GW_CHECK(pipe2(pipe, O_CLOEXEC) == 0);
  process_.emplace(argv, pipe[1]);
  close(pipe[1]);
  output_ = pipe[0];
  // The server listens before the welcome is printed.
  char byte;
  while (welcome_.find("\n\n") == std::string::npos && read(output_, &byte, 1) == 1) welcome_ += byte;
  GW_CHECK(welcome_.find("API server at") != std::string::npos);
}

SandboxProcess::~SandboxProcess() {
  process_->Signal(SIGINT);
  EXPECT_EQ(process_->Wait(), 0) << "exit code of gangway sandbox";
  close(output_);
}

Outcome SandboxProcess::Kubectl(std::vector<std::string> args, const std::string& input) const {
  args.insert(args.begin(), "kubectl");
  return RunProgram(args, {"KUBECONFIG=" + kubeconfig_, "HOME=" + folder(), "KUBECTL_KUBERC=false"}, input);
}

std::string SandboxProcess::url() const {
  return Kubectl({"config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"}).out;
}

std::string SandboxProcess::KubeconfigOf(const std::string& ns, const std::string& account) const {
  const std::string path = absl::StrCat(folder(), "/", account, ".kubeconfig");
  WriteFile(path, Kubectl({"config", "view", "--raw", "--flatten"}).out);
  const Outcome token = Kubectl({"create", "token", account, "-n", ns});
  EXPECT_EQ(token.exit_code, 0) << token.err;
  const Outcome set = RunProgram({"kubectl", "--kubeconfig", path, "config", "set-credentials", "gangway", "--token",
                                  std::string(absl::StripAsciiWhitespace(token.out))});
  EXPECT_EQ(set.exit_code, 0) << set.err;
  return path;
}

std::string Normalize(const std::string& text) {
  static const std::vector<std::pair<std::regex, std::string>>& rules =
      *new std::vector<std::pair<std::regex, std::string>>{
          {std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"},
          {std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]+)?Z"), "<time>"},
          {std::regex("(Resource Version: +)[0-9]+"), "$1<version>"},
          {std::regex("(Generation: +)[0-9]+"), "$1<generation>"},
          {std::regex("(Transition ID: +)\\S+"), "$1<id>"},
          {std::regex(
               "(\\s)(<invalid>|[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)([0-9]+s)?)( \\(x[0-9]+ over [0-9a-z]+\\))?(?=\\s)"),
           "$1<age>"},
          {std::regex(" +"), " "},
          {std::regex(" +\n"), "\n"}};
  std::string out = text;
  for (const auto& [pattern, word] : rules) out = std::regex_replace(out, pattern, word);
  return out;
}

}  // namespace gangway::testutil
