#include "sandbox/process/host/host_streams.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/process/passed_files.h"

namespace gangway::sandbox {
namespace {

constexpr std::size_t kStreamPiece = 32u << 10;
constexpr std::size_t kMaxStreamTrouble = 4096;

void CloseFile(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}
void NeverWait(int fd) {
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}
bool TryAgain(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

HostStreams::~HostStreams() {
  for (auto& [id, stream] : streams_) CloseAll(stream);
}

void HostStreams::Exec(const StreamOrder& order, const ExecPlace& place) {
  auto pipes = ExecInContainer(order, place);
  if (!pipes.ok()) return Refuse(order.id, pipes.status().message());
  Stream& stream = streams_[order.id];
  stream.id = order.id;
  stream.pid = pipes->pid;
  stream.input = pipes->input;
  stream.output = pipes->output;
  stream.error_output = pipes->error_output;
  stream.trouble = pipes->trouble;
  stream.terminal = order.terminal;
  stream.input_ends = !order.input;
  NeverWait(stream.input);
}

void HostStreams::Dial(const StreamOrder& order, int network) {
  const auto failed = [&](int error) {
    Refuse(order.id, absl::StrCat("connect to ", order.ip, ":", order.port, ": ", std::strerror(error)));
  };
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(order.port));
  if (inet_pton(AF_INET, order.ip.c_str(), &to.sin_addr) != 1) return failed(EINVAL);
  // A socket belongs to the network that it was made in.
  if (network >= 0 && setns(network, CLONE_NEWNET) != 0) return failed(errno);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int error = errno;
  if (network >= 0 && setns(home_, CLONE_NEWNET) != 0) _exit(1);  // what is made next must not land in a pod
  if (fd < 0) return failed(error);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno != EINPROGRESS) {
    failed(errno);
    close(fd);
    return;
  }
  Stream& stream = streams_[order.id];
  stream.id = order.id;
  stream.input = fd;
  stream.connecting = true;
  stream.connect_only = order.connect_only;
  stream.trouble_text = absl::StrCat("connect to ", order.ip, ":", order.port, ": ");
}

void HostStreams::Refuse(const std::string& id, absl::string_view why) {
  News news;
  news.id = id;
  news.error = std::string(why);
  news.exit_code = 128;
  say_(FrameKind::kStreamEnded, api::Encode(news));
}

void HostStreams::Write(absl::string_view id, absl::string_view bytes) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  it->second.input_left.append(bytes.data(), bytes.size());
}

void HostStreams::Obey(const StreamWord& word) {
  const auto it = streams_.find(word.id);
  if (it == streams_.end()) return;
  Stream& stream = it->second;
  stream.ahead -= std::min(stream.ahead, static_cast<std::size_t>(std::max<std::int64_t>(0, word.took)));
  if (word.columns > 0 && word.rows > 0) {
    stream.columns = std::min(word.columns, 0xffff);
    stream.rows = std::min(word.rows, 0xffff);
    Resize(stream);
  }
  if (word.no_more_input) {
    stream.input_ends = true;
    if (stream.input_left.empty()) CloseInput(stream);
  }
  if (word.leave) {
    if (stream.pid > 0 && !stream.exited) kill(stream.pid, SIGKILL);
    CloseAll(stream);
    streams_.erase(it);
  }
}

void HostStreams::Resize(const Stream& stream) {
  if (!stream.terminal || stream.output < 0 || stream.columns == 0) return;  // it is not there yet
  winsize size{};
  size.ws_col = static_cast<unsigned short>(stream.columns);
  size.ws_row = static_cast<unsigned short>(stream.rows);
  ioctl(stream.output, TIOCSWINSZ, &size);
}

void HostStreams::AddTo(std::vector<pollfd>& fds, bool room) {
  watched_.clear();
  const auto watch = [&](const Stream& stream, int Stream::* file, short what) {
    fds.push_back({stream.*file, what, 0});
    watched_.push_back({stream.id, file});
  };
  for (const auto& [id, stream] : streams_) {
    if (stream.trouble >= 0) watch(stream, &Stream::trouble, POLLIN);
    if (stream.input >= 0 && (stream.connecting || !stream.input_left.empty())) watch(stream, &Stream::input, POLLOUT);
    if (!room || stream.ahead >= kStreamWindow) continue;
    if (stream.output >= 0) watch(stream, &Stream::output, POLLIN);
    if (stream.error_output >= 0) watch(stream, &Stream::error_output, POLLIN);
  }
}

