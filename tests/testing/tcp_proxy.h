// A TCP proxy on loopback that can do what proxies, load balancers and servers do to connections: end them at once, by
// halves or in the middle of an answer, and swallow what they carry without ending them.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::testutil {

// Thread-safe. "All" are the connections that stand; those that come later are carried, unless it says otherwise.
class TcpProxy {
 public:
  // Connections go to these ports of loopback in turn.
  explicit TcpProxy(std::vector<int> targets) : targets_(std::move(targets)) {
    sockaddr_in address = Loopback(0);
    GW_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    GW_CHECK(listen(listener_, 256) == 0);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~TcpProxy() {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      stopped_ = true;
    }
    Wake();
    thread_.join();
    for (Pair& pair : pairs_) Close(pair);
    close(listener_);
    close(wake_);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }
  std::string url(const char* scheme = "http") const { return absl::StrCat(scheme, "://127.0.0.1:", port_); }
  // So far; and those that stand, also those that carry nothing any more.
  int accepted() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return accepted_;
  }
  std::size_t standing() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return pairs_.size();
  }

  // All that clients say from now on is kept.
  void Record() {
    Change([this] { records_ = true; });
  }
  std::string said() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return said_;
  }

  // Ends all with a reset.
  void Drop() {
    Change([this] {
      for (Pair& pair : pairs_) pair.mode = Mode::kReset;
    });
  }
  // Only the one that was accepted as number `index`, from 0.
  void DropOnly(int index) { SetMode(index, Mode::kReset); }
  // All go on standing and take every byte, and nothing comes out at either end.
  void Stall() {
    Change([this] {
      for (Pair& pair : pairs_) pair.mode = Mode::kSwallow;
    });
  }
  void StallOnly(int index) { SetMode(index, Mode::kSwallow); }
  // From now on connections are accepted and taken no further.
  void StallNew(bool stall) {
    Change([this, stall] { stall_new_ = stall; });
  }
  // Ends what all say to their clients, and goes on taking what the clients say.
  void HalfClose() {
    Change([this] {
      for (Pair& pair : pairs_) pair.mode = Mode::kHalfClose;
    });
  }
  // All end after so many more bytes to the client.
  void Truncate(std::size_t bytes) {
    Change([this, bytes] {
      for (Pair& pair : pairs_) pair.left = bytes;
    });
  }
  // Where the connections go that come from now on.
  void SetTargets(std::vector<int> targets) {
    Change([this, &targets] { targets_ = std::move(targets); });
  }

 private:
  enum class Mode { kCarry, kSwallow, kHalfClose, kHalfClosed, kReset };
  struct Pair {
    int index = 0;
    std::array<int, 2> fds = {-1, -1};        // client, server
    std::array<std::string, 2> waiting = {};  // for them
    Mode mode = Mode::kCarry;
    std::optional<std::size_t> left;  // bytes to the client
    bool over = false;
  };

  void SetMode(int index, Mode mode) {
    Change([this, index, mode] {
      for (Pair& pair : pairs_) {
        if (pair.index == index) pair.mode = mode;
      }
    });
  }
  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  static void Prepare(int fd) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
  static void Close(Pair& pair) {
    const linger now{1, 0};
    for (int& fd : pair.fds) {
      if (fd < 0) continue;
      if (pair.mode == Mode::kReset) setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
      close(std::exchange(fd, -1));
    }
  }
  void Wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
  }
  // Done when this returns, as far as the proxy goes.
  template <class F>
  void Change(F change) {
    const std::lock_guard<std::mutex> lock(mu_);
    change();
    for (Pair& pair : pairs_) Apply(pair);
    Sweep();
    Wake();
  }

  void Apply(Pair& pair) {
    if (pair.mode == Mode::kReset) pair.over = true;
    if (pair.mode == Mode::kSwallow) pair.waiting = {};
    if (pair.mode != Mode::kHalfClose) return;
    shutdown(pair.fds[0], SHUT_WR);
    pair.mode = Mode::kHalfClosed;
  }
  void Sweep() {
    for (auto pair = pairs_.begin(); pair != pairs_.end();) {
      if (pair->over) Close(*pair);
      pair = pair->over ? pairs_.erase(pair) : std::next(pair);
    }
  }

  void Run() {
    std::vector<pollfd> watched;
    for (;;) {
      watched.assign({{listener_, POLLIN, 0}, {wake_, POLLIN, 0}});
      {
        const std::lock_guard<std::mutex> lock(mu_);
        if (stopped_) return;
        for (const Pair& pair : pairs_) {
          for (std::size_t side = 0; side < 2; ++side) {
            const bool full = pair.waiting[1 - side].size() > (1u << 20);
            const int events = (full ? 0 : POLLIN) | (pair.waiting[side].empty() ? 0 : POLLOUT);
            watched.push_back({pair.fds[side], static_cast<short>(events), 0});
          }
        }
      }
      poll(watched.data(), watched.size(), -1);
      const std::lock_guard<std::mutex> lock(mu_);
      std::uint64_t ignored = 0;
      if (watched[1].revents != 0) [[maybe_unused]]
        const ssize_t taken = read(wake_, &ignored, sizeof(ignored));
      for (Pair& pair : pairs_) Carry(pair);
      Sweep();
      if (watched[0].revents != 0) Accept();
    }
  }

  void Accept() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int target = targets_[static_cast<std::size_t>(accepted_) % targets_.size()];
    Pair& pair = pairs_.emplace_back();
    pair.index = accepted_++;
    pair.fds = {client, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (stall_new_) pair.mode = Mode::kSwallow;
    const sockaddr_in address = Loopback(target);
    pair.over = connect(pair.fds[1], reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0;
    for (const int fd : pair.fds) Prepare(fd);
    Sweep();
  }

  void Carry(Pair& pair) {
    for (std::size_t side = 0; side < 2 && !pair.over; ++side) {
      Read(pair, side);
      if (!pair.over) Write(pair, 1 - side);
    }
  }
  // From one side, for the other.
  void Read(Pair& pair, std::size_t side) {
    char buffer[65536];
    for (;;) {
      if (pair.waiting[1 - side].size() > (1u << 20)) return;
      const ssize_t count = recv(pair.fds[side], buffer, sizeof(buffer), MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count <= 0) {
        Write(pair, 1 - side);
        pair.over = true;
        return;
      }
      if (records_ && side == 0) said_.append(buffer, static_cast<std::size_t>(count));
      const bool swallowed = pair.mode == Mode::kSwallow || (pair.mode == Mode::kHalfClosed && side == 1);
      if (!swallowed) pair.waiting[1 - side].append(buffer, static_cast<std::size_t>(count));
    }
  }
  static void Write(Pair& pair, std::size_t side) {
    std::string& bytes = pair.waiting[side];
    if (side == 0 && pair.left && bytes.size() > *pair.left) bytes.resize(*pair.left);
    while (!bytes.empty()) {
      const ssize_t count = send(pair.fds[side], bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count <= 0) {
        pair.over = true;
        return;
      }
      if (side == 0 && pair.left) *pair.left -= static_cast<std::size_t>(count);
      bytes.erase(0, static_cast<std::size_t>(count));
    }
    if (side == 0 && pair.left == 0u) pair.over = true;
  }

  mutable std::mutex mu_;
  std::vector<int> targets_;
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int port_ = 0, accepted_ = 0;
  bool stopped_ = false, stall_new_ = false, records_ = false;
  std::string said_;
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace gangway::testutil
