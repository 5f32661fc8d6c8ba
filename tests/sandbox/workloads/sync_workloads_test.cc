#include "sandbox/workloads/sync_workloads.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using PodPtr = std::shared_ptr<const HostedPod>;

Workload MakeWorkload(const std::string& name, std::int32_t replicas) {
  Workload out;
  out.metadata.name = name;
  out.metadata.ns = "default";
  out.metadata.uid = "uid-of-" + name;
  out.metadata.generation = 3;
  out.spec.replicas = replicas;
  out.spec.selector.json = R"({"matchLabels":{"app":"web"}})";
  out.spec.pod_template.json =
      R"({"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"x"}]}})";
  return out;
}
PodPtr MakePod(const std::string& name, bool ready, const std::string& phase = "Running") {
  auto pod = std::make_shared<HostedPod>();
  pod->metadata.name = name;
  pod->metadata.ns = "default";
  pod->metadata.uid = "uid-of-" + name;
  pod->spec.node_name = phase == "Pending" ? "" : "node";
  pod->status.phase = phase;
  if (ready) {
    pod->status.conditions.emplace_back();
    pod->status.conditions.back().type = "Ready";
    pod->status.conditions.back().status = "True";
  }
  return pod;
}
// "create pods NAME", "delete pods NAME", "patch replicasets/status NAME BODY"
std::vector<std::string> Told(const kube::Plan& plan) {
  std::vector<std::string> out;
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      const std::string what = absl::StrCat(std::string(write.resource->plural), write.subresource.empty() ? "" : "/",
                                            write.subresource, " ");
      if (write.verb == kube::Verb::kCreate) out.push_back(absl::StrCat("create ", what, write.name));
      if (write.verb == kube::Verb::kDelete) out.push_back(absl::StrCat("delete ", what, write.name));
      if (write.verb == kube::Verb::kMergePatch)
        out.push_back(absl::StrCat("patch ", what, write.name, " ", write.body));
    }
  }
  return out;
}

TEST(SyncWorkloadsTest, AReplicaSetHasAsManyPodsAsItAsksFor) {
  const Workload set = MakeWorkload("web-1", 3);
  const kube::Plan plan = SyncReplicaSet(set, {MakePod("one", true), MakePod("ended", false, "Failed")});
  ASSERT_THAT(Told(plan), SizeIs(3));
  EXPECT_THAT(Told(plan)[0], StartsWith("create pods web-1-"));
  EXPECT_NE(Told(plan)[0], Told(plan)[1]);
  EXPECT_THAT(Told(plan)[2], AllOf(StartsWith("patch replicasets/status web-1"), HasSubstr("\"replicas\":1"),
                                   HasSubstr("\"readyReplicas\":1"), HasSubstr("\"observedGeneration\":3")));
  const auto body = api::ParseJson(plan.stages[0][0].body);
  EXPECT_EQ(api::ToJson(body->at("metadata").at("ownerReferences")),
            R"([{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"uid-of-web-1","controller":true,)"
            R"("blockOwnerDeletion":true}])");
  EXPECT_EQ(api::ToJson(body->at("metadata").at("labels")), R"({"app":"web"})");
  EXPECT_EQ(Told(SyncReplicaSet(set, {MakePod("one", true)}))[0], Told(plan)[0]) << "the same names each time";
  // A name that is in use, also by a pod that ended, is not given again.
  const std::string taken = plan.stages[0][0].name;
  EXPECT_NE(SyncReplicaSet(set, {MakePod(taken, false, "Failed")}).stages[0][0].name, taken);
}

TEST(SyncWorkloadsTest, WhoIsTheSmallestLossGoesFirst) {
  const Workload set = MakeWorkload("web-1", 1);
  const std::vector<std::string> told =
      Told(SyncReplicaSet(set, {MakePod("ready", true), MakePod("runs", false), MakePod("waits", false, "Pending")}));
  ASSERT_THAT(told, SizeIs(3));
  EXPECT_EQ(told[0], "delete pods waits");
  EXPECT_EQ(told[1], "delete pods runs");
  Workload settled = set;
  settled.status = {1, 0, 1, 1, 3};
  EXPECT_TRUE(SyncReplicaSet(settled, {MakePod("ready", true)}).empty());
  settled.metadata.deletion_timestamp.at = absl::UnixEpoch();
  EXPECT_TRUE(SyncReplicaSet(settled, {}).empty()) << "what it owns goes with it";
}

std::shared_ptr<Workload> SetOf(const Workload& deployment, std::int32_t replicas, std::int32_t available) {
  auto set = std::make_shared<Workload>(
      MakeWorkload(SyncDeployment(deployment, {}, absl::UnixEpoch()).stages[0][0].name, replicas));
  set->status = {replicas, 0, available, available, 3};
  return set;
}

