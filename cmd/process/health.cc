#include "cmd/process/health.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/client/status.h"
#include "kube/runtime/refusal.h"

namespace gangway::cmd {
namespace {

kube::Response OkUnless(const std::string& problem) {
  return problem.empty() ? kube::TextPage(200, "ok") : kube::TextPage(503, problem);
}

}  // namespace

std::string StuckFor(absl::Time now, absl::Time started_at, absl::Time answered_at) {
  const absl::Duration unanswered = now - std::max(answered_at, started_at);
  if (unanswered <= kUnansweredLife) return "";
  return absl::StrCat("the API server has answered nothing for ",
                      absl::FormatDuration(absl::Trunc(unanswered, absl::Seconds(1))));
}

Health::Health(Loop& loop, kube::Client& client, const Metrics& metrics, HealthSources sources)
    : loop_(loop), client_(client), metrics_(metrics), sources_(std::move(sources)) {}

std::vector<kube::Page> Health::Pages(bool metrics, bool health_pages) {
  const auto alive = [this](kube::HttpHandler::Respond respond) { respond(OkUnless(sources_.stuck())); };
  const auto dump = [this](kube::HttpHandler::Respond respond) {
    kube::Response response;
    response.code = 200;
    response.content_type = "application/json";
    response.body = MakeBytes(sources_.dump());
    respond(std::move(response));
  };
  std::vector<kube::Page> pages;
  if (metrics) pages.push_back(kube::MetricsPage(metrics_));
  if (!health_pages) return pages;
  pages.push_back({"/healthz", alive});
  pages.push_back({"/livez", alive});
  pages.push_back({"/readyz", [this](kube::HttpHandler::Respond respond) { Ready(std::move(respond)); }});
  pages.push_back({"/debug/dump", dump});
  return pages;
}

void Health::Ready(kube::HttpHandler::Respond respond) {
  if (const std::string problem = sources_.not_ready(); !problem.empty()) return respond(OkUnless(problem));
  if (waiting_.size() >= kMaxWaiting) return respond(kube::TextPage(503, "the API server has not answered yet"));
  waiting_.push_back(std::move(respond));
  if (problem_.has_value() && loop_.Now() - answered_at_ < kRemembered) return Answer(*problem_);
  if (!asking_) AskApiServer();
}

void Health::AskApiServer() {
  asking_ = true;
  patience_ =
      loop_.PostAt(loop_.Now() + kPatience, owner_.token(), [this] { Answer("the API server does not answer"); });
  client_.Send(
      {"GET", "/version", "", "", "", ""}, owner_.token(), [this](const absl::StatusOr<kube::Response>& reply) {
        if (!asking_) return;  // too late; whoever asked has been told
        if (!reply.ok())
          return Answer(absl::StrCat("the API server does not answer: ", kube::WhyUnreached(reply.status())));
        if (reply->code == 401)
          return Answer("the API server does not believe who we are: look at the token or the client certificate");
        Answer(reply->code >= 500 ? absl::StrCat("the API server answers ", reply->code) : "");
      });
}

void Health::Answer(std::string problem) {
  if (std::exchange(asking_, false)) answered_at_ = loop_.Now();
  loop_.Cancel(std::exchange(patience_, 0));
  problem_ = std::move(problem);
  for (kube::HttpHandler::Respond& respond : std::exchange(waiting_, {})) {
    respond(OkUnless(*problem_));
  }
}

}  // namespace gangway::cmd
