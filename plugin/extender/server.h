// The gRPC door of the extender: GangScheduler, Extender, Lifecycle and Explain, with health (grpc.health.v1) and
// reflection.
//
// A call is read whole, up to a limit; then it waits for one of a few threads, or is refused when too many wait.
// Messages are parsed by those threads only, so that what is in memory at a time is bounded by the limits below and not
// by how many connect; what the library itself puts no bound on is cut off (guarded_reads.h). A stream of Follow is
// answered message by message (follow_stream.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "plugin/explain/still_wanted.h"
#include "plugin/gang/policy.h"

namespace gangway::extender {

class SessionStore;

// PEM files, read again when they change. All empty: no TLS.
struct TlsFiles {
  std::string certificate, key;
  std::string client_ca;  // set: clients must show a certificate that it has signed
  bool any() const { return !certificate.empty() || !key.empty() || !client_ca.empty(); }
};

struct ServerOptions {
  std::string address = "127.0.0.1:0";  // host:port; port 0: any that is free
  TlsFiles tls;
  absl::Duration tls_look_again = absl::Seconds(10);        // how often the files are looked at; at least a second
  std::int64_t max_message_bytes = std::int64_t{16} << 20;  // of a request; beyond: RESOURCE_EXHAUSTED
  int threads = 2;
  int max_connections = 1000;                               // beyond: closed at once (listener.h)
  absl::Duration greeting_timeout = absl::Seconds(20);      // of a connection, from its first byte to its settings
  absl::Duration idle_timeout = absl::Minutes(5);           // of one that has no call
  int max_calls = 16;                                       // no look-ups; beyond: RESOURCE_EXHAUSTED at once
  int max_streams = 4;                                      // of Follow; beyond: RESOURCE_EXHAUSTED at once
  std::int64_t max_stream_bytes = std::int64_t{256} << 20;  // that one keeps (following.h)
  absl::Duration default_deadline = absl::Seconds(30);      // of calls that bring none
  absl::Duration drain = absl::Seconds(10);                 // for calls under way, when the server goes
  gang::Policy policy;                                      // by which gangs are placed; see SetPolicy
  std::shared_ptr<const SessionStore> more_sessions;  // of another door, which ListSessions shows too; may be null
  // Called on the thread that carries out a call, before it looks at the request; the second says whether the answer is
  // still waited for. For tests.
  std::function<void(absl::string_view method, explain::StillWanted still_wanted)> before_call;
};

// Thread-safe. The metrics outlive it.
class Server {
 public:
  // InvalidArgument: an option or a file is wrong; Unavailable: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options, Metrics& metrics);
  // Says NOT_SERVING, answers new calls with UNAVAILABLE, lets those under way end for options.drain, then cancels
  // them.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // From the next call on.
  void SetPolicy(gang::Policy policy);

  int port() const;
  std::string address() const;  // host:port, with the port it got

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::extender
