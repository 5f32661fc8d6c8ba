#include "tests/simulation/lives.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;

// --- What a user writes.

struct Task {
  std::string name;
  int replicas = 1;
  std::string extra = {};     // `"minAvailable":1,"policies":[...]`
  std::string pod_spec = {};  // `"restartPolicy":"OnFailure"`
};

std::string TaskText(const Task& task) {
  return absl::StrCat(R"({"name":")", task.name, R"(","replicas":)", task.replicas, task.extra.empty() ? "" : ",",
                      task.extra, R"(,"template":{"spec":{)",
                      task.pod_spec.empty() ? R"("restartPolicy":"Never")" : task.pod_spec,
                      R"(,"containers":[{"name":"main","image":"paddle","resources":{"requests":{"cpu":"1"}}}]}}})");
}

std::string JobText(const std::vector<Task>& tasks, absl::string_view extra = "", absl::string_view name = "ctr") {
  std::vector<std::string> texts;
  for (const Task& task : tasks) texts.push_back(TaskText(task));
  return absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                      R"("},"spec":{"schedulerName":"volcano",)", extra, extra.empty() ? "" : ",", R"("tasks":[)",
                      absl::StrJoin(texts, ","), "]}}");
}

std::string Policy(absl::string_view event, absl::string_view action, absl::string_view timeout = "") {
  return absl::StrCat(R"({"event":")", event, R"(","action":")", action, R"(")",
                      timeout.empty() ? "" : R"(,"timeout":")", timeout, timeout.empty() ? "" : R"(")", "}");
}
std::string Policies(const std::vector<std::string>& policies) {
  return absl::StrCat(R"("policies":[)", absl::StrJoin(policies, ","), "]");
}

UserRequest Create(const api::Resource& resource, std::string body) {
  return {"POST", &resource, "", "", std::move(body)};
}
UserRequest Patch(const api::Resource& resource, std::string name, std::string body) {
  return {"PATCH", &resource, std::move(name), "", std::move(body)};
}
UserRequest Submit(std::string body) { return Create(api::kJobs, std::move(body)); }
UserRequest DeletePod(std::string name) { return {"DELETE", &api::kPods, std::move(name), "", ""}; }
// A finalizer of somebody else: a pod that is deleted stays until it is released.
UserRequest Hold(std::string pod, bool held) {
  return Patch(api::kPods, std::move(pod),
               absl::StrCat(R"({"metadata":{"finalizers":)", held ? R"(["example.test/held"])" : "null", "}}"));
}
UserRequest Command(absl::string_view action, absl::string_view target = "ctr", bool queue = false) {
  return Create(api::kCommands,
                absl::StrCat(R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"please-)",
                             action == "ResumeJob"   ? "resume"
                             : action == "OpenQueue" ? "open"
                                                     : "do",
                             R"("},"action":")", action, R"(","target":{"apiVersion":")",
                             queue ? "scheduling.volcano.sh/v1beta1" : "batch.volcano.sh/v1alpha1", R"(","kind":")",
                             queue ? "Queue" : "Job", R"(","name":")", target, R"("}})"));
}
UserRequest Scale(int task, int replicas, int min_available) {
  // A merge patch replaces the list: the tasks of the lives that scale are all alike.
  return Patch(api::kJobs, "ctr",
               absl::StrCat(R"({"spec":{"minAvailable":)", min_available, R"(,"tasks":[)",
                            TaskText({absl::StrCat("w", task), replicas,
                                      absl::StrCat(R"("minAvailable":)", min_available, R"(,"maxRetry":3)")}),
                            "]}}"));
}

// --- What the world has come to.

