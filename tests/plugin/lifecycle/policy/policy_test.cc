// The rows P1 to P25 of tests/spec/volcano-job.rows. P22 is ours: differences_test.cc.
#include "plugin/lifecycle/policy/policy.h"

#include <ostream>

#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::LifecyclePolicy;

LifecyclePolicy On(const std::string& event, const std::string& action, const std::string& timeout = "") {
  LifecyclePolicy policy;
  policy.event = event;
  policy.action = action;
  policy.timeout = timeout;
  return policy;
}
LifecyclePolicy OnCode(int code, const std::string& action) {
  LifecyclePolicy policy;
  policy.exit_code = code;
  policy.action = action;
  return policy;
}

// A Job with task1×6.
struct JobOf {
  Job job;
  JobOf() {
    job.metadata.uid = "uid";
    job.spec.tasks.emplace_back().name = "task1";
    job.spec.tasks[0].replicas = 6;
  }
  JobOf&& Uid(const std::string& uid) && {
    job.metadata.uid = uid;
    return std::move(*this);
  }
  JobOf&& Version(int version) && {
    job.status.version = version;
    return std::move(*this);
  }
  JobOf&& Policy(LifecyclePolicy policy) && {
    job.spec.policies.push_back(std::move(policy));
    return std::move(*this);
  }
  JobOf&& Task(LifecyclePolicy policy) && {
    job.spec.tasks[0].policies.push_back(std::move(policy));
    return std::move(*this);
  }
};

struct Request {
  Happening happening;
  Request&& Event(lifecycle::Event event) && {
    happening.event = event;
    return std::move(*this);
  }
  Request&& Action(lifecycle::Action action) && {
    happening.action = action;
    return std::move(*this);
  }
  Request&& Uid(const std::string& uid) && {
    happening.job_uid = uid;
    return std::move(*this);
  }
  Request&& Version(int version) && {
    happening.version = version;
    return std::move(*this);
  }
  Request&& Task(const std::string& task) && {
    happening.task = task;
    return std::move(*this);
  }
  Request&& Code(int code) && {
    happening.exit_code = code;
    return std::move(*this);
  }
};

LifecyclePolicy WithCode(LifecyclePolicy policy, int code) {
  policy.exit_code = code;
  return policy;
}
LifecyclePolicy Several(std::vector<std::string> events, const std::string& action) {
  LifecyclePolicy policy;
  policy.events = std::move(events);
  policy.action = action;
  return policy;
}

