#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/journal_by_hand.h"

namespace gangway::testutil {
namespace {

// A gang of a queue, each of whose pods asks for so much cpu.
struct GangIs {
  std::string name, queue = "a", priority = "low";
  int pods = 2, min_member = 2, cpu = 1;
  std::string annotations = {};  // of its pods
};

std::string PodName(const GangIs& gang, int i) { return absl::StrCat(gang.name, i); }

void PutGroup(Journal& j, const GangIs& gang, int running, const std::string& told = "", int succeeded = 0) {
  j.Put(api::kPodGroups, gang.name, "",
        absl::StrCat(R"(,"spec":{"minMember":)", gang.min_member, R"(,"queue":")", gang.queue,
                     R"(","priorityClassName":")", gang.priority, R"("},"status":{"succeeded":)", succeeded,
                     R"(,"running":)", running,
                     told.empty() ? "" : R"(,"conditions":[{"type":"GangReleased","status":"True",)", told,
                     told.empty() ? "" : "}]", "}"));
}
void PutPod(Journal& j, const GangIs& gang, int i, bool bound, const char* status, bool deleting = false,
            const char* node = "n1") {
  j.Put(api::kPods, PodName(gang, i),
        absl::StrCat(deleting ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
                     R"(,"annotations":{"scheduling.k8s.io/group-name":")", gang.name, R"(")", gang.annotations, "}"),
        absl::StrCat(R"(,"spec":{"schedulerName":"volcano","nodeName":")", bound ? node : "",
                     R"(","containers":[{"name":"c","resources":{"requests":{"cpu":")", gang.cpu,
                     R"("}}}]},"status":{)", status, "}"));
}
constexpr char kMovable[] = R"(,"gangway.io/movable":"true")";
constexpr char kPending[] = R"("phase":"Pending")", kRunning[] = R"("phase":"Running")";
constexpr char kLeaves[] =
    R"("phase":"Running","conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}])";

void Run(Journal& j, const GangIs& gang) {
  PutGroup(j, gang, gang.pods);
  for (int i = 0; i < gang.pods; ++i) PutPod(j, gang, i, true, kRunning);
}
void Wait(Journal& j, const GangIs& gang) {
  PutGroup(j, gang, 0);
  for (int i = 0; i < gang.pods; ++i) PutPod(j, gang, i, false, kPending);
}
void Bind(Journal& j, const GangIs& gang) {
  for (int i = 0; i < gang.pods; ++i) j.By("scheduler"), PutPod(j, gang, i, true, kPending);
}

// 8 cpu on each of two nodes; two queues of one weight, b with more to its spec; somebody else's pod.
void Cluster(Journal& j, const std::string& of_b = "") {
  for (const char* node : {"n1", "n2"})
    j.Put(api::kNodes, node, "", R"(,"spec":{},"status":{"allocatable":{"cpu":"8","pods":"110"}})");
  j.Put(api::kQueues, "a", "", R"(,"spec":{"weight":1})");
  j.Put(api::kQueues, "b", "", absl::StrCat(R"(,"spec":{"weight":1)", of_b, "}"));
  for (const auto& [name, rest] : {std::pair{"low", R"(,"value":1)"}, std::pair{"high", R"(,"value":10)"},
                                   std::pair{"polite", R"(,"value":20,"preemptionPolicy":"Never")"}})
    j.Put(api::kPriorityClasses, name, "", rest);
  j.Put(api::kPods, "daemon", "", R"(,"spec":{"nodeName":"n2"},"status":{"phase":"Running"})");
  j.Wait(absl::Minutes(1));
}

// The pods `from` and those behind it go for `for_whom`, which is there.
void Evict(Journal& j, const GangIs& gang, const GangIs& for_whom, const char* reason, int from = 0) {
  j.Wait(absl::Minutes(2));
  std::vector<std::string> named;
  for (int i = from; i < gang.pods; ++i)
    named.push_back(absl::StrCat(PodName(gang, i), "/pods-", PodName(gang, i), "-uid"));
  const std::string told =
      absl::StrCat(R"("reason":")", reason, R"(","message":"evicted )", named.size(), " of ", gang.pods,
                   " tasks for default/", for_whom.name, ": why [", absl::StrJoin(named, " "), R"(]")");
  j.By("scheduler");
  PutGroup(j, gang, gang.pods, told);
  for (int i = from; i < gang.pods; ++i) PutPod(j, gang, i, true, kLeaves);
  for (int i = from; i < gang.pods; ++i) PutPod(j, gang, i, true, kLeaves, true);
  j.By("kubelet").Wait(absl::Seconds(1));
  for (int i = from; i < gang.pods; ++i) j.Remove(api::kPods, PodName(gang, i));
  j.By("scheduler");
  PutGroup(j, gang, from, told);
}

