// The status of a PaddleJob in both dialects (docs/paddlejob-lifecycle.md): what is written for how far a job has come,
// and what is read back.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "translator/lifecycle/progress.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::paddle::PaddleJobStatus;
using api::paddle::kubeflow::JobCondition;
using api::paddle::kubeflow::JobStatus;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const absl::Time kLater = kNow + absl::Minutes(1), kLast = kLater + absl::Minutes(1);

api::ObjectMeta Named(const std::string& name) {
  api::ObjectMeta metadata;
  metadata.name = name;
  metadata.generation = 7;
  return metadata;
}

// --- kubeflow.org

Progress In(Phase phase, const std::string& message = "") {
  Progress progress;
  progress.phase = phase;
  progress.message = message;
  progress.translated = {"True", std::string(kJobCreated), ""};
  return progress;
}
JobStatus Next(const JobStatus& was, const Progress& progress, absl::Time now) {
  return KubeflowStatusOf(was, progress, Named("kf"), now);
}

// "Running False PaddleJobRunning: PaddleJob kf has ended."
std::vector<std::string> Texts(const JobStatus& status) {
  std::vector<std::string> out;
  for (const JobCondition& one : status.conditions)
    out.push_back(
        absl::StrCat(one.type, " ", one.status, " ", one.reason, one.message.empty() ? "" : ": ", one.message));
  return out;
}
const JobCondition& Condition(const JobStatus& status, const std::string& type) {
  static const JobCondition kNone;
  for (const JobCondition& one : status.conditions) {
    if (one.type == type) return one;
  }
  return kNone;
}

constexpr char kTranslated[] = "Translated True JobCreated",
               kCreated[] = "Created True PaddleJobCreated: PaddleJob kf is created.";

TEST(KubeflowStatusTest, TheNewestConditionIsTheLast) {
  const JobStatus pending = Next({}, In(Phase::kPending), kNow);
  EXPECT_THAT(Texts(pending), ElementsAre(kTranslated, kCreated));
  const JobStatus running = Next(pending, In(Phase::kRunning), kLater);
  EXPECT_THAT(Texts(running),
              ElementsAre(kTranslated, kCreated, "Running True PaddleJobRunning: PaddleJob kf is running."));
  const JobStatus restarting = Next(running, In(Phase::kRestarting, "kf-worker-1 exit 143"), kLater);
  EXPECT_THAT(Texts(restarting),
              ElementsAre(kTranslated, kCreated,
                          "Restarting True PaddleJobRestarting: PaddleJob kf is restarting: kf-worker-1 exit 143"));
  EXPECT_EQ(Texts(Next(restarting, In(Phase::kRunning), kLater)), Texts(running));
  EXPECT_THAT(Texts(Next(running, In(Phase::kCompleted), kLast)),
              ElementsAre(kTranslated, kCreated, "Running False PaddleJobRunning: PaddleJob kf has ended.",
                          "Succeeded True PaddleJobSucceeded: PaddleJob kf is successfully completed."));
  EXPECT_THAT(Texts(Next(running, In(Phase::kFailed, "kf-worker-1 exit 1"), kLast)),
              ElementsAre(kTranslated, kCreated, "Running False PaddleJobRunning: PaddleJob kf has ended.",
                          "Failed True PaddleJobFailed: PaddleJob kf has failed: kf-worker-1 exit 1"));
}

TEST(KubeflowStatusTest, AReasonStaysWhenNothingElseIsKnown) {
  const JobStatus failed = Next({}, In(Phase::kFailed, "kf-worker-1 exit 1"), kNow);
  EXPECT_EQ(Texts(Next(failed, In(Phase::kFailed), kLater)), Texts(failed));
  EXPECT_EQ(Condition(Next(failed, In(Phase::kFailed, "other"), kLater), "Failed").message,
            "PaddleJob kf has failed: other");
  EXPECT_EQ(Condition(Next({}, In(Phase::kFailed), kNow), "Failed").message, "PaddleJob kf has failed.");
  EXPECT_EQ(Condition(Next(Next({}, In(Phase::kRestarting, "why"), kNow), In(Phase::kFailed), kNow), "Failed").message,
            "PaddleJob kf has failed.")
      << "not why it restarted";
}

