#include "cmd/gangway/health.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/client/status.h"
#include "kube/runtime/refusal.h"

namespace gangway::cmd {
namespace {

kube::Response Page(int code, absl::string_view content_type, std::string body) {
  kube::Response response;
  response.code = code;
  response.content_type = std::string(content_type);
  response.body = MakeBytes(std::move(body));
  return response;
}

kube::Response Text(int code, std::string body) { return Page(code, "text/plain; charset=utf-8", std::move(body)); }

kube::Response NotFound(absl::string_view path, bool metrics, bool health_pages) {
  std::string served = metrics ? "/metrics" : "";
  if (health_pages) absl::StrAppend(&served, metrics ? ", " : "", "/healthz, /livez, /readyz, /debug/dump");
  return Text(404, absl::StrCat("there is no page ", path, "; served are ", served, "\n"));
}

}  // namespace

Health::Health(Loop& loop, kube::Client& client, const Metrics& metrics, HealthSources sources)
    : loop_(loop), client_(client), metrics_(metrics), sources_(std::move(sources)) {}

void Health::Pages::HandleRequest(kube::Request request, kube::HttpCaller, Respond respond) {
  if (request.method != "GET") return respond(Text(405, "only GET is served\n"));
  const std::string& path = request.path;
  if (metrics_ && path == "/metrics") return respond(Page(200, "text/plain; version=0.0.4; charset=utf-8", health_.metrics_.Expose()));
  if (!health_pages_) return respond(NotFound(path, metrics_, health_pages_));
  if (path == "/healthz" || path == "/livez") return respond(Text(200, "ok\n"));
  if (path == "/readyz") return health_.Ready(std::move(respond));
  if (path == "/debug/dump") return respond(Page(200, "application/json", health_.sources_.dump()));
  respond(NotFound(path, metrics_, health_pages_));
}

void Health::Ready(kube::HttpHandler::Respond respond) {
  if (const std::string problem = sources_.not_ready(); !problem.empty()) return respond(Text(503, absl::StrCat(problem, "\n")));
  waiting_.push_back(std::move(respond));
  if (problem_.has_value() && loop_.Now() - answered_at_ < kRemembered) return Answer(*problem_);
  if (!asking_) AskApiServer();
}

void Health::AskApiServer() {
  asking_ = true;
  patience_ = loop_.PostAt(loop_.Now() + kPatience, owner_.token(), [this] { Answer("the API server does not answer"); });
  client_.Send({"GET", "/version", "", "", "", ""}, owner_.token(), [this](const absl::StatusOr<kube::Response>& reply) {
    if (!asking_) return;  // too late; whoever asked has been told
    if (!reply.ok()) return Answer(absl::StrCat("the API server does not answer: ", kube::WhyUnreached(reply.status())));
    if (reply->code == 401) return Answer("the API server does not believe who we are: look at the token or the client certificate");
    Answer(reply->code >= 500 ? absl::StrCat("the API server answers ", reply->code) : "");
  });
}

void Health::Answer(std::string problem) {
  if (std::exchange(asking_, false)) answered_at_ = loop_.Now();
  loop_.Cancel(std::exchange(patience_, 0));
  problem_ = std::move(problem);
  for (kube::HttpHandler::Respond& respond : std::exchange(waiting_, {})) {
    respond(problem_->empty() ? Text(200, "ok\n") : Text(503, absl::StrCat(*problem_, "\n")));
  }
}

}  // namespace gangway::cmd
