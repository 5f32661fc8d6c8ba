// What `gangway doctor` finds: row S-7 of tests/spec/paddle.rows and the traps of docs/troubleshooting.md.
#include "cmd/doctor/checks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "base/check.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
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

std::vector<std::string> Codes(const Ailments& ailments) {
  std::vector<std::string> out;
  for (const Ailment& one : ailments) out.push_back(one.code);
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
  sight.served = {"jobs.batch.volcano.sh", "commands.bus.volcano.sh", "podgroups.scheduling.volcano.sh",
                  "queues.scheduling.volcano.sh"};
  EXPECT_THAT(
      Told(MissingTypes(sight)),
      ElementsAre(
          "type paddlejobs.batch.paddlepaddle.org: is not served: PaddleJobs cannot be applied, only translated | "
          "gangway crds paddlejobs.batch.paddlepaddle.org | kubectl apply --server-side -f -"));
}

TEST(DoctorTest, EveryKindOfTheCatalogueThatUsersMissIsLookedFor) {
  std::vector<std::string> missed;
  for (const api::KindRow& row : api::Kinds()) {
    if (!row.unserved.empty())
      missed.push_back(absl::StrCat("type ", View(row.resource->plural), ".", View(row.resource->group),
                                    ": is not served: ", View(row.unserved)));
  }
  std::vector<std::string> told;
  for (const Ailment& each : MissingTypes({})) told.push_back(absl::StrCat(each.subject, ": ", each.what));
  EXPECT_EQ(told, missed);
  EXPECT_THAT(told, IsSupersetOf({"type jobs.batch.volcano.sh: is not served: no job can be submitted",
                                  "type podgroups.scheduling.volcano.sh: is not served: no job can be submitted",
                                  "type queues.scheduling.volcano.sh: is not served: no job can be submitted",
                                  "type commands.bus.volcano.sh: is not served: no job can be submitted",
                                  "type paddlejobs.batch.paddlepaddle.org: is not served: PaddleJobs cannot be "
                                  "applied, only translated"}));
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
  sight.endpoints =
      Of("metadata: {name: hook, namespace: gangway}\nsubsets: [{notReadyAddresses: [{ip: 1.2.3.4}]}]\n---\nmetadata: "
         "{name: good, namespace: gangway}\nsubsets: [{addresses: [{ip: 1.2.3.4}]}]");
  EXPECT_THAT(Told(DanglingWebhooks(sight)),
              ElementsAre("validatingwebhookconfiguration volcano-admission: webhook validatejob.volcano.sh asks "
                          "service volcano-system/volcano-admission-service, which is not there: "
                          "nothing that it judges can be created or changed | kubectl delete "
                          "validatingwebhookconfiguration volcano-admission",
                          "mutatingwebhookconfiguration gangway: webhook m asks service gangway/hook, which has no pod "
                          "that is ready; what it adds and refuses is left out | "
                          "start what serves it, or kubectl delete mutatingwebhookconfiguration gangway"));
}

TEST(DoctorTest, TwoControllersOfTheSameJobs) {
  ClusterSight sight;
  sight.deployments = Of(absl::StrCat(kVolcano, "---", kOurs, "---", kOperator));
  EXPECT_THAT(Told(TwoControllers(sight)),
              ElementsAre(HasSubstr("deployment volcano-system/volcano-controllers: and deployment "
                                    "gangway/gangway-controller both make the pods of Volcano's Jobs"),
                          HasSubstr("deployment paddle-system/paddle-controller-manager: and deployment "
                                    "gangway/gangway-controller both keep PaddleJobs")));
  sight.deployments = Of(absl::StrCat(kVolcano, "---", kOursForPaddle));
  EXPECT_THAT(TwoControllers(sight), IsEmpty()) << "beside Volcano, as it is meant";
  sight.deployments = Of(absl::StrReplaceAll(absl::StrCat(kVolcano, "---", kOursForPaddle),
                                             {{"--only=paddlejob", "\"--only=job,paddlejob\""}}));
  EXPECT_THAT(TwoControllers(sight), ::testing::SizeIs(1));
}

