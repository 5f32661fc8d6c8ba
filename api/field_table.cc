#include "api/field_table.h"

#include <charconv>
#include <limits>
#include <utility>

#include <simdjson.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/name.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

namespace od = simdjson::ondemand;

constexpr std::size_t kMaxReported =
    100;  // unknown fields, and duplicates; an object that is wrong everywhere needs no longer list

// Where the driver is: a list from the leaf up, on the stack. A key, or an index when the key is null.
struct Path {
  const Path* up;
  std::string_view key;
  std::size_t index;
};

void Render(const Path* path, std::string& out) {
  if (path == nullptr) return;
  Render(path->up, out);
  if (path->key.data() == nullptr) {
    absl::StrAppend(&out, "[", path->index, "]");
  } else {
    absl::StrAppend(&out, out.empty() ? "" : ".", View(path->key));
  }
}

std::string Render(const Path* path) {
  std::string out;
  Render(path, out);
  return out;
}

// Back to what a fresh value is; for keys that stand twice.
void Clear(const Type& type, void* out) {
  switch (type.kind) {
    case Kind::kBool:
      *static_cast<bool*>(out) = false;
      return;
    case Kind::kInt32:
      *static_cast<std::int32_t*>(out) = 0;
      return;
    case Kind::kInt64:
      *static_cast<std::int64_t*>(out) = 0;
      return;
    case Kind::kString:
      static_cast<std::string*>(out)->clear();
      return;
    case Kind::kQuantity:
      *static_cast<Quantity*>(out) = Quantity();
      return;
    case Kind::kTime:
      *static_cast<Time*>(out) = Time();
      return;
    case Kind::kMicroTime:
      *static_cast<MicroTime*>(out) = MicroTime();
      return;
    case Kind::kDocument:
      static_cast<Document*>(out)->json.clear();
      return;
    case Kind::kOptional:
    case Kind::kList:
    case Kind::kMap:
      type.clear(out);
      return;
    case Kind::kObject:
      for (std::size_t i = 0; i < type.field_count; ++i) Clear(*type.fields[i].type, type.fields[i].member(out));
      return;
  }
}

// Fields mostly arrive in the table's order, so the look-up starts where the last one ended.
std::size_t FindField(const Type& type, std::string_view key, std::size_t guess) {
  const std::uint16_t hint = HintOf(key);
  const auto is = [&](std::size_t i) { return type.hints[i] == hint && type.fields[i].name == key; };
  for (std::size_t i = guess; i < type.field_count; ++i)
    if (is(i)) return i;
  for (std::size_t i = 0; i < guess; ++i)
    if (is(i)) return i;
  return type.field_count;
}

absl::string_view Trimmed(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return View(token);
}

class Decoder {
 public:
  explicit Decoder(DecodeReport& report) : report_(report) {}

  // False: the report says why. The table's types are not recursive, so neither depth nor stack needs a limit here.
  bool Value(od::value& v, const Type& type, void* out, const Path* path) {
    switch (type.kind) {
      case Kind::kBool:
        return v.get_bool().get(*static_cast<bool*>(out)) == simdjson::SUCCESS || Wrong(path, "must be a boolean");
      case Kind::kInt32:
        return Int32(v, *static_cast<std::int32_t*>(out), path);
      case Kind::kInt64:
        return v.get_int64().get(*static_cast<std::int64_t*>(out)) == simdjson::SUCCESS || WrongInteger(v, path, "64");
      case Kind::kString: {
        std::string_view s;
        if (v.get_string().get(s) != simdjson::SUCCESS) return Wrong(path, "must be a string");
        static_cast<std::string*>(out)->assign(s);
        return true;
      }
      case Kind::kQuantity:
        return ReadQuantity(v, *static_cast<Quantity*>(out), path);
      case Kind::kTime: {
        absl::Time& at = static_cast<Time*>(out)->at;
        if (!ReadTime(v, at, path)) return false;
        at = absl::FromUnixSeconds(absl::ToUnixSeconds(at));
        return true;
      }
      case Kind::kMicroTime: {
        absl::Time& at = static_cast<MicroTime*>(out)->at;
        if (!ReadTime(v, at, path)) return false;
        at = absl::FromUnixMicros(absl::ToUnixMicros(at));
        return true;
      }
      case Kind::kDocument:
        return Raw(v, static_cast<Document*>(out)->json, path);
      case Kind::kOptional:
        return Value(v, *type.element, type.add(out, {}), path);
      case Kind::kList:
        return List(v, type, out, path);
      case Kind::kMap:
        return Map(v, type, out, path);
      case Kind::kObject:
        return Object(v, type, out, path);
    }
    return false;
  }

