// Every rule fires: a journal by hand that keeps it, and the same one that breaks it and nothing else.
#include "tests/simulation/checkers.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/journal_by_hand.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Is = Journal::PodIs;

// A Job of one pod that has succeeded.
void Completed(Journal& j) {
  j.Job("Completed", 0, 1);
  j.Pod("p1", {.node = "n1", .phase = "Succeeded"});
}

// "podAffinity", "podAntiAffinity": to pods of the label in a zone.
std::string Affinity(const char* kind, const char* app) {
  return absl::StrCat(
      R"(,"affinity":{")", kind,
      R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":")",
      app, R"("}}}]}})");
}
std::string Spread(int skew) {
  return absl::StrCat(
      R"(,"topologySpreadConstraints":[{"maxSkew":)", skew,
      R"(,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}}}])");
}
const std::string kWithClaim = R"(,"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"c"}}])";
constexpr char kX[] = R"("app":"x")", kY[] = R"("app":"y")";

std::vector<RuleCase> OtherCases() {
  return {
      {Rule::kBoundTwice,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Pod("p1", {.node = "n1"});
         j.Pod("p1", {.node = wrong ? "n2" : "n1"});
       }},
      {Rule::kOvercommitted,
       [](Journal& j, bool wrong) {
         j.Node();
         for (const char* name : {"p1", "p2"}) j.Pod(name, {.node = "n1"});
         if (!wrong) j.Pod("p1", {.node = "n1", .phase = "Failed"});
         j.Pod("p3", {.node = "n1"});
       }},
      {Rule::kSelector,
       [](Journal& j, bool wrong) {
         j.Node("", wrong ? R"("zone":"b")" : R"("zone":"a")");
         j.Pod("p1", {.node = "n1", .spec = R"(,"nodeSelector":{"zone":"a"})"});
       }},
      {Rule::kTaint,
       [](Journal& j, bool wrong) {
         j.Node(R"("taints":[{"key":"dedicated","value":"ml","effect":"NoSchedule"}])");
         j.Pod("p1", {.node = "n1",
                      .spec = wrong ? R"(,"tolerations":[{"key":"dedicated","value":"cpu"}])"
                                    : R"(,"tolerations":[{"key":"dedicated","operator":"Exists"}])"});
       }},
      {Rule::kPorts,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Pod("p1", {.node = "n1", .ported = true});
         j.Pod("p2", {.node = wrong ? "n1" : "n2", .ported = true});
       }},
      // The first of them may lie anywhere.
      {Rule::kAffinity,
       [](Journal& j, bool wrong) {
         j.Zones();
         j.Pod("p1", {.node = "n1", .spec = Affinity("podAffinity", "x"), .labels = kX});
         j.Pod("p2", {.node = wrong ? "n2" : "n1", .spec = Affinity("podAffinity", "x"), .labels = kX});
       }},
      // One that is there keeps others away.
      {Rule::kAntiAffinity,
       [](Journal& j, bool wrong) {
         j.Zones();
         j.Pod("p1", {.node = "n1", .spec = Affinity("podAntiAffinity", "y")});
         j.Pod("p2", {.node = wrong ? "n1" : "n2", .labels = kY});
       }},
      {Rule::kSpread,
       [](Journal& j, bool wrong) {
         j.Zones();
         for (const char* name : {"p1", "p2"}) j.Pod(name, {.node = "n1", .spec = Spread(wrong ? 1 : 2), .labels = kX});
       }},
      {Rule::kVolumeBound,
       [](Journal& j, bool wrong) {
         j.Zones();
         j.Volume("a", "c");
         j.Claim("c", wrong ? "Pending" : "Bound");
         j.Pod("p1", {.node = "n1", .spec = kWithClaim});
       }},
      {Rule::kVolumeReach,
       [](Journal& j, bool wrong) {
         j.Zones();
         j.Volume(wrong ? "b" : "a", "c");
         j.Claim("c", "Bound");
         j.Pod("p1", {.node = "n1", .spec = kWithClaim});
       }},
      {Rule::kVolumeTwice,
       [](Journal& j, bool wrong) {
         j.Claim("c", "Pending");
         j.Claim("d", "Pending");
         j.Volume("a", "c");
         if (!wrong) j.Remove(api::kPersistentVolumeClaims, "c");
         j.Volume("a", "d");
       }},
      {Rule::kTopology,
       [](Journal& j, bool wrong) {
         j.Zones();
         j.Group(2, absl::StrCat(R"(,"networkTopology":{"mode":"hard","highestTierAllowed":)", wrong ? 1 : 2, "}"));
         j.Pod("p1", {.node = "n1"});
         j.Pod("p2", {.node = "n2"});
       }},
      {Rule::kPartTopology,
       [](Journal& j, bool wrong) {
         j.Zones();
         j.Group(
             2,
             R"(,"subGroupPolicy":[{"name":"w","labelSelector":{"matchLabels":{"volcano.sh/task-spec":"w"}},"matchLabelKeys":["volcano.sh/partition-id"],)"
             R"("networkTopology":{"highestTierName":"tier-1"}}])");
         const auto of_part = [](const char* part) {
           return absl::StrCat(R"("volcano.sh/task-spec":"w","volcano.sh/partition-id":")", part, R"(")");
         };
         j.Pod("p1", {.node = "n1", .labels = of_part("0")});
         j.Pod("p2", {.node = "n2", .labels = of_part(wrong ? "0" : "1")});
       }},
      {Rule::kCapability,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Queue(R"("parent":"above")");
         j.Put(api::kQueues, "above", "",
               absl::StrCat(R"(,"spec":{"capability":{"cpu":")", wrong ? 3 : 4, R"(","memory":"0"}})"));
         j.Group(2);
         for (const char* name : {"p1", "p2"}) j.Pod(name, {.node = "n1"});
       }},
      {Rule::kStranger,
       [](Journal& j, bool wrong) {
         j.Node();
         j.By(wrong ? "scheduler" : "default-scheduler").Pod("p1", {.node = "n1", .scheduler = "default-scheduler"});
       }},
      // What it sent while it led may arrive later.
      {Rule::kTwoWriters,
       [](Journal& j, bool wrong) {
         j.Holds("a-1");
         j.checker().OnSent("lead", "a-", "POST pods", j.now());
         j.Holds("b-1");
         j.checker().OnSent("lead", wrong ? "a-" : "b-", "POST pods", j.now());
       }},
      // What goes and what has ended excuses only itself.
      {Rule::kPartBound,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Group(4, "", 0, "Inqueue", R"("succeeded":1)");
         j.Pod("p1", {.node = "n1"});
         j.Pod("p2", {.node = "n1", .deleting = true});
         j.Pod("p3", {.node = "n2", .phase = "Succeeded"});
         j.Pod("p4", {});
         j.Wait(absl::Seconds(34));
         if (!wrong) j.Pod("p4", {.node = "n2"});
         j.Wait(absl::Seconds(2));
         j.Pod("p4", {.node = "n2"});
       }},
      {Rule::kRoleMinimum,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Group(2, R"(,"minTaskMember":{"ps":1,"w":1})");
         j.Pod("p1", {.node = "n1"});
         j.Pod("p2", {.node = "n1", .task = wrong ? "w" : "ps"});
         j.Wait(absl::Seconds(36));
       }},
      {Rule::kReleased,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Group(2);
         j.Pod("p1", {.node = "n1"});
         j.Wait(absl::Seconds(wrong ? 29 : 30));
         j.By("scheduler").Pod("p1", {.node = "n1", .deleting = true});
       }},
      {Rule::kVersion,
       [](Journal& j, bool wrong) {
         j.Job("Running", 0, 0, 3);
         j.Job("Running", 0, 0, wrong ? 2 : 3);
       }},
      {Rule::kRetries,
       [](Journal& j, bool wrong) {
         j.Job("Running", 0, 0, 0, 0);
         j.Job("Running", 0, 0, 1, wrong ? 2 : 1);
       }},
      {Rule::kFinished,
       [](Journal& j, bool wrong) {
         j.Job(wrong ? "Failed" : "Aborted");
         j.Job("Restarting");
       }},
      {Rule::kCommand,
       [](Journal& j, bool wrong) {
         j.Job("Running");
         j.Command("AbortJob");
         j.Remove(api::kCommands, "do");
         if (!wrong) j.Job("Aborting");
         j.Wait(absl::Seconds(11));
         j.Job("Aborting");
       }},
      {Rule::kEndedPods,
       [](Journal& j, bool wrong) {
         Completed(j);
         j.Job("Completed", wrong ? 1 : 0, 1);
         j.Pod("p2", {.node = "n1", .phase = wrong ? "Running" : "Failed"});
         j.Put(api::kJobs, "j", "",
               absl::StrCat(R"(,"spec":{},"status":{"state":{"phase":"Completed"},"succeeded":1,"running":)",
                            wrong ? 1 : 0, R"(,"failed":)", wrong ? 0 : 1,
                            Journal::OfTasks(wrong ? 1 : 0, 1, wrong ? 0 : 1), "}"));
       }},
      {Rule::kCounters,
       [](Journal& j, bool wrong) {
         j.Node();
         j.Job("Running", wrong ? 2 : 1);
         j.Pod("p1", {.node = "n1", .phase = "Running"});
       }},
      {Rule::kLeftovers,
       [](Journal& j, bool wrong) {
         j.Job("Completed");
         j.By("controllers").Group(0);
         if (!wrong) j.By("garbage-collector").Remove(api::kPodGroups, "g");
         j.By("user").Remove(api::kJobs, "j");
       }},
  };
}