TEST(DoctorTest, AControllerThatIsNoDeploymentIsSeenByItsLease) {
  ClusterSight sight;
  sight.now = absl::FromUnixSeconds(1'800'000'000);
  const auto lease = [&](const char* name, absl::Duration age) {
    return absl::StrCat("metadata: {name: ", name, ", namespace: s}\nspec: {holderIdentity: a, renewTime: \"",
                        api::FormatMicroTime(sight.now - age), "\"}\n");
  };
  sight.leases = Of(absl::StrCat(lease("b2a304f2.paddlepaddle.org", absl::Seconds(3)), "---\n",
                                 lease("gangway-controller", absl::Seconds(3))));
  EXPECT_THAT(Told(TwoControllers(sight)), ElementsAre(HasSubstr("the holder of lease s/b2a304f2.paddlepaddle.org")));
  sight.leases = Of(absl::StrCat(lease("b2a304f2.paddlepaddle.org", absl::Hours(3)), "---\n",
                                 lease("gangway-controller", absl::Seconds(3))));
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
  EXPECT_THAT(Told(TwoControllers(sight)), ElementsAre("paddlejob a/wd: has 2 pods of paddle-operator: our controller "
                                                       "leaves it alone until they are gone | gangway import -n a wd"));
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
  EXPECT_THAT(Told(HandMadeGroups(sight)),
              ElementsAre(AllOf(HasSubstr("podgroup a/wd: has the name of a PaddleJob: what it asks for is taken over"),
                                HasSubstr("kubectl delete podgroup wd -n a"))));
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
  EXPECT_THAT(Told(QueuesWithoutPods(sight)),
              ElementsAre(AllOf(
                  HasSubstr("queue ads: its capability lists nvidia.com/gpu and no pods"), HasSubstr("volcano 3426"),
                  HasSubstr(R"(kubectl patch queue ads --type merge -p '{"spec":{"capability":{"pods":"10000"}}}')"))));
}

TEST(DoctorTest, S7JobsOfPaddleK8sThatMayNotListPods) {
  ClusterSight sight;
  sight.jobs = Of(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"));
  EXPECT_THAT(ListersWithoutRight(sight), IsEmpty()) << "nobody was asked";
  sight.access = {{"default", "default", true}};
  EXPECT_THAT(ListersWithoutRight(sight), IsEmpty());
  sight.access = {{"default", "default", false}};
  EXPECT_THAT(
      Told(ListersWithoutRight(sight)),
      ElementsAre(AllOf(HasSubstr("job default/ctr-volcano: service account default of its pods may not list pods"),
                        HasSubstr("kubectl create rolebinding"))));
  sight.jobs.front().as_object()["status"] = {{"state", {{"phase", "Completed"}}}};
  EXPECT_THAT(ListersWithoutRight(sight), IsEmpty()) << "it is over";
}

// ---- who is at work

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
std::string Ago(absl::Duration age) { return absl::StrCat("\"", api::FormatTime(kNow - age), "\""); }

// A cluster in which everything is as it should be and one job waits since it was made a moment ago.
ClusterSight Healthy() {
  ClusterSight sight;
  sight.now = kNow;
  sight.served = {"jobs.batch.volcano.sh", "commands.bus.volcano.sh", "podgroups.scheduling.volcano.sh",
                  "queues.scheduling.volcano.sh", "paddlejobs.batch.paddlepaddle.org"};
  sight.queues =
      Of("metadata: {name: default}\nspec: {weight: 1}\nstatus: {state: Open}\n---\nmetadata: {name: root}\nstatus: "
         "{state: Open}");
  sight.jobs = Of(absl::StrCat("metadata: {name: x, namespace: a, uid: u1, creationTimestamp: ", Ago(absl::Seconds(2)),
                               "}\nspec: {queue: default, tasks: [{name: w, template: {spec: {containers: []}}}]}"));
  sight.pod_groups = Of(absl::StrCat("metadata: {name: x-u1, namespace: a, creationTimestamp: ", Ago(absl::Seconds(2)),
                                     ", ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: x, "
                                     "uid: u1, controller: true}]}\nspec: {queue: default, minMember: 1}"));
  return sight;
}
std::string WithStatus(const char* deployments, const char* status) {
  return absl::StrReplaceAll(deployments, {{"\nspec:", absl::StrCat("\nstatus: ", status, "\nspec:")}});
}
std::string LeaseOf(const char* name, const char* holder, absl::Duration age) {
  return absl::StrCat("metadata: {name: ", name, ", namespace: s}\nspec: {holderIdentity: \"", holder,
                      "\", renewTime: \"", api::FormatMicroTime(kNow - age), "\"}\n");
}
const char kOurScheduler[] = R"(
metadata: {name: gangway-scheduler, namespace: gangway}
spec: {replicas: 1, template: {spec: {containers: [{name: s, image: "gangway:0.1", args: [scheduler, --leader-elect]}]}}}
)";

TEST(DoctorTest, WhereAllIsWellNothingIsFound) {
  ClusterSight embedded = Healthy();
  embedded.embedded = true;
  EXPECT_THAT(Told(Examine(embedded)), IsEmpty());
  ClusterSight beside = Healthy();
  beside.deployments = Of(absl::StrCat(WithStatus(kVolcano, "{observedGeneration: 1, readyReplicas: 1}"), "---",
                                       WithStatus(kOursForPaddle, "{observedGeneration: 3, readyReplicas: 2}")));
  beside.leases = Of(absl::StrCat(LeaseOf("vc-scheduler", "v", absl::Seconds(3)), "---\n",
                                  LeaseOf("vc-controller-manager", "v", absl::Seconds(3)), "---\n",
                                  LeaseOf("gangway-controller", "g", absl::Seconds(3))));
  EXPECT_THAT(Told(Examine(beside)), IsEmpty());
  ClusterSight standalone = Healthy();
  standalone.deployments = Of(absl::StrCat(WithStatus(kOurs, "{observedGeneration: 1, readyReplicas: 2}"), "---",
                                           WithStatus(kOurScheduler, "{observedGeneration: 1, readyReplicas: 1}")));
  standalone.leases = Of(absl::StrCat(LeaseOf("gangway-scheduler", "g", absl::Seconds(3)), "---\n",
                                      LeaseOf("gangway-controller", "g", absl::Seconds(3))));
  EXPECT_THAT(Told(Examine(standalone)), IsEmpty());
  // One that has been replaced, and its lease, are no news.
  standalone.deployments =
      Of(absl::StrCat(absl::StrReplaceAll(kVolcano, {{"spec: {template", "spec: {replicas: 0, template"}}), "---",
                      kOurs, "---", kOurScheduler));
  standalone.leases.push_back(Of(LeaseOf("vc-scheduler", "v", absl::Hours(30))).front());
  EXPECT_THAT(Told(Examine(standalone)), IsEmpty());
}

TEST(DoctorTest, NobodySchedulesOrKeepsJobs) {
  ClusterSight sight = Healthy();
  EXPECT_THAT(
      Told(NobodyAtWork(sight)),
      ElementsAre(AllOf(
          HasSubstr("the cluster: has no scheduler, neither a deployment nor a lease: no job is let in or placed"),
          HasSubstr("overlays/standalone"))))
      << "the state of a queue says that somebody kept jobs";
  sight.queues.clear();
  EXPECT_THAT(Codes(NobodyAtWork(sight)), ElementsAre("D-NO-SCHEDULER", "D-NO-CONTROLLER"));
  sight.not_seen = {"leases"};
  EXPECT_THAT(NobodyAtWork(sight), IsEmpty()) << "who may not look cannot tell";
  sight.not_seen.clear();
  sight.embedded = true;
  EXPECT_THAT(NobodyAtWork(sight), IsEmpty()) << "nobody shows those of the same process";
  sight.embedded = false;
  sight.served.clear();
  EXPECT_THAT(NobodyAtWork(sight), IsEmpty()) << "the types come first";
}

TEST(DoctorTest, LeasesThatAreNotRenewed) {
  ClusterSight sight = Healthy();
  sight.leases = Of(absl::StrCat(LeaseOf("gangway-scheduler", "host_1", absl::Minutes(7)), "---\n",
                                 LeaseOf("gangway-controller", "", absl::Minutes(9))));
  EXPECT_THAT(Told(NobodyAtWork(sight)),
              ElementsAre("the holder of lease s/gangway-scheduler: (host_1) has not renewed it for 7m: no job is let "
                          "in or placed | start it: it takes the lease by itself",
                          "the holder of lease s/gangway-controller: has given it back, and nobody took it: no job "
                          "gets pods, restarts or ends | start it: it takes the lease by itself"));
  sight.leases.push_back(Of(LeaseOf("vc-scheduler", "v", absl::Seconds(5))).front());
  EXPECT_THAT(Codes(NobodyAtWork(sight)), ElementsAre("D-NO-CONTROLLER"));
}

TEST(DoctorTest, DeploymentsWithoutAReadyPod) {
  ClusterSight sight = Healthy();
  sight.deployments = Of(absl::StrCat(WithStatus(kVolcano, "{observedGeneration: 1, unavailableReplicas: 1}"), "---",
                                      WithStatus(kOursForPaddle, "{observedGeneration: 1, readyReplicas: 2}")));
  sight.leases = Of(LeaseOf("gangway-controller", "g", absl::Seconds(5)));
  EXPECT_THAT(
      Told(NobodyAtWork(sight)),
      ElementsAre(
          "deployment volcano-system/volcano-scheduler: has no pod that is ready: no job is let in or placed | "
          "kubectl describe deployment volcano-scheduler -n volcano-system; kubectl logs deployment volcano-scheduler "
          "-n volcano-system",
          HasSubstr("deployment volcano-system/volcano-controllers: has no pod that is ready: no job gets pods")))
      << "ours keeps PaddleJobs only, which its lease does not say";
  sight.deployments = Of(absl::StrReplaceAll(kVolcano, {{"spec: {template", "spec: {replicas: 0, template"}}));
  sight.leases.clear();
  EXPECT_THAT(Told(NobodyAtWork(sight)),
              ElementsAre(AllOf(HasSubstr("volcano-scheduler: is scaled to 0"),
                                HasSubstr("kubectl scale deployment volcano-scheduler -n volcano-system --replicas=1")),
                          HasSubstr("volcano-controllers: is scaled to 0")));
}

TEST(DoctorTest, ObjectsThatNobodyLooksAt) {
  ClusterSight sight = Healthy();
  sight.embedded = true;  // what is not done is seen there as well
  for (boost::json::value* const object : {&sight.jobs.front(), &sight.pod_groups.front()})
    object->as_object()["metadata"].as_object()["creationTimestamp"] = api::FormatTime(kNow - absl::Minutes(5));
  EXPECT_THAT(Told(NobodyAtWork(sight)),
              ElementsAre(HasSubstr("the cluster: has no scheduler at work: nobody has looked at podgroup a/x-u1 for "
                                    "5m: no job is let in or placed"),
                          HasSubstr("the cluster: has no controller of Jobs at work: nobody has given job a/x a status "
                                    "for 5m: no job gets pods, restarts or ends")));
  sight.leases = Of(absl::StrCat(LeaseOf("gangway-scheduler", "g", absl::Seconds(2)), "---\n",
                                 LeaseOf("gangway-controller", "g", absl::Minutes(2))));
  EXPECT_THAT(
      Told(NobodyAtWork(sight)),
      ElementsAre(
          AllOf(
              HasSubstr(
                  "the holder of lease s/gangway-scheduler: is there, but nobody has looked at podgroup a/x-u1 for 5m"),
              HasSubstr("/readyz")),
          HasSubstr("the holder of lease s/gangway-controller: (g) has not renewed it for 2m; nobody has given job a/x "
                    "a status for 5m")));
  sight.pod_groups.front().as_object()["status"] = {{"phase", "Pending"}};
  sight.jobs.front().as_object()["status"] = {{"state", {{"phase", "Pending"}}}};
  sight.leases.clear();
  EXPECT_THAT(NobodyAtWork(sight), IsEmpty()) << "Volcano says no more of a gang that it does not let in";
  // Volcano passes over PodGroups of queues that are not there, too.
  sight.pod_groups.front().as_object().erase("status");
  sight.queues.clear();
  EXPECT_THAT(NobodyAtWork(sight), IsEmpty());
}

TEST(DoctorTest, PodsThatNobodyPlacesOrSpeaksOf) {
  ClusterSight sight = Healthy();
  sight.embedded = true;
  const std::string pod = absl::StrCat(
      "metadata: {name: x-w-0, namespace: a, annotations: {scheduling.k8s.io/group-name: x-u1}, creationTimestamp: ",
      Ago(absl::Minutes(3)), "}\n");
  sight.pods = Of(pod);
  EXPECT_THAT(Told(NobodyAtWork(sight)),
              ElementsAre(HasSubstr("nobody has placed pod a/x-w-0 or said why not for 3m")));
  for (const char* const fine :
       {"spec: {nodeName: node-1}", "status: {conditions: [{type: PodScheduled, status: \"False\"}]}",
        "status: {phase: Failed}"}) {
    sight.pods = Of(pod + fine);
    EXPECT_THAT(NobodyAtWork(sight), IsEmpty()) << fine;
  }
}

TEST(DoctorTest, PaddleJobsThatNobodyTakes) {
  ClusterSight sight = Healthy();
  sight.embedded = true;
  sight.paddle_jobs =
      Of(absl::StrCat("metadata: {name: wd, namespace: a, creationTimestamp: ", Ago(absl::Minutes(2)), "}"));
  EXPECT_THAT(Told(NobodyAtWork(sight)),
              ElementsAre(HasSubstr("the cluster: has no controller of PaddleJobs at work: nobody has given paddlejob "
                                    "a/wd a status for 2m: no PaddleJob becomes a job")));
  sight.paddle_jobs.front().as_object()["status"] = {{"phase", "Running"}};
  EXPECT_THAT(NobodyAtWork(sight), IsEmpty());
}

// ---- queues

TEST(DoctorTest, QueuesThatTakeNoJobs) {
  ClusterSight sight = Healthy();
  sight.queues = Of(R"(
metadata: {name: ads}
status: {state: Closed}
---
metadata: {name: old}
status: {state: Closing}
---
metadata: {name: open}
status: {state: Open}
)");
  sight.jobs = Of(R"(
metadata: {name: one, namespace: a}
spec: {queue: ads}
status: {state: {phase: Pending}}
---
metadata: {name: two, namespace: a}
spec: {queue: adds}
---
metadata: {name: runs, namespace: a}
spec: {queue: ads}
status: {state: {phase: Running}}
---
metadata: {name: three, namespace: b}
spec: {queue: adds}
---
metadata: {name: over, namespace: b}
spec: {queue: gone}
status: {state: {phase: Completed}}
)");
  sight.pod_groups =
      Of("metadata: {name: web, namespace: c, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, "
         "controller: true}]}\nspec: {queue: adds}");
  sight.paddle_jobs = Of("metadata: {name: wd, namespace: d}\nspec: {schedulingPolicy: {queue: padl}}");
  EXPECT_THAT(
      Told(QueuesThatTakeNoJobs(sight)),
      ElementsAre(
          "queue default: is not there: jobs that name no queue wait for ever | a controller of Jobs and a scheduler "
          "of ours make it when they start: is one at work?",
          HasSubstr("queue adds: is not there, and job a/two, job b/three, podgroup c/web wait in it"),
          HasSubstr("queue padl: is not there, and paddlejob d/wd waits in it"),
          "queue ads: is Closed and takes no new jobs: job a/one waits | gangway queue operate ads --action open",
          HasSubstr("queue old: is Closing and takes no new jobs |")));
  EXPECT_THAT(Codes(QueuesThatTakeNoJobs(sight)),
              ElementsAre("D-QUEUE-MISSING", "D-QUEUE-MISSING", "D-QUEUE-MISSING", "D-QUEUE-CLOSED", "D-QUEUE-CLOSED"));
  sight.not_seen = {"queues"};
  EXPECT_THAT(QueuesThatTakeNoJobs(sight), IsEmpty());
}

// ---- jobs

TEST(DoctorTest, JobsThatWaitForLongAndWhatFor) {
  ClusterSight sight = Healthy();
  sight.jobs.front().as_object()["status"] = {
      {"state", {{"phase", "Pending"}, {"lastTransitionTime", api::FormatTime(kNow - absl::Minutes(12))}}}};
  sight.pod_groups.front().as_object()["status"] = {
      {"phase", "Inqueue"},
      {"conditions",
       {{{"type", "Unschedulable"}, {"status", "True"}, {"message", "waits for 1 of 7 tasks: worker needs cpu 12"}}}}};
  EXPECT_THAT(Told(JobsThatWait(sight)), ElementsAre("job a/x: is Pending for 12m: waits for 1 of 7 tasks: worker "
                                                     "needs cpu 12 | gangway job view -n a x says more"));
  sight.queues = Of("metadata: {name: default}\nstatus: {state: Closed}");
  EXPECT_THAT(JobsThatWait(sight), IsEmpty()) << "told of the queue";
  sight.queues = Healthy().queues;
  sight.pod_groups.front().as_object()["status"] = {{"phase", "Running"}};
  EXPECT_THAT(Told(JobsThatWait(sight)), ElementsAre(HasSubstr("its pods are placed and start")));
  sight.jobs.front().as_object()["status"] = {
      {"state", {{"phase", "Pending"}, {"lastTransitionTime", api::FormatTime(kNow - absl::Minutes(5))}}}};
  EXPECT_THAT(JobsThatWait(sight), IsEmpty()) << "large images take their time";
  sight.pod_groups.front().as_object()["status"] = {{"phase", "Pending"}};
  EXPECT_THAT(Told(JobsThatWait(sight)), ElementsAre(HasSubstr("queue default has not let it in yet")));
  sight.jobs.front().as_object()["status"] = {
      {"state", {{"phase", "Pending"}, {"lastTransitionTime", api::FormatTime(kNow - absl::Seconds(20))}}}};
  EXPECT_THAT(JobsThatWait(sight), IsEmpty()) << "not for long";
}

TEST(DoctorTest, PodGroupsOfOthersThatWait) {
  ClusterSight sight = Healthy();
  sight.pod_groups = Of(absl::StrCat("metadata: {name: web, namespace: c, creationTimestamp: ", Ago(absl::Hours(2)),
                                     "}\nspec: {queue: default}\nstatus: {phase: Inqueue, conditions: [{type: "
                                     "Unschedulable, status: \"True\", message: waits for 2 of 2 tasks}]}"));
  EXPECT_THAT(
      Told(JobsThatWait(sight)),
      ElementsAre("podgroup c/web: has waited for 120m: waits for 2 of 2 tasks | kubectl describe podgroup web -n c"));
  sight.pod_groups.front().as_object()["status"].as_object()["phase"] = "Running";
  EXPECT_THAT(JobsThatWait(sight), IsEmpty());
}

TEST(DoctorTest, PaddleJobsThatCannotBeTranslated) {
  ClusterSight sight = Healthy();
  sight.paddle_jobs = Of(R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: told, namespace: a}
status: {phase: Failed, conditions: [{type: Translated, status: "False", reason: Invalid, message: "E-EMPTY spec: Required value: no role has a pod"}]}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: fine, namespace: a}
status: {conditions: [{type: Translated, status: "True"}]}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: new, namespace: a}
spec: {worker: {replicas: -1, template: {spec: {containers: [{name: c, image: i}]}}}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: elastic, namespace: a}
spec: {elastic: 1, worker: {replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}}
)");
  sight.kubeflow_jobs =
      Of("apiVersion: kubeflow.org/v1\nkind: PaddleJob\nmetadata: {name: k, namespace: b}\nstatus: {conditions: "
         "[{type: Created, status: \"True\"}, {type: Translated, status: \"False\", message: E-NO-CONTAINER}]}");
  EXPECT_THAT(Told(JobsThatAreNotTranslated(sight)),
              ElementsAre("paddlejob a/told: cannot become a job as it stands: E-EMPTY spec: Required value: no role "
                          "has a pod | kubectl get paddlejob told -n a -o yaml | gangway validate -f -",
                          AllOf(HasSubstr("paddlejob a/new: cannot become a job as it stands: "),
                                HasSubstr("E-REPLICAS spec.worker.replicas: Invalid value: -1")),
                          HasSubstr("paddlejobs.kubeflow.org b/k: cannot become a job as it stands: E-NO-CONTAINER")))
      << "an etcd is the controller's to know";
  sight.deployments = Of(kOperator);
  EXPECT_THAT(JobsThatAreNotTranslated(sight), ::testing::SizeIs(2)) << "what paddle-operator runs, nobody translates";
}

