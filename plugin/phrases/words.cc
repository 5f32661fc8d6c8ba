#include "plugin/phrases/words.h"

#include <cstddef>

namespace gangway {

Words Words::Name(absl::string_view name) {
  Words words;
  words.name_ = std::string(name);
  return words;
}

Words Words::Joined(std::vector<Words> parts, const Phrase& between) {
  std::erase_if(parts, [](const Words& part) { return part.empty(); });
  if (parts.size() == 1) return std::move(parts.front());
  Words words;
  if (parts.empty()) return words;
  words.joined_ = true;
  words.phrase_ = &between;
  words.parts_ = std::move(parts);
  return words;
}

Words& Words::Add(Words more) {
  if (more.empty()) return *this;
  if (empty()) return *this = std::move(more);
  if (!joined_ || phrase_ != nullptr) {
    Words all;
    all.joined_ = true;
    all.parts_.push_back(std::move(*this));
    *this = std::move(all);
  }
  parts_.push_back(std::move(more));
  return *this;
}

std::string Words::In(Language language) const {
  std::string out;
  AppendTo(out, language);
  return out;
}

void Words::AppendTo(std::string& out, Language language) const {
  out += name_;
  if (joined_) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i > 0 && phrase_ != nullptr) absl::StrAppend(&out, phrase_->In(language));
      parts_[i].AppendTo(out, language);
    }
    return;
  }
  if (phrase_ == nullptr) return;
  const absl::string_view text = phrase_->In(language);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool place = text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (!place) {
      out.push_back(text[i]);
      continue;
    }
    const auto part = static_cast<std::size_t>(text[++i] - '0');
    if (part < parts_.size()) {
      parts_[part].AppendTo(out, language);
    } else {
      absl::StrAppend(&out, text.substr(i - 1, 2));  // forgotten, and seen
    }
  }
}

}  // namespace gangway