void HostStreams::Handle(const std::vector<pollfd>& fds, std::size_t begin) {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const auto it = streams_.find(watched_[i].id);
    if (fds[begin + i].revents == 0 || it == streams_.end()) continue;
    Stream& stream = it->second;
    int Stream::* const file = watched_[i].file;
    if (stream.*file != fds[begin + i].fd) continue;  // closed meanwhile
    if (file == &Stream::trouble) {
      ReadTrouble(stream);
    } else if (file == &Stream::input) {
      stream.connecting ? FinishConnecting(stream) : WriteInput(stream);
    } else {
      ReadOutput(stream, file);
    }
  }
  Settle();
}

void HostStreams::Exited(pid_t pid, int status) {
  for (auto& [id, stream] : streams_) {
    if (stream.pid != pid) continue;
    stream.exited = true;
    stream.status = status;
  }
}

void HostStreams::ReadTrouble(Stream& stream) {
  char piece[1024];
  int file = -1;
  const ssize_t size = ReceiveWithFile(stream.trouble, piece, sizeof piece, MSG_DONTWAIT, file);
  if (size < 0 && TryAgain(errno)) return;
  if (size <= 0) return CloseFile(stream.trouble);
  if (file >= 0 && stream.output < 0) {
    stream.output = file;
    NeverWait(stream.output);
    stream.input = fcntl(stream.output, F_DUPFD_CLOEXEC, 0);
    Resize(stream);
    return;
  }
  if (stream.trouble_text.size() < kMaxStreamTrouble) stream.trouble_text.append(piece, static_cast<std::size_t>(size));
}

void HostStreams::ReadOutput(Stream& stream, int Stream::* file) {
  char piece[kStreamPiece];
  const ssize_t size = read(stream.*file, piece, sizeof piece);
  if (size < 0 && TryAgain(errno)) return;
  if (size <= 0) return CloseFile(stream.*file);  // also when a terminal has nobody left, or a connection was reset
  stream.ahead += static_cast<std::size_t>(size);
  say_(file == &Stream::error_output ? FrameKind::kStreamErrorOutput : FrameKind::kStreamOutput,
       OutputPayload(stream.id, {piece, static_cast<std::size_t>(size)}));
}

void HostStreams::FinishConnecting(Stream& stream) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(stream.input, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  stream.connecting = false;
  if (error != 0) {
    stream.trouble_text += std::strerror(error);
    CloseAll(stream);
    return;
  }
  stream.trouble_text.clear();
  if (stream.connect_only) return CloseAll(stream);
  stream.output = fcntl(stream.input, F_DUPFD_CLOEXEC, 0);
  if (stream.input_left.empty() && stream.input_ends) CloseInput(stream);
}

void HostStreams::WriteInput(Stream& stream) {
  const ssize_t size = write(stream.input, stream.input_left.data(), stream.input_left.size());
  if (size < 0 && TryAgain(errno)) return;
  StreamWord word;
  word.id = stream.id;
  // Who does not read any more has taken all.
  word.took = size < 0 ? static_cast<std::int64_t>(stream.input_left.size()) : size;
  stream.input_left.erase(0, static_cast<std::size_t>(word.took));
  say_(FrameKind::kWord, api::Encode(word));
  if (size < 0 || (stream.input_left.empty() && stream.input_ends)) CloseInput(stream);
}

void HostStreams::CloseInput(Stream& stream) {
  if (stream.connecting || stream.input < 0) return;
  if (stream.pid < 0) shutdown(stream.input, SHUT_WR);
  // A terminal has one end for both; its user ends it by a word of his own (Ctrl-D).
  CloseFile(stream.input);
}

void HostStreams::CloseAll(Stream& stream) {
  for (int* const fd : {&stream.input, &stream.output, &stream.error_output, &stream.trouble}) CloseFile(*fd);
}

void HostStreams::Settle() {
  for (auto it = streams_.begin(); it != streams_.end();) {
    Stream& stream = it->second;
    const bool silent = stream.output < 0 && stream.error_output < 0 && stream.trouble < 0 && !stream.connecting;
    if (!silent || (stream.pid > 0 && !stream.exited)) {
      ++it;
      continue;
    }
    News news;
    news.id = stream.id;
    news.error = stream.trouble_text;
    if (stream.pid > 0)
      news.exit_code = WIFSIGNALED(stream.status) ? 128 + WTERMSIG(stream.status) : WEXITSTATUS(stream.status);
    say_(FrameKind::kStreamEnded, api::Encode(news));
    CloseAll(stream);
    it = streams_.erase(it);
  }
}

}  // namespace gangway::sandbox
