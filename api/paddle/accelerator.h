// Which resources of a container are devices that Paddle computes on.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "boost/json/fwd.hpp"

namespace gangway::api::paddle {

// "nvidia.com/gpu", "huawei.com/Ascend910", "kunlunxin.com/xpu", "nvidia.com/mig-1g.5gb"...
bool IsAccelerator(absl::string_view resource);

// How many a container of a pod or a template asks for, in requests or limits; 0 when none.
std::int64_t Accelerators(const boost::json::object& container);

}  // namespace gangway::api::paddle
