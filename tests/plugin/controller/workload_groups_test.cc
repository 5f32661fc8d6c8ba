// PodGroups of ReplicaSets, StatefulSets and bare pods through the controllers; pods are made by hand, as their own
// controllers would. And the queues that PodGroups get of their namespaces.
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"

namespace gangway::controller {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WorkloadGroupsTest : public ControllersTest {
 protected:
  std::string Text(const api::Resource& resource, const std::string& name, const char* pointer) {
    const json::value object = Get(resource, name);
    boost::system::error_code error;
    const json::value* at = object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : json::serialize(*at);
  }
  std::string Uid(const api::Resource& resource, const std::string& name) {
    return Text(resource, name, "/metadata/uid");
  }

  void AddSet(const api::Resource& resource, const std::string& name, int replicas, const std::string& annotations) {
    Create(resource,
           absl::StrCat(R"({"apiVersion":"apps/v1","kind":")", std::string(resource.kind), R"(","metadata":{"name":")",
                        name, R"(","annotations":{)", annotations, R"(}},"spec":{"replicas":)", replicas,
                        R"(,"serviceName":"s","selector":{"matchLabels":{"app":")", name,
                        R"("}},"template":{"metadata":{"labels":{"app":")", name,
                        R"("}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  }
  void AddPod(const std::string& name, const api::Resource* kind = nullptr, const std::string& owner = "") {
    const std::string owners =
        kind == nullptr ? ""
                        : absl::StrCat(R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":")",
                                       std::string(kind->kind), R"(","name":")", owner, R"(","uid":")",
                                       Uid(*kind, owner), R"(","controller":true,"blockOwnerDeletion":true}])");
    Create(
        api::kPods,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "\"", owners,
            R"(},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})"));
  }
  std::string NamedGroup(const std::string& pod) {
    return Text(api::kPods, pod, "/metadata/annotations/scheduling.k8s.io~1group-name");
  }
};

constexpr char kThree[] = R"("scheduling.volcano.sh/group-min-member":"3","volcano.sh/mine":"1")";

TEST_F(WorkloadGroupsTest, AReplicaSetsPodsAreOneGang) {
  Start();
  AddSet(api::kReplicaSets, "rs", 4, kThree);
  for (const char* pod : {"rs-a", "rs-b", "rs-c", "rs-d"}) AddPod(pod, &api::kReplicaSets, "rs");
  const std::string group = absl::StrCat("podgroup-", Uid(api::kReplicaSets, "rs"));
  ASSERT_THAT(Names(api::kPodGroups), ElementsAre(group));
  EXPECT_EQ(Text(api::kPodGroups, group, "/spec/minMember"), "3");
  EXPECT_EQ(Text(api::kPodGroups, group, "/spec/minResources/cpu"), "3");
  EXPECT_EQ(Text(api::kPodGroups, group, "/spec/queue"), "default");
  EXPECT_EQ(Text(api::kPodGroups, group, "/status/phase"), "Pending");
  EXPECT_EQ(Text(api::kPodGroups, group, "/metadata/annotations/volcano.sh~1mine"), "1");
  for (const char* pod : {"rs-a", "rs-b", "rs-c", "rs-d"}) EXPECT_EQ(NamedGroup(pod), group);
  const int writes = writes_;
  Run(absl::Hours(1));
  EXPECT_EQ(writes_, writes) << "nothing is written when nothing changed";

  Patch(api::kReplicaSets, "rs", R"({"metadata":{"annotations":{"scheduling.volcano.sh/group-min-member":"4"}}})");
  Run();
  EXPECT_EQ(Text(api::kPodGroups, group, "/spec/minMember"), "4") << "the group follows its owner";
  EXPECT_EQ(Text(api::kPodGroups, group, "/spec/minResources/cpu"), "4");

  Patch(api::kReplicaSets, "rs", R"({"spec":{"replicas":0}})");
  Run();
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group)) << "its pods are still there";
  for (const char* pod : {"rs-a", "rs-b", "rs-c", "rs-d"}) Delete(api::kPods, pod);
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  Patch(api::kReplicaSets, "rs", R"({"spec":{"replicas":1}})");
  AddPod("rs-e", &api::kReplicaSets, "rs");
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group));
}

