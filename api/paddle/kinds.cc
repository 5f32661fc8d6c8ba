#include "api/paddle/kinds.h"

#include "api/paddle/paddle_job.h"

namespace gangway::api::paddle {
namespace {

// paddle-operator printed PS and WORKER until 0.2 and left them out from 0.3 on: the same names in the same order
// either way.
constexpr PrinterColumn kPaddleJobColumns[] = {
    {"STATUS", "string", ".status.phase"},          {"MODE", "string", ".status.mode"},
    {"PS", "string", ".status.ps.ready"},           {"WORKER", "string", ".status.worker.ready"},
    {"AGE", "date", ".metadata.creationTimestamp"}, {"HETER", "string", ".status.heter.ready", 1},
    {"RESTARTS", "integer", ".status.restarts", 1}, {"QUEUE", "string", ".status.queue", 1},
    {"MESSAGE", "string", ".status.message", 1},
};
constexpr PrinterColumn kKubeflowJobColumns[] = {
    {"State", "string", ".status.conditions[-1:].type"},
    {"Age", "date", ".metadata.creationTimestamp"},
};

constexpr KindRow kRows[] = {
    {.resource = &kPaddleJobs,
     .origin = Origin::kPaddle,
     .doc = "a PaddlePaddle training job, as paddle-operator has it",
     .table = &TypeOf<PaddleJob>(),
     .columns = kPaddleJobColumns,
     .status = true,
     .unserved = "PaddleJobs cannot be applied, only translated"},
    {.resource = &kubeflow::kPaddleJobs,
     .origin = Origin::kPaddle,
     .doc = "a PaddlePaddle training job, as kubeflow's training operator has it",
     .table = &TypeOf<kubeflow::PaddleJob>(),
     .columns = kKubeflowJobColumns,
     .status = true,
     .scale = {".spec.paddleReplicaSpecs.Worker.replicas", ".status.replicaStatuses.Worker.active",
               ".status.replicaStatuses.Worker.selector"}},
};

}  // namespace

std::span<const KindRow> Kinds() { return kRows; }

}  // namespace gangway::api::paddle