const std::vector<RuleCase>& Cases() {
  static const auto* const cases = [] {
    auto* const all = new std::vector<RuleCase>(OtherCases());
    const std::vector<RuleCase> of_evictions = EvictionCases();
    all->insert(all->end(), of_evictions.begin(), of_evictions.end());
    return all;
  }();
  return *cases;
}

class CheckerTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(CheckerTest, KeptAndBroken) {
  for (const bool wrong : {false, true}) {
    Journal journal;
    GetParam().write(journal, wrong);
    journal.Wait(absl::Minutes(5));
    journal.checker().AtEnd(journal.now());
    const std::string all = absl::StrJoin(journal.checker().violations(), "\n");
    if (!wrong) {
      EXPECT_THAT(journal.checker().broken(), IsEmpty()) << all;
      continue;
    }
    EXPECT_THAT(journal.checker().broken(), ElementsAre(GetParam().rule)) << all;
    EXPECT_THAT(all, StartsWith(absl::StrCat(NameOf(GetParam().rule), ": ")));
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, CheckerTest, ::testing::ValuesIn(Cases()), [](const auto& c) {
  std::string name;
  for (const char letter : NameOf(c.param.rule)) name += letter == '-' ? '_' : letter;
  return name;
});

std::set<Rule> BrokenBy(Journal& journal) {
  journal.checker().AtEnd(journal.now());
  return journal.checker().broken();
}

TEST(CheckersTest, QuietIsBrokenByAWriteShortlyBeforeTheEnd) {
  Journal journal;
  journal.Job("Completed");
  journal.Wait(absl::Seconds(299));
  EXPECT_THAT(BrokenBy(journal), ElementsAre(Rule::kQuiet));
}

TEST(CheckersTest, EndIsBrokenByAJobThatEndsOtherwiseOrNeverOrIsGone) {
  const auto broken = [](Checker::Rules rules, const char* phase) {
    Checker checker(std::move(rules));
    sandbox::JournalRecord record;
    record.resource = &api::kJobs;
    record.key = {"default", "j"};
    record.after =
        MakeBytes(absl::StrCat(R"({"metadata":{"name":"j","namespace":"default"},"status":{"state":{"phase":")", phase,
                               R"("},"retryCount":1}})"));
    checker.OnRecord(record);
    checker.AtEnd(record.time + absl::Hours(1));
    return checker.broken();
  };
  EXPECT_THAT(broken({}, "Completed"), IsEmpty());
  EXPECT_THAT(broken({}, "Running"), ElementsAre(Rule::kEnd));
  Checker::Rules rules;
  rules.expected_phase = {{"j", "Failed"}};
  EXPECT_THAT(broken(rules, "Failed"), IsEmpty());
  EXPECT_THAT(broken(rules, "Completed"), ElementsAre(Rule::kEnd));
  rules.expected_retries = {{"j", 0}};
  EXPECT_THAT(broken(rules, "Failed"), ElementsAre(Rule::kEnd));
  rules = {};
  rules.expected_phase = {{"another", "Failed"}};
  EXPECT_THAT(broken(rules, "Completed"), ElementsAre(Rule::kEnd));
}

