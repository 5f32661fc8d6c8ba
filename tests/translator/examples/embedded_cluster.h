// The embedded cluster in simulated time, for a test that applies files and waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::testutil {

class EmbeddedCluster {
 public:
  // Three nodes of `shape`; containers behave as the rules of `gangway sandbox --finish` and `--fail` say.
  EmbeddedCluster(const std::string& shape, const std::vector<std::string>& finish,
                  const std::vector<std::string>& fail)
      : loop_(1) {
    sandbox::ClusterOptions options;
    options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape(shape)}, 3);
    options.kubelets.behaviour = *sandbox::Behaviour::Parse(finish, fail);
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, std::move(options));
    cluster_->Start();
    loop_.RunFor(absl::Seconds(2));
  }

  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    return cluster_->api_server().Handle(request, {"test"});
  }
  // In its own namespace, else in `ns`. The answer's body when it is refused, else "".
  std::string Create(const std::string& object, const std::string& ns = "default") {
    const auto documents = api::ReadManifest(object, "object");
    GW_CHECK(documents.ok() && documents->size() == 1);
    const api::ManifestDocument& document = documents->front();
    const api::Resource* const resource = api::FindKind(document.api_version, document.kind);
    GW_CHECK(resource != nullptr);
    const kube::Response reply = Ask("POST",
                                     api::PathOf(*resource, !resource->namespaced ? ""
                                                            : document.ns.empty() ? ns
                                                                                  : document.ns),
                                     document.json);
    return reply.ok() ? "" : *reply.body;
  }
  // nullptr when there is none.
  boost::json::value Get(const api::Resource& resource, const std::string& name, const std::string& ns = "default") {
    const kube::Response reply = Ask("GET", api::PathOf(resource, ns, name));
    return reply.ok() ? *api::ParseJson(*reply.body) : boost::json::value();
  }
  // A text or a number within it, by a JSON pointer; "" when it is not there.
  std::string At(const api::Resource& resource, const std::string& name, const char* pointer,
                 const std::string& ns = "default") {
    const boost::json::value object = Get(resource, name, ns);
    boost::system::error_code error;
    const boost::json::value* const at = object.is_null() ? nullptr : object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
  }
  std::vector<std::string> Names(const api::Resource& resource, const std::string& ns = "default") {
    std::vector<std::string> names;
    const boost::json::value list = *api::ParseJson(*Ask("GET", api::PathOf(resource, ns)).body);
    for (const boost::json::value& item : list.at("items").as_array())
      names.emplace_back(item.at("metadata").at("name").as_string());
    return names;
  }
  void Run(absl::Duration time) { loop_.RunFor(time); }
  bool Until(const std::function<bool()>& done, absl::Duration time = absl::Minutes(2)) {
    return loop_.RunUntil(done, loop_.Now() + time);
  }

 private:
  SimulatedLoop loop_;
  std::unique_ptr<sandbox::Cluster> cluster_;
};

}  // namespace gangway::testutil