 private:
  bool Int32(od::value& v, std::int32_t& out, const Path* path) {
    std::int64_t n = 0;
    if (v.get_int64().get(n) != simdjson::SUCCESS || n < std::numeric_limits<std::int32_t>::min() ||
        n > std::numeric_limits<std::int32_t>::max()) {
      return WrongInteger(v, path, "32");
    }
    out = static_cast<std::int32_t>(n);
    return true;
  }

  bool WrongInteger(od::value& v, const Path* path, absl::string_view bits) {
    // The token is still the value's own: all digits means that only its size is wrong.
    absl::string_view token = Trimmed(v.raw_json_token());
    if (absl::StartsWith(token, "-")) token.remove_prefix(1);
    const bool whole = !token.empty() && token.find_first_not_of("0123456789") == absl::string_view::npos;
    if (whole) return Wrong(path, absl::StrCat("must be a ", bits, "-bit integer"));
    return Wrong(path, "must be an integer");
  }

  bool ReadQuantity(od::value& v, Quantity& out, const Path* path) {
    od::json_type type;
    if (v.type().get(type) != simdjson::SUCCESS) return Wrong(path, "must be a quantity");
    std::string_view text;
    if (type == od::json_type::string) {
      if (v.get_string().get(text) != simdjson::SUCCESS) return Wrong(path, "must be a quantity");
    } else if (type == od::json_type::number) {
      text = StdView(Trimmed(v.raw_json_token()));
      double checked = 0;  // the token is only delimited: "1x" must not pass as a number
      if (v.get_double().get(checked) != simdjson::SUCCESS) return Wrong(path, "must be a quantity");
    } else {
      return Wrong(path, "must be a quantity");
    }
    absl::StatusOr<Quantity> parsed = Quantity::Parse(View(text));
    if (!parsed.ok()) return Wrong(path, parsed.status().message());
    out = *parsed;
    return true;
  }

  bool ReadTime(od::value& v, absl::Time& out, const Path* path) {
    std::string_view text;
    if (v.get_string().get(text) != simdjson::SUCCESS) return Wrong(path, "must be a time");
    const absl::StatusOr<absl::Time> parsed = ParseTime(View(text));
    if (!parsed.ok()) return Wrong(path, parsed.status().message());
    out = *parsed;
    return true;
  }

  bool Raw(od::value& v, std::string& out, const Path* path) {
    od::json_type type;
    if (v.type().get(type) != simdjson::SUCCESS) return Wrong(path, "must be a JSON value");
    std::string_view raw;
    if (type == od::json_type::object) {
      od::object object;
      if (v.get_object().get(object) != simdjson::SUCCESS || object.raw_json().get(raw) != simdjson::SUCCESS) {
        return Wrong(path, "must be a JSON object");
      }
    } else if (type == od::json_type::array) {
      od::array array;
      if (v.get_array().get(array) != simdjson::SUCCESS || array.raw_json().get(raw) != simdjson::SUCCESS) {
        return Wrong(path, "must be a JSON list");
      }
    } else {
      raw = v.raw_json_token();
    }
    const absl::string_view text = Trimmed(raw);
    out.assign(text.data(), text.size());
    return true;
  }

  bool List(od::value& v, const Type& type, void* out, const Path* path) {
    od::array array;
    if (v.get_array().get(array) != simdjson::SUCCESS) return Wrong(path, "must be a list");
    Path here{path, {}, 0};
    for (auto item : array) {
      if (item.error() != simdjson::SUCCESS) return Broken(&here);
      od::value&& element = std::move(item).value_unsafe();  // a copy costs more than the rest of the step
      if (!Present(element, &here)) return false;
      if (!Value(element, *type.element, type.add(out, {}), &here)) return false;
      ++here.index;
    }
    return true;
  }

