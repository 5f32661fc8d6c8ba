#include "plugin/webhook/handler.h"

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "kube/serve/pages.h"
#include "plugin/webhook/review.h"

namespace gangway::webhook {

kube::Response Handler::Answer(const kube::Request& request) {
  if (!ready_()) return kube::TextPage(503, "the caches are not full yet");
  const Step step = request.path == "/mutate" ? Step::kMutate : Step::kValidate;
  absl::StatusOr<std::string> answer = AnswerReview(step, request.body, queues_, namespace_queues_);
  if (!answer.ok())
    return kube::TextPage(answer.status().code() == absl::StatusCode::kResourceExhausted ? 413 : 400,
                          answer.status().message());
  kube::Response response;
  response.code = 200;
  response.content_type = "application/json";
  response.body = MakeBytes(*std::move(answer));
  return response;
}

void Handler::HandleRequest(kube::Request request, kube::HttpCaller, Respond respond) {
  const std::string& path = request.path;
  if (path != "/mutate" && path != "/validate")
    return respond(kube::TextPage(404, absl::StrCat("there is no page ", path, "; served are /mutate, /validate")));
  if (request.method != "POST") return respond(kube::TextPage(405, "only POST is served"));
  const auto begin = std::chrono::steady_clock::now();
  kube::Response response = Answer(request);
  if (metrics_ != nullptr) {
    metrics_
        ->AddCounter("gangway_webhook_reviews_total", "by page and HTTP code",
                     {{"page", path}, {"code", absl::StrCat(response.code)}})
        .Add();
    metrics_
        ->AddHistogram("gangway_webhook_review_duration_seconds", "from the whole review to its answer",
                       DurationBounds(), {{"page", path}})
        .Observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  respond(std::move(response));
}

}  // namespace gangway::webhook
