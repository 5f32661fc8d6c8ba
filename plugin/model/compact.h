// Members of what there is a great many of, in fewer bytes than their usual types take.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::model {

inline constexpr std::size_t kCacheLine = 64;

// Before one more is added. Of a great many, room for twice as many would be half a table of nothing.
template <class T>
void GrowByQuarters(std::vector<T>& all) {
  if (all.size() == all.capacity()) all.reserve(all.size() + all.size() / 4 + 8);
}

// A number of 31 bits and a flag.
class Flagged {
 public:
  Flagged(std::int32_t number, bool flag) : both_(number * 2 + (flag ? 1 : 0)) {}
  std::int32_t number() const { return both_ >> 1; }
  bool flag() const { return (both_ & 1) != 0; }

 private:
  std::int32_t both_;
};

// A text that something else keeps for as long as this is there (names.h).
class TextOfOther {
 public:
  TextOfOther() = default;
  explicit TextOfOther(const std::string& kept) : kept_(&kept) {}
  absl::string_view view() const { return kept_ == nullptr ? absl::string_view() : absl::string_view(*kept_); }
  operator absl::string_view() const { return view(); }         // NOLINT(google-explicit-constructor): it is one
  operator std::string() const { return std::string(view()); }  // NOLINT(google-explicit-constructor)
  friend bool operator==(const TextOfOther& a, absl::string_view b) { return a.view() == b; }
  friend bool operator==(const TextOfOther& a, const TextOfOther& b) { return a.view() == b.view(); }
  friend std::strong_ordering operator<=>(const TextOfOther& a, const TextOfOther& b) {
    return a.view().compare(b.view()) <=> 0;
  }

 private:
  const std::string* kept_ = nullptr;
};

// A text that seldom changes.
class Text {
 public:
  Text() = default;
  Text(absl::string_view text);  // NOLINT(google-explicit-constructor): it is one
  absl::string_view view() const;
  operator absl::string_view() const { return view(); }         // NOLINT(google-explicit-constructor)
  operator std::string() const { return std::string(view()); }  // NOLINT(google-explicit-constructor)
  bool empty() const { return bytes_ == nullptr; }
  friend bool operator==(const Text& a, absl::string_view b) { return a.view() == b; }
  friend bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }
  friend std::strong_ordering operator<=>(const Text& a, const Text& b) { return a.view().compare(b.view()) <=> 0; }
  friend std::strong_ordering operator<=>(const Text& a, absl::string_view b) { return a.view().compare(b) <=> 0; }

 private:
  std::unique_ptr<char[]> bytes_;  // its length, then it; none of an empty one
};

// A text that is seldom longer than 31 bytes, and never 2^32 or more: such a one lies in it.
class ShortText {
 public:
  ShortText() = default;
  ShortText(absl::string_view text);  // NOLINT(google-explicit-constructor): it is one
  ShortText(ShortText&& other) noexcept { Swap(other); }
  ShortText& operator=(ShortText&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~ShortText() { delete[] elsewhere(); }
  absl::string_view view() const {
    if (size_or_elsewhere() != kElsewhere) return {bytes_.data(), size_or_elsewhere()};
    std::uint32_t length = 0;
    std::memcpy(&length, bytes_.data() + sizeof(char*), sizeof(length));
    return {elsewhere(), length};
  }
  operator absl::string_view() const { return view(); }         // NOLINT(google-explicit-constructor): it is one
  operator std::string() const { return std::string(view()); }  // NOLINT(google-explicit-constructor)
  friend bool operator==(const ShortText& a, absl::string_view b) { return a.view() == b; }
  friend bool operator==(const ShortText& a, const ShortText& b) { return a.view() == b.view(); }
  friend std::strong_ordering operator<=>(const ShortText& a, const ShortText& b) {
    return a.view().compare(b.view()) <=> 0;
  }
  friend std::strong_ordering operator<=>(const ShortText& a, absl::string_view b) { return a.view().compare(b) <=> 0; }

 private:
  static constexpr unsigned char kElsewhere = 255;
  // Its last byte is the size, or says that the text is elsewhere: where, and then its size, come first.
  std::array<char, 32> bytes_{};

  unsigned char size_or_elsewhere() const { return static_cast<unsigned char>(bytes_.back()); }
  const char* elsewhere() const;
  void Swap(ShortText& other) { std::swap(bytes_, other.bytes_); }
};

// What few have: the others have room for a pointer.
template <class T>
class Seldom {
 public:
  Seldom() = default;
  Seldom& operator=(std::optional<T> value) {
    value_ = value.has_value() ? std::make_unique<T>(*std::move(value)) : nullptr;
    return *this;
  }
  bool has_value() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

// An object's UID: a number of 16 bytes where it is written as Kubernetes does (RFC 9562, small digits), else its text.
class Uid {
 public:
  Uid() = default;
  Uid(absl::string_view text);  // NOLINT(google-explicit-constructor): it is one
  Uid(Uid&& other) noexcept { Swap(other); }
  Uid& operator=(Uid&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Uid();
  std::string text() const;
  bool empty() const { return number_ == Number(); }
  operator std::string() const { return text(); }  // NOLINT(google-explicit-constructor)
  friend bool operator==(const Uid& a, absl::string_view b) { return a.Is(b); }
  friend bool operator==(const Uid& a, const Uid& b) { return a.Is(b.text()); }

 private:
  struct Number {
    std::uint64_t high = 0, low = 0;
    // Of a UID's version, which is never 0. A text is where `low` says.
    bool is_text() const { return (high >> 12 & 15) == 0; }
    friend bool operator==(const Number&, const Number&) = default;
  };
  static std::optional<Number> Parse(absl::string_view text);
  const std::string* there() const;  // the text; null: it is a number, or empty
  bool Is(absl::string_view text) const;
  void Swap(Uid& other) { std::swap(number_, other.number_); }

  Number number_;
};

// A time to the nanosecond, or one of the infinities.
class Moment {
 public:
  // The infinities first: most moments of most pods are one, which ToUnixNanos finds out by dividing.
  Moment(absl::Time time)  // NOLINT(google-explicit-constructor): it is one
      : nanos_(time == absl::InfiniteFuture() ? std::numeric_limits<std::int64_t>::max()
               : time == absl::InfinitePast() ? std::numeric_limits<std::int64_t>::min()
                                              : absl::ToUnixNanos(time)) {}
  operator absl::Time() const;  // NOLINT(google-explicit-constructor)
  friend bool operator==(const Moment&, const Moment&) = default;
  friend bool operator==(const Moment& a, absl::Time b) { return a == Moment(b); }
  friend std::strong_ordering operator<=>(const Moment&, const Moment&) = default;
  friend std::strong_ordering operator<=>(const Moment& a, absl::Time b) { return a <=> Moment(b); }

 private:
  std::int64_t nanos_;
};

}  // namespace gangway::model
