// Counters that were broken, one by one: the audit names each. The parts are fed by hand, since no event breaks them.
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/time.h"

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::model {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Wrong = std::vector<std::string>;

// A node, a queue, a gang and a pod of it that runs, as the Cluster keeps them, and the same facts in a Cluster.
class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    model::NodeFacts facts = testutil::Node("n1");
    facts.labels = {{"zone", "a"}};
    node = nodes.Set(facts);
    queue = queues.Intern("default");
    gang = gangs.Intern(model::GangKind::kVolcano, "default", "g");
    gangs.Set(gang, testutil::Gang("g", 1));
    gangs.SetQueue(gang, queue);
    queues.Enter(queue, {});
    pod = tasks.Add();
    Wants wants = testutil::Cpu(1000);
    wants.host_ports = {{"TCP", "", 80}};
    wants.claims = {"default/c"};
    wants.pod_anti_affinity = {{"zone", {{"default"}, {}, {}}}};
    std::vector<TaskId> rematched;
    pod_terms.Set(pod, "default", {}, false);
    tasks[pod].shape = shapes.Intern(wants, [] { return std::vector<TermId>(); }, rematched);
    tasks[pod].row = node;
    tasks[pod].status = TaskStatus::kRunning;
    tasks[pod].started = testutil::At(5);
    nodes.Enter(node);
    nodes.Take(node, shape());
    pod_terms.Enter(pod, node, true, shape());
    for (const ClaimId claim : shape().claims) volumes.Hold(claim, node, 1);
    gangs.Join(pod, tasks[pod], gang);
    gangs.Hold(tasks[pod], shape().request, 1);
    queues.Hold(queue, shape().request, 1);
  }
  const Shape& shape() const { return shapes[tasks[pod].shape]; }
  Wrong Audit() const {
    Wrong wrong;
    nodes.Audit(tasks, shapes, wrong);
    shapes.Audit(tasks, {}, wrong);
    gangs.Audit(tasks, shapes, wrong);
    queues.Audit(gangs.table(), dims, wrong);
    volumes.Audit(tasks, shapes, wrong);
    domains.Audit(wrong);
    pod_terms.Audit(tasks, shapes, wrong);
    return wrong;
  }

  Dims dims;
  Names names;
  Nodes nodes{dims, names};
  Volumes volumes{names, nodes};
  Domains domains{nodes, names};
  PodTerms pod_terms{domains};
  Shapes shapes{dims, names, volumes, pod_terms, domains};
  Gangs gangs{dims, names};
  Queues queues{dims};
  SlotTable<Task> tasks;
  Row node = kNone;
  QueueId queue = kNone;
  GangId gang = kNone;
  TaskId pod = kNone;
};

TEST_F(AuditTest, NothingIsWrong) { EXPECT_THAT(Audit(), IsEmpty()); }

TEST_F(AuditTest, RoomOfANode) {
  nodes.Give(node, shape());
  EXPECT_THAT(Audit(), Contains("node n1: free of cpu is 16000, should be 15000"));
  EXPECT_THAT(Audit(), Contains("node n1: ports taken are 0, of its pods 1"));
  EXPECT_THAT(Audit(), Contains("nodes: held of cpu is 0, should be 1000"));
}

TEST_F(AuditTest, PodsOfANode) {
  nodes.Enter(node);
  EXPECT_THAT(Audit(), ElementsAre("node n1: pods are 2, of those that name it 1"));
}

TEST_F(AuditTest, ARowThatNobodyNeeds) {
  nodes.Intern("gone");
  EXPECT_THAT(Audit(), ElementsAre("node gone: is kept for nobody, or its row is given away"));
}

TEST_F(AuditTest, UsersOfAShape) {
  shapes.InternLike(tasks[pod].shape, {});
  EXPECT_THAT(Audit(), Contains(::testing::HasSubstr("users are 2, of its pods 1")));
}

