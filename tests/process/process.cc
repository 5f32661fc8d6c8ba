#include "tests/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/check.h"

namespace gangway::testutil {
namespace {

struct Pipes {
  int in[2], out[2], err[2];
};

// A negative descriptor leaves ours in place.
pid_t Spawn(const std::vector<std::string>& argv, const std::vector<std::string>& environment, int in, int out,
            int err) {
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  GW_CHECK(pid >= 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    // As from a terminal, whoever started us: a shell has SIGINT and SIGQUIT ignored in what runs in the background.
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    if (in >= 0) dup2(in, 0);
    if (out >= 0) dup2(out, 1);
    if (err >= 0) dup2(err, 2);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execvp(args[0], args.data());
    _exit(127);
  }
  return pid;
}

int ExitCode(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

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
    GW_CHECK(poll(fds, 3, 300'000) > 0);
    if (fds[0].fd >= 0 && fds[0].revents != 0) {
      // What is ready takes that much; more would wait for a program that waits for us to read.
      const ssize_t n =
          write(fds[0].fd, input.data() + written, std::min<std::size_t>(input.size() - written, PIPE_BUF));
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

pid_t SpawnInto(const std::vector<std::string>& argv, const std::string& output_file,
                const std::vector<std::string>& environment) {
  if (output_file.empty()) return Spawn(argv, environment, -1, -1, -1);
  const int file = open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  GW_CHECK(file >= 0);
  const pid_t pid = Spawn(argv, environment, -1, file, file);
  close(file);
  return pid;
}

}  // namespace

Outcome RunProgram(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                   const std::string& input) {
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
  outcome.exit_code = ExitCode(status);
  return outcome;
}

bool HasKubectl() { return RunProgram({"kubectl", "version", "--client"}).exit_code == 0; }

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const std::string& output_file,
                           const std::vector<std::string>& environment)
    : pid_(SpawnInto(argv, output_file, environment)) {}

ChildProcess::ChildProcess(const std::vector<std::string>& argv, int output) : pid_(Spawn(argv, {}, -1, output, -1)) {}

ChildProcess::~ChildProcess() {
  if (Ended()) return;
  Signal(SIGKILL);
  Wait();
}

void ChildProcess::Signal(int signal) const {
  if (!exit_code_) kill(pid_, signal);
}

int ChildProcess::Wait() {
  if (!exit_code_) {
    int status = 0;
    GW_CHECK(waitpid(pid_, &status, 0) == pid_);
    exit_code_ = ExitCode(status);
  }
  return *exit_code_;
}

std::optional<int> ChildProcess::Ended() {
  int status = 0;
  if (!exit_code_ && waitpid(pid_, &status, WNOHANG) == pid_) exit_code_ = ExitCode(status);
  return exit_code_;
}

int ChildProcess::Stop(int patience_seconds) {
  Signal(SIGTERM);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(patience_seconds);
  while (!Ended() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  Signal(SIGKILL);
  return Wait();
}

}  // namespace gangway::testutil
