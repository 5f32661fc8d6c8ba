// What pods, the Job and its PodGroup say of a PaddleJob (docs/paddlejob-lifecycle.md): the rules alone;
// phase_rows_test.cc has the rows of tests/spec/paddle.rows.
#include "translator/lifecycle/judge.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::PodFailure;
using ::testing::ElementsAre;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

Job JobIn(const std::string& phase) {
  Job job;
  job.metadata.name = "wd";
  job.metadata.ns = "ns";
  job.metadata.uid = "j";
  job.status.state.phase = phase;
  api::volcano::TaskSpec& task = job.spec.tasks.emplace_back();
  task.name = "worker";
  task.replicas = 2;
  return job;
}
PaddlePod Pod(int index, PodStage stage = PodStage::kRunning, const std::string& task = "worker") {
  PaddlePod pod;
  pod.uid = absl::StrCat("u", index);
  pod.owner_uid = "j";
  pod.task = task;
  pod.index = index;
  pod.stage = stage;
  return pod;
}
PaddlePod Failed(int index, PodFailure failure, PodStage stage = PodStage::kFailed) {
  PaddlePod pod = Pod(index, stage);
  pod.failure = std::make_shared<const PodFailure>(std::move(failure));
  return pod;
}
PodFailure Exit(int code, absl::Time at, const std::string& reason = "Error", const std::string& message = "") {
  return {"c", false, code, reason, message, at};
}

std::string Message(const PodTable& pods, Phase phase, const Told& scheduled = {}, const Job& job = JobIn("Running")) {
  PaddleJobView seen;
  seen.pods = &pods;
  return MessageOf(seen, job, phase, scheduled);
}

TEST(JudgeTest, PhasesOfTheJob) {
  const auto are = [](auto rule) {
    std::vector<std::string> out;
    for (const char* const phase : {"", "Pending", "Running", "Restarting", "Completing", "Completed", "Failed",
                                    "Terminating", "Terminated", "Aborting", "Aborted", "odd"}) {
      if (rule(JobIn(phase))) out.emplace_back(phase);
    }
    return out;
  };
  EXPECT_THAT(are(IsActive), ElementsAre("", "Pending", "Running", "Restarting"));
  EXPECT_THAT(are(IsFinal), ElementsAre("Completed", "Failed", "Terminated"));
  EXPECT_THAT(are(IsAborted), ElementsAre("Aborting", "Aborted"));
}

TEST(JudgeTest, TheLastRunIsTheOneAfterWhichNoneIsLeft) {
  Job job = JobIn("Running");
  job.spec.max_retry = 3;
  for (const auto& [retries, last] :
       {std::pair(0, false), std::pair(1, false), std::pair(2, true), std::pair(3, true)}) {
    job.status.retry_count = retries;
    EXPECT_EQ(IsLastRun(job), last) << retries;
  }
}

TEST(JudgeTest, ModesAreThoseOfWhatRuns) {
  const auto mode = [](int servers, int workers, bool elastic) {
    Job job = JobIn("Running");
    job.spec.tasks[0].replicas = workers;
    api::volcano::TaskSpec& task = job.spec.tasks.emplace_back();
    task.name = "ps";
    task.replicas = servers;
    return ModeOf(job, elastic);
  };
  EXPECT_EQ(mode(0, 1, false), "Single");
  EXPECT_EQ(mode(0, 2, false), "Collective");
  EXPECT_EQ(mode(0, 1, true), "Collective");
  EXPECT_EQ(mode(1, 1, false), "PS");
}

TEST(JudgeTest, HasBegunWithItsFirstProgramOrItsFirstRestart) {
  PodTable pods{{"wd-worker-0", Pod(0)}};
  Job job = JobIn("Pending");
  EXPECT_FALSE(HasBegun(job, &pods));
  EXPECT_FALSE(HasBegun(job, nullptr));
  job.status.retry_count = 1;
  EXPECT_TRUE(HasBegun(job, nullptr));
  job.status.retry_count = 0;
  pods["wd-worker-0"].begun = true;
  EXPECT_TRUE(HasBegun(job, &pods));
  pods["wd-worker-0"].owner_uid = "another";
  EXPECT_FALSE(HasBegun(job, &pods));
}

