// HyperNodes from labels of nodes, through the controller.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/volcano/hyper_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"

namespace gangway::controller {
namespace {

using api::volcano::kHyperNodes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HyperNodesTest : public ControllersTest {
 protected:
  void StartWith(std::vector<lifecycle::TopologyType> types = {{"rdma", {"rack", "row"}}}) {
    source_ = std::make_shared<LiveLabelSource>(lifecycle::LabelSource{true, std::move(types)});
    Options options;
    options.label_source = source_;
    Start(options);
  }
  void AddNode(const std::string& name, const std::string& labels) {
    Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                                     R"(","labels":{)", labels, "}}}"));
  }
  void AddHyperNode(const std::string& name, const std::string& labels) {
    Create(kHyperNodes, absl::StrCat(R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":)",
                                     R"({"name":")", name, R"(","labels":{)", labels,
                                     R"(}},"spec":{"tier":1,"members":[{"type":"Node","selector":{"exactMatch":)",
                                     R"({"name":"n0"}}}]}})"));
  }
  // The HyperNode's members by name; "" when no HyperNode has the label.
  std::string MembersOf(const std::string& label, const std::string& value) {
    for (const std::string& name : Names(kHyperNodes)) {
      const json::value object = Get(kHyperNodes, name);
      const json::value* const of = object.at("metadata").at("labels").as_object().if_contains(label);
      if (of == nullptr || of->as_string() != value.c_str()) continue;
      std::string members;
      for (const json::value& member : object.at("spec").at("members").as_array())
        absl::StrAppend(&members, members.empty() ? "" : " ",
                        std::string(member.at("selector").at("exactMatch").at("name").as_string()));
      return members;
    }
    return "";
  }

  std::shared_ptr<LiveLabelSource> source_;
};

constexpr char kR0[] = R"("rack":"r0","row":"a")", kR1[] = R"("rack":"r1","row":"a")";

TEST_F(HyperNodesTest, FollowNodesAndTheirLabels) {
  AddNode("n0", kR0);
  AddNode("n1", kR0);
  StartWith();
  ASSERT_THAT(Names(kHyperNodes), SizeIs(2));
  EXPECT_EQ(MembersOf("rack", "r0"), "n0 n1");
  const std::string row = MembersOf("row", "a");
  EXPECT_EQ(Get(kHyperNodes, row).at("status").at("nodeCount"), 2);
  AddNode("n2", kR1);
  EXPECT_EQ(MembersOf("rack", "r1"), "n2");
  Patch(api::kNodes, "n1", R"({"metadata":{"labels":{"rack":"r1"}}})");
  Run();
  EXPECT_EQ(MembersOf("rack", "r0"), "n0");
  EXPECT_EQ(MembersOf("rack", "r1"), "n1 n2");
  Ask("DELETE", api::PathOf(api::kNodes, "", "n0"));
  Run();
  EXPECT_EQ(MembersOf("rack", "r0"), "");
  EXPECT_THAT(Names(kHyperNodes), SizeIs(2));
  const int writes = writes_;
  Patch(api::kNodes, "n1", R"({"metadata":{"labels":{"colour":"blue"}}})");
  Run(absl::Hours(1));
  EXPECT_EQ(writes_, writes) << "nothing is written when nothing has to be";
}

TEST_F(HyperNodesTest, OthersAreLeftAloneAndThoseNobodyAsksForGo) {
  AddHyperNode("mine", "");
  AddHyperNode("ufm", R"("volcano.sh/network-topology-source":"ufm")");
  AddHyperNode("hypernode-rdma-tier1-abcde", R"("volcano.sh/network-topology-source":"label","rack":"r0")");
  AddHyperNode("hypernode-rdma-tier1-gone0", R"("volcano.sh/network-topology-source":"label","rack":"r7")");
  AddNode("n0", R"("rack":"r0")");
  StartWith();
  Run();
  EXPECT_THAT(Names(kHyperNodes), ElementsAre("hypernode-rdma-tier1-abcde", "mine", "ufm"));
  // What somebody deletes or changes comes back.
  Ask("DELETE", api::PathOf(kHyperNodes, "", "hypernode-rdma-tier1-abcde"));
  Run();
  EXPECT_EQ(MembersOf("rack", "r0"), "n0");
  const std::string name = "hypernode-rdma-tier1-abcde";
  Patch(kHyperNodes, name, R"({"spec":{"tier":5}})");
  Run();
  EXPECT_EQ(Get(kHyperNodes, name).at("spec").at("tier"), 1);
}

TEST_F(HyperNodesTest, ACrashBetweenWritesLosesNothing) {
  for (int i = 0; i < 6; ++i) AddNode(absl::StrCat("n", i), absl::StrCat(R"("rack":"r)", i / 2, R"(","row":"a")"));
  int sent = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "POST" && ++sent % 2 == 0) fate.loss = sandbox::RequestFate::Loss::kReply;
    return fate;
  };
  StartWith();
  Crash();
  fate_ = nullptr;
  StartWith();
  Run(absl::Minutes(1));
  EXPECT_THAT(Names(kHyperNodes), SizeIs(4));
  EXPECT_EQ(MembersOf("rack", "r2"), "n4 n5");
}

TEST_F(HyperNodesTest, TheFileMayChange) {
  AddNode("n0", R"("rack":"r0","switch":"s0")");
  StartWith();
  EXPECT_EQ(MembersOf("rack", "r0"), "n0");
  source_->Set({true, {{"eth", {"switch"}}}});
  Run();
  EXPECT_EQ(MembersOf("rack", "r0"), "");
  EXPECT_EQ(MembersOf("switch", "s0"), "n0");
  source_->Set({false, {}});
  AddNode("n1", R"("switch":"s0")");
  EXPECT_EQ(MembersOf("switch", "s0"), "n0") << "from now on they are left alone";
  source_->Set({true, {}});
  Run();
  EXPECT_THAT(Names(kHyperNodes), IsEmpty());
}

}  // namespace
}  // namespace gangway::controller