const NamespacedName kCtr{"default", "ctr"};
WorldIs Phase(std::string phase, NamespacedName job = kCtr) {
  return [=](const Checker& world) {
    const auto it = world.jobs().find(job);
    return it != world.jobs().end() && it->second.status.state.phase == phase;
  };
}
// So many pods of that version run, by the job's status and in truth.
WorldIs Runs(int pods, int version = 0, int terminating = 0) {
  return [=](const Checker& world) {
    const auto it = world.jobs().find(kCtr);
    if (it == world.jobs().end()) return false;
    const auto& status = it->second.status;
    return status.state.phase == "Running" && status.running == pods && status.version == version &&
           status.terminating == terminating;
  };
}
WorldIs PodIs(std::string phase, std::string pod) {
  return [=](const Checker& world) {
    const auto it = world.pods().find({"default", pod});
    return it != world.pods().end() && it->second.status.phase == phase && !it->second.metadata.deleting();
  };
}
WorldIs PodGoes(std::string pod) {
  return [=](const Checker& world) {
    const auto it = world.pods().find({"default", pod});
    return it != world.pods().end() && it->second.metadata.deleting();
  };
}
WorldIs RetriesAre(int retries) {
  return [=](const Checker& world) {
    const auto it = world.jobs().find(kCtr);
    return it != world.jobs().end() && it->second.status.retry_count == retries;
  };
}
WorldIs MaxRetryIs(int max_retry) {
  return [=](const Checker& world) {
    const auto it = world.jobs().find(kCtr);
    return it != world.jobs().end() && it->second.spec.max_retry == max_retry;
  };
}
WorldIs NoCommands() {
  return [](const Checker& world) { return world.commands().empty(); };
}
WorldIs NoPods() {
  return [](const Checker& world) { return world.pods().empty(); };
}
WorldIs NoJobs() {
  return [](const Checker& world) { return world.jobs().empty(); };
}
WorldIs QueueIs(std::string state, std::string queue = "q") {
  return [=](const Checker& world) {
    const auto it = world.queues().find(queue);
    return it != world.queues().end() && it->second.status.state == state;
  };
}

// --- Lives.

std::string ServersAndTrainers(absl::string_view policies, absl::string_view extra = "") {
  return JobText({{"ps", 2}, {"w", 2, Policies({Policy("TaskCompleted", "CompleteJob")})}},
                 absl::StrCat(policies, policies.empty() || extra.empty() ? "" : ",", extra));
}
std::vector<UserRequest> TrainersFinish() { return {Finish("ctr-w-0"), Finish("ctr-w-1")}; }

// Something happens while all four run; then four run again and the trainers finish.
Life Restarts(std::string name, std::string policies, UserRequest what, int version, std::string extra = "") {
  return {std::move(name),
          {{Always(), {Submit(ServersAndTrainers(policies, extra))}},
           {Runs(4), {std::move(what)}},
           {Runs(4, version) && RetriesAre(1), TrainersFinish()},
           {Phase("Completed"), {}}}};
}
// Something happens while all four run, and that ends the job.
Life Ends(std::string name, std::string policies, UserRequest what, std::string phase) {
  return {std::move(name),
          {{Always(), {Submit(ServersAndTrainers(policies))}},
           {Runs(4), {std::move(what)}},
           {Phase(std::move(phase)) && NoCommands(), {}}}};
}