TEST(DoctorTest, ImagesThatCannotBePulledAndContainersThatCannotBeMade) {
  ClusterSight sight = Healthy();
  const auto pod = [](int index, const char* reason, const char* message) {
    return absl::StrCat("metadata: {name: x-w-", index,
                        ", namespace: a, labels: {volcano.sh/job-name: x}}\nspec: {containers: [{name: c, image: "
                        "\"paddle:2.99\"}]}\nstatus: {containerStatuses: [{name: c, state: {waiting: {reason: ",
                        reason, ", message: \"", message, "\"}}}]}\n");
  };
  sight.pods = Of(absl::StrCat(pod(0, "ImagePullBackOff", "Back-off pulling image"), "---\n",
                               pod(1, "ErrImagePull", "not found"), "---\n", pod(2, "ContainerCreating", ""), "---\n",
                               pod(3, "CreateContainerConfigError", "configmap \\\"settings\\\" not found"),
                               "---\nmetadata: {name: stray, namespace: a}\nstatus: {containerStatuses: [{name: c, "
                               "state: {waiting: {reason: ErrImagePull}}}]}"));
  EXPECT_THAT(
      Told(ContainersThatCannotStart(sight)),
      ElementsAre(
          "job a/x: nodes cannot pull image paddle:2.99 of 2 containers (ImagePullBackOff: Back-off pulling image) | "
          "correct the image, or give the pods' service account an imagePullSecret; kubectl describe pod x-w-0 -n a",
          "job a/x: a container cannot be started (CreateContainerConfigError: configmap \"settings\" not found) | "
          "make what is missing, or correct the template; kubectl describe pod x-w-3 -n a"));
  EXPECT_THAT(Codes(ContainersThatCannotStart(sight)), ElementsAre("D-IMAGE", "D-CONTAINER"));
}

