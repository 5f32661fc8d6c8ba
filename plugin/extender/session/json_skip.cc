#include "plugin/extender/session/json_skip.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

namespace gangway::extender {
namespace {

constexpr std::size_t kNone = absl::string_view::npos;

// Keys and values are short: no table, no call.
std::size_t QuoteOrBackslash(absl::string_view json, std::size_t at) {
#if defined(__x86_64__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  for (; json.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(json.data() + at));
    const int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    if (found != 0) return at + static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(found)));
  }
#endif
  while (at < json.size() && json[at] != '"' && json[at] != '\\') ++at;
  return at;
}

bool EndsScalar(char c) { return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::size_t EndOfScalar(absl::string_view json, std::size_t at) {
  std::size_t end = at;
  while (end < json.size() && !EndsScalar(json[end])) ++end;
  return end == at ? kNone : end;
}

// `depth`: of brackets that are open before `at`.
std::size_t EndOfBracketsByBytes(absl::string_view json, std::size_t at, int depth) {
  while (at < json.size()) {
    const char c = json[at++];
    if (c == '"') {
      bool escapes = false;
      at = EndOfString(json, at - 1, escapes);
      if (at == kNone) return kNone;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxSkippedDepth) return kNone;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return at;
    } else if (c == '\\') {
      return kNone;
    }
  }
  return kNone;
}

#if defined(__x86_64__)

// What only processors have that EndOfBrackets asks for by name; an attribute, which both compilers know.
#define GW_BLOCKS __attribute__((target("avx2,pclmul,popcnt")))

// 64 bytes at a time, a bit for each: which are quotes and not escaped, hence which are in strings, hence which
// brackets count. (G. Langdale, D. Lemire: Parsing Gigabytes of JSON per Second, sections 3.1.1 and 3.1.2)
class BracketScan {
 public:
  explicit BracketScan(int depth) : depth_(depth) {}
  static constexpr std::size_t kNotHere = 0;
  // Where the depth becomes 0: the number of bytes of the block up to and with that bracket; kNotHere; kNone: before it
  // a backslash stands outside strings, behind which the bits are wrong.
  GW_BLOCKS std::size_t Block(const char* bytes) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32));
    const std::uint64_t backslashes = Equal(low, high, '\\');
    const std::uint64_t quotes = Equal(low, high, '"') & ~Escaped(backslashes);
    const std::uint64_t in_string = PrefixXor(quotes) ^ in_string_;
    in_string_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
    const __m256i bit = _mm256_set1_epi8(0x20);  // the two brackets that open differ by it, as those that close do
    const __m256i low_folded = _mm256_or_si256(low, bit), high_folded = _mm256_or_si256(high, bit);
    std::uint64_t opens = Equal(low_folded, high_folded, '{') & ~in_string;
    std::uint64_t closes = Equal(low_folded, high_folded, '}') & ~in_string;
    const std::uint64_t stray = backslashes & ~in_string;
    const int closing = __builtin_popcountll(closes);
    if (closing < depth_) {
      depth_ += __builtin_popcountll(opens) - closing;
      return stray == 0 ? kNotHere : kNone;
    }
    const std::size_t end = Walk(opens, closes);
    const std::uint64_t before = end == kNotHere || end == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return (stray & before) == 0 ? end : kNone;
  }
  int depth() const { return depth_; }

 private:
  GW_BLOCKS static std::uint64_t Equal(__m256i low, __m256i high, char c) {
    const __m256i wanted = _mm256_set1_epi8(c);
    const auto a = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
    const auto b = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
    return a | static_cast<std::uint64_t>(b) << 32;
  }
  GW_BLOCKS static std::uint64_t PrefixXor(std::uint64_t bits) {
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<std::int64_t>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
  // Which bytes stand behind an odd number of backslashes.
  std::uint64_t Escaped(std::uint64_t backslashes) {
    if (backslashes == 0) {
      const std::uint64_t first = escaped_;
      escaped_ = 0;
      return first;
    }
    constexpr std::uint64_t kEven = 0x5555555555555555;
    backslashes &= ~escaped_;
    const std::uint64_t follows = backslashes << 1 | escaped_;
    const std::uint64_t odd_starts = backslashes & ~kEven & ~follows;
    unsigned long long sequences = 0;
    escaped_ = __builtin_uaddll_overflow(odd_starts, backslashes, &sequences) ? 1 : 0;
    return (kEven ^ (static_cast<std::uint64_t>(sequences) << 1)) & follows;
  }
  std::size_t Walk(std::uint64_t opens, std::uint64_t closes) {
    for (std::uint64_t both = opens | closes; both != 0; both &= both - 1) {
      const int bit = __builtin_ctzll(both);
      depth_ += (opens >> bit & 1) != 0 ? 1 : -1;
      if (depth_ == 0) return static_cast<std::size_t>(bit) + 1;
    }
    return kNotHere;
  }

  int depth_;
  std::uint64_t in_string_ = 0;  // all ones: the block begins in a string
  std::uint64_t escaped_ = 0;    // 1: its first byte is escaped
};

GW_BLOCKS std::size_t EndOfBracketsByBlocks(absl::string_view json, std::size_t at, int depth) {
  BracketScan scan(depth);
  for (; json.size() - at >= 64; at += 64) {
    const std::size_t count = scan.Block(json.data() + at);
    if (count == kNone || scan.depth() > kMaxSkippedDepth) return kNone;
    if (count != BracketScan::kNotHere) return at + count;
  }
  char rest[64];
  std::memset(rest, ' ', sizeof rest);
  std::memcpy(rest, json.data() + at, json.size() - at);
  const std::size_t count = scan.Block(rest);
  return count == BracketScan::kNotHere || count == kNone ? kNone : at + count;
}

#undef GW_BLOCKS

#endif

std::size_t EndOfBrackets(absl::string_view json, std::size_t at, int depth) {
#if defined(__x86_64__)
  static const bool by_blocks =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
  if (by_blocks) return EndOfBracketsByBlocks(json, at, depth);
#endif
  return EndOfBracketsByBytes(json, at, depth);
}

std::size_t EndOf(absl::string_view json, std::size_t at,
                  std::size_t (*end_of_brackets)(absl::string_view, std::size_t, int)) {
  if (at >= json.size()) return kNone;
  switch (json[at]) {
    case '"': {
      bool escapes = false;
      return EndOfString(json, at, escapes);
    }
    case '{':
    case '[':
      return end_of_brackets(json, at, 0);
    default:
      return EndOfScalar(json, at);
  }
}

}  // namespace

std::size_t EndOfString(absl::string_view json, std::size_t at, bool& escapes) {
  for (++at; at < json.size(); at += 2) {
    at = QuoteOrBackslash(json, at);
    if (at == json.size()) break;
    if (json[at] == '"') return at + 1;
    escapes = true;
  }
  return kNone;
}

std::size_t EndOfValue(absl::string_view json, std::size_t at) { return EndOf(json, at, EndOfBrackets); }
std::size_t EndOfValueByBytes(absl::string_view json, std::size_t at) { return EndOf(json, at, EndOfBracketsByBytes); }
std::size_t EndOfRest(absl::string_view json, std::size_t at) { return EndOfBrackets(json, at, 1); }
std::size_t EndOfRestByBytes(absl::string_view json, std::size_t at) { return EndOfBracketsByBytes(json, at, 1); }

}  // namespace gangway::extender
