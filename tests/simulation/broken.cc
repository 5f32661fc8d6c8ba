#include "tests/simulation/broken.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/resource.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/cache.h"
#include "plugin/controller/controllers.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;

class NaiveScheduler {
 public:
  NaiveScheduler(Loop& loop, std::unique_ptr<kube::Client> client, bool looks_at_room)
      : client_(std::move(client)),
        looks_at_room_(looks_at_room),
        pods_(loop, *client_, api::kPods, {}),
        nodes_(loop, *client_, api::kNodes, {}),
        groups_(loop, *client_, api::kPodGroups, {}) {
    groups_.Start([this](const NamespacedName& key, const auto&, const auto& group) {
      if (group != nullptr && group->status.phase.empty()) Admit(key);
    });
    nodes_.Start([this](const auto&, const auto&, const auto&) { BindAll(); });
    pods_.Start([this](const auto&, const auto&, const auto&) { BindAll(); });
  }

 private:
  void Admit(const NamespacedName& key) {
    Send("PATCH", api::PathOf(api::kPodGroups, key.ns, key.name), R"({"status":{"phase":"Inqueue"}})");
  }
  void BindAll() {
    if (!pods_.synced() || !nodes_.synced() || nodes_.size() == 0) return;
    pods_.ForEach([this](const NamespacedName& key, const std::shared_ptr<const api::core::Pod>& pod) {
      if (pod->bound() || pod->metadata.deleting() || pod->spec.scheduler_name != "volcano" || sent_[pod->metadata.uid]) return;
      const std::string node = NodeFor(*pod);
      if (node.empty()) return;
      sent_[pod->metadata.uid] = true;
      used_[node] += Cpu(*pod);
      Send("POST", api::PathOf(api::kPods, key.ns, key.name, "binding"),
           absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", key.name, R"("},"target":{"kind":"Node","name":")", node, R"("}})"));
    });
  }
  std::string NodeFor(const api::core::Pod& pod) {
    std::string found;
    nodes_.ForEach([&](const NamespacedName& key, const std::shared_ptr<const api::core::Node>& node) {
      if (found.empty() && (!looks_at_room_ || used_[key.name] + Cpu(pod) <= *node->status.allocatable.at("cpu").Units())) found = key.name;
    });
    return found;
  }
  static std::int64_t Cpu(const api::core::Pod& pod) { return *pod.spec.containers.at(0).resources.requests.at("cpu").Units(); }

  void Send(std::string method, std::string path, std::string body) {
    kube::Request request;
    request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    client_->Send(std::move(request), owner_.token(), [](absl::StatusOr<kube::Response>) {});
  }

  const std::unique_ptr<kube::Client> client_;
  const bool looks_at_room_;
  kube::Cache<api::core::Pod> pods_;
  kube::Cache<api::core::Node> nodes_;
  kube::Cache<api::volcano::PodGroup> groups_;
  std::map<std::string, bool> sent_;         // by UID
  std::map<std::string, std::int64_t> used_;  // cpu by node; never given back
  Owner owner_;
};

class ClientThatCannotDelete final : public kube::Client {
 public:
  ClientThatCannotDelete(Loop& loop, std::unique_ptr<kube::Client> client) : loop_(loop), client_(std::move(client)) {}
  void Send(kube::Request request, Token owner, Done done) override {
    if (request.method != "DELETE" || !absl::StrContains(request.path, "/pods/")) return client_->Send(std::move(request), owner, std::move(done));
    loop_.Post(owner, [done = std::move(done)]() mutable {
      kube::Response response;
      response.code = 200;
      response.body = MakeBytes(R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
      done(std::move(response));
    });
  }
  std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames, OnEnd on_end) override {
    return client_->StartWatch(std::move(request), owner, std::move(on_frames), std::move(on_end));
  }

 private:
  Loop& loop_;
  const std::unique_ptr<kube::Client> client_;
};

struct BrokenControllers {
  BrokenControllers(Loop& loop, sandbox::Cluster& cluster) : client(loop, cluster.NewClient("controllers")), controllers(loop, client, {}) { controllers.Start(); }
  ClientThatCannotDelete client;
  controller::Controllers controllers;
};

}  // namespace

std::shared_ptr<void> MakeNaiveScheduler(Loop& loop, sandbox::Cluster& cluster, bool looks_at_room) {
  return std::make_shared<NaiveScheduler>(loop, cluster.NewClient("scheduler"), looks_at_room);
}

std::shared_ptr<void> MakeControllersThatCannotDelete(Loop& loop, sandbox::Cluster& cluster) { return std::make_shared<BrokenControllers>(loop, cluster); }

}  // namespace gangway::testutil
