#include "plugin/shadow/comparison.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "base/counted.h"
#include "base/printable.h"

namespace gangway::shadow {
namespace {

constexpr std::size_t kMaxReported = 10;  // reasons, and disagreements; the dump has them all

std::string DurationText(absl::Duration duration) {
  return api::FormatGoDuration(absl::Trunc(duration, absl::Seconds(1)));
}

// A reason without its numbers, so that those of one kind are one.
std::string KindOf(absl::string_view reason) {
  std::string kind;
  for (const char c : reason) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      kind += c;
    } else if (!absl::EndsWith(kind, "#")) {
      kind += '#';
    }
  }
  return kind;
}

// The most frequent first; of as many, by name.
std::vector<std::pair<std::string, int>> MostFrequent(const absl::btree_map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> out(counts.begin(), counts.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (out.size() > kMaxReported) out.resize(kMaxReported);
  return out;
}

}  // namespace

void Comparison::Waits(absl::string_view gang, absl::string_view queue, absl::Time now) {
  if (gangs_.contains(gang)) return;
  if (gangs_.size() >= kMaxGangs) {
    ++counts_.not_compared;
    return;
  }
  Gang& fresh = gangs_[std::string(gang)];
  fresh.queue = std::string(queue);
  fresh.waits_from = now;
}

void Comparison::Refuses(Who who, absl::string_view gang, absl::string_view reason) {
  const auto known = gangs_.find(gang);
  if (known != gangs_.end())
    (who == Who::kWe ? known->second.our_reason : known->second.their_reason) = std::string(reason);
}

void Comparison::Places(Who who, absl::string_view name, int nodes, absl::Time now) {
  const auto known = gangs_.find(name);
  if (known == gangs_.end()) return;
  Gang& gang = known->second;
  if (who == Who::kWe) {
    if (gang.placed.has_value()) return;
    gang.placed = now;
    gang.nodes = nodes;
    return;
  }
  ++counts_.compared;
  if (gang.placed.has_value()) {
    counts_.nodes_ours += gang.nodes;
    counts_.nodes_theirs += nodes;
  }
  const absl::Duration ahead = now - gang.placed.value_or(gang.waits_from);
  if (ahead <= kSame) {
    ++counts_.same;
  } else if (gang.placed.has_value()) {
    ++counts_.earlier;
    counts_.gained += ahead;
    Disagree(known->first, gang, now, absl::StrCat("we would have placed it ", DurationText(ahead), " earlier"),
             gang.their_reason);
  } else {
    ++counts_.not_yet;
    Disagree(known->first, gang, now, "the other placed it, we would not have yet", gang.our_reason);
  }
  gangs_.erase(known);
}

void Comparison::WouldEvictFor(absl::string_view gang) {
  const auto known = gangs_.find(gang);
  if (known == gangs_.end() || std::exchange(known->second.evicts, true)) return;
  ++counts_.would_evict;
}

void Comparison::Gone(absl::string_view gang, absl::Time now) {
  const auto known = gangs_.find(gang);
  if (known == gangs_.end()) return;
  if (const Gang& was = known->second; was.placed.has_value()) {
    ++counts_.only_ours;
    Disagree(known->first, was, now,
             absl::StrCat("it went, and we would have placed it ", DurationText(now - *was.placed), " before"),
             was.their_reason);
  }
  gangs_.erase(known);
}

void Comparison::Disagree(const std::string& name, const Gang& gang, absl::Time now, std::string what,
                          const std::string& reason) {
  if (disagreements_.size() == kMaxDisagreements) disagreements_.pop_front();
  disagreements_.push_back({now, name, gang.queue, std::move(what), reason});
}

std::size_t Comparison::ahead() const {
  return static_cast<std::size_t>(
      std::count_if(gangs_.begin(), gangs_.end(), [](const auto& each) { return each.second.placed.has_value(); }));
}

