#include "plugin/extender/explain_gang.h"

#include <string>

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
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::NodeJson;
using testutil::PodGroupJson;
using testutil::PodJson;
using testutil::StatusIs;

absl::StatusOr<v1::ExplainResponse> Explained(const v1::ExplainRequest& request) {
  return ExplainGang(request, {}, [] { return absl::OkStatus(); });
}

// Eight members of 9 cpu on six nodes of 16: one on each, two are left.
v1::ExplainRequest Tight() {
  v1::ExplainRequest request;
  request.mutable_gang()->set_name("tight");
  testutil::AddTask(*request.mutable_gang(), "w", 8, "9");
  *request.mutable_cluster() = testutil::ClusterOf(6);
  return request;
}

TEST(ExplainGangCallTest, WhyAGangWaitsIsData) {
  const auto reply = Explained(Tight());
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->state(), "waiting");
  EXPECT_EQ(reply->sentence(),
            "waits for 2 of 8 tasks: w needs cpu 9; with 6 placed, 6 nodes have at most 7 free, 0 fit");
  EXPECT_EQ(reply->reason().kind(), "no_room");
  EXPECT_EQ(reply->reason().missing(), 2);
  EXPECT_TRUE(reply->let_in());
  EXPECT_EQ(reply->min_member(), 8);
  EXPECT_EQ(reply->pods(), 8);
  EXPECT_EQ(reply->pods_placed(), 0);
  ASSERT_THAT(reply->asks(), SizeIs(1));
  EXPECT_EQ(reply->asks(0).task(), "w");
  EXPECT_EQ(reply->asks(0).requests().at("cpu"), "9");
  ASSERT_THAT(reply->nodes(), SizeIs(1));
  ASSERT_THAT(reply->nodes(0).groups(), SizeIs(1));
  const v1::NodeGroup& group = reply->nodes(0).groups(0);
  EXPECT_EQ(group.copies(), 6);
  EXPECT_THAT(group.nodes(), SizeIs(6));
  EXPECT_EQ(group.amounts(0).resource(), "cpu");
  EXPECT_EQ(group.amounts(0).needed(), "9");
  EXPECT_EQ(group.amounts(0).free(), "16");
  EXPECT_EQ(reply->cluster_nodes(), 6);
  EXPECT_EQ(reply->cluster(0).total(), "96");
  EXPECT_EQ(reply->queue().name(), "default");
  EXPECT_TRUE(reply->queue().open());
  EXPECT_THAT(reply->suggestions(), IsEmpty()) << "nobody asked for them";
}

TEST(ExplainGangCallTest, WhatWouldHelpWasTried) {
  v1::ExplainRequest request = Tight();
  request.set_suggest(true);
  const auto reply = Explained(request);
  GW_ASSERT_OK(reply);
  ASSERT_THAT(reply->suggestions(), Not(IsEmpty()));
  std::vector<std::string> words;
  for (const v1::Suggestion& suggestion : reply->suggestions()) words.push_back(suggestion.what_if());
  EXPECT_THAT(words, ::testing::Contains("nodes=+2:node-0"));
  EXPECT_THAT(words, ::testing::Contains("min=6"));
  // And each of them says so when it is asked for.
  request.set_suggest(false);
  for (const std::string& word : words) {
    if (word.empty()) continue;
    request.clear_what_if();
    request.add_what_if(word);
    const auto tried = Explained(request);
    GW_ASSERT_OK(tried);
    EXPECT_TRUE(tried->what_if().starts()) << word;
  }
}

TEST(ExplainGangCallTest, ChangesAreTriedTogether) {
  v1::ExplainRequest request = Tight();
  request.add_what_if("nodes=+1");
  const auto one = Explained(request);
  GW_ASSERT_OK(one);
  EXPECT_FALSE(one->what_if().starts());
  EXPECT_EQ(one->what_if().state(), "waiting");
  EXPECT_THAT(one->what_if().texts(), ElementsAre("1 more node like node-0"));
  request.add_what_if("min=7");
  const auto two = Explained(request);
  GW_ASSERT_OK(two);
  EXPECT_TRUE(two->what_if().starts());
  EXPECT_EQ(two->state(), "waiting") << "as things are";
}

TEST(ExplainGangCallTest, AGangOfObjectsIsExplainedWithItsNeighbours) {
  v1::ExplainRequest request;
  request.mutable_gang()->set_name("g");
  testutil::AddObjects(*request.mutable_cluster(), NodeJson("a", 16), PodGroupJson("g", 1), PodJson("g-0", "g", "9"),
                       PodGroupJson("old", 1, "", "Running"),
                       PodJson("old-0", "old", "9", R"(,"nodeName":"a")", "", R"("phase":"Running")"));
  request.add_what_if("without=default/old");
  const auto reply = Explained(request);
  GW_ASSERT_OK(reply);
  EXPECT_EQ(reply->state(), "waiting");
  ASSERT_THAT(reply->holders(), SizeIs(1));
  EXPECT_EQ(reply->holders(0).name(), "old");
  EXPECT_EQ(reply->holders(0).holds().at("cpu"), "9");
  EXPECT_TRUE(reply->what_if().starts());
  ASSERT_THAT(reply->what_if().spots(), SizeIs(1));
  EXPECT_EQ(reply->what_if().spots(0).node(), "a");
}

TEST(ExplainGangCallTest, WrongFieldsAreNamed) {
  v1::ExplainRequest request = Tight();
  request.add_what_if("nodes=many");
  EXPECT_THAT(Explained(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                           StartsWith(R"(what_if[0]: "nodes=many" is no change; write)")));
  request.set_what_if(0, "nodes=+99999:node-0");
  EXPECT_THAT(Explained(request),
              StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("what_if[0]: 99999 nodes are more")));
  request.set_what_if(0, "nodes=+10000:node-0");
  for (int i = 0; i < 1000; ++i)
    (*request.mutable_cluster()->mutable_nodes(0)->mutable_allocatable())[absl::StrCat("r", i)] = "1";
  EXPECT_THAT(Explained(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("cluster.nodes: 1000")));
  request = Tight();
  request.add_what_if("uncordon=nobody");
  EXPECT_THAT(Explained(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nobody")));
  request.clear_what_if();
  for (int i = 0; i < 33; ++i) request.add_what_if("min=1");
  EXPECT_THAT(Explained(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("what_if: 33 changes")));
  request.clear_what_if();
  request.clear_gang();
  EXPECT_THAT(Explained(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("gang: is missing")));
}

// At whatever point of it.
TEST(ExplainGangCallTest, WorkEndsWhenNobodyWaits) {
  v1::ExplainRequest request = Tight();
  request.add_what_if("min=1");
  request.set_suggest(true);
  int looks = 0;
  GW_ASSERT_OK(ExplainGang(request, {}, [&] { return ++looks, absl::OkStatus(); }).status());
  EXPECT_GT(looks, 8);
  for (int last = 0; last < looks; ++last) {
    int asked = 0;
    const auto gone = [&] { return ++asked > last ? absl::CancelledError("gone") : absl::OkStatus(); };
    EXPECT_THAT(ExplainGang(request, {}, gone), StatusIs(absl::StatusCode::kCancelled)) << last;
  }
}

}  // namespace
}  // namespace gangway::extender
