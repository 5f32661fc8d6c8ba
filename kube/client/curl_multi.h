// libcurl's multi interface on epoll: the cost of an event does not grow with the number of transfers. Private to this folder.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <curl/curl.h>

namespace gangway::kube {

using SteadyTime = std::chrono::steady_clock::time_point;

// Used on one thread, but for Wake.
class CurlMulti {
 public:
  using OnDone = std::function<void(CURL*, CURLcode)>;

  // `on_done` is called from RunOnce, after the handle was removed.
  explicit CurlMulti(OnDone on_done);
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  void Add(CURL* easy);
  void Remove(CURL* easy);
  // Makes the current or the next RunOnce return. Thread-safe.
  void Wake();
  // Waits for a socket, a timer of libcurl's, Wake or `until`, and does what is due.
  void RunOnce(std::optional<SteadyTime> until);

 private:
  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);
  int WaitMilliseconds(std::optional<SteadyTime> until) const;
  void ReportDone();

  const OnDone on_done_;
  CURLM* const multi_;
  const int epoll_;
  const int wake_;  // an eventfd
  std::optional<SteadyTime> timer_;
};

}  // namespace gangway::kube
