// What `gangway doctor` finds: row S-7 of the contract and the traps of its sections 2.10, 6.9 and 6.16.
#include "cmd/gangway/doctor_checks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Objects Of(const std::string& yaml) {
  const auto documents = api::ReadDocuments(yaml, "test");
  GW_CHECK(documents.ok());
  Objects out;
  for (const api::ManifestDocument& document : *documents) out.push_back(*api::ParseJson(document.json));
  return out;
}

std::vector<std::string> Told(const Ailments& ailments) {
  std::vector<std::string> out;
  for (const Ailment& one : ailments) out.push_back(absl::StrCat(one.subject, ": ", one.what, " | ", one.remedy));
  return out;
}

const char kOperator[] = R"(
metadata: {name: paddle-controller-manager, namespace: paddle-system}
spec: {replicas: 1, template: {spec: {containers: [{name: proxy, image: kube-rbac-proxy}, {name: m, image: "registry/paddle-operator:v0.3.5"}]}}}
)";
const char kVolcano[] = R"(
metadata: {name: volcano-controllers, namespace: volcano-system}
spec: {template: {spec: {containers: [{name: c, image: "volcanosh/vc-controller-manager:v1.13.0"}]}}}
---
metadata: {name: volcano-scheduler, namespace: volcano-system}
spec: {template: {spec: {containers: [{name: c, image: "volcanosh/vc-scheduler:v1.13.0"}]}}}
)";
const char kOurs[] = R"(
metadata: {name: gangway-controller, namespace: gangway}
spec: {replicas: 2, template: {spec: {containers: [{name: c, image: "gangway:0.1", args: [controller, --leader-elect]}]}}}
)";
const char kOursForPaddle[] = R"(
metadata: {name: gangway-controller, namespace: gangway}
spec: {replicas: 2, template: {spec: {containers: [{name: c, image: "gangway:0.1", args: [controller, --only=paddlejob]}]}}}
)";

TEST(DoctorTest, TypesThatAreNotServed) {
  ClusterSight sight;
  sight.served = {"jobs.batch.volcano.sh", "commands.bus.volcano.sh", "podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh"};
  EXPECT_THAT(Told(MissingTypes(sight)), ElementsAre("type paddlejobs.batch.paddlepaddle.org: is not served: PaddleJobs cannot be applied, only translated | "
                                                     "gangway crds paddlejobs.batch.paddlepaddle.org | kubectl apply --server-side -f -"));
  EXPECT_THAT(MissingTypes({}), ::testing::SizeIs(5));
}

TEST(DoctorTest, WebhooksWithoutAServiceBlockWhatTheyJudge) {
  ClusterSight sight;
  sight.validating = Of(R"(
metadata: {name: volcano-admission}
webhooks:
- {name: validatejob.volcano.sh, failurePolicy: Fail, clientConfig: {service: {namespace: volcano-system, name: volcano-admission-service}}}
- {name: elsewhere, clientConfig: {url: "https://x"}}
)");
  sight.mutating = Of(R"(
metadata: {name: gangway}
webhooks: [{name: m, failurePolicy: Ignore, clientConfig: {service: {namespace: gangway, name: hook}}}]
---
metadata: {name: good}
webhooks: [{name: g, clientConfig: {service: {namespace: gangway, name: good}}}]
)");
  sight.services = Of("metadata: {name: hook, namespace: gangway}\n---\nmetadata: {name: good, namespace: gangway}");
  sight.endpoints = Of("metadata: {name: hook, namespace: gangway}\nsubsets: [{notReadyAddresses: [{ip: 1.2.3.4}]}]\n---\nmetadata: {name: good, namespace: gangway}\nsubsets: [{addresses: [{ip: 1.2.3.4}]}]");
  EXPECT_THAT(Told(DanglingWebhooks(sight)),
              ElementsAre("validatingwebhookconfiguration volcano-admission: webhook validatejob.volcano.sh asks service volcano-system/volcano-admission-service, which is not there: "
                          "nothing that it judges can be created or changed | kubectl delete validatingwebhookconfiguration volcano-admission",
                          "mutatingwebhookconfiguration gangway: webhook m asks service gangway/hook, which has no pod that is ready; what it adds and refuses is left out | "
                          "start what serves it, or kubectl delete mutatingwebhookconfiguration gangway"));
}

TEST(DoctorTest, TwoControllersOfTheSameJobs) {
  ClusterSight sight;
  sight.deployments = Of(absl::StrCat(kVolcano, "---", kOurs, "---", kOperator));
  EXPECT_THAT(Told(TwoControllers(sight)),
              ElementsAre(HasSubstr("deployment volcano-system/volcano-controllers: and deployment gangway/gangway-controller both make the pods of Volcano's Jobs"),
                          HasSubstr("deployment paddle-system/paddle-controller-manager: and deployment gangway/gangway-controller both keep PaddleJobs")));
  sight.deployments = Of(absl::StrCat(kVolcano, "---", kOursForPaddle));
  EXPECT_THAT(TwoControllers(sight), IsEmpty()) << "beside Volcano, as it is meant";
  sight.deployments = Of(absl::StrReplaceAll(absl::StrCat(kVolcano, "---", kOursForPaddle), {{"--only=paddlejob", "\"--only=job,paddlejob\""}}));
  EXPECT_THAT(TwoControllers(sight), ::testing::SizeIs(1));
}

