// The extender's HTTP door on a loop of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/metrics.h"
#include "kube/serve/http_front.h"
#include "plugin/extender/http/verb_handler.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {

class Serving {
 public:
  explicit Serving(extender::VerbOptions options, kube::HttpFrontOptions front = Front()) {
    thread_.Run([&] {
      handler_ = std::make_unique<extender::VerbHandler>(thread_.loop(), std::move(options), metrics_);
      front_ = *kube::HttpFront::Start(thread_.loop(), *handler_, std::move(front));
    });
  }
  ~Serving() {
    thread_.Run([&] {
      front_.reset();
      handler_.reset();
    });
  }
  static kube::HttpFrontOptions Front() {
    kube::HttpFrontOptions options;
    options.max_body_bytes = 64u << 20;
    return options;
  }
  int port() const { return front_->port(); }
  int connections() const { return front_->connections(); }
  std::string Sessions() {
    return thread_.Run([&] { return handler_->DebugSessions(); });
  }
  const Metrics& metrics() const { return metrics_; }
  LoopThread& thread() { return thread_; }
  extender::VerbHandler& handler() { return *handler_; }

 private:
  Metrics metrics_;
  LoopThread thread_;
  std::unique_ptr<extender::VerbHandler> handler_;
  std::unique_ptr<kube::HttpFront> front_;
};

}  // namespace gangway::testutil
