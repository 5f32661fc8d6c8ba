#include "sandbox/process/host/host_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sandbox/process/host/cgroups.h"
#include "sandbox/process/host/container_child.h"
#include "sandbox/process/host/host_streams.h"
#include "sandbox/process/host/pod_spaces.h"
#include "sandbox/process/passed_files.h"

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;

// What has not been taken from us yet; beyond that, containers that write wait.
constexpr std::size_t kMaxWaiting = 1u << 20;
constexpr std::size_t kPiece = 64u << 10;
constexpr std::size_t kMaxTrouble = 4096;

struct HostPod {
  SharedSpaces spaces;
  std::vector<MemoryFolder> memory_folders;
  bool dropped = false;
};

struct HostRun {
  std::string id, pod_uid, scratch, trouble_text, working_dir;
  std::vector<std::string> env, join;
  std::optional<UserOrder> user;
  ChildPipes pipes;
  int status = 0;
  bool exited = false;
};

void ClosePipe(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

class HostLoop {
 public:
  HostLoop(int socket, const HostSetup& setup)
      : socket_(socket), setup_(setup), network_(setup.shared_network), cgroups_(setup.cgroup) {}

  void Run() {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    signals_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    News ready;
    if (const absl::Status status = TryOut(); !status.ok()) ready.error = std::string(status.message());
    if (!cgroups_.missing().empty()) ready.notes.push_back(cgroups_.missing());
    SendReady(ready);
    streams_.emplace([this](FrameKind kind, absl::string_view payload) { out_ += EncodeFrame(kind, payload); },
                     network_.home());
    while (Turn()) {
    }
  }

 private:
  // The first news, and with it the socket of the API server: whoever has it accepts connections of the pods' network,
  // wherever it is itself.
  void SendReady(News& ready) {
    int listener = -1;
    if (ready.error.empty() && setup_.api_server_port != 0 && !setup_.shared_network) {
      const absl::StatusOr<int> made = network_.Listen(setup_.api_server_ip, setup_.api_server_port);
      if (made.ok()) listener = *made;
      if (!made.ok()) ready.error = std::string(made.status().message());
    }
    SendWithFile(socket_, EncodeFrame(FrameKind::kReady, api::Encode(ready)), listener);
    ClosePipe(listener);
  }

  // What a machine lacks is told once, before there are pods.
  absl::Status TryOut() {
    const auto network_failed = [&](const absl::Status& status) {
      return absl::UnavailableError(absl::StrCat("no network for pods can be made here: ", status.message(),
                                                 setup_.shared_network ? "" : "; --network=shared runs without"));
    };
    if (const absl::Status status = network_.Begin(); !status.ok()) return network_failed(status);
    PodOrder pod;
    pod.hostname = "try-out";
    pod.ip = "10.255.255.254";
    auto spaces = network_.MakePod(pod);
    if (!spaces.ok()) return network_failed(spaces.status());
    StartOrder order;
    order.root = order.working_dir = "/";
    order.argv = {"true"};
    order.scratch = absl::StrCat(setup_.folder, "/try-out");
    mkdir(order.scratch.c_str(), 0700);
    auto child = MakeContainer(order, *spaces, {});
    CloseSpaces(*spaces);
    std::string trouble = child.ok() ? std::string() : std::string(child.status().message());
    if (child.ok()) {
      char piece[1024];
      for (ssize_t size = 0; (size = read(child->trouble, piece, sizeof piece)) > 0;)
        trouble.append(piece, static_cast<std::size_t>(size));
      ClosePipe(child->trouble);
      ClosePipe(child->output);
      waitpid(child->pid, nullptr, 0);
    }
    RemoveTree(order.scratch);
    // A machine without that program is good enough.
    if (trouble.empty() || absl::StartsWith(trouble, "exec: ")) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("no container can be made here: ", trouble));
  }

  // False when the other side is gone.
  bool Turn() {
    std::vector<pollfd> fds{{socket_, static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)), 0},
                            {signals_, POLLIN, 0}};
    std::vector<pid_t> whose{0, 0};
    for (const auto& [pid, run] : runs_) {
      if (run.pipes.trouble >= 0) {
        fds.push_back({run.pipes.trouble, POLLIN, 0});
      } else if (run.pipes.output >= 0 && out_.size() < kMaxWaiting) {
        fds.push_back({run.pipes.output, POLLIN, 0});
      } else {
        continue;
      }
      whose.push_back(pid);
    }
    const std::size_t streams = fds.size();
    streams_->AddTo(fds, out_.size() < kMaxWaiting);
    if (poll(fds.data(), fds.size(), -1) < 0) return errno == EINTR;
    if ((fds[0].revents & POLLOUT) != 0 && !Flush()) return false;
    for (std::size_t i = 2; i < streams; ++i) {
      if (fds[i].revents == 0) continue;
      const auto it = runs_.find(whose[i]);
      it->second.pipes.trouble >= 0 ? ReadTrouble(it->second) : ReadOutput(it->second);
    }
    if (fds[1].revents != 0) Reap();
    streams_->Handle(fds, streams);
    if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !ReadOrders()) return false;
    Settle();  // also of orders: of a pod that is dropped nothing may run any more, and nothing else happen
    return true;
  }

  template <class T>
  void Send(FrameKind kind, const T& message) {
    out_ += EncodeFrame(kind, api::Encode(message));
  }
  bool Flush() {
    const ssize_t sent = send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    out_.erase(0, static_cast<std::size_t>(sent));
    return true;
  }

  bool ReadOrders() {
    char piece[kPiece];
    const ssize_t size = recv(socket_, piece, sizeof piece, 0);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    in_.append(piece, static_cast<std::size_t>(size));
    std::size_t at = 0;
    while (true) {
      const auto frame = DecodeFrame(absl::string_view(in_).substr(at));
      if (!frame.ok()) return false;
      if (!frame->has_value()) break;
      Obey((*frame)->kind, (*frame)->payload);
      at += (*frame)->size;
    }
    in_.erase(0, at);
    return true;
  }

  void Obey(FrameKind kind, absl::string_view payload) {
    switch (kind) {
      case FrameKind::kPod:
        if (const auto order = api::Decode<PodOrder>(payload); order.ok()) MakePod(*order);
        return;
      case FrameKind::kStart:
        if (const auto order = api::Decode<StartOrder>(payload); order.ok()) Start(*order);
        return;
      case FrameKind::kSignal:
        if (const auto order = api::Decode<SignalOrder>(payload); order.ok()) {
          for (const auto& [pid, run] : runs_)
            if (run.id == order->id && !run.exited) kill(pid, order->signal);
        }
        return;
      case FrameKind::kDrop:
        return DropPod(std::string(payload));
      case FrameKind::kRemove:
        if (absl::StartsWith(payload, setup_.folder + "/")) removals_.emplace_back(payload);
        return;
      case FrameKind::kStream:
        if (const auto order = api::Decode<StreamOrder>(payload); order.ok()) Open(*order);
        return;
      case FrameKind::kInput:
        if (const auto input = DecodeOutput(payload); input.ok()) streams_->Write(input->id, input->bytes);
        return;
      case FrameKind::kWord:
        if (const auto word = api::Decode<StreamWord>(payload); word.ok()) streams_->Obey(*word);
        return;
      case FrameKind::kStreamOutput:
      case FrameKind::kStreamErrorOutput:
      case FrameKind::kStreamEnded:
      case FrameKind::kReady:
      case FrameKind::kPodReady:
      case FrameKind::kStarted:
      case FrameKind::kEnded:
      case FrameKind::kOutput:
        return;  // news, which nobody sends us
    }
  }

  void MakePod(const PodOrder& order) {
    News news;
    news.id = order.uid;
    HostPod pod;
    auto spaces = network_.MakePod(order);
    if (spaces.ok()) {
      pod.spaces = *spaces;
      for (const MemoryFolder& folder : order.memory_folders) {
        std::string options = folder.gid ? absl::StrCat("mode=2777,gid=", *folder.gid) : std::string("mode=777");
        if (folder.bytes > 0) absl::StrAppend(&options, ",size=", folder.bytes);
        if (mount("tmpfs", folder.path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
          news.error = absl::StrCat("emptyDir of memory: ", std::strerror(errno));
          break;
        }
        pod.memory_folders.push_back(folder);
      }
    } else {
      news.error = std::string(spaces.status().message());
    }
    if (news.error.empty()) {
      pods_[order.uid] = std::move(pod);
    } else {
      Unmake(pod);
    }
    Send(FrameKind::kPodReady, news);
  }

  void Unmake(HostPod& pod) {
    CloseSpaces(pod.spaces);
    for (const MemoryFolder& folder : pod.memory_folders) umount2(folder.path.c_str(), MNT_DETACH);
  }

  void Start(const StartOrder& order) {
    const auto pod = pods_.find(order.pod_uid);
    std::vector<std::string> join = cgroups_.Make(order.id, order.memory_bytes, order.milli_cpu);
    absl::StatusOr<ChildPipes> pipes = pod == pods_.end() || pod->second.dropped
                                           ? absl::NotFoundError("its pod is gone")
                                           : MakeContainer(order, pod->second.spaces, join);
    if (pipes.ok()) {
      HostRun run;
      run.id = order.id;
      run.pod_uid = order.pod_uid;
      run.scratch = order.scratch;
      run.working_dir = order.working_dir;
      run.env = order.env;
      run.user = order.user;
      run.join = std::move(join);
      run.pipes = *pipes;
      runs_.emplace(pipes->pid, std::move(run));
      return;
    }
    cgroups_.Remove(order.id);
    News news;
    news.id = order.id;
    news.exit_code = 128;
    news.error = std::string(pipes.status().message());
    Send(FrameKind::kStarted, news);
  }

  void Open(const StreamOrder& order) {
    if (order.run.empty()) {
      const auto pod = pods_.find(order.pod_uid);
      if (pod == pods_.end() || pod->second.dropped) return streams_->Refuse(order.id, "its pod is gone");
      return streams_->Dial(order, pod->second.spaces.network);
    }
    for (const auto& [pid, run] : runs_) {
      if (run.id != order.run || run.exited || run.pipes.trouble >= 0) continue;
      const auto pod = pods_.find(run.pod_uid);
      if (pod == pods_.end()) break;
      return streams_->Exec(order, {pid, pod->second.spaces, run.join, run.env, run.working_dir, run.user});
    }
    streams_->Refuse(order.id, "the container does not run any more");
  }

  void DropPod(const std::string& uid) {
    const auto it = pods_.find(uid);
    if (it == pods_.end()) return RemoveSoon(absl::StrCat(setup_.folder, "/pods/", uid));
    it->second.dropped = true;
    for (const auto& [pid, run] : runs_)
      if (run.pod_uid == uid && !run.exited) kill(pid, SIGKILL);
  }

  void ReadTrouble(HostRun& run) {
    char piece[1024];
    const ssize_t size = read(run.pipes.trouble, piece, sizeof piece);
    if (size < 0) return;
    if (size > 0) {
      if (run.trouble_text.size() < kMaxTrouble) run.trouble_text.append(piece, static_cast<std::size_t>(size));
      return;
    }
    ClosePipe(run.pipes.trouble);
    News news;
    news.id = run.id;
    news.error = run.trouble_text;
    if (!news.error.empty()) news.exit_code = 128;
    Send(FrameKind::kStarted, news);
  }

  void ReadOutput(HostRun& run) {
    char piece[kPiece];
    const ssize_t size = read(run.pipes.output, piece, sizeof piece);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) return ClosePipe(run.pipes.output);
    out_ += EncodeFrame(FrameKind::kOutput, OutputPayload(run.id, {piece, static_cast<std::size_t>(size)}));
  }

  void Reap() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) > 0) {
    }
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto it = runs_.find(pid);
      if (it == runs_.end()) {
        streams_->Exited(pid, status);  // or one that removed a folder, or that a container left to us
        continue;
      }
      it->second.exited = true;
      it->second.status = status;
    }
  }

  // Runs that have ended, with all that they wrote; pods of which nothing runs any more.
  void Settle() {
    for (auto it = runs_.begin(); it != runs_.end();) {
      HostRun& run = it->second;
      if (!run.exited || run.pipes.trouble >= 0 || run.pipes.output >= 0) {
        ++it;
        continue;
      }
      News news;
      news.id = run.id;
      news.exit_code = WIFSIGNALED(run.status) ? 128 + WTERMSIG(run.status) : WEXITSTATUS(run.status);
      news.out_of_memory = cgroups_.Remove(run.id) && news.exit_code == 128 + SIGKILL;
      if (run.trouble_text.empty()) Send(FrameKind::kEnded, news);
      RemoveSoon(run.scratch);
      it = runs_.erase(it);
    }
    for (auto it = pods_.begin(); it != pods_.end();) {
      bool runs = false;
      for (const auto& [pid, run] : runs_) runs |= run.pod_uid == it->first;
      if (!it->second.dropped || runs) {
        ++it;
        continue;
      }
      Unmake(it->second);
      RemoveSoon(absl::StrCat(setup_.folder, "/pods/", it->first));
      it = pods_.erase(it);
    }
    const bool dropped = std::any_of(pods_.begin(), pods_.end(), [](const auto& each) { return each.second.dropped; });
    if (dropped) return;
    for (const std::string& folder : removals_) RemoveSoon(folder);
    removals_.clear();
  }

  // In a process of its own: it may be much. By another name: a run's folder may be under way when its pod's is
  // removed, and neither would be empty for the other.
  void RemoveSoon(const std::string& folder) {
    if (fork() != 0) return;
    syscall(SYS_close_range, 0, ~0U, 0);  // or whoever waits for the end of one of ours would wait for this, too
    const std::string gone = folder + ".gone";
    RemoveTree(rename(folder.c_str(), gone.c_str()) == 0 ? gone : folder);
    _exit(0);
  }

  const int socket_;
  const HostSetup& setup_;
  PodNetwork network_;
  Cgroups cgroups_;
  int signals_ = -1;
  std::map<std::string, HostPod> pods_;  // by UID
  std::map<pid_t, HostRun> runs_;
  std::vector<std::string> removals_;  // of folders that what was dropped may still use
  std::optional<HostStreams> streams_;
  std::string in_, out_;
};

}  // namespace

void RunHostLoop(int socket, const HostSetup& setup) { HostLoop(socket, setup).Run(); }

void RemoveTree(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) {
    fs::remove(folder, error);
    return;
  }
  chmod(folder.c_str(), 0700);  // an overlay's working folder keeps others out, and us where we are not root
  // A range-for would throw when the folder changes.
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error))
    RemoveTree(it->path());
  fs::remove(folder, error);
}

}  // namespace gangway::sandbox