  bool Map(od::value& v, const Type& type, void* out, const Path* path) {
    od::object object;
    if (v.get_object().get(object) != simdjson::SUCCESS) return Wrong(path, "must be an object");
    for (auto item : object) {
      if (item.error() != simdjson::SUCCESS) return Broken(path);
      od::field&& member = std::move(item).value_unsafe();
      std::string_view key;
      if (member.unescaped_key().get(key) != simdjson::SUCCESS) return Broken(path);
      const Path here{path, key, 0};
      od::value& element = member.value();
      if (!Present(element, &here)) return false;
      const std::size_t before = type.size(out);
      void* to = type.add(out, key);
      if (type.size(out) == before) {
        Note(&here, report_.duplicate);
        Clear(*type.element, to);
      }
      if (!Value(element, *type.element, to, &here)) return false;
    }
    return true;
  }

  bool Object(od::value& v, const Type& type, void* out, const Path* path) {
    od::object object;
    if (v.get_object().get(object) != simdjson::SUCCESS) return Wrong(path, "must be an object");
    std::uint64_t seen = 0;
    std::size_t guess = 0;
    for (auto item : object) {
      if (item.error() != simdjson::SUCCESS) return Broken(path);
      od::field&& member = std::move(item).value_unsafe();
      std::size_t i = 0;
      if (!KeyOf(member, type, path, guess, i)) return false;
      if (i == type.field_count) continue;
      guess = i + 1;
      const Field& field = type.fields[i];
      const Path here{path, field.name, 0};
      od::value& value = member.value();
      bool null = false;
      if (value.is_null().get(null) != simdjson::SUCCESS) return Broken(&here);
      const bool again = (seen >> i & 1) != 0;
      seen |= std::uint64_t{1} << i;
      void* to = field.member(out);
      if (again) {
        Note(&here, report_.duplicate);
        Clear(*field.type, to);
      }
      if (!null && !Value(value, *field.type, to, &here)) return false;
    }
    return true;
  }

  // The index of the member's field, field_count when there is none (which is reported).
  bool KeyOf(od::field& member, const Type& type, const Path* path, std::size_t guess, std::size_t& index) {
    if (guess < type.field_count && member.key().unsafe_is_equal(type.fields[guess].name)) {
      index = guess;
      return true;
    }
    std::string_view key;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS) return Broken(path);
    index = FindField(type, key, guess);
    if (index == type.field_count && !type.view) {
      const Path here{path, key, 0};
      Note(&here, report_.unknown);
    }
    return true;
  }

  bool Present(od::value& v, const Path* path) {
    bool null = false;
    if (v.is_null().get(null) != simdjson::SUCCESS) return Broken(path);
    return !null || Wrong(path, "must not be null");
  }

  static void Note(const Path* path, std::vector<std::string>& paths) {
    if (paths.size() < kMaxReported) paths.push_back(Render(path));
  }
  bool Wrong(const Path* path, absl::string_view what) {
    const std::string at = Render(path);
    report_.status = absl::InvalidArgumentError(at.empty() ? std::string(what) : absl::StrCat(at, ": ", what));
    return false;
  }
  // The syntax is wrong at or after `path`.
  bool Broken(const Path* path) { return Wrong(path, "not valid JSON"); }

  DecodeReport& report_;
};

// Kept for the next document: what is needed for one of so many bytes. A list's page takes megabytes, and comes once.
constexpr std::size_t kKeptForBytes = 256 << 10;

struct ParserMemory {
  od::parser parser;
  std::string padded;
};

DecodeReport DecodeIn(ParserMemory& memory, absl::string_view json, const Type& type, void* out) {
  std::string& padded = memory.padded;
  padded.reserve(json.size() + simdjson::SIMDJSON_PADDING);
  padded.assign(json.data(), json.size());
  DecodeReport report;
  od::document document;
  od::value root;
  if (memory.parser.iterate(padded.data(), padded.size(), padded.capacity()).get(document) != simdjson::SUCCESS) {
    report.status = absl::InvalidArgumentError("not valid JSON");
    return report;
  }
  if (document.get_value().get(root) != simdjson::SUCCESS) {
    report.status = absl::InvalidArgumentError("must be an object");
    return report;
  }
  if (!Decoder(report).Value(root, type, out, nullptr)) return report;
  const char* rest = nullptr;  // past the last token there is no location
  if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
    report.status = absl::InvalidArgumentError("not valid JSON: something follows the object");
  }
  return report;
}

}  // namespace