TEST(KubeflowStatusTest, OneThatCannotBeTranslatedHasFailedUntilItIsCorrected) {
  Progress invalid = In(Phase::kFailed, "E-EMPTY spec");
  invalid.translated = {"False", std::string(kInvalid), "E-EMPTY spec"};
  const JobStatus failed = Next({}, invalid, kNow);
  EXPECT_THAT(Texts(failed),
              ElementsAre("Translated False Invalid: E-EMPTY spec", kCreated,
                          "Failed True PaddleJobFailedValidation: PaddleJob kf has failed: E-EMPTY spec"));
  EXPECT_THAT(Texts(Next(failed, In(Phase::kPending), kLater)), ElementsAre(kTranslated, kCreated));
}

TEST(KubeflowStatusTest, SuspensionIsAsTheTrainingOperatorSaysIt) {
  const JobStatus running = Next({}, In(Phase::kRunning), kNow);
  Progress suspended = In(Phase::kAborted);
  suspended.suspended = true;
  const JobStatus rests = Next(running, suspended, kLater);
  EXPECT_THAT(Texts(rests),
              ElementsAre(kTranslated, kCreated, "Running False PaddleJobSuspended: PaddleJob kf is suspended.",
                          "Suspended True PaddleJobSuspended: PaddleJob kf is suspended."));
  EXPECT_TRUE(ReadKubeflowStatus(rests).suspended);
  const JobStatus resumed = Next(rests, In(Phase::kRunning), kLast);
  EXPECT_THAT(Texts(resumed),
              ElementsAre(kTranslated, kCreated, "Suspended False PaddleJobResumed: PaddleJob kf is resumed.",
                          "Running True PaddleJobRunning: PaddleJob kf is running."));
  EXPECT_FALSE(ReadKubeflowStatus(resumed).suspended);
}

TEST(KubeflowStatusTest, OneWhoseJobWasAbortedByHandIsNotTakenForSuspended) {
  const JobStatus aborted = Next(Next({}, In(Phase::kRunning), kNow), In(Phase::kAborted), kLater);
  EXPECT_THAT(Texts(aborted),
              ElementsAre(kTranslated, kCreated, "Running False JobAborted: its Job was aborted",
                          "Suspended True JobAborted: its Job was aborted; the command ResumeJob lets it go on"));
  EXPECT_FALSE(ReadKubeflowStatus(aborted).suspended);
  EXPECT_EQ(ReadKubeflowStatus(aborted).phase, Phase::kAborted);
}

TEST(KubeflowStatusTest, TimesSayWhenTheStatusChangedAndWhenItWasWritten) {
  const absl::Time between = kNow + absl::Milliseconds(900);
  JobStatus status = Next({}, In(Phase::kRunning), between);
  const auto times = [&] {
    return std::pair(Condition(status, "Running").last_transition_time.at,
                     Condition(status, "Running").last_update_time.at);
  };
  EXPECT_EQ(times(), std::pair(kNow, kNow)) << "in whole seconds";
  status = Next(status, In(Phase::kRunning), kLater);
  EXPECT_EQ(times(), std::pair(kNow, kNow)) << "nothing was written";
  for (JobCondition& one : status.conditions) {
    if (one.type == "Running") one.message = "other words, of an earlier release";
  }
  status = Next(status, In(Phase::kRunning), kLater);
  EXPECT_EQ(times(), std::pair(kNow, kLater));
  status = Next(status, In(Phase::kCompleted), kLast);
  EXPECT_EQ(times(), std::pair(kLast, kLast));
}