TEST(DoctorTest, ClaimsThatNobodyHasMade) {
  ClusterSight sight = Healthy();
  sight.jobs = Of(R"(
metadata: {name: x, namespace: a}
spec:
  tasks:
  - {name: w, template: {spec: {volumes: [{name: e, emptyDir: {}}, {name: d, persistentVolumeClaim: {claimName: data}}]}}}
  volumes: [{mountPath: /out, volumeClaimName: out}, {mountPath: /made, volumeClaimName: made, volumeClaim: {accessModes: [ReadWriteOnce]}}, {mountPath: /lost, volumeClaimName: lost}]
---
metadata: {name: z, namespace: a}
spec: {tasks: [{name: w, template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}}]}
---
metadata: {name: wd, namespace: b}
spec: {tasks: [{name: w, template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: there}}]}}}]}
)");
  sight.paddle_jobs = Of(R"(
metadata: {name: wd, namespace: b}
spec: {worker: {template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: told-of-the-job}}]}}}}
---
metadata: {name: refused, namespace: b}
spec: {sampleSetRef: {name: samples, mountPath: /d}, worker: {template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: there}}]}}}}
)");
  sight.kubeflow_jobs =
      Of("metadata: {name: k, namespace: c}\nspec: {paddleReplicaSpecs: {Worker: {template: {spec: {volumes: "
         "[{persistentVolumeClaim: {claimName: kube}}]}}}}}");
  sight.claims =
      Of("metadata: {name: there, namespace: b}\n---\nmetadata: {name: data, namespace: other}\n---\nmetadata: {name: "
         "lost, namespace: a}\nstatus: {phase: Lost}");
  EXPECT_THAT(
      Told(MissingClaims(sight)),
      ElementsAre(
          "persistentvolumeclaim a/data: is not there: pods of job a/x, job a/z that mount it "
          "(spec.tasks[0].template.spec.volumes[1]) do not start | "
          "make it, or correct its name in the job; kubectl get pvc -n a",
          HasSubstr(
              "persistentvolumeclaim a/lost: has lost its volume: pods of job a/x that mount it (spec.volumes[2])"),
          HasSubstr("persistentvolumeclaim a/out: is not there: pods of job a/x that mount it (spec.volumes[0])"),
          HasSubstr("persistentvolumeclaim b/samples: is not there: pods of paddlejob b/refused that mount it "
                    "(spec.sampleSetRef)"),
          HasSubstr("persistentvolumeclaim c/kube: is not there: pods of paddlejobs.kubeflow.org c/k that mount it "
                    "(spec.paddleReplicaSpecs.Worker.template.spec.volumes[0])")));
  sight.not_seen = {"persistentvolumeclaims"};
  EXPECT_THAT(MissingClaims(sight), IsEmpty());
}

