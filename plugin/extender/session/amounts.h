// Volcano's Resource as amounts. volcano: pkg/scheduler/api/resource_info.go
#pragma once

#include "absl/status/status.h"
#include "plugin/extender/session/json_walk.h"
#include "plugin/model/resources.h"

namespace gangway::extender {

enum class Rounding : std::uint8_t { kUp, kDown };  // what is asked for, and what there is

// {"MilliCPU":f,"Memory":f,"ScalarResources":{name:f},"MaxTaskNum":n}: cpu in thousandths, memory in bytes, scalars in
// thousandths but for `pods`. Amounts of scalars are in units afterwards. Replaces what `out` holds, sorted by name;
// `pods` is what ScalarResources has of it. Of null nothing is known: `out` is empty.
absl::Status DecodeResource(JsonWalk& walk, Rounding rounding, model::NamedAmounts& out);

}  // namespace gangway::extender