TEST_F(WorkloadGroupsTest, AGroupThatSomebodyDeletedIsMadeAgain) {
  Start();
  AddPod("bare");
  ASSERT_THAT(Names(api::kPodGroups), SizeIs(1));
  const std::string group = Names(api::kPodGroups)[0];
  EXPECT_EQ(group, absl::StrCat("podgroup-", Uid(api::kPods, "bare")));
  Delete(api::kPodGroups, group);
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group));
}

TEST_F(WorkloadGroupsTest, ThePodMayComeBeforeItsOwnerIsSeen) {
  Start();
  AddSet(api::kStatefulSets, "s", 2, kThree);
  AddPod("s-0", &api::kStatefulSets, "s");
  EXPECT_EQ(Text(api::kPodGroups, absl::StrCat("podgroup-", Uid(api::kStatefulSets, "s")), "/spec/minMember"), "3");
}

TEST_F(WorkloadGroupsTest, WithoutInheritanceEachPodMayStartAlone) {
  Options options;
  options.inherit_owner_annotations = false;
  Start(options);
  AddSet(api::kReplicaSets, "rs", 4, kThree);
  AddPod("rs-a", &api::kReplicaSets, "rs");
  EXPECT_EQ(Text(api::kPodGroups, absl::StrCat("podgroup-", Uid(api::kReplicaSets, "rs")), "/spec/minMember"), "1");
}

TEST_F(WorkloadGroupsTest, AClosedQueueIsToldAndItsOpeningIsSeen) {
  Start();
  Create(api::kQueues,
         R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{}})");
  Patch(api::kQueues, "q", R"({"status":{"state":"Closed"}})", "status");
  Run();
  Create(
      api::kPods,
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare","annotations":{"scheduling.volcano.sh/queue-name":"q"}},
    "spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})");
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  EXPECT_THAT(Events(), ::testing::Contains(::testing::AllOf(::testing::HasSubstr("PodGroupError: PodGroup podgroup-"),
                                                             ::testing::HasSubstr("its state is Closed"))));
  Patch(api::kQueues, "q", R"({"status":{"state":"Open"}})", "status");
  Run(absl::Seconds(10));
  EXPECT_THAT(Names(api::kPodGroups), SizeIs(1));
}

// Stopped before, or after without hearing of it, at each write: the end is the same, and nothing is made twice.
TEST_F(WorkloadGroupsTest, StoppedAtAnyWriteItEndsTheSame) {
  AddSet(api::kReplicaSets, "rs", 2, kThree);
  AddPod("rs-a", &api::kReplicaSets, "rs");
  AddPod("rs-b", &api::kReplicaSets, "rs");
  for (int stop = 1; stop <= 6; ++stop) {
    int seen = 0;
    fate_ = [&](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method != "GET" && ++seen >= (stop + 1) / 2)
        fate.loss = stop % 2 == 0 ? sandbox::RequestFate::Loss::kReply : sandbox::RequestFate::Loss::kRequest;
      return fate;
    };
    Start();
    Crash();
    fate_ = nullptr;
    Start();
    const std::string group = absl::StrCat("podgroup-", Uid(api::kReplicaSets, "rs"));
    ASSERT_THAT(Names(api::kPodGroups), ElementsAre(group)) << stop;
    EXPECT_EQ(NamedGroup("rs-a"), group);
    EXPECT_EQ(NamedGroup("rs-b"), group);
    Crash();
    Delete(api::kPodGroups, group);
    for (const char* pod : {"rs-a", "rs-b"})
      Patch(api::kPods, pod, R"({"metadata":{"annotations":{"scheduling.k8s.io/group-name":null}}})");
  }
}

