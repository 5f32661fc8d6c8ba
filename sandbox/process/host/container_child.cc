#include "sandbox/process/host/container_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
#include "sandbox/process/host/root_folder.h"

namespace gangway::sandbox {
namespace {

constexpr absl::string_view kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

absl::Status Because(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

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
    if (fd < 0 || write(fd, "0", 1) != 1) return Because(path, errno);
    close(fd);
  }
  for (const auto& [fd, kind] : {std::pair(spaces.network, CLONE_NEWNET), std::pair(spaces.host_name, CLONE_NEWUTS),
                                 std::pair(spaces.memory, CLONE_NEWIPC)}) {
    if (fd >= 0 && setns(fd, kind) != 0) return Because("joining the pod", errno);
  }
  return absl::OkStatus();
}

// Never returns Ok: the program takes over.
absl::Status Become(const StartOrder& order, const SharedSpaces& spaces, const std::vector<std::string>& join,
                    int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  GW_RETURN_IF_ERROR(JoinSpaces(spaces, join));
  GW_RETURN_IF_ERROR(EnterRootFolder(order));
  GW_RETURN_IF_ERROR(MakeFolders(order.working_dir));
  if (chdir(order.working_dir.c_str()) != 0) return Because(absl::StrCat("chdir to cwd ", order.working_dir), errno);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0) return Because("/dev/null", errno);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return Because("outputs", errno);
  setsid();
  umask(022);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  GW_ASSIGN_OR_RETURN(const std::string program, FindExecutable(order.argv.front(), order.env));
  execve(program.c_str(), PointersTo(order.argv).data(), PointersTo(order.env).data());
  return CannotExec(order.argv.front(), errno == ENOEXEC ? "exec format error" : std::strerror(errno));
}

}  // namespace

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
  if (pipe2(output.data(), O_CLOEXEC) != 0) return Because("pipe", errno);
  if (pipe2(trouble.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    for (const int fd : output) close(fd);
    return Because("pipe", error);
  }
  const long pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    const absl::Status why = Become(order, spaces, join, output[1]);
    const absl::string_view text = why.message();
    if (write(trouble[1], text.data(), text.size()) < 0) _exit(127);
    _exit(128);
  }
  const int error = errno;
  close(output[1]);
  close(trouble[1]);
  if (pid > 0) return ChildPipes{static_cast<pid_t>(pid), output[0], trouble[0]};
  close(output[0]);
  close(trouble[0]);
  return Because("a process of its own", error);
}

}  // namespace gangway::sandbox
