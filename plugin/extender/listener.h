// Takes connections for the gRPC server.
//
// gRPC's own listener (1.51) is deaf for ever once a connection could not be taken because too many files were open
// (grpc/grpc#20418). This one takes no more than a number of connections, looks again when one could not be taken, and
// says how many it has turned away.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "base/metrics.h"
#include "plugin/extender/wire/arrivals.h"

namespace gangway::extender {

// Made and destroyed on any thread.
class Listener {
 public:
  // On the listener's thread; owns the socket, which does not block.
  using Take = std::function<void(int socket)>;

  // Listens at once and takes nobody until Begin. `address`: host:port; the host is an IP address (IPv6 in brackets), a
  // wildcard, or a name; port 0: any that is free. `max_connections`, which leaves room below the files that the
  // process may have open: beyond it who connects is turned away, and counted. What else is opened later counts as
  // well. `arrivals` outlives it. InvalidArgument: no address; Unavailable: it cannot be had.
  static absl::StatusOr<std::unique_ptr<Listener>> Start(const std::string& address, int max_connections,
                                                         Arrivals& arrivals, Counter refused);
  // Takes nobody any more.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Once.
  void Begin(Take take);
  int port() const { return port_; }

 private:
  Listener(int socket, int wake, int max_connections, Arrivals& arrivals, Counter refused);
  void Run();

  const int socket_, wake_, port_, max_files_;
  Arrivals& arrivals_;
  Counter refused_;
  Take take_;
  std::thread thread_;
};

}  // namespace gangway::extender
