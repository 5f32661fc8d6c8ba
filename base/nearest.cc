#include "base/nearest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace gangway {
namespace {

std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t change = absl::ascii_tolower(static_cast<unsigned char>(a[i - 1])) ==
                                         absl::ascii_tolower(static_cast<unsigned char>(b[j - 1]))
                                     ? 0
                                     : 1;
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + change});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(absl::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 2 + 1;
  const absl::string_view last_word = word.substr(word.rfind('.') == absl::string_view::npos ? 0 : word.rfind('.') + 1);
  for (const std::string& candidate : known) {
    // A key may have been put into the wrong group, or into none.
    const std::string last = candidate.substr(candidate.rfind('.') == std::string::npos ? 0 : candidate.rfind('.') + 1);
    const std::size_t distance =
        std::min(EditDistance(word, candidate), EditDistance(last_word, last) + (last_word.size() <= 3 ? 2 : 1));
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace gangway
