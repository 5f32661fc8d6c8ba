#include "plugin/lifecycle/job/record.h"

#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"

namespace gangway::lifecycle {
namespace {

constexpr char kCreated[] = "gangway.io/created";
constexpr char kRestarting[] = "gangway.io/restarting";
constexpr char kKeepFrom[] = "gangway.io/keep-from";
constexpr char kKilledPodGroup[] = "gangway.io/killed-pod-group";
constexpr char kCommand[] = "gangway.io/command";
constexpr char kUnknown[] = "gangway.io/unknown";
constexpr char kRelease[] = "gangway.io/release";
constexpr char kDelayed[] = "gangway.io/delayed";

std::string EncodeTasks(const IndicesByTask& tasks) {
  std::string out;
  for (const auto& [task, indices] : tasks) {
    absl::StrAppend(&out, out.empty() ? "" : " ", task, ":", indices.ToString());
  }
  return out;
}

IndicesByTask ParseTasks(absl::string_view text) {
  IndicesByTask out;
  for (const absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const auto colon = part.find(':');
    if (colon == absl::string_view::npos) continue;
    Indices indices = Indices::Parse(part.substr(colon + 1));
    if (!indices.empty()) out[std::string(part.substr(0, colon))] = std::move(indices);
  }
  return out;
}

std::string EncodeDelayed(const absl::btree_map<DelayKey, absl::Time>& delayed) {
  std::string out;
  for (const auto& [key, began] : delayed) {
    absl::StrAppend(&out, out.empty() ? "" : " ", key.event, "/", key.target, "/", key.action, "=",
                    api::FormatMicroTime(began));
  }
  return out;
}

absl::btree_map<DelayKey, absl::Time> ParseDelayed(absl::string_view text) {
  absl::btree_map<DelayKey, absl::Time> out;
  for (const absl::string_view part : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
    const std::vector<std::string> words = absl::StrSplit(sides.first, '/');
    const absl::StatusOr<absl::Time> began = api::ParseTime(sides.second);
    if (words.size() == 3 && began.ok()) out[{words[0], words[1], words[2]}] = *began;
  }
  return out;
}

const std::string* Find(const ControlledResources& from, const char* key) {
  auto it = from.find(key);
  return it == from.end() ? nullptr : &it->second;
}

void Set(ControlledResources& into, const char* key, std::string value) {
  if (value.empty()) {
    into.erase(key);
  } else {
    into[key] = std::move(value);
  }
}

}  // namespace

bool Indices::Contains(std::int32_t index) const {
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), index,
                             [](std::int32_t i, const auto& range) { return i < range.first; });
  return it != ranges_.begin() && index <= std::prev(it)->second;
}

void Indices::Append(std::int32_t index) {
  if (!ranges_.empty() && ranges_.back().second + 1 == index) {
    ranges_.back().second = index;
  } else {
    ranges_.emplace_back(index, index);
  }
}

std::string Indices::ToString() const {
  std::string out;
  for (const auto& [first, last] : ranges_) {
    absl::StrAppend(&out, out.empty() ? "" : ",", first);
    if (last > first) absl::StrAppend(&out, "-", last);
  }
  return out;
}

Indices Indices::Parse(absl::string_view text) {
  Indices out;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    std::int32_t first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first) || first < 0) continue;
    if (ends.second.empty()) {
      last = first;
    } else if (!absl::SimpleAtoi(ends.second, &last) || last < first) {
      continue;
    }
    if (!out.ranges_.empty() && out.ranges_.back().second >= first - 1) {
      if (out.ranges_.back().second != first - 1) continue;
      out.ranges_.back().second = last;
    } else {
      out.ranges_.emplace_back(first, last);
    }
  }
  return out;
}

Record ReadRecord(const ControlledResources& from) {
  Record record;
  if (const std::string* created = Find(from, kCreated)) {
    const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(*created, absl::MaxSplits(' ', 1));
    if (absl::SimpleAtoi(sides.first, &record.version)) record.created = ParseTasks(sides.second);
  }
  if (const std::string* restarting = Find(from, kRestarting)) record.restarting = ParseTasks(*restarting);
  if (const std::string* keep = Find(from, kKeepFrom); keep != nullptr && !absl::SimpleAtoi(*keep, &record.keep_from)) {
    record.keep_from = 0;
  }
  if (const std::string* uid = Find(from, kKilledPodGroup)) record.killed_pod_group = *uid;
  if (const std::string* uid = Find(from, kCommand)) record.last_command = *uid;
  if (const std::string* uid = Find(from, kUnknown)) record.unknown_answered = *uid;
  if (const std::string* hash = Find(from, kRelease)) record.release_answered = *hash;
  if (const std::string* delayed = Find(from, kDelayed)) record.delayed = ParseDelayed(*delayed);
  return record;
}

void WriteRecord(const Record& record, ControlledResources& into) {
  const std::string created = EncodeTasks(record.created);
  Set(into, kCreated, created.empty() ? "" : absl::StrCat(record.version, " ", created));
  Set(into, kRestarting, EncodeTasks(record.restarting));
  Set(into, kKeepFrom, record.keep_from == 0 ? "" : absl::StrCat(record.keep_from));
  Set(into, kKilledPodGroup, record.killed_pod_group);
  Set(into, kCommand, record.last_command);
  Set(into, kUnknown, record.unknown_answered);
  Set(into, kRelease, record.release_answered);
  Set(into, kDelayed, EncodeDelayed(record.delayed));
}

}  // namespace gangway::lifecycle
