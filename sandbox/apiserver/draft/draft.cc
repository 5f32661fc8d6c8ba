#include "sandbox/apiserver/draft/draft.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/check.h"
#include "boost/json/array.hpp"
#include "boost/json/monotonic_resource.hpp"
#include "boost/json/parser.hpp"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kBufferBytes = 64 * 1024;  // room for a 4 KB object and its edits
constexpr std::size_t kKeptBuffers = 16;

// Buffers of finished drafts. Allocated and freed each time, they would be given back to the system and faulted in
// anew.
class BufferPool {
 public:
  std::unique_ptr<unsigned char[]> Take() {
    if (kept_.empty()) return std::unique_ptr<unsigned char[]>(new unsigned char[kBufferBytes]);
    std::unique_ptr<unsigned char[]> buffer = std::move(kept_.back());
    kept_.pop_back();
    return buffer;
  }
  void Give(std::unique_ptr<unsigned char[]> buffer) {
    if (kept_.size() < kKeptBuffers) kept_.push_back(std::move(buffer));
  }

 private:
  std::vector<std::unique_ptr<unsigned char[]>> kept_;
};
thread_local BufferPool buffers;

constexpr std::array<absl::string_view, 15> kMetadataOrder = {"name",
                                                              "generateName",
                                                              "namespace",
                                                              "selfLink",
                                                              "uid",
                                                              "resourceVersion",
                                                              "generation",
                                                              "creationTimestamp",
                                                              "deletionTimestamp",
                                                              "deletionGracePeriodSeconds",
                                                              "labels",
                                                              "annotations",
                                                              "ownerReferences",
                                                              "finalizers",
                                                              "managedFields"};

bool InMetadataOrder(absl::string_view name) {
  return std::find(kMetadataOrder.begin(), kMetadataOrder.end(), name) != kMetadataOrder.end();
}

void AppendMember(absl::string_view name, const json::value& value, bool& comma, std::string& out) {
  if (comma) out.push_back(',');
  comma = true;
  api::AppendJsonString(name, out);
  out.push_back(':');
  api::AppendJson(value, out);
}

void WriteMetadata(const json::object& metadata, std::string& out, std::uint32_t* revision_at) {
  out.push_back('{');
  bool comma = false;
  for (const absl::string_view name : kMetadataOrder) {
    const auto it = metadata.find(JsonView(name));
    if (it == metadata.end()) continue;
    AppendMember(name, it->value(), comma, out);
    if (name == "resourceVersion" && it->value().is_string()) {
      *revision_at = static_cast<std::uint32_t>(out.size() - it->value().get_string().size() - 1);
    }
  }
  for (const auto& member : metadata) {
    const absl::string_view name = AbslView(member.key());
    if (!InMetadataOrder(name)) AppendMember(name, member.value(), comma, out);
  }
  out.push_back('}');
}

}  // namespace

// The values in an arena are never destroyed one by one: all their memory is its own.
struct Draft::Arena {
  Arena() : buffer(buffers.Take()), resource(buffer.get(), kBufferBytes) {}
  ~Arena() {
    resource.release();
    buffers.Give(std::move(buffer));
  }
  json::value* NewRoot() {
    return new (resource.allocate(sizeof(json::value), alignof(json::value))) json::value(json::storage_ptr(&resource));
  }

  std::unique_ptr<unsigned char[]> buffer;
  json::monotonic_resource resource;
};

Draft::Draft() : arena_(std::make_unique<Arena>()), root_(arena_->NewRoot()) { root_->emplace_object(); }
Draft::Draft(Draft&& other) noexcept = default;
Draft::~Draft() = default;

absl::StatusOr<Draft> Draft::Parse(absl::string_view text) {
  Draft draft;
  json::parse_options options;
  options.max_depth = 256;
  std::array<unsigned char, 4096> scratch;
  json::parser parser({}, options, scratch.data(), scratch.size());
  parser.reset(&draft.arena_->resource);
  json::error_code error;
  parser.write(text.data(), text.size(), error);
  if (error) return absl::InvalidArgumentError(error.message());
  *draft.root_ = parser.release();
  if (!draft.root_->is_object()) return absl::InvalidArgumentError("must be an object");
  return draft;
}

Draft Draft::OfStored(absl::string_view json) {
  absl::StatusOr<Draft> draft = Parse(json);
  GW_CHECK(draft.ok());
  return *std::move(draft);
}

Draft Draft::CopyOf(const Draft& other) {
  Draft draft;
  *draft.root_ = other.root();  // copies into the arena, which the root keeps
  return draft;
}

json::object& Draft::Child(absl::string_view name) { return ObjectIn(object(), name); }

