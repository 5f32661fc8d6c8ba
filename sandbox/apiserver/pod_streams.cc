// Requests for pods/exec and pods/portforward: what is asked, of whom. The streams themselves are of whoever has the
// connection.
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {

// registry/core/pod: ExecLocation, PortForwardLocation; kubelet: remotecommand.NewOptions
Outcome<StreamQuery> ServerCore::OpenStream(const Exchange& exchange) {
  const Target& target = exchange.target;
  StreamQuery stream;
  stream.ns = target.ns;
  stream.pod = target.name;
  stream.forward = target.subresource == "portforward";
  const RecordPtr record = store_.Find(api::kPods, target.key());
  if (record == nullptr) return NotFound(api::kPods, target.name);
  stream.uid = record->uid;
  if (!stream.forward) {
    const Draft pod = Draft::OfStored(*record->json);
    Outcome<std::string> container = ContainerAskedFor(pod.object(), target.name, exchange.query.Get("container"));
    if (!container.ok()) return container.refusal();
    stream.container = *std::move(container);
    for (const absl::string_view word : exchange.query.All("command")) stream.command.emplace_back(word);
    stream.terminal = exchange.query.Flag("tty");
    stream.input = exchange.query.Flag("stdin");
    stream.output = exchange.query.Flag("stdout");
    stream.error_output = exchange.query.Flag("stderr") && !stream.terminal;  // a terminal has one output
    if (stream.command.empty()) return BadRequest("you must specify at least one command for the container");
    if (!stream.input && !stream.output && !stream.error_output)
      return BadRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  if (record->fields.Get("spec.nodeName").empty())
    return BadRequest(absl::StrCat("pod ", target.name, " does not have a host assigned"));
  if (pod_stream_check_ == nullptr) return NotFound(api::kPods, absl::StrCat(target.name, "/", target.subresource));
  if (const absl::Status status = pod_stream_check_(stream); !status.ok()) return OfKubelet(status, target.name);
  return stream;
}

Outcome<kube::Response> ServerCore::Connect(Exchange& exchange) {
  Outcome<StreamQuery> stream = OpenStream(exchange);
  if (!stream.ok()) return stream.refusal();
  return BadRequest(
      "Upgrade request required: this server takes WebSocket upgrades, which kubectl 1.31 and later sends");
}

ApiServer::StreamAnswer ServerCore::ReadStream(const kube::Request& request, const Caller& caller) {
  const auto refuse = [](kube::Response response) {
    return ApiServer::StreamAnswer{std::nullopt, std::move(response)};
  };
  if (Objection objection = Authorize(request, caller)) return refuse(objection->ToResponse());
  Outcome<Exchange> exchange = Open(request, caller);
  if (!exchange.ok()) return refuse(exchange.refusal().ToResponse());
  const Target& target = exchange->target;
  const bool streams =
      target.resource == &api::kPods && (target.subresource == "exec" || target.subresource == "portforward");
  if (!streams) return refuse(BadRequest("nothing at this path speaks WebSocket").ToResponse());
  // A WebSocket is opened by a GET; who may only read has no right to it
  // (AuthorizePodWebsocketUpgradeCreatePermission).
  if (Objection objection = AuthorizeVerb(*exchange, "create")) return refuse(objection->ToResponse());
  Outcome<StreamQuery> query = OpenStream(*exchange);
  if (!query.ok()) return refuse(query.refusal().ToResponse());
  return {*std::move(query), std::nullopt};
}

}  // namespace gangway::sandbox
