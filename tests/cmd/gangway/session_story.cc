#include "tests/cmd/gangway/session_story.h"

#include <functional>
#include <map>
#include <set>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

using ::testing::IsEmpty;
using ::testing::SizeIs;

// So many are in the first rack, where whoever does not know of racks begins.
constexpr int kNodes = 6, kInFirstRack = 2;
constexpr std::int64_t kMilliOfANode = 16'000;
constexpr int kMaxSessions = 12;
// volcano: api/types.go, TaskStatus
constexpr int kPending = 1, kRunning = 32;

struct Gang {
  std::string name;
  int pods;
  int cpu;  // of each
  bool in_a_rack = false;
  int priority = 0;
  bool has_pods = false;
};

std::string Text(const json::value& value, absl::string_view pointer) {
  boost::system::error_code none;
  const json::value* const found = value.find_pointer({pointer.data(), pointer.size()}, none);
  return found == nullptr ? "" : std::string(found->as_string());
}

// volcano: api/resource_info.go
json::object Amounts(std::int64_t milli, std::int64_t memory, int pods) {
  return {{"MilliCPU", milli}, {"Memory", memory}, {"ScalarResources", {{"pods", pods}}}, {"MaxTaskNum", 110}};
}

class SessionStory {
 public:
  SessionStory(const CallApi& call, const std::string& kubeconfig, extender::Mode mode)
      : call_(call),
        full_(mode == extender::Mode::kFull),
        // As docs/extender.md configures them.
        verbs_{.ready = false, .overused = full_, .preempt = full_, .reclaim = full_},
        extender_({"--http-listen", "127.0.0.1:0", "--http-budget", kAmpleBudget, "--mode", full_ ? "full" : "steer",
                   "--kubeconfig", kubeconfig}),
        client_({.port = extender_.http_port()}) {}

  void Tell() {
    CreateRacks(call_, kInFirstRack, kNodes);
    ASSERT_TRUE(Eventually([&] { return extender_.PageCode("/readyz") == 200; })) << extender_.output();
    Come({"wide", 4, 10});
    Come({"close", 3, 12, /*in_a_rack=*/true});
    Come({"never", 4, 20});
    UntilTheRacksAreKnown();
    RunUntil([&] { return bound_["wide"] == 4 || bound_["close"] == 3; });
    for (int i = 0; i < 3; ++i) Run();
    const std::string first = bound_["wide"] > 0 ? "wide" : "close", second = bound_["wide"] > 0 ? "close" : "wide";
    EXPECT_EQ(bound_[second], 0) << "there is no room beside " << first;
    Leave(first);
    RunUntil([&] { return bound_[second] == gangs_.at(second).pods; });
    EXPECT_FALSE(gangs_.at("never").has_pods);
    if (!full_) return;
    Come({"urgent", kNodes, 12, /*in_a_rack=*/false, /*priority=*/100});
    RunUntil([&] { return bound_["urgent"] == kNodes; });
    EXPECT_EQ(bound_[second], 0);
    EXPECT_FALSE(gangs_.at("never").has_pods);
  }

 private:
  kube::Response Do(const std::string& method, const std::string& path, const json::value& body,
                    const std::string& type = "") {
    kube::Response response = call_(method, path, body.is_null() ? "" : json::serialize(body), type);
    EXPECT_TRUE(response.ok()) << method << " " << path << ": " << response.code << " " << *response.body;
    return response;
  }
  json::array List(const api::Resource& resource) {
    const kube::Response response =
        Do("GET", api::PathOf(resource, resource.namespaced ? "default" : ""), json::value());
    return json::parse(*response.body).at("items").as_array();
  }
  static std::string PathOf(const api::Resource& resource, const std::string& name) {
    return api::PathOf(resource, "default", name);
  }

  void Come(Gang gang) {
    json::object spec{{"minMember", gang.pods},
                      {"minTaskMember", {{"w", gang.pods}}},
                      {"queue", "default"},
                      {"minResources", {{"cpu", absl::StrCat(gang.cpu * gang.pods)}}}};
    if (gang.in_a_rack) spec["networkTopology"] = {{"mode", "hard"}, {"highestTierAllowed", 1}};
    Do("POST", api::PathOf(api::kPodGroups, "default"),
       {{"apiVersion", api::kPodGroups.ApiVersion()},
        {"kind", "PodGroup"},
        {"metadata", {{"name", gang.name}}},
        {"spec", std::move(spec)}});
    gangs_[gang.name] = std::move(gang);
  }
  void Leave(const std::string& name) {
    RemovePods(name);
    Do("DELETE", PathOf(api::kPodGroups, name), json::value());
    gangs_.erase(name);
    bound_.erase(name);
  }