TEST(DoctorTest, WhatOurSchedulerDoesNotKnowIsTold) {
  ClusterSight sight;
  sight.jobs = Of(R"(
metadata: {name: apart, namespace: ads}
spec: {minAvailable: 1, tasks: [{name: w, replicas: 1, template: {spec: {containers: [], resourceClaims: [{name: gpu}]}}}]}
status: {state: {phase: Pending}}
---
metadata: {name: runs, namespace: ads}
spec: {minAvailable: 1, tasks: [{name: w, replicas: 1, template: {spec: {containers: [], resourceClaims: [{name: gpu}]}}}]}
status: {state: {phase: Running}}
)");
  sight.queues =
      Of("metadata: {name: bound}\nspec: {affinity: {nodeGroupAffinity: "
         "{requiredDuringSchedulingIgnoredDuringExecution: [a]}}}\n");
  sight.pod_groups =
      Of("metadata: {name: near, namespace: ads}\nspec: {minMember: 1, subGroupPolicy: [{name: w, labelSelector: "
         "{matchExpressions: [{key: a, operator: Near}]}}]}\n");
  sight.pods = Of(R"(
metadata: {name: bare, namespace: ads}
spec: {schedulerName: volcano, containers: [], resourceClaims: [{name: gpu}]}
status: {phase: Pending}
---
metadata: {name: others, namespace: ads}
spec: {schedulerName: default-scheduler, containers: [], resourceClaims: [{name: gpu}]}
status: {phase: Pending}
---
metadata: {name: of-a-job, namespace: ads, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: apart, uid: u, controller: true}]}
spec: {schedulerName: volcano, containers: [], resourceClaims: [{name: gpu}]}
status: {phase: Pending}
)");
  EXPECT_THAT(
      Told(FieldsThatWaitForEver(sight)),
      ElementsAre(
          HasSubstr("job ads/apart: spec.tasks[0].template.spec.resourceClaims[gpu]: gangway's scheduler "
                    "does not know it: pods of task w would wait for ever"),
          HasSubstr("podgroup ads/near: spec.subGroupPolicy[w].labelSelector: gangway's scheduler does not know it"),
          HasSubstr("pod ads/bare: spec.resourceClaims[gpu]: gangway's scheduler does not know it"),
          HasSubstr("queue bound: spec.affinity: gangway's scheduler does not know it")));
  sight.deployments = Of(kVolcano);
  EXPECT_THAT(FieldsThatWaitForEver(sight), IsEmpty()) << "Volcano's scheduler knows them";
}

