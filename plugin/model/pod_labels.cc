#include "plugin/model/pod_labels.h"

#include <algorithm>
#include <utility>

namespace gangway::model {
namespace {

std::string PackedPart(const std::pair<std::string, std::string>& label) {
  std::string text;
  PackLabel(label.first, label.second, text);
  return text;
}

}  // namespace

std::int32_t PodLabels::Enter(absl::string_view text) {
  auto it = by_text_.find(text);
  if (it == by_text_.end()) {
    const std::int32_t number = parts_.Add();
    parts_[number].text = std::string(text);
    it = by_text_.insert(number).first;
  }
  ++parts_[*it].users;
  return *it;
}

PodLabels::Kept PodLabels::Keep(absl::string_view ns, const LabelList& labels) {
  Kept kept;
  kept.numbers_ = std::make_unique<std::int32_t[]>(labels.size() + 2);
  std::int32_t* next = kept.numbers_.get();
  *next++ = static_cast<std::int32_t>(labels.size());
  std::string text(ns);
  text.push_back('\0');
  *next++ = Enter(text);
  for (const auto& label : labels) *next++ = Enter(PackedPart(label));
  return kept;
}

void PodLabels::Drop(Kept& kept) {
  if (!kept.there()) return;
  const std::unique_ptr<std::int32_t[]> numbers = std::move(kept.numbers_);
  for (std::int32_t i = 1; i < numbers[0] + 2; ++i) {
    Part& part = parts_[numbers[static_cast<std::size_t>(i)]];
    if (--part.users > 0) continue;
    by_text_.erase(by_text_.find(absl::string_view(part.text)));
    parts_.Remove(numbers[static_cast<std::size_t>(i)]);
  }
}

bool PodLabels::Same(const Kept& kept, const LabelList& labels) const {
  if (!kept.there()) return labels.empty();
  if (static_cast<std::size_t>(kept.numbers_[0]) != labels.size()) return false;
  const std::int32_t* next = kept.numbers_.get() + 2;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    absl::string_view text = TextOf(*next++);
    const std::size_t key = label.first.size(), value = label.second.size();
    return text.size() == key + value + 2 && text.substr(0, key) == label.first && text[key] == '\0' &&
           text.substr(key + 1, value) == label.second;
  });
}

std::string PodLabels::Pack(const Kept& kept) const {
  std::string packed;
  for (std::int32_t i = 1; kept.there() && i < kept.numbers_[0] + 2; ++i)
    packed += TextOf(kept.numbers_[static_cast<std::size_t>(i)]);
  return packed;
}

}  // namespace gangway::model
