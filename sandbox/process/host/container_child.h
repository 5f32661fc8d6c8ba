// The first process of a container, from its making to the program that it becomes; and later ones that join it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// File descriptors of what the containers of a pod share; -1: the machine's.
struct SharedSpaces {
  int network = -1, host_name = -1, memory = -1;
};

struct ChildPipes {
  pid_t pid = -1;
  int output = -1;  // both its outputs, for reading
  // Why it did not become its program, in words; its end without any: it did.
  int trouble = -1;
};

// Only from a process with one thread. `join` are files to write "0" into (Cgroups::Make).
absl::StatusOr<ChildPipes> MakeContainer(const StartOrder& order, const SharedSpaces& spaces,
                                         const std::vector<std::string>& join);

// A pod takes three of this process's files and a run one: as many as it may have. Containers have the limit from
// before.
void RaiseFileLimit();

// Where a command is to run.
struct ExecPlace {
  pid_t first = -1;  // the container's first process
  SharedSpaces spaces;
  std::vector<std::string> join, env;
  std::string working_dir;
  std::optional<UserOrder> user;
};

struct ExecPipes {
  // Waits for the command and ends as it does, with 128 and its number for a signal; killed, it takes the command with
  // it.
  pid_t pid = -1;
  int input = -1, output = -1, error_output = -1;  // -1: none; with a terminal all of them
  // As ChildPipes::trouble; a terminal's file descriptor comes over it, with a byte of 0.
  int trouble = -1;
};

// Only from a process with one thread. `order.argv` is not empty.
absl::StatusOr<ExecPipes> ExecInContainer(const StreamOrder& order, const ExecPlace& place);

// The file that argv[0] names, as a container runtime looks for it: in the PATH of `env`, unless it has a slash. The
// error is as a runtime says it.
absl::StatusOr<std::string> FindExecutable(const std::string& name, const std::vector<std::string>& env);

}  // namespace gangway::sandbox
