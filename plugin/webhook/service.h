// The webhook at its address, on a thread and a loop of its own, so that no review stands in the way of those who
// decide and renew their lease; and within a budget of its own, so that whoever calls it takes no more than that.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "plugin/webhook/handler.h"

namespace gangway::webhook {

// Thread-safe.
class Service {
 public:
  // A full house: of so many connections the one that has waited longest makes room, and one beyond those at work is
  // told 503 with Retry-After, as is the slowest body beyond what bodies may hold together. Every code but 200 is a
  // call that failed: failurePolicy decides.
  static constexpr int kMaxConnections = 256;
  static constexpr std::size_t kMaxBytesInFlight = 16u << 20;

  // `where`: address, port and TLS; the limits are its own. The handler's look-ups are called on the service's thread.
  // Errors as of HttpFront::Start.
  static absl::StatusOr<std::unique_ptr<Service>> Start(kube::HttpFrontOptions where, std::unique_ptr<Handler> handler);
  // Ends the thread, after the review in hand.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  std::string url() const;

 private:
  class Impl;
  explicit Service(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::webhook