struct Case {
  std::string name;
  JobOf job;
  Request request;
  Action action;
  absl::Duration delay = absl::ZeroDuration();
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

class ResolveTest : public ::testing::TestWithParam<Case> {};
TEST_P(ResolveTest, GivesTheAction) {
  const Resolution resolution = Resolve(GetParam().job.job, GetParam().request.happening);
  EXPECT_EQ(NameOf(resolution.action), NameOf(GetParam().action));
  EXPECT_EQ(resolution.delay, GetParam().delay);
}

using E = Event;
using A = Action;
INSTANTIATE_TEST_SUITE_P(
    Spec, ResolveTest,
    ::testing::Values(
        Case{"P1", JobOf(), Request().Action(A::kEnqueueJob), A::kEnqueueJob},
        Case{"P2", JobOf(), Request().Event(E::kOutOfSync), A::kSyncJob},
        Case{"P3", JobOf(), Request().Event(E::kPodRunning), A::kSyncJob},
        Case{"P4", JobOf().Uid("job1-uid-10001").Task(WithCode(On("PodEvicted", "TerminateJob"), 0)),
             Request().Uid("job1-uid-10000").Event(E::kPodEvicted).Task("task1"), A::kSyncJob},
        Case{"P5", JobOf(), Request().Version(1), A::kSyncJob},
        Case{"P6", JobOf().Task(WithCode(On("CommandIssued", "SyncJob"), 0)), Request().Task("task1"), A::kSyncJob},
        Case{"P7", JobOf().Task(On("CommandIssued", "SyncJob")), Request().Task("task1").Event(E::kCommandIssued),
             A::kSyncJob},
        Case{"P8", JobOf(), Request().Task("task1").Event(E::kCommandIssued), A::kSyncJob},
        Case{"P9", JobOf().Policy(On("CommandIssued", "SyncJob")), Request().Event(E::kCommandIssued), A::kSyncJob},
        Case{"P10", JobOf().Policy(On("PodPending", "RestartPod", "10s")), Request().Event(E::kPodPending),
             A::kRestartPod, absl::Seconds(10)},
        Case{"P11", JobOf().Policy(On("PodPending", "RestartPod")), Request().Event(E::kPodPending), A::kSyncJob},
        Case{"P12", JobOf().Policy(WithCode(On("CommandIssued", "SyncJob"), 0)), Request(), A::kSyncJob},
        Case{"P13", JobOf().Policy(On("PodFailed", "AbortJob")).Task(On("PodFailed", "RestartJob")),
             Request().Task("task1").Event(E::kPodFailed), A::kRestartJob},
        Case{"P14", JobOf().Policy(OnCode(3, "RestartJob")), Request().Event(E::kPodFailed).Code(3), A::kRestartJob},
        Case{"P15", JobOf().Policy(Several({"PodEvicted", "PodFailed", "PodEvicted"}, "TerminateJob")),
             Request().Event(E::kPodEvicted), A::kTerminateJob},
        Case{"P16", JobOf().Policy(On("*", "RestartJob")), Request().Event(E::kPodEvicted), A::kRestartJob},
        Case{"P17", JobOf().Task(On("PodEvicted", "AbortJob")).Policy(On("PodFailed", "RestartJob")),
             Request().Task("task1").Event(E::kPodFailed), A::kRestartJob},
        Case{"P18", JobOf().Policy(On("PodFailed", "RestartPod")).Policy(OnCode(3, "AbortJob")),
             Request().Event(E::kPodFailed).Code(3), A::kRestartPod},
        Case{"P19", JobOf().Policy(OnCode(3, "AbortJob")).Policy(On("PodFailed", "RestartPod")),
             Request().Event(E::kPodFailed).Code(3), A::kAbortJob},
        Case{"P20", JobOf().Policy(On("*", "RestartJob")), Request().Event(E::kPodPending), A::kSyncJob},
        Case{"P21", JobOf().Policy(On("*", "RestartJob", "1m")), Request().Event(E::kPodPending), A::kRestartJob,
             absl::Minutes(1)},
        Case{"P23", JobOf().Version(2).Policy(On("PodFailed", "RestartJob")), Request().Event(E::kPodFailed).Version(1),
             A::kSyncJob},
        Case{"P24", JobOf().Task(On("PodPending", "RestartPod")).Policy(On("PodPending", "AbortJob", "5m")),
             Request().Task("task1").Event(E::kPodPending), A::kAbortJob, absl::Minutes(5)},
        Case{"P25", JobOf().Version(3).Uid("u1").Policy(On("*", "RestartJob")), Request().Action(A::kAbortJob),
             A::kAbortJob}),
    [](const auto& c) { return c.param.name; });

// Their action is what there would be without a policy: so no other one is taken either. Admission refuses the code 0
// (V13).
TEST(ResolveRowTest, P6P7P9P12NoPolicyAnswersACommandOrTheCode0) {
  const auto resolve = [](const JobOf& job, const Request& request) { return Resolve(job.job, request.happening); };
  for (const char* action :
       {"SyncJob", "AbortJob", "RestartJob", "RestartTask", "RestartPod", "TerminateJob", "CompleteJob", "ResumeJob"}) {
    const LifecyclePolicy on_command = On("CommandIssued", action, "10s"),
                          on_code = WithCode(On("CommandIssued", action, "10s"), 0);
    EXPECT_EQ(resolve(JobOf().Task(on_code), Request().Task("task1")), Resolution{}) << "P6 " << action;
    EXPECT_EQ(resolve(JobOf().Task(on_command), Request().Task("task1").Event(E::kCommandIssued)), Resolution{})
        << "P7 " << action;
    EXPECT_EQ(resolve(JobOf().Policy(on_command), Request().Event(E::kCommandIssued)), Resolution{}) << "P9 " << action;
    EXPECT_EQ(resolve(JobOf().Policy(on_code), Request()), Resolution{}) << "P12 " << action;
  }
}

// Whoever asks which policy acted must not be shown one that a command went past.
TEST(FindPolicyTest, WhatACommandCarriesIsNoPolicy) {
  const JobOf job = JobOf().Policy(On("PodFailed", "AbortJob"));
  EXPECT_TRUE(FindPolicy(job.job, Request().Event(E::kPodFailed).happening).has_value());
  EXPECT_FALSE(FindPolicy(job.job, Request().Event(E::kPodFailed).Action(A::kAbortJob).happening).has_value());
}

TEST(EventSetTest, NamesWhatSomePolicyAnswers) {
  const EventSet none(JobOf().job);
  EXPECT_FALSE(none.Has(E::kPodFailed));
  const EventSet code(JobOf().Policy(OnCode(3, "AbortJob")).job);
  EXPECT_TRUE(code.Has(E::kPodFailed));
  EXPECT_FALSE(code.Has(E::kPodEvicted));
  const EventSet any(JobOf().Task(On("*", "RestartJob")).job);
  EXPECT_TRUE(any.Has(E::kTaskCompleted));
  EXPECT_TRUE(any.Has(E::kUnknown));
  EXPECT_FALSE(any.Has(E::kPodPending)) << "only with a timeout";
}

}  // namespace
}  // namespace gangway::lifecycle
