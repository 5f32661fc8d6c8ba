// The ApiServer as what stands behind an HttpFront.
#pragma once

#include "absl/strings/str_cat.h"
#include "kube/serve/http_front.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/cluster/pod_streams.h"

namespace gangway::sandbox {

class ApiServerHandler final : public kube::HttpHandler {
 public:
  // Without `streams` none can be had.
  explicit ApiServerHandler(ApiServer& server, PodStreams* streams = nullptr) : server_(server), streams_(streams) {}

  bool IsWatch(const kube::Request& request) override { return ApiServer::IsWatch(request); }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override {
    server_.Serve(std::move(request), Of(std::move(caller)),
                  [respond = std::move(respond)](kube::Response response, std::vector<Bytes> more) mutable {
                    Reply reply(std::move(response));
                    reply.more = std::move(more);
                    respond(std::move(reply));
                  });
  }
  WatchAnswer StartWatch(kube::Request request, kube::HttpCaller caller, kube::Client::OnFrames on_frames,
                         kube::Client::OnEnd on_end) override {
    ApiServer::WatchAnswer answer =
        server_.StartWatch(request, Of(std::move(caller)), std::move(on_frames), std::move(on_end));
    return {std::move(answer.watch), std::move(answer.refused), std::move(answer.content_type), answer.text};
  }
  kube::WebSocketAnswer OpenWebSocket(kube::Request request, kube::HttpCaller caller,
                                      const std::vector<std::string>& protocols, kube::WebSocket& socket) override {
    if (streams_ != nullptr) return streams_->Open(request, Of(std::move(caller)), protocols, socket);
    return HttpHandler::OpenWebSocket(std::move(request), std::move(caller), protocols, socket);
  }

 private:
  static Caller Of(kube::HttpCaller caller) {
    Caller out{.name = std::move(caller.name)};
    out.credentials = Credentials{std::move(caller.authorization), std::move(caller.impersonate)};
    if (caller.certificate != nullptr) {
      const kube::ClientCertificate& shown = *caller.certificate;
      out.credentials->certificate =
          CertifiedUser{{.name = shown.name,
                         .uid = {},
                         .groups = shown.groups,
                         .extra = {{std::string(kCredentialId), {absl::StrCat("X509SHA256=", shown.fingerprint)}}}},
                        shown.wrong};
    }
    return out;
  }

  ApiServer& server_;
  PodStreams* const streams_;
};

}  // namespace gangway::sandbox
