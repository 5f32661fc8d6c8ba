#include "cmd/snapshot/file/anonymise.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "base/strings.h"

namespace gangway::snapshot {
namespace {

namespace json = boost::json;
using api::AbslView;
using api::JsonView;

constexpr std::size_t kMaxAnnotation = 256;

template <std::size_t N>
bool IsOneOf(absl::string_view name, const absl::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Texts that somebody wrote, and what may be somebody's secret.
bool IsLeftOut(absl::string_view name) {
  static constexpr absl::string_view kLeftOut[] = {"args",    "binaryData", "command",    "data",
                                                   "env",     "envFrom",    "fieldPath",  "managedFields",
                                                   "message", "selfLink",   "stringData", "lastProbeTime"};
  return IsOneOf(name, kLeftOut);
}

// As Kubernetes writes the words of its own: "PodEvicted". Names are in lower case.
bool IsCamelCase(absl::string_view text) {
  return !text.empty() && absl::ascii_isupper(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); });
}

// Of members of documents that no table describes.
bool HoldsWordsOfKubernetes(absl::string_view name) {
  static constexpr absl::string_view kNames[] = {"accessModes", "effect",           "kind",       "nodeAffinityPolicy",
                                                 "operator",    "nodeTaintsPolicy", "volumeMode", "whenUnsatisfiable"};
  return IsOneOf(name, kNames);
}

bool IsKubernetesVersion(absl::string_view api_version) {
  return !absl::StrContains(api_version, '.') || IsWellKnownKey(api_version);
}

class Walk {
 public:
  explicit Walk(Pseudonyms& pseudonyms) : pseudonyms_(pseudonyms) {}

  void Object(json::object& object, const api::Type& table) {
    const json::value* const version = object.if_contains("apiVersion");
    const bool known_kind =
        version == nullptr || !version->is_string() || IsKubernetesVersion(AbslView(version->get_string()));
    for (auto at = object.begin(); at != object.end();) {
      const absl::string_view name = AbslView(at->key());
      const api::Field* const field = std::find_if(table.fields, table.fields + table.field_count,
                                                   [&](const api::Field& each) { return View(each.name) == name; });
      if (field == table.fields + table.field_count || IsLeftOut(name)) {
        at = api::EraseMember(object, at);
        continue;
      }
      if (name == "kind" && !known_kind) {
        Replace(at->value());
      } else {
        Member(at->value(), *field->type, *field);
      }
      ++at;
    }
  }

 private:
  void Member(json::value& value, const api::Type& type, const api::Field& field) {
    if (type.kind == api::Kind::kOptional) return Member(value, *type.element, field);
    if (value.is_object() && type.kind == api::Kind::kObject) return Object(value.get_object(), type);
    if (value.is_object() && type.kind == api::Kind::kMap) return Map(value.get_object(), *type.element, field);
    if (value.is_object() && field.name == "template") return Object(value.get_object(), api::TypeOf<api::core::Pod>());
    if (value.is_array() && type.kind == api::Kind::kList) {
      for (json::value& each : value.get_array()) Member(each, *type.element, field);
    } else if (value.is_string()) {
      Text(value, type, field);
    } else {
      Loose(value, View(field.name));
    }
  }

  void Map(json::object& map, const api::Type& element, const api::Field& field) {
    const bool quantities = element.kind == api::Kind::kQuantity;
    const bool words = element.kind == api::Kind::kList;  // names of job plugins
    json::object out(map.storage());
    for (auto& [key, value] : map) {
      const absl::string_view was = AbslView(key);
      if (field.name == "annotations" && !IsKept(was, value)) continue;
      if (value.is_string() && !quantities) {
        Replace(value);
      } else {
        Member(value, element, field);
      }
      const bool stays = words || (quantities && !absl::StrContains(was, '/')) ||
                         (element.kind != api::Kind::kString && IsCamelCase(was));  // phases that are counted
      out[JsonView(stays ? std::string(was) : pseudonyms_.OfKey(was))] = std::move(value);
    }
    map = std::move(out);
  }

  // What is read of annotations is one value; kubectl's own holds the whole object.
  static bool IsKept(absl::string_view key, const json::value& value) {
    if (!IsWellKnownKey(key) || absl::StartsWith(key, "kubectl.") || !value.is_string()) return false;
    const absl::string_view text = AbslView(value.get_string());
    return text.size() <= kMaxAnnotation && text.find_first_of("{\n") == absl::string_view::npos;
  }

  void Text(json::value& value, const api::Type& type, const api::Field& field) {
    const absl::string_view text = AbslView(value.get_string()), name = View(field.name);
    if (name == "apiVersion" && IsKubernetesVersion(text)) return;
    if ((type.kind == api::Kind::kTime || type.kind == api::Kind::kMicroTime) && api::ParseTime(text).ok()) return;
    if (type.kind == api::Kind::kQuantity && api::Quantity::Parse(text).ok()) return;
    if (name == "image") return Replace(value);
    if (name != "name" && IsCamelCase(text)) return;
    if (absl::StrContains(absl::StrCat(",", View(field.one_of), ","), absl::StrCat(",", text, ","))) return;
    // "--master=NAME" of a job plugin
    const std::size_t name_ends = absl::StartsWith(text, "--") ? text.find('=') : absl::string_view::npos;
    if (name_ends != absl::string_view::npos)
      return Set(value, absl::StrCat(text.substr(0, name_ends + 1), pseudonyms_.Of(text.substr(name_ends + 1))));
    Set(value, pseudonyms_.OfKey(text));
  }

  // What no table describes: its members keep their names, but where these are labels.
  void Loose(json::value& value, absl::string_view name) {
    if (value.is_array()) {
      for (json::value& each : value.get_array()) Loose(each, name);
    } else if (value.is_object()) {
      const bool labels = name == "matchLabels" || name == "labels" || name == "volumeAttributes";
      json::object out(value.storage());
      for (auto& [key, member] : value.get_object()) {
        const absl::string_view was = AbslView(key);
        if (!labels && IsLeftOut(was)) continue;
        Loose(member, was);
        out[JsonView(labels ? pseudonyms_.OfKey(was) : std::string(was))] = std::move(member);
      }
      value = std::move(out);
    } else if (value.is_string()) {
      const absl::string_view text = AbslView(value.get_string());
      if (!HoldsWordsOfKubernetes(name) || !IsCamelCase(text)) Set(value, pseudonyms_.OfKey(text));
    }
  }

  void Replace(json::value& value) {
    if (value.is_string()) Set(value, pseudonyms_.Of(AbslView(value.get_string())));
  }
  static void Set(json::value& value, const std::string& text) {
    value = json::string(JsonView(text), value.storage());
  }

  Pseudonyms& pseudonyms_;
};

}  // namespace

void Anonymise(json::object& object, const api::Type& table, Pseudonyms& pseudonyms) {
  Walk(pseudonyms).Object(object, table);
}

}  // namespace gangway::snapshot
