#include "kube/client/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{1} << 20, kMaxComplaint = 2000;

class Pipe {
 public:
  Pipe() { GW_CHECK(pipe2(ends_.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    CloseWriting();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void CloseWriting() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

class SpawnSetup {
 public:
  SpawnSetup(int out, int err) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, out, 1);
    posix_spawn_file_actions_adddup2(&files_, err, 2);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentOf(const Program& program) {
  std::map<std::string, std::string> values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const absl::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != absl::string_view::npos)
      values[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  for (const auto& [name, value] : program.env) values[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : values) out.push_back(absl::StrCat(name, "=", value));
  return out;
}

// A child that is ended with its group, and waited for, in any case. Until it is waited for nobody else can get its
// number.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), pidfd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {
    GW_CHECK(pidfd_ >= 0);
  }
  ~Child() {
    if (!waited_) EndAndWait();
    close(pidfd_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int pidfd() const { return pidfd_; }  // readable once it has ended
  void EndGroup() const { kill(-pid_, SIGKILL); }
  int EndAndWait() {
    EndGroup();
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    return status;
  }

 private:
  const pid_t pid_;
  const int pidfd_;
  bool waited_ = false;
};

// False at the end of the stream.
bool ReadSome(int fd, std::string& into) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// Until it has ended and nothing more of what it said is there to be read.
absl::Status Collect(const Child& child, int out_fd, int err_fd, absl::Duration timeout, const Interrupt& interrupt,
                     std::string& out, std::string& err) {
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(timeout);
  std::array<pollfd, 4> fds{
      {{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}, {interrupt.fd(), POLLIN, 0}, {child.pidfd(), POLLIN, 0}}};
  bool ended = false;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return absl::DeadlineExceededError(absl::StrCat("did not end within ", absl::FormatDuration(timeout)));
    const int ready = poll(fds.data(), fds.size(), ended ? 0 : static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return absl::InternalError(std::strerror(errno));
    if (ready == 0 && ended) return absl::OkStatus();
    if (ready <= 0) continue;
    if (fds[2].revents != 0) return absl::CancelledError("was ended: nobody waits for it any more");
    if (fds[0].revents != 0 && !ReadSome(out_fd, out)) fds[0].fd = -1;
    if (fds[1].revents != 0 && !ReadSome(err_fd, err)) fds[1].fd = -1;
    if (fds[3].revents != 0) {
      ended = true;
      fds[3].fd = -1;
      child.EndGroup();  // what it left behind may hold the pipes
    }
    if (out.size() > kMaxOutput) return absl::ResourceExhaustedError("says more than a credential program has to say");
    if (err.size() > 2 * kMaxComplaint) err.erase(0, err.size() - kMaxComplaint);
  }
}

std::string Complaint(std::string err) {
  if (err.size() > kMaxComplaint) err.erase(0, err.size() - kMaxComplaint);
  const absl::string_view text = absl::StripAsciiWhitespace(err);
  return text.empty() ? std::string() : absl::StrCat(": ", text);
}

}  // namespace

Interrupt::Interrupt() : fd_(eventfd(0, EFD_CLOEXEC)) { GW_CHECK(fd_ >= 0); }
Interrupt::~Interrupt() { close(fd_); }
void Interrupt::Set() {
  const std::uint64_t one = 1;
  GW_CHECK(write(fd_, &one, sizeof(one)) == sizeof(one));
}

absl::StatusOr<std::string> RunProgram(const Program& program, absl::Duration timeout, const Interrupt& interrupt) {
  Pipe out, err;
  const SpawnSetup setup(out.writing(), err.writing());
  std::vector<std::string> arguments = {program.command}, environment = EnvironmentOf(program);
  arguments.insert(arguments.end(), program.args.begin(), program.args.end());
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, program.command.c_str(), setup.files(), setup.attributes(),
                                  Pointers(arguments).data(), Pointers(environment).data());
  if (failed == ENOENT) return absl::NotFoundError("there is no such program");
  if (failed != 0) return absl::InternalError(absl::StrCat("cannot be run: ", std::strerror(failed)));
  Child child(pid);
  out.CloseWriting();
  err.CloseWriting();
  std::string said, complaint;
  absl::Status collected = Collect(child, out.reading(), err.reading(), timeout, interrupt, said, complaint);
  if (!collected.ok())
    return absl::Status(collected.code(), absl::StrCat(collected.message(), Complaint(std::move(complaint))));
  const int status = child.EndAndWait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return said;
  const std::string how = WIFEXITED(status) ? absl::StrCat("ended with exit code ", WEXITSTATUS(status))
                                            : absl::StrCat("was ended by signal ", WTERMSIG(status));
  return absl::InternalError(absl::StrCat(how, Complaint(std::move(complaint))));
}

}  // namespace gangway::kube
