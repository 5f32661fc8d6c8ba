// Puts a FrameGuard before what the gRPC server reads.
//
// gRPC has no place for it: its endpoints are its own, and with a relay in front of it each call would wait for one
// thread more, twice. But it reads a socket with the C library's recvmsg, and TLS with OpenSSL's SSL_read. The
// program's own functions of these names (guarded_reads.cc) go before those of the libraries; they call them, and look
// at what came. A connection at fault is to gRPC one that its client has broken off.
#pragma once

#include "base/metrics.h"
#include "plugin/extender/wire/arrivals.h"

namespace gangway::extender {

// A socket of ours that gRPC will read without TLS. What comes over TLS is looked at wherever a server speaks HTTP/2.
void GuardReads(int socket);

// Connections that were cut, by why.
struct CutConnections {
  Counter header, streams, resets, frames;
};
// Counts them and tells the arrivals, and no others than the last that was made. Thread-safe.
class CutsCounted {
 public:
  // `arrivals` outlives it.
  CutsCounted(CutConnections counters, Arrivals& arrivals);
  ~CutsCounted();
  CutsCounted(const CutsCounted&) = delete;
  CutsCounted& operator=(const CutsCounted&) = delete;
};

}  // namespace gangway::extender
