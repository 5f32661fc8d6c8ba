#include "sandbox/process/host_client.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/system_error.h"
#include "sandbox/process/passed_files.h"

namespace gangway::sandbox {
namespace {

// What the reading thread may be ahead of the loop; then containers that write wait.
constexpr std::size_t kMaxAhead = 4u << 20;
constexpr int kReadyMilliseconds = 60'000;

}  // namespace

absl::StatusOr<std::unique_ptr<HostClient>> HostClient::Start(Loop& loop, const std::string& program,
                                                              const HostSetup& setup) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return SystemError("socketpair", errno);
  constexpr int kTheirs = 3;  // the host's number for its end
  const int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, kTheirs + 1);
  close(ends[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, theirs, kTheirs);
  std::string words[] = {program, "container-host", absl::StrCat(kTheirs), api::Encode(setup)};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &files, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  close(theirs);
  if (error != 0) {
    close(ends[0]);
    return SystemError(program, error);
  }
  std::unique_ptr<HostClient> client(new HostClient(loop, ends[0], pid));
  GW_RETURN_IF_ERROR(client->WaitUntilReady());
  client->reader_ = std::thread([raw = client.get(), token = client->owner_.token()] { raw->Read(token); });
  return client;
}

HostClient::~HostClient() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  taken_.notify_all();
  shutdown(socket_, SHUT_RDWR);
  if (reader_.joinable()) reader_.join();
  close(socket_);
  if (api_listener_ >= 0) close(api_listener_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::Status HostClient::WaitUntilReady() {
  while (true) {
    GW_ASSIGN_OR_RETURN(const std::optional<FrameView> frame, DecodeFrame(early_));
    if (frame.has_value()) {
      if (frame->kind != FrameKind::kReady) return absl::InternalError("the container host began with other news");
      GW_ASSIGN_OR_RETURN(News ready, api::Decode<News>(frame->payload));
      early_.erase(0, frame->size);
      notes_ = std::move(ready.notes);
      return ready.error.empty() ? absl::OkStatus() : absl::UnavailableError(ready.error);
    }
    pollfd wait{socket_, POLLIN, 0};
    if (poll(&wait, 1, kReadyMilliseconds) == 0) {
      kill(pid_, SIGKILL);  // it would not end for us either
      return absl::DeadlineExceededError("the container host does not answer");
    }
    char piece[4096];
    int file = -1;
    const ssize_t size = ReceiveWithFile(socket_, piece, sizeof piece, 0, file);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return absl::UnavailableError("the container host ended at once");
    if (file >= 0) api_listener_ = file;
    early_.append(piece, static_cast<std::size_t>(size));
  }
}

void HostClient::Send(FrameKind kind, absl::string_view payload) {
  GW_CHECK(payload.size() <= kMaxFrame);
  const std::string frame = EncodeFrame(kind, payload);
  absl::string_view rest = frame;
  // The host always reads; when it is gone the reader says so.
  while (!rest.empty()) {
    const ssize_t sent = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool HostClient::Wait(std::size_t bytes) {
  MutexLock lock(mu_);
  while (waiting_ > kMaxAhead && !stopping_) taken_.wait(mu_);
  waiting_ += bytes;
  return !stopping_;
}

void HostClient::Read(const Token& token) {
  std::string in = std::move(early_);
  std::string piece(256u << 10, '\0');
  while (true) {
    std::size_t whole = 0;
    while (true) {
      const auto frame = DecodeFrame(absl::string_view(in).substr(whole));
      if (!frame.ok() || !frame->has_value()) break;
      whole += (*frame)->size;
    }
    if (whole > 0) {
      std::string frames = in.substr(0, whole);
      in.erase(0, whole);
      if (!Wait(whole)) return;
      loop_.Post(token, [this, frames = std::move(frames)] { Take(frames); });
    }
    const ssize_t size = recv(socket_, piece.data(), piece.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    in.append(piece.data(), static_cast<std::size_t>(size));
  }
  loop_.Post(token, [this] {
    if (events_.on_gone) events_.on_gone();
  });
}

void HostClient::Take(const std::string& frames) {
  {
    MutexLock lock(mu_);
    waiting_ -= frames.size();
  }
  taken_.notify_all();
  absl::string_view rest = frames;
  while (!rest.empty()) {
    const auto frame = DecodeFrame(rest);
    if (!frame.ok() || !frame->has_value()) return;
    rest.remove_prefix((*frame)->size);
    TakeOne(**frame);
  }
}

void HostClient::TakeOne(const FrameView& frame) {
  const auto tell = [&frame](const auto& event) {
    const auto news = api::Decode<News>(frame.payload);
    if (news.ok() && event) event(*news);
  };
  switch (frame.kind) {
    case FrameKind::kPodReady:
      return tell(events_.on_pod);
    case FrameKind::kStarted:
      return tell(events_.on_started);
    case FrameKind::kEnded:
      return tell(events_.on_ended);
    case FrameKind::kStreamEnded:
      return tell(events_.on_stream_ended);
    case FrameKind::kOutput:
    case FrameKind::kStreamOutput:
    case FrameKind::kStreamErrorOutput: {
      const auto output = DecodeOutput(frame.payload);
      if (!output.ok()) return;
      if (frame.kind != FrameKind::kOutput) {
        if (events_.on_stream_output)
          events_.on_stream_output(output->id, frame.kind == FrameKind::kStreamErrorOutput, output->bytes);
      } else if (events_.on_output) {
        events_.on_output(output->id, output->bytes);
      }
      return;
    }
    case FrameKind::kWord:
      if (const auto word = api::Decode<StreamWord>(frame.payload); word.ok() && events_.on_stream_took)
        events_.on_stream_took(*word);
      return;
    case FrameKind::kReady:  // came first
    case FrameKind::kPod:
    case FrameKind::kStart:
    case FrameKind::kSignal:
    case FrameKind::kDrop:
    case FrameKind::kRemove:
    case FrameKind::kStream:
    case FrameKind::kInput:
      return;  // orders, which the host does not give
  }
}

}  // namespace gangway::sandbox
