// A TCP client that sends exactly the bytes it is told to.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace gangway::testutil {

class RawSocket {
 public:
  // `receive_buffer`: a small one makes a client that soon takes no more.
  explicit RawSocket(std::uint16_t port, int receive_buffer = 0) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawSocket() { close(fd_); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool connected() const { return connected_; }

  // False when the peer takes no more.
  bool Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // From now on what is sent goes at once, and does not wait for more.
  void SendAtOnce() {
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }

  // Ends with a reset, whatever was sent.
  void Reset() {
    const linger at_once{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd_);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  }

  // Reads on until what was received contains `text`; false at the end of the stream.
  bool ReadUntil(absl::string_view text) {
    while (!absl::StrContains(received_, text)) {
      if (!ReadSome()) return false;
    }
    return true;
  }
  // Reads one answer with a Content-Length and takes it out of what was received; "" when there is none.
  std::string ReadAnswer(bool has_body = true) {
    if (!ReadUntil("\r\n\r\n")) return "";
    const std::size_t body = received_.find("\r\n\r\n") + 4;
    const std::size_t field = received_.find("Content-Length: ");
    const std::size_t length =
        has_body && field < body ? static_cast<std::size_t>(std::atoll(received_.c_str() + field + 16)) : 0;
    while (received_.size() < body + length) {
      if (!ReadSome()) return "";
    }
    std::string answer = received_.substr(0, body + length);
    received_.erase(0, body + length);
    return answer;
  }
  // What comes next, and what was received before; "" when the peer closes.
  std::string ReadPart() {
    ReadSome();
    return std::exchange(received_, {});
  }
  // What has come by now, without waiting.
  std::string TakeWhatCame() {
    char buffer[16384];
    for (ssize_t count; (count = recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0;)
      received_.append(buffer, static_cast<std::size_t>(count));
    return std::exchange(received_, {});
  }
  // All there is until the peer closes; what was received before included.
  std::string ReadToEnd() {
    while (ReadSome()) {
    }
    return received_;
  }
  // Whether the peer closes without another byte.
  bool ClosedByPeer() { return !ReadSome() && received_.empty() && !silent_; }

 private:
  bool ReadSome() {
    pollfd ready{fd_, POLLIN, 0};
    silent_ = poll(&ready, 1, 30'000) <= 0;
    if (silent_) return false;
    char buffer[16384];
    const ssize_t count = recv(fd_, buffer, sizeof(buffer), 0);
    if (count <= 0) return false;
    received_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int fd_;
  bool connected_ = false;
  bool silent_ = false;  // the peer said nothing for long, and did not close
  std::string received_;
};

}  // namespace gangway::testutil
