#include "cmd/caller/api_caller.h"

#include <unistd.h>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/core/objects.h"
#include "api/json_value.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/status.h"

namespace gangway::cmd {
namespace {

constexpr int kPageSize = 500;

absl::StatusOr<kube::Connection> ConnectionOf(const ServerFlags& flags) {
  absl::StatusOr<kube::Connection> connection = kube::FindConnection(flags.kubeconfig, flags.context);
  if (flags.master.empty()) return connection;
  // An address alone is enough for a server that asks nobody who they are.
  if (!connection.ok() && (!absl::IsNotFound(connection.status()) || !flags.kubeconfig.empty())) return connection;
  kube::Connection named = connection.ok() ? *std::move(connection) : kube::Connection{};
  named.server = flags.master;
  return named;
}

}  // namespace

void AddServerFlags(CommandLine command, ServerFlags& flags) {
  command.Add("-k,--kubeconfig", flags.kubeconfig, "which kubeconfig file; default: as kubectl looks for it");
  command.Add("--context", flags.context, "which context of it; default: its current one");
  command.Add("-s,--master", flags.master, "address of the API server, instead of the context's");
}

ApiCaller::ApiCaller(kube::Connection connection)
    : connection_(std::move(connection)),
      loop_(static_cast<std::uint64_t>(absl::ToUnixNanos(absl::Now())) ^ static_cast<std::uint64_t>(getpid())) {}

absl::StatusOr<std::unique_ptr<ApiCaller>> ApiCaller::Make(const ServerFlags& flags, kube::HttpClientOptions options) {
  absl::StatusOr<kube::Connection> connection = ConnectionOf(flags);
  if (!connection.ok()) return absl::InvalidArgumentError(connection.status().message());
  std::unique_ptr<ApiCaller> caller(new ApiCaller(*std::move(connection)));
  absl::StatusOr<std::unique_ptr<kube::HttpClient>> client =
      kube::HttpClient::Make(caller->loop_, caller->connection_, std::move(options));
  if (!client.ok()) return absl::InvalidArgumentError(client.status().message());
  caller->client_ = *std::move(client);
  return caller;
}

absl::StatusOr<Bytes> ApiCaller::Call(absl::string_view method, std::string path, std::string body, std::string query,
                                      std::string content_type) {
  kube::Request request;
  request.method = std::string(method);
  request.path = std::move(path);
  request.query = std::move(query);
  request.body = std::move(body);
  request.content_type = std::move(content_type);
  std::optional<absl::StatusOr<kube::Response>> answer;
  client_->Send(std::move(request), owner_.token(), [&](absl::StatusOr<kube::Response> response) {
    answer = std::move(response);
    loop_.Stop();
  });
  while (!answer.has_value()) loop_.Run();
  if (!answer->ok()) {
    const absl::Status& status = answer->status();
    return absl::UnavailableError(absl::StrCat("the API server at ", connection_.server, " gave no answer: ",
                                               status.message(), "; --kubeconfig and --context say which server"));
  }
  const kube::Response& response = **answer;
  if (response.ok()) return response.body;
  const absl::Status refused = kube::StatusFromResponse(response);
  // What the server calls invalid is no wrong flag of ours.
  return absl::IsInvalidArgument(refused) ? absl::FailedPreconditionError(refused.message()) : refused;
}

absl::StatusOr<std::vector<std::string>> ApiCaller::ListJson(const api::Resource& resource, absl::string_view ns,
                                                             absl::string_view query) {
  std::vector<std::string> items;
  std::string next;
  do {
    std::string page = absl::StrCat("limit=", kPageSize);
    if (!query.empty()) absl::StrAppend(&page, "&", query);
    if (!next.empty()) absl::StrAppend(&page, "&continue=", PercentEncode(next));
    GW_ASSIGN_OR_RETURN(const Bytes body, Call("GET", api::PathOf(resource, ns), "", page));
    GW_ASSIGN_OR_RETURN(const boost::json::value list, api::ParseJson(*body));
    boost::system::error_code none;
    if (const boost::json::value* found = list.find_pointer("/items", none); found != nullptr && found->is_array()) {
      for (const boost::json::value& item : found->get_array()) items.push_back(api::ToJson(item));
    }
    const boost::json::value* token = list.find_pointer("/metadata/continue", none);
    next = token != nullptr && token->is_string() ? std::string(token->get_string()) : std::string();
  } while (!next.empty());
  return items;
}

absl::Status ApiCaller::NamedAfter(const api::Resource& resource, absl::string_view json, const absl::Status& status) {
  const absl::StatusOr<api::core::PartialObject> object = api::Decode<api::core::PartialObject>(json);
  const api::NamespacedName name =
      object.ok() ? api::NamespacedName{object->metadata.ns, object->metadata.name} : api::NamespacedName{};
  return absl::DataLossError(absl::StrCat(View(resource.singular), " ", name.ToString(), ": ", status.message()));
}

}  // namespace gangway::cmd
