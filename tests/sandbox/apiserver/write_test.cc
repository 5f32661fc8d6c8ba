// POST, PUT and PATCH: what the server fills in, what it counts, what it refuses to change.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class WriteTest : public ServerTest {};

TEST_F(WriteTest, CreateStampsIdentityAndDefaults) {
  const Answer created = Post(kPods, PodJson("p"));
  ASSERT_EQ(created.code, 201) << created.body;
  const Json pod = created.json();
  EXPECT_THAT(pod.Text("metadata.uid"),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(pod.Text("metadata.creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(pod.Text("metadata.resourceVersion"), absl::StrCat(revision()));
  EXPECT_EQ(pod.Text("metadata.generation"), "1");
  EXPECT_EQ(pod.Text("metadata.namespace"), "default");
  EXPECT_EQ(pod.Text("spec.restartPolicy"), "Always");
  EXPECT_EQ(pod.Text("spec.dnsPolicy"), "ClusterFirst");
  EXPECT_EQ(pod.Text("spec.schedulerName"), "default-scheduler");
  EXPECT_EQ(pod.Text("spec.terminationGracePeriodSeconds"), "30");
  EXPECT_EQ(pod.Text("spec.priority"), "0");
  EXPECT_EQ(pod.Text("spec.containers.0.imagePullPolicy"), "IfNotPresent");
  EXPECT_EQ(pod.Text("spec.containers.0.terminationMessagePath"), "/dev/termination-log");
  EXPECT_EQ(pod.Text("status.phase"), "Pending");
  EXPECT_EQ(pod.Text("status.qosClass"), "BestEffort");
  EXPECT_EQ(Get(PodPath("p")).body, created.body);
}

TEST_F(WriteTest, GeneratedNamesHaveFiveSafeLettersAndDiffer) {
  const std::string body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"c-"}})";
  const std::string first = Post(kConfigMaps, body).Text("metadata.name");
  const std::string second = Post(kConfigMaps, body).Text("metadata.name");
  EXPECT_THAT(first, MatchesRegex("c-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_NE(first, second);
}

TEST_F(WriteTest, ALongGeneratedNameFits) {
  const std::string base(200, 'a');
  const Answer created = Post(kConfigMaps, absl::StrCat(R"({"metadata":{"generateName":")", base, R"("}})"));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.Text("metadata.name").size(), 63u);
}

TEST_F(WriteTest, CreatingTwiceIsAlreadyExists) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  const std::uint64_t before = revision();
  const Answer again = Post(kConfigMaps, ConfigMapJson("c"));
  EXPECT_EQ(again.code, 409);
  EXPECT_EQ(again.Text("reason"), "AlreadyExists");
  EXPECT_EQ(again.Text("message"), "configmaps \"c\" already exists");
  EXPECT_EQ(again.Text("details.kind"), "configmaps");
  EXPECT_EQ(revision(), before);
}

TEST_F(WriteTest, DryRunAnswersAsIfAndWritesNothing) {
  const std::uint64_t before = revision();
  const Answer created = Post(kConfigMaps, ConfigMapJson("c"), "dryRun=All");
  EXPECT_EQ(created.code, 201);
  EXPECT_FALSE(created.Text("metadata.uid").empty());
  EXPECT_EQ(revision(), before);
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  const std::uint64_t there = revision();
  EXPECT_EQ(Patch(absl::StrCat(kConfigMaps, "/c"), R"({"data":{"a":"2"}})", "merge", "dryRun=All").Text("data.a"), "2");
  EXPECT_EQ(Delete(absl::StrCat(kConfigMaps, "/c"), "", "dryRun=All").code, 200);
  EXPECT_EQ(Delete(absl::StrCat(kConfigMaps, "/c"), R"({"dryRun":["All"]})").code, 200);
  EXPECT_EQ(revision(), there);
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/c")).Text("data.a"), "1");
}

