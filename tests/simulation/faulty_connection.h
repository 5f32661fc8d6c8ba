// The connection of one process to the API server, and what incidents do to its requests, replies and watches. Used on
// the loop.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/loop.h"
#include "base/random.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/simulation/incidents.h"

namespace gangway::testutil {

// What the connections of a history have in common.
struct Network {
  explicit Network(Loop& l) : loop(l) {}

  Loop& loop;
  sandbox::ApiServer* server = nullptr;  // known when the first request comes
  // What is drawn hits until then, and nothing is slow any more.
  absl::Time calm_at = absl::InfiniteFuture();
  absl::Time server_down_until = absl::InfinitePast();
  // Makes the pod go, at once, `after` that much time, so that it is made anew under its name.
  std::function<void(const std::string& pod, absl::Duration after)> remake;
  // When one takes effect.
  std::function<void(const Incident&)> on_fault;
  IncidentCounts counts;
  bool jitter = true;
};

class FaultyConnection {
 public:
  FaultyConnection(Network& network, sandbox::Component who, std::uint64_t seed)
      : network_(network), who_(who), random_(seed) {}
  FaultyConnection(const FaultyConnection&) = delete;
  FaultyConnection& operator=(const FaultyConnection&) = delete;

  // Whether it is about one request, one batch of frames, or a stretch of the connection; else it is for others.
  static bool Concerns(IncidentKind kind);
  // From now on: what is about a request hits the next of its kind.
  void Begin(const Incident& incident);

  sandbox::RequestFate OnRequest(const kube::Request& request);
  sandbox::WatchFate OnFrames();

 private:
  enum class Target { kWrite, kEvent, kList, kGet, kWatch };

  static Target TargetOf(const kube::Request& request);
  static bool Hits(IncidentKind kind, Target target, const kube::Request& request);
  static bool HitsFrames(IncidentKind kind);
  std::optional<Incident> Take(const std::function<bool(IncidentKind)>& hits);
  void Apply(const Incident& incident, const kube::Request& request, sandbox::RequestFate& fate);
  bool Cut(sandbox::RequestFate& fate);
  std::string SmallPage(const kube::Request& request) const;
  std::uint64_t OlderRevision(std::uint64_t pick) const;
  void AnswerFromBefore(const Incident& incident, const kube::Request& request, sandbox::RequestFate& fate);
  void LetItBeRemade(const Incident& incident, const kube::Request& request, sandbox::RequestFate& fate);
  absl::Duration Jitter();
  void Count(const Incident& incident);

  Network& network_;
  const sandbox::Component who_;
  RandomStream random_;
  std::deque<Incident> waiting_;  // for the request or batch they hit, in the order they began
  absl::Time requests_cut_until_ = absl::InfinitePast(), replies_cut_until_ = absl::InfinitePast();
  IncidentKind cut_by_ = IncidentKind::kPartition;
  Owner owner_;
};

}  // namespace gangway::testutil
