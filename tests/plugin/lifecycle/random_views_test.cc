// Whatever stands in JobFlows, JobTemplates, Queues, PodGroups, pods and their owners: plans are made without a crash,
// the same view gives the same plan, and a plan changes an object at most once.
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/random_object.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/flow/reconcile_job_flow.h"
#include "plugin/lifecycle/queue/reconcile_queue.h"
#include "plugin/lifecycle/workload_groups/workload_group.h"

namespace gangway::lifecycle {
namespace {

constexpr int kRounds = 1000;

class RandomViewsTest : public ::testing::Test {
 protected:
  std::uint64_t Bits() { return bits_(); }
  bool Chance(int of) { return bits_() % static_cast<std::uint64_t>(of) == 0; }
  template <class T>
  T Any() {
    return api::RandomObject<T>([this] { return bits_(); });
  }
  template <class T>
  const T& OneOf(const std::vector<T>& of) {
    return of[bits_() % of.size()];
  }

  std::mt19937_64 bits_{17};
};

std::string Text(const kube::Plan& plan) {
  std::string out = absl::FormatTime(plan.look_again);
  std::set<std::tuple<const api::Resource*, std::string, std::string>> changed;
  for (const auto& stage : plan.stages) {
    EXPECT_FALSE(stage.empty());
    for (const kube::Write& write : stage) {
      EXPECT_TRUE(changed.insert({write.resource, write.ns, write.name}).second) << write.name << " is changed twice";
      absl::StrAppend(&out, " ", static_cast<int>(write.verb), " ", write.ns, "/", write.name, "/", write.subresource,
                      " ", write.uid, " ", write.resource_version, " ", write.body);
    }
    absl::StrAppend(&out, " |");
  }
  for (const kube::EventNote& note : plan.events) absl::StrAppend(&out, " ", note.reason, ": ", note.message);
  return out;
}

TEST_F(RandomViewsTest, JobFlows) {
  for (int round = 0; round < kRounds; ++round) {
    auto flow = Any<api::volcano::JobFlow>();
    flow.metadata.ns = "ns";
    const std::vector<std::string> names = {"a", "b", "c", "d"};
    for (api::volcano::Flow& step : flow.spec.flows) {
      step.name = OneOf(names);
      if (step.depends_on.has_value()) {
        for (std::string& target : step.depends_on->targets) target = OneOf(names);
      }
    }
    if (Chance(2)) flow.metadata.deletion_timestamp = {};
    std::map<std::string, api::volcano::Job> jobs;
    std::map<std::string, api::volcano::JobTemplate> templates;
    for (const std::string& name : names) {
      if (Chance(2)) templates[name] = Any<api::volcano::JobTemplate>();
      if (Chance(2)) continue;
      auto& job = jobs[FlowJobName(flow, name)] = Any<api::volcano::Job>();
      job.metadata.name = FlowJobName(flow, name);
      job.metadata.ns = "ns";
      if (!Chance(4))
        job.metadata.owner_references = {
            {"flow.volcano.sh/v1alpha1", "JobFlow", flow.metadata.name, flow.metadata.uid, true, true}};
      job.status.state.phase = OneOf<std::string>(
          {"", "Pending", "Running", "Completed", "Completed", "Failed", "Terminated", "Aborted", "odd"});
    }
    JobFlowView view;
    view.flow = &flow;
    for (const auto& [name, job] : jobs) view.jobs[name] = &job;
    for (const auto& [name, from] : templates) view.templates[name] = &from;
    const kube::Plan plan = ReconcileJobFlow(view);
    EXPECT_EQ(Text(plan), Text(ReconcileJobFlow(view)));
    // With the status written, it is not written again.
    flow.status = FlowStatusOf(view);
    for (const auto& stage : ReconcileJobFlow(view).stages) {
      for (const kube::Write& write : stage) EXPECT_NE(write.subresource, "status") << write.body;
    }
  }
}

TEST_F(RandomViewsTest, Queues) {
  for (int round = 0; round < kRounds; ++round) {
    auto queue = Any<api::volcano::Queue>(), parent = Any<api::volcano::Queue>();
    const std::vector<std::string> states = {"", "Open", "Closing", "Closed", "Unknown", "odd"};
    queue.status.state = OneOf(states);
    parent.status.state = OneOf(states);
    if (Chance(8)) queue.metadata.name = "root";
    if (Chance(2))
      queue.metadata.annotations[std::string(kClosedByParentKey)] = OneOf<std::string>({"true", "false", "odd"});
    queue.metadata.deletion_timestamp = {};
    auto command = Any<api::volcano::Command>();
    if (Chance(2)) command.action = OneOf<std::string>({"OpenQueue", "CloseQueue", "SyncQueue"});
    QueueView view;
    view.queue = &queue;
    if (Chance(2)) view.parent = &parent;
    if (Chance(2)) view.commands = {&command};
    for (const char* phase : {"Pending", "Running", "odd"}) {
      if (Chance(3)) view.groups.Add(phase);
    }
    const kube::Plan plan = ReconcileQueue(view);
    EXPECT_EQ(Text(plan), Text(ReconcileQueue(view)));
    // Carried out again and again it comes to an end.
    view.commands.clear();
    int looks = 0;
    for (; looks < 5; ++looks) {
      const kube::Plan next = ReconcileQueue(view);
      if (next.stages.empty()) break;
      const kube::Write& write = next.stages[0][0];
      const auto patch = api::Decode<api::volcano::Queue>(write.body);
      ASSERT_TRUE(patch.ok()) << patch.status();
      if (write.subresource == "status") queue.status = patch->status;
      for (const auto& [key, value] : patch->metadata.annotations) queue.metadata.annotations[key] = value;
      if (!patch->spec.parent.empty()) queue.spec.parent = patch->spec.parent;
    }
    EXPECT_LT(looks, 5) << queue.status.state;
  }
}

TEST_F(RandomViewsTest, WorkloadGroups) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<GroupPod> pods(bits_() % 4);
    const auto source = std::make_shared<GroupSource>();
    source->owners = {Any<api::OwnerReference>()};
    source->annotations = Any<api::ObjectMeta>().annotations;
    source->usage = Any<api::volcano::PodGroupSpec>().min_resources;
    if (Chance(8)) source->usage_error = "no";
    for (GroupPod& pod : pods) {
      pod.name = absl::StrCat("p", &pod - pods.data());
      pod.uid = pod.name;
      pod.waits = Chance(2);
      pod.created = absl::FromUnixSeconds(1800000000);
      pod.revision = OneOf<std::string>({"new", "old"});
      pod.source = source;
    }
    auto group = Any<api::volcano::PodGroup>();
    group.metadata.name = "podgroup-u";
    group.metadata.ns = "ns";
    if (Chance(2)) group.metadata.deletion_timestamp = {};
    if (Chance(2)) group.metadata.owner_references = {{"apps/v1", "ReplicaSet", "rs", "u", true, {}}};
    OwnerFacts owner;
    owner.resource =
        OneOf<const api::Resource*>({&api::kReplicaSets, &api::kStatefulSets, &api::kDaemonSets, &api::kBatchJobs});
    owner.uid = "u";
    owner.replicas = static_cast<std::int32_t>(bits_() % 2);
    owner.update_revision = OneOf<std::string>({"", "new", "newer"});
    owner.annotations = Any<api::ObjectMeta>().annotations;
    owner.annotations["scheduling.volcano.sh/group-min-member"] =
        OneOf<std::string>({"3", "0", "-1", "x", "2147483647"});
    WorkloadGroupView view;
    view.ns = "ns";
    view.name = "podgroup-u";
    for (const GroupPod& pod : pods) view.pods.push_back(&pod);
    if (Chance(2)) view.group = &group;
    if (Chance(2)) view.controller = &owner;
    if (Chance(2)) view.owners = {&owner, nullptr};
    view.owner_missing = Chance(4);
    view.inherit = !Chance(4);
    const absl::Time now = absl::FromUnixSeconds(1800000000 + static_cast<std::int64_t>(bits_() % 10));
    const std::string plan = Text(ReconcileWorkloadGroup(view, now));
    EXPECT_EQ(plan, Text(ReconcileWorkloadGroup(view, now)));
  }
}

}  // namespace
}  // namespace gangway::lifecycle