  // What the controller does for a gang that is let in, or of which somebody was evicted.
  void MakePods(Gang& gang) {
    gang.has_pods = true;
    for (int i = 0; i < gang.pods; ++i) {
      Do("POST", api::PathOf(api::kPods, "default"),
         {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", absl::StrCat(gang.name, "-w-", i)},
            {"labels", {{"volcano.sh/task-spec", "w"}}},
            {"annotations", {{"scheduling.k8s.io/group-name", gang.name}}}}},
          {"spec",
           {{"schedulerName", "volcano"},
            {"containers",
             json::array{{{"name", "c"},
                          {"image", "i"},
                          {"resources", {{"requests", {{"cpu", absl::StrCat(gang.cpu)}, {"memory", "100M"}}}}}}}}}}});
    }
  }
  void RemovePods(const std::string& gang) {
    for (const json::value& pod : List(api::kPods)) {
      if (GangOf(pod) == gang)
        Do("DELETE", PathOf(api::kPods, Text(pod, "/metadata/name")), {{"gracePeriodSeconds", 0}});
    }
    gangs_.at(gang).has_pods = false;
  }

  // ---- what a session tells

  static std::string GangOf(const json::value& pod) {
    return Text(pod, "/metadata/annotations/scheduling.k8s.io~1group-name");
  }
  json::object TaskOf(const json::value& pod) const {
    const Gang& gang = gangs_.at(GangOf(pod));
    const std::string node = Text(pod, "/spec/nodeName");
    const json::object request = Amounts(1000 * gang.cpu, 100'000'000, 1);
    return {{"UID", Text(pod, "/metadata/uid")},
            {"Job", absl::StrCat("default/", gang.name)},
            {"Name", Text(pod, "/metadata/name")},
            {"Namespace", "default"},
            {"TaskRole", "w"},
            {"Resreq", request},
            {"InitResreq", request},
            {"NodeName", node},
            {"Status", node.empty() ? kPending : kRunning},
            {"Priority", gang.priority},
            {"Preemptable", true},
            {"BestEffort", false},
            {"SchGated", false},
            {"Pod", pod}};
  }
  json::object JobOf(json::value group, const json::array& pods) const {
    const Gang& gang = gangs_.at(Text(group, "/metadata/name"));
    if (Text(group, "/status/phase").empty()) group.as_object()["status"] = {{"phase", "Pending"}};
    json::object tasks;
    for (const json::value& pod : pods) {
      if (GangOf(pod) == gang.name) tasks[Text(pod, "/metadata/uid")] = TaskOf(pod);
    }
    return {{"UID", absl::StrCat("default/", gang.name)},
            {"PgUID", Text(group, "/metadata/uid")},
            {"Name", gang.name},
            {"Namespace", "default"},
            {"Queue", "default"},
            {"Priority", gang.priority},
            {"MinAvailable", gang.pods},
            {"Tasks", std::move(tasks)},
            {"TaskMinAvailable", {{"w", gang.pods}}},
            {"TaskMinAvailableTotal", gang.pods},
            {"PodGroup", std::move(group)}};
  }
  json::object NodeOf(const json::value& node, const json::array& pods) const {
    const std::string name = Text(node, "/metadata/name");
    json::object tasks;
    std::int64_t idle = kMilliOfANode;
    for (const json::value& pod : pods) {
      if (Text(pod, "/spec/nodeName") != name) continue;
      tasks[absl::StrCat("default/", Text(pod, "/metadata/name"))] = TaskOf(pod);
      idle -= 1000 * gangs_.at(GangOf(pod)).cpu;
    }
    EXPECT_GE(idle, 0) << name << " holds more than it has";
    constexpr std::int64_t kMemory = std::int64_t{64} << 30;
    return {{"Name", name},
            {"Node", node},
            {"State", {{"Phase", 1}, {"Reason", ""}}},
            {"Idle", Amounts(idle, kMemory, 110)},
            {"Allocatable", Amounts(kMilliOfANode, kMemory, 110)},
            {"Tasks", std::move(tasks)}};
  }
  std::string Session() {
    const json::array pods = List(api::kPods);
    json::object jobs, nodes, queues;
    for (const json::value& group : List(api::kPodGroups))
      jobs[absl::StrCat("default/", Text(group, "/metadata/name"))] = JobOf(group, pods);
    for (const json::value& node : List(api::kNodes)) nodes[Text(node, "/metadata/name")] = NodeOf(node, pods);
    for (const json::value& queue : List(api::kQueues)) {
      const std::string name = Text(queue, "/metadata/name");
      queues[name] = {{"UID", name}, {"Name", name}, {"Weight", 1}, {"Queue", queue}};
    }
    return json::serialize(json::object{{"Jobs", std::move(jobs)},
                                        {"Nodes", std::move(nodes)},
                                        {"Queues", std::move(queues)},
                                        {"NamespaceInfo", json::object()}});
  }

  // ---- what comes of it

  void UntilTheRacksAreKnown() {
    EXPECT_TRUE(Eventually([&] {
      EXPECT_TRUE(client_.OpenSession(Session()));
      const bool known = !absl::StrContains(extender_.Page("/debug/sessions"), "\"verdict\":\"not judged\"");
      client_.CloseSession();
      return known;
    })) << extender_.Page("/debug/sessions");
  }

  void Run() {
    const std::string body = Session();
    const SessionOutcome outcome = RunSession(client_, body, verbs_);
    EXPECT_TRUE(outcome.extender_there);
    EXPECT_THAT(outcome.skipped, IsEmpty());
    EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
    for (const auto& [pod, node] : outcome.bound) Bind(pod, node);
    std::set<std::string> anew;
    for (const auto& [pod, node] : outcome.evicted) anew.insert(pod.substr(0, pod.find('-')));
    for (const std::string& gang : anew) {
      RemovePods(gang);
      MakePods(gangs_.at(gang));
    }
    for (const std::string& job : outcome.let_in) {
      const std::string name = job.substr(job.find('/') + 1);
      Do("PATCH", PathOf(api::kPodGroups, name), {{"status", {{"phase", "Inqueue"}}}}, kMergePatch);
      MakePods(gangs_.at(name));
    }
    LookAtGangs();
  }
  void RunUntil(const std::function<bool()>& done) {
    for (int i = 0; i < kMaxSessions && !done(); ++i) Run();
    EXPECT_TRUE(done()) << extender_.Page("/debug/sessions");
  }

  void Bind(const std::string& pod, const std::string& node) {
    Do("POST", absl::StrCat(PathOf(api::kPods, pod), "/binding"),
       {{"apiVersion", "v1"},
        {"kind", "Binding"},
        {"metadata", {{"name", pod}}},
        {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
    Do("PATCH", absl::StrCat(PathOf(api::kPods, pod), "/status"), {{"status", {{"phase", "Running"}}}}, kMergePatch);
  }

  // As the API server has them now.
  void LookAtGangs() {
    std::map<std::string, std::set<int>> racks;
    for (auto& [gang, count] : bound_) count = 0;
    for (const json::value& pod : List(api::kPods)) {
      const std::string node = Text(pod, "/spec/nodeName"), gang = GangOf(pod);
      int number = 0;
      if (node.empty() || !absl::SimpleAtoi(node.substr(5), &number)) continue;
      ++bound_[gang];
      racks[gang].insert(number < kInFirstRack ? 0 : 1);
    }
    for (const auto& [gang, count] : bound_)
      EXPECT_TRUE(count == 0 || count == gangs_.at(gang).pods) << gang << ": " << count << " are bound";
    EXPECT_LE(racks["close"].size(), 1u);
  }

  const CallApi& call_;
  const bool full_;
  const AskedVerbs verbs_;
  ExtenderProcess extender_;
  VolcanoClient client_;
  std::map<std::string, Gang> gangs_;
  std::map<std::string, int> bound_;  // pods, by gang
};

}  // namespace

void TellOfSessions(const CallApi& call, const std::string& kubeconfig, extender::Mode mode) {
  SessionStory(call, kubeconfig, mode).Tell();
}

}  // namespace gangway::testutil
