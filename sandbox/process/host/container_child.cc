#include "sandbox/process/host/container_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/system_error.h"
#include "sandbox/process/host/container_user.h"
#include "sandbox/process/host/root_folder.h"
#include "sandbox/process/passed_files.h"

namespace gangway::sandbox {
namespace {

constexpr absl::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// As Go's exec package words it, which container runtimes pass on.
absl::Status CannotExec(const std::string& name, absl::string_view why) {
  return absl::NotFoundError(absl::StrCat("exec: \"", name, "\": ", why));
}

bool IsProgram(const std::string& path) {
  struct stat about{};
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::vector<char*> PointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

absl::Status JoinSpaces(const SharedSpaces& spaces, const std::vector<std::string>& join) {
  for (const std::string& path : join) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1) return SystemError(path, errno);
    close(fd);
  }
  for (const auto& [fd, kind] : {std::pair(spaces.network, CLONE_NEWNET), std::pair(spaces.host_name, CLONE_NEWUTS),
                                 std::pair(spaces.memory, CLONE_NEWIPC)}) {
    if (fd >= 0 && setns(fd, kind) != 0) return SystemError("joining the pod", errno);
  }
  return absl::OkStatus();
}

rlim_t given_files = 0;  // the limit before it was raised; 0: it was not

void RestoreFileLimit() {
  rlimit limit{};
  if (given_files == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = given_files;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::Status BecomeProgram(const std::vector<std::string>& argv, const std::vector<std::string>& env,
                           const std::optional<UserOrder>& user) {
  umask(022);
  RestoreFileLimit();
  if (user) {
    GW_RETURN_IF_ERROR(BecomeUser(*user));
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // which another user does not inherit
  }
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  GW_ASSIGN_OR_RETURN(const std::string program, FindExecutable(argv.front(), env));
  execve(program.c_str(), PointersTo(argv).data(), PointersTo(env).data());
  return CannotExec(argv.front(), errno == ENOEXEC ? "exec format error" : std::strerror(errno));
}

// Never returns Ok: the program takes over.
absl::Status Become(const StartOrder& order, const SharedSpaces& spaces, const std::vector<std::string>& join,
                    int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  GW_RETURN_IF_ERROR(JoinSpaces(spaces, join));
  GW_RETURN_IF_ERROR(EnterRootFolder(order));
  GW_RETURN_IF_ERROR(MakeFolders(order.working_dir));
  if (chdir(order.working_dir.c_str()) != 0)
    return SystemError(absl::StrCat("chdir to cwd ", order.working_dir), errno);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) return SystemError("/dev/null", errno);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return SystemError("outputs", errno);
  setsid();
  return BecomeProgram(order.argv, order.env, order.user);
}

void SayTrouble(int trouble, const absl::Status& why) {
  const absl::string_view text = why.message();
  if (write(trouble, text.data(), text.size()) < 0) _exit(127);
}

// What a command has for its inputs and outputs.
struct ExecEnds {
  int input = -1, output = -1, error_output = -1;
};

// A terminal of the container's own; its other end goes over `trouble`.
absl::StatusOr<ExecEnds> MakeTerminal(int trouble) {
  const int master = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return SystemError("a terminal", errno);
  int locked = 0;
  if (ioctl(master, TIOCSPTLCK, &locked) != 0) return SystemError("a terminal", errno);
  const int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) return SystemError("a terminal", errno);
  if (SendWithFile(trouble, {"", 1}, master) != 1) return SystemError("a terminal", errno);
  close(master);
  return ExecEnds{slave, slave, slave};
}

// Within the container, where the command alone is in its process namespace.
absl::Status RunCommand(const StreamOrder& order, const ExecPlace& place, const ExecEnds& ends) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  if (order.terminal && ioctl(ends.input, TIOCSCTTY, 0) != 0) return SystemError("a terminal", errno);
  if (dup2(ends.input, 0) < 0 || dup2(ends.output, 1) < 0 || dup2(ends.error_output, 2) < 0)
    return SystemError("outputs", errno);
  std::vector<std::string> env = place.env;
  // containerd: execInContainer
  if (order.terminal) env.emplace_back("TERM=xterm");
  return BecomeProgram(order.argv, env, place.user);
}