DecodeReport DecodeInto(absl::string_view json, const Type& type, void* out) {
  thread_local ParserMemory memory;
  if (json.size() <= kKeptForBytes) return DecodeIn(memory, json, type, out);
  ParserMemory once;
  return DecodeIn(once, json, type, out);
}

// --- out

namespace {

template <class N>
void AppendNumber(N n, std::string& out) {
  char text[24];
  out.append(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, n).ptr - text));
}

void AppendTime(absl::Time t, std::string (*format)(absl::Time), std::string& out) {
  if (t == absl::InfinitePast()) {
    out += "null";
  } else {
    absl::StrAppend(&out, "\"", format(t), "\"");
  }
}

bool SaysNothing(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::kBool:
      return !*static_cast<const bool*>(value);
    case Kind::kInt32:
      return *static_cast<const std::int32_t*>(value) == 0;
    case Kind::kInt64:
      return *static_cast<const std::int64_t*>(value) == 0;
    case Kind::kString:
      return static_cast<const std::string*>(value)->empty();
    case Kind::kQuantity:
      return static_cast<const Quantity*>(value)->zero();
    case Kind::kTime:
      return !static_cast<const Time*>(value)->set();
    case Kind::kMicroTime:
      return !static_cast<const MicroTime*>(value)->set();
    case Kind::kDocument:
      return static_cast<const Document*>(value)->empty();
    case Kind::kOptional:
    case Kind::kList:
    case Kind::kMap:
      return type.size(value) == 0;
    case Kind::kObject:
      for (std::size_t i = 0; i < type.field_count; ++i) {
        const Field& field = type.fields[i];
        if (field.keep_zero || !SaysNothing(*field.type, field.member(const_cast<void*>(value)))) return false;
      }
      return true;
  }
  return false;
}

void EncodeElements(const Type& type, const void* value, std::string& out) {
  struct Context {
    const Type& element;
    std::string& out;
    bool map;
    bool first;
  } context{*type.element, out, type.kind == Kind::kMap, true};
  type.each(value, &context, [](void* c, std::string_view key, const void* element) {
    Context& to = *static_cast<Context*>(c);
    if (!to.first) to.out += ',';
    to.first = false;
    if (to.map) {
      AppendJsonString(View(key), to.out);
      to.out += ':';
    }
    EncodeTo(to.element, element, to.out);
  });
}

void EncodeObject(const Type& type, const void* value, std::string& out) {
  char before = '{';
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const Field& field = type.fields[i];
    const void* member =
        field.member(const_cast<void*>(value));  // read only: a field's function serves both directions
    if (!field.keep_zero && !field.required && SaysNothing(*field.type, member)) continue;
    out += before;
    before = ',';
    absl::StrAppend(&out, "\"", View(field.name), "\":");
    EncodeTo(*field.type, member, out);
  }
  if (before == '{') out += '{';
  out += '}';
}

}  // namespace

void EncodeTo(const Type& type, const void* value, std::string& out) {
  switch (type.kind) {
    case Kind::kBool:
      out += *static_cast<const bool*>(value) ? "true" : "false";
      return;
    case Kind::kInt32:
      return AppendNumber(*static_cast<const std::int32_t*>(value), out);
    case Kind::kInt64:
      return AppendNumber(*static_cast<const std::int64_t*>(value), out);
    case Kind::kString:
      return AppendJsonString(*static_cast<const std::string*>(value), out);
    case Kind::kQuantity:
      return AppendJsonString(static_cast<const Quantity*>(value)->ToString(), out);
    case Kind::kTime:
      return AppendTime(static_cast<const Time*>(value)->at, FormatTime, out);
    case Kind::kMicroTime:
      return AppendTime(static_cast<const MicroTime*>(value)->at, FormatMicroTime, out);
    case Kind::kDocument: {
      const Document& document = *static_cast<const Document*>(value);
      out += document.empty() ? "null" : document.json;
      return;
    }
    case Kind::kOptional:
      if (type.size(value) == 0) out += "null";
      return EncodeElements(type, value, out);
    case Kind::kList:
      out += '[';
      EncodeElements(type, value, out);
      out += ']';
      return;
    case Kind::kMap:
      out += '{';
      EncodeElements(type, value, out);
      out += '}';
      return;
    case Kind::kObject:
      return EncodeObject(type, value, out);
  }
}

