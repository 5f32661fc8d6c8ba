#include "api/json_value.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"

namespace gangway::api {
namespace {

constexpr int kMaxDepth = 256;

template <class... A>
void AppendChars(std::string& out, A... a) {
  char text[400];  // the longest double in fixed notation is shorter
  out.append(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, a...).ptr - text));
}

// As Go's encoding/json: fixed between 1e-6 and 1e21.
void AppendDouble(double d, std::string& out) {
  const double size = std::abs(d);
  if (size != 0 && (size < 1e-6 || size >= 1e21)) return AppendChars(out, d, std::chars_format::scientific);
  AppendChars(out, d, std::chars_format::fixed);
}

}  // namespace

absl::StatusOr<boost::json::value> ParseJson(absl::string_view json, boost::json::storage_ptr storage) {
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::error_code error;
  boost::json::value value = boost::json::parse({json.data(), json.size()}, error, std::move(storage), options);
  if (error) return absl::InvalidArgumentError(absl::StrCat("not valid JSON: ", error.message()));
  return value;
}

void AppendJson(const boost::json::value& value, std::string& out) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      return;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case boost::json::kind::int64:
      return AppendChars(out, value.get_int64());
    case boost::json::kind::uint64:
      return AppendChars(out, value.get_uint64());
    case boost::json::kind::double_:
      return AppendDouble(value.get_double(), out);
    case boost::json::kind::string:
      return AppendJsonString(AbslView(value.get_string()), out);
    case boost::json::kind::array: {
      char before = '[';
      for (const boost::json::value& element : value.get_array()) {
        out += before;
        before = ',';
        AppendJson(element, out);
      }
      if (before == '[') out += '[';
      out += ']';
      return;
    }
    case boost::json::kind::object: {
      char before = '{';
      for (const boost::json::key_value_pair& member : value.get_object()) {
        out += before;
        before = ',';
        AppendJsonString(AbslView(member.key()), out);
        out += ':';
        AppendJson(member.value(), out);
      }
      if (before == '{') out += '{';
      out += '}';
      return;
    }
  }
}

std::string ToJson(const boost::json::value& value) {
  std::string out;
  AppendJson(value, out);
  return out;
}

void ApplyMergePatch(boost::json::value& target, const boost::json::value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  boost::json::object& object = target.get_object();
  for (const boost::json::key_value_pair& member : patch.get_object()) {
    if (!member.value().is_null()) {
      ApplyMergePatch(object[member.key()], member.value());
    } else if (const auto at = object.find(member.key()); at != object.end()) {
      EraseMember(object, at);
    }
  }
}

boost::json::object MergePatchBetween(const boost::json::object& before, const boost::json::object& after) {
  boost::json::object patch(after.storage());
  for (const boost::json::key_value_pair& member : before) {
    if (member.value().is_null()) continue;
    const boost::json::value* now = after.if_contains(member.key());
    if (now == nullptr || now->is_null()) patch.emplace(member.key(), nullptr);
  }
  for (const boost::json::key_value_pair& member : after) {
    if (member.value().is_null()) continue;
    const boost::json::value* was = before.if_contains(member.key());
    if (was != nullptr && was->is_object() && member.value().is_object()) {
      boost::json::object inner = MergePatchBetween(was->get_object(), member.value().get_object());
      if (!inner.empty()) patch.emplace(member.key(), std::move(inner));
    } else if (was == nullptr || *was != member.value()) {
      patch.emplace(member.key(), member.value());
    }
  }
  return patch;
}

}  // namespace gangway::api