// Nodes are kept for it.
void KeepNodes(Journal& j, const GangIs& gang, int ends) {
  j.Put(
      api::kPodGroups, gang.name, "",
      absl::StrCat(R"(,"spec":{"minMember":)", gang.min_member, R"(,"queue":")", gang.queue,
                   R"("},"status":{"conditions":[{"type":"Unschedulable","status":"True","message":"waits for 2 of 2 )",
                   R"(tasks: w needs cpu 1; 2 nodes have 0 free, 0 fit; on 1 node room is kept for it until )", ends,
                   R"( pods end"}]})"));
}

// It ran as a whole; `lacks_since`: of members, as it says. `released`: why the rest goes, "" = it does not.
void PutGroupThatRan(Journal& j, const GangIs& gang, int running, std::optional<absl::Time> lacks_since = std::nullopt,
                     const std::string& released = "", int succeeded = 0) {
  std::string conditions;
  if (lacks_since.has_value()) {
    absl::StrAppend(&conditions, R"({"type":"Unschedulable","status":"True","lastTransitionTime":")",
                    api::FormatTime(*lacks_since), R"("})");
  }
  if (!released.empty())
    absl::StrAppend(&conditions, R"(,{"type":"GangReleased","status":"True","reason":")", released, R"("})");
  j.Put(api::kPodGroups, gang.name, "",
        absl::StrCat(R"(,"spec":{"minMember":)", gang.min_member, R"(,"queue":")", gang.queue,
                     R"("},"status":{"running":)", running, R"(,"succeeded":)", succeeded, R"(,"phase":")",
                     lacks_since.has_value() ? "Unknown" : "Running", R"(","conditions":[)", conditions, "]}"));
}
// Of a gang that fills a node with another one; returns when it said so.
absl::Time LoseAMember(Journal& j, const GangIs& gang) {
  Run(j, {.name = "v", .pods = 2, .min_member = 2, .cpu = 1});
  PutGroupThatRan(j, gang, gang.pods);
  for (int i = 0; i < gang.pods; ++i) PutPod(j, gang, i, true, kRunning);
  j.Wait(absl::Minutes(1));
  j.Remove(api::kPods, PodName(gang, 0));
  PutPod(j, gang, 0, false, kPending);
  PutGroupThatRan(j, gang, gang.pods - 1, j.now());
  return j.now();
}

void Replace(Journal& j, const GangIs& gang, const GangIs& by, const char* reason) {
  Run(j, gang);
  Wait(j, by);
  Evict(j, gang, by, reason);
  Bind(j, by);
}

}  // namespace

