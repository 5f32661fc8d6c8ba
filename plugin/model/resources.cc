#include "plugin/model/resources.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace gangway::model {
namespace {

std::int64_t WrapAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t WrapTimes(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::string MilliText(std::int64_t milli) {
  const bool negative = milli < 0;
  const std::int64_t size = negative ? -milli : milli;
  std::string text = absl::StrCat(negative ? "-" : "", size / 1000);
  if (std::int64_t rest = size % 1000; rest != 0) {
    std::string digits = absl::StrCat(rest + 1000).substr(1);
    while (digits.back() == '0') digits.pop_back();
    absl::StrAppend(&text, ".", digits);
  }
  return text;
}

std::string BytesText(std::int64_t bytes) {
  struct Unit {
    std::int64_t size;
    const char* suffix;
  };
  static constexpr std::array<Unit, 9> kUnits{{{std::int64_t{1} << 40, "Ti"},
                                               {std::int64_t{1} << 30, "Gi"},
                                               {std::int64_t{1} << 20, "Mi"},
                                               {std::int64_t{1} << 10, "Ki"},
                                               {1000000000000, "T"},
                                               {1000000000, "G"},
                                               {1000000, "M"},
                                               {1000, "k"},
                                               {1, ""}}};
  if (bytes == 0) return "0";
  for (const Unit& unit : kUnits) {
    if (bytes % unit.size == 0) return absl::StrCat(bytes / unit.size, unit.suffix);
  }
  return absl::StrCat(bytes);
}

// The exact number when it is short, else two decimals of the largest unit that fits.
std::string ShortBytesText(std::int64_t bytes) {
  std::string exact = BytesText(bytes);
  if (exact.size() <= 7) return exact;
  const bool negative = bytes < 0;
  const std::int64_t size = negative ? -bytes : bytes;
  static constexpr std::array<const char*, 4> kSuffixes{"Ti", "Gi", "Mi", "Ki"};
  for (std::size_t i = 0; i < kSuffixes.size(); ++i) {
    const int shift = 40 - static_cast<int>(i) * 10;
    if (size >> shift == 0) continue;
    const std::int64_t hundredths = ((size >> (shift - 10)) * 100) >> 10;
    return absl::StrCat(negative ? "-" : "", MilliText(hundredths * 10), kSuffixes[i]);
  }
  return exact;
}

}  // namespace

std::int64_t& Resources::At(Dim dim) {
  const auto index = static_cast<std::size_t>(dim);
  if (index < first_.size()) return first_[index];
  if (more_ == nullptr) more_ = std::make_unique<More>();
  if (index - first_.size() >= more_->size()) more_->resize(index - first_.size() + 1, 0);
  return (*more_)[index - first_.size()];
}

void Resources::Add(const Resources& other, std::int64_t times) {
  for (std::size_t i = 0; i < first_.size(); ++i) first_[i] = WrapAdd(first_[i], WrapTimes(other.first_[i], times));
  for (Dim dim = kFirstDims; other.more_ != nullptr && dim < other.size(); ++dim) {
    if (other[dim] == 0) continue;
    std::int64_t& amount = At(dim);
    amount = WrapAdd(amount, WrapTimes(other[dim], times));
  }
}

void Resources::RaiseTo(const Resources& least) {
  for (Dim dim = 0; dim < least.size(); ++dim) {
    if ((*this)[dim] < least[dim]) At(dim) = least[dim];
  }
}

bool Resources::zero() const {
  for (Dim dim = 0; dim < size(); ++dim) {
    if ((*this)[dim] != 0) return false;
  }
  return true;
}

bool operator==(const Resources& a, const Resources& b) {
  const int size = std::max(a.size(), b.size());
  for (Dim dim = 0; dim < size; ++dim) {
    if (a[dim] != b[dim]) return false;
  }
  return true;
}

Dims::Dims() {
  for (absl::string_view name : {"cpu", "memory", "pods", "ephemeral-storage"}) names_.Intern(name);
}

Resources Dims::Intern(const NamedAmounts& amounts) {
  Resources result;
  for (const auto& [name, amount] : amounts) {
    result.Set(Intern(name), std::clamp<std::int64_t>(amount, 0, kMaxAmount));
  }
  return result;
}

void AuditAmounts(absl::string_view what, const Resources& is, const Resources& should_be, const Dims& dims,
                  std::vector<std::string>& wrong) {
  for (Dim dim = 0; dim < std::max(is.size(), should_be.size()); ++dim) {
    if (is[dim] != should_be[dim])
      wrong.push_back(absl::StrCat(what, " of ", dims.Name(dim), " is ", is[dim], ", should be ", should_be[dim]));
  }
}

std::string AmountText(absl::string_view dim, std::int64_t amount) {
  for (const absl::string_view of_quota : {"requests.", "limits."}) {
    if (dim.substr(0, of_quota.size()) == of_quota) dim.remove_prefix(of_quota.size());
  }
  if (dim == "cpu") return MilliText(amount);
  if (dim == "memory" || dim == "ephemeral-storage" || dim.substr(0, 10) == "hugepages-") return ShortBytesText(amount);
  return absl::StrCat(amount);
}

}  // namespace gangway::model