TEST(CheckersTest, EndIsBrokenByAPaddleJobThatEndsOtherwiseOrNever) {
  const auto broken = [](const char* expected, const api::Resource& resource, const char* status) {
    Checker::Rules rules;
    rules.expected_paddle = {{"p", expected}};
    Checker checker(std::move(rules));
    sandbox::JournalRecord record;
    record.resource = &resource;
    record.key = {"default", "p"};
    record.after = MakeBytes(absl::StrCat(R"({"metadata":{"name":"p","namespace":"default"},"status":)", status, "}"));
    checker.OnRecord(record);
    checker.AtEnd(record.time + absl::Hours(1));
    return checker.broken();
  };
  const api::Resource& paddle = api::paddle::kPaddleJobs;
  const api::Resource& kubeflow = api::paddle::kubeflow::kPaddleJobs;
  EXPECT_THAT(broken("Completed", paddle, R"({"phase":"Completed"})"), IsEmpty());
  EXPECT_THAT(broken("", paddle, R"({"phase":"Failed"})"), IsEmpty());
  EXPECT_THAT(broken("Completed", paddle, R"({"phase":"Failed"})"), ElementsAre(Rule::kEnd));
  EXPECT_THAT(broken("", paddle, R"({"phase":"Running"})"), ElementsAre(Rule::kEnd));
  EXPECT_THAT(broken("Failed", kubeflow,
                     R"({"conditions":[{"type":"Running","status":"False"},{"type":"Failed","status":"True"}]})"),
              IsEmpty());
  EXPECT_THAT(broken("", kubeflow, R"({"conditions":[{"type":"Succeeded","status":"False"}]})"),
              ElementsAre(Rule::kEnd));
}

