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

// Which lane's socket an event is of. No lane has number 0: that is the eventfd.
std::uint64_t Pack(std::uint32_t lane, int socket) {
  return std::uint64_t{lane} << 32 | static_cast<std::uint32_t>(socket);
}

}  // namespace

CurlLane::CurlLane(int epoll, std::uint32_t id) : multi_(MakeMulti()), epoll_(epoll), id_(id) {
  GW_CHECK(multi_ != nullptr);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLane::OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLane::OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 256L);              // idle ones kept
  curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);  // of HTTP/2; the server says how many really
}

CurlLane::~CurlLane() {
  curl_multi_cleanup(multi_);  // still calls OnSocket
}

void CurlLane::Add(CURL* easy) { GW_CHECK(curl_multi_add_handle(multi_, easy) == CURLM_OK); }

void CurlLane::Remove(CURL* easy) { GW_CHECK(curl_multi_remove_handle(multi_, easy) == CURLM_OK); }

int CurlLane::OnSocket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  const auto& lane = *static_cast<const CurlLane*>(self);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(lane.epoll_, EPOLL_CTL_DEL, socket, nullptr);  // a closed one has left by itself
    return 0;
  }
  epoll_event event{};
  event.events = ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
  event.data.u64 = Pack(lane.id_, socket);
  if (epoll_ctl(lane.epoll_, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
  if (errno == ENOENT && epoll_ctl(lane.epoll_, EPOLL_CTL_ADD, socket, &event) == 0) return 0;
  return -1;
}

int CurlLane::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto& timer = static_cast<CurlLane*>(self)->timer_;
  if (timeout_ms < 0) {
    timer.reset();
  } else {
    timer = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  }
  return 0;
}

CurlMulti::CurlMulti(OnDone on_done)
    : on_done_(std::move(on_done)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  GW_CHECK(epoll_ >= 0);
  GW_CHECK(wake_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = Pack(0, wake_);
  GW_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0);
}

CurlMulti::~CurlMulti() {
  close(wake_);
  close(epoll_);
}

std::shared_ptr<CurlLane> CurlMulti::NewLane() {
  std::erase_if(lanes_, [](const std::weak_ptr<CurlLane>& lane) { return lane.expired(); });
  std::shared_ptr<CurlLane> lane(new CurlLane(epoll_, ++last_id_));
  lanes_.push_back(lane);
  return lane;
}

std::shared_ptr<CurlLane> CurlMulti::LaneOf(std::uint32_t id) const {
  for (const std::weak_ptr<CurlLane>& held : lanes_) {
    if (std::shared_ptr<CurlLane> lane = held.lock(); lane != nullptr && lane->id_ == id) return lane;
  }
  return nullptr;
}

void CurlMulti::Wake() {
  const std::uint64_t one = 1;
  // Full means that it is awake.
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
}

int CurlMulti::WaitMilliseconds(std::optional<SteadyTime> until) const {
  for (const std::weak_ptr<CurlLane>& held : lanes_) {
    const std::shared_ptr<CurlLane> lane = held.lock();
    if (lane != nullptr && lane->timer_.has_value())
      until = until.has_value() ? std::min(*until, *lane->timer_) : *lane->timer_;
  }
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
    const int socket = static_cast<int>(event.data.u64 & 0xffff'ffff);
    if (event.data.u64 >> 32 == 0) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t taken = read(wake_, &ignored, sizeof(ignored));
      continue;
    }
    const std::shared_ptr<CurlLane> lane = LaneOf(static_cast<std::uint32_t>(event.data.u64 >> 32));
    if (lane == nullptr) continue;
    int mask = 0;
    if ((event.events & EPOLLIN) != 0) mask |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) mask |= CURL_CSELECT_ERR;
    curl_multi_socket_action(lane->multi_, socket, mask, &running);
  }
  std::vector<std::shared_ptr<CurlLane>> lanes;  // what is done with a transfer may end its lane, and begin others
  for (const std::weak_ptr<CurlLane>& held : lanes_) {
    if (std::shared_ptr<CurlLane> lane = held.lock(); lane != nullptr) lanes.push_back(std::move(lane));
  }
  for (const std::shared_ptr<CurlLane>& lane : lanes) {
    if (lane->timer_.has_value() && *lane->timer_ <= std::chrono::steady_clock::now()) {
      lane->timer_.reset();
      curl_multi_socket_action(lane->multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    ReportDone(*lane);
  }
}

void CurlMulti::ReportDone(CurlLane& lane) {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(lane.multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode result = message->data.result;  // dies with the removal
    lane.Remove(easy);
    on_done_(easy, result);
  }
}

}  // namespace gangway::kube