TEST(KubeflowStatusTest, OurConditionsStandInFrontAndGoWhenThereIsNothingToSay) {
  Progress waits = In(Phase::kPending);
  waits.scheduled = {"False", "Unschedulable", "no room"};
  const JobStatus waiting = Next(Next({}, In(Phase::kPending), kNow), waits, kLater);
  EXPECT_THAT(Texts(waiting), ElementsAre(kTranslated, "Scheduled False Unschedulable: no room", kCreated));
  EXPECT_EQ(Condition(waiting, "Translated").last_update_time.at, kNow);
  EXPECT_EQ(Condition(waiting, "Scheduled").last_transition_time.at, kLater);
  EXPECT_EQ(ReadKubeflowStatus(waiting).scheduled, waits.scheduled);
  waits.scheduled = {"False", "Unschedulable", "less room"};
  const JobStatus still = Next(waiting, waits, kLast);
  EXPECT_EQ(Condition(still, "Scheduled").last_transition_time.at, kLater);
  EXPECT_EQ(Condition(still, "Scheduled").last_update_time.at, kLast);
  EXPECT_THAT(Texts(Next(still, In(Phase::kRunning), kLast)),
              ElementsAre(kTranslated, kCreated, "Running True PaddleJobRunning: PaddleJob kf is running."));
  Progress nothing = In(Phase::kPending);
  nothing.translated = {};
  EXPECT_THAT(Texts(Next(waiting, nothing, kLast)), ElementsAre(kCreated));
}

TEST(KubeflowStatusTest, RestartsStandInTheTextOfTranslatedAndAreReadBack) {
  for (const char* const said : {"", "x", "W-GRACE: a [b]", "[restarts 3]"}) {
    Progress progress = In(Phase::kRunning);
    progress.translated.message = said;
    for (const int restarts : {1, 12}) {
      progress.restarts = restarts;
      const Progress read = ReadKubeflowStatus(Next({}, progress, kNow));
      EXPECT_EQ(read.restarts, restarts) << said;
      EXPECT_EQ(read.translated, progress.translated) << said;
    }
  }
  JobStatus odd = Next({}, In(Phase::kRunning), kNow);
  for (const char* const text : {"[restarts x]", "[restarts 1", "restarts 1]", "[restarts 1] and more"}) {
    odd.conditions.front().message = text;
    EXPECT_EQ(ReadKubeflowStatus(odd).restarts, 0) << text;
    EXPECT_EQ(ReadKubeflowStatus(odd).translated.message, text);
  }
}

TEST(KubeflowStatusTest, PhasesAreReadFromTheConditions) {
  for (const auto& [phase, read] : std::vector<std::pair<Phase, Phase>>{{Phase::kPending, Phase::kPending},
                                                                        {Phase::kStarting, Phase::kPending},
                                                                        {Phase::kRunning, Phase::kRunning},
                                                                        {Phase::kRestarting, Phase::kRestarting},
                                                                        {Phase::kCompleted, Phase::kCompleted},
                                                                        {Phase::kFailed, Phase::kFailed},
                                                                        {Phase::kAborted, Phase::kAborted}}) {
    EXPECT_EQ(ReadKubeflowStatus(Next({}, In(phase), kNow)).phase, read) << PhaseName(phase);
  }
  EXPECT_EQ(ReadKubeflowStatus({}).phase, Phase::kNone);
}

TEST(KubeflowStatusTest, RolesAreCounted) {
  Progress progress = In(Phase::kRunning);
  progress.roles = {{"master", "Master", 1, 0, 1, 0, 0, 0, 0, {}}, {"worker", "Worker", 9, 1, 2, 3, 4, 5, 6, {}}};
  progress.start = {kNow};
  progress.completion = {kLater};
  JobStatus before;
  before.replica_statuses["Gone"].active = 1;
  const JobStatus status = Next(before, progress, kLast);
  ASSERT_EQ(status.replica_statuses.size(), 2u);
  EXPECT_EQ(status.replica_statuses.at("Master").active, 1) << "what starts is active";
  const auto& worker = status.replica_statuses.at("Worker");
  EXPECT_EQ(worker.active, 5);
  EXPECT_EQ(worker.failed, 4);
  EXPECT_EQ(worker.succeeded, 5);
  EXPECT_EQ(worker.selector, "volcano.sh/job-name=kf,volcano.sh/task-spec=worker");
  const Progress read = ReadKubeflowStatus(status);
  ASSERT_EQ(read.roles.size(), 2u);
  EXPECT_EQ(read.roles[1].role, "Worker");
  EXPECT_EQ(read.roles[1].running, 5);
  EXPECT_EQ(read.roles[1].failed, 4);
  EXPECT_EQ(read.roles[1].succeeded, 5);
  EXPECT_EQ(read.start.at, kNow);
  EXPECT_EQ(read.completion.at, kLater);
}

