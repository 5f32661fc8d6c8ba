// Kubernetes' resource.Quantity, exact: "100m", "1.5Gi", "12e6". No floating point.
// Grammar and range: k8s.io/apimachinery/pkg/api/resource.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api {

// A whole number of nano-units between -2^63 and 2^63-1 units, and the suffix family it is written in.
class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  constexpr Quantity() = default;
  // Parts finer than nano are rounded away from zero, as Kubernetes does; a value out of range is OutOfRange,
  // anything else that does not parse InvalidArgument.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);
  static Quantity FromUnits(std::int64_t units, Format format = Format::kDecimalSI);
  static Quantity FromMilli(std::int64_t milli, Format format = Format::kDecimalSI);

  // Kubernetes' canonical text: no fraction, the largest suffix that keeps the number whole.
  std::string ToString() const;

  // Rounded up (away from zero); OutOfRange when the result does not fit 64 bits.
  absl::StatusOr<std::int64_t> Units() const;
  absl::StatusOr<std::int64_t> Milli() const;

  bool zero() const { return nanos_ == 0; }
  bool negative() const { return nanos_ < 0; }
  Format format() const { return format_; }

  // The result keeps this one's format (a zero takes the other's, as in Kubernetes); OutOfRange on overflow.
  absl::StatusOr<Quantity> Plus(const Quantity& other) const;
  absl::StatusOr<Quantity> Minus(const Quantity& other) const;
  absl::StatusOr<Quantity> Times(std::int64_t factor) const;

  // By value; the format does not count.
  friend constexpr bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend constexpr std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.nanos_ < b.nanos_   ? std::strong_ordering::less
           : a.nanos_ > b.nanos_ ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
  }

 private:
  __extension__ using Int128 = __int128;
  constexpr Quantity(Int128 nanos, Format format) : nanos_(nanos), format_(format) {}
  Int128 nanos_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace gangway::api