void AddPolicies(std::vector<Life>& lives) {
  lives.push_back({"TaskCompletedCompletesJob",
                   {{Always(), {Submit(ServersAndTrainers(""))}},
                    {Runs(4), {Finish("ctr-w-0")}},
                    {PodIs("Succeeded", "ctr-w-0"), {Finish("ctr-w-1")}},
                    {Phase("Completed"), {}}}});
  lives.push_back(Restarts("FailureRestartsJob", Policies({Policy("PodFailed", "RestartJob")}), Fail("ctr-w-1"), 1));
  lives.push_back(
      Restarts("EvictionRestartsJob", Policies({Policy("PodEvicted", "RestartJob")}), Evict("ctr-ps-0"), 1));
  lives.push_back(Restarts("DeletionRestartsJob", Policies({Policy("*", "RestartJob")}), DeletePod("ctr-w-0"), 1));
  lives.push_back(
      Restarts("ExitCodeRestartsJob", R"("policies":[{"exitCode":9,"action":"RestartJob"}])", Fail("ctr-w-1", 9), 1));
  lives.push_back(Restarts("FailureRestartsTask", Policies({Policy("PodFailed", "RestartTask")}), Fail("ctr-ps-1"), 0));
  lives.push_back(
      Restarts("EvictionRestartsTask", Policies({Policy("PodEvicted", "RestartTask")}), Evict("ctr-w-0"), 0));
  lives.push_back(Restarts("FailureRestartsPod", Policies({Policy("PodFailed", "RestartPod")}), Fail("ctr-ps-1"), 0));
  lives.push_back(Restarts("EvictionRestartsPod", Policies({Policy("PodEvicted", "RestartPod")}), Evict("ctr-w-1"), 0));
  lives.push_back(
      {"FailureRestartsPartition",
       {{Always(),
         {Submit(JobText({{"w", 4, R"("partitionPolicy":{"totalPartitions":2,"partitionSize":2,"minPartitions":2})"}},
                         Policies({Policy("PodFailed", "RestartPartition")})))}},
        {Runs(4), {Fail("ctr-w-2")}},
        {Runs(4) && RetriesAre(1), {Finish("ctr-w-0"), Finish("ctr-w-1"), Finish("ctr-w-2"), Finish("ctr-w-3")}},
        {Phase("Completed"), {}}}});
  lives.push_back(Ends("FailureAbortsJob", Policies({Policy("PodFailed", "AbortJob")}), Fail("ctr-ps-0"), "Aborted"));
  lives.push_back(
      Ends("FailureTerminatesJob", Policies({Policy("PodFailed", "TerminateJob")}), Fail("ctr-ps-0"), "Terminated"));
  lives.push_back(
      Ends("EvictionCompletesJob", Policies({Policy("PodEvicted", "CompleteJob")}), Evict("ctr-ps-0"), "Completed"));
  lives.push_back(Ends("DelayedTermination", Policies({Policy("PodFailed", "TerminateJob", "10s")}), Fail("ctr-ps-0"),
                       "Terminated"));
  lives.push_back(Ends("DelayedRestartUntilRetriesAreSpent",
                       absl::StrCat(Policies({Policy("PodFailed", "RestartJob", "5s")}), R"(,"maxRetry":1)"),
                       Fail("ctr-ps-0"), "Failed"));
  lives.push_back({"PendingTooLongAborts",
                   {{Always(),
                     {Submit(JobText({{"w", 2, "", R"("restartPolicy":"Never","nodeSelector":{"no":"where"})"}},
                                     Policies({Policy("PodPending", "AbortJob", "10s")})))}},
                    {Phase("Aborted"), {}}}});
  lives.push_back(
      {"ContainersThatRestartTooOften",
       {{Always(),
         {Submit(JobText({{"w", 1, absl::StrCat(R"("maxRetry":1,)", Policies({Policy("TaskFailed", "TerminateJob")})),
                           R"("restartPolicy":"OnFailure")"}}))}},
        {Runs(1), {Fail("ctr-w-0")}},
        {Phase("Terminated"), {}}}});
  lives.push_back(
      {"MaxRetryIsSpent",
       {{Always(), {Submit(ServersAndTrainers(Policies({Policy("PodFailed", "RestartJob")}), R"("maxRetry":2)"))}},
        {Runs(4), {Fail("ctr-w-0")}},
        {Runs(4, 1), {Fail("ctr-w-1")}},
        {Phase("Failed"), {}}}});
  lives.push_back({"NoPolicy",
                   {{Always(), {Submit(JobText({{"w", 3}}, R"("minAvailable":2)"))}},
                    {Runs(3), {DeletePod("ctr-w-1"), Finish("ctr-w-0")}},
                    {Runs(2) && PodIs("Running", "ctr-w-1"), {Fail("ctr-w-2")}},
                    {PodIs("Failed", "ctr-w-2"), {Finish("ctr-w-1")}},
                    {Phase("Completed"), {}}}});
  lives.push_back({"MinSuccess",
                   {{Always(), {Submit(JobText({{"w", 3}}, R"("minAvailable":2,"minSuccess":1)"))}},
                    {Runs(3), {Finish("ctr-w-1")}},
                    {Phase("Completed"), {}}}});
}