TEST(DoctorTest, GangsOfKubernetesOwnWhosePodsAreOursAreLookedAt) {
  ClusterSight sight;
  sight.kubernetes_pod_groups = Of(R"(
metadata: {name: g, namespace: ads}
spec: {schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: rack}]}}
)");
  EXPECT_THAT(FieldsThatWaitForEver(sight), IsEmpty()) << "another scheduler may know it";
  sight.pods = Of(R"(
metadata: {name: p, namespace: ads}
spec: {schedulerName: volcano, containers: [], schedulingGroup: {podGroupName: g}}
status: {phase: Pending}
)");
  EXPECT_THAT(Told(FieldsThatWaitForEver(sight)),
              ElementsAre(HasSubstr("podgroup ads/g: spec.schedulingConstraints.topology: gangway's scheduler does not "
                                    "know it")));
}

TEST(DoctorTest, HyperNodesThatSelectNothingAndThoseInACircleAreTold) {
  ClusterSight sight;
  sight.hyper_nodes = Of(R"(
metadata: {name: a}
spec: {tier: 2, members: [{type: HyperNode, selector: {exactMatch: {name: b}}}]}
---
metadata: {name: b}
spec: {tier: 1, members: [{type: HyperNode, selector: {exactMatch: {name: a}}}, {type: Node, selector: {regexMatch: {pattern: "n[1-"}}}]}
---
metadata: {name: c}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "^n[0-9]+$"}}}]}
)");
  const Ailments found = HyperNodesThatSelectNothing(sight);
  EXPECT_THAT(
      Told(found),
      ElementsAre(HasSubstr("hypernode b: spec.members[1].selector.regexMatch.pattern: selects nothing, since it "
                            "does not compile: missing ]: [1-"),
                  HasSubstr("hypernode a: spec.members: it is its own member (a > b > a)")));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].code, "D-HYPERNODE");
  EXPECT_EQ(found[0].remedy, "kubectl edit hypernode b");
}

