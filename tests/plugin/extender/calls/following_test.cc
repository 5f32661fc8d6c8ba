#include "plugin/extender/calls/following.h"

#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/objects.h"
#include "tests/plugin/extender/requests.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::NodeJson;
using testutil::PodGroupJson;
using testutil::PodJson;
using testutil::StatusIs;

// Builds messages, and a stream that takes them.
class FollowingTest : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const std::string& cpu) {
    v1::Node& node = *next_.add_changes()->mutable_node();
    node.set_name(name);
    (*node.mutable_allocatable())["cpu"] = cpu;
    (*node.mutable_allocatable())["memory"] = "64Gi";
    (*node.mutable_allocatable())["pods"] = "110";
  }
  void AddGang(const std::string& name, int replicas, const std::string& cpu, int min_member = -1) {
    v1::Gang& gang = *next_.add_changes()->mutable_gang();
    gang.set_name(name);
    if (min_member >= 0) gang.set_min_member(min_member);
    testutil::AddTask(gang, "w", replicas, cpu);
  }
  void Gone(const std::string& kind, const std::string& name) {
    v1::Gone& gone = *next_.add_changes()->mutable_gone();
    gone.set_kind(kind);
    gone.set_name(name);
  }
  absl::StatusOr<std::optional<v1::FollowResponse>> Send(const gang::Policy& policy = {}) {
    const v1::FollowRequest request = std::exchange(next_, {});
    return stream_.Take(request, policy, now_, [] { return absl::OkStatus(); });
  }
  v1::FollowResponse Decide(const gang::Policy& policy = {}) {
    next_.set_decide(true);
    const auto response = Send(policy);
    GW_EXPECT_OK(response);
    return response.ok() && response->has_value() ? **response : v1::FollowResponse();
  }
  // "g: w-0 a, w-1 b" or "g: no_room"
  static std::vector<std::string> Told(const v1::FollowResponse& response) {
    std::vector<std::string> out;
    for (const v1::GangDecision& decision : response.decisions()) {
      std::string text = decision.gang() + ":";
      for (const v1::Placement& p : decision.placements())
        absl::StrAppend(&text, " ", p.pod().empty() ? absl::StrCat(p.task(), "-", p.index()) : p.pod(), "=", p.node());
      if (decision.has_reason()) absl::StrAppend(&text, " ", decision.reason().kind());
      out.push_back(text);
    }
    return out;
  }

  v1::FollowRequest next_;
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);
  Following stream_{std::int64_t{64} << 20};
};

TEST_F(FollowingTest, AMessageThatDoesNotAskIsNotAnswered) {
  AddNode("a", "16");
  const auto response = Send();
  GW_ASSERT_OK(response);
  EXPECT_FALSE(response->has_value());
  AddGang("g", 2, "9");
  const v1::FollowResponse decided = Decide();
  EXPECT_EQ(decided.request(), 2);
  EXPECT_THAT(Told(decided), ElementsAre("g: no_room"));
  EXPECT_EQ(decided.waiting(), 1);
}

TEST_F(FollowingTest, WhatIsDecidedHoldsAndIsToldOnce) {
  AddNode("a", "16");
  AddGang("g", 2, "4");
  const v1::FollowResponse first = Decide();
  EXPECT_THAT(Told(first), ElementsAre("g: w-0=a w-1=a"));
  EXPECT_TRUE(first.decisions(0).placed());
  EXPECT_EQ(first.decisions(0).api_group(), "scheduling.volcano.sh");
  EXPECT_THAT(Told(Decide()), IsEmpty());
  AddGang("h", 3, "4");  // 8 of 16 are free
  EXPECT_THAT(Told(Decide()), ElementsAre("h: no_room"));
  EXPECT_THAT(Told(Decide()), IsEmpty()) << "the same reason";
  now_ += absl::Seconds(2);
  EXPECT_THAT(Told(Decide()), IsEmpty()) << "tried again, and still the same";
  AddNode("b", "1");
  EXPECT_THAT(Told(Decide()), IsEmpty()) << "nobody is helped, and numbers may be a second old";
  now_ += absl::Seconds(2);
  EXPECT_THAT(Told(Decide()), ElementsAre("h: no_room")) << "of two nodes now";
  AddNode("b", "4");
  EXPECT_THAT(Told(Decide()), ElementsAre("h: w-0=b w-1=a w-2=a"));
  EXPECT_EQ(Decide().waiting(), 0);
}

