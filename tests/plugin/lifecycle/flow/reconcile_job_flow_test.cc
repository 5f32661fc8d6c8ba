// JobFlows (Volcano: pkg/controllers/jobflow, row F1).
#include "plugin/lifecycle/flow/reconcile_job_flow.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::JobFlow;
using api::volcano::JobTemplate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kDiamond[] =
    R"("flows":[{"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}},{"name":"c","dependsOn":{"targets":["a"]}},
                               {"name":"d","dependsOn":{"targets":["b","c"]}}])";

class Seen {
 public:
  explicit Seen(const std::string& spec) {
    flow_ = *api::Decode<JobFlow>(
        R"({"metadata":{"name":"f","namespace":"ns","uid":"flow-uid","resourceVersion":"7"},"spec":{)" + spec + "}}");
    for (const api::volcano::Flow& step : flow_.spec.flows) {
      templates_[step.name] = *api::Decode<JobTemplate>(
          R"({"metadata":{"name":")" + step.name +
          R"(","namespace":"ns"},"spec":{"tasks":[{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
    }
  }
  JobFlow& flow() { return flow_; }
  JobTemplate& From(const std::string& name) { return templates_[name]; }
  void DropTemplate(const std::string& name) { templates_.erase(name); }
  Job& Put(const std::string& name, const std::string& phase, const std::string& owner = "flow-uid") {
    Job& job = jobs_[name];
    job.metadata.name = name;
    job.metadata.ns = "ns";
    job.metadata.uid = name + "-uid";
    job.metadata.owner_references = {{"flow.volcano.sh/v1alpha1", "JobFlow", "f", owner, true, true}};
    job.status.state.phase = phase;
    return job;
  }
  void Drop(const std::string& name) { jobs_.erase(name); }

  JobFlowView View() const {
    JobFlowView view;
    view.flow = &flow_;
    for (const auto& [name, job] : jobs_) view.jobs[name] = &job;
    for (const auto& [name, from] : templates_) view.templates[name] = &from;
    return view;
  }
  kube::Plan Reconcile() const { return ReconcileJobFlow(View()); }
  // As the API server would have it after the plan.
  kube::Plan Apply() {
    kube::Plan plan = Reconcile();
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (write.subresource == "status") flow_.status = FlowStatusOf(View());
        if (write.verb == kube::Verb::kCreate) Put(write.name, "");
        if (write.verb == kube::Verb::kDelete) Drop(write.name);
      }
    }
    return plan;
  }

 private:
  JobFlow flow_;
  std::map<std::string, JobTemplate> templates_;
  std::map<std::string, Job> jobs_;
};

std::string Written(const kube::Plan& plan) {
  std::vector<std::string> out;
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      out.push_back(absl::StrCat(write.verb == kube::Verb::kCreate   ? "+"
                                 : write.verb == kube::Verb::kDelete ? "-"
                                                                     : "~",
                                 write.subresource == "status" ? "status" : write.name));
    }
  }
  return absl::StrJoin(out, " ");
}
std::vector<std::string> Events(const kube::Plan& plan) {
  std::vector<std::string> out;
  for (const kube::EventNote& note : plan.events) out.push_back(absl::StrCat(note.reason, ": ", note.message));
  return out;
}

TEST(JobFlowTest, F1PhasesOfTheFlow) {
  struct Row {
    std::string a, b, phase;
  };
  for (const Row& row :
       {Row{"Completed", "Completed", "Succeed"}, Row{"Completed", "Failed", "Failed"},
        Row{"Running", "Terminated", "Failed"}, Row{"Completed", "Running", "Running"}, Row{"Completed", "", "Running"},
        Row{"Pending", "", "Pending"}, Row{"Running", "Pending", "Running"}, Row{"Restarting", "Pending", "Running"}}) {
    Seen seen(R"("flows":[{"name":"a"},{"name":"b"}])");
    seen.Put("f-a", row.a);
    seen.Put("f-b", row.b);
    EXPECT_EQ(FlowStatusOf(seen.View()).state.phase, row.phase) << row.a << " " << row.b;
  }
}

