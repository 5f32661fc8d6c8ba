// What a type's field table says about a JSON document: defaults, types and rules. The document may be anything that
// parses.
//
// Pure. A field that is null is absent. Unknown fields are not reported (DecodeInto does) and never touched.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/field_table.h"
#include "boost/json/fwd.hpp"

namespace gangway::api {

// Adds the fields that are absent and have a default, wherever the object around them is present.
void ApplyTableDefaults(const Type& type, boost::json::value& document);

// Entries of a list of objects: tasks of a job, policies, flows. An object of 1.5 MB, the most that etcd takes, could
// hold more, and each entry gets defaults and costs a check.
inline constexpr std::size_t kMaxListedObjects = 5000;

// Values that have another JSON type than the table's, and quantities and times that do not parse. Documents (pod
// templates) are not entered. Lists of more than kMaxListedObjects objects are reported and not entered. Order: by
// field in the table's order, lists by index, maps by key.
void CheckTypes(const Type& type, const boost::json::value& document, absl::string_view path, FieldErrors& errors);

// Broken rules: required, minimum, enum, lengths, patterns. Values of a wrong type are passed over. Same order.
void CheckRules(const Type& type, const boost::json::value& document, absl::string_view path, FieldErrors& errors);

}  // namespace gangway::api
