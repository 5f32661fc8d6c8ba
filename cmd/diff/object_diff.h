// What applying an object would make of the one in the cluster. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "boost/json/fwd.hpp"

namespace gangway::cmd {

// `live` with all that the translation says: labels and annotations are added to those that are there, everything below
// (spec, data) is replaced. Owners, finalizers and status stay.
boost::json::value Replaced(const boost::json::value& live, const boost::json::value& ours);

// As YAML, without what only the server writes: status, managed fields, versions, UIDs and times. "" of null.
std::string ShownAs(const boost::json::value& object);

}  // namespace gangway::cmd