TEST(JobFlowTest, EachJobWhenItsTargetsAreCompleted) {
  Seen seen(kDiamond);
  EXPECT_EQ(Written(seen.Apply()), "~status +f-a");
  EXPECT_EQ(Written(seen.Apply()), "~status");
  EXPECT_EQ(Written(seen.Apply()), "") << "nothing is written when nothing changed";
  seen.Put("f-a", "Completed");
  EXPECT_EQ(Written(seen.Apply()), "~status +f-b +f-c");
  seen.Put("f-b", "Completed");
  EXPECT_EQ(Written(seen.Apply()), "~status") << "c is not";
  seen.Put("f-c", "Completed");
  EXPECT_EQ(Written(seen.Apply()), "~status +f-d");
  seen.Put("f-d", "Completed");
  EXPECT_THAT(Events(seen.Apply()), ElementsAre("Succeed: 4 of 4 jobs are Completed"));
  EXPECT_THAT(seen.flow().status.completed_jobs, ElementsAre("f-a", "f-b", "f-c", "f-d"));
  EXPECT_EQ(Written(seen.Reconcile()), "") << "its jobs stay";
}

TEST(JobFlowTest, TheJobIsTheTemplateWithDefaultsAndSaysWhereItIsFrom) {
  Seen seen(R"("flows":[{"name":"a"}])");
  const kube::Plan plan = seen.Reconcile();
  const auto job = api::Decode<Job>(plan.stages.back()[0].body);
  GW_ASSERT_OK(job);
  EXPECT_EQ(job->metadata.labels.at("volcano.sh/createdByJobTemplate"), "ns.a");
  EXPECT_EQ(job->metadata.annotations.at("volcano.sh/createdByJobFlow"), "ns.f");
  EXPECT_EQ(job->metadata.owner_references[0],
            (api::OwnerReference{"flow.volcano.sh/v1alpha1", "JobFlow", "f", "flow-uid", true, true}));
  EXPECT_EQ(job->spec.min_available, 2);
  EXPECT_EQ(job->spec.tasks[0].name, "default0");
  EXPECT_EQ(job->spec.queue, "default");
}

TEST(JobFlowTest, ANameTooLongForALabelStandsInTheAnnotation) {
  Seen seen(R"("flows":[{"name":"a"}])");
  seen.From("a").metadata.name = std::string(80, 'a');
  const auto job = FlowJobOf(seen.flow(), seen.flow().spec.flows[0], seen.From("a"));
  GW_ASSERT_OK(job);
  EXPECT_FALSE(job->metadata.labels.contains("volcano.sh/createdByJobTemplate"));
  EXPECT_TRUE(job->metadata.annotations.contains("volcano.sh/createdByJobTemplate"));
}

TEST(JobFlowTest, APatchIsMergedTasksByName) {
  Seen seen(
      R"("flows":[{"name":"a","patch":{"jobSpec":{"queue":"q","maxRetry":null,"tasks":[{"name":"w","replicas":5,"template":{"spec":{"hostNetwork":true}}},{"name":"extra","replicas":1}]}}}])");
  seen.From("a").spec = *api::Decode<api::volcano::JobSpec>(
      R"({"maxRetry":7,"priorityClassName":"high","tasks":[{"name":"w","replicas":2,"minAvailable":1,"template":{"spec":{"containers":[{"name":"c"}]}}}]})");
  const auto job = FlowJobOf(seen.flow(), seen.flow().spec.flows[0], seen.From("a"));
  GW_ASSERT_OK(job);
  EXPECT_EQ(job->spec.queue, "q");
  EXPECT_EQ(job->spec.max_retry, 3) << "null removes, and then the default counts";
  EXPECT_EQ(job->spec.priority_class_name, "high");
  ASSERT_EQ(job->spec.tasks.size(), 2u);
  EXPECT_EQ(job->spec.tasks[0].replicas, 5);
  EXPECT_EQ(job->spec.tasks[0].min_available, 1);
  EXPECT_THAT(job->spec.tasks[0].pod_template.json, HasSubstr(R"("containers":[{"name":"c"}])"));
  EXPECT_THAT(job->spec.tasks[0].pod_template.json, HasSubstr(R"("hostNetwork":true)"));
  EXPECT_EQ(job->spec.tasks[1].name, "extra");
}

TEST(JobFlowTest, APatchThatDoesNotFitIsSaidAndNothingIsMade) {
  for (const char* patch : {R"({"que":"q"})", R"({"maxRetry":"many"})", R"({"tasks":5})", R"({"tasks":{"name":"w"}})",
                            R"({"tasks":"w"})", R"([])"}) {
    Seen seen(absl::StrCat(R"("flows":[{"name":"a","patch":{"jobSpec":)", patch, "}}]"));
    const kube::Plan plan = seen.Reconcile();
    EXPECT_EQ(Written(plan), "~status");
    EXPECT_THAT(Events(plan), ::testing::Contains(HasSubstr("PatchError: flow a waits: patch.jobSpec: "))) << patch;
  }
}