TEST(JudgeTest, ADeadlineCountsFromTheStart) {
  Wanted wanted;
  Progress progress;
  progress.start = {kNow};
  EXPECT_EQ(DeadlineOf(wanted, progress), std::nullopt);
  wanted.deadline_seconds = 60;
  EXPECT_EQ(DeadlineOf(wanted, progress), kNow + absl::Seconds(60));
  progress.start = {};
  EXPECT_EQ(DeadlineOf(wanted, progress), std::nullopt) << "it has not started";
  Job job = JobIn("Terminating");
  job.status.state.last_transition_time = {kNow};
  EXPECT_TRUE(EndedByDeadline(job, kNow));
  EXPECT_FALSE(EndedByDeadline(job, kNow + absl::Seconds(1))) << "it ended before";
  EXPECT_FALSE(EndedByDeadline(job, std::nullopt));
  job.status.state.phase = "Terminated";
  EXPECT_TRUE(EndedByDeadline(job, kNow));
  job.status.state.phase = "Failed";
  EXPECT_FALSE(EndedByDeadline(job, kNow));
}

TEST(JudgeTest, AnotherControllerIsAtWorkWhereItHasPodsOrAGroupOfThisJob) {
  api::ObjectMeta metadata;
  metadata.uid = "u";
  Wanted wanted;
  wanted.metadata = &metadata;
  PodTable pods{{"wd-worker-0", Pod(0)}};
  PaddleJobView seen;
  EXPECT_FALSE(OperatorAtWork(seen, wanted));
  seen.pods = &pods;
  const auto with_pod = [&](bool of_operator, const std::string& owner) {
    pods["wd-worker-0"].of_operator = of_operator;
    pods["wd-worker-0"].owner_uid = owner;
    return OperatorAtWork(seen, wanted);
  };
  EXPECT_TRUE(with_pod(true, "u"));
  EXPECT_FALSE(with_pod(true, "of an earlier job of this name"));
  EXPECT_FALSE(with_pod(false, "u"));
  api::volcano::PodGroup group;
  seen.same_named_group = &group;
  EXPECT_FALSE(OperatorAtWork(seen, wanted)) << "written by hand";
  group.metadata.owner_references = {{"v1", "PaddleJob", "wd", "of an earlier job of this name", true, true}};
  EXPECT_FALSE(OperatorAtWork(seen, wanted));
  group.metadata.owner_references[0].uid = "u";
  EXPECT_TRUE(OperatorAtWork(seen, wanted));
}

TEST(JudgeTest, PodsStandInTheOrderOfTasksAndIndexes) {
  PodTable pods;
  for (const int i : {0, 2, 10}) pods[absl::StrCat("wd-worker-", i)] = Pod(i);
  pods["wd-ps-0"] = Pod(0, PodStage::kRunning, "ps");
  pods["a-of-the-operator"] = Pod(0);
  pods["a-of-the-operator"].of_operator = true;
  pods["b-of-another"] = Pod(0);
  pods["b-of-another"].owner_uid = "another";
  std::vector<std::string> names;
  for (const NamedPod& of : PodsOf(JobIn("Running"), &pods)) names.push_back(*of.name);
  EXPECT_THAT(names, ElementsAre("wd-ps-0", "wd-worker-0", "wd-worker-2", "wd-worker-10"));
}

TEST(JudgeTest, EachStageHasItsCounter) {
  Wanted wanted;
  wanted.roles = {{"worker", "Worker", 5}, {"heter", "heter", -3}};
  PodTable pods;
  const PodStage stages[] = {PodStage::kPending, PodStage::kStarting,  PodStage::kRunning,
                             PodStage::kFailed,  PodStage::kSucceeded, PodStage::kUnknown};
  int n = 0;
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k <= i; ++k, ++n) pods[absl::StrCat("wd-worker-", n)] = Pod(n, stages[i]);
  }
  pods["wd-odd-0"] = Pod(0, PodStage::kRunning, "odd");
  const Job job = JobIn("Running");
  const std::vector<RoleProgress> roles = CountPods(wanted, &job, &pods);
  ASSERT_EQ(roles.size(), 2u);
  const RoleProgress& worker = roles[0];
  EXPECT_EQ(
      absl::StrJoin({worker.pending, worker.starting, worker.running, worker.failed, worker.succeeded, worker.unknown},
                    " "),
      "1 2 3 4 5 6");
  EXPECT_EQ(worker.replicas, 2) << "of what runs, the Job says how many";
  EXPECT_EQ(roles[1].replicas, 0);
  EXPECT_EQ(worker.refs[0].name, "wd-worker-0");
  EXPECT_EQ(worker.refs[0].ns, "ns");
  EXPECT_EQ(CountPods(wanted, nullptr, &pods)[0].replicas, 5);
  EXPECT_EQ(CountPods(wanted, nullptr, &pods)[0].pods(), 0);
}