TEST(CheckersTest, EveryRuleHasAJournal) {
  std::set<Rule> rules{Rule::kQuiet, Rule::kEnd};
  for (const RuleCase& c : Cases()) rules.insert(c.rule);
  EXPECT_EQ(rules.size(), static_cast<std::size_t>(kRules));
}

// Deadlines begin anew when what was broken works again.
TEST(CheckersTest, DisturbancesPutDeadlinesOff) {
  for (const bool disturbed : {false, true}) {
    Journal j;
    j.Node();
    j.Group(2);
    j.Pod("p1", {.node = "n1"});
    j.Pod("p2", {});
    if (disturbed) j.checker().Disturbed(j.now() + absl::Seconds(20));
    j.Wait(absl::Seconds(50));
    j.Pod("p2", {});
    EXPECT_EQ(j.checker().broken().contains(Rule::kPartBound), !disturbed);
    j.Wait(absl::Seconds(6));
    j.Pod("p2", {});
    EXPECT_TRUE(j.checker().broken().contains(Rule::kPartBound));
  }
}

// Seconds in which something is broken are left out, and when whoever releases it began anew those before count no
// more.
TEST(CheckersTest, PartsOfGangsAreBoundForSecondsWithoutFaults) {
  const auto in_part_at = [](absl::Duration after, bool anew) {
    Journal j;
    j.Node();
    j.Group(2);
    j.Pod("p1", {.node = "n1"});
    j.Pod("p2", {});
    j.Wait(absl::Seconds(20));
    j.checker().OnFault(j.now(), j.now() + absl::Seconds(10), anew ? FaultOf::kScheduler : FaultOf::kOthers);
    j.Wait(absl::Seconds(4));
    j.checker().OnFault(j.now(), j.now() + absl::Seconds(10), FaultOf::kOthers);  // until 34 s
    j.Wait(after - absl::Seconds(24));
    j.Pod("p2", {});
    return j.checker().broken().contains(Rule::kPartBound);
  };
  EXPECT_FALSE(in_part_at(absl::Seconds(49), false));
  EXPECT_TRUE(in_part_at(absl::Seconds(50), false));
  EXPECT_FALSE(in_part_at(absl::Seconds(69), true));
  EXPECT_TRUE(in_part_at(absl::Seconds(70), true));
}