// --- schema

namespace {

// controller-gen's pattern of quantities.
constexpr absl::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

absl::string_view PatternOf(std::string_view name) {
  return name == "dns1123label" ? kDns1123LabelRegex : name == "dns1123subdomain" ? kDns1123SubdomainRegex : View(name);
}

void WriteEnum(std::string_view one_of, JsonWriter& w) {
  if (one_of.empty()) return;
  w.Key("enum").BeginArray();
  for (const absl::string_view value : absl::StrSplit(View(one_of), ',')) w.String(value);
  w.EndArray();
}

void Write(const Type& type, const Field* field, JsonWriter& w);

void WriteProperties(const Type& type, JsonWriter& w) {
  w.Field("type", "object").Key("properties").BeginObject();
  bool any_required = false;
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const Field& field = type.fields[i];
    w.Key(View(field.name));
    Write(*field.type, &field, w);
    any_required = any_required || field.required;
  }
  w.EndObject();
  if (!any_required) return;
  w.Key("required").BeginArray();
  for (std::size_t i = 0; i < type.field_count; ++i) {
    if (type.fields[i].required) w.String(View(type.fields[i].name));
  }
  w.EndArray();
}

void WriteShape(const Type& type, const Field* field, JsonWriter& w) {
  switch (type.kind) {
    case Kind::kBool:
      w.Field("type", "boolean");
      return;
    case Kind::kInt32:
      w.Field("type", "integer").Field("format", "int32");
      return;
    case Kind::kInt64:
      w.Field("type", "integer").Field("format", "int64");
      return;
    case Kind::kString:
      w.Field("type", "string");
      if (field != nullptr) WriteEnum(field->one_of, w);
      return;
    case Kind::kQuantity:
      w.Key("anyOf").BeginArray().BeginObject().Field("type", "integer").EndObject();
      w.BeginObject().Field("type", "string").EndObject().EndArray();
      w.Field("pattern", kQuantityPattern).Field("x-kubernetes-int-or-string", true);
      return;
    case Kind::kTime:
    case Kind::kMicroTime:
      w.Field("type", "string").Field("format", "date-time");
      return;
    case Kind::kDocument:
      w.Field("x-kubernetes-preserve-unknown-fields", true);
      return;
    case Kind::kOptional:
      return WriteShape(*type.element, field, w);
    case Kind::kList:
      w.Field("type", "array").Key("items").BeginObject();
      WriteShape(*type.element, field, w);
      w.EndObject();
      if (field != nullptr && !field->list_key.empty()) {
        w.Key("x-kubernetes-list-map-keys").BeginArray().String(View(field->list_key)).EndArray();
        w.Field("x-kubernetes-list-type", "map");
      }
      return;
    case Kind::kMap:
      w.Field("type", "object").Key("additionalProperties").BeginObject();
      WriteShape(*type.element, nullptr, w);
      w.EndObject();
      return;
    case Kind::kObject:
      return WriteProperties(type, w);
  }
}

void WriteRules(const Field& field, JsonWriter& w) {
  if (!field.doc.empty()) w.Field("description", field.doc);
  if (field.minimum) w.Field("minimum", *field.minimum);
  if (field.maximum) w.Field("maximum", *field.maximum);
  if (field.default_value) {
    const Type& type = field.type->kind == Kind::kOptional ? *field.type->element : *field.type;
    if (type.kind == Kind::kBool) {
      w.Field("default", *field.default_value != 0);
    } else {
      w.Field("default", *field.default_value);
    }
  }
  if (!field.default_text.empty()) w.Field("default", field.default_text);
  if (!field.pattern.empty()) w.Field("pattern", absl::StrCat("^", PatternOf(field.pattern), "$"));
  if (field.max_length) w.Field("maxLength", *field.max_length);
  if (field.min_length) w.Field("minLength", *field.min_length);
  if (field.min_items) w.Field("minItems", *field.min_items);
}

void Write(const Type& type, const Field* field, JsonWriter& w) {
  w.BeginObject();
  WriteShape(type, field, w);
  if (field != nullptr) WriteRules(*field, w);
  w.EndObject();
}

}  // namespace

void WriteSchema(const Type& type, std::string& out) {
  JsonWriter writer(out);
  Write(type, nullptr, writer);
}

}  // namespace gangway::api
