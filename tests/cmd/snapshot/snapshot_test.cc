#include "cmd/snapshot/file/snapshot.h"

#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/scheduling_resources.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "cmd/snapshot/file/anonymise.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kTaken = absl::FromUnixSeconds(1'795'503'600);

// Of acme is all that somebody wrote.
constexpr char kPod[] =
    R"({"metadata":{"name":"acme-worker-0","namespace":"acmens","uid":"acmeuid","resourceVersion":"17",
 "creationTimestamp":"2026-11-21T05:11:53Z","generateName":"acme-",
 "labels":{"app":"acmeapp","acme.com/team":"acmeteam","volcano.sh/task-index":"0"},
 "annotations":{"scheduling.k8s.io/group-name":"acme","gangway.io/expected-runtime":"2h","gangway.io/past-runs":"runs=3 longest=1h2m3s","acme.com/note":"acme",
   "kubectl.kubernetes.io/last-applied-configuration":"{\"acme\":1}","volcano.sh/template-uid":"{\"acme\":1}"},
 "managedFields":[{"manager":"acme"}],
 "ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"acme","uid":"acmejob","controller":true},
   {"apiVersion":"acme.com/v1","kind":"AcmeJob","name":"acme","uid":"acmeother"}]},
"spec":{"schedulerName":"volcano","nodeName":"acme-node-1","priorityClassName":"acmehigh","priority":7,"serviceAccountName":"acme",
 "nodeSelector":{"acme.com/pool":"acmepool","kubernetes.io/arch":"amd64"},
 "containers":[{"name":"acme","image":"registry.acme.com/acme/recipe:v3","command":["acme"],"args":["--acme"],
   "env":[{"name":"ACME_TOKEN","value":"acme"}],"resources":{"requests":{"cpu":"4","nvidia.com/gpu":"8","acme.com/fpga":"1"}},
   "ports":[{"name":"acme","containerPort":2379}]}],
 "tolerations":[{"key":"acme.com/dedicated","operator":"Equal","value":"acme","effect":"NoSchedule"}],
 "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule",
   "labelSelector":{"matchLabels":{"acme.com/team":"acmeteam"}}}],
 "volumes":[{"name":"acme","secret":{"secretName":"acme"}},{"name":"claim","persistentVolumeClaim":{"claimName":"acmeclaim"}}]},
"status":{"phase":"Running","startTime":"2026-11-21T05:12:00Z","hostIP":"10.9.8.7","message":"acme",
 "conditions":[{"type":"Ready","status":"True","reason":"Acme-Reason","message":"acme"}]}})";

boost::json::value AnonymisedPod(Pseudonyms& pseudonyms) {
  boost::json::value pod = *api::ParseJson(kPod);
  Anonymise(pod.get_object(), api::TypeOf<api::core::Pod>(), pseudonyms);
  return pod;
}

TEST(AnonymiseTest, NothingThatSomebodyWroteIsLeft) {
  Pseudonyms pseudonyms;
  const std::string text = api::ToJson(AnonymisedPod(pseudonyms));
  for (const char* const word : {"acme", "Acme", "ACME", "recipe", "10.9.8.7", "amd64", "managedFields"})
    EXPECT_THAT(text, Not(HasSubstr(word)));
}

