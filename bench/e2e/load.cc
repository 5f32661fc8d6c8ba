#include "bench/e2e/load.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <future>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "api/resource.h"
#include "api/volcano/hyper_node.h"
#include "base/check.h"

namespace gangway::bench {
namespace {

std::string NodeName(int i) { return absl::StrFormat("node-%04d", i); }
std::string GangName(int i) { return absl::StrCat("gang-", i); }

}  // namespace

std::string PodName(int gang, int i) { return absl::StrCat("gang-", gang, "-", i); }

absl::Time Await(testutil::LoopThread& loop, const std::vector<absl::Time>& times, int count, absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  const auto wanted = static_cast<std::size_t>(count);
  while (true) {
    const auto [seen, at] = loop.Run(
        [&] { return std::pair(times.size(), times.size() < wanted ? absl::InfiniteFuture() : times[wanted - 1]); });
    if (seen >= wanted) return at;
    if (absl::Now() >= until) {
      std::fprintf(stderr, "after %s it was %d of %d pods\n", absl::FormatDuration(patience).c_str(),
                   static_cast<int>(seen), count);
      std::abort();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Load::Load(const testutil::ControlPlane& plane) {
  kube::HttpClientOptions options;
  options.user_agent = "load";
  auto client = kube::HttpClient::Make(loop_.loop(), plane.admin_connection(), std::move(options));
  GW_CHECK(client.ok());
  client_ = *std::move(client);
}

Load::~Load() {
  loop_.Join();
  client_.reset();
}

absl::Duration Load::Send(std::vector<kube::Request> requests) {
  const absl::Time begin = absl::Now();
  const std::vector<absl::Time> answered = SendAndNote(std::move(requests));
  return answered.empty() ? absl::ZeroDuration() : *std::max_element(answered.begin(), answered.end()) - begin;
}

std::vector<absl::Time> Load::SendAndNote(std::vector<kube::Request> requests) {
  std::vector<absl::Time> answered(requests.size());
  if (requests.empty()) return answered;
  std::promise<void> done;
  std::size_t left = requests.size();
  Owner owner;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const bool deletes = requests[i].method == "DELETE";
    client_->Send(std::move(requests[i]), owner.token(), [&, i, deletes](absl::StatusOr<kube::Response> reply) {
      if (!reply.ok() || (!reply->ok() && !(deletes && reply->code == 404))) {
        std::fprintf(stderr, "%s\n", reply.ok() ? reply->body->c_str() : reply.status().ToString().c_str());
        std::abort();
      }
      answered[i] = absl::Now();
      if (--left == 0) done.set_value();  // all on the loop
    });
  }
  done.get_future().wait();
  return answered;
}

Load::SeenPods::SeenPods(Load& load, std::string ns, Which which) : load_(load) {
  load_.loop_.Run([&] {
    kube::InformerOptions options;
    options.ns = std::move(ns);
    if (which == Which::kBound) options.field_selector = "spec.nodeName!=";
    options.keep_objects = false;
    pods_ = std::make_unique<kube::Informer<api::core::Pod>>(load_.loop_.loop(), *load_.client_, api::kPods,
                                                             std::move(options));
    pods_->Start([this](const api::NamespacedName& key, const auto&, const auto& after) {
      if (after == nullptr || seen_at_.contains(key.name)) return;
      seen_.push_back(absl::Now());
      seen_at_[key.name] = seen_.back();
    });
  });
}

Load::SeenPods::~SeenPods() {
  load_.loop_.Run([&] { pods_.reset(); });
}

absl::Time Load::SeenPods::first() { return WaitFor(1, absl::ZeroDuration()); }

absl::Time Load::SeenPods::WaitFor(int count, absl::Duration patience) {
  return Await(load_.loop_, seen_, count, patience);
}

absl::Duration Load::SeenPods::LongestGap() {
  return load_.loop_.Run([&] {
    absl::Duration longest;
    for (std::size_t i = 1; i < seen_.size(); ++i) longest = std::max(longest, seen_[i] - seen_[i - 1]);
    return longest;
  });
}

std::map<std::string, absl::Time> Load::SeenPods::SeenAt() {
  return load_.loop_.Run([&] { return seen_at_; });
}

kube::Request Post(std::string path, std::string body) {
  kube::Request request;
  request.method = "POST";
  request.path = std::move(path);
  request.body = std::move(body);
  return request;
}

std::vector<kube::Request> Nodes(int count) {
  std::vector<kube::Request> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(Post(
        api::PathOf(api::kNodes, ""),
        absl::StrFormat(
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"%s","labels":{"kubernetes.io/hostname":"%s"}},)"
            R"("status":{"capacity":{"cpu":"16","memory":"64Gi","pods":"110"},"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"},)"
            R"("conditions":[{"type":"Ready","status":"True"}]}})",
            NodeName(i), NodeName(i))));
  }
  return requests;
}

