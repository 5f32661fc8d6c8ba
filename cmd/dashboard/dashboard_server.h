// The dashboard with the front that serves it: on a loopback address, to whoever is on this machine.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/loop.h"
#include "cmd/dashboard/dashboard.h"
#include "kube/client/client.h"
#include "kube/serve/http_front.h"

namespace gangway::cmd {

// Made, used and destroyed on the loop's thread, or while it is not running.
class DashboardServer {
 public:
  // `listen` as --listen of that flag has it. InvalidArgument: it is no HOST:PORT, or not a loopback one; Unavailable:
  // it cannot be had. The loop and the client outlive it.
  static absl::StatusOr<std::unique_ptr<DashboardServer>> Start(Loop& loop, kube::Client& client,
                                                                absl::string_view flag, const std::string& listen,
                                                                dashboard::DashboardOptions options);
  ~DashboardServer() { front_.reset(); }  // who asks goes before who answers
  std::string url() const { return front_->url() + "/"; }
  dashboard::Dashboard& page() { return page_; }

 private:
  DashboardServer(Loop& loop, kube::Client& client, dashboard::DashboardOptions options)
      : page_(loop, client, std::move(options)) {}

  dashboard::Dashboard page_;
  std::unique_ptr<kube::HttpFront> front_;
};

}  // namespace gangway::cmd
