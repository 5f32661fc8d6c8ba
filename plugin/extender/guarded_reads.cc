#include "plugin/extender/guarded_reads.h"

#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "plugin/extender/wire/frame_guard.h"

namespace gangway::extender {
namespace {

const FrameLimits kLimits;

ResetAllowance& OfAll() {
  static ResetAllowance& all = *new ResetAllowance(kLimits.resets_of_all);
  return all;
}

struct Told {
  Mutex mu;
  std::optional<CutConnections> counters ABSL_GUARDED_BY(mu);
  Arrivals* arrivals ABSL_GUARDED_BY(mu) = nullptr;
};
Told& WhoIsTold() {
  static Told& told = *new Told;
  return told;
}

void Tell(FrameFault fault) {
  const char* why = "its requests are taken back too often";
  {
    Told& told = WhoIsTold();
    const MutexLock lock(told.mu);
    CutConnections none;
    CutConnections& counters = told.counters.has_value() ? *told.counters : none;
    if (told.arrivals != nullptr) told.arrivals->SomebodyWasCutOff(absl::Now());
    switch (fault) {
      case FrameFault::kNone:
        return;
      case FrameFault::kHeader:
        why = "a request's header is too long";
        counters.header.Add();
        break;
      case FrameFault::kStreams:
        why = "it has too many requests, and has not acknowledged our settings";
        counters.streams.Add();
        break;
      case FrameFault::kResets:
        counters.resets.Add();
        break;
      case FrameFault::kFrames:
        why = "it sends frames that ask for nothing";
        counters.frames.Add();
        break;
    }
  }
  log::Warning("a connection is cut off", {{"why", why}});
}

// --- sockets

// A number is given again to another socket or file, and nobody tells us; an inode is not, for long.
ino_t InodeOf(int socket) {
  struct stat file{};
  return fstat(socket, &file) == 0 ? file.st_ino : 0;
}

struct Guarded {
  ino_t inode;
  FrameGuard guard{kLimits, OfAll()};
  bool told = false;
};

// By their number. What is gone stays until its number is given again, or it is seen to be gone.
struct GuardedSockets {
  Mutex mu;
  absl::flat_hash_map<int, std::unique_ptr<Guarded>> sockets ABSL_GUARDED_BY(mu);
};
GuardedSockets& ShardOf(int socket) {
  static std::array<GuardedSockets, 16>& shards = *new std::array<GuardedSockets, 16>;
  return shards[static_cast<std::size_t>(socket) % shards.size()];
}

// Of what was just read: whether the connection is at fault. `count` <= 0: it has ended.
bool IsAtFault(int socket, const msghdr& message, ssize_t count) {
  GuardedSockets& shard = ShardOf(socket);
  FrameFault fault = FrameFault::kNone;
  bool first = false;
  {
    const MutexLock lock(shard.mu);
    const auto found = shard.sockets.find(socket);
    if (found == shard.sockets.end()) return false;
    Guarded& guarded = *found->second;
    if (count <= 0 || guarded.inode != InodeOf(socket)) {
      shard.sockets.erase(found);
      return false;
    }
    const absl::Time now = absl::Now();
    auto left = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < message.msg_iovlen && left > 0; ++i) {
      const std::size_t here = std::min(left, message.msg_iov[i].iov_len);
      fault = guarded.guard.Look({static_cast<const char*>(message.msg_iov[i].iov_base), here}, now);
      left -= here;
    }
    first = fault != FrameFault::kNone && !std::exchange(guarded.told, true);
  }
  if (first) Tell(fault);
  return fault != FrameFault::kNone;
}

// --- TLS

void DropGuard(void*, void* guard, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<FrameGuard*>(guard); }

// Null: no server of HTTP/2.
FrameGuard* GuardOf(SSL* ssl) {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, &DropGuard);
  if (void* const guard = SSL_get_ex_data(ssl, index)) return static_cast<FrameGuard*>(guard);
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &protocol, &size);
  if (SSL_is_server(ssl) == 0 || absl::string_view(reinterpret_cast<const char*>(protocol), size) != "h2")
    return nullptr;
  auto guard = std::make_unique<FrameGuard>(kLimits, OfAll());
  return SSL_set_ex_data(ssl, index, guard.get()) == 1 ? guard.release() : nullptr;
}

// The function of the library that ours stands before.
template <class F>
F* Next(const char* name) {
  F* const next = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  GW_CHECK(next != nullptr);
  return next;
}

}  // namespace

void GuardReads(int socket) {
  auto guarded = std::make_unique<Guarded>(Guarded{InodeOf(socket)});
  GuardedSockets& shard = ShardOf(socket);
  const MutexLock lock(shard.mu);
  shard.sockets[socket].swap(guarded);
}

CutsCounted::CutsCounted(CutConnections counters, Arrivals& arrivals) {
  const MutexLock lock(WhoIsTold().mu);
  WhoIsTold().counters = counters;
  WhoIsTold().arrivals = &arrivals;
}
CutsCounted::~CutsCounted() {
  const MutexLock lock(WhoIsTold().mu);
  WhoIsTold().counters.reset();
  WhoIsTold().arrivals = nullptr;
}

}  // namespace gangway::extender

extern "C" __attribute__((visibility("default"))) ssize_t recvmsg(int socket, msghdr* message, int flags) {
  static const auto next = gangway::extender::Next<ssize_t(int, msghdr*, int)>("recvmsg");
  const ssize_t count = next(socket, message, flags);
  if (flags != 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) return count;
  const int error = errno;
  if (gangway::extender::IsAtFault(socket, *message, count)) {
    errno = ECONNRESET;
    return -1;
  }
  errno = error;
  return count;
}

extern "C" __attribute__((visibility("default"))) int SSL_read(SSL* ssl, void* into, int size) {
  using gangway::extender::FrameFault;
  static const auto next = gangway::extender::Next<int(SSL*, void*, int)>("SSL_read");
  const int count = next(ssl, into, size);
  if (count <= 0) return count;
  gangway::extender::FrameGuard* const guard = gangway::extender::GuardOf(ssl);
  if (guard == nullptr) return count;
  const FrameFault fault = guard->Look({static_cast<const char*>(into), static_cast<std::size_t>(count)}, absl::Now());
  if (fault == FrameFault::kNone) return count;
  gangway::extender::Tell(fault);
  ERR_raise(ERR_LIB_USER, ERR_R_PASSED_INVALID_ARGUMENT);  // or SSL_get_error would see nothing wrong
  return -1;
}