// Volcano: pkg/webhooks/admission/podgroups/mutate. The API server here would give a group its queue too; what the
// controllers ask for is what counts where no webhook does.
class NamespaceQueuesTest : public WorkloadGroupsTest {
 protected:
  NamespaceQueuesTest() {
    fate_ = [this](const kube::Request& request) { return Look(request); };
    Create(api::kQueues,
           R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"team"},"spec":{}})");
    Patch(api::kQueues, "team", R"({"status":{"state":"Open"}})", "status");
    Annotate("team");
  }
  void Annotate(const std::string& queue) {
    Patch(api::kNamespaces, "default",
          absl::StrCat(R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":")", queue, R"("}}})"));
    Run();
  }
  static std::string JobJson(const std::string& name) {
    return absl::StrCat(
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
        R"("},"spec":{"tasks":[{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  }
  sandbox::RequestFate Look(const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "POST" && absl::EndsWith(request.path, "/podgroups")) {
      const json::value body = *api::ParseJson(request.body);
      const json::value* queue = body.at("spec").as_object().if_contains("queue");
      asked_.push_back(queue == nullptr ? "" : std::string(queue->as_string()));
    }
    if (request.path != "/api/v1/namespaces") return fate;
    read_.push_back(request.query);
    if (forbidden_) {
      fate.answer.emplace();
      fate.answer->code = 403;
      fate.answer->body = MakeBytes(
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"namespaces is forbidden"})");
    }
    if (absl::StrContains(request.query, "watch=true")) fate.request_delay = watch_delay_;
    return fate;
  }

  bool forbidden_ = false;
  absl::Duration watch_delay_ = absl::ZeroDuration();
  std::vector<std::string> asked_;  // queues of the PodGroups made
  std::vector<std::string> read_;   // queries about namespaces
};

TEST_F(NamespaceQueuesTest, GroupsAreMadeInTheQueueOfTheirNamespace) {
  Start();
  Create(api::kJobs, JobJson("j"));
  AddPod("bare");
  EXPECT_THAT(asked_, ElementsAre("team", "team"));
  EXPECT_EQ(Job("j").spec.queue, "default") << "as in Volcano, the Job itself says what it said";
  LetIn("j");
  EXPECT_EQ(Text(api::kPods, "j-default0-0", "/metadata/annotations/volcano.sh~1queue-name"), "default");
  const int writes = writes_;
  Annotate("default");
  Run(absl::Minutes(10));
  EXPECT_EQ(writes_, writes) << "a group that is there stays where it is";
  EXPECT_EQ(Text(api::kPodGroups, GroupOf("j"), "/spec/queue"), "team");
}

TEST_F(NamespaceQueuesTest, GroupsAloneGetTheQueueToo) {
  Options options;
  options.only = {"podgroup"};
  Start(options);
  AddPod("bare");
  EXPECT_THAT(asked_, ElementsAre("team"));
}

TEST_F(NamespaceQueuesTest, OfNamedNamespacesOnlyTheseAreRead) {
  Options options;
  options.namespaces = {"default"};
  Start(options);
  Create(api::kJobs, JobJson("j"));
  EXPECT_THAT(asked_, ElementsAre("team"));
  EXPECT_THAT(read_, Each(HasSubstr("fieldSelector=metadata.name%3Ddefault")));
}

TEST_F(NamespaceQueuesTest, WithoutTheRightTheQueueStays) {
  forbidden_ = true;
  Start();
  Create(api::kJobs, JobJson("j"));
  AddSet(api::kReplicaSets, "rs", 1, "");
  AddPod("rs-a", &api::kReplicaSets, "rs");
  EXPECT_THAT(asked_, ElementsAre("default", ""));
  EXPECT_EQ(controllers_->problem(), "");
}

TEST_F(NamespaceQueuesTest, ANewNamespaceMayBeSeenAfterItsJob) {
  watch_delay_ = absl::Seconds(2);
  Start();
  ASSERT_EQ(
      Ask("POST", "/api/v1/namespaces",
          R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"late","annotations":{"scheduling.volcano.sh/queue-name":"team"}}})")
          .code,
      201);
  ASSERT_EQ(Ask("POST", api::PathOf(api::kJobs, "late"), JobJson("j")).code, 201);
  Run(absl::Milliseconds(500));
  EXPECT_THAT(asked_, IsEmpty());
  Run(absl::Seconds(3));
  EXPECT_THAT(asked_, ElementsAre("team"));
}

}  // namespace
}  // namespace gangway::controller
