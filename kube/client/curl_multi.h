// libcurl's multi interface on epoll: the cost of an event does not grow with the number of transfers. Private to this
// folder.
//
// Transfers run in lanes. Those of one lane share its connections, those of two never do, because libcurl chooses by
// address alone: 7.88 puts a request whose HTTP/2 connection is gone onto the HTTP/1.1 connection that a watch is
// using, and goes on putting requests onto a connection that has fallen silent. A lane is the only thing that can be
// left behind for certain.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <curl/curl.h>

namespace gangway::kube {

using SteadyTime = std::chrono::steady_clock::time_point;

class CurlMulti;

// Used on the thread of its CurlMulti, which outlives it. Its connections close with it; no transfer is in it then.
class CurlLane {
 public:
  ~CurlLane();
  CurlLane(const CurlLane&) = delete;
  CurlLane& operator=(const CurlLane&) = delete;

  void Add(CURL* easy);
  void Remove(CURL* easy);

 private:
  friend class CurlMulti;
  CurlLane(int epoll, std::uint32_t id);
  static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);

  CURLM* const multi_;
  const int epoll_;
  const std::uint32_t id_;
  std::optional<SteadyTime> timer_;
};

// Used on one thread, but for Wake.
class CurlMulti {
 public:
  using OnDone = std::function<void(CURL*, CURLcode)>;

  // `on_done` is called from RunOnce, after the handle was removed from its lane.
  explicit CurlMulti(OnDone on_done);
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  std::shared_ptr<CurlLane> NewLane();
  // Makes the current or the next RunOnce return. Thread-safe.
  void Wake();
  // Waits for a socket, a timer of libcurl's, Wake or `until`, and does what is due.
  void RunOnce(std::optional<SteadyTime> until);

 private:
  std::shared_ptr<CurlLane> LaneOf(std::uint32_t id) const;
  int WaitMilliseconds(std::optional<SteadyTime> until) const;
  void ReportDone(CurlLane& lane);

  const OnDone on_done_;
  const int epoll_;
  const int wake_;  // an eventfd
  std::uint32_t last_id_ = 0;
  std::vector<std::weak_ptr<CurlLane>> lanes_;
};

}  // namespace gangway::kube
