#include "api/schemas/declared_words.h"

namespace gangway::schemas::declared {

std::shared_ptr<const re2::RE2> CompilePattern(absl::string_view pattern) {
  constexpr std::int64_t kPatternMemory = 1 << 20;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  if (pattern.size() > kMaxPattern) return nullptr;
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  return compiled->ok() ? compiled : nullptr;
}

void CollectPatterns(const json::value& schema, Patterns& out) {
  const json::object* const object = schema.if_object();
  if (object == nullptr) return;
  if (const absl::string_view pattern = TextOf(*object, "pattern"); !pattern.empty())
    out.try_emplace(std::string(pattern), CompilePattern(pattern));
  ForEachBelow(*object, [&](const json::value& below) { CollectPatterns(below, out); });
}

}  // namespace gangway::schemas::declared
