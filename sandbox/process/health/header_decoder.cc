#include "sandbox/process/health/header_decoder.h"

#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

// RFC 7541, appendix A.
constexpr std::pair<const char*, const char*> kStatic[] = {
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
};
constexpr std::size_t kStaticSize = std::size(kStatic);
static_assert(kStaticSize == 61);

// RFC 7541, appendix B: bits of the code of each byte. The codes follow from that: within a length they count up in the
// order of their bytes, and the first of a length is twice what follows the last of the length before.
constexpr std::uint8_t kBits[256] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,  // 0x00
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,  // 0x10
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,   // 0x20
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,  // 0x30
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,   // 0x40
    7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,   // 0x50
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,   // 0x60
    6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,  // 0x70
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,  // 0x80
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,  // 0x90
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,  // 0xa0
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,  // 0xb0
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,  // 0xc0
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,  // 0xd0
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,  // 0xe0
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,  // 0xf0
};
constexpr int kMaxBits = 30;

// By length: the first code, how many there are, and where their bytes begin in `bytes`.
struct HuffmanTable {
  std::array<std::uint32_t, kMaxBits + 1> first{}, count{}, begin{};
  std::array<std::uint8_t, 256> bytes{};
};
constexpr HuffmanTable MakeHuffmanTable() {
  HuffmanTable out;
  std::uint32_t next = 0, placed = 0;
  for (std::size_t bits = 1; bits <= kMaxBits; ++bits) {
    next <<= 1;
    out.first[bits] = next;
    out.begin[bits] = placed;
    for (std::size_t byte = 0; byte < 256; ++byte)
      if (kBits[byte] == bits) out.bytes[placed++] = static_cast<std::uint8_t>(byte);
    out.count[bits] = placed - out.begin[bits];
    next += out.count[bits];
  }
  return out;
}
constexpr HuffmanTable kHuffman = MakeHuffmanTable();

absl::Status Malformed(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("header fields that cannot be read: ", why));
}

absl::StatusOr<std::string> Unpack(absl::string_view packed) {
  std::string out;
  std::uint32_t code = 0;
  std::size_t bits = 0;
  for (const char c : packed) {
    for (int shift = 7; shift >= 0; --shift) {
      code = code << 1 | (static_cast<unsigned char>(c) >> shift & 1u);
      if (++bits > kMaxBits) return Malformed("a code that is none");
      const std::uint32_t nth = code - kHuffman.first[bits];
      if (code < kHuffman.first[bits] || nth >= kHuffman.count[bits]) continue;
      out.push_back(static_cast<char>(kHuffman.bytes[kHuffman.begin[bits] + nth]));
      code = 0;
      bits = 0;
    }
  }
  if (bits > 7 || code != (1u << bits) - 1) return Malformed("their end is not padded as it should be");
  return out;
}

// An integer whose first byte has `bits` of it (RFC 7541, 5.1).
absl::StatusOr<std::size_t> TakeInteger(absl::string_view& in, int bits) {
  constexpr std::size_t kMost = 1u << 24;
  if (in.empty()) return Malformed("they end within a number");
  const std::size_t mask = (1u << bits) - 1;
  std::size_t value = static_cast<unsigned char>(in.front()) & mask;
  in.remove_prefix(1);
  if (value < mask) return value;
  for (int shift = 0; shift <= 21; shift += 7) {
    if (in.empty()) return Malformed("they end within a number");
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value += static_cast<std::size_t>(byte & 0x7f) << shift;
    if (value > kMost) break;
    if ((byte & 0x80) == 0) return value;
  }
  return Malformed("a number is too large");
}

absl::StatusOr<std::string> TakeText(absl::string_view& in) {
  if (in.empty()) return Malformed("they end before a text");
  const bool packed = (static_cast<unsigned char>(in.front()) & 0x80) != 0;
  GW_ASSIGN_OR_RETURN(const std::size_t size, TakeInteger(in, 7));
  if (size > in.size()) return Malformed("they end within a text");
  const absl::string_view text = in.substr(0, size);
  in.remove_prefix(size);
  return packed ? Unpack(text) : std::string(text);
}

std::size_t Cost(const HeaderField& field) { return field.name.size() + field.value.size() + 32; }

}  // namespace

absl::StatusOr<HeaderField> HeaderDecoder::At(std::size_t index) const {
  if (index >= 1 && index <= kStaticSize) return HeaderField{kStatic[index - 1].first, kStatic[index - 1].second};
  if (index > kStaticSize && index - kStaticSize <= table_.size()) return table_[index - kStaticSize - 1];
  return Malformed(absl::StrCat("there is no field ", index));
}

void HeaderDecoder::Shrink(std::size_t size) {
  while (held_ > size) {
    held_ -= Cost(table_.back());
    table_.pop_back();
  }
}

void HeaderDecoder::Add(const HeaderField& field) {
  const std::size_t cost = Cost(field);
  Shrink(cost > table_size_ ? 0 : table_size_ - cost);
  if (cost > table_size_) return;
  held_ += cost;
  table_.push_front(field);
}

absl::StatusOr<std::vector<HeaderField>> HeaderDecoder::Decode(absl::string_view block) {
  std::vector<HeaderField> out;
  std::size_t size = 0;
  while (!block.empty()) {
    const auto first = static_cast<unsigned char>(block.front());
    if ((first & 0xe0) == 0x20) {  // 6.3: the table has another size
      GW_ASSIGN_OR_RETURN(table_size_, TakeInteger(block, 5));
      if (table_size_ > max_table_) return Malformed("their table is larger than it may be");
      Shrink(table_size_);
      continue;
    }
    const bool whole = (first & 0x80) != 0, kept = (first & 0xc0) == 0x40;
    GW_ASSIGN_OR_RETURN(const std::size_t index, TakeInteger(block, whole ? 7 : kept ? 6 : 4));
    HeaderField field;
    if (whole || index != 0) {
      GW_ASSIGN_OR_RETURN(field, At(index));
    } else {
      GW_ASSIGN_OR_RETURN(field.name, TakeText(block));
    }
    if (!whole) {
      GW_ASSIGN_OR_RETURN(field.value, TakeText(block));
      if (kept) Add(field);
    }
    size += Cost(field);
    if (size > kMaxFields) return Malformed(absl::StrCat("they are more than ", kMaxFields, " bytes"));
    out.push_back(std::move(field));
  }
  return out;
}

}  // namespace gangway::sandbox