TEST(DoctorTest, NamesInCommandsAreWordsOfAShell) {
  EXPECT_EQ(Word("ctr-volcano"), "ctr-volcano");
  EXPECT_EQ(Word("a; rm -rf ~"), "'a; rm -rf ~'");
  EXPECT_EQ(Word("it's"), R"('it'\''s')");
  EXPECT_EQ(Word("-n"), "'-n'");
  EXPECT_EQ(Word(""), "''");
}

TEST(DoctorTest, NothingThatSomebodyWroteReachesATerminal) {
  const std::string text = AilmentsText({{"D-X", "queue a\x1b[31m", "is so\nD-Y forged: line", "do \xe2\x80\xae it"}});
  EXPECT_EQ(text, "D-X queue a\\u001b[31m: is so\\nD-Y forged: line\n    do \\u202e it\n");
}

TEST(DoctorTest, ObjectsOfAnyShapeAreNoHarm) {
  for (const char* const odd :
       {"7", "[]", "metadata: 3", "metadata: {name: [a], ownerReferences: 4}\nspec: 5\nwebhooks: {}",
        "spec: {template: {spec: {containers: [1, {image: 2}]}}, capability: []}",
        "metadata: {name: vc-scheduler, creationTimestamp: 7}\nspec: {replicas: x, template: {spec: {containers: "
        "[{image: vc-scheduler gangway, args: [controller, 7]}]}}, "
        "holderIdentity: 7, renewTime: [], queue: {}, minMember: [], volumes: [7]}\nstatus: {observedGeneration: y, "
        "readyReplicas: [], conditions: [5, {type: 7}], state: 8, phase: {}}"}) {
    ClusterSight sight;
    sight.validating = sight.mutating = sight.services = sight.endpoints = sight.deployments = sight.leases =
        sight.pods = sight.pod_groups = sight.queues = sight.jobs = sight.paddle_jobs = sight.kubeflow_jobs =
            sight.claims = Of(odd);
    EXPECT_THAT(AilmentsText(Examine(sight)), Not(IsEmpty())) << "types are missing";
  }
}