TEST(JobFlowTest, APatchGivesATemplateWithoutTasksItsOwn) {
  Seen seen(
      R"("flows":[{"name":"a","patch":{"jobSpec":{"tasks":[{"replicas":2,"template":{"spec":{}}},{"name":"w","replicas":3,"template":{"spec":{}}}]}}}])");
  seen.From("a").spec.tasks.clear();
  const auto job = FlowJobOf(seen.flow(), seen.flow().spec.flows[0], seen.From("a"));
  GW_ASSERT_OK(job);
  ASSERT_EQ(job->spec.tasks.size(), 2u);
  EXPECT_EQ(job->spec.tasks[0].name, "default0");
  EXPECT_EQ(job->spec.tasks[0].replicas, 2);
  EXPECT_EQ(job->spec.tasks[1].replicas, 3);
}

TEST(JobFlowTest, AProbeIsNotCarriedOutAndThatIsSaid) {
  Seen seen(R"("flows":[{"name":"a","dependsOn":{"probe":{"tcpSocketList":[{"port":80}]}}}])");
  const kube::Plan plan = seen.Reconcile();
  EXPECT_EQ(Written(plan), "~status +f-a");
  EXPECT_THAT(Events(plan), ::testing::Contains(HasSubstr("ProbeIgnored: flow a: dependsOn.probe is not carried out")));
}

TEST(JobFlowTest, AMissingTemplateIsSaid) {
  Seen seen(R"("flows":[{"name":"a"},{"name":"b"}])");
  seen.DropTemplate("a");
  const kube::Plan plan = seen.Reconcile();
  EXPECT_EQ(Written(plan), "~status +f-b");
  EXPECT_THAT(Events(plan), ::testing::Contains("JobTemplateMissing: flow a waits: there is no JobTemplate a"));
}

// Where no webhook is asked.
TEST(JobFlowTest, WhatAdmissionWouldRefuseIsSaidAndTheRestGoesOn) {
  Seen seen(R"("flows":[{"name":"a"},{"name":"a"},{"name":"b","dependsOn":{"targets":["x"]}}])");
  const kube::Plan plan = seen.Reconcile();
  EXPECT_EQ(Written(plan), "~status +f-a");
  EXPECT_THAT(Events(plan), ::testing::IsSupersetOf({HasSubstr("InvalidFlow: spec.flows[1].name"),
                                                     HasSubstr("InvalidFlow: spec.flows[2].dependsOn.targets[0]")}));
}

TEST(JobFlowTest, AForeignJobOfThatNameIsNeitherCountedNorTouched) {
  Seen seen(R"("flows":[{"name":"a"}],"jobRetainPolicy":"delete")");
  seen.Put("f-a", "Completed", "somebody");
  const kube::Plan plan = seen.Reconcile();
  EXPECT_EQ(Written(plan), "~status");
  EXPECT_EQ(FlowStatusOf(seen.View()).state.phase, "Pending");
  EXPECT_THAT(Events(plan).back(), HasSubstr("JobExists: flow a waits: there is a job f-a"));
}

TEST(JobFlowTest, AFailedJobStopsTheFlowUntilItIsDeleted) {
  Seen seen(kDiamond);
  seen.Put("f-a", "Completed");
  seen.Put("f-b", "Failed");
  seen.Put("f-c", "Completed");
  EXPECT_THAT(Events(seen.Apply()), ElementsAre("Failed: no more jobs are made: f-b did not complete"));
  EXPECT_EQ(Written(seen.Reconcile()), "");
  seen.Drop("f-b");
  EXPECT_EQ(Written(seen.Apply()), "~status +f-b");
  EXPECT_EQ(seen.flow().status.state.phase, "Running");
}