// Joins the container, starts the command and waits for it.
absl::Status JoinAndRun(const StreamOrder& order, const ExecPlace& place, int container, ExecEnds ends, int trouble) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  GW_RETURN_IF_ERROR(JoinSpaces(place.spaces, place.join));
  if (setns(container, CLONE_NEWNS | CLONE_NEWPID) != 0) return SystemError("joining the container", errno);
  if (chdir(place.working_dir.c_str()) != 0)
    return SystemError(absl::StrCat("chdir to cwd ", place.working_dir), errno);
  if (order.terminal) {
    GW_ASSIGN_OR_RETURN(ends, MakeTerminal(trouble));
  } else if (!order.input) {
    ends.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (ends.input < 0) return SystemError("/dev/null", errno);
  }
  const pid_t command = fork();
  if (command < 0) return SystemError("a process of its own", errno);
  if (command == 0) {
    SayTrouble(trouble, RunCommand(order, place, ends));
    _exit(128);
  }
  syscall(SYS_close_range, 0, ~0U, 0);
  int status = 0;
  while (waitpid(command, &status, 0) < 0 && errno == EINTR) {
  }
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  given_files = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<std::string> FindExecutable(const std::string& name, const std::vector<std::string>& env) {
  if (absl::StrContains(name, '/')) {
    if (IsProgram(name)) return name;
    struct stat about{};
    if (stat(name.c_str(), &about) != 0)
      return absl::NotFoundError(absl::StrCat("exec: \"", name, "\": stat ", name, ": no such file or directory"));
    return CannotExec(name, S_ISDIR(about.st_mode) ? "is a directory" : "permission denied");
  }
  absl::string_view path = kDefaultPath;
  for (const std::string& variable : env) {
    absl::string_view value = variable;
    if (absl::ConsumePrefix(&value, "PATH=")) path = value;
  }
  bool forbidden = false;
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    std::string candidate = absl::StrCat(folder, "/", name);
    if (IsProgram(candidate)) return candidate;
    forbidden |= access(candidate.c_str(), F_OK) == 0;
  }
  return CannotExec(name, forbidden ? "permission denied" : "executable file not found in $PATH");
}

absl::StatusOr<ChildPipes> MakeContainer(const StartOrder& order, const SharedSpaces& spaces,
                                         const std::vector<std::string>& join) {
  if (order.argv.empty()) return absl::InvalidArgumentError("no command");
  std::array<int, 2> output{-1, -1}, trouble{-1, -1};
  if (pipe2(output.data(), O_CLOEXEC) != 0) return SystemError("pipe", errno);
  if (pipe2(trouble.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    for (const int fd : output) close(fd);
    return SystemError("pipe", error);
  }
  const long pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    SayTrouble(trouble[1], Become(order, spaces, join, output[1]));
    _exit(128);
  }
  const int error = errno;
  close(output[1]);
  close(trouble[1]);
  if (pid > 0) return ChildPipes{static_cast<pid_t>(pid), output[0], trouble[0]};
  close(output[0]);
  close(trouble[0]);
  return SystemError("a process of its own", error);
}

absl::StatusOr<ExecPipes> ExecInContainer(const StreamOrder& order, const ExecPlace& place) {
  std::array<int, 2> input{-1, -1}, output{-1, -1}, error_output{-1, -1}, trouble{-1, -1};
  const auto failed = [&](absl::string_view what) {
    absl::Status status = SystemError(what, errno);
    for (const auto* const pair : {&input, &output, &error_output, &trouble}) {
      for (const int fd : *pair)
        if (fd >= 0) close(fd);
    }
    return status;
  };
  const int container = static_cast<int>(syscall(SYS_pidfd_open, place.first, 0));
  if (container < 0) return failed("the container's first process");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, trouble.data()) != 0 ||
      (!order.terminal && ((order.input && pipe2(input.data(), O_CLOEXEC) != 0) ||
                           pipe2(output.data(), O_CLOEXEC) != 0 || pipe2(error_output.data(), O_CLOEXEC) != 0))) {
    absl::Status status = failed("pipe");
    close(container);
    return status;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    SayTrouble(trouble[1], JoinAndRun(order, place, container, {input[0], output[1], error_output[1]}, trouble[1]));
    _exit(128);
  }
  close(container);
  if (pid < 0) return failed("a process of its own");
  for (const int fd : {input[0], output[1], error_output[1], trouble[1]})
    if (fd >= 0) close(fd);
  return ExecPipes{pid, input[1], output[0], error_output[0], trouble[0]};
}

}  // namespace gangway::sandbox
