// The parts of MakeView, a file each. Private to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/volcano/scheduling.h"
#include "cmd/dashboard/view/seen.h"
#include "cmd/dashboard/view/view.h"

namespace gangway::dashboard {

std::vector<GangRow> GangRows(const Seen& seen);
// `gangs` are those of the same cluster.
std::vector<QueueRow> QueueRows(const Seen& seen, const std::vector<GangRow>& gangs);
std::vector<NodeRow> NodeRows(const Seen& seen);
std::vector<JobRow> JobRows(const Seen& seen);
std::vector<PaddleRow> PaddleRows(const Seen& seen);

// The condition that holds: of those that are True the one that came last; nullptr.
const api::volcano::PodGroupCondition* CurrentCondition(const api::volcano::PodGroupStatus& status);
std::string QueueOf(const api::volcano::PodGroup& group);
// What is too much is as much as there can be: anybody may ask for any amount.
std::int64_t Sum(std::int64_t a, std::int64_t b);
// Names that are new come at the end.
void AddAmounts(const model::NamedAmounts& amounts, model::NamedAmounts& into);

}  // namespace gangway::dashboard
