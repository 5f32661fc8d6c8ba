#include "plugin/lifecycle/cron/reconcile_cron_job.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/resource.h"
#include "api/volcano/cron_schedule.h"
#include "kube/plan/writes.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::CronJob;
using api::volcano::CronJobStatus;
using api::volcano::CronSchedule;
using api::volcano::Job;
using kube::EventNote;
using kube::Plan;
using kube::Write;

constexpr absl::Duration kAfterSchedule = absl::Milliseconds(100);  // so that the clocks agree that it is time
constexpr absl::Duration kClockError = absl::Minutes(1);            // of the API server's clock and ours
constexpr absl::Duration kInDoubt = absl::Seconds(1);
constexpr int kManyMissed = 100;

std::int64_t MinutesOf(absl::Time t) { return absl::ToInt64Minutes(t - absl::UnixEpoch()); }

// Go's RFC 3339: an offset of nothing is "Z".
std::string FormatIn(absl::Time t, absl::TimeZone zone) {
  std::string text = absl::FormatTime("%Y-%m-%d%ET%H:%M:%S%Ez", t, zone);
  absl::string_view civil = text;
  if (absl::ConsumeSuffix(&civil, "+00:00")) return absl::StrCat(civil, "Z");
  return text;
}

bool SameStatus(const CronJobStatus& a, const CronJobStatus& b) {
  return a.active == b.active && a.last_schedule_time == b.last_schedule_time &&
         a.last_successful_time == b.last_successful_time;
}

class CronDecision {
 public:
  CronDecision(const CronJobView& seen, absl::Time now)
      : seen_(seen), cron_(*seen.cron), now_(now), status_(cron_.status) {}

  Plan Run() && {
    TakeStock();
    Prune();
    Start();
    WriteAll();
    return std::move(plan_);
  }

 private:
  // An entry of status.active without a UID: the Job that is being made.
  struct Intent {
    api::ObjectReference entry;
    absl::Time scheduled;
  };

  // --- What there is: status.active and the times of the status follow the Jobs.

  void TakeStock() {
    status_.active.clear();
    for (const api::ObjectReference& entry : cron_.status.active) {
      const CronRun* run = FindRun(entry.name);
      if (run != nullptr && !entry.uid.empty() && entry.uid != run->uid) run = nullptr;
      if (run != nullptr) {
        if (Finished(run->phase)) {
          Note(EventNote::Type::kNormal, "SawCompletedJob",
               absl::StrCat("job ", run->name, " is ", NameOf(run->phase)));
        } else {
          api::ObjectReference kept = entry;
          kept.uid = run->uid;
          status_.active.push_back(std::move(kept));
        }
      } else if (entry.uid.empty()) {
        if (!SeenLeaving(entry.name)) intent_ = IntentOf(entry);
      } else if (!seen_.runs_current && !SeenLeaving(entry.name)) {
        status_.active.push_back(entry);
        plan_.look_again = now_ + kInDoubt;
      }
    }
    for (const CronRun& run : seen_.runs) {
      if (run.scheduled <= now_) status_.last_schedule_time.at = std::max(status_.last_schedule_time.at, run.scheduled);
      if (run.phase == JobPhase::kCompleted)
        status_.last_successful_time.at = std::max(status_.last_successful_time.at, run.ended);
      if (!Finished(run.phase) && !IsActive(run.name)) status_.active.push_back(ReferenceTo(run.name, run.uid));
    }
  }

  const CronRun* FindRun(const std::string& name) const {
    const auto run =
        std::find_if(seen_.runs.begin(), seen_.runs.end(), [&](const CronRun& r) { return r.name == name; });
    return run == seen_.runs.end() ? nullptr : &*run;
  }
  bool SeenLeaving(const std::string& name) const {
    return seen_.seen_leaving != nullptr && seen_.seen_leaving->contains(name);
  }
  bool IsActive(const std::string& name) const {
    return std::any_of(status_.active.begin(), status_.active.end(),
                       [&](const auto& entry) { return entry.name == name; });
  }
  api::ObjectReference ReferenceTo(const std::string& name, const std::string& uid) const {
    return {api::kJobs.ApiVersion(), std::string(api::kJobs.kind), cron_.metadata.ns, name, uid, {}, {}};
  }

