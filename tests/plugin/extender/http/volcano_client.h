// Volcano's extender plugin, as its client is on the wire and as it takes what it is answered: one POST a question, at
// most two idle connections kept, one JSON value read of a reply of at most 10 MiB, one timeout over all, no retries.
// volcano: plugins/extender, extender.go, send.go
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace gangway::testutil {

struct VolcanoClientOptions {
  int port = 0;
  std::string prefix = "/x";  // of the path, without a slash at its end
  bool ignorable = false;     // extender.ignorable
  absl::Duration timeout =
      absl::Seconds(30);  // extender.httpTimeout; Volcano's is 1s, a busy machine's tests have time
  // Verbs that are asked of somebody else, each on a connection of its own: of one that fails in some way.
  struct Elsewhere {
    int port = 0;
    absl::Duration timeout;
  };
  std::map<std::string, Elsewhere> elsewhere = {};
};

// Thread-safe.
class VolcanoClient {
 public:
  explicit VolcanoClient(VolcanoClientOptions options);
  ~VolcanoClient();
  VolcanoClient(const VolcanoClient&) = delete;
  VolcanoClient& operator=(const VolcanoClient&) = delete;

  // 200 and one JSON value, or why not.
  absl::StatusOr<boost::json::value> Send(absl::string_view verb, absl::string_view body);

  struct Fit {
    bool fits = true;
    std::int64_t code = 0;
    std::string reason;
    bool blocks_allocate() const { return !fits && code >= 1 && code <= 5; }
    bool blocks_preempt() const { return blocks_allocate() && code != 2; }  // evicting somebody may help
  };
  Fit Predicate(absl::string_view task, absl::string_view node);
  // nullopt: the scoring of the task is an error, its text in `error`.
  std::optional<std::map<std::string, double>> Prioritize(absl::string_view task, const std::vector<std::string>& nodes,
                                                          std::string* error = nullptr);
  // nullopt: abstains; empty: nobody of the tier is evicted.
  std::optional<std::vector<boost::json::value>> Victims(absl::string_view verb, absl::string_view evictor,
                                                         const std::vector<std::string>& evictees);
  int JobEnqueueable(absl::string_view job);  // 1, 0, -1
  void JobEnqueued(absl::string_view job);    // errors are logged, and no more
  bool JobReady(absl::string_view job);
  bool QueueOverused(absl::string_view queue);
  // False: an event error, on which the allocate action rolls back.
  bool Event(absl::string_view verb, absl::string_view task);
  // Whether the plugin is there for this session.
  bool OpenSession(absl::string_view session);
  void CloseSession() { Send("onSessionClose", "{}").IgnoreError(); }  // errors are logged, and no more

  std::size_t calls() const;
  std::size_t connections() const;  // that were ever made

 private:
  class Connection;
  std::unique_ptr<Connection> Take();
  void Give(std::unique_ptr<Connection> connection);

  const VolcanoClientOptions options_;
  mutable Mutex mu_;
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mu_);
  std::size_t calls_ ABSL_GUARDED_BY(mu_) = 0, connections_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace gangway::testutil
