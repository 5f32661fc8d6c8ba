// Hands notices to a webhook, one after the other, each until it is taken, refused for good or too old. Holds so many
// and no more: whoever brings them is never kept waiting. Used on its loop.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/backoff.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"

namespace gangway::notify {

struct DeliveryOptions {
  std::size_t most_waiting = 1000;                      // beyond, the oldest are dropped
  absl::Duration patience = absl::Hours(1);             // then a notice is dropped
  Backoff rest = {absl::Seconds(1), absl::Minutes(2)};  // after a failure
};

class Deliverer {
 public:
  // `client` talks to the webhook's host and nobody else's. `path` "/hook" and `query` percent-encoded, as its URL has
  // them. `metrics` may be null.
  Deliverer(Loop& loop, kube::Client& client, std::string path, std::string query, Metrics* metrics,
            DeliveryOptions options = {});
  void Add(std::string json);
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    std::string json;
    absl::Time since;
  };
  void Next();
  void OnAnswer(absl::StatusOr<kube::Response> answer);
  void Again(absl::Duration rest);
  void Drop(absl::string_view why);
  void Pop();

  Loop& loop_;
  kube::Client& client_;
  const std::string path_, query_;
  const DeliveryOptions options_;
  Counter sent_, refused_, dropped_, failed_;
  Gauge waiting_gauge_;
  std::deque<Waiting> waiting_;  // the first one is under way, when one is
  bool under_way_ = false, resting_ = false;
  int failures_ = 0;
  Owner owner_;
};

}  // namespace gangway::notify
