// An object as the binary body that a typed Go client sends.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "boost/json.hpp"

namespace gangway::testutil {

// `object` has apiVersion and kind. InvalidArgument names the field that proto/kubernetes does not have.
absl::StatusOr<std::string> ToProtobuf(const boost::json::value& object);

}  // namespace gangway::testutil
