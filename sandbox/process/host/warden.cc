#include "sandbox/process/host/warden.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/system_error.h"
#include "sandbox/process/host/cgroups.h"
#include "sandbox/process/host/host_loop.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {
namespace {

absl::Status WriteSetting(const char* path, absl::string_view text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(path, errno);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(fd);
  return written ? absl::OkStatus() : SystemError(path, error);
}

// The right to make namespaces: root has it, others get it in a user namespace, where they alone are root.
absl::Status BecomeAble() {
  if (unshare(CLONE_NEWPID) == 0) return absl::OkStatus();
  if (errno != EPERM) return SystemError("process namespaces", errno);
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER) != 0) {
    return SystemError(
        "user namespaces are not allowed here (see kernel.unprivileged_userns_clone, user.max_user_namespaces and "
        "kernel.apparmor_restrict_unprivileged_userns), and this process may not make namespaces as root may",
        errno);
  }
  GW_RETURN_IF_ERROR(WriteSetting("/proc/self/setgroups", "deny"));
  GW_RETURN_IF_ERROR(WriteSetting("/proc/self/uid_map", absl::StrCat("0 ", user, " 1")));
  GW_RETURN_IF_ERROR(WriteSetting("/proc/self/gid_map", absl::StrCat("0 ", group, " 1")));
  return unshare(CLONE_NEWPID) == 0 ? absl::OkStatus() : SystemError("process namespaces", errno);
}

absl::Status EnterHost(const HostSetup& setup) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) != 0) return SystemError("mount namespaces", errno);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return SystemError("private mounts", errno);
  if (!setup.shared_network && unshare(CLONE_NEWNET) != 0) {
    return SystemError("network namespaces are not allowed here; --network=shared runs without them", errno);
  }
  return absl::OkStatus();
}

int SayWhyNot(int socket, const absl::Status& why) {
  News news;
  news.error = std::string(why.message());
  const std::string frame = EncodeFrame(FrameKind::kReady, api::Encode(news));
  send(socket, frame.data(), frame.size(), MSG_NOSIGNAL);
  return 1;
}

void CleanUp(const HostSetup& setup) {
  RemoveTree(setup.folder);
  // A group is empty a moment after its last process.
  for (int i = 0; i < 100 && !Cgroups::RemoveAll(setup.cgroup); ++i) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

int RunContainerHost(int argc, char** argv) {
  int socket = -1;
  if (argc != 4 || !absl::SimpleAtoi(argv[2], &socket) || socket < 3) return 2;
  const auto setup = api::Decode<HostSetup>(argv[3]);
  if (!setup.ok() || setup->folder.empty()) return 2;
  setsid();  // Ctrl-C is the sandbox's business
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // ignored by whoever started the sandbox, it would hide the ends of containers
  if (socket > 3) syscall(SYS_close_range, 3, socket - 1, 0);
  syscall(SYS_close_range, socket + 1, ~0U, 0);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_NAME, "gangway-host");
  RaiseFileLimit();
  if (const absl::Status status = BecomeAble(); !status.ok()) {
    SayWhyNot(socket, status);
    CleanUp(*setup);
    return 1;
  }
  const pid_t host = fork();
  if (host == 0) {
    if (const absl::Status status = EnterHost(*setup); !status.ok()) _exit(SayWhyNot(socket, status));
    RunHostLoop(socket, *setup);
    _exit(0);
  }
  if (host < 0) SayWhyNot(socket, SystemError("a process of its own", errno));
  close(socket);
  while (host > 0 && waitpid(host, nullptr, 0) < 0 && errno == EINTR) {
  }
  CleanUp(*setup);
  return 0;
}

}  // namespace gangway::sandbox
