#include "api/manifest/yaml_writer.h"

#include <algorithm>
#include <vector>

#include <yaml-cpp/yaml.h>

#include "api/json_value.h"
#include "api/manifest/scalar.h"
#include "base/status_macros.h"

namespace gangway::api {
namespace {

namespace json = boost::json;

void EmitText(const json::string_view text, YAML::Emitter& out) {
  const bool plain = manifest::ResolveScalar({text.data(), text.size()}).type == manifest::ScalarType::kString;
  if (!plain || text.empty() || text == "<<") out << YAML::DoubleQuoted;
  out << std::string(text);
}

void Emit(const json::value& value, YAML::Emitter& out);

void EmitObject(const json::object& object, YAML::Emitter& out) {
  if (object.empty()) {
    out << YAML::Flow << YAML::BeginMap << YAML::EndMap;
    return;
  }
  std::vector<const json::key_value_pair*> members;
  for (const json::key_value_pair& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
  out << YAML::Block << YAML::BeginMap;
  for (const json::key_value_pair* member : members) {
    out << YAML::Key;
    EmitText(member->key(), out);
    out << YAML::Value;
    Emit(member->value(), out);
  }
  out << YAML::EndMap;
}

void EmitArray(const json::array& array, YAML::Emitter& out) {
  if (array.empty()) {
    out << YAML::Flow << YAML::BeginSeq << YAML::EndSeq;
    return;
  }
  out << YAML::Block << YAML::BeginSeq;
  for (const json::value& element : array) Emit(element, out);
  out << YAML::EndSeq;
}

void Emit(const json::value& value, YAML::Emitter& out) {
  if (value.is_object()) return EmitObject(value.get_object(), out);
  if (value.is_array()) return EmitArray(value.get_array(), out);
  if (value.is_string()) return EmitText(value.get_string(), out);
  if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << ToJson(value);  // true, false and numbers are the same in both
  }
}

}  // namespace

absl::StatusOr<std::string> YamlOf(absl::string_view text) {
  GW_ASSIGN_OR_RETURN(const json::value value, ParseJson(text));
  YAML::Emitter out;
  Emit(value, out);
  if (!out.good()) return absl::InternalError(out.GetLastError());
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace gangway::api