TEST(DoctorTest, AControllerThatIsNoDeploymentIsSeenByItsLease) {
  ClusterSight sight;
  sight.now = absl::FromUnixSeconds(1'800'000'000);
  const auto lease = [&](const char* name, absl::Duration age) {
    return absl::StrCat("metadata: {name: ", name, ", namespace: s}\nspec: {holderIdentity: a, renewTime: \"", api::FormatMicroTime(sight.now - age), "\"}\n");
  };
  sight.leases = Of(absl::StrCat(lease("b2a304f2.paddlepaddle.org", absl::Seconds(3)), "---\n", lease("gangway-controller", absl::Seconds(3))));
  EXPECT_THAT(Told(TwoControllers(sight)), ElementsAre(HasSubstr("the holder of lease s/b2a304f2.paddlepaddle.org")));
  sight.leases = Of(absl::StrCat(lease("b2a304f2.paddlepaddle.org", absl::Hours(3)), "---\n", lease("gangway-controller", absl::Seconds(3))));
  EXPECT_THAT(TwoControllers(sight), IsEmpty()) << "an old one";
}

TEST(DoctorTest, PodsOfPaddleOperatorBesideUs) {
  ClusterSight sight;
  sight.pods = Of(R"(
metadata: {name: wd-ps-0, namespace: a, ownerReferences: [{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, name: wd, controller: true}]}
---
metadata: {name: wd-ps-1, namespace: a, ownerReferences: [{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, name: wd, controller: true}]}
---
metadata: {name: x-ps-0, namespace: a, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: x, controller: true}]}
)");
  EXPECT_THAT(TwoControllers(sight), IsEmpty()) << "alone it does its work";
  sight.deployments = Of(kOursForPaddle);
  EXPECT_THAT(Told(TwoControllers(sight)), ElementsAre("paddlejob a/wd: has 2 pods of paddle-operator: our controller leaves it alone until they are gone | gangway import -n a wd"));
}

TEST(DoctorTest, HandMadePodGroups) {
  ClusterSight sight;
  sight.paddle_jobs = Of("metadata: {name: wd, namespace: a}\n---\nmetadata: {name: by-operator, namespace: a}");
  sight.pod_groups = Of(R"(
metadata: {name: wd, namespace: a}
---
metadata: {name: wd, namespace: b}
---
metadata: {name: by-operator, namespace: a, ownerReferences: [{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, name: by-operator, controller: true}]}
)");
  EXPECT_THAT(Told(HandMadeGroups(sight)), ElementsAre(AllOf(HasSubstr("podgroup a/wd: has the name of a PaddleJob: what it asks for is taken over"), HasSubstr("kubectl delete podgroup wd -n a"))));
  sight.deployments = Of(kVolcano);
  EXPECT_THAT(Told(HandMadeGroups(sight)), ElementsAre(HasSubstr("E-PG-CLASH")));
}

TEST(DoctorTest, QueuesThatListDevicesAndNoPods) {
  ClusterSight sight;
  sight.queues = Of(R"(
metadata: {name: ads}
spec: {capability: {cpu: "8", nvidia.com/gpu: "8"}}
---
metadata: {name: good}
spec: {capability: {nvidia.com/gpu: "8", pods: "100"}}
---
metadata: {name: plain}
spec: {capability: {cpu: "8"}}
---
metadata: {name: default}
spec: {weight: 1}
)");
  EXPECT_THAT(Told(QueuesWithoutPods(sight)), ElementsAre(AllOf(HasSubstr("queue ads: its capability lists nvidia.com/gpu and no pods"), HasSubstr("volcano 3426"),
                                                                HasSubstr(R"(kubectl patch queue ads --type merge -p '{"spec":{"capability":{"pods":"10000"}}}')"))));
}

TEST(DoctorTest, S7JobsOfPaddleK8sThatMayNotListPods) {
  ClusterSight sight;
  sight.jobs = Of(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"));
  EXPECT_THAT(ListersWithoutRight(sight), IsEmpty()) << "nobody was asked";
  sight.access = {{"default", "default", true}};
  EXPECT_THAT(ListersWithoutRight(sight), IsEmpty());
  sight.access = {{"default", "default", false}};
  EXPECT_THAT(Told(ListersWithoutRight(sight)), ElementsAre(AllOf(HasSubstr("job default/ctr-volcano: service account default of its pods may not list pods"), HasSubstr("kubectl create rolebinding"))));
  sight.jobs.front().as_object()["status"] = {{"state", {{"phase", "Completed"}}}};
  EXPECT_THAT(ListersWithoutRight(sight), IsEmpty()) << "it is over";
}

TEST(DoctorTest, ObjectsOfAnyShapeAreNoHarm) {
  for (const char* const odd : {"7", "[]", "metadata: 3", "metadata: {name: [a], ownerReferences: 4}\nspec: 5\nwebhooks: {}", "spec: {template: {spec: {containers: [1, {image: 2}]}}, capability: []}"}) {
    ClusterSight sight;
    sight.validating = sight.mutating = sight.services = sight.endpoints = sight.deployments = sight.leases = sight.pods = sight.pod_groups = sight.queues = sight.jobs = sight.paddle_jobs = Of(odd);
    EXPECT_THAT(AilmentsText(Examine(sight)), Not(IsEmpty())) << "types are missing";
  }
}

}  // namespace
}  // namespace gangway::cmd