TEST(SyncWorkloadsTest, ADeploymentMakesASetForItsTemplate) {
  const Workload web = MakeWorkload("web", 2);
  const kube::Plan plan = SyncDeployment(web, {}, absl::UnixEpoch());
  ASSERT_THAT(Told(plan), SizeIs(2));
  EXPECT_THAT(Told(plan)[0], StartsWith("create replicasets web-"));
  const auto body = api::ParseJson(plan.stages[0][0].body);
  const std::string hash =
      boost::json::value_to<std::string>(body->at("metadata").at("labels").at("pod-template-hash"));
  EXPECT_EQ(plan.stages[0][0].name, "web-" + hash);
  EXPECT_EQ(body->at("spec").at("selector").at("matchLabels").at("pod-template-hash"), hash.c_str());
  EXPECT_EQ(body->at("spec").at("selector").at("matchLabels").at("app"), "web");
  EXPECT_EQ(body->at("spec").at("template").at("metadata").at("labels").at("pod-template-hash"), hash.c_str());
  EXPECT_FALSE(body->at("spec").at("template").at("metadata").as_object().contains("name"));
  EXPECT_EQ(body->at("spec").at("replicas").as_int64(), 2);
  EXPECT_EQ(body->at("metadata").at("ownerReferences").at(0).at("kind"), "Deployment");
  EXPECT_THAT(Told(plan)[1],
              AllOf(HasSubstr("\"unavailableReplicas\":2"), HasSubstr(R"("type":"Available","status":"False")")));
}

TEST(SyncWorkloadsTest, TheNewAreThereBeforeTheOldGo) {
  const Workload before = MakeWorkload("web", 2);
  Workload after = before;
  after.spec.pod_template.json =
      absl::StrCat(after.spec.pod_template.json.substr(0, 1), R"("x":1,)", after.spec.pod_template.json.substr(1));
  const auto old = SetOf(before, 2, 2);
  const auto fresh = SetOf(after, 2, 1);
  ASSERT_NE(old->metadata.name, fresh->metadata.name);
  for (const std::string& told : Told(SyncDeployment(after, {old, fresh}, absl::UnixEpoch())))
    EXPECT_FALSE(absl::StrContains(told, "\"replicas\":0}}")) << told;
  fresh->status.available = 2;
  EXPECT_EQ(Told(SyncDeployment(after, {old, fresh}, absl::UnixEpoch()))[0],
            absl::StrCat("patch replicasets ", old->metadata.name, R"( {"spec":{"replicas":0}})"));
  old->spec.replicas = 0;
  old->status = {0, 0, 0, 0, 3};
  EXPECT_THAT(Told(SyncDeployment(after, {old, fresh}, absl::UnixEpoch())).back(),
              AllOf(HasSubstr("NewReplicaSetAvailable"), HasSubstr("\"updatedReplicas\":2"),
                    HasSubstr(R"("type":"Available","status":"True")")));

  // Recreate: the other way round.
  after.spec.strategy = WorkloadStrategy{"Recreate"};
  const auto still = SetOf(before, 2, 2);
  const std::vector<std::string> told = Told(SyncDeployment(after, {still}, absl::UnixEpoch()));
  EXPECT_THAT(told[0], StartsWith("create replicasets"));
  EXPECT_THAT(SyncDeployment(after, {still}, absl::UnixEpoch()).stages[0][0].body, HasSubstr("\"replicas\":0"));
  EXPECT_EQ(told[1], absl::StrCat("patch replicasets ", still->metadata.name, R"( {"spec":{"replicas":0}})"));
  still->spec.replicas = 0;
  still->status = {0, 0, 0, 0, 3, 1};
  EXPECT_THAT(SyncDeployment(after, {still}, absl::UnixEpoch()).stages[0][0].body, HasSubstr("\"replicas\":0"))
      << "one of them is still at work";
  still->status.terminating = 0;
  EXPECT_THAT(SyncDeployment(after, {still}, absl::UnixEpoch()).stages[0][0].body, HasSubstr("\"replicas\":2"));
}

TEST(SyncWorkloadsTest, PodsThatGoAreCountedApart) {
  const auto going = std::make_shared<HostedPod>(*MakePod("going", true));
  going->metadata.deletion_timestamp.at = absl::UnixEpoch();
  EXPECT_THAT(Told(SyncReplicaSet(MakeWorkload("web-1", 0), {going})),
              ::testing::ElementsAre(AllOf(HasSubstr("\"replicas\":0"), HasSubstr("\"terminatingReplicas\":1"))));
}

TEST(SyncWorkloadsTest, AConditionKeepsItsTimeWhileItSaysTheSame) {
  Workload web = MakeWorkload("web", 2);
  const auto set = SetOf(web, 2, 1);
  const absl::Time later = absl::UnixEpoch() + absl::Minutes(1);
  web.status.conditions = {{"Available", "False", {absl::UnixEpoch()}}, {"Progressing", "True", {absl::UnixEpoch()}}};
  const std::string same = Told(SyncDeployment(web, {set}, later)).back();
  EXPECT_THAT(same, HasSubstr(R"("reason":"MinimumReplicasUnavailable","lastTransitionTime":"1970-01-01T00:00:00Z")"));
  set->status.available = 2;
  const std::string changed = Told(SyncDeployment(web, {set}, later)).back();
  EXPECT_THAT(changed, HasSubstr(R"("reason":"MinimumReplicasAvailable","lastTransitionTime":"1970-01-01T00:01:00Z")"));
  EXPECT_THAT(changed, HasSubstr(R"("reason":"NewReplicaSetAvailable","lastTransitionTime":"1970-01-01T00:00:00Z")"));
}

}  // namespace
}  // namespace gangway::sandbox
