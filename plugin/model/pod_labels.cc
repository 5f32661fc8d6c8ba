#include "plugin/model/pod_labels.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

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
  kept.numbers_ = std::make_unique<std::int32_t[]>(labels.size() + 1);
  std::int32_t* next = kept.numbers_.get();
  std::string text(ns);
  text.push_back('\0');
  *next = Enter(text);
  for (const auto& label : labels) *++next = Enter(PackedPart(label));
  *next = ~*next;
  return kept;
}

void PodLabels::Drop(Kept& kept) {
  if (!kept.there()) return;
  const std::unique_ptr<std::int32_t[]> numbers = std::move(kept.numbers_);
  ForEach(numbers.get(), [this](std::int32_t number) {
    Part& part = parts_[number];
    if (--part.users > 0) return;
    by_text_.erase(by_text_.find(absl::string_view(part.text)));
    parts_.Remove(number);
  });
}

std::string PodLabels::Pack(const Kept& kept) const {
  std::string packed;
  if (kept.there()) ForEach(kept.numbers_.get(), [&](std::int32_t number) { packed += TextOf(number); });
  return packed;
}

void PodLabels::Audit(absl::Span<const Kept* const> all, std::vector<std::string>& wrong) const {
  std::vector<int> users(static_cast<std::size_t>(parts_.slots()));
  for (const Kept* const kept : all) {
    if (kept->there())
      ForEach(kept->numbers_.get(), [&](std::int32_t number) { ++users[static_cast<std::size_t>(number)]; });
  }
  for (std::int32_t number = 0; number < parts_.slots(); ++number) {
    const int of_pods = users[static_cast<std::size_t>(number)];
    const Part& part = parts_[number];
    const std::string name =
        absl::StrCat("label ", absl::StrReplaceAll(part.text, {{absl::string_view("\0", 1), "="}}));
    if (parts_.Has(number) ? part.users != of_pods || of_pods == 0 : of_pods != 0)
      wrong.push_back(absl::StrCat(name, " is kept for ", part.users, ", of pods that have it ", of_pods));
    if (parts_.Has(number) && by_text_.find(absl::string_view(part.text)) == by_text_.end())
      wrong.push_back(absl::StrCat(name, " is not found by its text"));
  }
  if (static_cast<int>(by_text_.size()) != parts_.size())
    wrong.push_back(absl::StrCat("labels found by their texts are ", by_text_.size(), ", kept ", parts_.size()));
}

}  // namespace gangway::model
