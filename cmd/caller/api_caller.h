// One request after the other to an API server, for commands that look and act. Used on one thread, whose loop it runs
// while it waits.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/resource.h"
#include "base/asio_loop.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cmd/terminal/command_line.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "kube/client/client.h"
#include "kube/client/connection.h"
#include "kube/client/http_client.h"

namespace gangway::cmd {

struct ServerFlags {
  std::string kubeconfig, context, master;

  bool given() const { return !kubeconfig.empty() || !context.empty() || !master.empty(); }
};
// --kubeconfig, --context and vcctl's --master.
void AddServerFlags(CommandLine command, ServerFlags& flags);

class ApiCaller {
 public:
  // InvalidArgument: the flags name no server that could be asked.
  static absl::StatusOr<std::unique_ptr<ApiCaller>> Make(const ServerFlags& flags,
                                                         kube::HttpClientOptions options = {});

  // The body of a 2xx answer; any other answer is an error, none Unavailable, one that calls what was sent invalid
  // FailedPrecondition.
  absl::StatusOr<Bytes> Call(absl::string_view method, std::string path, std::string body = {}, std::string query = {},
                             std::string content_type = {});
  // Items of a list, page after page, each as JSON. `query` such as "labelSelector=...", percent-encoded.
  absl::StatusOr<std::vector<std::string>> ListJson(const api::Resource& resource, absl::string_view ns,
                                                    absl::string_view query = {});

  template <class T>
  absl::StatusOr<T> Get(const api::Resource& resource, absl::string_view ns, absl::string_view name) {
    GW_ASSIGN_OR_RETURN(const Bytes body, Call("GET", api::PathOf(resource, ns, name)));
    return api::Decode<T>(*body);
  }
  // What does not decode is an error that names the object.
  template <class T>
  absl::StatusOr<std::vector<T>> List(const api::Resource& resource, absl::string_view ns,
                                      absl::string_view query = {}) {
    GW_ASSIGN_OR_RETURN(const std::vector<std::string> items, ListJson(resource, ns, query));
    std::vector<T> out;
    for (const std::string& item : items) {
      absl::StatusOr<T> object = api::Decode<T>(item);
      if (!object.ok()) return NamedAfter(resource, item, object.status());
      out.push_back(*std::move(object));
    }
    return out;
  }

  // What is wrong with an object that does not decode, with its name.
  static absl::Status NamedAfter(const api::Resource& resource, absl::string_view json, const absl::Status& status);

  AsioLoop& loop() { return loop_; }
  kube::Client& client() { return *client_; }
  kube::TextSource& texts() { return *client_; }
  const std::string& server() const { return connection_.server; }
  // Where to look when nobody named a namespace.
  const std::string& default_namespace() const { return connection_.default_namespace; }

 private:
  explicit ApiCaller(kube::Connection connection);

  const kube::Connection connection_;
  AsioLoop loop_;
  std::unique_ptr<kube::HttpClient> client_;
  Owner owner_;
};

}  // namespace gangway::cmd
