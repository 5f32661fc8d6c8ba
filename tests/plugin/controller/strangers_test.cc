// What strangers and bad weather do to a Job: names that are taken, objects edited or removed by hand, a namespace that
// ends, a quota, an API server that refuses one pod of many. Nothing of theirs is overwritten, the Job says what is
// wrong, and goes on when it is over.
#include "gmock/gmock.h"
#include "kube/client/status.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::JobText;

const char kRestartOnLoss[] =
    R"("policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}])";

class StrangersTest : public ControllersTest {
 protected:
  static kube::Response Refusal(int code, absl::string_view reason, absl::string_view message) {
    kube::Response response;
    response.code = code;
    response.content_type = "application/json";
    response.body = MakeBytes(kube::StatusBody(code, reason, message));
    return response;
  }
  static bool Creates(const kube::Request& request, const api::Resource& resource) {
    return request.method == "POST" && request.path == api::PathOf(resource, "default");
  }
  std::string Bare(const std::string& name) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                        R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  }
  std::string UidOf(const api::Resource& resource, const std::string& name) {
    return std::string(Get(resource, name).at("metadata").at("uid").as_string());
  }
  // Everything that runs is let in and runs.
  void Settle(const std::string& job) {
    Run(absl::Seconds(2));
    if (Get(api::kPodGroups, GroupOf(job)).is_object()) LetIn(job);
    RunPods(job);
    Run(absl::Seconds(2));
  }
  int WritesDuring(absl::Duration time) {
    const int before = writes_;
    Run(time);
    return writes_ - before;
  }
};

// --- Names.

TEST_F(StrangersTest, APodOfThatNameIsLeftAloneAndItsPlaceFilledWhenItGoes) {
  Start();
  Create(api::kPods, Bare("ctr-w-1"));
  const std::string uid = UidOf(api::kPods, "ctr-w-1");
  Create(api::kJobs, JobText("ctr", 3, {{"w", 3}}));
  Settle("ctr");
  EXPECT_EQ(Phase("ctr"), "Pending");
  EXPECT_THAT(Names(api::kPods), ElementsAre("ctr-w-0", "ctr-w-1", "ctr-w-2"));
  EXPECT_EQ(UidOf(api::kPods, "ctr-w-1"), uid);
  EXPECT_THAT(Events(), Contains(AllOf(HasSubstr("FailedCreate: Pod ctr-w-1"), HasSubstr("already exists"),
                                       HasSubstr("is not ours"))));
  EXPECT_LT(WritesDuring(absl::Hours(1)), 60) << "events and tries, more and more rarely";
  Delete(api::kPods, "ctr-w-1");
  Run(absl::Minutes(5));
  RunPods("ctr");
  EXPECT_EQ(Phase("ctr"), "Running");
  EXPECT_NE(UidOf(api::kPods, "ctr-w-1"), uid);
}

TEST_F(StrangersTest, ObjectsOfThePluginsNamesAreLeftAloneAndMadeWhenTheyGo) {
  const std::vector<std::pair<const api::Resource*, std::string>> objects = {
      {&api::kServices,
       R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"ctr"},"spec":{"clusterIP":"None","selector":{"a":"b"}}})"},
      {&api::kConfigMaps,
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ctr-svc"},"data":{"mine":"yes"}})"},
      {&api::kNetworkPolicies,
       R"({"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"ctr"},"spec":{"podSelector":{}}})"}};
  Start();
  for (const auto& [resource, body] : objects) {
    SCOPED_TRACE(std::string(resource->kind));
    const std::string name = resource == &api::kConfigMaps ? "ctr-svc" : "ctr";
    Create(*resource, body);
    const std::string uid = UidOf(*resource, name);
    Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}, R"("plugins":{"svc":[]})"));
    Settle("ctr");
    EXPECT_EQ(UidOf(*resource, name), uid);
    EXPECT_EQ(Get(*resource, name).at("metadata").as_object().if_contains("ownerReferences"), nullptr);
    EXPECT_THAT(Events(),
                Contains(AllOf(HasSubstr(absl::StrCat("FailedCreate: ", std::string(resource->kind), " ", name)),
                               HasSubstr("is not ours"))));
    Delete(*resource, name);
    Run(absl::Minutes(5));
    EXPECT_NE(UidOf(*resource, name), uid);
    Settle("ctr");
    EXPECT_EQ(Phase("ctr"), "Running");
    Delete(api::kJobs, "ctr");
    Run(absl::Seconds(10));
  }
}

