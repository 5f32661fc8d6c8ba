#include "sandbox/cluster/webhook_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {
namespace {

constexpr std::size_t kMaxAnswerBytes = std::size_t{8} << 20;

}  // namespace

void WebhookHttpCalls::MakeRoom() {
  while (clients_.size() >= kMaxClients) {
    auto oldest = clients_.end();
    for (auto at = clients_.begin(); at != clients_.end(); ++at) {
      if (at->second.at_work == 0 && (oldest == clients_.end() || at->second.last_use < oldest->second.last_use))
        oldest = at;
    }
    if (oldest == clients_.end()) return;
    clients_.erase(oldest);
  }
}

void WebhookHttpCalls::Call(const WebhookCall& call, kube::Client::Done done) {
  const std::string key =
      absl::StrCat(call.server, "\n", call.tls_server_name, "\n", absl::ToInt64Seconds(call.timeout), "\n", call.ca);
  if (!clients_.contains(key)) {
    MakeRoom();
    kube::Connection connection;
    connection.server = call.server;
    connection.tls_server_name = call.tls_server_name;
    connection.ca.data = call.ca;
    kube::HttpClientOptions options;
    options.user_agent = "kube-apiserver-admission";
    options.connect_timeout = options.request_timeout = call.timeout;
    options.max_response_bytes = kMaxAnswerBytes;
    auto client = kube::HttpClient::Make(loop_, std::move(connection), options);
    if (!client.ok()) {
      return loop_.Post(owner_.token(), [done = std::move(done), status = client.status()]() mutable { done(status); });
    }
    clients_[key].client = *std::move(client);
  }
  Known& known = clients_[key];
  known.last_use = ++uses_;
  ++known.at_work;
  kube::Request request;
  request.method = "POST";
  request.path = call.path;
  request.query = call.query;
  request.body = call.body;
  known.client->Send(std::move(request), owner_.token(),
                     [this, key, done = std::move(done)](absl::StatusOr<kube::Response> answer) mutable {
                       --clients_.at(key).at_work;
                       done(std::move(answer));
                     });
}

}  // namespace gangway::sandbox