TEST(CheckersTest, WhoLostItsVolumeHasNoDeadlineUntilItIsThereAgain) {
  for (const bool lost : {false, true}) {
    Journal j;
    j.Node();
    j.Volume("a", "c");
    j.Claim("c", "Bound");
    j.Group(2);
    j.Pod("p1", {.node = "n1"});
    j.Pod("p2", {.spec = kWithClaim});
    j.Wait(absl::Seconds(20));
    if (lost) j.Remove(api::kPersistentVolumes, "v");
    j.Pod("p2", {.spec = kWithClaim});
    j.Wait(absl::Seconds(20));
    j.Volume("a", "c");
    j.Pod("p2", {.spec = kWithClaim});
    EXPECT_EQ(j.checker().broken().contains(Rule::kPartBound), !lost);
    j.Wait(absl::Seconds(36));
    j.Pod("p2", {.spec = kWithClaim});
    EXPECT_TRUE(j.checker().broken().contains(Rule::kPartBound));
  }
}

// Nodes are held by whom volumes are made for.
TEST(CheckersTest, NobodyStarvesWhileAVolumeIsMade) {
  for (const bool made : {false, true}) {
    Journal j;
    j.Node();
    j.Group(1);
    j.Pod("p1", {});
    if (made) j.ClaimOn("c", "n1");
    j.Wait(absl::Seconds(70));
    j.Pod("p1", {});
    EXPECT_EQ(j.checker().broken().contains(Rule::kStarved), !made);
    j.Claim("c", "Bound");
    j.Wait(absl::Seconds(70));
    j.Pod("p1", {});
    EXPECT_TRUE(j.checker().broken().contains(Rule::kStarved));
  }
}