  // --- The past: of those that were Completed, and those that Failed, the oldest beyond the limit go. Terminated ones
  // stay.

  void Prune() {
    PruneOf(JobPhase::kCompleted, cron_.spec.successful_jobs_history_limit.value_or(0));
    PruneOf(JobPhase::kFailed, cron_.spec.failed_jobs_history_limit.value_or(0));
  }

  void PruneOf(JobPhase phase, std::int32_t limit) {
    std::vector<const CronRun*> ended;
    for (const CronRun& run : seen_.runs) {
      if (run.phase == phase && !run.deleting) ended.push_back(&run);
    }
    std::sort(ended.begin(), ended.end(), [](const CronRun* a, const CronRun* b) {
      return std::tie(a->created, a->scheduled, a->name) < std::tie(b->created, b->scheduled, b->name);
    });
    const std::size_t keep = static_cast<std::size_t>(std::max(limit, 0));
    for (std::size_t i = 0; i + keep < ended.size(); ++i) Remove(*ended[i]);
  }

  // --- The next.

  void Start() {
    if (cron_.spec.suspend.value_or(false)) {
      if (intent_ && MayBeThere()) status_.active.push_back(intent_->entry);
      return;
    }
    const std::optional<CronSchedule> schedule = ReadSchedule();
    if (!schedule) {
      if (intent_) status_.active.push_back(intent_->entry);
      return;
    }
    const api::Time last =
        status_.last_schedule_time.set() ? status_.last_schedule_time : cron_.metadata.creation_timestamp;
    if (last.at > now_ + kClockError) {
      Note(EventNote::Type::kWarning, "ClockSkew",
           absl::StrCat("no job starts before the last one, of ", api::FormatTime(last.at), ", lies in the past"));
    }
    const absl::Time from = std::max({last.at, seen_.schedule_changed, absl::UnixEpoch()});
    absl::Time due = schedule->Last(from, now_);
    LookAgainAt(schedule->Next(due == absl::InfinitePast() ? from : due));
    if (MinutesOf(due) <= MinutesOf(status_.last_schedule_time.at)) due = absl::InfinitePast();
    if (intent_ && GoesOn(due)) return StartAt(intent_->scheduled, *schedule);
    if (due == absl::InfinitePast()) return;
    if (TooLate(due)) return Missed(due, *schedule);
    CountMissed(*schedule, from);
    if (cron_.spec.concurrency_policy == "Forbid" && !status_.active.empty()) {
      return Note(EventNote::Type::kWarning, "ForbidConcurrent",
                  absl::StrCat("the start of ", FormatIn(due, schedule->zone()), " waits: job ",
                               status_.active.front().name, " has not ended"));
    }
    StartAt(due, *schedule);
  }

  std::optional<CronSchedule> ReadSchedule() {
    absl::TimeZone zone = absl::UTCTimeZone();
    if (cron_.spec.time_zone) {
      const absl::StatusOr<absl::TimeZone> named = api::volcano::LoadCronTimeZone(*cron_.spec.time_zone);
      if (!named.ok()) {
        Note(EventNote::Type::kWarning, "UnknownTimeZone",
             absl::StrCat("no job starts: spec.timeZone: ", named.status().message()));
        return std::nullopt;
      }
      zone = *named;
    }
    absl::StatusOr<CronSchedule> schedule = CronSchedule::Parse(cron_.spec.schedule, zone);
    if (!schedule.ok()) {
      Note(EventNote::Type::kWarning, "UnParseableCronJobSchedule",
           absl::StrCat("no job starts: spec.schedule \"", cron_.spec.schedule, "\": ", schedule.status().message()));
      return std::nullopt;
    }
    return *std::move(schedule);
  }

