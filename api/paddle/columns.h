// What `kubectl get` prints of PaddleJobs, after the name (spec: paddle 1.1, 3.1, 6.13).
#pragma once

#include <array>

#include "api/printer_column.h"

namespace gangway::api::paddle {

// paddle-operator printed PS and WORKER until 0.2 and left them out from 0.3 on: the same names in the same order either way.
inline constexpr std::array kPaddleJobColumns{
    PrinterColumn{"STATUS", "string", ".status.phase"},
    PrinterColumn{"MODE", "string", ".status.mode"},
    PrinterColumn{"PS", "string", ".status.ps.ready"},
    PrinterColumn{"WORKER", "string", ".status.worker.ready"},
    PrinterColumn{"AGE", "date", ".metadata.creationTimestamp"},
    PrinterColumn{"HETER", "string", ".status.heter.ready", 1},
    PrinterColumn{"RESTARTS", "integer", ".status.restarts", 1},
    PrinterColumn{"QUEUE", "string", ".status.queue", 1},
    PrinterColumn{"MESSAGE", "string", ".status.message", 1},
};

namespace kubeflow {

inline constexpr std::array kPaddleJobColumns{
    PrinterColumn{"State", "string", ".status.conditions[-1:].type"},
    PrinterColumn{"Age", "date", ".metadata.creationTimestamp"},
};

}  // namespace kubeflow
}  // namespace gangway::api::paddle