TEST_F(StrangersTest, ANameIsUsedAgainAndAgainAndNeverStalls) {
  Start();
  for (int i = 0; i < 10; ++i) {
    StartJob("ctr", JobText("ctr", 2, {{"w", 2}}, absl::StrCat(kRestartOnLoss, R"(,"plugins":{"svc":[]})")));
    if (i % 2 == 0) SetPod("ctr-w-0", "Failed", 3);            // in the middle of a restart
    Ask("DELETE", api::PathOf(api::kJobs, "default", "ctr"));  // and the next at once
  }
  Run(absl::Seconds(10));
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
}

// --- What was there is edited or removed.

TEST_F(StrangersTest, APodGroupRemovedByHandComesBackAndNothingRestarts) {
  Start();
  StartJob("ctr", JobText("ctr", 2, {{"w", 2}}, kRestartOnLoss));
  const std::string group = UidOf(api::kPodGroups, GroupOf("ctr")), pod = UidOf(api::kPods, "ctr-w-0");
  Delete(api::kPodGroups, GroupOf("ctr"));
  Run(absl::Seconds(5));
  EXPECT_NE(UidOf(api::kPodGroups, GroupOf("ctr")), group);
  EXPECT_EQ(UidOf(api::kPods, "ctr-w-0"), pod);
  EXPECT_EQ(Phase("ctr"), "Running");
  EXPECT_EQ(Job("ctr").status.version, 0);
}

TEST_F(StrangersTest, APodGroupEditedByHandIsMended) {
  Start();
  StartJob("ctr", JobText("ctr", 2, {{"w", 2}}));
  Patch(api::kPodGroups, GroupOf("ctr"), R"({"spec":{"minMember":7,"minTaskMember":{"w":5}}})");
  Run();
  EXPECT_EQ(Get(api::kPodGroups, GroupOf("ctr")).at("spec").at("minMember").as_int64(), 2);
  EXPECT_EQ(Get(api::kPodGroups, GroupOf("ctr")).at("spec").at("minTaskMember").at("w").as_int64(), 2);
}

TEST_F(StrangersTest, ObjectsOfPluginsRemovedByHandComeBackWhileItRuns) {
  Start();
  StartJob("ctr", JobText("ctr", 1, {{"w", 1}}, R"("plugins":{"svc":[]})"));
  for (const auto& [resource, name] : std::vector<std::pair<const api::Resource*, std::string>>{
           {&api::kServices, "ctr"}, {&api::kConfigMaps, "ctr-svc"}, {&api::kNetworkPolicies, "ctr"}}) {
    const std::string uid = UidOf(*resource, name);
    Delete(*resource, name);
    Run(absl::Seconds(2));
    ASSERT_TRUE(Get(*resource, name).is_object()) << std::string(resource->kind);
    EXPECT_NE(UidOf(*resource, name), uid);
  }
  EXPECT_EQ(Phase("ctr"), "Running");
}

TEST_F(StrangersTest, APodTakenAwayFromItsJobIsLost) {
  Start();
  StartJob("ctr", JobText("ctr", 2, {{"w", 2}}, kRestartOnLoss));
  const std::string taken = UidOf(api::kPods, "ctr-w-0");
  Patch(api::kPods, "ctr-w-0", R"({"metadata":{"ownerReferences":null}})");
  Run(absl::Seconds(2));
  EXPECT_EQ(Job("ctr").status.retry_count, 1) << "a lost pod, as one that was deleted";
  Settle("ctr");
  EXPECT_EQ(UidOf(api::kPods, "ctr-w-0"), taken) << "it is somebody else's now";
  EXPECT_EQ(Phase("ctr"), "Pending");
  EXPECT_THAT(Events(), Contains(AllOf(HasSubstr("FailedCreate: Pod ctr-w-0"), HasSubstr("is not ours"))));
  Delete(api::kPods, "ctr-w-0");
  Run(absl::Minutes(5));
  Settle("ctr");
  EXPECT_EQ(Phase("ctr"), "Running");
  EXPECT_EQ(Job("ctr").status.retry_count, 1);
}

