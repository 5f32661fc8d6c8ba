#include "tests/kubectl/sandbox_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "base/check.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

namespace fs = std::filesystem;

struct Pipes {
  int in[2], out[2], err[2];
};

pid_t Spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment, int in, int out, int err) {
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  const pid_t pid = fork();
  GW_CHECK(pid >= 0);
  if (pid == 0) {
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execvp(args[0], args.data());
    _exit(127);
  }
  return pid;
}

// Writes `input` and reads both outputs until they are closed.
void Exchange(const std::string& input, int in, int out, int err, Outcome& outcome) {
  std::size_t written = 0;
  pollfd fds[3] = {{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* const targets[3] = {nullptr, &outcome.out, &outcome.err};
  while (fds[1].fd >= 0 || fds[2].fd >= 0) {
    if (fds[0].fd >= 0 && written == input.size()) {
      close(fds[0].fd);
      fds[0].fd = -1;
    }
    GW_CHECK(poll(fds, 3, 120'000) > 0);
    if (fds[0].fd >= 0 && fds[0].revents != 0) {
      const ssize_t n = write(fds[0].fd, input.data() + written, input.size() - written);
      written = n < 0 ? input.size() : written + static_cast<std::size_t>(n);
    }
    for (int i = 1; i < 3; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(fds[i].fd, buffer, sizeof buffer);
      if (n > 0) {
        targets[i]->append(buffer, static_cast<std::size_t>(n));
      } else {
        close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
  }
  if (fds[0].fd >= 0) close(fds[0].fd);
}

}  // namespace

Outcome RunProgram(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const std::string& input) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipes pipes;
  GW_CHECK(pipe2(pipes.in, O_CLOEXEC) == 0 && pipe2(pipes.out, O_CLOEXEC) == 0 && pipe2(pipes.err, O_CLOEXEC) == 0);
  const pid_t pid = Spawn(argv, environment, pipes.in[0], pipes.out[1], pipes.err[1]);
  close(pipes.in[0]);
  close(pipes.out[1]);
  close(pipes.err[1]);
  Outcome outcome;
  Exchange(input, pipes.in[1], pipes.out[0], pipes.err[0], outcome);
  int status = 0;
  waitpid(pid, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

bool HasKubectl() { return RunProgram({"kubectl", "version", "--client"}).exit_code == 0; }

SandboxProcess::SandboxProcess(std::vector<std::string> flags) {
  folder_ = (fs::temp_directory_path() / "gangway-kubectl-XXXXXX").string();
  GW_CHECK(mkdtemp(folder_.data()) != nullptr);
  kubeconfig_ = folder_ + "/kubeconfig";
  std::vector<std::string> argv{GW_GANGWAY, "sandbox", "--quiet", "--kubeconfig", kubeconfig_};
  argv.insert(argv.end(), flags.begin(), flags.end());
  int pipe[2];
  GW_CHECK(pipe2(pipe, O_CLOEXEC) == 0);
  pid_ = Spawn(argv, {}, 0, pipe[1], 2);
  close(pipe[1]);
  output_ = pipe[0];
  // The server listens before the welcome is printed.
  std::string welcome;
  char byte;
  while (welcome.find("\n\n") == std::string::npos && read(output_, &byte, 1) == 1) welcome += byte;
  GW_CHECK(welcome.find("API server at") != std::string::npos);
}

SandboxProcess::~SandboxProcess() {
  kill(pid_, SIGINT);
  int status = 0;
  waitpid(pid_, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "gangway sandbox ended with wait status " << status;
  close(output_);
  std::error_code error;
  fs::remove_all(folder_, error);
}

Outcome SandboxProcess::Kubectl(std::vector<std::string> args, const std::string& input) const {
  args.insert(args.begin(), "kubectl");
  return RunProgram(args, {"KUBECONFIG=" + kubeconfig_, "HOME=" + folder_, "KUBECTL_KUBERC=false"}, input);
}

std::string SandboxProcess::url() const {
  return Kubectl({"config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"}).out;
}

std::string Normalize(const std::string& text) {
  static const std::vector<std::pair<std::regex, std::string>>& rules = *new std::vector<std::pair<std::regex, std::string>>{
      {std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"},
      {std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]+)?Z"), "<time>"},
      {std::regex("(Resource Version: +)[0-9]+"), "$1<version>"},
      {std::regex("(Generation: +)[0-9]+"), "$1<generation>"},
      {std::regex("(Transition ID: +)\\S+"), "$1<id>"},
      {std::regex("(\\s)(<invalid>|[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)([0-9]+s)?)( \\(x[0-9]+ over [0-9a-z]+\\))?(?=\\s)"), "$1<age>"},
      {std::regex(" +"), " "},
      {std::regex(" +\n"), "\n"}};
  std::string out = text;
  for (const auto& [pattern, word] : rules) out = std::regex_replace(out, pattern, word);
  return out;
}

}  // namespace gangway::testutil