  void LookAgainAt(absl::Time next) {
    if (next == absl::InfiniteFuture()) {
      return Note(EventNote::Type::kWarning, "InvalidSchedule",
                  absl::StrCat("no more jobs start: spec.schedule \"", cron_.spec.schedule, "\" names no day to come"));
    }
    plan_.look_again = std::min(plan_.look_again, next + kAfterSchedule);
  }

  // Whether the start that was decided is still to be made. When it is given up, the next may take its place.
  bool GoesOn(absl::Time due) {
    if (TooLate(intent_->scheduled) && seen_.runs_current && !MayBeThere()) {
      Note(EventNote::Type::kWarning, "MissSchedule",
           absl::StrCat("job ", intent_->entry.name, " could not be made in time"));
      return false;
    }
    return due == absl::InfinitePast() || seen_.refused != intent_->entry.name;
  }

  // Whether two jobs could come to be at a time if it were given up.
  bool MayBeThere() const {
    const std::string& name = intent_->entry.name;
    return cron_.spec.concurrency_policy != "Allow" && seen_.attempted == name && seen_.refused != name;
  }

  // nullopt: no entry of ours, which have the name of a start that was due.
  std::optional<Intent> IntentOf(const api::ObjectReference& entry) const {
    const api::Time last = cron_.status.last_schedule_time;
    if (last.set() && CronJobRunName(cron_.metadata.name, last.at) == entry.name) return Intent{entry, last.at};
    absl::string_view minutes = entry.name;
    std::int64_t n = 0;
    if (!absl::ConsumePrefix(&minutes, absl::StrCat(cron_.metadata.name, "-")) || !absl::SimpleAtoi(minutes, &n))
      return std::nullopt;
    const absl::Time scheduled = absl::UnixEpoch() + absl::Minutes(n);
    if (scheduled > now_ || scheduled + absl::Minutes(1) < cron_.metadata.creation_timestamp.at) return std::nullopt;
    if (CronJobRunName(cron_.metadata.name, scheduled) != entry.name) return std::nullopt;
    return Intent{entry, scheduled};
  }

  // In whole seconds, as the deadline is.
  bool TooLate(absl::Time scheduled) const {
    const std::optional<std::int64_t> deadline = cron_.spec.starting_deadline_seconds;
    return deadline && absl::ToUnixSeconds(now_) - absl::ToUnixSeconds(scheduled) > *deadline;
  }

  void Missed(absl::Time due, const CronSchedule& schedule) {
    Note(EventNote::Type::kWarning, "MissSchedule",
         absl::StrCat("the start of ", FormatIn(due, schedule.zone()),
                      " is left out: it is more than startingDeadlineSeconds, ", *cron_.spec.starting_deadline_seconds,
                      ", ago"));
  }

  void CountMissed(const CronSchedule& schedule, absl::Time from) {
    if (cron_.spec.starting_deadline_seconds)
      from = std::max(from, now_ - absl::Seconds(*cron_.spec.starting_deadline_seconds));
    int missed = 0;
    for (absl::Time t = schedule.Next(from); t <= now_ && missed <= kManyMissed; t = schedule.Next(t)) ++missed;
    if (missed <= kManyMissed) return;
    Note(EventNote::Type::kWarning, "TooManyMissedTimes",
         absl::StrCat("more than ", kManyMissed,
                      " starts were missed; only the last of them is made. Set or decrease "
                      "spec.startingDeadlineSeconds, or check the clocks"));
  }

  void StartAt(absl::Time scheduled, const CronSchedule& schedule) {
    const std::string name = CronJobRunName(cron_.metadata.name, scheduled);
    if (cron_.spec.concurrency_policy == "Replace") ReplaceActive(name);
    status_.active.push_back(ReferenceTo(name, ""));
    status_.last_schedule_time.at = std::max(status_.last_schedule_time.at, scheduled);
    made_ = JobAt(name, scheduled, schedule.zone());
    Note(EventNote::Type::kNormal, "SuccessfulCreate", absl::StrCat("created job ", name));
  }