TEST_F(FollowingTest, AGangThatIsGoneGivesItsRoom) {
  AddNode("a", "16");
  AddGang("g", 2, "8");
  Decide();
  AddGang("h", 1, "8");
  EXPECT_THAT(Told(Decide()), ElementsAre("h: no_room"));
  Gone("Gang", "g");
  EXPECT_THAT(Told(Decide()), ElementsAre("h: w-0=a"));
}

TEST_F(FollowingTest, AGangThatIsGoneTakesItsPodsWithIt) {
  AddNode("a", "4");
  AddGang("g", 2, "2");
  GW_ASSERT_OK(Send());
  const std::int64_t before = stream_.bytes();
  v1::Pod& pod = *next_.add_changes()->mutable_pod();
  pod.set_name("g-w-0");
  pod.set_gang("g");
  pod.set_task("w");
  pod.set_node("a");
  (*pod.mutable_requests())["cpu"] = "4";
  Gone("Gang", "g");
  AddGang("g", 2, "2");
  EXPECT_THAT(Told(Decide()), ElementsAre("g: w-0=a w-1=a"));
  EXPECT_LT(stream_.bytes() - before, kBytesOfOne);  // texts alone
}

TEST_F(FollowingTest, WhoCameFirstIsServedFirst) {
  AddNode("a", "4");
  AddGang("z", 1, "8");
  Decide();
  now_ += absl::Seconds(5);
  AddGang("a", 1, "8");
  Decide();
  now_ += absl::Seconds(5);
  AddGang("z", 1, "8");  // told of again, it is as old as before
  AddNode("a", "8");
  EXPECT_THAT(Told(Decide()), ElementsAre("z: w-0=a", "a: no_room"));
}

TEST_F(FollowingTest, AGangOfFewerLosesTheLast) {
  AddNode("a", "16");
  AddGang("g", 4, "4");
  Decide();
  AddGang("h", 1, "4");
  Decide();
  AddGang("g", 3, "4");
  EXPECT_THAT(Told(Decide()), ElementsAre("h: w-0=a"));
}

TEST_F(FollowingTest, APlacementThatIsUndoneIsMadeAgain) {
  AddNode("a", "8");
  AddGang("g", 2, "4");
  Decide();
  v1::Undone& undone = *next_.add_changes()->mutable_undone();
  undone.set_gang("g");
  undone.set_task("w");
  undone.set_index(1);
  EXPECT_THAT(Told(Decide()), ElementsAre("g: w-1=a"));
  next_.add_changes()->mutable_undone()->set_gang("g");
  EXPECT_THAT(Told(Decide()), ElementsAre("g: w-0=a w-1=a"));
}

TEST_F(FollowingTest, ObjectsAreFollowedAsTheyChange) {
  for (const std::string& json :
       {NodeJson("a", 4), PodGroupJson("g", 2), PodJson("g-0", "g", "4"), PodJson("g-1", "g", "4")})
    next_.add_changes()->set_object(json);
  EXPECT_THAT(Told(Decide()), ElementsAre("g: no_room"));
  next_.add_changes()->set_object(NodeJson("b", 4));
  EXPECT_THAT(Told(Decide()), ElementsAre("g: g-0=a g-1=b"));
  // Its bindings come back, then its pods end.
  next_.add_changes()->set_object(PodJson("g-0", "g", "4", R"(,"nodeName":"a")", "", R"("phase":"Running")"));
  next_.add_changes()->set_object(PodJson("g-1", "g", "4", R"(,"nodeName":"b")", "", R"("phase":"Running")"));
  AddGang("h", 1, "4");
  EXPECT_THAT(Told(Decide()), ElementsAre("h: no_room"));
  Gone("Pod", "g-0");
  EXPECT_THAT(Told(Decide()), ElementsAre("g: too_few_tasks", "h: w-0=a"));
}

