#include "plugin/model/reason.h"

#include <algorithm>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/phrases/phrases.h"

namespace gangway::model {
namespace {

TEST(RenderTest, NoRoomNamesRequirementNodesAndNumbers) {
  Reason reason;
  reason.missing = 3;
  reason.min_member = 16;
  RoleReason role;
  role.role = "worker";
  role.nodes = 32;
  role.AddHindrance("taints", 20, phrases::kTainted(20));
  role.lacks = {{"nvidia.com/gpu", 8, 4, 12}};
  reason.roles = {role};
  EXPECT_EQ(
      Render(reason),
      "waits for 3 of 16 tasks: worker needs nvidia.com/gpu 8; 12 nodes have at most 4 free, 20 are tainted, 0 fit");
}

TEST(RenderTest, SelectorThatNoNodeMatches) {
  Reason reason;
  reason.missing = 2;
  reason.min_member = 5;
  reason.existing = 3;
  RoleReason role;
  role.role = "ps";
  role.nodes = 6;
  const Words zone = Words::Name("zone=none");
  role.AddHindrance("node", 5, phrases::kDoesNotMatch(5), zone, {phrases::kNodesWith, zone});
  role.AddHindrance("cordon", 1, phrases::kCordoned(1));
  role.request_text = "cpu 1";
  reason.roles = {role};
  EXPECT_EQ(Render(reason),
            "waits for 2 of 5 tasks: ps needs nodes with zone=none; with 3 placed, 5 nodes do not match, 1 is "
            "cordoned, 0 fit");
}

TEST(RenderTest, AClusterWithoutNodesSaysSo) {
  Reason reason;
  reason.missing = 1;
  reason.min_member = 1;
  RoleReason role;
  role.request_text = "cpu 1";
  reason.roles = {role};
  EXPECT_EQ(Render(reason), "waits for 1 of 1 task: a task needs cpu 1; the cluster has no nodes");
}

TEST(RenderTest, SumsSayHowMuchIsTooMuch) {
  Reason reason;
  reason.kind = Reason::Kind::kClusterFull;
  reason.missing = 12;
  reason.min_member = 12;
  reason.sums = {{"cpu", 144'000, 115'200, 0, 96'000}};
  EXPECT_EQ(Render(reason),
            "waits for 12 of 12 tasks: needs cpu 144, the cluster uses 0 of 96, gangs are let in for up to 115.2, 28.8 "
            "too many");
  reason.sums[0].limit = 96'000;
  EXPECT_EQ(Render(reason), "waits for 12 of 12 tasks: needs cpu 144, the cluster uses 0 of 96, 48 too many");
}

// 16 GPUs are 16, also where gangs are let in for 19 of them.
TEST(RenderTest, CapacitiesAreTheClusters) {
  Reason reason;
  reason.kind = Reason::Kind::kClusterFull;
  reason.missing = 2;
  reason.min_member = 2;
  reason.sums = {{"nvidia.com/gpu", 12, 19, 8, 16}};
  EXPECT_EQ(Render(reason),
            "waits for 2 of 2 tasks: needs nvidia.com/gpu 12, the cluster uses 8 of 16, gangs are let in for up to 19, "
            "1 too many");
  reason.sums[0].in_use = 18;
  reason.sums[0].promised = 8;
  EXPECT_EQ(Render(reason),
            "waits for 2 of 2 tasks: needs nvidia.com/gpu 12, the cluster uses 10 of 16, 8 more are promised to gangs "
            "let in before, gangs are let in for up to 19, 11 too many")
      << "nothing uses more than there is";
  EXPECT_EQ(Tell(reason).In(Language::kChinese),
            "等待 2 个任务中的 2 个：需要 nvidia.com/gpu 12，集群已用 10（共 16），另有 8 已承诺给先前获准入的 gang，"
            "gang 的准入上限为 19，超出 11");
}

TEST(RenderTest, EachKindHasItsWords) {
  Reason reason;
  reason.missing = 1;
  reason.min_member = 2;
  reason.size = 3;
  reason.existing = 1;
  reason.subject = Words::Name("x");
  using Kind = Reason::Kind;
  const std::pair<Kind, std::string> rows[] = {
      {Kind::kKeptForMinimum,
       "kept_for_minimum: waits for 1 of 2 tasks: room is kept for gangs that lack their minimum, the first is x"},
      {Kind::kTooFewTasks, "too_few_tasks: waits for 1 of 2 tasks: 1 pod exists"},
      {Kind::kTooFewOfRole, "too_few_of_role: waits for 1 of 2 tasks named x: 1 pod exists"},
      {Kind::kTooFewSubGroups, "too_few_sub_groups: waits for 1 of 2 sub-groups of x: 1 has all of 3 pods"},
      {Kind::kGated, "gated: waits for 1 of 2 tasks: pods are held by scheduling gates, the first is x"},
      {Kind::kNotModelled, "not_modelled: waits for 1 of 2 tasks: x asks for something this scheduler does not know"},
      {Kind::kClaim, "claim: waits for 1 of 2 tasks: claim x"},
      {Kind::kBindFailed, "bind_failed: waits for 1 of 2 tasks: x"},
      {Kind::kQueueMissing, "queue_missing: waits for 1 of 2 tasks: there is no queue x"},
      {Kind::kQueueClosed, "queue_closed: waits for 1 of 2 tasks: queue x is closed"}};
  for (const auto& [kind, words] : rows) {
    reason.kind = kind;
    EXPECT_EQ(absl::StrCat(KindText(kind), ": ", Render(reason)), words);
  }
  EXPECT_EQ(KindText(Kind::kNoRoom), "no_room");
  EXPECT_EQ(KindText(Kind::kQueueFull), "queue_full");
  EXPECT_EQ(KindText(Kind::kClusterFull), "cluster_full");
}

// What users named has no letters here, so that each that is seen is ours.
Reason Nameless(Reason::Kind kind) {
  Reason reason;
  reason.kind = kind;
  reason.missing = 1;
  reason.min_member = 2;
  reason.size = 3;
  reason.existing = 1;
  reason.ending = 2;
  reason.subject = Words::Name("<1>");
  reason.within = {phrases::kOfTier, std::string("<2>"), 3};
  reason.detail = "<3>";
  reason.kept_nodes = reason.kept_until_ends = 1;
  reason.kept_for = "<4>";
  RoleReason role;
  role.role = "<5>";
  role.nodes = 6;
  role.lacks = {{"<6>", 8, 4, 2}, {"<7>", 8, 0, 1}};
  role.AddHindrance("taints", 3, phrases::kTainted(3), {phrases::kWith, std::string("<8>")});
  reason.roles = {role};
  reason.sums = {{"<9>", 4, 9, 1, 3}};
  return reason;
}

bool HasEnglish(std::string text) {
  for (const char* const word : {"PodGroup", "ReadWriteOncePod", "Pod", "gang", "HyperNode", "PVC", "schedulingGates",
                                 "persistentvolumeclaims", "persistentvolumes", "ephemeral"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word))
      text.erase(at, std::string(word).size());
  }
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); });
}