// Volcano's scheduler with a second container, whose arguments these are.
Objects SchedulerBeside(const std::string& args) {
  return Of(
      absl::StrCat(R"(
metadata: {name: volcano-scheduler, namespace: volcano-system}
spec:
  template:
    spec:
      containers:
      - {name: c, image: "volcanosh/vc-scheduler:v1.13.0"}
)",
                   args.empty() ? "" : absl::StrCat("      - {name: e, image: \"gangway:0.1\", args: [", args, "]}\n"),
                   R"(      volumes:
      - {name: scheduler-config, configMap: {name: volcano-scheduler-configmap}}
      - {name: klog-sock, emptyDir: {}}
)"));
}

ClusterSight WithConf(const std::string& args, const std::string& text) {
  ClusterSight sight;
  sight.deployments = SchedulerBeside(args);
  sight.scheduler_confs = {{"volcano-system/volcano-scheduler", "volcano-system/volcano-scheduler-configmap",
                            "volcano-scheduler.conf", text}};
  return sight;
}

constexpr char kSessions[] = R"(actions: "enqueue, allocate"
tiers:
- plugins:
  - name: gang
  - name: predicates
  - name: extender
    arguments:
      extender.urlPrefix: http://127.0.0.1:9444
      extender.onSessionOpenVerb: onSessionOpen
      extender.predicateVerb: predicate
      extender.ignorable: true
)";

TEST(DoctorTest, TheConfigurationOfVolcanosSchedulerIsWhatItsDeploymentMounts) {
  ClusterSight sight;
  sight.deployments = SchedulerBeside("extender");
  const std::vector<MountedConf> mounts = SchedulerConfMounts(sight);
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].deployment, "volcano-system/volcano-scheduler");
  EXPECT_EQ(mounts[0].config_map, "volcano-system/volcano-scheduler-configmap");
  sight.deployments = Of(kOurs);
  EXPECT_THAT(SchedulerConfMounts(sight), IsEmpty());
}

TEST(DoctorTest, AnExtenderThatIsNotAskedAsItIsMeant) {
  EXPECT_THAT(ExtendersOutOfPlace(WithConf("extender, --http-listen=127.0.0.1:9444, --mode=steer", kSessions)),
              IsEmpty());
  EXPECT_THAT(
      Told(ExtendersOutOfPlace(WithConf("extender, --http-listen=127.0.0.1:9444", kSessions))),
      ElementsAre(AllOf(HasSubstr("configmap volcano-system/volcano-scheduler-configmap: volcano-scheduler.conf:9: "
                                  "onSessionOpen sends the whole cluster once a session, and mode light"),
                        HasSubstr("kubectl edit configmap volcano-scheduler-configmap -n volcano-system")),
                  HasSubstr(":10: predicate is asked, and --mode light answers it as if nobody were there")));
  EXPECT_THAT(Told(ExtendersOutOfPlace(WithConf("extender, --http-listen=127.0.0.1:9444, --mode=steer, "
                                                "--http-budget=1500ms",
                                                kSessions))),
              ElementsAre(HasSubstr("an opening is answered after 1.5s (--http-budget)")));
}

TEST(DoctorTest, NobodyInTheSchedulersPodIsAskedOrAnswers) {
  EXPECT_THAT(Codes(ExtendersOutOfPlace(WithConf("", kSessions))), ElementsAre("D-EXTENDER-URL"));
  const std::string none = "actions: allocate\ntiers: [{plugins: [{name: gang}]}]\n";
  EXPECT_THAT(Codes(ExtendersOutOfPlace(WithConf("extender, --http-listen=127.0.0.1:9444", none))),
              ElementsAre("D-EXTENDER-NONE"));
  EXPECT_THAT(ExtendersOutOfPlace(WithConf("", none)), IsEmpty()) << "Volcano without us is well";
}

TEST(DoctorTest, WhatVolcanoDoesNotTakeAsItIsMeant) {
  EXPECT_THAT(
      Told(ExtendersOutOfPlace(WithConf("", "actions: allocate\ntiers: [{plugins: [{name: gagn}]}]\n"))),
      ElementsAre(HasSubstr("volcano-scheduler.conf:2: plugin gagn: there is no such plugin; did you mean gang?")));
  EXPECT_THAT(Told(ExtendersOutOfPlace(WithConf("", "actions: alocate\n"))),
              ElementsAre(HasSubstr("did you mean allocate?: Volcano goes on with what it read before")));
  EXPECT_THAT(Codes(Examine(WithConf("", "actions: alocate\n"))), ::testing::Contains("D-SCHEDULER-CONF"));
}

TEST(DoctorTest, AFileAlone) {
  const auto found = ExamineSchedulerConf("actions: allocate\ntiers: [{plugins: [{name: gang}]}]\n", "my.conf");
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(Told(*found), ElementsAre(HasSubstr("my.conf: there is no plugin extender")));
  EXPECT_THAT(ExamineSchedulerConf("actions: alocate\n", "my.conf").status().message(),
              HasSubstr("my.conf:1: actions"));
}

}  // namespace
}  // namespace gangway::cmd