TEST_F(FollowingTest, PodsOfMessagesTakeRoomAndCount) {
  AddNode("a", "8");
  const auto add_pod = [&](const std::string& name, const std::string& cpu) -> v1::Pod& {
    v1::Pod& pod = *next_.add_changes()->mutable_pod();
    pod.set_name(name);
    pod.set_node("a");
    (*pod.mutable_requests())["cpu"] = cpu;
    return pod;
  };
  v1::Pod& member = add_pod("m", "4");
  member.set_gang("g");
  member.set_task("w");
  add_pod("other", "1");
  AddGang("g", 1, "4", 2);
  EXPECT_THAT(Told(Decide()), ElementsAre("g: no_room"));
  Gone("Pod", "other");
  EXPECT_THAT(Told(Decide()), ElementsAre("g: w-0=a")) << "with the one that is there it has its minimum of 2";
}

TEST_F(FollowingTest, EvictionsAreToldAndEndWithThePod) {
  const std::string high =
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})";
  const std::string on_a = R"(,"nodeName":"a")", runs = R"("phase":"Running")";
  for (const std::string& json :
       {NodeJson("a", 4), high, PodGroupJson("low", 1, "", "Running"), PodJson("low-0", "low", "4", on_a, "", runs),
        PodGroupJson("g", 1, R"(,"priorityClassName":"high")"), PodJson("g-0", "g", "4")})
    next_.add_changes()->set_object(json);
  const v1::FollowResponse first = Decide();
  EXPECT_THAT(Told(first), ElementsAre("g: room_awaited"));
  ASSERT_THAT(first.decisions(0).evictions(), SizeIs(1));
  EXPECT_EQ(first.decisions(0).evictions(0).pod(), "low-0");
  ASSERT_THAT(first.decisions(0).nominations(), SizeIs(1));
  EXPECT_THAT(Told(Decide()), IsEmpty()) << "it is asked for once";
  Gone("Pod", "low-0");
  Gone("PodGroup", "low");
  EXPECT_THAT(Told(Decide()), ElementsAre("g: g-0=a"));
}

TEST_F(FollowingTest, APriorityClassThatIsGoneIsNobodysPriority) {
  const std::string high =
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})";
  const std::string its = R"(,"priorityClassName":"high")";
  for (const std::string& json : {NodeJson("a", 4), high, PodGroupJson("a", 1), PodJson("a-0", "a", "8"),
                                  PodGroupJson("z", 1, its), PodJson("z-0", "z", "8")})
    next_.add_changes()->set_object(json);
  EXPECT_THAT(Told(Decide()), ElementsAre("z: no_room", "a: no_room"));
  Gone("PriorityClass", "high");
  next_.add_changes()->set_object(NodeJson("a", 8));
  EXPECT_THAT(Told(Decide()), ElementsAre("a: a-0=a", "z: no_room"));
}

// A node takes one volume, and one is attached to `a` for nobody who is known.
TEST_F(FollowingTest, WhatIsAttachedToANodeCounts) {
  const auto limited = [](const std::string& node) {
    return absl::StrCat(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":")", node,
                        R"("},"spec":{"drivers":[{"name":"d","nodeID":"i","allocatable":{"count":1}}]}})");
  };
  const auto volume = [](const std::string& name, const std::string& claim) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")", name,
                        R"("},"spec":{"csi":{"driver":"d","volumeHandle":")", name,
                        R"("},"claimRef":{"namespace":"default","name":")", claim,
                        R"("}},"status":{"phase":"Bound"}})");
  };
  const std::string claim =
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":"default"},)"
      R"("spec":{"volumeName":"pv","accessModes":["ReadWriteMany"]},"status":{"phase":"Bound"}})";
  const std::string attached =
      R"({"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"x"},"spec":{"attacher":"d",)"
      R"("nodeName":"a","source":{"persistentVolumeName":"other"}}})";
  const std::string uses = R"(,"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}}])";
  for (const std::string& json :
       {NodeJson("a"), NodeJson("b"), limited("a"), limited("b"), claim, volume("pv", "data"), volume("other", "gone"),
        attached, PodGroupJson("g", 1), PodJson("g-0", "g", "1", uses)})
    next_.add_changes()->set_object(json);
  EXPECT_THAT(Told(Decide()), ElementsAre("g: g-0=b"));
}