// --- batch.paddlepaddle.org

Progress Whole() {
  Progress progress = In(Phase::kScaling, "scales");
  progress.mode = "PS";
  progress.queue = "ads";
  progress.elastic = "DOING";
  progress.roles = {{"ps", "ps", 21, 1, 2, 3, 4, 5, 6, {{"v1", "Pod", "ns", "wd-ps-0", "u", "", ""}}},
                    {"worker", "worker", 22, 7, 8, 9, 10, 11, 12, {}},
                    {"heter", "heter", 23, 13, 14, 15, 16, 17, 18, {}}};
  progress.restarts = 2;
  progress.start = {kNow};
  progress.completion = {kLater};
  progress.generation = 7;
  progress.translated.message = "W-GRACE";
  progress.scheduled = {"False", "Unschedulable", "no room"};
  return progress;
}

TEST(PaddleStatusTest, WhatIsWrittenIsReadBack) {
  const Progress was = Whole();
  const PaddleJobStatus status = PaddleStatusOf({}, was, Named("wd"), kNow);
  EXPECT_EQ(status.ps->ready, "3/21");
  EXPECT_EQ(status.worker->ready, "9/22");
  EXPECT_EQ(status.heter->ready, "15/23");
  EXPECT_EQ(status.ps->refs.size(), 1u);
  const Progress read = ReadPaddleStatus(status);
  EXPECT_EQ(read.phase, was.phase);
  EXPECT_EQ(read.mode, was.mode);
  EXPECT_EQ(read.queue, was.queue);
  EXPECT_EQ(read.elastic, was.elastic);
  EXPECT_EQ(read.message, was.message);
  EXPECT_EQ(read.restarts, was.restarts);
  EXPECT_EQ(read.start.at, was.start.at);
  EXPECT_EQ(read.completion.at, was.completion.at);
  EXPECT_EQ(read.generation, 7);
  EXPECT_EQ(read.translated, was.translated);
  EXPECT_EQ(read.scheduled, was.scheduled);
  ASSERT_EQ(read.roles.size(), 3u);
  const auto counts = [](const RoleProgress& role) {
    return absl::StrCat(role.role, " ", role.pending, " ", role.starting, " ", role.running, " ", role.failed, " ",
                        role.succeeded, " ", role.unknown);
  };
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(counts(read.roles[i]), counts(was.roles[i]));
}

TEST(PaddleStatusTest, ARoleThatIsGoneFromTheSpecIsGoneFromTheStatus) {
  Progress progress = Whole();
  const PaddleJobStatus before = PaddleStatusOf({}, progress, Named("wd"), kNow);
  progress.roles.clear();
  const PaddleJobStatus after = PaddleStatusOf(before, progress, Named("wd"), kNow);
  EXPECT_FALSE(after.ps.has_value() || after.worker.has_value() || after.heter.has_value());
}

TEST(PaddleStatusTest, AConditionsTimeIsThatOfItsStatus) {
  Progress progress = Whole();
  PaddleJobStatus status = PaddleStatusOf({}, progress, Named("wd"), kNow + absl::Milliseconds(900));
  ASSERT_EQ(status.conditions.size(), 2u);
  EXPECT_EQ(status.conditions[1].last_transition_time.at, kNow) << "in whole seconds";
  EXPECT_EQ(status.conditions[1].observed_generation, 7);
  progress.scheduled.message = "less room";
  api::ObjectMeta edited = Named("wd");
  edited.generation = 8;
  status = PaddleStatusOf(status, progress, edited, kLater);
  EXPECT_EQ(status.conditions[1].message, "less room");
  EXPECT_EQ(status.conditions[1].last_transition_time.at, kNow);
  EXPECT_EQ(status.conditions[1].observed_generation, 8);
  progress.scheduled.status = "True";
  status = PaddleStatusOf(status, progress, edited, kLast);
  EXPECT_EQ(status.conditions[1].last_transition_time.at, kLast);
  progress.scheduled = {};
  status = PaddleStatusOf(status, progress, edited, kLast);
  ASSERT_EQ(status.conditions.size(), 1u);
  EXPECT_EQ(status.conditions[0].type, "Translated");
  status.conditions[0].last_transition_time = {};  // as somebody else left it
  EXPECT_EQ(PaddleStatusOf(status, progress, edited, kLast).conditions[0].last_transition_time.at, kLast);
}

