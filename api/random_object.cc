#include "api/random_object.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace gangway::api {
namespace {

using Random = absl::FunctionRef<std::uint64_t()>;

std::uint64_t Below(Random random, std::uint64_t n) { return random() % n; }

// The edges are more likely than their share.
std::int64_t RandomInteger(Random random, std::int64_t low, std::int64_t high) {
  switch (Below(random, 8)) {
    case 0:
      return 0;
    case 1:
      return low;
    case 2:
      return high;
    case 3:
      return static_cast<std::int64_t>(Below(random, 100));
    default: {
      const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
      const std::uint64_t n = width == ~std::uint64_t{0} ? random() : Below(random, width + 1);
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + n);
    }
  }
}

std::string RandomText(Random random) {
  std::string out;
  for (std::uint64_t n = Below(random, 12); n > 0; --n) {
    switch (Below(random, 6)) {
      case 0:
        out += static_cast<char>(Below(random, 0x20));
        break;
      case 1:
        out += "\"\\/"[Below(random, 3)];
        break;
      case 2:
        AppendUtf8(static_cast<std::uint32_t>(0x80 + Below(random, 0xD800 - 0x80)), out);
        break;
      case 3:
        AppendUtf8(static_cast<std::uint32_t>(0xE000 + Below(random, 0x110000 - 0xE000)), out);
        break;
      default:
        out += static_cast<char>('a' + Below(random, 26));
    }
  }
  return out;
}

void WriteRandomJson(Random random, int depth, JsonWriter& w) {
  switch (Below(random, depth > 3 ? 3 : 5)) {
    case 0:
      w.Int(RandomInteger(random, -1000, 1000));
      return;
    case 1:
      w.String(RandomText(random));
      return;
    case 2:
      w.Bool(Below(random, 2) == 0);
      return;
    case 3:
      w.BeginArray();
      for (std::uint64_t n = Below(random, 4); n > 0; --n) WriteRandomJson(random, depth + 1, w);
      w.EndArray();
      return;
    default:
      w.BeginObject();
      for (std::uint64_t n = Below(random, 4); n > 0; --n) {
        w.Key(absl::StrCat(RandomText(random), n));  // the number keeps keys apart
        WriteRandomJson(random, depth + 1, w);
      }
      w.EndObject();
  }
}

absl::Time RandomTime(Random random, absl::Duration unit) {
  const absl::Time first = absl::FromCivil(absl::CivilSecond(1), absl::UTCTimeZone());
  const absl::Time last = absl::FromCivil(absl::CivilSecond(9999, 12, 31, 23, 59, 59), absl::UTCTimeZone());
  const std::int64_t span = (last - first) / unit;
  return first + unit * static_cast<std::int64_t>(Below(random, static_cast<std::uint64_t>(span)));
}

Quantity AnyQuantity(Random random) {
  const auto format = static_cast<Quantity::Format>(Below(random, 3));
  const std::int64_t n = RandomInteger(random, -(std::int64_t{1} << 50), std::int64_t{1} << 50);
  switch (Below(random, 3)) {
    case 0:
      return Quantity::FromUnits(n, format);
    case 1:
      return Quantity::FromMilli(n, format);
    default:
      return Quantity::FromUnits(n * (std::int64_t{1} << Below(random, 13)), format);
  }
}

// In the format that its own text has: 2000 as a binary quantity is written "2000", which reads as a decimal one.
Quantity RandomQuantity(Random random) { return *Quantity::Parse(AnyQuantity(random).ToString()); }

}  // namespace

void FillRandom(const Type& type, Random random, void* out) {
  constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
  switch (type.kind) {
    case Kind::kBool:
      *static_cast<bool*>(out) = Below(random, 2) == 0;
      return;
    case Kind::kInt32:
      *static_cast<std::int32_t*>(out) = static_cast<std::int32_t>(RandomInteger(random, -kMax32 - 1, kMax32));
      return;
    case Kind::kInt64:
      *static_cast<std::int64_t*>(out) = RandomInteger(random, -kMax64 - 1, kMax64);
      return;
    case Kind::kString:
      *static_cast<std::string*>(out) = RandomText(random);
      return;
    case Kind::kQuantity:
      *static_cast<Quantity*>(out) = RandomQuantity(random);
      return;
    case Kind::kTime:
      static_cast<Time*>(out)->at = RandomTime(random, absl::Seconds(1));
      return;
    case Kind::kMicroTime:
      static_cast<MicroTime*>(out)->at = RandomTime(random, absl::Microseconds(1));
      return;
    case Kind::kDocument: {
      JsonWriter writer(static_cast<Document*>(out)->json);
      WriteRandomJson(random, 0, writer);
      return;
    }
    case Kind::kOptional:
      if (Below(random, 2) == 0) FillRandom(*type.element, random, type.add(out, {}));
      return;
    case Kind::kList:
      for (std::uint64_t n = Below(random, 4); n > 0; --n) FillRandom(*type.element, random, type.add(out, {}));
      return;
    case Kind::kMap:
      for (std::uint64_t n = Below(random, 4); n > 0; --n) {
        FillRandom(*type.element, random, type.add(out, absl::StrCat(RandomText(random), n)));
      }
      return;
    case Kind::kObject:
      for (std::size_t i = 0; i < type.field_count; ++i) {
        if (Below(random, 4) != 0) FillRandom(*type.fields[i].type, random, type.fields[i].member(out));
      }
      return;
  }
}

namespace {

template <class T>
bool Equal(const void* a, const void* b) {
  return *static_cast<const T*>(a) == *static_cast<const T*>(b);
}

using Elements = std::vector<std::pair<std::string_view, const void*>>;

Elements ElementsOf(const Type& type, const void* container) {
  Elements out;
  type.each(container, &out, [](void* to, std::string_view key, const void* element) {
    static_cast<Elements*>(to)->emplace_back(key, element);
  });
  return out;
}

bool SameElements(const Type& type, const void* a, const void* b) {
  const Elements left = ElementsOf(type, a);
  const Elements right = ElementsOf(type, b);
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].first != right[i].first || !SameValue(*type.element, left[i].second, right[i].second)) return false;
  }
  return true;
}

}  // namespace

bool SameValue(const Type& type, const void* a, const void* b) {
  switch (type.kind) {
    case Kind::kBool:
      return Equal<bool>(a, b);
    case Kind::kInt32:
      return Equal<std::int32_t>(a, b);
    case Kind::kInt64:
      return Equal<std::int64_t>(a, b);
    case Kind::kString:
      return Equal<std::string>(a, b);
    case Kind::kQuantity:
      return Equal<Quantity>(a, b);
    case Kind::kTime:
      return Equal<Time>(a, b);
    case Kind::kMicroTime:
      return Equal<MicroTime>(a, b);
    case Kind::kDocument:
      return Equal<Document>(a, b);
    case Kind::kOptional:
    case Kind::kList:
    case Kind::kMap:
      return SameElements(type, a, b);
    case Kind::kObject:
      for (std::size_t i = 0; i < type.field_count; ++i) {
        const Field& field = type.fields[i];
        if (!SameValue(*field.type, field.member(const_cast<void*>(a)), field.member(const_cast<void*>(b))))
          return false;
      }
      return true;
  }
  return false;
}

}  // namespace gangway::api