TEST(JudgeTest, AllRunWhenNoneIsMissing) {
  const auto role = [](int replicas, int running) {
    RoleProgress out;
    out.replicas = replicas;
    out.running = running;
    return out;
  };
  EXPECT_TRUE(AllRun({role(2, 2), role(1, 1)}));
  EXPECT_TRUE(AllRun({role(2, 2), role(0, 0)}));
  EXPECT_FALSE(AllRun({role(2, 2), role(2, 1)}));
  EXPECT_FALSE(AllRun({role(0, 0)}));
  EXPECT_FALSE(AllRun({}));
}

// A node that does not answer says nothing: the phase is what it was, as far as the job was on its way.
TEST(JudgeTest, ALostNodeIsNoStepBack) {
  RoleProgress role;
  role.replicas = 2;
  role.running = 1;
  role.unknown = 1;
  for (const Phase stored : {Phase::kPending, Phase::kStarting, Phase::kRunning})
    EXPECT_EQ(PhaseOf(JobIn("Running"), {role}, false, true, stored), stored) << PhaseName(stored);
  for (const Phase stored : {Phase::kNone, Phase::kRestarting, Phase::kAborted})
    EXPECT_EQ(PhaseOf(JobIn("Running"), {role}, false, true, stored), Phase::kRunning) << PhaseName(stored);
}

TEST(JudgeTest, AJobOfWhichNothingHasBegunIsPending) {
  for (const Phase stored : {Phase::kNone, Phase::kPending, Phase::kStarting, Phase::kRunning}) {
    EXPECT_EQ(PhaseOf(JobIn("Running"), {RoleProgress()}, false, true, stored), Phase::kPending) << PhaseName(stored);
  }
}

// The last rows of the table: what the pods of a Job that is on its way say.
TEST(JudgeTest, PhasesFollowFromPodsAndFromThePhaseUntilNow) {
  const auto phase = [](const std::string& of_job, Phase stored, int pending, int running, int succeeded, int failed,
                        int unknown = 0) {
    RoleProgress role;
    role.replicas = 3;
    role.pending = pending;
    role.running = running;
    role.succeeded = succeeded;
    role.failed = failed;
    role.unknown = unknown;
    return PhaseOf(JobIn(of_job), {role}, false, true, stored);
  };
  EXPECT_EQ(phase("Running", Phase::kPending, 0, 3, 0, 0), Phase::kRunning);
  EXPECT_EQ(phase("Running", Phase::kPending, 0, 0, 3, 0), Phase::kRunning)
      << "all have succeeded, and the Job says when it is over";
  EXPECT_EQ(phase("Running", Phase::kPending, 0, 0, 0, 3), Phase::kRunning);
  EXPECT_EQ(phase("Running", Phase::kNone, 0, 0, 0, 0, 3), Phase::kRunning) << "they have begun, wherever they are";
  EXPECT_EQ(phase("Running", Phase::kRunning, 1, 2, 0, 0), Phase::kPending);
  EXPECT_EQ(phase("Running", Phase::kPending, 1, 2, 0, 0), Phase::kPending);
  EXPECT_EQ(phase("Pending", Phase::kPending, 0, 3, 0, 0), Phase::kPending) << "the Job has not counted them yet";
  EXPECT_EQ(phase("Pending", Phase::kRunning, 0, 3, 0, 0), Phase::kRunning) << "which is no step back";
  EXPECT_EQ(phase("Running", Phase::kStarting, 1, 2, 0, 0), Phase::kStarting);
  EXPECT_EQ(phase("Pending", Phase::kStarting, 0, 3, 0, 0), Phase::kStarting);
  EXPECT_EQ(phase("Running", Phase::kStarting, 0, 3, 0, 0), Phase::kRunning);
}