TEST(RenderTest, InChineseNoKindSaysAWordOfEnglish) {
  int kinds = 0;
  for (; KindText(static_cast<Reason::Kind>(kinds)) != "unknown"; ++kinds) {
    const Reason reason = Nameless(static_cast<Reason::Kind>(kinds));
    const std::string text = Tell(reason).In(Language::kChinese);
    EXPECT_FALSE(HasEnglish(text)) << KindText(reason.kind) << ": " << text;
    EXPECT_EQ(text.find('$'), std::string::npos) << KindText(reason.kind) << ": " << text;
    EXPECT_NE(text.find("等待"), std::string::npos) << KindText(reason.kind) << ": " << text;
  }
  EXPECT_EQ(kinds, 16);
  for (int trouble = 0; trouble <= static_cast<int>(ClaimTrouble::kVolumeNotModelled); ++trouble) {
    Reason reason = Nameless(Reason::Kind::kClaim);
    reason.trouble = static_cast<ClaimTrouble>(trouble);
    EXPECT_FALSE(HasEnglish(Tell(reason).In(Language::kChinese))) << Tell(reason).In(Language::kChinese);
  }
}

TEST(RenderTest, TheSentenceInChinese) {
  EXPECT_EQ(Tell(Nameless(Reason::Kind::kNoRoom)).In(Language::kChinese),
            "等待 2 个任务中的 1 个：在 HyperNode <2>（第 3 层）中，<5> 需要 <6> 8 和 <7> 8；放置 1 个之后，2 "
            "个节点最多空闲 <6> 4，1 个节点空闲 <7> "
            "0，3 个带有不容忍的污点（键 <8>），0 个可用；1 个节点上的空间为 <4> 保留，直到 1 个 Pod 结束");
  Reason fields = Nameless(Reason::Kind::kNotModelled);
  fields.subject = Words::Name("<1> and <2> name two gangs");
  EXPECT_EQ(Tell(fields).In(Language::kChinese), "等待 2 个任务中的 1 个：<1> 和 <2> 指向两个不同的 gang");
  EXPECT_EQ(Render(fields), "waits for 1 of 2 tasks: <1> and <2> name two gangs");
}

TEST(RenderTest, WhatIsNotKnownComesWithWhatToDoInstead) {
  Reason reason = Nameless(Reason::Kind::kNotModelled);
  reason.subject = Words::Name("metadata.annotations[volcano.sh/numa-topology-policy]");
  EXPECT_THAT(Render(reason), ::testing::HasSubstr("does not know: it does not know what is free in a NUMA zone"));
  EXPECT_THAT(Tell(reason).In(Language::kChinese), ::testing::HasSubstr("NUMA 区"));
}

TEST(RenderTest, PodsThatAreNotThere) {
  Reason reason;
  reason.kind = Reason::Kind::kTooFewTasks;
  reason.missing = 3;
  reason.min_member = 4;
  reason.existing = 1;
  reason.ending = 3;
  EXPECT_EQ(Render(reason), "waits for 3 of 4 tasks: 1 pod exists, 3 are ending");
}

}  // namespace
}  // namespace gangway::model
