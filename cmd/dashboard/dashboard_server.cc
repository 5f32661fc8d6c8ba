#include "cmd/dashboard/dashboard_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cmd/terminal/listen_address.h"

namespace gangway::cmd {
namespace {

constexpr int kMaxConnections = 512;

kube::HttpFrontOptions FrontFor(const ListenAt& at) {
  kube::HttpFrontOptions front;
  front.address = at.ip();
  front.port = at.port;
  front.read_only = true;
  front.io_threads = 1;
  front.max_connections = kMaxConnections;
  front.replace_idle = true;
  front.max_header_bytes = 16u << 10;
  front.max_body_bytes = 0;
  front.max_watch_queue_bytes = std::size_t{8} << 20;
  front.max_unread_bytes = std::size_t{48} << 20;
  // Nothing but our own files; no page of somebody else's frames or reads this one.
  front.headers = {{"Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
                   {"X-Content-Type-Options", "nosniff"},
                   {"X-Frame-Options", "DENY"},
                   {"Referrer-Policy", "no-referrer"},
                   {"Cross-Origin-Opener-Policy", "same-origin"},
                   {"Cross-Origin-Resource-Policy", "same-origin"}};
  return front;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DashboardServer>> DashboardServer::Start(Loop& loop, kube::Client& client,
                                                                        absl::string_view flag,
                                                                        const std::string& listen,
                                                                        dashboard::DashboardOptions options) {
  GW_ASSIGN_OR_RETURN(const ListenAt at, ParseListenAt(flag, listen));
  if (!at.loopback()) {
    return absl::InvalidArgumentError(absl::StrCat(
        flag, " ", listen,
        ": whoever reaches the page sees what your credentials may read, and it has no log-in of its own; listen on "
        "127.0.0.1, and reach it from elsewhere with ssh -L or kubectl port-forward"));
  }
  auto server = std::unique_ptr<DashboardServer>(new DashboardServer(loop, client, std::move(options)));
  absl::StatusOr<std::unique_ptr<kube::HttpFront>> front = kube::HttpFront::Start(loop, server->page_, FrontFor(at));
  if (!front.ok()) return absl::Status(front.status().code(), absl::StrCat(flag, ": ", front.status().message()));
  server->front_ = *std::move(front);
  return server;
}

}  // namespace gangway::cmd
