// Runs a program for what it prints, with a bound on its time and its words.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gangway::kube {

struct Program {
  std::string command;  // looked up in $PATH when it has no slash
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // in place of our own of the name
};

// A way to end programs early, from another thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  void Set();
  int fd() const { return fd_; }  // readable once set

 private:
  const int fd_;
};

// Its standard output; standard input is empty. Blocks. The program, and what it started in its process group, is gone
// when this returns. Errors: NotFound (there is none), DeadlineExceeded, Cancelled, ResourceExhausted (too much
// output), Internal (it failed; with the end of what it said on standard error).
absl::StatusOr<std::string> RunProgram(const Program& program, absl::Duration timeout, const Interrupt& interrupt);

}  // namespace gangway::kube