TEST_F(WriteTest, StatusGivenOnCreateIsDroppedWhereItIsASubresource) {
  std::string body = JobJson("j");
  body.insert(body.size() - 1, R"(,"status":{"state":{"phase":"Completed"}})");
  const Answer created = Post(kJobs, body);
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.Text("status.state.phase"), "");
  // A node registers with what it has.
  const Answer node = Post("/api/v1/nodes", R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})");
  EXPECT_EQ(node.Text("status.capacity.cpu"), "4");
}

TEST_F(WriteTest, VolcanosDefaultsAndVerdicts) {
  const Answer created = Post(kJobs, JobJson("j"));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.Text("spec.queue"), "default");
  EXPECT_EQ(created.Text("spec.maxRetry"), "3");
  EXPECT_EQ(created.Text("spec.minAvailable"), "2");
  const std::uint64_t before = revision();
  std::string nowhere = JobJson("k");
  nowhere.insert(nowhere.find("\"tasks\""), R"("queue":"nope",)");
  const Answer refused = Post(kJobs, nowhere);
  EXPECT_EQ(refused.code, 400);
  EXPECT_THAT(refused.Text("message"), HasSubstr("nope"));
  EXPECT_EQ(refused.Text("details.causes.0.field"), "spec.queue");
  const Answer negative = Post(kJobs, JobJson("k", -1));
  EXPECT_EQ(negative.code, 422);
  EXPECT_EQ(negative.Text("reason"), "Invalid");
  EXPECT_EQ(negative.Text("details.causes.0.field"), "spec.tasks[0].replicas");
  EXPECT_EQ(revision(), before);
}

TEST_F(WriteTest, PriorityComesFromItsClass) {
  ASSERT_EQ(Post("/apis/scheduling.k8s.io/v1/priorityclasses", R"({"metadata":{"name":"high"},"value":1000})").code,
            201);
  EXPECT_EQ(Post(kPods, PodJson("p", "", R"(,"priorityClassName":"high")")).Text("spec.priority"), "1000");
  const Answer refused = Post(kPods, PodJson("q", "", R"(,"priorityClassName":"none")"));
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(refused.Text("message"), HasSubstr("no PriorityClass with name none was found"));
}

struct QosCase {
  const char* name;
  const char* resources;
  const char* qos;
};
class QosTest : public ServerTest, public ::testing::WithParamInterface<QosCase> {};
TEST_P(QosTest, Class) {
  const Answer created =
      Post(kPods, absl::StrCat(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":)",
                               GetParam().resources, "}]}}"));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.Text("status.qosClass"), GetParam().qos);
}
INSTANTIATE_TEST_SUITE_P(
    All, QosTest,
    ::testing::Values(
        QosCase{"Nothing", "{}", "BestEffort"}, QosCase{"Requests", R"({"requests":{"cpu":"1"}})", "Burstable"},
        QosCase{"LimitsAreRequests", R"({"limits":{"cpu":"1","memory":"1Gi"}})", "Guaranteed"},
        QosCase{"EqualInOtherWords",
                R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1024Mi"}})", "Guaranteed"},
        QosCase{"LimitsBeyond", R"({"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}})",
                "Burstable"}),
    [](const auto& c) { return c.param.name; });

TEST_F(WriteTest, OptimisticLock) {
  const std::string path = absl::StrCat(kConfigMaps, "/c");
  const Answer created = Post(kConfigMaps, ConfigMapJson("c"));
  ASSERT_EQ(Patch(path, R"({"data":{"a":"2"}})").code, 200);
  const std::uint64_t before = revision();
  const Answer stale = Put(path, created.body);
  EXPECT_EQ(stale.code, 409);
  EXPECT_EQ(stale.Text("reason"), "Conflict");
  EXPECT_EQ(
      stale.Text("message"),
      "Operation cannot be fulfilled on configmaps \"c\": the object has been modified; please apply your changes "
      "to the latest version and try again");
  EXPECT_EQ(Patch(path, absl::StrCat(R"({"metadata":{"resourceVersion":")", created.Text("metadata.resourceVersion"),
                                     R"("},"data":{"a":"3"}})"))
                .code,
            409);
  EXPECT_EQ(revision(), before);
  EXPECT_EQ(Patch(path, absl::StrCat(R"({"metadata":{"resourceVersion":")", before, R"("},"data":{"a":"3"}})")).code,
            200);
  // Core types may be replaced without a version, Volcano's not.
  EXPECT_EQ(Put(path, ConfigMapJson("c")).code, 200);
  ASSERT_EQ(Post(kJobs, JobJson("j")).code, 201);
  const Answer unversioned = Put(absl::StrCat(kJobs, "/j"), JobJson("j"));
  EXPECT_EQ(unversioned.code, 422);
  EXPECT_EQ(unversioned.Text("details.causes.0.field"), "metadata.resourceVersion");
}

