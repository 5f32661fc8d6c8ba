#include "base/pattern.h"

#include <cstdint>
#include <utility>

#include <re2/re2.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gangway {
namespace {

constexpr std::int64_t kMemory = 1 << 20;
constexpr std::size_t kMaxBytes = 4096;

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

absl::StatusOr<Pattern> Pattern::Compile(absl::string_view text) {
  if (text.size() > kMaxBytes) return absl::InvalidArgumentError(absl::StrCat("longer than ", kMaxBytes, " bytes"));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemory);
  auto compiled = std::make_shared<const re2::RE2>(Piece(text), options);
  if (!compiled->ok()) return absl::InvalidArgumentError(compiled->error());
  return Pattern(std::move(compiled));
}

bool Pattern::FoundIn(absl::string_view text) const { return re2::RE2::PartialMatch(Piece(text), *compiled_); }

}  // namespace gangway
