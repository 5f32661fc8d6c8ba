// The two kinds of PaddleJob: paddle-operator's, then kubeflow's.
#pragma once

#include <span>

#include "api/kind.h"

namespace gangway::api::paddle {

std::span<const KindRow> Kinds();

}  // namespace gangway::api::paddle
