// Other programs, as a user runs them: one to its end, or one that stays until it is told to go.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/testing/files.h"

namespace gangway::testutil {

struct Outcome {
  int exit_code = -1;  // 127: it cannot be started; 128 + N: ended by signal N
  std::string out, err;
};

// Runs a program to its end (`input` on its standard input). `environment` ("NAME=value") is added to ours.
Outcome RunProgram(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {},
                   const std::string& input = {});

bool HasKubectl();

// A program that runs until Stop(), with both outputs in a file or, `output_file` empty, where ours go. It is killed
// when the thread that started it ends, so that nothing is left over by a test that crashes.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& argv, const std::string& output_file = {},
                        const std::vector<std::string>& environment = {});
  // With the standard output on `output` (a file descriptor, ours to close) and the rest where ours goes.
  ChildProcess(const std::vector<std::string>& argv, int output);
  // SIGKILL, when it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  // Waits for its end; the exit code as in Outcome.
  int Wait();
  // The same without waiting: empty while it runs.
  std::optional<int> Ended();
  // SIGTERM, after `patience_seconds` SIGKILL.
  int Stop(int patience_seconds = 20);

 private:
  const pid_t pid_;
  std::optional<int> exit_code_;
};

}  // namespace gangway::testutil