void Comparison::Dump(api::JsonWriter& json, absl::Time now) const {
  json.BeginObject().Field("since", api::FormatTime(begin_)).Field("to", api::FormatTime(now));
  json.Field("compared", counts_.compared).Field("same", counts_.same);
  json.Field("earlier", counts_.earlier).Field("gainedSeconds", absl::ToInt64Seconds(counts_.gained));
  json.Field("notYet", counts_.not_yet);
  json.Field("nodesOfOurs", counts_.nodes_ours).Field("nodesOfTheirs", counts_.nodes_theirs);
  json.Field("onlyOurs", counts_.only_ours);
  json.Field("wouldEvictFor", counts_.would_evict).Field("notCompared", counts_.not_compared);
  json.Field("waiting", static_cast<std::int64_t>(gangs_.size()));
  json.Field("ahead", static_cast<std::int64_t>(ahead()));
  json.Key("disagreements").BeginArray();
  for (const Disagreement& each : disagreements_) {
    json.BeginObject().Field("at", api::FormatTime(each.at)).Field("gang", each.gang).Field("queue", each.queue);
    json.Field("what", each.what).Field("reason", each.reason).EndObject();
  }
  json.EndArray();
  json.Field("report", Report(now)).EndObject();
}

std::string Comparison::Summary() const {
  return absl::StrCat(Counted(counts_.compared, "gang"), " compared: ", counts_.same, " at the same time, ",
                      counts_.earlier, " earlier by ", DurationText(counts_.gained), " in all, ", counts_.not_yet,
                      " not yet; on ", Counted(counts_.nodes_ours, "node"), " instead of ", counts_.nodes_theirs, "; ",
                      ahead(), " that only we have placed so far");
}

std::string Comparison::Report(absl::Time now) const {
  std::string out =
      absl::StrCat("From ", api::FormatTime(begin_), " to ", api::FormatTime(now), " (", DurationText(now - begin_),
                   ") the other scheduler placed ", Counted(counts_.compared, "gang"), " that we saw waiting:\n");
  absl::StrAppend(&out, "  ", counts_.same, " at the same time, within ", DurationText(kSame), "\n");
  absl::StrAppend(&out, "  ", counts_.earlier, " we would have placed earlier");
  if (counts_.earlier > 0) {
    absl::StrAppend(&out, ", by ", DurationText(counts_.gained / counts_.earlier), " on average and ",
                    DurationText(counts_.gained), " in all");
  }
  absl::StrAppend(&out, "\n  ", counts_.not_yet, " we would not have placed yet\n");
  absl::StrAppend(&out, "Gone, placed by us alone: ", counts_.only_ours, ". Still waiting: ", gangs_.size(),
                  ", of which we would have placed ", ahead(), ".\n");
  if (counts_.would_evict > 0)
    absl::StrAppend(&out, "For ", Counted(counts_.would_evict, "gang"), " we would have evicted pods.\n");
  if (counts_.not_compared > 0)
    absl::StrAppend(&out, Counted(counts_.not_compared, "gang"), " beyond ", kMaxGangs,
                    " at a time were not compared.\n");
  if (counts_.nodes_theirs > 0) {
    absl::StrAppend(&out, "Fragments: the gangs that both have placed lie on ", Counted(counts_.nodes_theirs, "node"),
                    ", ours on ", counts_.nodes_ours, "; fewer leave more nodes whole for those who come.\n");
  }
  if (disagreements_.empty()) return out;

  absl::btree_map<std::string, int> queues, reasons;
  for (const Disagreement& each : disagreements_) {
    ++queues[each.queue];
    if (!each.reason.empty()) ++reasons[KindOf(OneLine(each.reason))];
  }
  absl::StrAppend(&out, "\nOf the last ", disagreements_.size(), " disagreements, by queue:\n");
  for (const auto& [queue, count] : MostFrequent(queues)) absl::StrAppend(&out, "  ", count, "  ", queue, "\n");
  if (!reasons.empty()) absl::StrAppend(&out, "\nWhy the one who waited did, without numbers:\n");
  for (const auto& [reason, count] : MostFrequent(reasons)) absl::StrAppend(&out, "  ", count, "  ", reason, "\n");
  absl::StrAppend(&out, "\nThe last ones:\n");
  const std::size_t from = disagreements_.size() - std::min(disagreements_.size(), kMaxReported);
  for (std::size_t i = from; i < disagreements_.size(); ++i) {
    const Disagreement& each = disagreements_[i];
    absl::StrAppend(&out, "  ", api::FormatTime(each.at), "  ", each.gang, "  ", each.what,
                    each.reason.empty() ? "" : ": ", OneLine(each.reason), "\n");
  }
  return out;
}

}  // namespace gangway::shadow