TEST_F(WriteTest, AnotherObjectsUidIsRefused) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  const std::string path = absl::StrCat(kConfigMaps, "/c");
  EXPECT_EQ(Put(path, ConfigMapJson("c", R"(,"uid":"x")")).code, 409);
  const Answer patched = Patch(path, R"({"metadata":{"uid":"x"}})");
  EXPECT_EQ(patched.code, 422);
  EXPECT_EQ(patched.Text("details.causes.0.field"), "metadata.uid");
  // A status written for an earlier object of that name, too.
  ASSERT_EQ(Post(kPods, PodJson("p")).code, 201);
  EXPECT_EQ(Patch(PodPath("p") + "/status", R"({"metadata":{"uid":"x"},"status":{"phase":"Running"}})").code, 422);
  EXPECT_EQ(Get(PodPath("p")).Text("status.phase"), "Pending");
}

TEST_F(WriteTest, AWriteThatChangesNothingIsNoWrite) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  const std::uint64_t before = revision();
  const std::string path = absl::StrCat(kConfigMaps, "/c");
  EXPECT_EQ(Patch(path, R"({"data":{"a":"1"}})").code, 200);
  EXPECT_EQ(Put(path, ConfigMapJson("c")).code, 200);
  EXPECT_EQ(revision(), before);
}

TEST_F(WriteTest, GenerationCountsChangesOfTheSpecOnly) {
  ASSERT_EQ(Post(kJobs, JobJson("j")).code, 201);
  const std::string path = absl::StrCat(kJobs, "/j");
  EXPECT_EQ(Patch(path, R"({"metadata":{"labels":{"a":"b"}}})").Text("metadata.generation"), "1");
  EXPECT_EQ(Patch(absl::StrCat(path, "/status"), R"({"status":{"running":1}})").Text("metadata.generation"), "1");
  EXPECT_EQ(Patch(path, R"({"spec":{"minAvailable":1}})").Text("metadata.generation"), "2");
  // A PodGroup's status is no subresource, and counts (as recorded: generation 2 once it is Pending).
  ASSERT_EQ(
      Post(
          kPodGroups,
          R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1}})")
          .code,
      201);
  EXPECT_EQ(Patch(absl::StrCat(kPodGroups, "/g"), R"({"status":{"phase":"Pending"}})").Text("metadata.generation"),
            "2");
  EXPECT_EQ(Get(absl::StrCat(kPodGroups, "/g")).Text("status.phase"), "Pending");
}

TEST_F(WriteTest, StatusAndSpecAreWrittenApart) {
  ASSERT_EQ(Post(kJobs, JobJson("j")).code, 201);
  const std::string path = absl::StrCat(kJobs, "/j");
  const Answer status = Patch(absl::StrCat(path, "/status"),
                              R"({"metadata":{"labels":{"a":"b"}},"spec":{"minAvailable":1},"status":{"running":2}})");
  ASSERT_EQ(status.code, 200) << status.body;
  EXPECT_EQ(status.Text("status.running"), "2");
  EXPECT_EQ(status.Text("spec.minAvailable"), "2");
  EXPECT_FALSE(status.json().Has("metadata.labels"));
  const Answer spec = Patch(path, R"({"spec":{"minAvailable":1},"status":{"running":7}})");
  EXPECT_EQ(spec.Text("status.running"), "2");
  EXPECT_EQ(spec.Text("spec.minAvailable"), "1");
}

