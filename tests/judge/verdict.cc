#include "tests/judge/verdict.h"

#include "absl/strings/str_cat.h"

namespace gangway::testutil {
namespace {

std::string Word(const std::string& against) { return against.substr(0, against.find(':')); }

std::string Of(const Verdict& verdict, const std::string& node) {
  const auto it = verdict.against.find(node);
  return it == verdict.against.end() ? "the node is not known" : it->second;
}

}  // namespace

std::optional<Difference> FirstDifference(const Verdict& theirs, const Verdict& ours) {
  if (!ours.contradiction.empty()) return Difference{"", "our constraints / our decision"};
  for (const auto& [node, against] : theirs.against) {
    const std::string mine = Of(ours, node);
    if (against.empty() == mine.empty()) continue;
    return Difference{
        node, absl::StrCat(against.empty() ? "nothing" : Word(against), " / ", mine.empty() ? "nothing" : Word(mine))};
  }
  return std::nullopt;
}

std::string Render(const Verdict& theirs, const Verdict& ours) {
  std::string text = ours.contradiction.empty() ? "" : absl::StrCat("  ", ours.contradiction, "\n");
  for (const auto& [node, against] : theirs.against) {
    const std::string mine = Of(ours, node);
    absl::StrAppend(&text, "  ", node, ": Kubernetes ",
                    against.empty() ? "takes it" : absl::StrCat("refuses (", against, ")"), ", we ",
                    mine.empty() ? "take it" : absl::StrCat("refuse (", mine, ")"), "\n");
  }
  return text;
}

}  // namespace gangway::testutil