TEST_F(AuditTest, LabelsOfAPodThatIsGone) {
  pod_terms.Set(pod + 1, "default", {{"app", "ctr"}}, false);
  EXPECT_THAT(Audit(), ElementsAre("pod number 1 is gone, and its labels are kept"));
  pod_terms.Remove(pod + 1);
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(AuditTest, StatusesOfAGang) {
  tasks[pod].status = TaskStatus::kBound;
  EXPECT_THAT(Audit(), ElementsAre("gang default/g: count of status 2 is 0, of its tasks 1",
                                   "gang default/g: count of status 3 is 1, of its tasks 0"));
}

TEST_F(AuditTest, TasksOfAGang) {
  tasks[pod].gang = kNone;
  EXPECT_THAT(Audit(), Contains("gang default/g: tasks are 1, of those that name it 0"));
}

TEST_F(AuditTest, WhatAGangHolds) {
  gangs.Hold(tasks[pod], shape().request, 1);
  EXPECT_THAT(Audit(), Contains("gang default/g: held of cpu is 2000, should be 1000"));
  EXPECT_THAT(Audit(), Contains("queue default: held of cpu is 1000, should be 2000"));
}

TEST_F(AuditTest, StartsOfAGang) {
  const std::string start = absl::FormatDuration(testutil::At(5) - absl::UnixEpoch());
  tasks[pod].started = testutil::At(6);
  EXPECT_THAT(Audit(), ElementsAre("gang default/g: started are 1, starts " + start + ", of its tasks 1 and " +
                                   absl::FormatDuration(testutil::At(6) - absl::UnixEpoch())));
  tasks[pod].started = absl::InfinitePast();
  EXPECT_THAT(Audit(), ElementsAre("gang default/g: started are 1, starts " + start + ", of its tasks 0 and 0"));
}

TEST_F(AuditTest, GangsOfAQueue) {
  queues.Enter(queue, {});
  EXPECT_THAT(Audit(), ElementsAre("queue default: gangs are 2, of those that name it 1"));
}

TEST_F(AuditTest, PodsThatHoldAClaim) {
  volumes.Hold(shape().claims.front(), node, 1);
  EXPECT_THAT(Audit(), ElementsAre("claim default/c: pods that hold it are 2, one by one 1",
                                   "claim default/c: its pods are not on the nodes that it counts"));
}

TEST_F(AuditTest, VolumesThatCountOnANode) {
  Attachments attachments(names, nodes);
  const Attachments::VolumeId volume = attachments.Use("d", "h");
  attachments.Hold(nodes.name_id(node), volume, 1);
  Wrong wrong;
  attachments.Audit({{{nodes.name_id(node), volume}, 1}}, {}, {{volume, 1}}, wrong);
  EXPECT_THAT(wrong, IsEmpty());
  attachments.Audit({}, {}, {}, wrong);
  EXPECT_THAT(wrong,
              ElementsAre("volumes attached to node n1: d/h is used 1 and 0 times, one by one 0 and 0",
                          "volumes attached are 1, one by one 0", "attachable volume d/h: users are 1, one by one 0"));
}

TEST_F(AuditTest, PodsThatATermCounts) {
  pod_terms.Leave(pod, node, true, shape());
  EXPECT_THAT(Audit(), Contains("pod /: holds room, and terms do not count it, or the other way round"));
  EXPECT_THAT(Audit(), Contains(::testing::EndsWith("counts by node are other ones than one by one")));
  EXPECT_THAT(Audit(), Contains(::testing::EndsWith("counts by domain are other ones than one by one")));
  EXPECT_THAT(Audit(), Contains(::testing::EndsWith("pods are 0, one by one 1")));
}

TEST_F(AuditTest, UsersOfATerm) {
  pod_terms.Use(shape());
  EXPECT_THAT(Audit(), ElementsAre(::testing::HasSubstr("users are 2, one by one 1")));
}

TEST_F(AuditTest, LabelsByWhichNodesAreAlike) {
  model::NodeFacts other = testutil::Node("n1");
  other.labels = {{"zone", "b"}};
  nodes.Set(other);
  EXPECT_THAT(Audit(), Contains("topology zone: another value than the label of node n1"));
}

TEST(AuditDeathTest, EndsTheProcessOnlyWhereItIsAskedFor) {
  const auto look = [](int audit_every) {
    Cluster cluster(audit_every);
    testutil::AddGang(cluster, "g", 1, 2, 1000);
    const_cast<Gang&>(cluster.gang(0)).held.Set(kPods, 7);
    for (int event = 0; event < 2; ++event) cluster.AuditIfAsked();
  };
  look(0);
  look(3);
  EXPECT_DEATH(look(2), "g");
}

}  // namespace
}  // namespace gangway::model