std::vector<kube::Request> PodGroups(const std::string& ns, int gangs, int size) {
  std::vector<kube::Request> requests;
  for (int g = 0; g < gangs; ++g) {
    requests.push_back(Post(
        api::PathOf(api::kPodGroups, ns),
        absl::StrFormat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"%s"},)"
                        R"("spec":{"minMember":%d,"queue":"default","minResources":{"cpu":"%d"}}})",
                        GangName(g), size, size)));
  }
  return requests;
}

std::vector<kube::Request> Pods(const std::string& ns, int gangs, int size, const std::string& scheduler, int cpus) {
  std::vector<kube::Request> requests;
  for (int g = 0; g < gangs; ++g) {
    for (int i = 0; i < size; ++i) {
      requests.push_back(Post(
          api::PathOf(api::kPods, ns),
          absl::StrFormat(
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{"app":"load"},"annotations":{"scheduling.k8s.io/group-name":"%s"}},)"
              R"("spec":{"schedulerName":"%s","restartPolicy":"Never","containers":[{"name":"main","image":"example.test/app:v1","resources":{"requests":{"cpu":"%d","memory":"100M"}}}]}})",
              PodName(g, i), GangName(g), scheduler, cpus)));
    }
  }
  return requests;
}

std::vector<kube::Request> HyperNodes(int nodes, int of_rack, int of_row) {
  std::vector<kube::Request> requests;
  const auto add = [&](int tier, const std::string& name, const char* type, const std::vector<std::string>& members) {
    requests.push_back(Post(
        api::PathOf(api::volcano::kHyperNodes, ""),
        absl::StrFormat(R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":"%s"},)"
                        R"("spec":{"tier":%d,"members":[%s]}})",
                        name, tier, absl::StrJoin(members, ",", [&](std::string* out, const std::string& member) {
                          absl::StrAppendFormat(out, R"({"type":"%s","selector":{"exactMatch":{"name":"%s"}}})", type,
                                                member);
                        }))));
  };
  std::vector<std::string> racks, rows, members;
  for (int i = 0; i < nodes; ++i) {
    members.push_back(NodeName(i));
    if (i + 1 < nodes && (i + 1) % of_rack != 0) continue;
    racks.push_back(absl::StrCat("rack-", racks.size()));
    add(1, racks.back(), "Node", std::exchange(members, {}));
  }
  for (std::size_t i = 0; i < racks.size(); ++i) {
    members.push_back(racks[i]);
    if (i + 1 < racks.size() && (i + 1) % static_cast<std::size_t>(of_row) != 0) continue;
    rows.push_back(absl::StrCat("row-", rows.size()));
    add(2, rows.back(), "HyperNode", std::exchange(members, {}));
  }
  add(3, "hall", "HyperNode", rows);
  return requests;
}

std::vector<kube::Request> Jobs(const std::string& ns, int count, int size) {
  std::vector<kube::Request> requests;
  for (int i = 0; i < count; ++i) {
    requests.push_back(Post(
        api::PathOf(api::kJobs, ns),
        absl::StrFormat(
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"job-%d"},"spec":{"schedulerName":"volcano","queue":"default","maxRetry":3,"minAvailable":%d,)"
            R"("policies":[{"event":"PodEvicted","action":"RestartJob"}],"tasks":[{"name":"worker","replicas":%d,"template":{"spec":{"restartPolicy":"Never",)"
            R"("containers":[{"name":"main","image":"example.test/app:v1","resources":{"requests":{"cpu":"1","memory":"100M"}}}]}}}]}})",
            i, size, size)));
  }
  return requests;
}

std::vector<kube::Request> Bindings(const std::string& ns, int gangs, int size, int nodes) {
  std::vector<kube::Request> requests;
  for (int g = 0; g < gangs; ++g) {
    for (int i = 0; i < size; ++i) {
      const std::string name = PodName(g, i);
      requests.push_back(Post(
          api::PathOf(api::kPods, ns, name, "binding"),
          absl::StrFormat(
              R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"%s"},"target":{"apiVersion":"v1","kind":"Node","name":"%s"}})",
              name, NodeName((g * size + i) % nodes))));
    }
  }
  return requests;
}

}  // namespace gangway::bench