TEST(JobFlowTest, ACompletedJobThatIsGoneStaysCompleted) {
  Seen seen(kDiamond);
  seen.Put("f-a", "Completed").status.retry_count = 2;
  seen.Apply();
  seen.Drop("f-a");
  seen.Put("f-b", "Completed");
  EXPECT_EQ(Written(seen.Apply()), "~status");
  EXPECT_THAT(seen.flow().status.completed_jobs, ElementsAre("f-a", "f-b"));
  EXPECT_EQ(seen.flow().status.job_status_list[0].restart_count, 2);
  seen.Put("f-c", "Completed");
  EXPECT_EQ(Written(seen.Apply()), "~status +f-d");
}

TEST(JobFlowTest, WithDeleteTheJobsGoAfterSucceed) {
  Seen seen(R"("flows":[{"name":"a"},{"name":"b"}],"jobRetainPolicy":"delete")");
  seen.Put("f-a", "Completed");
  EXPECT_EQ(Written(seen.Apply()), "~status +f-b");
  seen.Put("f-b", "Completed");
  const kube::Plan plan = seen.Apply();
  EXPECT_EQ(Written(plan), "~status -f-a -f-b");
  EXPECT_EQ(plan.stages.size(), 2u) << "what they were is written before they go";
  EXPECT_EQ(Written(seen.Reconcile()), "");
  EXPECT_EQ(seen.flow().status.state.phase, "Succeed");
}

TEST(JobFlowTest, WithDeleteWhatIsNotItsOwnOrGoesAlreadyHoldsNobodyUp) {
  Seen seen(R"("flows":[{"name":"a"},{"name":"b"},{"name":"c"}],"jobRetainPolicy":"delete")");
  for (const char* job : {"f-a", "f-b", "f-c"}) seen.Put(job, "Completed");
  seen.Apply();
  ASSERT_EQ(seen.flow().status.state.phase, "Succeed");
  seen.Put("f-a", "Running", "somebody");
  seen.Put("f-b", "Completed").metadata.deletion_timestamp.at = absl::FromUnixSeconds(1800000000);
  seen.Put("f-c", "Completed");
  EXPECT_EQ(Written(seen.Reconcile()), "-f-c");
}

TEST(JobFlowTest, WhatItSaysOfAJob) {
  Seen seen(R"("flows":[{"name":"a"}])");
  Job& job = seen.Put("f-a", "Completed");
  const auto at = [](int second) { return api::Time{absl::FromUnixSeconds(1800000000 + second)}; };
  job.metadata.creation_timestamp = at(0);
  job.status.state.last_transition_time = at(9);
  job.status.conditions = {{"Pending", at(1)}, {"Running", at(2)}, {"Completed", at(9)}};
  job.status.running_duration = "9s";
  job.status.task_status_count["w"].phase["Succeeded"] = 2;
  const auto status = FlowStatusOf(seen.View());
  ASSERT_EQ(status.job_status_list.size(), 1u);
  EXPECT_EQ(status.job_status_list[0].start, at(0));
  EXPECT_EQ(status.job_status_list[0].end, at(9));
  ASSERT_EQ(status.job_status_list[0].histories.size(), 3u);
  EXPECT_EQ(status.job_status_list[0].histories[1].state, "Running");
  EXPECT_EQ(status.job_status_list[0].histories[1].end, at(9));
  EXPECT_FALSE(status.job_status_list[0].histories[2].end.set());
  EXPECT_EQ(status.conditions.at("f-a").running_duration, "9s");
  EXPECT_EQ(status.conditions.at("f-a").task_status_count.at("w").phase.at("Succeeded"), 2);
}

TEST(JobFlowTest, WhileItIsBeingDeletedNothingIsMade) {
  Seen seen(R"("flows":[{"name":"a"}])");
  seen.flow().metadata.deletion_timestamp.at = absl::FromUnixSeconds(1800000000);
  EXPECT_EQ(Written(seen.Apply()), "~status");
  EXPECT_EQ(seen.flow().status.state.phase, "Terminating");
}

TEST(JobTemplateTest, NamesItsJobs) {
  JobTemplate of;
  of.metadata.name = "a";
  EXPECT_EQ(ReconcileJobTemplate(of, {"f-a", "g-a"}).stages[0][0].body,
            R"({"status":{"jobDependsOnList":["f-a","g-a"]}})");
  of.status.job_depends_on_list = {"f-a"};
  EXPECT_TRUE(ReconcileJobTemplate(of, {"f-a"}).empty());
  EXPECT_EQ(ReconcileJobTemplate(of, {}).stages[0][0].body, R"({"status":{"jobDependsOnList":[]}})");
}

}  // namespace
}  // namespace gangway::lifecycle
