// Pods that keep others away, whoever placed them.
#include "plugin/gang/schedule.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::PodFacts;
using model::PodPhase;
using ::testing::ElementsAre;
using ::testing::Pair;
using testutil::Cpu;
using testutil::Gang;
using testutil::NodeIn;
using testutil::Pod;
using testutil::World;

struct KeptAwayTest : ::testing::Test {
  KeptAwayTest() {
    w.cluster.SetNode(NodeIn("n1", "a"));
    w.cluster.SetNode(NodeIn("n2", "a"));
    w.cluster.SetNode(NodeIn("n3", "b"));
    w.cluster.SetGang(Gang("g", 1));
    w.cluster.SetPod(Waiting());
  }
  static PodFacts Waiting() {
    PodFacts pod = Pod("g", "w", 0, Cpu(1000));
    pod.labels = {{"app", "train"}, {"tier", "x"}};
    return pod;
  }
  static model::PodTermFacts Term(const std::string& key = "zone") {
    model::PodTermFacts term;
    term.topology_key = key;
    term.selector.namespaces = {"default"};
    term.selector.pods = {{"app", model::Op::kIn, {"train"}}};
    return term;
  }
  static PodFacts Keeper(const std::string& node, model::PodTermFacts term, const std::string& name = "web") {
    PodFacts pod = Pod("", "x", 0, Cpu(0));
    pod.name = name;
    pod.uid = name + node;
    pod.ours = false;
    pod.node = node;
    pod.phase = PodPhase::kRunning;
    pod.wants.pod_anti_affinity = {std::move(term)};
    return pod;
  }
  // Nodes that take the pod.
  std::set<std::string> Open() {
    std::set<std::string> open;
    for (const char* const node : {"n1", "n2", "n3"}) {
      const model::Task& task = w.cluster.task(w.cluster.FindTask("default", "g-w-0"));
      if (constraint::Placed(w.cluster).AsksOf(task.shape).ObstacleAt(w.cluster.FindNode(node)).empty())
        open.insert(node);
    }
    return open;
  }
  using Nodes = std::set<std::string>;
  World w;
};

TEST_F(KeptAwayTest, FromEveryNodeOfTheDomain) {
  w.cluster.SetPod(Keeper("n1", Term()));
  EXPECT_EQ(Open(), (Nodes{"n3"}));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n3")));
  w.cluster.SetPod(Keeper("n3", Term(), "web2"));
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 3 nodes are kept free by the podAntiAffinity of pod "
            "default/web, 0 fit");
  w.cluster.RemovePod("default", "web");
  EXPECT_EQ(Open(), (Nodes{"n1", "n2"}));
  PodFacts ended = Keeper("n3", Term(), "web2");
  ended.phase = PodPhase::kSucceeded;
  w.cluster.SetPod(ended);
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
}

TEST_F(KeptAwayTest, ANodeWithoutTheLabelIsNoDomain) {
  w.cluster.SetPod(Keeper("n1", Term("rack")));
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  model::NodeFacts racked = NodeIn("n1", "a");
  racked.labels.emplace_back("rack", "7");
  w.cluster.SetNode(racked);
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
  w.cluster.SetNode(NodeIn("n1", "a"));
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
}

TEST_F(KeptAwayTest, SelectorsDecideWhom) {
  const auto open_with = [&](auto change) {
    model::PodTermFacts term = Term("kubernetes.io/hostname");
    change(term);
    w.cluster.SetPod(Keeper("n1", term, "web"));
    const Nodes open = Open();
    w.cluster.RemovePod("default", "web");
    return open;
  };
  const Nodes all{"n1", "n2", "n3"}, rest{"n2", "n3"};
  EXPECT_EQ(open_with([](auto&) {}), rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods.clear(); }), rest) << "an empty selector matches every pod";
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"app", model::Op::kIn, {"web", "db"}}}; }), all);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"app", model::Op::kNotIn, {"web"}}}; }), rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"gone", model::Op::kNotIn, {"x"}}}; }), rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.pods = {{"gone", model::Op::kExists, {}}}; }), all);
  EXPECT_EQ(open_with([](auto& t) {
              t.selector.pods = {{"gone", model::Op::kDoesNotExist, {}}, {"tier", model::Op::kExists, {}}};
            }),
            rest);
  EXPECT_EQ(open_with([](auto& t) { t.selector.namespaces = {"other"}; }), all);
}

TEST_F(KeptAwayTest, ANamespaceThatNobodyShowedIsTakenToMatch) {
  model::PodTermFacts term = Term("kubernetes.io/hostname");
  term.selector.namespaces.clear();
  term.selector.namespace_selector = {{"team", model::Op::kIn, {"blue"}}};
  w.cluster.SetPod(Keeper("n1", term));
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
  w.cluster.SetNamespace({"default", {{"team", "red"}}});
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  w.cluster.SetNamespace({"default", {{"team", "blue"}}});
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
  w.cluster.SetNamespace({"default", {}});
  EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  w.cluster.RemoveNamespace("default");
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
}

TEST_F(KeptAwayTest, APodWithoutLabelsIsMatchedToo) {
  PodFacts bare = Waiting();
  bare.labels.clear();
  w.cluster.SetPod(bare);
  model::PodTermFacts everyone = Term("kubernetes.io/hostname");
  everyone.selector.pods.clear();
  w.cluster.SetPod(Keeper("n1", everyone));
  EXPECT_EQ(Open(), (Nodes{"n2", "n3"}));
}

TEST_F(KeptAwayTest, TermsComeAndGoWithoutATrace) {
  const int shapes = w.cluster.shape_slots();
  for (int i = 0; i < 100; ++i) {
    model::PodTermFacts term = Term();
    term.selector.pods.push_back({"tier", model::Op::kNotIn, {absl::StrCat(i)}});
    w.cluster.SetPod(Keeper("n1", term));
    w.cluster.SetPod(Waiting());
    EXPECT_EQ(Open(), (Nodes{"n3"}));
    w.cluster.RemovePod("default", "web");
    w.cluster.RemovePod("default", "g-w-0");
    w.cluster.SetPod(Waiting());
    EXPECT_EQ(Open(), (Nodes{"n1", "n2", "n3"}));
  }
  EXPECT_LE(w.cluster.shape_slots(), shapes + 3);
}

}  // namespace
}  // namespace gangway::gang
