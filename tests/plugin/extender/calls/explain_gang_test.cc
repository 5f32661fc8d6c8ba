#include "plugin/extender/calls/explain_gang.h"

#include <set>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

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

// A node with room for nobody else, a tainted one and one that is too small; a gang that goes before, one that runs,
// and pods of no gang, in a queue below another.
v1::ExplainRequest Crowded(const std::string& gang) {
  v1::ExplainRequest request;
  request.mutable_gang()->set_name(gang);
  const std::string of_queue = R"(,"queue":"team")";
  const auto pod = [](const std::string& name, const std::string& of, const std::string& more) {
    return PodJson(name, of, "6", more + R"(,"priority":7)", "",
                   more.empty() ? R"("phase":"Pending")" : R"("phase":"Running")");
  };
  testutil::AddObjects(
      *request.mutable_cluster(), NodeJson("a", 16), NodeJson("small", 2),
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"tainted"},"spec":{"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}})",
      testutil::QueueJson("root"),
      testutil::QueueJson(
          "team",
          R"("weight":3,"priority":5,"parent":"root","capability":{"cpu":"40"},"deserved":{"cpu":"20"},"guarantee":{"resource":{"cpu":"1"}})"),
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})",
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"middle"},"value":50})",
      PodGroupJson("runs", 1, of_queue, "Running"), pod("runs-0", "runs", R"(,"nodeName":"a")"),
      PodJson("alone", "", "5", R"(,"nodeName":"a")", "", R"("phase":"Running")"),
      PodGroupJson("first", 2, of_queue + R"(,"priorityClassName":"high")"), pod("first-0", "first", ""),
      pod("first-1", "first", ""),
      PodGroupJson("g", 2, of_queue + R"(,"priorityClassName":"middle","minTaskMember":{"w":2})"),
      PodJson("g-0", "g", "6", R"(,"nodeSelector":{"zone":"a"})"), PodJson("g-1", "g", "6"));
  return request;
}

// By "message.field": those that are set somewhere in it; and all that could be.
void Note(const google::protobuf::Message& message, std::set<std::string>& set) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* const field : fields) {
    set.insert(field->full_name());
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
    if (!field->is_repeated()) {
      Note(message.GetReflection()->GetMessage(message, field), set);
      continue;
    }
    for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i)
      Note(message.GetReflection()->GetRepeatedMessage(message, field, i), set);
  }
}
void NoteAll(const google::protobuf::Descriptor& type, std::set<std::string>& all) {
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *type.field(i);
    if (!all.insert(field.full_name()).second) continue;
    // Reasons have tests of their own.
    const bool message = field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE && !field.is_map();
    if (message && field.name() != "reason") NoteAll(*field.message_type(), all);
  }
}

// What is explained and does not get into the message is missing here by name.
TEST(ExplainGangCallTest, EveryFieldOfAnExplanationIsTold) {
  std::set<std::string> set, all;
  NoteAll(*v1::ExplainResponse::descriptor(), all);
  gang::Policy policy;
  policy.sharing = gang::Sharing::kAsWritten;
  for (const char* const gang : {"g", "first", "runs"}) {
    for (const bool capacity : {false, true}) {
      v1::ExplainRequest request = Crowded(gang);
      request.set_suggest(true);
      request.add_what_if("without=default/runs");
      if (std::string(gang) == "runs") request.set_what_if(0, "min=1");
      if (std::string(gang) == "first") request.add_what_if("min=1");
      const auto reply = ExplainGang(request, capacity ? policy : gang::Policy(), [] { return absl::OkStatus(); });
      GW_ASSERT_OK(reply);
      Note(*reply, set);
    }
  }
  for (const std::string& field : all) EXPECT_TRUE(set.contains(field)) << field;
}

TEST(ExplainGangCallTest, EachNumberStandsInItsField) {
  const auto waits = Explained(Crowded("g"));
  GW_ASSERT_OK(waits);
  EXPECT_EQ(waits->state(), "waiting");
  EXPECT_EQ(waits->priority_class(), "middle");
  EXPECT_EQ(waits->priority(), 50);
  EXPECT_EQ(waits->cluster_nodes(), 3);
  for (const v1::ClusterAmount& amount : waits->cluster()) {
    if (amount.resource() != "cpu") continue;
    EXPECT_EQ(amount.total(), "34");
    EXPECT_EQ(amount.held(), "11");
    EXPECT_EQ(amount.outside_of_gangs(), "5");
  }
  EXPECT_EQ(waits->queue().name(), "team");
  EXPECT_EQ(waits->queue().parent(), "root");
  EXPECT_EQ(waits->queue().weight(), 3);
  EXPECT_EQ(waits->queue().priority(), 5);
  for (const v1::QueueAmount& amount : waits->queue().amounts()) {
    if (amount.resource() != "cpu") continue;
    EXPECT_EQ(amount.capability(), "40");
    EXPECT_EQ(amount.deserved(), "20");
    EXPECT_EQ(amount.guarantee(), "1");
    EXPECT_EQ(amount.held(), "6");
  }
  ASSERT_THAT(waits->before(), SizeIs(1));
  EXPECT_EQ(waits->before(0).name(), "first");
  EXPECT_EQ(waits->before(0).queue(), "team");
  EXPECT_EQ(waits->before(0).priority(), 100);
  EXPECT_EQ(waits->before(0).min_member(), 2);
  EXPECT_EQ(waits->before(0).pods(), 2);
  EXPECT_EQ(waits->before(0).placed(), 0);
  EXPECT_EQ(waits->before(0).asks().at("cpu"), "12");
  EXPECT_THAT(waits->before(0).holds(), IsEmpty());
  const auto runs = Explained(Crowded("runs"));
  GW_ASSERT_OK(runs);
  EXPECT_EQ(runs->state(), "running");
  EXPECT_EQ(runs->pods_placed(), 1);
  ASSERT_THAT(runs->spots(), SizeIs(1));
  EXPECT_EQ(runs->spots(0).node(), "a");
  EXPECT_EQ(runs->spots(0).task(), "w");
  EXPECT_EQ(runs->spots(0).pods(), 1);
  ASSERT_THAT(runs->asks(), SizeIs(1));
  EXPECT_EQ(runs->asks(0).placed(), 1);
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
