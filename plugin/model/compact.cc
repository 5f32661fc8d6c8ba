#include "plugin/model/compact.h"

#include <cstring>
#include <limits>

namespace gangway::model {
namespace {

using Length = std::uint32_t;
constexpr absl::string_view kUidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr absl::string_view kDigits = "0123456789abcdef";

}  // namespace

Text::Text(absl::string_view text) {
  if (text.empty()) return;
  const auto length = static_cast<Length>(text.size());
  bytes_ = std::make_unique<char[]>(sizeof(length) + text.size());
  std::memcpy(bytes_.get(), &length, sizeof(length));
  std::memcpy(bytes_.get() + sizeof(length), text.data(), text.size());
}

absl::string_view Text::view() const {
  if (bytes_ == nullptr) return {};
  Length length = 0;
  std::memcpy(&length, bytes_.get(), sizeof(length));
  return {bytes_.get() + sizeof(length), length};
}

ShortText::ShortText(absl::string_view text) {
  if (text.size() < bytes_.size()) {
    if (!text.empty()) std::memcpy(bytes_.data(), text.data(), text.size());
    bytes_.back() = static_cast<char>(text.size());
    return;
  }
  const auto length = static_cast<Length>(text.size());
  char* const copy = new char[text.size()];
  std::memcpy(copy, text.data(), text.size());
  std::memcpy(bytes_.data(), static_cast<const void*>(&copy), sizeof(copy));
  std::memcpy(bytes_.data() + sizeof(copy), &length, sizeof(length));
  bytes_.back() = static_cast<char>(kElsewhere);
}

const char* ShortText::elsewhere() const {
  const char* there = nullptr;
  if (size_or_elsewhere() == kElsewhere) std::memcpy(static_cast<void*>(&there), bytes_.data(), sizeof(there));
  return there;
}

std::optional<Uid::Number> Uid::Parse(absl::string_view text) {
  if (text.size() != kUidShape.size()) return std::nullopt;
  Number number;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kUidShape[i] == '-') {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const std::size_t digit = kDigits.find(text[i]);
    if (digit == absl::string_view::npos) return std::nullopt;
    number.high = number.high << 4 | number.low >> 60;
    number.low = number.low << 4 | digit;
  }
  return number.is_text() ? std::nullopt : std::optional<Number>(number);
}

Uid::Uid(absl::string_view text) {
  if (const std::optional<Number> parsed = Parse(text); parsed.has_value()) {
    number_ = *parsed;
  } else if (!text.empty()) {
    number_.low = reinterpret_cast<std::uintptr_t>(new std::string(text));
  }
}

Uid::~Uid() { delete there(); }

const std::string* Uid::there() const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was one
  return number_.is_text() ? reinterpret_cast<const std::string*>(static_cast<std::uintptr_t>(number_.low)) : nullptr;
}

std::string Uid::text() const {
  if (number_.is_text()) return there() == nullptr ? "" : *there();
  std::string text(kUidShape);
  int shift = 128;
  for (char& c : text) {
    if (c == '-') continue;
    shift -= 4;
    c = kDigits[(shift >= 64 ? number_.high >> (shift - 64) : number_.low >> shift) & 15];
  }
  return text;
}

bool Uid::Is(absl::string_view text) const {
  if (number_.is_text()) return there() == nullptr ? text.empty() : *there() == text;
  return Parse(text) == number_;
}

Moment::operator absl::Time() const {
  if (nanos_ == std::numeric_limits<std::int64_t>::max()) return absl::InfiniteFuture();
  if (nanos_ == std::numeric_limits<std::int64_t>::min()) return absl::InfinitePast();
  return absl::FromUnixNanos(nanos_);
}

}  // namespace gangway::model
