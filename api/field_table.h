// The fields of an API type, listed once.
//
// A table is data: Fields() of a type returns an array of `Field`, and a field points at a `Type` (its JSON shape) and
// at a function that finds the member. One non-template driver in field_table.cc walks it to decode, to encode and to
// write a schema, so a new type costs a few hundred bytes and this header includes no parser.
//
// At most 64 fields a type, no recursive types, no std::vector<bool>. Null is absent, in fields; in lists and maps it
// is an error. A type with `static constexpr bool kView = true` is a part of somebody else's type: other fields are no
// news, and it is never encoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/quantity.h"

namespace gangway::api {

// A JSON value kept as it was written. Empty: absent.
struct Document {
  std::string json;
  bool empty() const { return json.empty(); }
  friend bool operator==(const Document&, const Document&) = default;
};

// metav1.Time: RFC 3339, whole seconds. absl::InfinitePast() is absent.
struct Time {
  absl::Time at = absl::InfinitePast();
  bool set() const { return at != absl::InfinitePast(); }
  friend bool operator==(const Time&, const Time&) = default;
};
// metav1.MicroTime: RFC 3339 with microseconds.
struct MicroTime {
  absl::Time at = absl::InfinitePast();
  bool set() const { return at != absl::InfinitePast(); }
  friend bool operator==(const MicroTime&, const MicroTime&) = default;
};
std::string FormatTime(absl::Time t);                          // "2026-11-21T05:11:53Z"
std::string FormatMicroTime(absl::Time t);                     // "2026-11-21T05:11:53.123456Z"
absl::StatusOr<absl::Time> ParseTime(absl::string_view text);  // both, any offset

enum class Kind : std::uint8_t {
  kBool,
  kInt32,
  kInt64,
  kString,
  kQuantity,
  kTime,
  kMicroTime,
  kDocument,
  kOptional,
  kList,
  kMap,
  kObject
};

struct Field;

inline constexpr std::string_view kNoColon = "[^:]+";  // a pattern

// One C++ type as JSON sees it. The functions are set only for containers.
struct Type {
  Kind kind;
  std::string_view name;          // objects: the schema's name
  const Type* element = nullptr;  // optional, list, map
  const Field* fields = nullptr;  // objects
  std::size_t field_count = 0;
  void* (*add)(void* container,
               std::string_view key) = nullptr;  // the new element; of maps also one that is there already
  std::size_t (*size)(const void* container) = nullptr;
  void (*each)(const void* container, void* context,
               void (*visit)(void* context, std::string_view key, const void* element)) = nullptr;
  bool view = false;
  void (*clear)(void* container) = nullptr;
  const std::uint16_t* hints = nullptr;  // objects: HintOf each field's name
};

// Tells most names apart; the names themselves lie far from each other.
constexpr std::uint16_t HintOf(std::string_view name) {
  const auto last = name.empty() ? '\0' : name.back();
  return static_cast<std::uint16_t>(name.size() << 8 | static_cast<unsigned char>(last));
}

struct Field {
  std::string_view name;
  std::string_view doc;
  void* (*member)(void* object);
  const Type* type;
  bool required = false;
  bool keep_zero = false;  // Go's field without omitempty
  std::optional<std::int64_t> minimum = {}, maximum = {};
  std::optional<std::int64_t> default_value = {};
  std::string_view default_text = {};  // of string fields
  std::string_view one_of = {};        // of string fields: the allowed values, comma separated
  std::string_view pattern = {};       // of string fields: "dns1123label", "dns1123subdomain" or kNoColon
  std::optional<std::int64_t> max_length = {}, min_length = {}, min_items = {};
  std::string_view list_key = {};  // of lists of objects: the key that makes an element unique