TEST(JudgeTest, AnElasticJobScalesWhileItHasMoreOrFewerThanItWants) {
  const auto phase = [](int running, int succeeded, int failed) {
    RoleProgress role;
    role.replicas = 2;
    role.running = running;
    role.succeeded = succeeded;
    role.failed = failed;
    return PhaseOf(JobIn("Running"), {role}, true, true, Phase::kRunning);
  };
  EXPECT_EQ(phase(2, 0, 0), Phase::kRunning);
  EXPECT_EQ(phase(1, 1, 0), Phase::kRunning) << "one that has succeeded is not missed";
  EXPECT_EQ(phase(1, 0, 0), Phase::kScaling);
  EXPECT_EQ(phase(3, 0, 0), Phase::kScaling);
  EXPECT_EQ(phase(2, 0, 1), Phase::kScaling) << "one that goes is still there";
}

TEST(JudgeTest, WhatHasEndedStaysCounted) {
  const auto role = [](const std::string& name, int succeeded, int failed) {
    RoleProgress out;
    out.role = name;
    out.succeeded = succeeded;
    out.failed = failed;
    return out;
  };
  std::vector<RoleProgress> roles{role("ps", 1, 0), role("worker", 0, 2)};
  KeepEnded({role("gone", 9, 9), role("worker", 3, 1)}, roles);
  EXPECT_EQ(roles[0].succeeded, 1);
  EXPECT_EQ(roles[1].succeeded, 3);
  EXPECT_EQ(roles[1].failed, 2);
}

TEST(JudgeTest, TheFirstFailureIsTold) {
  PodTable pods{{"wd-worker-0", Failed(0, Exit(1, kNow + absl::Seconds(2)))},
                {"wd-worker-1", Failed(1, Exit(137, kNow, "OOMKilled", "a\nb"))},
                {"wd-worker-2", Pod(2)}};
  for (const Phase phase : {Phase::kFailed, Phase::kRestarting, Phase::kRunning, Phase::kPending})
    EXPECT_EQ(Message(pods, phase), "wd-worker-1 exit 137 (OOMKilled): b") << PhaseName(phase);
  for (const Phase phase : {Phase::kCompleted, Phase::kCompleting})
    EXPECT_EQ(Message(pods, phase), "") << PhaseName(phase);
  pods["wd-worker-0"] = Failed(0, Exit(3, kNow));
  EXPECT_EQ(Message(pods, Phase::kFailed), "wd-worker-0 exit 3") << "of two at one time that with the lower index";
  pods["wd-worker-0"] = Failed(0, {"", false, 0, "Evicted", "the node was low on memory", kNow - absl::Seconds(1)});
  EXPECT_EQ(Message(pods, Phase::kFailed), "wd-worker-0 Evicted: the node was low on memory");
}

TEST(JudgeTest, OfAJobThatFailedAPodThatRunsAgainTellsWhenNoOtherDoes) {
  PodTable pods{{"wd-worker-0", Failed(0, Exit(1, kNow), PodStage::kRunning)}};
  EXPECT_EQ(Message(pods, Phase::kFailed), "wd-worker-0 exit 1");
  EXPECT_EQ(Message(pods, Phase::kRunning), "") << "it runs again";
  pods["wd-worker-1"] = Failed(1, Exit(2, kNow + absl::Seconds(1)));
  EXPECT_EQ(Message(pods, Phase::kFailed), "wd-worker-1 exit 2") << "one that has ended comes first";
  Job job = JobIn("Failed");
  job.status.state.message = "of the Job";
  EXPECT_EQ(Message({}, Phase::kFailed, {}, job), "of the Job");
  EXPECT_EQ(Message({}, Phase::kRestarting, {}, job), "of the Job");
  EXPECT_EQ(Message({}, Phase::kRunning, {}, job), "");
}

