// What becomes of a CronJob: the Jobs it starts, those of the past that it removes, and its status (Volcano:
// pkg/controllers/cronjob).
//
// A start is decided by the status: it takes lastScheduleTime to the time of the start and gives status.active an entry
// without a UID, which says that the Job is being made. Only then the Job is created, under a name made of that time;
// once it is seen the entry has its UID. So a restart of ours, a lost reply or a second controller between any two
// writes neither makes a Job twice nor leaves one out. There is one start under way at a time.
//
// Where it differs from Volcano, on purpose:
// * without timeZone the schedule is in UTC, whatever the zone of the machine;
// * no two starts in one minute (@every 30s), since their Jobs would have one name;
// * a start that was decided stays decided when the Job cannot be made at once; it is given up when the API server
// refused it and
//   the next one is due, and when its deadline is over or the CronJob is suspended: with Forbid and Replace only while
//   its creation was not asked for, since the Job could be there;
// * with @every, startingDeadlineSeconds does not move the starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "api/volcano/cron_job.h"
#include "api/volcano/job.h"
#include "kube/plan/plan.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {

inline constexpr absl::string_view kCronScheduledKey = "volcano.sh/cronjob-scheduled-timestamp";

// What a CronJob needs to know of one of its Jobs.
struct CronRun {
  std::string name, uid;
  JobPhase phase = JobPhase::kPending;
  bool deleting = false;
  absl::Time scheduled;  // as its annotation says, else when it was created
  absl::Time created;
  absl::Time ended = absl::InfinitePast();  // when it reached its phase
};
CronRun RunOf(const api::volcano::Job& job);

// Borrows; lives for one decision.
struct CronJobView {
  const api::volcano::CronJob* cron = nullptr;  // never null; defaults applied
  std::vector<CronRun> runs;                    // the Jobs it controls (its UID), by name
  // A Job that is not among `runs` is certainly gone only when the Jobs were read no earlier than this version of the
  // CronJob, or when it was seen to go.
  bool runs_current = true;
  const absl::flat_hash_set<std::string>* seen_leaving = nullptr;  // names; null: none
  std::string refused;    // the Job that the API server will not make; "": none
  std::string attempted;  // the Job whose creation was asked for last, and may be there unseen; "": none since we began
  absl::Time schedule_changed =
      absl::InfinitePast();  // starts of a new schedule are not counted from before it was there
};

// "<cronjob>-<minutes since 1970>"
std::string CronJobRunName(const std::string& cron, absl::Time scheduled);

// Pure: the same view gives the same plan.
kube::Plan ReconcileCronJob(const CronJobView& seen, absl::Time now);

}  // namespace gangway::lifecycle
