// What a process says of itself over HTTP.
//
//   /healthz, /livez   200 when the loop answers: it is asked through it, and one that is stuck answers nothing. 503
//   with the reason when
//                      the process says that it is stuck otherwise.
//   /readyz            200 when its caches are full and the API server answers; else 503 with the reason. The API
//   server is asked
//                      (GET /version) when somebody asks us, at most once a second. A replica that waits for the lease
//                      is ready as well: it keeps its caches full and can take over at once. One that is stopping is
//                      not.
//   /metrics           Prometheus' text format
//   /debug/dump        JSON: who leads, the caches, the queues, and of the scheduler the gangs that wait, with reasons
//
// Used on its loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/serve/pages.h"

namespace gangway::cmd {

// Without an answer to anything for so long a process says that it does not live.
constexpr absl::Duration kUnansweredLife = absl::Minutes(1);

// Why a fresh process would be better, when the API server last answered at `answered_at`; "" when it would not.
std::string StuckFor(absl::Time now, absl::Time started_at, absl::Time answered_at);

struct HealthSources {
  std::function<std::string()> stuck;      // why a fresh process would be better; "" when it would not
  std::function<std::string()> not_ready;  // why the process is not ready, as far as it knows itself; "" when it is
  std::function<std::string()> dump;
};

class Health {
 public:
  static constexpr absl::Duration kPatience = absl::Milliseconds(800);  // kubelets wait a second
  static constexpr absl::Duration kRemembered = absl::Seconds(1);
  static constexpr std::size_t kMaxWaiting =
      16;  // for an answer of the API server; who comes then is told at once that it has not come

  // `client` reaches the API server.
  Health(Loop& loop, kube::Client& client, const Metrics& metrics, HealthSources sources);

  // Those of one address. They must not outlive it.
  std::vector<kube::Page> Pages(bool metrics, bool health_pages);

 private:
  void Ready(kube::HttpHandler::Respond respond);
  void AskApiServer();
  void Answer(std::string problem);

  Loop& loop_;
  kube::Client& client_;
  const Metrics& metrics_;
  const HealthSources sources_;
  std::vector<kube::HttpHandler::Respond> waiting_;
  bool asking_ = false;
  std::optional<std::string> problem_;  // of the last answer; "" for none
  absl::Time answered_at_ = absl::InfinitePast();
  Loop::TimerId patience_ = 0;
  Owner owner_;
};

}  // namespace gangway::cmd
