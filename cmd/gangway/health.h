// What a process says of itself over HTTP.
//
//   /healthz, /livez   200 when the loop answers: it is asked through it. A loop that is stuck answers nothing.
//   /readyz            200 when its caches are full and the API server answers; else 503 with the reason. The API server is asked
//                      (GET /version) when somebody asks us, at most once a second. A replica that waits for the lease is ready as
//                      well: it keeps its caches full and can take over at once. One that is stopping is not.
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
#include "kube/serve/http_front.h"

namespace gangway::cmd {

struct HealthSources {
  std::function<std::string()> not_ready;  // why the process is not ready, as far as it knows itself; "" when it is
  std::function<std::string()> dump;
};

class Health {
 public:
  static constexpr absl::Duration kPatience = absl::Milliseconds(800);  // kubelets wait a second
  static constexpr absl::Duration kRemembered = absl::Seconds(1);

  // `client` reaches the API server.
  Health(Loop& loop, kube::Client& client, const Metrics& metrics, HealthSources sources);

  // The pages of one address.
  class Pages final : public kube::HttpHandler {
   public:
    Pages(Health& health, bool metrics, bool health_pages) : health_(health), metrics_(metrics), health_pages_(health_pages) {}
    bool IsWatch(const kube::Request&) override { return false; }
    void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override;
    WatchAnswer StartWatch(kube::Request, kube::HttpCaller, kube::Client::OnFrames, kube::Client::OnEnd) override { return {}; }

   private:
    Health& health_;
    const bool metrics_, health_pages_;
  };

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