  constexpr Field Required() const {
    Field f = *this;
    f.required = true;
    return f;
  }
  constexpr Field KeepZero() const {
    Field f = *this;
    f.keep_zero = true;
    return f;
  }
  constexpr Field Minimum(std::int64_t v) const {
    Field f = *this;
    f.minimum = v;
    return f;
  }
  constexpr Field Maximum(std::int64_t v) const {
    Field f = *this;
    f.maximum = v;
    return f;
  }
  constexpr Field Default(std::int64_t v) const {
    Field f = *this;
    f.default_value = v;
    return f;
  }
  constexpr Field Default(std::string_view v) const {
    Field f = *this;
    f.default_text = v;
    return f;
  }
  constexpr Field OneOf(std::string_view v) const {
    Field f = *this;
    f.one_of = v;
    return f;
  }
  constexpr Field Pattern(std::string_view v) const {
    Field f = *this;
    f.pattern = v;
    return f;
  }
  constexpr Field MaxLength(std::int64_t v) const {
    Field f = *this;
    f.max_length = v;
    return f;
  }
  constexpr Field MinLength(std::int64_t v) const {
    Field f = *this;
    f.min_length = v;
    return f;
  }
  constexpr Field MinItems(std::int64_t v) const {
    Field f = *this;
    f.min_items = v;
    return f;
  }
  constexpr Field ListKey(std::string_view v) const {
    Field f = *this;
    f.list_key = v;
    return f;
  }
};

namespace internal {

template <class T>
concept View = requires { T::kView; };

template <class T>
inline constexpr auto kFieldsOf = T::Fields();  // found when first used
template <class T>
inline constexpr auto kHintsOf = [] {
  constexpr auto& fields = kFieldsOf<T>;
  static_assert(fields.size() <= 64, "the driver keeps one bit per field");
  std::array<std::uint16_t, fields.size()> hints{};
  for (std::size_t i = 0; i < hints.size(); ++i) hints[i] = HintOf(fields[i].name);
  return hints;
}();

// Objects. What is in the header of a kind is read by many sources, its table is wanted in one: the header ends with an
// `extern template struct` of this, and a source of its folder has the `template struct`.
template <class T>
struct TypeFor {
  static const Type kType;
};
template <class T>
constinit const Type TypeFor<T>::kType{
    Kind::kObject, T::kName, nullptr, kFieldsOf<T>.data(), kFieldsOf<T>.size(), nullptr, nullptr,
    nullptr,       View<T>,  nullptr, kHintsOf<T>.data()};

template <Kind K>
struct Leaf {
  static constexpr Type kType{K, {}};
};
template <>
struct TypeFor<bool> : Leaf<Kind::kBool> {};
template <>
struct TypeFor<std::int32_t> : Leaf<Kind::kInt32> {};
template <>
struct TypeFor<std::int64_t> : Leaf<Kind::kInt64> {};
template <>
struct TypeFor<std::string> : Leaf<Kind::kString> {};
template <>
struct TypeFor<Quantity> : Leaf<Kind::kQuantity> {};
template <>
struct TypeFor<Time> : Leaf<Kind::kTime> {};
template <>
struct TypeFor<MicroTime> : Leaf<Kind::kMicroTime> {};
template <>
struct TypeFor<Document> : Leaf<Kind::kDocument> {};

template <class T>
struct TypeFor<std::optional<T>> {
  using C = std::optional<T>;
  static constexpr Type kType{
      Kind::kOptional,
      {},
      &TypeFor<T>::kType,
      nullptr,
      0,
      [](void* c, std::string_view) -> void* { return &static_cast<C*>(c)->emplace(); },
      [](const void* c) -> std::size_t { return static_cast<const C*>(c)->has_value() ? 1 : 0; },
      [](const void* c, void* x, void (*visit)(void*, std::string_view, const void*)) {
        if (const C& o = *static_cast<const C*>(c)) visit(x, {}, &*o);
      },
      false,
      [](void* c) { static_cast<C*>(c)->reset(); }};
};
template <class T>
struct TypeFor<std::vector<T>> {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to point at");
  using C = std::vector<T>;
  static constexpr Type kType{Kind::kList,
                              {},
                              &TypeFor<T>::kType,
                              nullptr,
                              0,
                              [](void* c, std::string_view) -> void* { return &static_cast<C*>(c)->emplace_back(); },
                              [](const void* c) -> std::size_t { return static_cast<const C*>(c)->size(); },
                              [](const void* c, void* x, void (*visit)(void*, std::string_view, const void*)) {
                                for (const T& e : *static_cast<const C*>(c)) visit(x, {}, &e);
                              },
                              false,
                              [](void* c) { static_cast<C*>(c)->clear(); }};
};
template <class T>
struct TypeFor<std::map<std::string, T>> {
  using C = std::map<std::string, T>;
  static constexpr Type kType{
      Kind::kMap,
      {},
      &TypeFor<T>::kType,
      nullptr,
      0,
      [](void* c, std::string_view key) -> void* { return &(*static_cast<C*>(c))[std::string(key)]; },
      [](const void* c) -> std::size_t { return static_cast<const C*>(c)->size(); },
      [](const void* c, void* x, void (*visit)(void*, std::string_view, const void*)) {
        for (const auto& [k, v] : *static_cast<const C*>(c)) visit(x, k, &v);
      },
      false,
      [](void* c) { static_cast<C*>(c)->clear(); }};
};

template <class M>
struct MemberOf;
template <class T, class O>
struct MemberOf<T O::*> {
  using Object = O;
  using Value = T;
};

}  // namespace internal

template <class T>
constexpr const Type& TypeOf() {
  return internal::TypeFor<T>::kType;
}

// MakeField<&TaskSpec::replicas>("replicas", "how many pods").Minimum(0)
template <auto M>
constexpr Field MakeField(std::string_view name, std::string_view doc) {
  using P = internal::MemberOf<decltype(M)>;
  return {name, doc, [](void* o) -> void* { return &(static_cast<typename P::Object*>(o)->*M); },
          &TypeOf<typename P::Value>()};
}
template <class... F>
constexpr std::array<Field, sizeof...(F)> MakeFields(F... f) {
  return {f...};
}

// What a decode has to say; at most the first hundred paths of each kind.
struct DecodeReport {
  absl::Status status;                 // InvalidArgument: "spec.tasks[1].replicas: must be an integer"
  std::vector<std::string> unknown;    // paths of fields no table knows
  std::vector<std::string> duplicate;  // paths
};

// Fills `out`, a fresh object, list or map of that type. Pure; one parser per thread inside. `json` needs no padding of
// its own. Rules such as required, minimum and enum are not judged here (schema validation does); types and syntax are.
// A key that stands twice counts the last time, as everywhere in Kubernetes. After an error `out` holds what came
// before it. Bytes from outside must have passed ParseCompletely (api/json.h) before, since parts that are skipped are
// not checked.
DecodeReport DecodeInto(absl::string_view json, const Type& type, void* out);
// Appends. Fields stand in the table's order; those that say nothing are left out unless required or keep_zero.
void EncodeTo(const Type& type, const void* value, std::string& out);

// Appends the OpenAPI v3 structural schema of a type, as JSON. The same table always gives the same text.
void WriteSchema(const Type& type, std::string& out);

template <class T>
absl::StatusOr<T> Decode(absl::string_view json) {
  T out;
  DecodeReport report = DecodeInto(json, TypeOf<T>(), &out);
  if (!report.status.ok()) return report.status;
  return out;
}
template <class T>
std::string Encode(const T& value) {
  static_assert(!internal::View<T>, "a view is never encoded");
  std::string out;
  EncodeTo(TypeOf<T>(), &value, out);
  return out;
}

}  // namespace gangway::api
