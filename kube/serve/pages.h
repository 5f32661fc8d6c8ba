// Pages that machines ask for: metrics and probes. One front for them, with little room, so that whoever else connects
// cannot keep a probe from its answer: no bodies, short headers, few connections, and a new one takes the place of the
// one that has waited longest.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/serve/http_front.h"

namespace gangway::kube {

struct Page {
  std::string path;
  std::function<void(HttpHandler::Respond)> answer;  // to a GET
};

// A page of plain text; a line break is added.
Response TextPage(int code, absl::string_view text);
// Prometheus' text format. The metrics outlive it.
Page MetricsPage(const Metrics& metrics);

// Answers with the page of a path. Another path is 404 and lists them, another method than GET and HEAD 405.
class Pages final : public HttpHandler {
 public:
  explicit Pages(std::vector<Page> pages) : pages_(std::move(pages)) {}
  bool IsWatch(const Request&) override { return false; }
  void HandleRequest(Request request, HttpCaller caller, Respond respond) override;
  WatchAnswer StartWatch(Request, HttpCaller, Client::OnFrames, Client::OnEnd) override { return {}; }

 private:
  const std::vector<Page> pages_;
};

// Used as an HttpFront is; the loop, and what the pages look at, outlive it.
class PageFront {
 public:
  static constexpr int kMaxConnections = 64;

  // `where`: address, port and TLS; the limits are its own. Errors as of HttpFront::Start.
  static absl::StatusOr<std::unique_ptr<PageFront>> Start(Loop& loop, std::vector<Page> pages,
                                                          HttpFrontOptions where = {});
  std::string url() const { return front_->url(); }

 private:
  explicit PageFront(std::vector<Page> pages) : pages_(std::move(pages)) {}

  Pages pages_;
  std::unique_ptr<HttpFront> front_;
};

}  // namespace gangway::kube