  void ReplaceActive(const std::string& by) {
    for (const CronRun& run : seen_.runs) {
      if (Finished(run.phase) || run.deleting || run.name == by) continue;
      Note(EventNote::Type::kWarning, "ReplaceConcurrent",
           absl::StrCat("job ", by, " takes the place of ", run.name, ", which has not ended"));
      Remove(run);
    }
  }

  Job JobAt(const std::string& name, absl::Time scheduled, absl::TimeZone zone) const {
    const api::volcano::CronJobTemplate& from = cron_.spec.job_template;
    Job job;
    job.api_version = api::kJobs.ApiVersion();
    job.kind = std::string(api::kJobs.kind);
    job.metadata.name = name;
    job.metadata.ns = cron_.metadata.ns;
    job.metadata.labels = from.metadata.labels;
    job.metadata.annotations = from.metadata.annotations;
    job.metadata.annotations[std::string(kCronScheduledKey)] = FormatIn(scheduled, zone);
    job.metadata.owner_references = {{api::kCronJobs.ApiVersion(), std::string(api::kCronJobs.kind),
                                      cron_.metadata.name, cron_.metadata.uid, true, true}};
    job.spec = from.spec;
    return job;
  }

  // --- Writing: the status first, since it decides; then what goes, then what comes.

  void WriteAll() {
    if (!SameStatus(cron_.status, status_)) WriteStatus();
    if (!removals_.empty()) plan_.stages.push_back(std::move(removals_));
    if (!made_) return;
    Write write;
    write.resource = &api::kJobs;
    write.ns = made_->metadata.ns;
    write.name = made_->metadata.name;
    write.body = api::Encode(*made_);
    plan_.stages.push_back({std::move(write)});
  }

  void WriteStatus() {
    const absl::StatusOr<std::string> diff = api::MergePatchDiff(api::Encode(cron_.status), api::Encode(status_));
    if (!diff.ok()) return;  // both are texts of ours
    std::string body;
    api::JsonWriter(body).BeginObject().RawField("status", *diff).EndObject();
    plan_.stages.push_back({kube::ChangeOf(api::kCronJobs, cron_.metadata, std::move(body), "status")});
  }

  void Remove(const CronRun& run) {
    Write write;
    write.verb = kube::Verb::kDelete;
    write.resource = &api::kJobs;
    write.ns = cron_.metadata.ns;
    write.name = run.name;
    write.uid = run.uid;
    removals_.push_back(std::move(write));
    Note(EventNote::Type::kNormal, "SuccessfulDelete", absl::StrCat("deleted job ", run.name));
  }

  void Note(EventNote::Type type, std::string reason, std::string message) {
    plan_.events.push_back(
        {type, std::move(reason), std::move(message), kube::ReferenceTo(api::kCronJobs, cron_.metadata)});
  }

  const CronJobView& seen_;
  const CronJob& cron_;
  const absl::Time now_;
  CronJobStatus status_;
  std::optional<Intent> intent_;
  std::vector<Write> removals_;
  std::optional<Job> made_;
  Plan plan_;
};

}  // namespace

CronRun RunOf(const Job& job) {
  CronRun run;
  run.name = job.metadata.name;
  run.uid = job.metadata.uid;
  run.phase = ParsePhase(job.status.state.phase);
  run.deleting = job.metadata.deleting();
  run.created = job.metadata.creation_timestamp.at;
  run.scheduled = run.created;
  run.ended = job.status.state.last_transition_time.at;
  if (const auto it = job.metadata.annotations.find(std::string(kCronScheduledKey));
      it != job.metadata.annotations.end()) {
    if (const absl::StatusOr<absl::Time> scheduled = api::ParseTime(it->second); scheduled.ok())
      run.scheduled = *scheduled;
  }
  return run;
}

std::string CronJobRunName(const std::string& cron, absl::Time scheduled) {
  return absl::StrCat(cron, "-", MinutesOf(scheduled));
}

Plan ReconcileCronJob(const CronJobView& seen, absl::Time now) {
  if (seen.cron->metadata.deleting()) return {};
  return CronDecision(seen, now).Run();
}

}  // namespace gangway::lifecycle
