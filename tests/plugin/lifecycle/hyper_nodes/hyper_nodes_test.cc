// HyperNodes from labels of nodes (volcano: pkg/controllers/hypernode/discovery/label, label_test.go).
#include "plugin/lifecycle/hyper_nodes/hyper_nodes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::HyperNode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kRack[] = "example.com/rack", kRow[] = "example.com/row";
const std::vector<TopologyType> kRdma = {{"rdma", {kRack, kRow}}};

Labels In(const std::string& rack, const std::string& row) {
  Labels labels;
  if (!rack.empty()) labels[kRack] = rack;
  if (!row.empty()) labels[kRow] = row;
  return labels;
}

// "1 rack=r0: n0 n1"; members that are HyperNodes by their label.
std::vector<std::string> Texts(const absl::btree_map<std::string, WantedHyperNode>& wanted) {
  std::vector<std::string> texts;
  for (const auto& [name, one] : wanted) {
    std::vector<std::string> members;
    for (const std::string& member : one.members) {
      const auto below = wanted.find(member);
      members.push_back(below == wanted.end() ? member : absl::StrCat(below->second.label, "=", below->second.value));
    }
    std::sort(members.begin(), members.end());
    texts.push_back(absl::StrCat(one.tier, " ", one.label, "=", one.value, ": ", absl::StrJoin(members, " "), " (",
                                 one.nodes, ")"));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

// test1 of Volcano's: racks in rows.
TEST(HyperNodesTest, TiersOfLabels) {
  const NodesByName nodes = {
      {"n0", In("r0", "a")}, {"n1", In("r0", "a")}, {"n2", In("r1", "a")}, {"n3", In("r2", "b")}};
  EXPECT_THAT(
      Texts(WantedHyperNodes(kRdma, nodes, {})),
      ElementsAre("1 example.com/rack=r0: n0 n1 (2)", "1 example.com/rack=r1: n2 (1)", "1 example.com/rack=r2: n3 (1)",
                  "2 example.com/row=a: example.com/rack=r0 example.com/rack=r1 (3)",
                  "2 example.com/row=b: example.com/rack=r2 (1)"));
}

// test2 and test3: a node counts up to the first label that it lacks.
TEST(HyperNodesTest, ANodeCountsUpToTheLabelThatItLacks) {
  const NodesByName nodes = {{"n0", In("r0", "")}, {"n1", In("r0", "a")}, {"n2", In("", "a")}};
  EXPECT_THAT(Texts(WantedHyperNodes(kRdma, nodes, {})),
              ElementsAre("1 example.com/rack=r0: n0 n1 (2)", "2 example.com/row=a: example.com/rack=r0 (1)"));
}

TEST(HyperNodesTest, NamesAreTheSameInEveryRunAndKeptWhereTheyStand) {
  const NodesByName nodes = {{"n0", In("r0", "a")}, {"n1", In("r1", "a")}};
  const auto fresh = WantedHyperNodes(kRdma, nodes, {});
  ASSERT_THAT(fresh, SizeIs(3));
  for (const auto& [name, one] : fresh)
    EXPECT_THAT(name, HasSubstr(absl::StrCat("hypernode-rdma-tier", one.tier, "-")));
  EXPECT_EQ(WantedHyperNodes(kRdma, nodes, {}), fresh);
  const NodesByName volcanos = {
      {"hypernode-rdma-tier1-jcdfg", {{kTopologySourceLabel, kLabelSourceName}, {kRack, "r0"}}},
      {"hypernode-rdma-tier2-7hslk", {{kTopologySourceLabel, kLabelSourceName}, {kRow, "a"}}},
      {"hypernode-other-tier1-aaaaa", {{kTopologySourceLabel, kLabelSourceName}, {kRack, "r1"}}}};
  const auto taken_over = WantedHyperNodes(kRdma, nodes, volcanos);
  ASSERT_TRUE(taken_over.contains("hypernode-rdma-tier1-jcdfg"));
  ASSERT_TRUE(taken_over.contains("hypernode-rdma-tier2-7hslk"));
  EXPECT_FALSE(taken_over.contains("hypernode-other-tier1-aaaaa")) << "of another type";
  EXPECT_THAT(taken_over.at("hypernode-rdma-tier2-7hslk").members, Contains("hypernode-rdma-tier1-jcdfg"));
  EXPECT_EQ(Texts(taken_over), Texts(fresh));
}

TEST(HyperNodesTest, TypesWithOneLabelShareItsHyperNodes) {
  const std::vector<TopologyType> types = {{"eth", {kRack}}, {"rdma", {kRack, kRow}}};
  const auto wanted = WantedHyperNodes(types, {{"n0", In("r0", "a")}}, {});
  EXPECT_THAT(Texts(wanted),
              ElementsAre("1 example.com/rack=r0: n0 (1)", "2 example.com/row=a: example.com/rack=r0 (1)"));
  EXPECT_THAT(wanted.begin()->first, HasSubstr("hypernode-eth-tier1-"));
}

HyperNode Decoded(const std::string& json) { return *api::Decode<HyperNode>(json); }

// What is written is what Volcano writes, and once it is there nothing more is.
TEST(HyperNodesTest, OneIsMadeCountedAndLeftAlone) {
  const WantedHyperNode wanted{1, kRack, "r0", {"n0", "n1"}, 2};
  const kube::Plan made = ReconcileHyperNode("h", nullptr, &wanted);
  ASSERT_THAT(made.stages, SizeIs(1));
  const kube::Write& create = made.stages[0][0];
  EXPECT_EQ(create.verb, kube::Verb::kCreate);
  EXPECT_EQ(create.body,
            R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":"h","labels":{)"
            R"("example.com/rack":"r0","volcano.sh/network-topology-source":"label"}},"spec":{"tier":1,)"
            R"("tierName":"example.com/rack","members":[{"type":"Node","selector":{"exactMatch":{"name":"n0"}}},)"
            R"({"type":"Node","selector":{"exactMatch":{"name":"n1"}}}]}})");
  HyperNode is = Decoded(create.body);
  is.metadata.uid = "u";
  is.metadata.resource_version = "7";
  const kube::Plan counted = ReconcileHyperNode("h", &is, &wanted);
  ASSERT_THAT(counted.stages, SizeIs(1));
  EXPECT_EQ(counted.stages[0][0].subresource, "status");
  EXPECT_EQ(counted.stages[0][0].body, R"({"status":{"nodeCount":2}})");
  is.status.node_count = 2;
  EXPECT_TRUE(ReconcileHyperNode("h", &is, &wanted).empty());
}

TEST(HyperNodesTest, WhatSomebodyChangedIsPutRightAndTheirsStays) {
  const WantedHyperNode wanted{2, kRow, "a", {"h1", "h2"}, 4};
  HyperNode is = Decoded(ReconcileHyperNode("h", nullptr, &wanted).stages[0][0].body);
  is.metadata.uid = "u";
  is.metadata.resource_version = "7";
  is.metadata.labels["team"] = "ads";
  is.status.node_count = 4;
  EXPECT_TRUE(ReconcileHyperNode("h", &is, &wanted).empty());
  is.spec.members.pop_back();
  is.spec.tier = 9;
  const kube::Plan plan = ReconcileHyperNode("h", &is, &wanted);
  ASSERT_THAT(plan.stages, SizeIs(1));
  const kube::Write& change = plan.stages[0][0];
  EXPECT_EQ(change.verb, kube::Verb::kMergePatch);
  EXPECT_EQ(change.resource_version, "7");
  EXPECT_EQ(change.body, R"({"spec":{"tier":2,"members":[{"type":"HyperNode","selector":{"exactMatch":{"name":"h1"}}},)"
                         R"({"type":"HyperNode","selector":{"exactMatch":{"name":"h2"}}}]}})");
}

TEST(HyperNodesTest, OnlyThoseOfLabelsGo) {
  HyperNode is = Decoded(
      R"({"metadata":{"name":"h","uid":"u","labels":{"volcano.sh/network-topology-source":"label"}},"spec":{"tier":1}})");
  const kube::Plan gone = ReconcileHyperNode("h", &is, nullptr);
  ASSERT_THAT(gone.stages, SizeIs(1));
  EXPECT_EQ(gone.stages[0][0].verb, kube::Verb::kDelete);
  EXPECT_EQ(gone.stages[0][0].uid, "u");
  is.metadata.deletion_timestamp.at = absl::FromUnixSeconds(1);
  EXPECT_TRUE(ReconcileHyperNode("h", &is, nullptr).empty()) << "it is going";
  const WantedHyperNode wanted{1, kRack, "r0", {"n0"}, 1};
  for (const char* const labels : {"{}", R"({"volcano.sh/network-topology-source":"ufm"})"}) {
    const HyperNode others = Decoded(absl::StrCat(R"({"metadata":{"name":"h","labels":)", labels, "}}"));
    EXPECT_TRUE(ReconcileHyperNode("h", &others, nullptr).empty()) << labels;
    EXPECT_TRUE(ReconcileHyperNode("h", &others, &wanted).empty()) << labels;
  }
}

// --- The file.

constexpr char kFile[] = R"(networkTopologyDiscovery:
  - source: ufm
    enabled: true
    config: {endpoint: https://ufm:8080}
  - source: roce
    enabled: false
  - source: label
    enabled: true
    config:
      networkTopologyTypes:
        rdma: [{nodeLabel: example.com/row}, {nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]
)";

TEST(LabelSourceTest, TypesByTier) {
  const auto file = ReadLabelSource(kFile, "conf");
  ASSERT_THAT(file, testutil::IsOk());
  EXPECT_TRUE(file->source.enabled);
  EXPECT_EQ(file->source.types, kRdma);
  EXPECT_THAT(file->notes,
              ElementsAre("conf:2: source ufm is not followed: HyperNodes are made from labels of nodes alone"));
}

// As Volcano's own example has it: a list of maps.
TEST(LabelSourceTest, AListOfTypesIsTheSame) {
  std::string text = kFile;
  text.replace(text.find("rdma:"), 5, "- rdma:");
  const auto file = ReadLabelSource(text, "conf");
  ASSERT_THAT(file, testutil::IsOk());
  EXPECT_EQ(file->source.types, kRdma);
}

TEST(LabelSourceTest, NothingIsAsked) {
  for (const char* const text :
       {"", "{}", "networkTopologyDiscovery: []", "networkTopologyDiscovery: [{source: label}]",
        "networkTopologyDiscovery: [{source: label, enabled: false, config: 7}]"}) {
    const auto file = ReadLabelSource(text, "conf");
    ASSERT_THAT(file, testutil::IsOk()) << text;
    EXPECT_FALSE(file->source.enabled) << text;
  }
}

std::string WithTypes(const std::string& types) {
  return absl::StrCat(
      "networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: ", types, "}}]");
}

TEST(LabelSourceTest, TypesThatAreLeftOut) {
  const auto notes = [](const std::string& types) {
    const auto file = ReadLabelSource(WithTypes(types), "conf");
    EXPECT_THAT(file, testutil::IsOk()) << types;
    EXPECT_TRUE(file->source.types.empty()) << types;
    return file->notes;
  };
  EXPECT_THAT(notes("{a-name-of-21-letterss: [{nodeLabel: a}, {nodeLabel: b}]}"),
              ElementsAre(HasSubstr("is left out: its name is longer than 20 characters")));
  EXPECT_THAT(notes("{t: [{nodeLabel: a}, {nodeLabel: a}]}"),
              ElementsAre("conf:1: type t is left out: a label stands in it twice"));
  EXPECT_THAT(notes("{t: []}"), ElementsAre("conf:1: type t is left out: it has no labels"));
  EXPECT_THAT(notes("{\"a.\": [{nodeLabel: a}, {nodeLabel: b}]}"),
              ElementsAre("conf:1: type a. is left out: no HyperNode can be called after it"));
}

TEST(LabelSourceTest, TheLastLabelMakesNoHyperNode) {
  const auto file = ReadLabelSource(WithTypes("{t: [{nodeLabel: a}, {nodeLabel: b}]}"), "conf");
  ASSERT_THAT(file, testutil::IsOk());
  EXPECT_EQ(file->source.types, (std::vector<TopologyType>{{"t", {"a"}}}));
  EXPECT_THAT(file->notes, ElementsAre(HasSubstr("it is b, not kubernetes.io/hostname")));
}

TEST(LabelSourceTest, WhatIsNoSuchFile) {
  const auto error = [](const std::string& text) {
    return std::string(ReadLabelSource(text, "conf").status().message());
  };
  EXPECT_THAT(error("[]"), HasSubstr("conf:1: must be a map with networkTopologyDiscovery"));
  EXPECT_THAT(error("kind: ConfigMap\ndata: {}"), HasSubstr("conf:1: kind: this is the ConfigMap"));
  EXPECT_THAT(error("networkTopologyDiscovery: 7"), HasSubstr("networkTopologyDiscovery: must be a list of sources"));
  EXPECT_THAT(error("networkTopologyDiscovery: [{source: label, enabled: maybe}]"),
              HasSubstr("networkTopologyDiscovery[0].enabled: must be true or false"));
  EXPECT_THAT(error(WithTypes("7")), HasSubstr("networkTopologyTypes: must be a map"));
  EXPECT_THAT(error(WithTypes("{t: [7]}")), HasSubstr("must be nodeLabel: and a label of nodes"));
  EXPECT_THAT(error(std::string(kMaxControllerConfBytes + 1, ' ')), HasSubstr("conf: is longer than 65536 bytes"));
  EXPECT_THAT(error("{}\n---\n{}"), HasSubstr("one document is expected"));
}

}  // namespace
}  // namespace gangway::lifecycle