TEST(JudgeTest, ANodeThatIsLostComesBeforeTheGangAndTheGangBeforeContainers) {
  const Told waits{"False", "Unschedulable", "no room"};
  PodTable pods{{"wd-worker-0", Pod(0)}, {"wd-worker-1", Pod(1, PodStage::kPending)}};
  pods["wd-worker-1"].waiting = "ImagePullBackOff";
  EXPECT_EQ(Message(pods, Phase::kPending, waits), "no room");
  EXPECT_EQ(Message(pods, Phase::kRunning, waits), "wd-worker-1 ImagePullBackOff") << "what runs has its room";
  EXPECT_EQ(Message(pods, Phase::kPending, {"True", "Scheduled", "placed"}), "wd-worker-1 ImagePullBackOff");
  pods["wd-worker-1"].deleting = true;
  EXPECT_EQ(Message(pods, Phase::kRunning), "") << "one that goes waits for nothing";
  pods["wd-worker-0"].stage = PodStage::kUnknown;
  EXPECT_EQ(Message(pods, Phase::kPending, waits), "wd-worker-0: node lost");
}

TEST(JudgeTest, RestartsInPlaceAreNumbered) {
  PodTable pods{{"wd-worker-0", Failed(0, Exit(1, kNow), PodStage::kStarting)}};
  pods["wd-worker-0"].restarts = 1;
  EXPECT_EQ(Message(pods, Phase::kStarting), "wd-worker-0 exit 1 (restarted 1 time)");
  pods["wd-worker-0"].restarts = 2;
  EXPECT_EQ(Message(pods, Phase::kStarting), "wd-worker-0 exit 1 (restarted 2 times)");
  pods["wd-worker-0"].waiting = "CrashLoopBackOff";
  EXPECT_EQ(Message(pods, Phase::kStarting), "wd-worker-0 CrashLoopBackOff (restarted 2 times)");
  pods["wd-worker-0"].restarts = 1;
  EXPECT_EQ(Message(pods, Phase::kStarting), "wd-worker-0 CrashLoopBackOff (restarted 1 time)");
  pods["wd-worker-0"].restarts = 0;
  EXPECT_EQ(Message(pods, Phase::kStarting), "wd-worker-0 CrashLoopBackOff");
}

// --- Scheduled

std::string Scheduled(const PaddleJobView& seen, const Job& job) {
  const Told told = ScheduledOf(seen, job);
  return told.set() ? absl::StrCat(told.status, " ", told.reason, ": ", told.message) : "";
}
api::volcano::PodGroupCondition GroupCondition(const std::string& type, absl::Time at, const std::string& message = "",
                                               const std::string& reason = "", const std::string& status = "True") {
  api::volcano::PodGroupCondition out;
  out.type = type;
  out.status = status;
  out.reason = reason;
  out.message = message;
  out.last_transition_time = {at};
  return out;
}
constexpr char kPlaced[] = "True Scheduled: all pods that start together have a node";

TEST(JudgeTest, TheLatestConditionOfTheGroupSaysWhetherItIsPlaced) {
  api::volcano::PodGroup group;
  PaddleJobView seen;
  const Job job = JobIn("Pending");
  EXPECT_EQ(Scheduled(seen, job), "");
  seen.pod_group = &group;
  EXPECT_EQ(Scheduled(seen, job), "");
  seen.group_event = "the queue is full";
  EXPECT_EQ(Scheduled(seen, job), "False Unschedulable: the queue is full");
  group.status.conditions = {GroupCondition("Unschedulable", kNow, "no room", "NotEnoughResources"),
                             GroupCondition("Other", kNow + absl::Hours(1)),
                             GroupCondition("Scheduled", kNow + absl::Hours(1), "", "", "False")};
  EXPECT_EQ(Scheduled(seen, job), "False NotEnoughResources: no room");
  group.status.conditions.push_back(GroupCondition("Scheduled", kNow + absl::Seconds(1)));
  EXPECT_EQ(Scheduled(seen, job), kPlaced);
  group.status.conditions.push_back(GroupCondition("Unschedulable", kNow + absl::Seconds(1), "again"));
  EXPECT_EQ(Scheduled(seen, job), "False Unschedulable: again") << "of two of one second the later one";
  group.status.phase = "Running";
  EXPECT_EQ(Scheduled(seen, job), kPlaced);
}

