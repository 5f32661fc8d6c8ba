#include "api/schemas/table.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/schemas/look.h"
#include "api/schemas/table_rows.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

// Objects are parsed into memory that goes at once. What does not parse, which the store never has, reads as empty.
json::value Parse(absl::string_view object, json::storage_ptr memory) {
  absl::StatusOr<json::value> value = api::ParseJson(object, std::move(memory));
  return value.ok() ? *std::move(value) : json::value(json::object());
}

void WriteListMetadata(const TableOptions& options, api::JsonWriter& out) {
  out.Key("metadata").BeginObject();
  if (!options.resource_version.empty()) out.Field("resourceVersion", options.resource_version);
  if (!options.continue_token.empty()) out.Field("continue", options.continue_token);
  if (options.remaining_item_count.has_value()) out.Field("remainingItemCount", *options.remaining_item_count);
  out.EndObject();
}

void WritePartialMetadata(Look object, api::JsonWriter& out) {
  out.BeginObject().Field("kind", "PartialObjectMetadata").Field("apiVersion", "meta.k8s.io/v1");
  const json::value* metadata = object["metadata"].value();
  out.RawField("metadata", metadata == nullptr ? "{}" : api::ToJson(*metadata)).EndObject();
}

void WriteColumns(const TableShape& shape, api::JsonWriter& out) {
  out.Key("columnDefinitions").BeginArray();
  for (const Column& column : shape.columns) {
    out.BeginObject().Field("name", column.name).Field("type", column.type).Field("format", column.format);
    out.Field("description", column.description).Field("priority", std::int64_t{column.priority}).EndObject();
  }
  out.EndArray();
}

// A pod that has ended says so, and clients may leave it out.
void WriteRowConditions(const api::Resource& resource, Look object, api::JsonWriter& out) {
  const absl::string_view phase = &resource == &api::kPods ? object["status"]["phase"].text() : "";
  if (phase != "Succeeded" && phase != "Failed") return;
  out.Key("conditions")
      .BeginArray()
      .BeginObject()
      .Field("type", "Completed")
      .Field("status", "True")
      .Field("reason", phase);
  out.Field("message", phase == "Succeeded" ? "The pod has completed successfully." : "The pod failed.");
  out.EndObject().EndArray();
}

void WriteRow(const TableShape& shape, const Bytes& bytes, absl::Time now, IncludeObject include,
              api::JsonWriter& out) {
  json::monotonic_resource memory;
  const json::value value = Parse(*bytes, &memory);
  const Look object(&value);
  out.BeginObject().Key("cells").BeginArray();
  for (const json::value& cell : CellsOf(shape, object, now)) out.Raw(api::ToJson(cell));
  out.EndArray();
  WriteRowConditions(*shape.resource, object, out);
  out.Key("object");
  switch (include) {
    case IncludeObject::kNone:
      out.Null();
      break;
    case IncludeObject::kMetadata:
      WritePartialMetadata(object, out);
      break;
    case IncludeObject::kObject:
      out.Raw(*bytes);
      break;
  }
  out.EndObject();
}

// The parameters of one media range: {"as": "Table", ...}.
absl::string_view Parameter(absl::string_view range, absl::string_view name) {
  for (absl::string_view part : absl::StrSplit(range, ';')) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(pair.first), name))
      return absl::StripAsciiWhitespace(pair.second);
  }
  return {};
}

std::optional<Representation> RepresentationOfRange(absl::string_view range) {
  const absl::string_view type = absl::StripAsciiWhitespace(range.substr(0, range.find(';')));
  if (type != "application/json" && type != "application/*" && type != "*/*") return std::nullopt;
  double quality = 1;
  if (const absl::string_view q = Parameter(range, "q");
      !q.empty() && (!absl::SimpleAtod(q, &quality) || quality <= 0)) {
    return std::nullopt;
  }
  const absl::string_view as = Parameter(range, "as");
  if (as.empty()) return Representation::kObject;
  if (Parameter(range, "g") != "meta.k8s.io" || Parameter(range, "v") != "v1") return std::nullopt;
  if (as == "Table") return Representation::kTable;
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") return Representation::kPartialMetadata;
  return std::nullopt;
}

}  // namespace

std::optional<Representation> RepresentationOf(absl::string_view accept) {
  if (absl::StripAsciiWhitespace(accept).empty()) return Representation::kObject;
  for (const absl::string_view range : absl::StrSplit(accept, ',')) {
    if (const std::optional<Representation> found = RepresentationOfRange(range)) return found;
  }
  return std::nullopt;
}

std::string RenderTable(const api::Resource& resource, absl::Span<const Bytes> objects, absl::Time now,
                        const TableOptions& options) {
  const std::optional<TableShape> declared =
      resource.declared != nullptr ? std::optional<TableShape>(MakeShape(resource)) : std::nullopt;
  const TableShape& shape = declared.has_value() ? *declared : TableShapeOf(resource);
  std::string text;
  api::JsonWriter out(text);
  out.BeginObject().Field("kind", "Table").Field("apiVersion", "meta.k8s.io/v1");
  WriteListMetadata(options, out);
  if (options.no_columns) {
    out.Key("columnDefinitions").Null();
  } else {
    WriteColumns(shape, out);
  }
  out.Key("rows").BeginArray();
  for (const Bytes& object : objects) WriteRow(shape, object, now, options.include, out);
  out.EndArray().EndObject();
  return text;
}

std::string RenderPartialMetadata(absl::string_view object) {
  json::monotonic_resource memory;
  const json::value value = Parse(object, &memory);
  std::string text;
  api::JsonWriter out(text);
  WritePartialMetadata(Look(&value), out);
  return text;
}

std::string RenderPartialMetadataList(absl::Span<const Bytes> objects, const TableOptions& options) {
  std::string text;
  api::JsonWriter out(text);
  out.BeginObject().Field("kind", "PartialObjectMetadataList").Field("apiVersion", "meta.k8s.io/v1");
  WriteListMetadata(options, out);
  out.Key("items").BeginArray();
  for (const Bytes& object : objects) {
    json::monotonic_resource memory;
    const json::value value = Parse(*object, &memory);
    WritePartialMetadata(Look(&value), out);
  }
  out.EndArray().EndObject();
  return text;
}

std::string HumanDuration(absl::Duration d) {
  const std::int64_t seconds = absl::ToInt64Seconds(d), minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto with = [](std::int64_t large, const char* unit, std::int64_t small, const char* small_unit) {
    return small == 0 ? absl::StrCat(large, unit) : absl::StrCat(large, unit, small, small_unit);
  };
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return absl::StrCat(seconds, "s");
  if (minutes < 10) return with(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return absl::StrCat(minutes, "m");
  if (hours < 8) return with(hours, "h", minutes % 60, "m");
  if (hours < 48) return absl::StrCat(hours, "h");
  if (days < 8) return with(days, "d", hours % 24, "h");
  if (days < 2 * 365) return absl::StrCat(days, "d");
  if (days < 8 * 365) return with(days / 365, "y", days % 365, "d");
  return absl::StrCat(days / 365, "y");
}

}  // namespace gangway::schemas
