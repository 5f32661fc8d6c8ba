#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/lives.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;
using PaddleJob = api::paddle::PaddleJob;
using KubeflowJob = api::paddle::kubeflow::PaddleJob;

const NamespacedName kWd{"default", "wd"};

// --- What a user writes.

std::string Template(absl::string_view container = "paddle") {
  return absl::StrCat(R"("template":{"spec":{"containers":[{"name":")", container,
                      R"(","image":"paddle","resources":{"requests":{"cpu":"1"}}}]}})");
}
std::string Role(absl::string_view name, int replicas, absl::string_view more = "") {
  return absl::StrCat(R"(")", name, R"(":{"replicas":)", replicas, ",", more, more.empty() ? "" : ",", Template(), "}");
}
UserRequest SubmitPaddle(absl::string_view spec, absl::string_view annotations = "") {
  return {"POST", &api::paddle::kPaddleJobs, "", "",
          absl::StrCat(
              R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd","annotations":{)",
              annotations, R"(}},"spec":{)", spec, "}}")};
}
UserRequest SubmitKubeflow() {
  return {
      "POST", &api::paddle::kubeflow::kPaddleJobs, "", "",
      absl::StrCat(
          R"({"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":"wd"},"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":2,)",
          Template(), "}}}}")};
}
UserRequest Edit(std::string body) { return {"PATCH", &api::paddle::kPaddleJobs, "wd", "", std::move(body)}; }
UserRequest EditKubeflow(std::string body) {
  return {"PATCH", &api::paddle::kubeflow::kPaddleJobs, "wd", "", std::move(body)};
}
UserRequest Delete() { return {"DELETE", &api::paddle::kPaddleJobs, "wd", "", ""}; }

// --- What the world has come to.

WorldIs PaddlePhase(std::string phase) {
  return [phase = std::move(phase)](const Checker& world) {
    const auto it = world.paddle_jobs().find(kWd);
    return it != world.paddle_jobs().end() && it->second.status.phase == phase;
  };
}
// So many workers run, by the status; with that many restarts of the job before.
WorldIs Runs(std::string workers, int restarts = 0) {
  return [=](const Checker& world) {
    const auto it = world.paddle_jobs().find(kWd);
    if (it == world.paddle_jobs().end()) return false;
    const auto& status = it->second.status;
    return status.phase == "Running" && status.worker.has_value() && status.worker->ready == workers &&
           status.restarts == restarts && status.observed_generation == it->second.metadata.generation;
  };
}
// That of the training operator: its newest condition.
WorldIs State(std::string state) {
  return [state = std::move(state)](const Checker& world) {
    const auto it = world.kubeflow_jobs().find(kWd);
    return it != world.kubeflow_jobs().end() && !it->second.status.conditions.empty() &&
           it->second.status.conditions.back().type == state;
  };
}
WorldIs PodsAre(std::size_t pods) {
  return [pods](const Checker& world) { return world.pods().size() == pods; };
}
WorldIs AllRun() {
  return [](const Checker& world) {
    for (const auto& [key, pod] : world.pods()) {
      if (pod.status.phase != "Running" || pod.metadata.deleting()) return false;
    }
    return true;
  };
}
WorldIs NothingIsLeft() {
  return [](const Checker& world) { return world.jobs().empty() && world.pods().empty(); };
}

const LifeStep kTrained{PaddlePhase("Completed"), {}};

Life Of(std::string name, std::vector<LifeStep> steps) {
  return {std::move(name), std::move(steps), true, sandbox::Component::kPaddleControllers};
}

std::vector<UserRequest> FinishWorkers(int workers) {
  std::vector<UserRequest> finish;
  for (int i = 0; i < workers; ++i) finish.push_back(Finish(absl::StrCat("wd-worker-", i)));
  return finish;
}

std::string Both(int workers) { return absl::StrCat(Role("ps", 2), ",", Role("worker", workers)); }

}  // namespace

