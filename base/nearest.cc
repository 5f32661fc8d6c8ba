#include "base/nearest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace gangway {
namespace {

bool SameLetter(char a, char b) {
  return absl::ascii_tolower(static_cast<unsigned char>(a)) == absl::ascii_tolower(static_cast<unsigned char>(b));
}

// Letters left out, added, changed, or swapped with their neighbour.
std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = SameLetter(a[i - 1], b[j - 1]) ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && SameLetter(a[i - 1], b[j - 2]) && SameLetter(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// What somebody may have meant differs from what they wrote in one letter of three.
bool IsNear(std::size_t distance, absl::string_view word) { return distance <= (word.size() + 1) / 3; }

absl::string_view LastOf(absl::string_view word) {
  const std::size_t dot = word.rfind('.');
  return dot == absl::string_view::npos ? word : word.substr(dot + 1);
}

}  // namespace

std::string Nearest(absl::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::string::npos;
  const absl::string_view last_word = LastOf(word);
  const auto take = [&](const std::string& candidate, std::size_t distance) {
    if (distance >= least) return;
    least = distance;
    best = candidate;
  };
  for (const std::string& candidate : known) {
    const absl::string_view last = LastOf(candidate);
    const std::size_t of_last = EditDistance(last_word, last), of_all = EditDistance(word, candidate);
    const bool last_is_near = IsNear(of_last, last_word);
    // What is the same before the last dot makes nothing near that is not so behind it.
    const bool both_have_groups = last_word.size() < word.size() && last.size() < candidate.size();
    if (IsNear(of_all, word) && (last_is_near || !both_have_groups)) take(candidate, of_all);
    // A key may have been put into the wrong group, or into none.
    if (last_is_near) take(candidate, of_last + (last_word.size() <= 3 ? 2 : 1));
  }
  return best;
}

}  // namespace gangway