TEST_F(StrangersTest, PodsWhoseLabelsAndAnnotationsAreEditedStayWhatTheyAre) {
  Start();
  StartJob("ctr", JobText("ctr", 3, {{"w", 3}, {"idle", 0}}, kRestartOnLoss));
  const std::vector<std::string> edits = {
      R"({"metadata":{"annotations":{"volcano.sh/task-spec":"idle"}}})",
      R"({"metadata":{"labels":{"volcano.sh/job-name":null,"volcano.sh/task-spec":"x","mine":"yes"}}})",
      R"({"metadata":{"annotations":{"volcano.sh/task-spec":null}}})",
      R"({"metadata":{"annotations":{"volcano.sh/task-index":"77","volcano.sh/queue-name":"none"}}})",
      R"({"metadata":{"annotations":{"volcano.sh/task-spec":"nonsense"}}})",
      R"({"metadata":{"annotations":{"volcano.sh/job-version":"soon"}}})",
      R"({"metadata":{"annotations":{"volcano.sh/job-version":null}}})"};
  const std::string uid = UidOf(api::kPods, "ctr-w-1");
  for (const std::string& edit : edits) {
    Patch(api::kPods, "ctr-w-1", edit);
    Run(absl::Seconds(2));
    ASSERT_TRUE(Get(api::kPods, "ctr-w-1").is_object()) << edit;
    EXPECT_EQ(UidOf(api::kPods, "ctr-w-1"), uid) << edit;
    EXPECT_EQ(Phase("ctr"), "Running") << edit;
    EXPECT_EQ(Job("ctr").status.running, 3) << edit;
    EXPECT_EQ(Job("ctr").status.version, 0) << edit;
  }
  // It is still one of the gang.
  SetPod("ctr-w-1", "Failed", 3);
  Run(absl::Seconds(2));
  EXPECT_EQ(Job("ctr").status.version, 1);
}

TEST_F(StrangersTest, ALateVersionWrittenIntoAPodIsNotBelieved) {
  Start();
  StartJob("ctr", JobText("ctr", 1, {{"w", 1}}, kRestartOnLoss));
  Patch(api::kPods, "ctr-w-0", R"({"metadata":{"annotations":{"volcano.sh/job-version":"2000000000"}}})");
  Run(absl::Seconds(2));
  EXPECT_EQ(Phase("ctr"), "Running");
  SetPod("ctr-w-0", "Failed", 3);
  Run(absl::Seconds(2));
  EXPECT_EQ(Job("ctr").status.version, 1);
  Settle("ctr");
  EXPECT_EQ(Phase("ctr"), "Running");
  EXPECT_EQ(Get(api::kPods, "ctr-w-0").at("metadata").at("annotations").at("volcano.sh/job-version").as_string(), "1");
}

// --- The API server says no.

TEST_F(StrangersTest, AQuotaIsToldAndTheGangRunsWhenItGoes) {
  constexpr int kPods = 200;
  int room = 2, refused = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (!Creates(request, api::kPods) || room-- > 0) return fate;
    ++refused;
    fate.answer =
        Refusal(403, "Forbidden",
                "pods \"ctr-w\" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2");
    return fate;
  };
  Start();
  Create(api::kJobs, JobText("ctr", kPods, {{"w", kPods}}, kRestartOnLoss));
  LetIn("ctr");
  Run(absl::Minutes(10));
  EXPECT_EQ(Phase("ctr"), "Pending");
  EXPECT_EQ(Job("ctr").status.version, 0);
  EXPECT_EQ(Names(api::kPods).size(), 2u) << "those that were let in stay";
  EXPECT_THAT(Events(), Contains(AllOf(HasSubstr("FailedCreate"), HasSubstr("exceeded quota: team"))));
  EXPECT_LT(refused, 1500) << "tens a try, and ever more rarely";
  refused = 0;
  Run(absl::Hours(1));
  EXPECT_LT(refused, 2500);
  room = 1'000'000;
  Run(absl::Minutes(5));
  EXPECT_EQ(Names(api::kPods).size(), static_cast<std::size_t>(kPods));
  RunPods("ctr");
  EXPECT_EQ(Phase("ctr"), "Running");
}

