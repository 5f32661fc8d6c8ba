// The side of `gangway extender` that Volcano's extender plugin asks over HTTP.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "plugin/gang/policy.h"

namespace gangway::extender {
class SessionStore;
}  // namespace gangway::extender

namespace gangway::cmd {

struct ExtenderHttpFlags {
  std::string listen;  // HOST:PORT; empty: it is not served
  std::string mode = "light";
  std::string admit = "whole-gang";
  std::string budget = "700ms";
  std::int64_t max_session_bytes = std::int64_t{512} << 20;
  std::string kubeconfig, context;  // of mode light
  std::string scheduler_name = "volcano";
  bool insecure = false;  // on another address than loopback, too
};

// Made, used and destroyed on the loop's thread, or while it is not running; the loop and the metrics outlive it.
class ExtenderHttp {
 public:
  // InvalidArgument: a flag is wrong; Unavailable: the address cannot be had.
  static absl::StatusOr<std::unique_ptr<ExtenderHttp>> Start(Loop& loop, const ExtenderHttpFlags& flags,
                                                             const gang::Policy& policy, Metrics& metrics);
  ~ExtenderHttp();
  ExtenderHttp(const ExtenderHttp&) = delete;
  ExtenderHttp& operator=(const ExtenderHttp&) = delete;

  // From the next session on, and in the next plan of our own watch.
  void SetPolicy(const gang::Policy& policy);
  std::string url() const;
  // Why verbs are answered as without us for now; "": they are not.
  std::string problem() const;
  // What is open here. Any thread.
  std::shared_ptr<const extender::SessionStore> sessions() const;
  // JSON.
  std::string DebugSessions() const;

 private:
  class Impl;
  explicit ExtenderHttp(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::cmd
