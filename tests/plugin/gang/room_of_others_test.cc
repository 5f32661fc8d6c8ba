// What pods of other schedulers are nominated for, and who may use it all the same.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::PodFacts;
using model::PodTermFacts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::Cpu;

constexpr char kHost[] = "kubernetes.io/hostname";

PodTermFacts Apps(const std::string& app) { return {kHost, {{"default"}, {}, {{"app", model::Op::kIn, {app}}}}}; }

// One node of 16 cpus, and a gang of one pod that asks for 8 of them.
class RoomOfOthersTest : public ::testing::Test, protected testutil::World {
 protected:
  RoomOfOthersTest() {
    cluster.SetNode(testutil::Node("n1"));
    cluster.SetPriorityClass({"ten", 10, false, true});
  }
  // Who has evicted somebody from the node, as a rule, and waits for them to be gone.
  static PodFacts Other(const std::string& node, model::Wants wants = Cpu(12'000), const std::string& name = "other") {
    PodFacts pod;
    pod.ns = "default";
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.ours = false;
    pod.priority = 0;
    pod.nominated = node;
    pod.wants = std::move(wants);
    return pod;
  }
  void Add(const std::string& name, const std::string& priority_class = "", model::Wants wants = Cpu(8000)) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.priority_class = priority_class;
    cluster.SetGang(gang);
    PodFacts pod = testutil::Pod(name, "w", 0, std::move(wants));
    pod.labels = {{"app", name}};
    cluster.SetPod(pod);
  }
};

TEST_F(RoomOfOthersTest, WhoIsNotBeforeThemLeavesIt) {
  cluster.SetPod(Other("n1"));
  Add("g");
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(model::Render(*Of("g").reason),
            "waits for 1 of 1 task: w needs cpu 8; 1 node has 4 free, 0 fit; on 1 node room is kept for default/other");
  Add("small", "", Cpu(4000));
  EXPECT_THAT(Placed(), ElementsAre(Pair("small-w-0", "n1"))) << "beside it there is room";
}

TEST_F(RoomOfOthersTest, WhoIsOfAHigherPriorityGoesBefore) {
  cluster.SetPod(Other("n1"));
  Add("low");
  Add("high", "ten");
  EXPECT_THAT(Placed(), ElementsAre(Pair("high-w-0", "n1"))) << "and that is so for nobody else";
  PodFacts as_high = Other("n1");
  as_high.priority = 10;
  cluster.SetPod(as_high);
  EXPECT_THAT(Placed(), IsEmpty()) << "of the same it is theirs";
}