// Each counter of a status that says one more, or one less, than there is.
TEST(CheckersTest, CountersOfEveryKindAreJudged) {
  const auto job = [](const std::string& counts) {
    return [counts](Journal& j) {
      j.Put(api::kJobs, "j", "", absl::StrCat(R"(,"spec":{},"status":{"state":{"phase":"Running"},)", counts, "}"));
    };
  };
  const auto group = [](const std::string& counts) {
    return [counts](Journal& j) { j.Group(1, "", 1, "Running", counts); };
  };
  const auto queue = [](const std::string& status) {
    return [status](Journal& j) {
      j.Put(api::kQueues, "default", "", absl::StrCat(R"(,"spec":{},"status":{"state":"Open",)", status, "}"));
    };
  };
  const auto broken = [&](const std::function<void(Journal&)>& last) {
    Journal j;
    j.Node();
    j.Queue("");
    j.Put(api::kQueues, "default", "",
          R"(,"spec":{},"status":{"state":"Open","running":1,"allocated":{"cpu":"2","memory":"0"}})");
    j.Put(api::kJobs, "j", "",
          absl::StrCat(R"(,"spec":{},"status":{"state":{"phase":"Running"},"running":1,"succeeded":1,"failed":1)",
                       Journal::OfTasks(1, 1, 1), "}"));
    j.Group(1, "", 1, "Running", R"("succeeded":1,"failed":1)");
    j.Pod("p1", {.node = "n1", .phase = "Running"});
    j.Pod("p2", {.node = "n1", .phase = "Succeeded"});
    j.Pod("p3", {.node = "n1", .phase = "Failed"});
    if (last) last(j);
    j.Wait(absl::Minutes(5));
    return BrokenBy(j);
  };
  EXPECT_THAT(broken(nullptr), IsEmpty());
  constexpr char kOfTasks[] = R"("running":1,"succeeded":1,"failed":1,"taskStatusCount":)";
  // What has ended may have gone since, and stays counted.
  EXPECT_THAT(broken(job(absl::StrCat(kOfTasks, R"({"w":{"phase":{"Running":1,"Succeeded":2,"Failed":1}}})"))),
              IsEmpty());
  for (const char* counts : {R"({"w":{"phase":{"Running":2,"Succeeded":1,"Failed":1}}})",
                             R"({"w":{"phase":{"Running":1,"Succeeded":1}}})", R"({"v":{"phase":{"Running":1}}})"}) {
    EXPECT_THAT(broken(job(absl::StrCat(kOfTasks, counts))), ElementsAre(Rule::kCounters)) << counts;
  }
  for (const char* counts : {R"("succeeded":1)", R"("failed":1)", R"("succeeded":2,"failed":1)"})
    EXPECT_THAT(broken(group(counts)), ElementsAre(Rule::kCounters)) << counts;
  for (const char* status :
       {R"("running":2,"allocated":{"cpu":"2"})", R"("pending":1,"running":1,"allocated":{"cpu":"2"})",
        R"("inqueue":1,"running":1,"allocated":{"cpu":"2"})", R"("unknown":1,"running":1,"allocated":{"cpu":"2"})",
        R"("completed":1,"running":1,"allocated":{"cpu":"2"})", R"("running":1,"allocated":{"cpu":"1"})",
        R"("running":1,"allocated":{"cpu":"2","memory":"1Gi"})", R"("running":1)"}) {
    EXPECT_THAT(broken(queue(status)), ElementsAre(Rule::kCounters)) << status;
  }
}

// A gang that was whole once goes on with what it has.
TEST(CheckersTest, AGangThatWasWholeHasNoDeadlineAndIsNotReleased) {
  Journal j;
  j.Node();
  j.Group(2);
  for (const char* name : {"p1", "p2"}) j.Pod(name, {.node = "n1"});
  j.Group(2, "", 0, "Running");
  j.Remove(api::kPods, "p2");
  j.Wait(absl::Minutes(2));
  j.Pod("p2", {});
  EXPECT_THAT(j.checker().broken(), IsEmpty());
  j.By("scheduler").Pod("p1", {.node = "n1", .deleting = true});
  EXPECT_THAT(j.checker().broken(), ElementsAre(Rule::kReleased));
}

TEST(CheckersTest, OnlyPodsThatDoNotRunAndAreMadeAgainAreReleased) {
  const auto broken = [](const Is& pod) {
    Journal j;
    j.Node();
    j.Group(2, "", pod.phase == "Running" ? 1 : 0);
    j.Pod("p1", pod);
    j.Wait(absl::Seconds(31));
    Is deleted = pod;
    deleted.deleting = true;
    j.By("scheduler").Pod("p1", deleted);
    return j.checker().broken();
  };
  EXPECT_THAT(broken({.node = "n1"}), IsEmpty());
  EXPECT_THAT(broken({.node = "n1", .phase = "Running"}), ElementsAre(Rule::kReleased));
  EXPECT_THAT(broken({.node = "n1", .controlled = false}), ElementsAre(Rule::kReleased));
  EXPECT_THAT(broken({.node = "n1", .scheduler = "default-scheduler"}), ElementsAre(Rule::kStranger));
}