std::vector<Life> PaddleLives() {
  std::vector<Life> lives;
  lives.push_back(Of("PaddleServersAndWorkers",
                     {{Always(), {SubmitPaddle(Both(2))}}, {Runs("2/2") && AllRun(), FinishWorkers(2)}, kTrained}));
  lives.push_back(
      Of("PaddleCleansAllPods", {{Always(), {SubmitPaddle(absl::StrCat(R"("cleanPodPolicy":"Always",)", Both(2)))}},
                                 {Runs("2/2") && AllRun(), FinishWorkers(2)},
                                 {PaddlePhase("Completed") && PodsAre(0), {}}}));
  lives.push_back(Of(
      "PaddleNeedsAConfigMap",
      {{Always(),
        {SubmitPaddle(absl::StrCat(
            R"("ps":{"replicas":1,)", Template(),
            R"(},"worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"p","image":"i","envFrom":[{"configMapRef":{"name":"wd"}}]}]}}})"))}},
       {Runs("1/1") && AllRun(), FinishWorkers(1)},
       kTrained}));
  lives.push_back(Of("PaddleEditRecreates", {{Always(), {SubmitPaddle(Both(2))}},
                                             {Runs("2/2") && AllRun(), {Edit(R"({"spec":{"worker":{"replicas":3}}})")}},
                                             {Runs("3/3") && PodsAre(5) && AllRun(), FinishWorkers(3)},
                                             kTrained}));
  lives.push_back(Of("PaddleElasticScales",
                     {{Always(),
                       {SubmitPaddle(absl::StrCat(R"("elastic":1,)", Role("worker", 2, R"("requests":1,"limits":4)")),
                                     R"("paddle.gangway.io/elastic-etcd":"etcd:2379")")}},
                      {Runs("2/2") && AllRun(), {Edit(R"({"spec":{"worker":{"replicas":4}}})")}},
                      {Runs("4/4") && PodsAre(4) && AllRun(), {Edit(R"({"spec":{"worker":{"replicas":3}}})")}},
                      {Runs("3/3") && PodsAre(3) && AllRun(), FinishWorkers(3)},
                      kTrained}));
  // H-17.
  lives.push_back(Of("PaddleDeletedAndMadeAgainAtOnce", {{Always(), {SubmitPaddle(Both(2))}},
                                                         {Runs("2/2") && AllRun(), {Delete(), SubmitPaddle(Both(1))}},
                                                         {Runs("1/1") && PodsAre(3) && AllRun(), FinishWorkers(1)},
                                                         kTrained}));
  lives.push_back(Of("PaddleEvictionRestarts", {{Always(), {SubmitPaddle(Both(2))}},
                                                {Runs("2/2") && AllRun(), {Evict("wd-worker-1")}},
                                                {Runs("2/2", 1) && PodsAre(4) && AllRun(), FinishWorkers(2)},
                                                kTrained}));
  lives.push_back(Of("PaddleProgramFails", {{Always(), {SubmitPaddle(Both(2))}},
                                            {Runs("2/2") && AllRun(), {Fail("wd-worker-1", 1)}},
                                            {PaddlePhase("Failed"), {}}}));
  lives.push_back(
      Of("PaddleIsDeleted",
         {{Always(), {SubmitPaddle(Both(2))}}, {Runs("2/2") && AllRun(), {Delete()}}, {NothingIsLeft(), {}}}));
  lives.push_back(
      Of("PaddleInvalidIsMended", {{Always(), {SubmitPaddle(Role("worker", -1))}}, {PaddlePhase("Failed"), {}}}));
  lives.push_back(Of("KubeflowTrains", {{Always(), {SubmitKubeflow()}},
                                        {State("Running") && PodsAre(2) && AllRun(), FinishWorkers(2)},
                                        {State("Succeeded"), {}}}));
  lives.push_back(
      Of("KubeflowSuspendedAndResumed",
         {{Always(), {SubmitKubeflow()}},
          {State("Running") && PodsAre(2) && AllRun(), {EditKubeflow(R"({"spec":{"runPolicy":{"suspend":true}}})")}},
          {State("Suspended") && PodsAre(0), {EditKubeflow(R"({"spec":{"runPolicy":{"suspend":false}}})")}},
          {State("Running") && PodsAre(2) && AllRun(), FinishWorkers(2)},
          {State("Succeeded"), {}}}));
  lives.back().counts =
      false;  // a command has its name from the time it is for, and one that was carried out unseen may be given again
  return lives;
}

}  // namespace gangway::testutil
