// The webhook over HTTP: POST /mutate and POST /validate, each an AdmissionReview. Behind an HttpFront, whose limits
// bound the body.
//
// What is no review is 400 with a sentence. Before the caches are full it is 503: with failurePolicy Ignore the API
// server goes on without us. Used on one loop: that of its service (service.h).
#pragma once

#include <functional>
#include <utility>

#include "api/volcano/admission.h"
#include "base/metrics.h"
#include "kube/serve/http_front.h"

namespace gangway::webhook {

class Handler final : public kube::HttpHandler {
 public:
  // `ready`: whether both know all that there is. `namespace_queues` may be empty, `metrics` null.
  Handler(std::function<bool()> ready, api::volcano::QueueLookup queues,
          api::volcano::NamespaceQueueLookup namespace_queues, Metrics* metrics = nullptr)
      : ready_(std::move(ready)),
        queues_(std::move(queues)),
        namespace_queues_(std::move(namespace_queues)),
        metrics_(metrics) {}

  bool IsWatch(const kube::Request&) override { return false; }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override;
  WatchAnswer StartWatch(kube::Request, kube::HttpCaller, kube::Client::OnFrames, kube::Client::OnEnd) override {
    return {};
  }

 private:
  kube::Response Answer(const kube::Request& request);

  const std::function<bool()> ready_;
  const api::volcano::QueueLookup queues_;
  const api::volcano::NamespaceQueueLookup namespace_queues_;
  Metrics* const metrics_;
};

}  // namespace gangway::webhook