TEST_F(WriteTest, ServersMetadataSurvivesAnUpdateThatLeavesItOut) {
  const Answer created = Post(kConfigMaps, ConfigMapJson("c"));
  const Answer replaced = Put(absl::StrCat(kConfigMaps, "/c"), ConfigMapJson("c", R"(,"labels":{"a":"b"})"));
  ASSERT_EQ(replaced.code, 200);
  for (const char* field : {"metadata.uid", "metadata.creationTimestamp", "metadata.namespace"}) {
    EXPECT_EQ(replaced.Text(field), created.Text(field)) << field;
  }
  EXPECT_EQ(replaced.json().Size("metadata.managedFields"), 1u);
}

TEST_F(WriteTest, PodSpecsAreMostlyImmutable) {
  ASSERT_EQ(Post(kPods, PodJson("p")).code, 201);
  const std::uint64_t before = revision();
  const Answer refused = Patch(PodPath("p"), R"({"spec":{"restartPolicy":"Never"}})");
  EXPECT_EQ(refused.code, 422);
  EXPECT_EQ(refused.Text("details.causes.0.field"), "spec");
  EXPECT_THAT(refused.Text("message"), HasSubstr("spec.restartPolicy"));
  EXPECT_EQ(Patch(PodPath("p"), R"({"spec":{"nodeName":"n"}})").code, 422);
  EXPECT_EQ(revision(), before);
  EXPECT_EQ(
      Patch(PodPath("p"), R"([{"op":"replace","path":"/spec/containers/0/image","value":"busybox:2"}])", "json").code,
      200);
  EXPECT_EQ(Patch(PodPath("p"), R"({"spec":{"activeDeadlineSeconds":5}})").code, 200);
}

TEST_F(WriteTest, APodWithZerosInItsProbeCanBeWrittenLater) {
  const Answer created = Post(kPods, R"({"metadata":{"name":"z"},"spec":{"containers":[{"name":"c","image":"i",
    "readinessProbe":{"tcpSocket":{"port":80},"periodSeconds":0,"timeoutSeconds":0}}]}})");
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.Text("spec.containers.0.readinessProbe.periodSeconds"), "10");
  const Answer patched = Patch(PodPath("z"), R"({"metadata":{"annotations":{"a":"b"}}})");
  EXPECT_EQ(patched.code, 200) << patched.body;
}

// kubernetes: resource/v1, defaults, and apis/resource/validation
TEST_F(WriteTest, DevicesOfAResourceClaimAreGivenAndTakenBackWhole) {
  constexpr absl::string_view kClaims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
  const Answer created = Post(
      kClaims,
      R"({"metadata":{"name":"gpu"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}})");
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.Text("spec.devices.requests.0.exactly.allocationMode"), "ExactCount");
  EXPECT_EQ(created.Text("spec.devices.requests.0.exactly.count"), "1");

  const std::string claim = absl::StrCat(kClaims, "/gpu"), status = absl::StrCat(claim, "/status");
  EXPECT_EQ(Patch(claim, R"({"spec":{"devices":{"requests":[]}}})").code, 422);
  const Answer early = Patch(status, R"({"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}})");
  EXPECT_EQ(early.code, 422) << early.body;
  const std::string given =
      R"({"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"n","device":"DEVICE"}]}},
                    "reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}})";
  const auto with = [&](const std::string& device) {
    return Patch(status, std::string(given).replace(given.find("DEVICE"), 6, device));
  };
  EXPECT_EQ(with("gpu-0").code, 200);
  EXPECT_EQ(with("gpu-1").code, 422);
  EXPECT_EQ(Get(claim).Text("status.allocation.devices.results.0.device"), "gpu-0");
  EXPECT_EQ(Patch(status, R"({"status":{"allocation":null,"reservedFor":null}})").code, 200);
  EXPECT_EQ(with("gpu-1").code, 200);
}

