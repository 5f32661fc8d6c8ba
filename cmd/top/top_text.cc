#include "cmd/top/top_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/schemas/table.h"
#include "base/printable.h"
#include "cmd/terminal/columns.h"
#include "plugin/model/resources.h"

namespace gangway::cmd {
namespace {

using dashboard::GangState;

std::string AmountsOrDash(const model::NamedAmounts& amounts) {
  std::vector<std::string> words;
  for (const auto& [name, amount] : amounts) {
    if (amount != 0) words.push_back(OneLine(absl::StrCat(name, "=", model::AmountText(name, amount))));
  }
  return words.empty() ? "-" : absl::StrJoin(words, ",");
}

}  // namespace

std::string TopText(const dashboard::View& view, absl::Time now) {
  std::vector<std::vector<std::string>> queues{{"QUEUE", "SHARE", "WAITING", "RUNNING", "HELD", "DESERVED"}};
  for (const dashboard::QueueRow& row : view.queues) {
    queues.push_back({OneLine(row.name), absl::StrFormat("%.1f%%", row.share_permille / 10.0),
                      absl::StrCat(row.waiting), absl::StrCat(row.running), AmountsOrDash(row.held),
                      AmountsOrDash(row.deserved)});
  }
  std::vector<std::vector<std::string>> gangs{{"WAITS", "QUEUE", "PLACED", "SINCE", "REASON"}};
  for (const dashboard::GangRow& row : view.gangs) {
    if (row.state != GangState::kWaiting) continue;
    const std::string name = absl::StrCat(row.ns, "/", row.owner.empty() ? row.name : row.owner);
    gangs.push_back({OneLine(name), OneLine(row.queue), absl::StrCat(row.placed, "/", row.min_member),
                     row.since == absl::InfinitePast() ? "-" : schemas::HumanDuration(now - row.since),
                     row.reason.empty() ? "-" : OneLine(row.reason)});
  }
  std::vector<std::vector<std::string>> nodes{{"NODE", "HELD", "OF", "BY"}};
  for (const dashboard::NodeRow& row : view.nodes) {
    const std::string state = !row.ready ? " (not ready)" : row.cordoned ? " (cordoned)" : "";
    nodes.push_back(
        {OneLine(row.name) + state,
         absl::StrCat(model::AmountText(row.leading, row.held), "/", model::AmountText(row.leading, row.allocatable)),
         OneLine(row.leading),
         row.holders.empty() ? "-" : absl::StrJoin(row.holders, " ", [&](std::string* out, const auto& holder) {
           absl::StrAppend(out, OneLine(absl::StrCat(holder.ns, "/", holder.name)), "=",
                           model::AmountText(row.leading, holder.amount));
         })});
  }
  std::string out;
  for (const std::string& line : view.not_seen) absl::StrAppend(&out, "not seen: ", OneLine(line), "\n");
  absl::StrAppend(&out, Columns(queues));
  if (gangs.size() > 1) absl::StrAppend(&out, "\n", Columns(gangs));
  if (nodes.size() > 1) absl::StrAppend(&out, "\n", Columns(nodes));
  return out;
}

}  // namespace gangway::cmd
