// Amounts of resources as integers: names become small numbers once, vectors of numbers from there on.
//
// cpu is in thousandths of a core, memory and ephemeral-storage in bytes, everything else in units. Amounts are exact:
// each one is at most kMaxAmount (2^50), and sums wrap around instead of overflowing, so adding and subtracting the
// same amount always leads back to where it began.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/model/names.h"

namespace gangway::model {

using Dim = int;
inline constexpr Dim kCpu = 0;               // milli
inline constexpr Dim kMemory = 1;            // bytes
inline constexpr Dim kPods = 2;              // pods a node takes; every pod asks for one
inline constexpr Dim kEphemeralStorage = 3;  // bytes
inline constexpr Dim kKnownDims = 4;

inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 50;

// name -> amount, as an event carries it.
using NamedAmounts = std::vector<std::pair<std::string, std::int64_t>>;

// One amount per dimension; dimensions beyond the end are zero.
class Resources {
 public:
  Resources() = default;
  ~Resources() = default;
  Resources(const Resources& other) : first_(other.first_), more_(Copy(other)) {}
  Resources(Resources&&) = default;
  Resources& operator=(const Resources& other) {
    if (this == &other) return *this;
    first_ = other.first_;
    more_ = Copy(other);
    return *this;
  }
  Resources& operator=(Resources&&) = default;

  std::int64_t operator[](Dim dim) const {
    const auto index = static_cast<std::size_t>(dim);
    if (index < first_.size()) return first_[index];
    return more_ != nullptr && index - first_.size() < more_->size() ? (*more_)[index - first_.size()] : 0;
  }
  // No dimension from here on is set.
  int size() const {
    if (more_ != nullptr) return kFirstDims + static_cast<int>(more_->size());
    return first_.back() != 0 ? kFirstDims : kKnownDims;
  }

  void Set(Dim dim, std::int64_t amount) { At(dim) = amount; }
  void Add(const Resources& other, std::int64_t times = 1);
  void Subtract(const Resources& other, std::int64_t times = 1) { Add(other, -times); }
  // To so much at least, dimension by dimension.
  void RaiseTo(const Resources& least);
  bool zero() const;

  friend bool operator==(const Resources& a, const Resources& b);

 private:
  using More = std::vector<std::int64_t>;
  // With one beside those that every cluster has: most have the GPUs of one kind, or none.
  static constexpr int kFirstDims = kKnownDims + 1;

  std::int64_t& At(Dim dim);
  static std::unique_ptr<More> Copy(const Resources& other) {
    return other.more_ == nullptr ? nullptr : std::make_unique<More>(*other.more_);
  }

  std::array<std::int64_t, kFirstDims> first_{};
  std::unique_ptr<More> more_;
};

// The dimensions seen so far. Numbers are given in order of appearance and never taken back.
class Dims {
 public:
  Dims();
  Dim Intern(absl::string_view name) { return names_.Intern(name); }
  // -1 when never seen.
  Dim Find(absl::string_view name) const { return names_.Find(name); }
  absl::string_view Name(Dim dim) const { return names_.Text(dim); }
  int count() const { return names_.size(); }

  // Amounts are cut to 0 and kMaxAmount.
  Resources Intern(const NamedAmounts& amounts);

 private:
  Names names_;
};

// Adds "WHAT of cpu is 2, should be 3" for each amount that differs.
void AuditAmounts(absl::string_view what, const Resources& is, const Resources& should_be, const Dims& dims,
                  std::vector<std::string>& wrong);

// "9", "500m", "4Gi", "7.5": as a person would write it.
std::string AmountText(absl::string_view dim, std::int64_t amount);

}  // namespace gangway::model
