#include "tests/simulation/incidents.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

using sandbox::Component;

enum class Who {
  kAll,
  kOurs,  // controllers and scheduler, and the controllers of PaddleJobs
  kControllers,
  kNotControllers,
  kReplicas,  // where there are two of each of ours
  kNobody,    // in particular
};

struct Row {
  IncidentKind kind;
  absl::string_view name;
  Who who = Who::kAll;
  bool chaos = false;
  absl::Duration longest = absl::ZeroDuration();
};

// In the order of the enumeration.
constexpr Row kRows[] = {
    {IncidentKind::kWriteLost, "write lost"},
    {IncidentKind::kWriteReplyLost, "write's reply lost"},
    {IncidentKind::kWriteConflict, "write 409"},
    {IncidentKind::kWriteTooMany, "write 429", Who::kAll, false, absl::Seconds(5)},
    {IncidentKind::kWriteError, "write 500"},
    {IncidentKind::kWriteLate, "write late", Who::kAll, false, absl::Seconds(3)},
    {IncidentKind::kWriteReplyLate, "write's reply late", Who::kAll, false, absl::Seconds(3)},
    {IncidentKind::kWebhookTimeout, "webhook timeout", Who::kControllers, false, absl::Seconds(10)},
    {IncidentKind::kRemadeMeanwhile, "made anew before the reply", Who::kNotControllers, true, absl::Seconds(8)},
    {IncidentKind::kEventLost, "event lost", Who::kOurs},
    {IncidentKind::kEventReplyLost, "event's reply lost", Who::kOurs},
    {IncidentKind::kEventTooMany, "event 429", Who::kOurs, false, absl::Seconds(5)},
    {IncidentKind::kEventError, "event 500", Who::kOurs},
    {IncidentKind::kReadLost, "read lost"},
    {IncidentKind::kReadTooMany, "read 429", Who::kAll, false, absl::Seconds(5)},
    {IncidentKind::kReadError, "read 500"},
    {IncidentKind::kReadLate, "read late", Who::kAll, false, absl::Seconds(3)},
    {IncidentKind::kListStale, "list stale"},
    {IncidentKind::kListExpired, "list 410"},
    {IncidentKind::kContinueExpired, "continue token 410"},
    {IncidentKind::kGetStale, "GET stale", Who::kOurs},
    {IncidentKind::kWatchLost, "watch lost"},
    {IncidentKind::kWatchTooMany, "watch 429", Who::kAll, false, absl::Seconds(5)},
    {IncidentKind::kWatchError, "watch 500"},
    {IncidentKind::kWatchExpired, "watch 410"},
    {IncidentKind::kFramesLate, "frames late", Who::kAll, false, absl::Seconds(5)},
    {IncidentKind::kFramesBroken, "frames lost with their stream"},
    {IncidentKind::kFramesEnded, "watch ended"},
    {IncidentKind::kFramesExpired, "watch ended by 410"},
    {IncidentKind::kFramesTooMany, "watch ended by 429", Who::kAll, false, absl::Seconds(5)},
    {IncidentKind::kFramesError, "watch ended by 500"},
    {IncidentKind::kFramesRepeated, "frames repeated"},
    {IncidentKind::kFramesReordered, "frames reordered", Who::kAll, false, absl::Seconds(10)},
    {IncidentKind::kFramesMissing, "frames missing", Who::kAll, false, absl::Seconds(10)},
    {IncidentKind::kPartition, "partition", Who::kAll, false, absl::Seconds(30)},
    {IncidentKind::kRequestsCut, "requests do not arrive", Who::kAll, false, absl::Seconds(30)},
    {IncidentKind::kRepliesCut, "replies do not arrive", Who::kAll, false, absl::Seconds(30)},
    {IncidentKind::kWatchesBroken, "watches broken"},
    {IncidentKind::kCrash, "crash", Who::kAll, false, absl::Seconds(10)},
    {IncidentKind::kClockOff, "clock off", Who::kAll, false, absl::Minutes(10)},
    {IncidentKind::kClockJump, "clock jump", Who::kAll, false, absl::Minutes(10)},
    {IncidentKind::kPause, "pause", Who::kReplicas, false, absl::Seconds(40)},
    {IncidentKind::kSuspend, "suspend", Who::kReplicas, false, absl::Seconds(40)},
    {IncidentKind::kCompaction, "history compacted"},
    {IncidentKind::kServerRestart, "API server restarted", Who::kNobody, false, absl::Seconds(5)},
    {IncidentKind::kEviction, "pod evicted", Who::kNobody, true},
    {IncidentKind::kPodDeleted, "pod deleted", Who::kNobody, true},
    {IncidentKind::kNodeSilent, "node silent", Who::kNobody, true, absl::Minutes(15)},
    {IncidentKind::kNodeDeleted, "node deleted", Who::kNobody, true},
};

constexpr int kFewNodes = 4;         // with one less the jobs may not fit any more
constexpr std::uint64_t kMost = 40;  // incidents of a history

std::vector<Component> Of(Who who, const IncidentOptions& options) {
  switch (who) {
    case Who::kAll:
    case Who::kOurs: {
      std::vector<Component> components{Component::kControllers, Component::kScheduler};
      if (who == Who::kAll) components.insert(components.begin(), Component::kKubelets);
      if (options.paddle) components.push_back(Component::kPaddleControllers);
      return components;
    }
    case Who::kControllers:
      return {Component::kControllers};
    case Who::kNotControllers:
      return {Component::kKubelets, Component::kScheduler};
    case Who::kReplicas:
      return options.two_replicas ? Of(Who::kOurs, options) : std::vector<Component>{};
    case Who::kNobody:
      return {Component::kKubelets};
  }
  return {};
}

