#include "cmd/diff/line_diff.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gangway::cmd {
namespace {

constexpr int kContext = 3;
constexpr int kMostEdits = 4000;  // each costs memory in proportion to those before it

using Lines = std::vector<absl::string_view>;

Lines LinesOf(absl::string_view text) {
  if (text.empty()) return {};
  if (absl::EndsWith(text, "\n")) text.remove_suffix(1);
  return absl::StrSplit(text, '\n');
}

struct Edit {
  char kind = ' ';  // ' ' in both, '-' only before, '+' only after
  absl::string_view line;
};

// The shortest way from one to the other: E. W. Myers, An O(ND) difference algorithm (1986). furthest[d][k + d] is how
// far into `a` one comes with d edits on diagonal k.
std::vector<Edit> ShortestWay(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const auto at = [](const Lines& lines, int i) { return lines[static_cast<std::size_t>(i)]; };
  std::vector<std::vector<int>> furthest;
  int d = 0;
  const auto reached = [&](int edits, int k) {
    if (edits < 0 || k < -edits || k > edits) return -1;
    return furthest[static_cast<std::size_t>(edits)][static_cast<std::size_t>(k + edits)];
  };
  const auto down = [&](int edits, int k) {
    return k == -edits || (k != edits && reached(edits - 1, k - 1) < reached(edits - 1, k + 1));
  };
  for (bool done = false; !done; ++d) {
    if (d > kMostEdits) return {};
    furthest.emplace_back(static_cast<std::size_t>(2 * d + 1), -1);
    for (int k = -d; k <= d && !done; k += 2) {
      int x = d == 0 ? 0 : down(d, k) ? reached(d - 1, k + 1) : reached(d - 1, k - 1) + 1;
      while (x < n && x - k < m && x - k >= 0 && at(a, x) == at(b, x - k)) ++x;
      furthest.back()[static_cast<std::size_t>(k + d)] = x;
      done = k == n - m && x >= n;
    }
  }
  std::vector<Edit> back;
  int x = n, y = m;
  for (--d; d >= 0; --d) {
    const int k = x - y;
    const bool went_down = d > 0 && down(d, k);
    const int before_x = d == 0 ? 0 : went_down ? reached(d - 1, k + 1) : reached(d - 1, k - 1);
    const int before_y = d == 0 ? 0 : before_x - (went_down ? k + 1 : k - 1);
    while (x > before_x && y > before_y) {
      --x;
      --y;
      back.push_back({' ', at(a, x)});
    }
    if (d == 0) break;
    if (went_down) {
      back.push_back({'+', at(b, --y)});
    } else {
      back.push_back({'-', at(a, --x)});
    }
  }
  std::reverse(back.begin(), back.end());
  return back;
}

std::vector<Edit> EditsBetween(const Lines& a, const Lines& b) {
  std::vector<Edit> edits = ShortestWay(a, b);
  if (!edits.empty() || (a.empty() && b.empty())) return edits;
  for (const absl::string_view line : a) edits.push_back({'-', line});
  for (const absl::string_view line : b) edits.push_back({'+', line});
  return edits;
}

// "3,7"; diff leaves out a count of 1, and says the line before of an empty range.
std::string Range(int first, int count) {
  if (count == 1) return absl::StrCat(first);
  return absl::StrCat(count == 0 ? first - 1 : first, ",", count);
}

}  // namespace

std::string UnifiedDiff(absl::string_view before, absl::string_view after, absl::string_view before_name,
                        absl::string_view after_name) {
  if (before == after) return "";
  const std::vector<Edit> edits = EditsBetween(LinesOf(before), LinesOf(after));
  std::string out = absl::StrCat("--- ", before_name, "\n+++ ", after_name, "\n");
  const int size = static_cast<int>(edits.size());
  const auto changed = [&](int i) { return edits[static_cast<std::size_t>(i)].kind != ' '; };
  int line_a = 1, line_b = 1, i = 0;
  while (i < size) {
    int first = i;
    while (first < size && !changed(first)) ++first;
    if (first == size) break;
    int last = first;  // of the changes that are so near to each other that their surroundings touch
    for (int j = first; j < size && j - last <= 2 * kContext; ++j) {
      if (changed(j)) last = j;
    }
    const int begin = std::max(i, first - kContext), end = std::min(size, last + kContext + 1);
    line_a += begin - i;
    line_b += begin - i;
    int count_a = 0, count_b = 0;
    std::string body;
    for (int j = begin; j < end; ++j) {
      const Edit& edit = edits[static_cast<std::size_t>(j)];
      count_a += edit.kind != '+' ? 1 : 0;
      count_b += edit.kind != '-' ? 1 : 0;
      absl::StrAppend(&body, std::string(1, edit.kind), edit.line, "\n");
    }
    absl::StrAppend(&out, "@@ -", Range(line_a, count_a), " +", Range(line_b, count_b), " @@\n", body);
    line_a += count_a;
    line_b += count_b;
    i = end;
  }
  return out;
}

}  // namespace gangway::cmd
