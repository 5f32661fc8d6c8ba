#include "plugin/webhook/service.h"

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "base/asio_loop.h"
#include "base/status_macros.h"
#include "kube/serve/http_front.h"
#include "plugin/webhook/review.h"

namespace gangway::webhook {

class Service::Impl {
 public:
  explicit Impl(std::unique_ptr<Handler> handler) : handler_(std::move(handler)) {}
  ~Impl() {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(kube::HttpFrontOptions where) {
    where.io_threads = 1;
    where.max_connections = kMaxConnections;
    where.replace_idle = true;
    where.max_header_bytes = 16u << 10;
    where.max_body_bytes = ReviewLimits().max_bytes;
    where.max_bytes_in_flight = kMaxBytesInFlight;
    where.body_timeout = absl::Seconds(10);  // as shipped, API servers wait for half of that
    GW_ASSIGN_OR_RETURN(front_, kube::HttpFront::Start(loop_, *handler_, std::move(where)));
    thread_ = std::thread([this] {
      sigset_t all;  // signals are the main thread's business
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      loop_.Run();
    });
    return absl::OkStatus();
  }
  std::string url() const { return front_->url(); }

 private:
  const std::unique_ptr<Handler> handler_;
  AsioLoop loop_{1};
  std::unique_ptr<kube::HttpFront> front_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<Service>> Service::Start(kube::HttpFrontOptions where,
                                                        std::unique_ptr<Handler> handler) {
  auto impl = std::make_unique<Impl>(std::move(handler));
  GW_RETURN_IF_ERROR(impl->Start(std::move(where)));
  return std::unique_ptr<Service>(new Service(std::move(impl)));
}

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() = default;
std::string Service::url() const { return impl_->url(); }

}  // namespace gangway::webhook
