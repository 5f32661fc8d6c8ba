// A PodGroup of the PaddleJob's name that was written by hand and came when the Job was made already
// (docs/paddlejob-lifecycle.md).
#pragma once

#include <string>

#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "translator/convert/codes.h"
#include "translator/lifecycle/creation.h"
#include "translator/lifecycle/record.h"

namespace gangway::paddle_lifecycle {

// Whether it has not been looked at for this Job. `group` may be null.
bool IsNews(const api::volcano::PodGroup* group, const JobRecord& record);

struct LateGroup {
  bool replaces = false;       // the Job goes for one that has what the group asks for
  std::string change;          // why: "its PodGroup wd asks for queue ads, minMember 3"
  convert::Finding told;       // W-PG-DROPPED
  convert::Findings findings;  // of the translation, with it
};
// `creation` is of now, with the group; `begun`: a program of the Job runs, so that nothing is replaced.
LateGroup LookAtLateGroup(const api::volcano::PodGroup& group, const Creation& creation, const api::volcano::Job& job,
                          bool begun);

}  // namespace gangway::paddle_lifecycle
