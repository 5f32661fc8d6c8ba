// What `kubectl get` shows: meta.k8s.io/v1 Table and PartialObjectMetadata, rendered from the objects' bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/resource.h"
#include "base/strings.h"

namespace gangway::schemas {

// The form of an answer that the Accept header asks for.
enum class Representation { kObject, kTable, kPartialMetadata };

// The first form in `accept` that we serve: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" is kTable,
// "",
// "*/*" and "application/json" are kObject. nullopt: none (406). "as=PartialObjectMetadata" and "...List" are one.
std::optional<Representation> RepresentationOf(absl::string_view accept);

// How much of the object each row carries (the query's includeObject).
enum class IncludeObject { kNone, kMetadata, kObject };

struct TableOptions {
  IncludeObject include = IncludeObject::kMetadata;
  bool no_columns = false;            // column definitions left out: watch events after the first
  std::string resource_version = {};  // of the list, or of the one object; "" is left out
  std::string continue_token = {};
  std::optional<std::int64_t> remaining_item_count = {};
};

// A Table with one row an object, ages as of `now`. The objects are bytes that the store has validated.
std::string RenderTable(const api::Resource& resource, absl::Span<const Bytes> objects, absl::Time now,
                        const TableOptions& options);

// One object's PartialObjectMetadata.
std::string RenderPartialMetadata(absl::string_view object);
// A PartialObjectMetadataList; of `options` the list's metadata counts.
std::string RenderPartialMetadataList(absl::Span<const Bytes> objects, const TableOptions& options);

// "5s", "3m7s", "2d4h": k8s.io/apimachinery/pkg/util/duration HumanDuration.
std::string HumanDuration(absl::Duration d);

}  // namespace gangway::schemas
