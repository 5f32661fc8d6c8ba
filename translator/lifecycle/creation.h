// Making the Job of a PaddleJob: whether it can be made, what must go first, and the writes
// (docs/paddlejob-lifecycle.md).
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kube/plan/plan.h"
#include "translator/convert/translate.h"
#include "translator/lifecycle/paddle_job_view.h"
#include "translator/lifecycle/wanted.h"

namespace gangway::paddle_lifecycle {

// What would be made now. With errors the rest says nothing.
struct Creation {
  convert::Translation translation;  // its findings include names that are taken, and the queue
  std::string mark;                  // TranslationMark
  bool ok() const { return translation.ok(); }
  // No error is the PaddleJob's own: it goes on once somebody makes room.
  bool repairable() const;
};
Creation Prepare(const PaddleJobView& seen, const Wanted& wanted);

// The PodGroup of the job's name that nobody controls; null: none.
const api::volcano::PodGroup* HandMadeGroupOf(const PaddleJobView& seen);

// Errors and warnings, for a condition: "E-QUEUE spec.schedulingPolicy.queue: ...; W-SHM ...", not longer than a reader
// would read.
std::string Summary(const convert::Findings& findings);
// The first error; "" when there is none.
std::string FirstError(const convert::Findings& findings);

// Who controls an object near a PaddleJob.
enum class Party {
  kUs,
  kJob,
  kEarlier,
  kOthers
};  // the PaddleJob itself; its Job; a Job or PaddleJob of this name that is gone or goes
Party PartyOf(const api::OwnerReference& controller, const PaddleJobView& seen, const Wanted& wanted);

// What stands in the way of a Job that is not there: of an earlier one, or made of an earlier spec.
struct Obstacles {
  std::vector<kube::Write> removals;  // of what is ours and does not go by itself
  std::string waits_for;              // "service wd of an earlier job"; "" when the way is free
};
Obstacles FindObstacles(const PaddleJobView& seen, const Wanted& wanted, const Creation& creation);

// Of the companions that are not there.
std::vector<kube::Write> CompanionsMissing(const PaddleJobView& seen, const Wanted& wanted, const Creation& creation);
// How many are there.
std::int32_t CompanionsSeen(const PaddleJobView& seen, const Wanted& wanted);

// One stage for each: the companions that are not there, the Job. `restarts` there were before it.
std::vector<std::vector<kube::Write>> WritesOf(const PaddleJobView& seen, const Wanted& wanted,
                                               const Creation& creation, std::int32_t restarts);

kube::Write DeletionByUid(const api::Resource& resource, std::string ns, std::string name, std::string uid);

}  // namespace gangway::paddle_lifecycle
