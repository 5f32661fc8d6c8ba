// What a snapshot under pseudonyms keeps of an object: the fields that are read, as the field tables have them, with
// counts, sizes, times and Kubernetes' own words as they were; names, label values, images and what else is text under
// pseudonyms. Of annotations those of Kubernetes', Volcano's and our own that hold one value. Never commands, args,
// env, messages or the data of a ConfigMap.
//
// Pure.
#pragma once

#include <boost/json.hpp>

#include "api/field_table.h"
#include "cmd/snapshot/file/pseudonyms.h"

namespace gangway::snapshot {

// `table`: the type's. A pod template, wherever it stands, is kept as a pod is.
void Anonymise(boost::json::object& object, const api::Type& table, Pseudonyms& pseudonyms);

}  // namespace gangway::snapshot
