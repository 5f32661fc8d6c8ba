#include "sandbox/apiserver/apply/managed_fields.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "api/field_table.h"
#include "api/json.h"
#include "boost/json.hpp"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

absl::string_view TextIn(const json::object& object, json::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return {value->get_string().data(), value->get_string().size()};
}

// nullopt: broken.
std::optional<ManagedEntry> ReadEntry(const json::value& value, TextPool& pool) {
  const json::object* object = value.if_object();
  if (object == nullptr) return std::nullopt;
  const absl::string_view operation = TextIn(*object, "operation");
  if (operation != "Apply" && operation != "Update") return std::nullopt;
  if (TextIn(*object, "apiVersion").empty() || TextIn(*object, "fieldsType") != "FieldsV1") return std::nullopt;
  ManagedEntry entry;
  entry.manager = std::string(TextIn(*object, "manager"));
  entry.subresource = std::string(TextIn(*object, "subresource"));
  entry.applied = operation == "Apply";
  if (const absl::string_view time = TextIn(*object, "time"); !time.empty()) {
    const absl::StatusOr<absl::Time> at = api::ParseTime(time);
    if (!at.ok()) return std::nullopt;
    entry.seconds = absl::ToUnixSeconds(*at);
  }
  const json::value* fields = object->if_contains("fieldsV1");
  std::optional<FieldSet> set = FieldSet();
  if (fields != nullptr && !fields->is_null()) set = FieldSet::FromFieldsV1(*fields);
  if (!set.has_value()) return std::nullopt;
  entry.fields = pool.Share(set->ToFieldsV1());
  return entry;
}

}  // namespace

Bytes TextPool::Share(std::string text) {
  const std::uint64_t hash = absl::HashOf(absl::string_view(text));
  std::weak_ptr<const std::string>& slot = texts_[hash];
  Bytes shared = slot.lock();
  if (shared != nullptr && *shared == text) return shared;
  text.shrink_to_fit();
  shared = MakeBytes(std::move(text));
  slot = shared;
  if (texts_.size() > sweep_at_) {
    absl::erase_if(texts_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(1024, texts_.size() * 2);
  }
  return shared;
}

void SortEntries(ManagedFields& entries) {
  std::sort(entries.begin(), entries.end(), [](const ManagedEntry& a, const ManagedEntry& b) {
    return std::make_tuple(!a.applied, a.seconds, absl::string_view(a.manager), absl::string_view(a.subresource)) <
           std::make_tuple(!b.applied, b.seconds, absl::string_view(b.manager), absl::string_view(b.subresource));
  });
}

bool AsksToForget(const json::value& list) {
  if (!list.is_array()) return false;
  if (list.get_array().empty()) return true;
  if (list.get_array().size() > 1 || !list.get_array()[0].is_object()) return false;
  const json::object& only = list.get_array()[0].get_object();
  return std::all_of(only.begin(), only.end(), [](const auto& member) {
    return member.value().is_null() || (member.value().is_string() && member.value().get_string().empty());
  });
}

std::optional<ManagedFields> ReadManagedFields(const json::value& list, absl::string_view api_version, TextPool& pool) {
  if (!list.is_array()) return std::nullopt;
  ManagedFields out;
  absl::flat_hash_map<std::tuple<std::string, std::string, bool>, std::size_t> places;
  for (const json::value& value : list.get_array()) {
    std::optional<ManagedEntry> entry = ReadEntry(value, pool);
    if (!entry.has_value()) return std::nullopt;
    if (TextIn(value.get_object(), "apiVersion") != api_version) continue;
    const auto [place, fresh] =
        places.try_emplace(std::make_tuple(entry->manager, entry->subresource, entry->applied), out.size());
    if (fresh) {
      out.push_back(*std::move(entry));
    } else {
      out[place->second] = *std::move(entry);  // the last one counts
    }
  }
  SortEntries(out);
  return out;
}

std::string ManagedFieldsJson(const ManagedFields& entries, absl::string_view api_version) {
  std::string out;
  std::size_t size = 2;
  for (const ManagedEntry& entry : entries) size += entry.fields->size() + entry.manager.size() + 160;
  out.reserve(size);
  api::JsonWriter writer(out);
  writer.BeginArray();
  for (const ManagedEntry& entry : entries) {
    writer.BeginObject();
    if (!entry.manager.empty()) writer.Field("manager", entry.manager);
    writer.Field("operation", entry.applied ? "Apply" : "Update").Field("apiVersion", api_version);
    if (entry.seconds != 0) writer.Field("time", api::FormatTime(absl::FromUnixSeconds(entry.seconds)));
    writer.Field("fieldsType", "FieldsV1").RawField("fieldsV1", *entry.fields);
    if (!entry.subresource.empty()) writer.Field("subresource", entry.subresource);
    writer.EndObject();
  }
  writer.EndArray();
  return out;
}

bool SameButTimes(const ManagedFieldsPtr& a, const ManagedFieldsPtr& b) {
  if (a == b) return true;
  static const ManagedFields kNone;
  const ManagedFields &x = a == nullptr ? kNone : *a, &y = b == nullptr ? kNone : *b;
  // They stand in the order of their times.
  return std::is_permutation(x.begin(), x.end(), y.begin(), y.end(), [](const ManagedEntry& p, const ManagedEntry& q) {
    return p.SameWriter(q) && (p.fields == q.fields || *p.fields == *q.fields);
  });
}

}  // namespace gangway::sandbox::apply