TEST(JudgeTest, PodsThatCannotBeMadeAreToldWhenTheyAreDue) {
  api::volcano::PodGroup group;
  PodTable pods{{"wd-worker-0", Pod(0)}};
  PaddleJobView seen;
  seen.pods = &pods;
  seen.pod_group = &group;
  seen.job_warning = {"FailedCreate", "exceeded quota"};
  const std::string told = "False FailedCreate: exceeded quota";
  for (const char* const phase : {"", "Pending"}) {
    group.status.phase = phase;
    EXPECT_EQ(Scheduled(seen, JobIn("Pending")), "") << "its queue has not let it in";
  }
  group.status.phase = "Inqueue";
  for (const char* const phase : {"", "Pending", "Running"}) EXPECT_EQ(Scheduled(seen, JobIn(phase)), told) << phase;
  for (const char* const phase : {"Restarting", "Aborted", "Completed"})
    EXPECT_EQ(Scheduled(seen, JobIn(phase)), "") << phase;
  seen.pod_group = nullptr;
  EXPECT_EQ(Scheduled(seen, JobIn("Pending")), told) << "perhaps it is the group that cannot be made";
  pods["wd-worker-1"] = Pod(1);
  EXPECT_EQ(Scheduled(seen, JobIn("Pending")), "") << "they are there by now";
  pods["wd-worker-1"].owner_uid = "another";
  EXPECT_EQ(Scheduled(seen, JobIn("Pending")), told);
  seen.pods = nullptr;
  EXPECT_EQ(Scheduled(seen, JobIn("Pending")), told);
  Job one = JobIn("Pending");
  one.spec.tasks[0].replicas = 1;
  EXPECT_EQ(Scheduled(seen, one), told);
  one.spec.tasks.emplace_back().name = "ps";  // of no pods
  pods = {{"wd-worker-0", Pod(0)}};
  seen.pods = &pods;
  EXPECT_EQ(Scheduled(seen, one), "");
  seen.pods = nullptr;
  seen.job_warning.message = std::string(5000, 'x');
  EXPECT_EQ(ScheduledOf(seen, one).message.size(), 1024u) << "a status stays small";
}

TEST(JudgeTest, ItStartedWithItsFirstPodElseWhenTheJobSaysItRan) {
  PodTable pods{{"wd-worker-0", Pod(0)}, {"wd-worker-1", Pod(1)}};
  Job job = JobIn("Completed");
  EXPECT_FALSE(EarliestStart(job, &pods).set());
  job.status.conditions = {
      {"Pending", {kNow}}, {"Running", {kNow + absl::Seconds(9)}}, {"Running", {kNow + absl::Seconds(99)}}};
  EXPECT_EQ(EarliestStart(job, &pods).at, kNow + absl::Seconds(9));
  pods["wd-worker-0"].started = kNow + absl::Milliseconds(3500);
  pods["wd-worker-1"].started = kNow + absl::Milliseconds(2500);
  EXPECT_EQ(EarliestStart(job, &pods).at, kNow + absl::Seconds(2)) << "in whole seconds";
}

TEST(JudgeTest, TheJobsOwnCountsAreOfPodsThatAreGone) {
  Job job = JobIn("Completed");
  job.status.task_status_count["worker"].phase = {{"Succeeded", 3}, {"Failed", 1}, {"Running", 9}};
  RoleProgress worker, ps;
  worker.task = "worker";
  worker.role = "Worker";
  ps.task = "ps";
  const std::vector<RoleProgress> counts = CountsOf(job, {ps, worker});
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].role, "Worker");
  EXPECT_EQ(counts[0].succeeded, 3);
  EXPECT_EQ(counts[0].failed, 1);
  job.status.task_status_count["worker"].phase = {{"Running", 9}};
  EXPECT_EQ(CountsOf(job, {worker})[0].succeeded + CountsOf(job, {worker})[0].failed, 0);
}

}  // namespace
}  // namespace gangway::paddle_lifecycle
