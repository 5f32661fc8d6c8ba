// Which labels make HyperNodes, which may change while the controller runs. Used on the controller's loop.
#pragma once

#include "base/live.h"
#include "plugin/lifecycle/hyper_nodes/label_source.h"

namespace gangway::controller {

using LiveLabelSource = Live<lifecycle::LabelSource>;

}  // namespace gangway::controller