// A queue's priority goes first, whatever that of its gangs is.
TEST_F(RoomOfOthersTest, WhoComesLaterInOrderLeavesItToo) {
  model::QueueFacts first = testutil::Queue("first");
  first.priority = 1;
  cluster.SetQueue(first);
  cluster.SetNode(testutil::Node("n2"));
  cluster.SetPod(Other("n1"));
  cluster.SetPod(Other("n2", Cpu(12'000), "another"));
  model::GangFacts high = testutil::Gang("high", 1);
  high.queue = "first";
  high.priority_class = "ten";
  cluster.SetGang(high);
  cluster.SetPod(testutil::Pod("high", "w", 0, Cpu(8000)));
  Add("low");
  EXPECT_EQ(Placed().size(), 1u);
  EXPECT_TRUE(Placed().contains("high-w-0"));
}

TEST_F(RoomOfOthersTest, ItIsFreeOnceNobodyIsNominated) {
  const auto changed = [&](auto change) {
    cluster.SetPod(Other("n1"));
    EXPECT_THAT(Placed(), IsEmpty());
    const std::uint64_t version = cluster.version_of_waiting();
    change();
    EXPECT_NE(cluster.version_of_waiting(), version) << "who waits is tried again";
    EXPECT_TRUE(cluster.Audit().empty());
    return Placed().size();
  };
  Add("g");
  cluster.SetNode(testutil::Node("n2", 4));
  EXPECT_EQ(changed([&] { cluster.RemovePod("default", "other"); }), 1u);
  EXPECT_EQ(changed([&] { cluster.SetPod(Other("")); }), 1u) << "its scheduler thinks no more of it";
  EXPECT_EQ(changed([&] { cluster.SetPod(Other("n2")); }), 1u);
  EXPECT_EQ(changed([&] { cluster.SetPod(Other("gone")); }), 1u) << "there is no such node";
  PodFacts bound = Other("");
  bound.node = "n2";
  EXPECT_EQ(changed([&] { cluster.SetPod(bound); }), 1u);
  bound.node = "n1";
  EXPECT_EQ(changed([&] { cluster.SetPod(bound); }), 0u);
}

TEST_F(RoomOfOthersTest, PortsAreTaken) {
  model::Wants port = Cpu(100);
  port.host_ports = {{"TCP", "", 80}};
  cluster.SetPod(Other("n1", port));
  Add("g", "", port);
  EXPECT_THAT(Placed(), IsEmpty());
  Add("high", "ten", port);
  EXPECT_THAT(Placed(), ElementsAre(Pair("high-w-0", "n1")));
}

TEST_F(RoomOfOthersTest, WhoKeepsOffOthersDoesSoBeforeItIsThere) {
  model::Wants away = Cpu(100);
  away.pod_anti_affinity = {Apps("g")};
  cluster.SetPod(Other("n1", away));
  Add("g", "", Cpu(100));
  EXPECT_THAT(Placed(), IsEmpty());
  Add("h", "", Cpu(100));
  EXPECT_THAT(Placed(), ElementsAre(Pair("h-w-0", "n1"))) << "it is not about these";
}

TEST_F(RoomOfOthersTest, WhoStaysAwayFromThemDoesSoToo) {
  PodFacts other = Other("n1", Cpu(100));
  other.labels = {{"app", "web"}};
  cluster.SetPod(other);
  model::Wants away = Cpu(100);
  away.pod_anti_affinity = {Apps("web")};
  Add("g", "", away);
  EXPECT_THAT(Placed(), IsEmpty());
  other.labels = {{"app", "db"}};
  cluster.SetPod(other);
  EXPECT_THAT(Placed(), ElementsAre(Pair("g-w-0", "n1")));
}

// They may get another node in the end.
TEST_F(RoomOfOthersTest, NobodyIsNearThemYet) {
  PodFacts other = Other("n1", Cpu(100));
  other.labels = {{"app", "web"}};
  cluster.SetPod(other);
  model::Wants near = Cpu(100);
  near.pod_affinity = {Apps("web")};
  Add("g", "", near);
  EXPECT_THAT(Placed(), IsEmpty());
  other.nominated.clear();
  other.node = "n1";
  cluster.SetPod(other);
  EXPECT_THAT(Placed(), ElementsAre(Pair("g-w-0", "n1")));
}

// A gang of another scheduler's: its pods keep what they are nominated for, whoever looks first.
TEST_F(RoomOfOthersTest, PodsOfAGangThatIsNotOursKeepIt) {
  cluster.SetGang(testutil::Gang("theirs", 1));
  PodFacts other = Other("n1");
  other.gang = "theirs";
  cluster.SetPod(other);
  Add("g");
  EXPECT_THAT(Placed(), IsEmpty());
}

// What pods want beyond a minimum comes after everybody.
TEST_F(RoomOfOthersTest, SurplusLeavesIt) {
  cluster.SetPod(Other("n1", Cpu(8000)));
  model::GangFacts gang = testutil::Gang("g", 1);
  gang.priority_class = "ten";
  cluster.SetGang(gang);
  for (int i = 0; i < 3; ++i) cluster.SetPod(testutil::Pod("g", "w", i, Cpu(4000)));
  EXPECT_EQ(Placed().size(), 2u);
}

}  // namespace
}  // namespace gangway::gang
