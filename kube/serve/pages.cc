#include "kube/serve/pages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace gangway::kube {

Response TextPage(int code, absl::string_view text) {
  Response response;
  response.code = code;
  response.content_type = "text/plain; charset=utf-8";
  response.body = MakeBytes(absl::StrCat(text, "\n"));
  return response;
}

Page MetricsPage(const Metrics& metrics) {
  return {"/metrics", [&metrics](HttpHandler::Respond respond) {
            Response response;
            response.code = 200;
            response.content_type = "text/plain; version=0.0.4; charset=utf-8";
            response.body = MakeBytes(metrics.Expose());
            respond(std::move(response));
          }};
}

void Pages::HandleRequest(Request request, HttpCaller, Respond respond) {
  if (request.method != "GET") return respond(TextPage(405, "only GET is served"));  // a HEAD comes as one
  for (const Page& page : pages_) {
    if (page.path == request.path) return page.answer(std::move(respond));
  }
  const auto path = [](std::string* out, const Page& page) { out->append(page.path); };
  respond(TextPage(
      404, absl::StrCat("there is no page ", request.path, "; served are ", absl::StrJoin(pages_, ", ", path))));
}

absl::StatusOr<std::unique_ptr<PageFront>> PageFront::Start(Loop& loop, std::vector<Page> pages,
                                                            HttpFrontOptions where) {
  auto front = std::unique_ptr<PageFront>(new PageFront(std::move(pages)));
  where.io_threads = 1;
  where.max_connections = kMaxConnections;
  where.replace_idle = true;
  where.max_header_bytes = 8u << 10;
  where.max_body_bytes = 0;
  where.header_timeout = absl::Seconds(5);
  where.write_timeout = absl::Seconds(10);
  GW_ASSIGN_OR_RETURN(front->front_, HttpFront::Start(loop, front->pages_, std::move(where)));
  return front;
}

}  // namespace gangway::kube