// Who goes for another gang may run, and is named first.
TEST(CheckersTest, WhoIsEvictedIsNamedByItsPodGroupFirst) {
  for (const bool named : {true, false}) {
    Journal j;
    j.Node();
    j.Group(1, "", 1, "Running");
    Is pod{.node = "n1", .phase = "Running"};
    j.Pod("p1", pod);
    pod.evicted = true;
    j.By("scheduler").Pod("p1", pod);
    if (named)
      j.Group(1, "", 1, "Running",
              R"("conditions":[{"type":"GangReleased","status":"True","reason":"Preempted",)"
              R"("message":"evicted 1 of 1 task for default/h: why [p1/pods-p1-uid]"}])");
    pod.deleting = true;
    j.Pod("p1", pod);
    EXPECT_EQ(j.checker().broken().contains(Rule::kReleased), !named);
  }
}

TEST(CheckersTest, ACommandThatStaysIsToldToo) {
  Journal j;
  j.Job("Running");
  j.Command("RestartJob");
  j.Job("Restarting");
  j.Wait(absl::Minutes(5));
  EXPECT_THAT(BrokenBy(j), ElementsAre(Rule::kCommand));
}

// Also while it is there yet.
TEST(CheckersTest, ACommandHasItsEffectInTime) {
  for (const bool late : {false, true}) {
    Journal j;
    j.Job("Running");
    j.Command("RestartJob");
    j.Wait(absl::Seconds(late ? 11 : 9));
    j.Job("Restarting");
    j.Remove(api::kCommands, "do");
    EXPECT_EQ(j.checker().broken().contains(Rule::kCommand), late);
  }
}

TEST(CheckersTest, WhatNobodyOwnsIsALeftover) {
  Journal j;
  j.By("controllers").Put(api::kServices, "s", "", "");
  j.Wait(absl::Minutes(5));
  EXPECT_THAT(BrokenBy(j), ElementsAre(Rule::kLeftovers));
}

TEST(CheckersTest, APodKeepsAwayFromWhatIsThere) {
  Journal j;
  j.Zones();
  j.Pod("p1", {.node = "n1", .labels = kY});
  j.Pod("p2", {.node = "n1", .spec = Affinity("podAntiAffinity", "y")});
  EXPECT_THAT(j.checker().broken(), ElementsAre(Rule::kAntiAffinity));
}

// Of what changed a moment before nobody can know, nor of what left meanwhile; and the bindings of one decision arrive
// one after the other.
TEST(CheckersTest, PlacesAreJudgedByWhatCouldBeKnown) {
  const auto broken = [](const std::function<void(Journal&)>& write) {
    Journal j;
    j.Zones();
    write(j);
    j.Wait(absl::Minutes(5));
    return BrokenBy(j);
  };
  const Is spread{.node = "n1", .spec = Spread(1), .labels = kX};
  EXPECT_THAT(broken([&](Journal& j) {
                for (const char* name : {"p1", "p2"}) j.Pod(name, spread);
                j.Wait(absl::Seconds(1));
                Is elsewhere = spread;
                elsewhere.node = "n2";
                j.Pod("p3", elsewhere);
              }),
              IsEmpty());
  EXPECT_THAT(broken([&](Journal& j) {
                j.Pod("p0", {.node = "n2", .labels = kX});
                for (const char* name : {"p1", "p2"}) j.Pod(name, spread);
                j.Wait(absl::Seconds(1));
                j.Remove(api::kPods, "p0");
              }),
              IsEmpty());
  EXPECT_THAT(broken([&](Journal& j) {
                j.HyperNode("rack-1", 1, R"({"type":"Node","selector":{"exactMatch":{"name":"n2"}}})");
                j.Group(1, R"(,"networkTopology":{"mode":"hard","highestTierAllowed":1})");
                j.Pod("p1", {.node = "n1"});
              }),
              IsEmpty());
  EXPECT_THAT(broken([&](Journal& j) {
                j.HyperNode("rack-1", 1, R"({"type":"Node","selector":{"exactMatch":{"name":"n2"}}})");
                j.Group(1, R"(,"networkTopology":{"mode":"hard","highestTierAllowed":1})");
                j.Wait(absl::Seconds(6));
                j.Pod("p1", {.node = "n1"});
              }),
              ElementsAre(Rule::kTopology));
}

}  // namespace
}  // namespace gangway::testutil
