#include "sandbox/cluster/pod_streams.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kube/client/status.h"
#include "sandbox/streams/exec_session.h"
#include "sandbox/streams/port_forward_session.h"
#include "sandbox/streams/remote_command.h"

namespace gangway::sandbox {
namespace {

kube::WebSocketAnswer RefuseStream(absl::string_view why) {
  kube::WebSocketAnswer answer;
  answer.refused.code = 400;
  answer.refused.content_type = "application/json";
  answer.refused.body = MakeBytes(kube::StatusBody(400, "BadRequest", why));
  return answer;
}

// The first of `known` that was offered.
absl::string_view Chosen(const std::vector<std::string>& offered, std::initializer_list<absl::string_view> known) {
  for (const absl::string_view each : known)
    if (std::find(offered.begin(), offered.end(), each) != offered.end()) return each;
  return {};
}

kube::WebSocketAnswer NoProtocol(const std::vector<std::string>& offered, absl::string_view known) {
  return RefuseStream(
      absl::StrCat("none of the protocols ", absl::StrJoin(offered, ", "), " is spoken here: it is ", known));
}

}  // namespace

PodStreams::PodStreams(ApiServer& server, std::function<Kubelets*()> kubelets)
    : server_(server), kubelets_(std::move(kubelets)) {
  server_.SetPodStreamCheck([this](const StreamQuery& query) -> absl::Status {
    const Kubelets* const running = kubelets_();
    if (running == nullptr) return absl::UnavailableError("the kubelets are not running");
    return running->CheckStream({query.ns, query.pod}, query.uid, query.container);
  });
}

kube::WebSocketAnswer PodStreams::Open(const kube::Request& request, const Caller& caller,
                                       const std::vector<std::string>& protocols, kube::WebSocket& socket) {
  ApiServer::StreamAnswer asked = server_.ReadStream(request, caller);
  if (!asked.query.has_value()) return {nullptr, "", *std::move(asked.refused)};
  if (!asked.query->forward) return OpenExec(*asked.query, protocols, socket);
  if (Chosen(protocols, {kPortForward}).empty()) return NoProtocol(protocols, kPortForward);
  kube::WebSocketAnswer answer;
  answer.protocol = std::string(kPortForward);
  answer.user = std::make_unique<PortForwardSession>(
      socket, asked.query->pod,
      [this, query = *asked.query](int port, StreamEvents events) -> absl::StatusOr<std::unique_ptr<ContainerStream>> {
        Kubelets* const running = kubelets_();
        if (running == nullptr) return absl::UnavailableError("the kubelets are not running");
        return running->Dial({query.ns, query.pod}, query.uid, port, std::move(events));
      });
  return answer;
}

kube::WebSocketAnswer PodStreams::OpenExec(const StreamQuery& query, const std::vector<std::string>& protocols,
                                           kube::WebSocket& socket) {
  kube::WebSocketAnswer answer;
  answer.protocol = std::string(Chosen(protocols, {kRemoteCommandV5, kRemoteCommandV4}));
  if (answer.protocol.empty()) return NoProtocol(protocols, kRemoteCommandV5);
  ExecOrder order{query.container, query.command, query.input, query.terminal};
  auto session = ExecSession::Start(socket, {query.output, query.error_output}, [&](StreamEvents events) {
    return kubelets_()->Exec({query.ns, query.pod}, query.uid, order, std::move(events));
  });
  if (!session.ok()) return RefuseStream(session.status().message());
  answer.user = *std::move(session);
  return answer;
}

}  // namespace gangway::sandbox
