// Decisions that are carried out, and whether others do more than they did.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::testutil {

struct Told {
  std::map<model::GangId, std::optional<model::Reason::Kind>> kinds;
  std::optional<model::KeptNodes> kept;
  model::GangId kept_for = model::kNone;
  std::uint64_t version = 0;  // of the cluster, after it
};

// In the cluster, as the scheduler does; pods that are evicted are terminating.
inline Told CarryOut(model::Cluster& cluster, const model::Decisions& decisions) {
  Told told;
  std::optional<model::Reservation> reservation;
  for (const model::Decision& decision : decisions) {
    auto& kind = told.kinds[decision.gang];
    if (decision.reason.has_value()) kind = decision.reason->kind;
    if (decision.admit) cluster.SetAdmitted(decision.gang, true);
    for (const model::Placement& p : decision.placements) cluster.Assume(p.task, p.row);
    if (decision.nominations.has_value()) {
      for (const model::TaskId task : cluster.gang(decision.gang).tasks) cluster.Nominate(task, model::kNone);
      for (const model::Placement& p : *decision.nominations) cluster.Nominate(p.task, p.row);
    }
    for (const model::TaskId task : decision.evicted) cluster.SetEvicted(task, true);
    if (decision.passed_over_until != absl::InfinitePast()) cluster.PassOver(decision.gang, decision.passed_over_until);
    cluster.Claim(decision.gang, decision.claim);
    if (!decision.kept.has_value()) continue;
    reservation = {decision.gang, cluster.gang(decision.gang).uid, *decision.kept};
    told.kept = decision.kept;
    told.kept_for = decision.gang;
  }
  cluster.SetReservation(reservation);
  told.version = cluster.version();
  return told;
}

// "": nothing is done, and all wait for what they were told; nodes may be kept for another.
inline std::string WhatIsNew(const Told& told, const model::Decisions& decisions) {
  if (told.kinds.size() != decisions.size()) return "others wait";
  std::optional<model::KeptNodes> kept;
  model::GangId kept_for = model::kNone;
  for (const model::Decision& decision : decisions) {
    const std::string gang = absl::StrCat("gang number ", decision.gang, " ");
    if (decision.admit) return gang + "is let in";
    if (!decision.placements.empty()) return gang + "is placed";
    if (decision.nominations.has_value()) return gang + "has other room kept for it";
    if (!decision.evicted.empty()) return gang + "has others evicted";
    if (decision.kept.has_value()) kept_for = decision.gang;
    if (decision.kept.has_value()) kept = decision.kept;
    std::optional<model::Reason::Kind> kind;
    if (decision.reason.has_value()) kind = decision.reason->kind;
    const auto before = told.kinds.find(decision.gang);
    if (before == told.kinds.end() || before->second != kind) return gang + "waits for something else";
  }
  if (told.kept.has_value() && !kept.has_value()) return "no nodes are kept";
  return kept_for != told.kept_for || told.kept == kept ? "" : "other nodes are kept";
}

}  // namespace gangway::testutil