TEST_F(FollowingTest, AGangThatWaitsNoMoreWithoutADecisionIsTold) {
  AddNode("a", "1");
  next_.add_changes()->set_object(PodGroupJson("g", 1));
  next_.add_changes()->set_object(PodJson("g-0", "g", "4"));
  EXPECT_THAT(Told(Decide()), ElementsAre("g: no_room"));
  // Somebody else bound it.
  next_.add_changes()->set_object(PodJson("g-0", "g", "4", R"(,"nodeName":"a")", "", R"("phase":"Running")"));
  const v1::FollowResponse response = Decide();
  EXPECT_THAT(Told(response), ElementsAre("g:"));
  EXPECT_TRUE(response.decisions(0).placed());
  EXPECT_EQ(response.waiting(), 0);
}

TEST_F(FollowingTest, AnotherPolicyIsFollowedFromTheNextDecision) {
  AddNode("a", "4");
  AddNode("b", "64");
  (*next_.mutable_changes(0)->mutable_node()->mutable_allocatable())["memory"] = "64Gi";
  (*next_.mutable_changes(1)->mutable_node()->mutable_allocatable())["memory"] = "1Gi";
  gang::Policy by_cpu, by_memory;
  by_cpu.packing.weights = {{"cpu", 1}, {"memory", 0}};
  by_memory.packing.weights = {{"cpu", 0}, {"memory", 1}};
  AddGang("g", 1, "1");
  EXPECT_THAT(Told(Decide(by_cpu)), ElementsAre("g: w-0=a"));
  AddGang("h", 1, "1");
  EXPECT_THAT(Told(Decide(by_memory)), ElementsAre("h: w-0=b"));
}

// What comes and goes leaves nothing that counts, but for names that were never heard before.
TEST_F(FollowingTest, WhatIsGoneIsNotKept) {
  AddNode("a", "16");
  AddGang("g", 10, "1");
  Decide();
  const std::int64_t before = stream_.bytes();
  for (int i = 0; i < 100; ++i) {
    AddGang("h", 10, "1");
    AddNode("b", "16");
    Decide();
    Gone("Gang", "h");
    Gone("Node", "b");
    Decide();
  }
  EXPECT_LT(stream_.bytes() - before, 1000);
}