TEST_F(WriteTest, PatchesOfThreeKinds) {
  ASSERT_EQ(
      Post("/api/v1/nodes",
           R"({"metadata":{"name":"n","labels":{"a":"1"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}})")
          .code,
      201);
  EXPECT_EQ(Patch("/api/v1/nodes/n", R"({"spec":{"unschedulable":true}})", "strategic").Text("spec.unschedulable"),
            "true");
  EXPECT_EQ(Patch("/api/v1/nodes/n", R"({"spec":{"unschedulable":null}})").json().Has("spec.unschedulable"), false);
  const Answer json = Patch(
      "/api/v1/nodes/n",
      R"([{"op":"test","path":"/metadata/labels/a","value":"1"},{"op":"add","path":"/metadata/labels/b","value":"2"}])",
      "json");
  EXPECT_EQ(json.Text("metadata.labels.b"), "2");
  const std::uint64_t before = revision();
  const Answer failed = Patch("/api/v1/nodes/n", R"([{"op":"test","path":"/metadata/labels/a","value":"9"}])", "json");
  EXPECT_EQ(failed.code, 422) << failed.body;
  EXPECT_EQ(Patch("/api/v1/nodes/n", R"([{"op":"add"}])", "json").code, 400);
  EXPECT_EQ(Patch("/api/v1/nodes/n", R"([{"op":"replace","path":"/metadata","value":3}])", "json").code, 422);
  EXPECT_EQ(Patch("/api/v1/nodes/n", "{}", "application/apply-patch+cbor").code, 415);
  EXPECT_EQ(Patch("/api/v1/nodes/n", "{}", "text/plain").code, 415);
  EXPECT_EQ(revision(), before);
}

TEST_F(WriteTest, CustomTypesTakeNoStrategicMerge) {
  ASSERT_EQ(Post(kJobs, JobJson("j")).code, 201);
  const Answer refused = Patch(absl::StrCat(kJobs, "/j"), "{}", "strategic");
  EXPECT_EQ(refused.code, 415);
  EXPECT_EQ(refused.Text("reason"), "UnsupportedMediaType");
}

TEST_F(WriteTest, StrategicMergeKeepsListElementsByKey) {
  ASSERT_EQ(
      Post(
          "/apis/apps/v1/namespaces/default/deployments",
          R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"1"},{"name":"y","image":"1"}]}}}})")
          .code,
      201);
  const Answer patched =
      Patch("/apis/apps/v1/namespaces/default/deployments/d",
            R"({"spec":{"template":{"spec":{"containers":[{"name":"y","image":"2"}]}}}})", "strategic");
  ASSERT_EQ(patched.code, 200) << patched.body;
  EXPECT_EQ(patched.json().Size("spec.template.spec.containers"), 2u);
  const auto scaled = Patch("/apis/apps/v1/namespaces/default/deployments/d/scale", R"({"spec":{"replicas":4}})");
  EXPECT_EQ(scaled.Text("kind"), "Scale");
  EXPECT_EQ(Get("/apis/apps/v1/namespaces/default/deployments/d").Text("spec.replicas"), "4");
  EXPECT_EQ(Get("/apis/apps/v1/namespaces/default/deployments/d/scale").Text("spec.replicas"), "4");
}

