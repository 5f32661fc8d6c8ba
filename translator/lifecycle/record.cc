#include "translator/lifecycle/record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace gangway::paddle_lifecycle {
namespace {

const std::string* Find(const api::ObjectMeta& of, absl::string_view key) {
  const auto it = of.annotations.find(std::string(key));
  return it == of.annotations.end() ? nullptr : &it->second;
}

std::int32_t Count(absl::string_view text) {
  std::int32_t count = 0;
  return absl::SimpleAtoi(text, &count) ? std::max(count, 0) : 0;
}

std::optional<convert::ElasticBounds> Bounds(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(text, absl::MaxSplits(':', 1));
  convert::ElasticBounds bounds;
  if (!absl::SimpleAtoi(ends.first, &bounds.min) || !absl::SimpleAtoi(ends.second, &bounds.max)) return std::nullopt;
  return bounds;
}

}  // namespace

std::string Replaced::ToString() const {
  return absl::StrCat(count, pods.empty() ? "" : " ", absl::StrJoin(pods, " "));
}

bool Replaced::Contains(absl::string_view uid) const { return std::ranges::find(pods, uid) != pods.end(); }

JobRecord ReadRecord(const api::ObjectMeta& job) {
  JobRecord record;
  if (const std::string* text = Find(job, kTranslationKey)) record.translation = *text;
  if (const std::string* text = Find(job, kRestartsKey)) record.restarts = Count(*text);
  if (const std::string* text = Find(job, kReplacedKey)) {
    std::vector<std::string> words = absl::StrSplit(*text, ' ', absl::SkipEmpty());
    if (!words.empty()) {
      record.replaced.count = Count(words.front());
      record.replaced.pods.assign(words.begin() + 1, words.end());
    }
  }
  if (const std::string* text = Find(job, kPriorityKey)) record.priority_class = *text;
  if (const std::string* text = Find(job, kElasticKey)) record.bounds = Bounds(*text);
  if (const std::string* text = Find(job, kCompanionsKey)) record.companions = Count(*text);
  record.suspended = Find(job, kSuspendedKey) != nullptr;
  if (const std::string* text = Find(job, kPodGroupKey)) record.group = *text;
  return record;
}

}  // namespace gangway::paddle_lifecycle