// --- changes

StatusChange Change(const Progress& from, const Progress& to, std::int64_t generation = 7) {
  api::paddle::PaddleJob job;
  job.metadata = Named("wd");
  job.status = PaddleStatusOf({}, from, job.metadata, kNow);
  job.metadata.generation = generation;
  PaddleJobView view;
  view.job = &job;
  return ChangeOfStatus(view, to, kNow);
}

TEST(StatusChangeTest, OnlyCountsAndTextsOfWaitingAreDetails) {
  EXPECT_EQ(Change(Whole(), Whole()).patch, "");
  const auto is_detail = [](auto edit) {
    Progress to = Whole();
    edit(to);
    const StatusChange change = Change(Whole(), to);
    EXPECT_NE(change.patch, "");
    return change.details_only;
  };
  EXPECT_TRUE(is_detail([](Progress& to) { to.roles[1].running = 20; }));
  EXPECT_TRUE(is_detail([](Progress& to) { to.message = "other"; }));
  EXPECT_TRUE(is_detail([](Progress& to) { to.scheduled.message = "less room"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.phase = Phase::kRunning; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.mode = "Single"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.queue = "gold"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.elastic = "DONE"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.restarts = 3; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.start = {}; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.completion = {}; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.translated.message = ""; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.scheduled.status = "True"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.scheduled.reason = "Other"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.scheduled = {}; }));
  EXPECT_FALSE(Change(Whole(), Whole(), 8).details_only) << "that an edit was seen is waited for";
  EXPECT_EQ(Change(Whole(),
                   [] {
                     Progress to = Whole();
                     to.message = "other";
                     return to;
                   }())
                .patch,
            R"({"status":{"message":"other"}})");
}

TEST(StatusChangeTest, OfKubeflowToo) {
  const auto change = [](const Progress& from, const Progress& to) {
    api::paddle::kubeflow::PaddleJob job;
    job.metadata = Named("kf");
    job.status = Next({}, from, kNow);
    PaddleJobView view;
    view.kubeflow_job = &job;
    return ChangeOfStatus(view, to, kNow);
  };
  const auto is_detail = [&](auto edit) {
    Progress to = Whole();
    edit(to);
    const StatusChange made = change(Whole(), to);
    EXPECT_NE(made.patch, "");
    return made.details_only;
  };
  EXPECT_EQ(change(Whole(), Whole()).patch, "");
  EXPECT_TRUE(is_detail([](Progress& to) { to.roles[1].running = 20; }));
  EXPECT_TRUE(is_detail([](Progress& to) { to.scheduled.message = "less room"; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.phase = Phase::kRunning; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.restarts = 3; })) << "they stand in Translated";
  EXPECT_FALSE(is_detail([](Progress& to) { to.start = {}; }));
  EXPECT_FALSE(is_detail([](Progress& to) { to.completion = {}; }));
}

TEST(PhaseTest, NamesAreReadBack) {
  for (int i = 0; i <= static_cast<int>(Phase::kTerminating); ++i) {
    const Phase phase = static_cast<Phase>(i);
    EXPECT_EQ(ParsePhase(PhaseName(phase)), phase);
  }
  EXPECT_EQ(ParsePhase("odd"), Phase::kNone);
  EXPECT_EQ(PhaseName(Phase::kScaling), "Scaling");
  EXPECT_EQ(PhaseName(Phase::kTerminating), "Terminating");
}

}  // namespace
}  // namespace gangway::paddle_lifecycle