TEST(AnonymiseTest, WhatIsDecidedByStays) {
  Pseudonyms pseudonyms;
  const boost::json::value pod = AnonymisedPod(pseudonyms);
  const std::string job = pseudonyms.Of("acme");
  EXPECT_EQ(api::TextAt(pod, {"metadata", "name"}), absl::StrCat(job, "-", pseudonyms.Of("worker"), "-0"));
  EXPECT_EQ(api::TextAt(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"}), job);
  EXPECT_EQ(api::TextAt(pod, {"metadata", "annotations", "gangway.io/expected-runtime"}), "2h");
  EXPECT_EQ(api::TextAt(pod, {"metadata", "annotations", "gangway.io/past-runs"}), "runs=3 longest=1h2m3s");
  EXPECT_EQ(api::TextAt(pod, {"metadata", "creationTimestamp"}), "2026-11-21T05:11:53Z");
  const boost::json::value& container = api::ListAt(pod, {"spec", "containers"}).at(0);
  EXPECT_EQ(api::TextAt(container, {"resources", "requests", "nvidia.com/gpu"}), "8");
  EXPECT_EQ(api::TextAt(container, {"resources", "requests", "cpu"}), "4");
  EXPECT_EQ(*api::ValueAt(pod, {"spec", "priority"}), 7);
  const boost::json::value& owner = api::ListAt(pod, {"metadata", "ownerReferences"}).at(0);
  EXPECT_EQ(api::TextAt(owner, {"apiVersion"}), "batch.volcano.sh/v1alpha1");
  EXPECT_EQ(api::TextAt(owner, {"kind"}), "Job");
  const boost::json::value& spread = api::ListAt(pod, {"spec", "topologySpreadConstraints"}).at(0);
  EXPECT_EQ(api::TextAt(spread, {"topologyKey"}), "topology.kubernetes.io/zone");
  EXPECT_EQ(api::TextAt(spread, {"whenUnsatisfiable"}), "DoNotSchedule");
  EXPECT_EQ(*api::ValueAt(spread, {"labelSelector", "matchLabels"}),
            (boost::json::object{{pseudonyms.Of("acme.com/team"), pseudonyms.Of("acmeteam")}}))
      << "as the pod's own label";
  const boost::json::value& taint = api::ListAt(pod, {"spec", "tolerations"}).at(0);
  EXPECT_EQ(api::TextAt(taint, {"operator"}), "Equal");
  EXPECT_EQ(api::TextAt(taint, {"effect"}), "NoSchedule");
  EXPECT_EQ(api::TextAt(pod, {"status", "phase"}), "Running");
}

TEST(AnonymiseTest, TemplatesAreKeptAsPodsAre) {
  Pseudonyms pseudonyms;
  boost::json::value job = *api::ParseJson(
      R"({"metadata":{"name":"acme"},"spec":{"queue":"acmeq","minAvailable":2,"plugins":{"svc":[],"pytorch":["--master=acme"]},
  "policies":[{"event":"PodEvicted","action":"RestartJob"}],
  "tasks":[{"name":"acmetask","replicas":2,"template":{"spec":{"containers":[{"name":"acme","image":"acme",
    "env":[{"name":"ACME","value":"acme"}],"resources":{"limits":{"memory":"8Gi"}}}]}}}]},
  "status":{"state":{"phase":"Running","message":"acme"},"taskStatusCount":{"acmetask":{"phase":{"Running":2}}}}})");
  Anonymise(job.get_object(), api::TypeOf<api::volcano::Job>(), pseudonyms);
  const std::string text = api::ToJson(job), name = pseudonyms.Of("acme"), task = pseudonyms.Of("acmetask");
  EXPECT_EQ(
      text,
      absl::StrReplaceAll(
          R"({"metadata":{"name":"NAME"},"spec":{"queue":"QUEUE","minAvailable":2,"plugins":{"svc":[],"pytorch":["--master=NAME"]},)"
          R"("policies":[{"event":"PodEvicted","action":"RestartJob"}],)"
          R"("tasks":[{"name":"TASK","replicas":2,"template":{"spec":{"containers":[{"name":"NAME","image":"NAME",)"
          R"("resources":{"limits":{"memory":"8Gi"}}}]}}}]},)"
          R"("status":{"state":{"phase":"Running"},"taskStatusCount":{"TASK":{"phase":{"Running":2}}}}})",
          {{"NAME", name}, {"TASK", task}, {"QUEUE", pseudonyms.Of("acmeq")}}));
}

TEST(SnapshotTest, NothingOfSecretsAndOfWhatNobodyDecidesBy) {
  for (const api::Resource* const resource :
       {&api::kSecrets, &api::kConfigMaps, &api::kEvents, &api::kServices, &api::kDeployments, &api::kNetworkPolicies})
    EXPECT_FALSE(IsKept(*resource)) << resource->plural;
  for (const api::Resource* const resource : {&api::kPods, &api::kNodes, &api::kNamespaces, &api::kJobs,
                                              &api::kKubernetesPodGroups, &api::kPersistentVolumeClaims})
    EXPECT_TRUE(IsKept(*resource)) << resource->plural;
}

std::string SnapshotOf(const std::vector<std::pair<const api::Resource*, std::string>>& objects,
                       bool anonymised = false) {
  SnapshotWriter writer(kTaken, anonymised);
  for (const auto& [resource, object] : objects) EXPECT_TRUE(writer.Add(*resource, object).ok());
  return std::move(writer).Finish();
}

