// What the store keeps of an object beside its bytes, for selectors and the garbage collector.
#pragma once

#include "absl/strings/string_view.h"
#include "api/resource.h"
#include "api/selector.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr absl::string_view kOrphanFinalizer = "orphan";

// Fills in everything of `record` that can be read from the object: key, uid, labels, fields, owners, marks.
void ReadFacts(const api::Resource& resource, const boost::json::object& object, Record& record);

// Whether field selectors may ask for it.
bool HasFieldLabel(const api::Resource& resource, absl::string_view field);

// A selector's verdict about one state.
bool Selects(const api::LabelSelector& labels, const api::FieldSelector& fields, const Record& record);

bool HasFinalizer(const boost::json::object& object, absl::string_view finalizer);

}  // namespace gangway::sandbox
