// Texts as small numbers, so that comparing two is comparing two ints.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gangway::model {

inline std::string KeyOf(absl::string_view ns, absl::string_view name) { return absl::StrCat(ns, "/", name); }

// Numbers are given in order of appearance and never taken back; the views it hands out live as long as it does.
class Names {
 public:
  int Intern(absl::string_view text) {
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    const int id = static_cast<int>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(absl::string_view(texts_.back()), id);
    bytes_ += sizeof(std::string) + 2 * sizeof(absl::string_view) + text.size();
    return id;
  }
  // -1 when never seen.
  int Find(absl::string_view text) const {
    auto it = ids_.find(text);
    return it == ids_.end() ? -1 : it->second;
  }
  absl::string_view Text(int id) const { return Kept(id); }
  const std::string& Kept(int id) const { return texts_[static_cast<std::size_t>(id)]; }
  int size() const { return static_cast<int>(texts_.size()); }
  // That all of them take, about.
  std::size_t bytes() const { return bytes_; }

 private:
  std::deque<std::string> texts_;  // a deque never moves its elements
  absl::flat_hash_map<absl::string_view, int> ids_;
  std::size_t bytes_ = 0;
};

}  // namespace gangway::model