void AddCommands(std::vector<Life>& lives) {
  lives.push_back(Ends("CommandAborts", "", Command("AbortJob"), "Aborted"));
  lives.push_back(Ends("CommandTerminates", "", Command("TerminateJob"), "Terminated"));
  lives.push_back(Ends("CommandCompletes", "", Command("CompleteJob"), "Completed"));
  lives.push_back(Restarts("CommandRestarts", "", Command("RestartJob"), 1));
  lives.push_back({"AbortedAndResumed",
                   {{Always(), {Submit(ServersAndTrainers(""))}},
                    {Runs(4), {Command("AbortJob")}},
                    {Phase("Aborted") && NoCommands(), {Command("ResumeJob")}},
                    {Runs(4, 2), TrainersFinish()},
                    {Phase("Completed") && NoCommands(), {}}}});
  // With one retry less than there are rests.
  Life rests{"RestsCostNoRetry", {{Always(), {Submit(ServersAndTrainers("", R"("maxRetry":2)"))}}}};
  for (int round = 0; round < 3; ++round) {
    rests.steps.push_back({Runs(4, 2 * round) && NoCommands(), {Command("AbortJob")}});
    rests.steps.push_back({Phase("Aborted") && NoCommands(), {Command("ResumeJob")}});
  }
  rests.steps.push_back({Runs(4, 6) && RetriesAre(0), TrainersFinish()});
  rests.steps.push_back({Phase("Completed") && NoCommands(), {}});
  lives.push_back(std::move(rests));
  lives.push_back({"ResumedWithoutWhatFailed",
                   {{Always(), {Submit(ServersAndTrainers(Policies({Policy("PodFailed", "AbortJob")})))}},
                    {Runs(4), {Fail("ctr-w-1")}},
                    {Phase("Aborted") && NoCommands(), {Command("ResumeJob")}},
                    {Runs(4, 2) && RetriesAre(0), TrainersFinish()},
                    {Phase("Completed") && NoCommands(), {}}}});
  // Which may come before the restart has made its PodGroup.
  lives.push_back({"AbortedWhileAPodHoldsUpItsRestart",
                   {{Always(), {Submit(ServersAndTrainers(Policies({Policy("PodFailed", "RestartJob")})))}},
                    {Runs(4), {Hold("ctr-ps-0", true), Fail("ctr-w-1")}},
                    {Phase("Restarting") && PodGoes("ctr-ps-0"), {Command("AbortJob")}},
                    {Phase("Aborting") && NoCommands(), {Hold("ctr-ps-0", false)}},
                    {Phase("Aborted") && NoCommands(), {}}},
                   false});
  lives.push_back({"TwoCommandsAtOnce",
                   {{Always(), {Submit(ServersAndTrainers(""))}},
                    {Runs(4), {Command("RestartJob"), Command("ResumeJob")}},
                    {Runs(4, 1) && NoCommands(), TrainersFinish()},
                    {Phase("Completed"), {}}}});
  lives.push_back(
      {"QueueClosesAndOpens",
       {{Always(),
         {Create(
             api::kQueues,
             R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":1}})")}},
        {QueueIs("Open"), {Submit(JobText({{"w", 2}}, R"("queue":"q")"))}},
        {Runs(2), {Command("CloseQueue", "q", true)}},
        {QueueIs("Closing") && NoCommands(), {Finish("ctr-w-0"), Finish("ctr-w-1")}},
        {QueueIs("Closed") && Phase("Completed"), {Command("OpenQueue", "q", true)}},
        {QueueIs("Open") && NoCommands(), {}}}});
}

