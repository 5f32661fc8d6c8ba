// Policies by mode and target (docs/paddlejob.md), and the rows of table F that are about them.
#include "translator/convert/policies.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::convert {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// "143→RestartJob", "PodFailed→TerminateJob after 10s"
std::string Text(const api::volcano::LifecyclePolicy& policy) {
  return absl::StrCat(policy.exit_code.has_value() ? absl::StrCat(*policy.exit_code) : policy.event, "→", policy.action,
                      policy.timeout.empty() ? "" : absl::StrCat(" after ", policy.timeout));
}

std::vector<std::string> Texts(const std::vector<api::volcano::LifecyclePolicy>& policies) {
  std::vector<std::string> out;
  for (const auto& policy : policies) out.push_back(Text(policy));
  return out;
}

std::vector<std::string> Codes(const JobPolicies& policies) {
  std::vector<std::string> out;
  for (const Finding& finding : policies.findings) out.emplace_back(EntryOf(finding.code).name);
  return out;
}

PolicyTask Servers(absl::string_view restart = "Never") { return {"ps", 2, std::string(restart), true}; }
PolicyTask Workers(absl::string_view restart = "Never", std::int32_t replicas = 2) {
  return {"worker", replicas, std::string(restart)};
}

constexpr Target kOurs = Target::kGangway;
TranslateOptions For(Target target, VolcanoVersion version = {}) {
  TranslateOptions out;
  out.target = target;
  out.volcano = version;
  return out;
}

JobPolicies Policies(const std::vector<PolicyTask>& tasks, const TranslateOptions& options,
                     const Annotations& annotations = {}) {
  return PoliciesFor(tasks, "worker", false, annotations, options);
}

TEST(PoliciesTest, F14ServersAndWorkersThatAreNotRestarted) {
  const JobPolicies all = Policies({Servers(), Workers()}, For(kOurs));
  EXPECT_THAT(Texts(all.policies), ElementsAre("PodEvicted→RestartJob"));
  EXPECT_THAT(Texts(all.tasks[0].policies),
              ElementsAre("143→RestartJob", "137→RestartJob", "15→RestartJob", "PodFailed→TerminateJob after 20s"));
  EXPECT_THAT(Texts(all.tasks[1].policies),
              ElementsAre("143→RestartJob", "137→RestartJob", "15→RestartJob", "PodFailed→TerminateJob after 10s",
                          "TaskCompleted→CompleteJob after 10s"));
  EXPECT_EQ(all.tasks[0].max_retry, 3);
  EXPECT_THAT(Codes(all), IsEmpty());
}

TEST(PoliciesTest, F15WorkersAreRestartedWhereServersAreNot) {
  const JobPolicies all = Policies({Servers("Never"), Workers("OnFailure")}, For(kOurs));
  EXPECT_THAT(Texts(all.tasks[0].policies), Contains("PodFailed→TerminateJob after 20s"));
  EXPECT_THAT(Texts(all.tasks[1].policies),
              ElementsAre("PodFailed→RestartJob", "TaskFailed→TerminateJob", "TaskCompleted→CompleteJob after 10s"));
}

TEST(PoliciesTest, F16ContainersThatAreRestartedHaveALimit) {
  const JobPolicies all = Policies({Servers(), Workers("OnFailure")}, For(kOurs));
  EXPECT_EQ(all.tasks[1].max_retry, 6);
  EXPECT_EQ(Policies({Workers("OnFailure", 2147483647)}, For(kOurs)).tasks[0].max_retry, 2147483647);
  EXPECT_EQ(Policies({Workers("OnFailure")}, For(kOurs), {.container_restarts = 5}).tasks[0].max_retry, 5);
  EXPECT_EQ(Policies({Workers("OnFailure")}, For(kOurs), {.container_restarts = 0}).tasks[0].max_retry, 1)
      << "0 would mean 3: the first restart ends it";
  const JobPolicies endless = Policies({Workers("OnFailure")}, For(kOurs), {.container_restarts = -1});
  EXPECT_THAT(Texts(endless.tasks[0].policies), ElementsAre("PodFailed→RestartJob", "TaskCompleted→CompleteJob"));
  EXPECT_EQ(endless.tasks[0].max_retry, 3) << "less than 0 is refused by admission";
}

TEST(PoliciesTest, F18NoRestarts) {
  const JobPolicies all = Policies({Servers(), Workers()}, For(kOurs), {.max_restarts = 0});
  EXPECT_EQ(all.max_retry, 1);
  EXPECT_THAT(all.findings, IsEmpty()) << "no restart, no warning of them";
}

