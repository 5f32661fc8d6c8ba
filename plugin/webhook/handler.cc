#include "plugin/webhook/handler.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/webhook/review.h"

namespace gangway::webhook {
namespace {

kube::Response Answer(int code, absl::string_view content_type, std::string body) {
  kube::Response response;
  response.code = code;
  response.content_type = std::string(content_type);
  response.body = MakeBytes(std::move(body));
  return response;
}
kube::Response Text(int code, absl::string_view text) { return Answer(code, "text/plain; charset=utf-8", absl::StrCat(text, "\n")); }

}  // namespace

void Handler::HandleRequest(kube::Request request, kube::HttpCaller, Respond respond) {
  const bool mutate = request.path == "/mutate";
  if (!mutate && request.path != "/validate") return respond(Text(404, absl::StrCat("there is no page ", request.path, "; served are /mutate, /validate")));
  if (request.method != "POST") return respond(Text(405, "only POST is served"));
  if (!ready_()) return respond(Text(503, "the caches are not full yet"));
  absl::StatusOr<std::string> answer = AnswerReview(mutate ? Step::kMutate : Step::kValidate, request.body, queues_, namespace_queues_);
  respond(answer.ok() ? Answer(200, "application/json", *std::move(answer)) : Text(400, answer.status().message()));
}

}  // namespace gangway::webhook