void AddObjects(std::vector<Life>& lives) {
  lives.push_back(
      {"ScaledUp",
       {{Always(),
         {Submit(JobText({{"w1", 2, R"("minAvailable":2)"}}, Policies({Policy("PodEvicted", "RestartJob")})))}},
        {Runs(2), {Scale(1, 4, 3)}},
        {Runs(4), {Finish("ctr-w1-0"), Finish("ctr-w1-1"), Finish("ctr-w1-2"), Finish("ctr-w1-3")}},
        {Phase("Completed"), {}}}});
  lives.push_back(
      {"ScaledDownAndUp",
       {{Always(),
         {Submit(JobText({{"w1", 4, R"("minAvailable":4)"}},
                         absl::StrCat(Policies({Policy("PodEvicted", "RestartJob")}), R"(,"plugins":{"svc":[]})")))}},
        {Runs(4), {Scale(1, 2, 2)}},
        {Runs(2), {Scale(1, 3, 2)}},
        {Runs(3), {Finish("ctr-w1-0"), Finish("ctr-w1-1"), Finish("ctr-w1-2")}},
        {Phase("Completed"), {}}}});
  lives.push_back({"DependsOn",
                   {{Always(),
                     {Submit(JobText({{"ps", 2},
                                      {"w", 2,
                                       absl::StrCat(R"("dependsOn":{"name":["ps"]},)",
                                                    Policies({Policy("TaskCompleted", "CompleteJob")}))}}))}},
                    {Runs(4), TrainersFinish()},
                    {Phase("Completed"), {}}}});
  lives.push_back({"DependsOnRestarts",
                   {{Always(),
                     {Submit(JobText({{"ps", 1},
                                      {"w", 2,
                                       absl::StrCat(R"("dependsOn":{"name":["ps"]},)",
                                                    Policies({Policy("TaskCompleted", "CompleteJob")}))}},
                                     Policies({Policy("PodFailed", "RestartJob")})))}},
                    {Runs(3), {Fail("ctr-w-0")}},
                    {Runs(3, 1), TrainersFinish()},
                    {Phase("Completed"), {}}}});
  lives.push_back(Restarts(
      "VolumesWithGeneratedClaims", Policies({Policy("PodFailed", "RestartJob")}), Fail("ctr-w-1"), 1,
      R"("volumes":[{"mountPath":"/data","volumeClaim":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}},)"
      R"({"mountPath":"/log","volumeClaim":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}}}])"));
  lives.push_back(Restarts("PluginsThroughARestart", Policies({Policy("PodFailed", "RestartJob")}), Fail("ctr-w-1"), 1,
                           R"("plugins":{"env":[],"svc":[]})"));
  lives.push_back({"PluginsThroughAnAbort",
                   {{Always(), {Submit(ServersAndTrainers("", R"("plugins":{"env":[],"svc":[]})"))}},
                    {Runs(4), {Command("AbortJob")}},
                    {Phase("Aborted") && NoCommands() && NoPods(), {Command("ResumeJob")}},
                    {Runs(4, 2), TrainersFinish()},
                    {Phase("Completed") && NoCommands(), {}}},
                   false});
  lives.push_back(
      {"DeletedWhileItRuns",
       {{Always(),
         {Submit(ServersAndTrainers(Policies({Policy("PodEvicted", "RestartJob")}), R"("plugins":{"svc":[]})"))}},
        {Runs(4), {{"DELETE", &api::kJobs, "ctr", "", ""}}},
        {NoJobs() && NoPods(), {}}},
       false});
  lives.push_back(
      {"TheNameIsUsedAgain",
       {{Always(),
         {Submit(ServersAndTrainers(Policies({Policy("PodEvicted", "RestartJob")}), R"("plugins":{"svc":[]})"))}},
        {Runs(4),
         {{"DELETE", &api::kJobs, "ctr", "", ""},
          Submit(ServersAndTrainers(Policies({Policy("PodEvicted", "RestartJob")}),
                                    R"("plugins":{"svc":[]},"maxRetry":4)"))}},
        {Runs(4) && MaxRetryIs(4), TrainersFinish()},
        {Phase("Completed"), {}}},
       false});
  lives.push_back({"ItsTimeToLiveEnds",
                   {{Always(), {Submit(ServersAndTrainers("", R"("ttlSecondsAfterFinished":3,"plugins":{"svc":[]})"))}},
                    {Runs(4), TrainersFinish()},
                    {Phase("Completed"), {}},
                    {NoJobs() && NoPods(), {}}},
                   false});
  const auto bare = [](absl::string_view name) {
    return Create(
        api::kPods,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
            R"("},"spec":{"schedulerName":"volcano","restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})"));
  };
  lives.push_back({"BarePods",
                   {{Always(), {bare("one"), bare("two")}},
                    {PodIs("Running", "one") && PodIs("Running", "two"), {Finish("one"), DeletePod("two")}},
                    {PodIs("Succeeded", "one"), {}}}});
}

}  // namespace

std::vector<Life> AllLives() {
  std::vector<Life> lives;
  AddPolicies(lives);
  AddCommands(lives);
  AddObjects(lives);
  return lives;
}

}  // namespace gangway::testutil
