#include "plugin/extender/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/check.h"
#include "base/log.h"

namespace gangway::extender {
namespace {

constexpr int kPauseMilliseconds = 50, kLongestPauseMilliseconds = 1000;
constexpr rlim_t kSpareFiles = 32;  // for all that is no connection

struct CloseAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// The addresses to try, in this order.
std::vector<std::string> Hosts(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  if (host == "localhost") return {"127.0.0.1"};    // as at our other doors
  if (host == "0.0.0.0") return {"::", "0.0.0.0"};  // also in a cluster that knows IPv6 alone, as gRPC has it
  return {std::string(host)};
}

// -1, and errno, when it cannot be had.
int Listen(const addrinfo& at) {
  const int made = socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  const int on = 1, off = 0;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // what is taken has it too
  if (at.ai_family == AF_INET6) setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(made, at.ai_addr, at.ai_addrlen) == 0 && listen(made, SOMAXCONN) == 0) return made;
  const int error = errno;
  close(made);
  errno = error;
  return -1;
}

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  GW_CHECK(getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) == 0);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// How many files may be open when so many connections come to those that are open now: `open` of them.
int MaxFiles(int open, int max_connections) {
  rlimit limit{};
  GW_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const auto now = static_cast<rlim_t>(open);
  const rlim_t room = limit.rlim_cur > now ? limit.rlim_cur - now : 0;
  const rlim_t spared = room - std::min(kSpareFiles, room / 2);
  return open + static_cast<int>(std::min(spared, static_cast<rlim_t>(max_connections)));
}

// Reset, while it waited: whoever connects and resets without end costs no more than this look, and keeps nobody
// waiting.
bool HasGone(int socket) {
  pollfd state{socket, 0, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Start(const std::string& address, int max_connections,
                                                          Arrivals& arrivals, Counter refused) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(address, ": is no address; write HOST:PORT, such as 127.0.0.1:9090"));
  }
  std::string why;
  for (const std::string& host : Hosts(absl::string_view(address).substr(0, colon))) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host.c_str(), address.c_str() + colon + 1, &wanted, &found);
    const std::unique_ptr<addrinfo, CloseAddresses> all(found);
    if (error != 0) {
      why = gai_strerror(error);
      continue;
    }
    const int listening = Listen(*all);
    if (listening < 0) {
      why = std::strerror(errno);
      if (errno == EADDRINUSE) break;
      continue;
    }
    const int wake = eventfd(0, EFD_CLOEXEC);
    GW_CHECK(wake >= 0);
    return std::unique_ptr<Listener>(new Listener(listening, wake, max_connections, arrivals, refused));
  }
  return absl::UnavailableError(absl::StrCat(address, ": cannot be listened on: ", why));
}

// The kernel gives the smallest number that is free, so that a file's number says how many others are open at least.
Listener::Listener(int socket, int wake, int max_connections, Arrivals& arrivals, Counter refused)
    : socket_(socket),
      wake_(wake),
      port_(PortOf(socket)),
      max_files_(MaxFiles(wake + 1, max_connections)),
      arrivals_(arrivals),
      refused_(refused) {}

void Listener::Begin(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

Listener::~Listener() {
  const std::uint64_t one = 1;
  GW_CHECK(write(wake_, &one, sizeof(one)) == sizeof(one));
  if (thread_.joinable()) thread_.join();
  close(socket_);
  close(wake_);
}

void Listener::Run() {
  sigset_t all;  // signals are the main thread's business
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  int pause = 0;   // milliseconds
  int taken = -1;  // who has come and is not let in yet
  for (;;) {
    pollfd ready[] = {{wake_, POLLIN, 0}, {socket_, POLLIN, 0}};
    if (poll(ready, pause > 0 ? 1 : 2, pause > 0 ? pause : -1) < 0) continue;
    if (ready[0].revents != 0) break;
    pause = 0;
    if (taken < 0) taken = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (taken < 0) {
      // Somebody who has gone again, or nobody after all.
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
      log::Warning("cannot accept a connection", {{"error", std::strerror(errno)}});
      pause = kPauseMilliseconds;  // out of files, most likely: a moment later some may be free
      continue;
    }
    if (HasGone(taken)) {
      close(std::exchange(taken, -1));
      sched_yield();  // there may be thousands of them, and whoever is here already comes first
      continue;
    }
    const absl::Time now = absl::Now();
    if (!arrivals_.TryTake(now)) {
      // At least a moment: who is cut off meanwhile may make another time the next.
      pause = static_cast<int>(std::clamp<std::int64_t>(absl::ToInt64Milliseconds(arrivals_.NextAt(now) - now) + 1, 1,
                                                        kLongestPauseMilliseconds));
    } else if (taken >= max_files_) {
      refused_.Add(1);
      close(std::exchange(taken, -1));
      log::Warning("a connection was refused: too many are open", {{"limit", max_files_}});
    } else {
      take_(std::exchange(taken, -1));
    }
  }
  if (taken >= 0) close(taken);
}

}  // namespace gangway::extender