TEST_F(WriteTest, UnknownAndRepeatedFields) {
  const std::string body =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"dta":{"a":"1"},"data":{"x":"1","x":"2"}})";
  const std::uint64_t before = revision();
  const Answer strict = Post(kConfigMaps, body, "fieldValidation=Strict");
  EXPECT_EQ(strict.code, 400);
  EXPECT_EQ(strict.Text("reason"), "BadRequest");
  EXPECT_THAT(strict.Text("message"),
              HasSubstr(R"(strict decoding error: duplicate field "data.x", unknown field "dta")"));
  EXPECT_EQ(revision(), before);
  const Answer warned = Post(kConfigMaps, body);  // Warn is the default
  EXPECT_EQ(warned.code, 201);
  EXPECT_THAT(warned.warnings, ElementsAre(R"(duplicate field "data.x")", R"(unknown field "dta")"));
  EXPECT_FALSE(warned.json().Has("dta"));
  EXPECT_EQ(warned.Text("data.x"), "2");
  ASSERT_EQ(Delete(absl::StrCat(kConfigMaps, "/c")).code, 200);
  const Answer ignored = Post(kConfigMaps, body, "fieldValidation=Ignore");
  EXPECT_EQ(ignored.code, 201);
  EXPECT_THAT(ignored.warnings, IsEmpty());
  const Answer patched = Patch(absl::StrCat(kConfigMaps, "/c"), R"({"foo":1})", "merge", "fieldValidation=Strict");
  EXPECT_EQ(patched.code, 422);
  EXPECT_THAT(patched.Text("message"), HasSubstr(R"(unknown field "foo")"));
}

TEST_F(WriteTest, JobTyposAreRefusedWithTheirPath) {
  std::string body = JobJson("j");
  body.replace(body.find("\"replicas\""), 10, "\"replica\"");
  const Answer strict = Post(kJobs, body, "fieldValidation=Strict");
  EXPECT_EQ(strict.code, 400);
  EXPECT_THAT(strict.Text("message"), HasSubstr(R"(unknown field "spec.tasks[0].replica")"));
}

TEST_F(WriteTest, NamespacesComeFirstAndClosingOnesTakeNothing) {
  const Answer missing = Post("/api/v1/namespaces/nope/configmaps", ConfigMapJson("c"));
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(missing.Text("message"), "namespaces \"nope\" not found");
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_EQ(Get(absl::StrCat("/api/v1/namespaces/", name)).Text("status.phase"), "Active") << name;
  }
  ASSERT_EQ(Post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})").code, 201);
  ASSERT_EQ(Post("/api/v1/namespaces/team/configmaps", ConfigMapJson("c", R"(,"finalizers":["x.io/hold"])")).code, 201);
  ASSERT_EQ(Delete("/api/v1/namespaces/team").Text("status.phase"), "Terminating");
  const Answer closing = Post("/api/v1/namespaces/team/configmaps", ConfigMapJson("d"));
  EXPECT_EQ(closing.code, 403);
  EXPECT_EQ(closing.Text("details.causes.0.reason"), "NamespaceTerminating");
}

TEST_F(WriteTest, SecretsFoldTheirPlainText) {
  const Answer secret =
      Post("/api/v1/namespaces/default/secrets", R"({"metadata":{"name":"s"},"stringData":{"k":"hi"}})");
  ASSERT_EQ(secret.code, 201) << secret.body;
  EXPECT_EQ(secret.Text("data.k"), "aGk=");
  EXPECT_FALSE(secret.json().Has("stringData"));
  EXPECT_EQ(secret.Text("type"), "Opaque");
}

TEST_F(WriteTest, TheJournalTellsWhoDidWhat) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  ASSERT_EQ(Patch(absl::StrCat(kConfigMaps, "/c"), R"({"data":{"a":"2"}})").code, 200);
  ASSERT_EQ(Delete(absl::StrCat(kConfigMaps, "/c")).code, 200);
  ASSERT_GE(journal_.size(), 3u);
  const auto* last = &journal_[journal_.size() - 3];
  EXPECT_EQ(last[0].verb, "create");
  EXPECT_EQ(last[0].before, nullptr);
  EXPECT_EQ(last[1].verb, "patch");
  EXPECT_EQ(*last[1].before, *last[0].after);
  EXPECT_EQ(last[2].verb, "delete");
  EXPECT_EQ(last[2].after, nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(last[i].client, "test");
    EXPECT_EQ(last[i].key.name, "c");
    EXPECT_EQ(last[i].uid, last[0].uid);
  }
}

}  // namespace
}  // namespace gangway::testutil
