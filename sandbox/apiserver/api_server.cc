#include "sandbox/apiserver/api_server.h"

#include <utility>

#include "absl/strings/match.h"
#include "sandbox/apiserver/route.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {

class ApiServer::Impl {
 public:
  Impl(Loop& loop, ApiServerOptions options) : core(loop, std::move(options)) {}
  // Calls `go` with the caller whose user is known, or `refuse` with a response.
  template <class Go, class Refuse>
  auto Identified(const Caller& caller, Go go, Refuse refuse) {
    if (!core.identifies() || !caller.credentials.has_value()) return go(caller);
    Outcome<Caller> known = core.Identify(caller);
    return known.ok() ? go(*known) : refuse(known.refusal().ToResponse());
  }
  ServerCore core;
};

ApiServer::ApiServer(Loop& loop, ApiServerOptions options) : impl_(std::make_unique<Impl>(loop, std::move(options))) {}
ApiServer::~ApiServer() = default;

kube::Response ApiServer::Handle(const kube::Request& request, const Caller& caller, std::vector<Bytes>* more) {
  return impl_->Identified(
      caller, [&](const Caller& known) { return impl_->core.Handle(request, known, more); },
      [](kube::Response refused) { return refused; });
}

void ApiServer::Serve(kube::Request request, const Caller& caller, Respond respond) {
  impl_->Identified(
      caller, [&](const Caller& known) { impl_->core.Serve(std::move(request), known, std::move(respond)); },
      [&](kube::Response refused) { respond(std::move(refused), {}); });
}
void ApiServer::SetWebhookCalls(WebhookCalls calls) { impl_->core.SetWebhookCalls(std::move(calls)); }

bool ApiServer::IsWatch(const kube::Request& request) {
  const bool log = absl::EndsWith(request.path, "/log") && absl::StrContains(request.path, "/pods/");
  const absl::string_view word = log ? "follow" : "watch";
  if (request.method != "GET" || !absl::StrContains(request.query, word)) return false;
  Outcome<Query> query = Query::Parse(request.query);
  return query.ok() && query->Flag(word);
}

ApiServer::WatchAnswer ApiServer::StartWatch(const kube::Request& request, const Caller& caller,
                                             kube::Client::OnFrames on_frames, kube::Client::OnEnd on_end) {
  return impl_->Identified(
      caller,
      [&](const Caller& known) {
        return impl_->core.StartWatch(request, known, std::move(on_frames), std::move(on_end));
      },
      [](kube::Response refused) { return WatchAnswer{nullptr, std::move(refused), "application/json"}; });
}

void ApiServer::SetPodLogs(PodLogs pod_logs, PodLogStreams streams) {
  impl_->core.SetPodLogs(std::move(pod_logs), std::move(streams));
}
void ApiServer::SetPodStreamCheck(PodStreamCheck check) { impl_->core.SetPodStreamCheck(std::move(check)); }
ApiServer::StreamAnswer ApiServer::ReadStream(const kube::Request& request, const Caller& caller) {
  return impl_->Identified(
      caller, [&](const Caller& known) { return impl_->core.ReadStream(request, known); },
      [](kube::Response refused) { return StreamAnswer{std::nullopt, std::move(refused)}; });
}
void ApiServer::BreakWatches() { impl_->core.watches().EndAll(absl::OkStatus()); }
void ApiServer::Restart() {
  ++restarts_;
  impl_->core.watches().EndAll(absl::UnavailableError("the API server was restarted"));
  CompactHistory();
}
void ApiServer::CompactHistory() { impl_->core.store().Compact(); }
const Store& ApiServer::store() const { return impl_->core.store(); }

}  // namespace gangway::sandbox