TEST(PoliciesTest, F19ThreeRestartsUnlessSaid) {
  EXPECT_EQ(Policies({Servers(), Workers()}, For(kOurs)).max_retry, 4);
  EXPECT_EQ(Policies({Workers()}, For(kOurs), {.max_restarts = 2147483646}).max_retry, 2147483647);
}

TEST(PoliciesTest, F20VolcanoBeforeItHadDelays) {
  const JobPolicies old = Policies({Servers(), Workers()}, For(Target::kVolcano, {1, 10})),
                    now = Policies({Servers(), Workers()}, For(Target::kVolcano));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(Texts(old.tasks[i].policies), Texts(now.tasks[i].policies));
  EXPECT_THAT(Texts(old.tasks[1].policies), Not(Contains(HasSubstr("after"))));
  EXPECT_THAT(Codes(old), ElementsAre("W-GRACE"));
  EXPECT_THAT(Codes(now), IsEmpty());
  EXPECT_THAT(Codes(Policies({Servers("OnFailure"), Workers("OnFailure")}, For(Target::kVolcano, {1, 10}),
                             {.server_grace = absl::ZeroDuration()})),
              IsEmpty())
      << "nothing there would have waited";
}

TEST(PoliciesTest, F21VolcanoThatTellsNoIndex) {
  const JobPolicies old = Policies({Servers(), Workers()}, For(Target::kVolcano, {1, 8}));
  EXPECT_THAT(Codes(old), Contains("E-VOLCANO-OLD"));
  EXPECT_EQ(old.findings[0].ToString(),
            "E-VOLCANO-OLD spec: Unsupported value: \"volcano 1.8\": this Volcano does not tell pods their index (use "
            "Volcano 1.9 or later)");
  EXPECT_THAT(Codes(Policies({Workers()}, For(Target::kVolcano, {1, 8}), {.wrap_command = true})),
              Not(Contains("E-VOLCANO-OLD")));
  EXPECT_THAT(Codes(Policies({Workers()}, For(Target::kVolcano, {1, 9}))), Not(Contains("E-VOLCANO-OLD")));
  EXPECT_THAT(Codes(Policies({Workers()}, For(kOurs, {1, 8}))), Not(Contains("E-VOLCANO-OLD")))
      << "the version is that of a Volcano that is not used";
}

TEST(PoliciesTest, ForVolcanoOnlyWhatTheProgramSaysEndsTheJob) {
  const JobPolicies all = Policies({Servers(), Workers()}, For(Target::kVolcano));
  EXPECT_THAT(Texts(all.policies), ElementsAre("PodEvicted→RestartJob"));
  EXPECT_THAT(Texts(all.tasks[0].policies), ElementsAre("1→TerminateJob", "2→TerminateJob", "PodFailed→RestartJob"));
  EXPECT_THAT(Texts(all.tasks[1].policies),
              ElementsAre("1→TerminateJob", "2→TerminateJob", "PodFailed→RestartJob", "TaskCompleted→CompleteJob"));
  EXPECT_THAT(Texts(Policies({Workers("OnFailure")}, For(Target::kVolcano)).tasks[0].policies),
              ElementsAre("PodFailed→RestartJob", "TaskFailed→TerminateJob", "TaskCompleted→CompleteJob"));
}

TEST(PoliciesTest, AGraceThatVolcanoCannotGiveIsTold) {
  const JobPolicies all = Policies({Servers(), Workers()}, For(Target::kVolcano),
                                   {.server_grace = absl::Seconds(30), .server_grace_given = true});
  EXPECT_THAT(Codes(all), ElementsAre("W-GRACE"));
}

// They are so of nearly every job, and nobody has to do anything.
TEST(PoliciesTest, WhatIsSoOfEveryJobIsSaidToWhoAsks) {
  TranslateOptions asked = For(Target::kVolcano);
  asked.explain = true;
  EXPECT_THAT(Codes(Policies({Servers(), Workers()}, asked)), ElementsAre("W-RETRY", "I-RESTART"));
  EXPECT_THAT(Codes(Policies({Servers("OnFailure"), Workers("OnFailure")}, asked)), ElementsAre("I-RESTART"));
  EXPECT_THAT(Codes(Policies({Servers(), Workers()}, asked, {.max_restarts = 0})), ElementsAre("W-RETRY"));
}