TEST_F(StrangersTest, OnePodThatIsRefusedForGoodIsToldAndTheOthersWait) {
  bool refuses = true;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (refuses && Creates(request, api::kPods) && absl::StrContains(request.body, "ctr-w-3")) {
      fate.answer = Refusal(422, "Invalid", "Pod \"ctr-w-3\" is invalid: spec.hostname: Invalid value: \"no\"");
    }
    return fate;
  };
  Start();
  Create(api::kJobs, JobText("ctr", 5, {{"w", 5}}, kRestartOnLoss));
  LetIn("ctr");
  Run(absl::Minutes(1));
  EXPECT_THAT(Names(api::kPods), ElementsAre("ctr-w-0", "ctr-w-1", "ctr-w-2", "ctr-w-4"));
  EXPECT_EQ(Phase("ctr"), "Pending");
  EXPECT_THAT(Events(), Contains(HasSubstr("FailedCreate: Pod ctr-w-3: Pod \"ctr-w-3\" is invalid")));
  EXPECT_LT(WritesDuring(absl::Hours(1)), 60);
  EXPECT_EQ(Job("ctr").status.version, 0);
  // A user's word is heard meanwhile.
  Command("stop", "AbortJob", "ctr");
  Run(absl::Seconds(6));
  EXPECT_EQ(Phase("ctr"), "Aborted");
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  refuses = false;
  Command("go", "ResumeJob", "ctr");
  Run(absl::Seconds(6));
  LetIn("ctr");
  RunPods("ctr");
  EXPECT_EQ(Phase("ctr"), "Running");
}

TEST_F(StrangersTest, ANamespaceThatEndsTakesItsJobsWithoutAStorm) {
  Start();
  Create(api::kNamespaces, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
  constexpr int kPods = 100;
  ASSERT_TRUE(Ask("POST", api::PathOf(api::kJobs, "team"),
                  JobText("ctr", kPods, {{"w", kPods}}, absl::StrCat(kRestartOnLoss, R"(,"plugins":{"svc":[]})")))
                  .ok());
  Run();
  const auto job = *api::Decode<api::volcano::Job>(*Ask("GET", api::PathOf(api::kJobs, "team", "ctr")).body);
  const std::string group = absl::StrCat("ctr-", job.metadata.uid);
  ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kPodGroups, "team", group), R"({"status":{"phase":"Inqueue"}})").ok());
  Run();
  ASSERT_EQ(api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "team")).body)->at("items").as_array().size(),
            static_cast<std::size_t>(kPods));
  // The Job goes last: somebody's finalizer holds it.
  ASSERT_TRUE(
      Ask("PATCH", api::PathOf(api::kJobs, "team", "ctr"), R"({"metadata":{"finalizers":["example.com/mine"]}})").ok());
  int asked = 0;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET") ++asked;
    return sandbox::RequestFate{};
  };
  ASSERT_TRUE(Ask("DELETE", api::PathOf(api::kNamespaces, "", "team")).ok());
  Run(absl::Minutes(10));
  EXPECT_LT(asked, 50);
  ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kJobs, "team", "ctr"), R"({"metadata":{"finalizers":null}})").ok());
  Run(absl::Minutes(10));
  EXPECT_EQ(Ask("GET", api::PathOf(api::kNamespaces, "", "team")).code, 404);
  asked = 0;
  Run(absl::Hours(1));
  EXPECT_EQ(asked, 0);
}

// Pods go one after the other while the Job is still what it was: nothing says that its namespace ends but the answers
// to creations.
TEST_F(StrangersTest, PodsThatGoInANamespaceThatEndsAreNotMadeAnewInAStorm) {
  bool ending = false;
  int refused = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (!ending || request.method != "POST") return fate;
    ++refused;
    fate.answer = Refusal(
        403, "Forbidden",
        "pods \"x\" is forbidden: unable to create new content in namespace default because it is being terminated");
    return fate;
  };
  Start();
  constexpr int kPods = 100;
  StartJob("ctr", JobText("ctr", kPods, {{"w", kPods}}));
  ending = true;
  for (int i = 0; i < kPods; ++i) {
    Ask("DELETE", api::PathOf(api::kPods, "default", absl::StrCat("ctr-w-", i)),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
    Run(absl::Milliseconds(50));
  }
  EXPECT_LT(refused, 400) << "each pod that goes must not try all that went before";
}

}  // namespace
}  // namespace gangway::controller
