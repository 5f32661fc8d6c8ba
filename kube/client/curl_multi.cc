#include "kube/client/curl_multi.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace gangway::kube {
namespace {

CURLM* MakeMulti() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  GW_CHECK(started == CURLE_OK);
  return curl_multi_init();
}

}  // namespace

CurlMulti::CurlMulti(OnDone on_done)
    : on_done_(std::move(on_done)),
      multi_(MakeMulti()),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  GW_CHECK(multi_ != nullptr);
  GW_CHECK(epoll_ >= 0);
  GW_CHECK(wake_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  GW_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlMulti::OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlMulti::OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 256L);  // idle ones kept
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);  // of HTTP/2; the server says how many really
}

CurlMulti::~CurlMulti() {
  curl_multi_cleanup(multi_);  // still calls OnSocket
  close(wake_);
  close(epoll_);
}

void CurlMulti::Add(CURL* easy) { GW_CHECK(curl_multi_add_handle(multi_, easy) == CURLM_OK); }

void CurlMulti::Remove(CURL* easy) { GW_CHECK(curl_multi_remove_handle(multi_, easy) == CURLM_OK); }

void CurlMulti::Wake() {
  const std::uint64_t one = 1;
  // Full means that it is awake.
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

int CurlMulti::OnSocket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  const int epoll = static_cast<CurlMulti*>(self)->epoll_;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);  // a closed one has left by itself
    return 0;
  }
  epoll_event event{};
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
  event.data.fd = socket;
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
  if (errno == ENOENT && epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) == 0) return 0;
  return -1;
}

int CurlMulti::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto& timer = static_cast<CurlMulti*>(self)->timer_;
  if (timeout_ms < 0) {
    timer.reset();
  } else {
    timer = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  }
  return 0;
}

int CurlMulti::WaitMilliseconds(std::optional<SteadyTime> until) const {
  if (timer_.has_value()) until = until.has_value() ? std::min(*until, *timer_) : *timer_;
  if (!until.has_value()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

void CurlMulti::RunOnce(std::optional<SteadyTime> until) {
  std::array<epoll_event, 128> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), WaitMilliseconds(until));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t taken = read(wake_, &ignored, sizeof(ignored));
      continue;
    }
    int mask = 0;
    if ((event.events & EPOLLIN) != 0) mask |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) mask |= CURL_CSELECT_ERR;
    curl_multi_socket_action(multi_, event.data.fd, mask, &running);
  }
  if (timer_.has_value() && *timer_ <= std::chrono::steady_clock::now()) {
    timer_.reset();
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  ReportDone();
}

void CurlMulti::ReportDone() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode result = message->data.result;  // dies with the removal
    Remove(easy);
    on_done_(easy, result);
  }
}

}  // namespace gangway::kube