const Row& RowOf(IncidentKind kind) {
  const Row& row = kRows[static_cast<std::size_t>(kind)];
  GW_CHECK(row.kind == kind);
  return row;
}

bool IsStretch(IncidentKind kind) { return kind >= IncidentKind::kPartition && kind <= IncidentKind::kRepliesCut; }

}  // namespace

absl::string_view NameOf(IncidentKind kind) { return RowOf(kind).name; }

std::string Text(const Incident& incident) {
  const Row& row = RowOf(incident.kind);
  std::string text = absl::StrCat(absl::FormatDuration(absl::Trunc(incident.at, absl::Milliseconds(1))), " ");
  if (row.who != Who::kNobody)
    absl::StrAppend(&text, sandbox::ClientName(incident.who), incident.replica > 0 ? " (the other)" : "", ": ");
  absl::StrAppend(&text, row.name);
  if (row.longest > absl::ZeroDuration())
    absl::StrAppend(&text, " (", absl::FormatDuration(absl::Trunc(incident.lasts, absl::Milliseconds(1))), ")");
  return text;
}

absl::Duration GotOverIn(const Incident& incident) {
  constexpr absl::Duration kTriedAgain = absl::Seconds(6);  // a gang rests for 5 s after a binding was refused
  switch (incident.kind) {
    case IncidentKind::kEventLost:
    case IncidentKind::kEventReplyLost:
    case IncidentKind::kEventTooMany:
    case IncidentKind::kEventError:
      return absl::ZeroDuration();
    case IncidentKind::kWriteTooMany:
    case IncidentKind::kReadTooMany:
    case IncidentKind::kWatchTooMany:
    case IncidentKind::kFramesTooMany:
      return absl::Ceil(incident.lasts, absl::Seconds(1)) + kTriedAgain;  // the header has whole seconds
    case IncidentKind::kWebhookTimeout:
      return absl::Seconds(10) + kTriedAgain;
    case IncidentKind::kPartition:
    case IncidentKind::kRequestsCut:
    case IncidentKind::kRepliesCut:
      return incident.lasts + absl::Seconds(10) + kTriedAgain;  // what was sent at last is given up, too
    case IncidentKind::kPause:
    case IncidentKind::kSuspend:
      return incident.lasts + absl::Seconds(20) + kTriedAgain;  // the other leads when the lease is over
    case IncidentKind::kClockOff:
    case IncidentKind::kClockJump:
      return kTriedAgain;
    case IncidentKind::kRemadeMeanwhile:
    case IncidentKind::kEviction:
    case IncidentKind::kPodDeleted:
    case IncidentKind::kNodeSilent:
    case IncidentKind::kNodeDeleted:
      return incident.lasts + absl::Seconds(20);  // pods go, and are made again
    default:
      return incident.lasts + kTriedAgain;
  }
}

std::vector<IncidentOf> AllIncidents(const IncidentOptions& options) {
  std::vector<IncidentOf> all;
  for (const Row& row : kRows) {
    if (row.chaos ? !options.chaos : !options.faults) continue;
    if (row.kind == IncidentKind::kNodeDeleted && options.nodes <= kFewNodes) continue;
    // A lease trusts the clock that never jumps (kube/client/write_fence.h); and replicas crash by losing it.
    const bool process = row.kind == IncidentKind::kClockJump || row.kind == IncidentKind::kCrash;
    for (const Component who : Of(row.who, options)) {
      if (!options.two_replicas || !process || who == Component::kKubelets) all.emplace_back(row.kind, who);
    }
  }
  return all;
}

std::vector<Incident> DrawIncidents(RandomStream& random, const IncidentOptions& options) {
  const std::vector<IncidentOf> all = AllIncidents(options);
  std::vector<Incident> drawn;
  if (all.empty()) return drawn;
  std::vector<IncidentOf> ends_leases;
  std::copy_if(all.begin(), all.end(), std::back_inserter(ends_leases), [](const IncidentOf& each) {
    return each.second != Component::kKubelets && (RowOf(each.first).who == Who::kReplicas || IsStretch(each.first));
  });
  const auto upto = [&](absl::Duration most) {
    return absl::Trunc(most * UnitInterval(random.Next()), absl::Microseconds(1));
  };
  for (std::uint64_t i = random.Below(kMost + 1); i > 0; --i) {
    Incident incident;
    const std::vector<IncidentOf>& from =
        options.two_replicas && random.Below(3) == 0 && !ends_leases.empty() ? ends_leases : all;
    std::tie(incident.kind, incident.who) = from[random.Below(from.size())];
    const Row& row = RowOf(incident.kind);
    // What begins with the history meets the first lists and watches.
    incident.at =
        incident.kind != IncidentKind::kClockOff && random.Below(5) != 0 ? upto(options.window) : absl::ZeroDuration();
    incident.replica =
        options.two_replicas && incident.who != Component::kKubelets ? static_cast<int>(random.Below(2)) : 0;
    incident.lasts = upto(row.longest);
    if (incident.kind == IncidentKind::kClockOff && random.Below(2) == 0) incident.lasts = -incident.lasts;
    incident.pick = random.Next();
    drawn.push_back(incident);
  }
  std::stable_sort(drawn.begin(), drawn.end(), [](const Incident& a, const Incident& b) { return a.at < b.at; });
  return drawn;
}

}  // namespace gangway::testutil