std::vector<RuleCase> EvictionCases() {
  return {
      {Rule::kEvictedHigher,
       [](Journal& j, bool wrong) {
         Cluster(j);
         Replace(j, {.name = "v", .priority = wrong ? "high" : "low"}, {.name = "w", .priority = "high"}, "Preempted");
       }},
      {Rule::kNeverPreempts,
       [](Journal& j, bool wrong) {
         Cluster(j);
         Replace(j, {.name = "v"}, {.name = "w", .priority = wrong ? "polite" : "high"}, "Preempted");
       }},
      {Rule::kEvictedProtected,
       [](Journal& j, bool wrong) {
         Cluster(j);
         Replace(j,
                 {.name = "v",
                  .annotations = wrong ? R"(,"volcano.sh/cooldown-time":"3m")" : R"(,"volcano.sh/cooldown-time":"1m")"},
                 {.name = "w", .priority = "high"}, "Preempted");
       }},
      {Rule::kPartEvicted,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs gang{.name = "v", .pods = 3},
             for_whom{.name = "w", .priority = "high", .pods = 1, .min_member = 1};
         Run(j, gang);
         Wait(j, for_whom);
         Evict(j, gang, for_whom, "Preempted", wrong ? 1 : 2);
         Bind(j, for_whom);
       }},
      {Rule::kEvictedWithoutGain,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs gang{.name = "v"}, for_whom{.name = "w", .priority = "high"};
         Run(j, gang);
         Wait(j, for_whom);
         Evict(j, gang, for_whom, "Preempted");
         j.Wait(absl::Seconds(wrong ? 11 : 9));
         Bind(j, for_whom);
       }},
      // 16 cpu in three parts: the queues' and that of gangs above them.
      {Rule::kBelowShare,
       [](Journal& j, bool wrong) {
         Cluster(j);
         Replace(j, {.name = "v", .queue = "b", .cpu = wrong ? 2 : 3}, {.name = "w"}, "Reclaimed");
       }},
      {Rule::kBelowGuarantee,
       [](Journal& j, bool wrong) {
         Cluster(j, absl::StrCat(R"(,"guarantee":{"resource":{"cpu":")", wrong ? 1 : 0, R"("}})"));
         Replace(j, {.name = "v", .queue = "b", .cpu = 3}, {.name = "w"}, "Reclaimed");
       }},
      // When another gang comes meanwhile, what queues deserve is another matter.
      {Rule::kTakesTurns,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs v{.name = "v", .queue = "b", .cpu = 3}, w{.name = "w", .cpu = 3};
         Replace(j, v, w, "Reclaimed");
         Wait(j, v);
         if (!wrong) PutGroup(j, {.name = "another"}, 0);
         Evict(j, w, v, "Reclaimed");
         Bind(j, v);
       }},
      {Rule::kMovedUndeclared,
       [](Journal& j, bool wrong) {
         Cluster(j);
         Replace(j, {.name = "v", .annotations = wrong ? "" : kMovable}, {.name = "w"}, "Moved");
       }},
      {Rule::kMovedAgain,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs v{.name = "v", .annotations = kMovable}, x{.name = "x"};
         Replace(j, v, {.name = "w"}, "Moved");
         j.Wait(absl::Minutes(1));
         Run(j, v);
         Wait(j, x);
         j.Wait(absl::Minutes(wrong ? 6 : 7));
         Evict(j, v, x, "Moved");
         Bind(j, x);
       }},
      {Rule::kNotBack,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs gang{.name = "v", .annotations = kMovable};
         Replace(j, gang, {.name = "w"}, "Moved");
         for (const int i : {2, 3}) PutPod(j, gang, i, false, kPending);
         j.Wait(absl::Seconds(wrong ? 11 : 9));
         for (const int i : {2, 3}) j.By("scheduler"), PutPod(j, gang, i, true, kPending);
       }},
      // Who comes meanwhile and says nothing of his end is not waited for.
      {Rule::kDelayed,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs there{.name = "v"}, gang{.name = "w"};
         Run(j, there);
         Wait(j, gang);
         KeepNodes(j, gang, 2);
         j.Wait(absl::Minutes(1));
         Run(j, {.name = "late", .pods = 1, .min_member = 1});
         for (const int i : {0, 1}) PutPod(j, there, i, true, R"("phase":"Succeeded")");
         PutGroup(j, there, 0, "", 2);
         j.Wait(absl::Seconds(wrong ? 26 : 24));
         for (const int i : {0, 1}) j.By("scheduler"), PutPod(j, gang, i, true, kPending);
       }},
      // Its successor has a node meanwhile, or has none.
      {Rule::kLostRoom,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs gang{.name = "g", .pods = 3, .min_member = 3, .cpu = 2};
         LoseAMember(j, gang);
         PutPod(j, {.name = "w", .pods = 1, .cpu = 2}, 0, true, kPending);
         if (!wrong) j.By("scheduler"), PutPod(j, gang, 0, true, kPending, false, "n2");
         j.Wait(absl::Seconds(4));
       }},
      {Rule::kLostEarly,
       [](Journal& j, bool wrong) {
         Cluster(j);
         const GangIs gang{.name = "g", .pods = 3, .min_member = 3};
         const absl::Time since = LoseAMember(j, gang);
         j.Wait(absl::Seconds(wrong ? 298 : 300));
         PutGroupThatRan(j, gang, 2, since, "LostMember");
       }},
      {Rule::kLostHeld,
       [](Journal& j, bool wrong) {
         Cluster(j);
         j.Put(api::kQueues, "top", R"(,"annotations":{"gangway.io/lost-member-grace":"1m"})", R"(,"spec":{})");
         j.Put(api::kQueues, "below", "", R"(,"spec":{"parent":"top"})");
         const GangIs gang{.name = "g", .queue = "below", .pods = 3, .min_member = 3};
         LoseAMember(j, gang);
         j.Wait(absl::Seconds(wrong ? 76 : 74));
         for (int i = 1; i < 3; ++i) PutPod(j, gang, i, true, R"("phase":"Succeeded")");
         PutGroupThatRan(j, gang, 0, j.now(), "", 2);
       }},
      {Rule::kStarved,
       [](Journal& j, bool wrong) {
         const GangIs gang{.name = "w"};
         Wait(j, gang);
         j.Wait(absl::Seconds(wrong ? 61 : 59));
         Bind(j, gang);
       }},
  };
}

// What allows none, and only of those that it selects.
TEST(EvictionCasesTest, ABudgetProtects) {
  const auto broken = [](const char* selects, int allows) {
    Journal j;
    Cluster(j);
    j.Put(api::kPodDisruptionBudgets, "b", "",
          absl::StrCat(R"(,"spec":{"selector":{"matchLabels":{"role":")", selects,
                       R"("}}},"status":{"disruptionsAllowed":)", allows, "}"));
    Replace(j, {.name = "v", .annotations = R"(},"labels":{"role":"w")"}, {.name = "w", .priority = "high"},
            "Preempted");
    j.Wait(absl::Minutes(5));
    j.checker().AtEnd(j.now());
    return j.checker().broken();
  };
  EXPECT_THAT(broken("w", 0), ::testing::ElementsAre(Rule::kEvictedProtected));
  EXPECT_THAT(broken("w", 1), ::testing::IsEmpty());
  EXPECT_THAT(broken("ps", 0), ::testing::IsEmpty());
}

}  // namespace gangway::testutil