TEST(SnapshotTest, IsReadAsItWasWritten) {
  const std::string text = SnapshotOf(
      {{&api::kQueues, R"({"metadata":{"name":"ads","managedFields":[],"annotations":{"a":"b"}},"spec":{"weight":2}})"},
       {&api::kPods, R"({"metadata":{"name":"p","namespace":"ads"}})"}});
  EXPECT_EQ(
      text,
      R"({"apiVersion":"v1","kind":"List","metadata":{"annotations":{"gangway.io/snapshot":"2026-11-24T07:00:00Z"}},"items":[
{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"ads","annotations":{"a":"b"}},"spec":{"weight":2}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ads"}}
]}
)");
  ASSERT_TRUE(IsSnapshot(text));
  const auto read = ReadSnapshot(text, "cluster.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->taken, kTaken);
  EXPECT_FALSE(read->anonymised);
  ASSERT_EQ(read->objects.size(), 2u);
  EXPECT_EQ(read->objects[0].resource, &api::kQueues);
  EXPECT_EQ(read->objects[1].json, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ads"}})");
  EXPECT_TRUE(ReadSnapshot(SnapshotOf({}, true), "s")->anonymised);
}

TEST(SnapshotTest, WhatIsNoneIsRefusedWithItsPlace) {
  const auto what = [](const std::string& text, SnapshotLimits limits = {}) {
    return std::string(ReadSnapshot(text, "f.json", limits).status().message());
  };
  const std::string good = SnapshotOf({{&api::kPods, R"({"metadata":{"name":"p"}})"}});
  EXPECT_EQ(what("kind: Pod"),
            "f.json: is no file of gangway snapshot, which begins with its annotation gangway.io/snapshot");
  EXPECT_THAT(what(good.substr(0, good.size() - 4)), HasSubstr("f.json: line 2"));
  EXPECT_THAT(what(absl::StrReplaceAll(good, {{"2026-11-24T07:00:00Z", "today"}})), HasSubstr("must be the time"));
  EXPECT_EQ(what(absl::StrReplaceAll(good, {{"\"Pod\"", "7"}})),
            "f.json: items[0]: must be an object with a kind and a name");
  EXPECT_EQ(what(good, {.max_objects = 0}), "f.json: a snapshot has at most 0 objects and 512 MiB");
  EXPECT_EQ(what(good, {.max_bytes = 100}), "f.json: a snapshot has at most 1000000 objects and 0 MiB");
  SnapshotWriter writer(kTaken, false, {.max_objects = 1});
  EXPECT_TRUE(writer.Add(api::kPods, "{}").ok());
  EXPECT_EQ(writer.Add(api::kPods, "{}").code(), absl::StatusCode::kResourceExhausted);
}

TEST(SnapshotTest, CreatesWhatNobodyWouldMakeByItself) {
  const std::string text = SnapshotOf({
      {&api::kPods,
       R"({"metadata":{"name":"ctr-w-0","namespace":"ads","uid":"u2","ownerReferences":[{"uid":"u1","controller":true}]}})"},
      {&api::kPods,
       R"({"metadata":{"name":"daemon","namespace":"ads","uid":"u3","resourceVersion":"9","ownerReferences":[{"uid":"other","controller":true}]},"spec":{"nodeName":"n"},"status":{"phase":"Running"}})"},
      {&api::kPods, R"({"metadata":{"name":"old","namespace":"ads"},"status":{"phase":"Succeeded"}})"},
      {&api::kJobs,
       R"({"metadata":{"name":"ctr","namespace":"ads","uid":"u1"},"status":{"state":{"phase":"Running"}}})"},
      {&api::kJobs, R"({"metadata":{"name":"done","namespace":"ads"},"status":{"state":{"phase":"Completed"}}})"},
      {&api::kQueues, R"({"metadata":{"name":"default"}})"},
      {&api::kQueues, R"({"metadata":{"name":"ads"}})"},
      {&api::kNamespaces, R"({"metadata":{"name":"kube-system"}})"},
      {&api::kNamespaces, R"({"metadata":{"name":"ads"}})"},
      {&api::kPriorityClasses, R"({"metadata":{"name":"system-node-critical"}})"},
      {&api::kNodes, R"({"metadata":{"name":"n","uid":"u4"},"status":{"allocatable":{"cpu":"16"}}})"},
  });
  std::vector<std::string> made;
  const auto documents = ToCreate(*ReadSnapshot(text, "s"), "s");
  for (const api::ManifestDocument& document : documents)
    made.push_back(absl::StrCat(document.kind, "/", document.name));
  EXPECT_THAT(made, ElementsAre("Queue/ads", "Namespace/ads", "Node/n", "Job/ctr", "Pod/daemon"));
  EXPECT_EQ(
      documents[4].json,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"daemon","namespace":"ads"},"spec":{"nodeName":"n"}})");
}

}  // namespace
}  // namespace gangway::snapshot