TEST_F(FollowingTest, AStreamThatGrowsTooLargeEnds) {
  Following small(100'000);
  v1::FollowRequest request;
  for (int i = 0; i < 1000; ++i) {
    v1::Node& node = *request.add_changes()->mutable_node();
    node.set_name(absl::StrCat("node-", i));
  }
  EXPECT_THAT(small.Take(request, {}, absl::UnixEpoch(), [] { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("takes more than 100000 bytes")));
}

// One node makes all rows of the table as long as it has names of resources.
TEST_F(FollowingTest, NamesOfResourcesAreCountedBeforeTheTableGrows) {
  Following small(10'000'000);
  v1::FollowRequest request;
  for (int i = 0; i < 1000; ++i) request.add_changes()->mutable_node()->set_name(absl::StrCat("node-", i));
  GW_ASSERT_OK(small.Take(request, {}, absl::UnixEpoch(), [] { return absl::OkStatus(); }));
  const std::int64_t before = small.bytes();
  v1::FollowRequest wide;
  v1::Node& node = *wide.add_changes()->mutable_node();
  node.set_name("node-0");
  for (int i = 0; i < 1000; ++i) (*node.mutable_allocatable())[absl::StrCat("r", i)] = "1";
  EXPECT_THAT(small.Take(wide, {}, absl::UnixEpoch(), [] { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("changes[0]")));
  EXPECT_EQ(small.bytes(), before);
}

// Also by texts alone, which are kept for as long as the stream is open.
TEST_F(FollowingTest, NamesThatAreNeverHeardAgainCount) {
  Following small(1'000'000);
  absl::Status status;
  int rounds = 0;
  for (; status.ok() && rounds < 100'000; ++rounds) {
    v1::FollowRequest request;
    v1::Node& node = *request.add_changes()->mutable_node();
    node.set_name("a");
    (*node.mutable_labels())["key"] = absl::StrCat("value-", rounds, std::string(100, 'x'));
    status = small.Take(request, {}, absl::UnixEpoch(), [] { return absl::OkStatus(); }).status();
  }
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_LT(rounds, 10'000);
}

TEST_F(FollowingTest, WorkEndsWhenNobodyFollows) {
  AddNode("a", "16");
  EXPECT_THAT(stream_.Take(next_, {}, absl::UnixEpoch(), [] { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled));
}

struct WrongChange {
  std::string name;
  std::function<void(v1::FollowRequest&)> change;
  std::string message;
};
class FollowingWrongTest : public FollowingTest, public ::testing::WithParamInterface<WrongChange> {};

TEST_P(FollowingWrongTest, EndsTheStreamByItsPath) {
  AddNode("a", "16");
  GetParam().change(next_);
  EXPECT_THAT(Send(), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(GetParam().message)));
}

v1::Change& NewChange(v1::FollowRequest& request) { return *request.add_changes(); }

INSTANTIATE_TEST_SUITE_P(
    All, FollowingWrongTest,
    ::testing::Values(WrongChange{"Nothing", [](auto& r) { NewChange(r); }, "changes[1]: says nothing"},
                      WrongChange{"Node", [](auto& r) { NewChange(r).mutable_node(); },
                                  "changes[1].node.name: must not be empty"},
                      WrongChange{"Object", [](auto& r) { NewChange(r).set_object("{}"); },
                                  "changes[1].object: needs apiVersion and kind"},
                      WrongChange{"GangWithoutTasks", [](auto& r) { NewChange(r).mutable_gang()->set_name("g"); },
                                  "changes[1].gang.tasks: must not be empty"},
                      WrongChange{"Quantity",
                                  [](auto& r) {
                                    v1::Gang& gang = *NewChange(r).mutable_gang();
                                    gang.set_name("g");
                                    testutil::AddTask(gang, "w", 1, "much");
                                  },
                                  R"(changes[1].gang.tasks[0].requests["cpu"]: "much" is no quantity)"},
                      WrongChange{"PodWithoutGang",
                                  [](auto& r) {
                                    v1::Pod& pod = *NewChange(r).mutable_pod();
                                    pod.set_name("p");
                                    pod.set_node("a");
                                    pod.set_task("w");
                                  },
                                  "changes[1].pod.gang: must not be empty beside task"},
                      WrongChange{"GoneKind",
                                  [](auto& r) {
                                    v1::Gone& gone = *NewChange(r).mutable_gone();
                                    gone.set_kind("Secret");
                                    gone.set_name("s");
                                  },
                                  R"(changes[1].gone.kind: "Secret" is no kind that is known)"},
                      WrongChange{"GoneName", [](auto& r) { NewChange(r).mutable_gone()->set_kind("Node"); },
                                  "changes[1].gone.name: must not be empty"},
                      WrongChange{"UndoneOfNobody", [](auto& r) { NewChange(r).mutable_undone()->set_pod("p"); },
                                  "changes[1].undone.pod: there is no such pod"},
                      WrongChange{"UndoneOfNothing", [](auto& r) { NewChange(r).mutable_undone(); },
                                  "changes[1].undone: needs a pod or a gang"},
                      WrongChange{"Time", [](auto& r) { r.mutable_now()->set_nanos(-1); }, "now: is no time"}),
    [](const auto& c) { return c.param.name; });

TEST_F(FollowingTest, WhoseSchedulerIsSaidAtOnce) {
  next_.set_scheduler_name("mine");
  for (const std::string& json : {NodeJson("a", 4), PodGroupJson("g", 1), PodJson("g-0", "g", "4")})
    next_.add_changes()->set_object(json);
  EXPECT_THAT(Told(Decide()), IsEmpty()) << "the pod, and so the gang, is another scheduler's";
  next_.set_scheduler_name("volcano");
  EXPECT_THAT(Send(), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("scheduler_name: is said by the first")));
}

}  // namespace
}  // namespace gangway::extender