TEST(PoliciesTest, WithoutServersNothingIsWaitedForAtTheEnd) {
  const JobPolicies collective = Policies({Workers()}, For(kOurs));
  EXPECT_THAT(Texts(collective.tasks[0].policies),
              ElementsAre("143→RestartJob", "137→RestartJob", "15→RestartJob", "PodFailed→TerminateJob after 10s",
                          "TaskCompleted→CompleteJob"));
}

TEST(PoliciesTest, AServersFailureIsBelievedAfterTheGrace) {
  const JobPolicies all =
      Policies({Servers(), Workers(), {"heter", 1, "Never", true}}, For(kOurs), {.server_grace = absl::Seconds(65)});
  EXPECT_THAT(Texts(all.tasks[0].policies), Contains("PodFailed→TerminateJob after 1m15s"));
  EXPECT_THAT(Texts(all.tasks[1].policies), Contains("TaskCompleted→CompleteJob after 1m5s"));
  EXPECT_THAT(Texts(all.tasks[2].policies), Contains("PodFailed→TerminateJob after 1m15s"));
  const JobPolicies at_once = Policies({Servers(), Workers()}, For(kOurs), {.server_grace = absl::ZeroDuration()});
  EXPECT_THAT(Texts(at_once.tasks[1].policies), Contains("TaskCompleted→CompleteJob"));
}

TEST(PoliciesTest, ServersAloneEndByThemselves) {
  const JobPolicies all = PoliciesFor({Servers()}, "", false, {}, For(kOurs));
  EXPECT_THAT(Texts(all.tasks[0].policies), Not(Contains(HasSubstr("TaskCompleted"))));
}

TEST(PoliciesTest, AnElasticJobIsNeverRestartedAsAWhole) {
  const auto elastic = [](const TranslateOptions& options, const Annotations& annotations = {}) {
    return PoliciesFor({Workers("OnFailure", 3)}, "worker", true, annotations, options);
  };
  for (const TranslateOptions& options : {For(kOurs), For(Target::kVolcano), For(Target::kVolcano, {1, 17})}) {
    EXPECT_THAT(elastic(options).policies, IsEmpty());
    EXPECT_THAT(Texts(elastic(options).tasks[0].policies), Not(Contains(HasSubstr("RestartJob"))));
    EXPECT_THAT(elastic(options).findings, IsEmpty());
  }
  EXPECT_THAT(Texts(elastic(For(Target::kVolcano)).tasks[0].policies), ElementsAre("TaskCompleted→CompleteJob"))
      << "there a restarted pod hangs the job";
  EXPECT_THAT(Texts(elastic(For(Target::kVolcano, {1, 17})).tasks[0].policies),
              ElementsAre("PodFailed→RestartPod", "TaskCompleted→CompleteJob"));
  EXPECT_THAT(Texts(elastic(For(kOurs)).tasks[0].policies),
              ElementsAre("PodFailed→RestartPod", "TaskCompleted→CompleteJob"));
  TranslateOptions kept = For(kOurs);
  kept.kept = true;
  EXPECT_THAT(Texts(elastic(kept).tasks[0].policies), ElementsAre("TaskCompleted→CompleteJob"))
      << "its controller replaces failed workers";
  EXPECT_EQ(elastic(For(kOurs)).max_retry, 100);
  EXPECT_EQ(elastic(For(kOurs), {.max_restarts = 7, .max_restarts_given = true}).max_retry, 8);
  EXPECT_THAT(Codes(elastic(For(Target::kVolcano, {1, 10}))), ElementsAre("E-ELASTIC"));
}

TEST(PoliciesTest, ExitCodesOfKubeflow) {
  PolicyTask workers = Workers();
  workers.by_exit_code = true;
  EXPECT_THAT(Texts(Policies({workers}, For(kOurs)).tasks[0].policies),
              ElementsAre("130→RestartJob", "134→RestartJob", "137→RestartJob", "139→RestartJob", "143→RestartJob",
                          "PodFailed→TerminateJob after 10s", "TaskCompleted→CompleteJob"));
  EXPECT_THAT(Texts(Policies({workers}, For(Target::kVolcano)).tasks[0].policies), Contains("PodFailed→TerminateJob"));
}

TEST(PoliciesTest, ATasksOwnRestartsComeBeforeTheJobs) {
  PolicyTask workers = Workers("OnFailure");
  workers.container_restarts = 2;
  EXPECT_EQ(Policies({workers}, For(kOurs), {.container_restarts = 9}).tasks[0].max_retry, 2);
}

}  // namespace
}  // namespace gangway::convert