const json::object* FindObject(const json::object& in, absl::string_view name) {
  const json::value* value = in.if_contains(JsonView(name));
  return value == nullptr ? nullptr : value->if_object();
}
json::object* FindObject(json::object& in, absl::string_view name) {
  json::value* value = in.if_contains(JsonView(name));
  return value == nullptr ? nullptr : value->if_object();
}
const json::array* FindArray(const json::object& in, absl::string_view name) {
  const json::value* value = in.if_contains(JsonView(name));
  return value == nullptr ? nullptr : value->if_array();
}
json::array* FindArray(json::object& in, absl::string_view name) {
  json::value* value = in.if_contains(JsonView(name));
  return value == nullptr ? nullptr : value->if_array();
}
std::vector<std::string> TextsIn(const json::object& in, absl::string_view list) {
  std::vector<std::string> out;
  const json::array* const items = FindArray(in, list);
  if (items == nullptr) return out;
  for (const json::value& each : *items) {
    if (each.is_string()) out.emplace_back(AbslView(each.get_string()));
  }
  return out;
}

absl::string_view FindText(const json::object& in, absl::string_view name) {
  const json::value* value = in.if_contains(JsonView(name));
  if (value == nullptr || !value->is_string()) return {};
  return AbslView(value->get_string());
}

const json::value* FindPath(const json::object& in, absl::string_view path) {
  const json::object* object = &in;
  while (true) {
    const std::size_t dot = path.find('.');
    const json::value* value = object->if_contains(JsonView(path.substr(0, dot)));
    if (dot == absl::string_view::npos || value == nullptr) return value;
    object = value->if_object();
    if (object == nullptr) return nullptr;
    path.remove_prefix(dot + 1);
  }
}
absl::string_view TextAt(const json::object& in, absl::string_view path) {
  const json::value* value = FindPath(in, path);
  if (value == nullptr || !value->is_string()) return {};
  return AbslView(value->get_string());
}
std::int64_t IntAt(const json::object& in, absl::string_view path, std::int64_t absent) {
  const json::value* value = FindPath(in, path);
  return value != nullptr && value->is_int64() ? value->get_int64() : absent;
}
bool BoolAt(const json::object& in, absl::string_view path) {
  const json::value* value = FindPath(in, path);
  return value != nullptr && value->is_bool() && value->get_bool();
}

json::object& ObjectIn(json::object& in, absl::string_view name) {
  json::value& value = in[JsonView(name)];
  return value.is_object() ? value.get_object() : value.emplace_object();
}
void SetText(json::object& in, absl::string_view name, absl::string_view text) {
  in[JsonView(name)].emplace_string().assign(text.data(), text.size());
}
void SetTextIfAbsent(json::object& in, absl::string_view name, absl::string_view text) {
  json::value& value = in[JsonView(name)];
  if (value.is_null() || (value.is_string() && value.get_string().empty())) {
    value.emplace_string().assign(text.data(), text.size());
  }
}

bool Equal(const json::object& a, const json::object& b) {
  if (a.size() != b.size()) return false;
  auto twin = b.begin();  // members mostly stand in the same order
  for (const auto& member : a) {
    const bool in_order = twin->key() == member.key();
    const json::value* other = in_order ? &twin->value() : b.if_contains(member.key());
    if (other == nullptr || !Equal(member.value(), *other)) return false;
    ++twin;
  }
  return true;
}

bool Equal(const json::value& a, const json::value& b) {
  if (a.is_object()) return b.is_object() && Equal(a.get_object(), b.get_object());
  if (!a.is_array()) return a == b;
  if (!b.is_array() || a.get_array().size() != b.get_array().size()) return false;
  return std::equal(a.get_array().begin(), a.get_array().end(), b.get_array().begin(),
                    [](const json::value& x, const json::value& y) { return Equal(x, y); });
}

void WriteObject(const json::object& object, std::string& out, std::uint32_t* revision_at,
                 std::uint32_t* metadata_end) {
  out.clear();
  *revision_at = 0;
  if (metadata_end != nullptr) *metadata_end = 0;
  bool comma = false;
  out.push_back('{');
  for (const absl::string_view name : {"apiVersion", "kind"}) {
    const json::value* value = object.if_contains(JsonView(name));
    if (value != nullptr) AppendMember(name, *value, comma, out);
  }
  if (const json::object* metadata = FindObject(object, "metadata"); metadata != nullptr) {
    if (comma) out.push_back(',');
    comma = true;
    out.append("\"metadata\":");
    WriteMetadata(*metadata, out, revision_at);
    if (metadata_end != nullptr && !metadata->empty()) *metadata_end = static_cast<std::uint32_t>(out.size() - 1);
  }
  for (const auto& member : object) {
    const absl::string_view name = AbslView(member.key());
    if (name == "apiVersion" || name == "kind" || name == "metadata") continue;
    AppendMember(name, member.value(), comma, out);
  }
  out.push_back('}');
}

}  // namespace gangway::sandbox
