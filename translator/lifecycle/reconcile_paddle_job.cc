#include "translator/lifecycle/reconcile_paddle_job.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/counted.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "translator/convert/annotations.h"
#include "translator/lifecycle/creation.h"
#include "translator/lifecycle/job_change.h"
#include "translator/lifecycle/judge.h"
#include "translator/lifecycle/late_group.h"
#include "translator/lifecycle/notes.h"
#include "translator/lifecycle/progress.h"
#include "translator/lifecycle/record.h"
#include "translator/lifecycle/wanted.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::TaskSpec;
using kube::Plan;
using kube::Write;

constexpr absl::Duration kInDoubt = absl::Seconds(1);
// How long after a Job has failed its pods are waited for, to see how they failed.
constexpr absl::Duration kPodsFollow = absl::Seconds(10);
constexpr char kWorker[] = "worker";

// Whatever stands in objects.
std::int32_t CountOf(std::int64_t n) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(n, 0, std::numeric_limits<std::int32_t>::max()));
}

class ReconcileSteps {
 public:
  ReconcileSteps(const PaddleJobView& seen, absl::Time now)
      : seen_(seen), now_(now), wanted_(WantedOf(seen)), stored_(ReadProgress(seen)), to_(stored_) {}

  Plan Run() && {
    if (wanted_.left_alone) return {};
    FindJob();
    TakeStock();
    if (wanted_.metadata->deleting()) return Leave();
    if (Ended(stored_.phase) && !stored_.translated.set()) return {};  // another controller brought it to its end
    if (!wanted_.chosen && OperatorAtWork(seen_, wanted_)) return TwoControllers();
    if (stored_.final()) {
      Rest();
    } else if (job_ == nullptr) {
      GoOnWithoutJob();
    } else if (job_->metadata.deleting() && (stored_.recreating() || !EndsAnyway())) {
      WaitForGoing();
    } else {
      FollowJob();
    }
    Finish();
    return std::move(plan_);
  }

 private:
  // --- What there is.

  void FindJob() {
    if (seen_.volcano_job == nullptr) return;
    const api::OwnerReference* owner = seen_.volcano_job->metadata.Controller();
    if (owner == nullptr || owner->uid != wanted_.metadata->uid) return;
    job_ = seen_.volcano_job;
    record_ = ReadRecord(job_->metadata);
  }

  void TakeStock() {
    if (job_ != nullptr) to_.queue = job_->spec.queue;
    // What runs counts, and what has ended stays, whatever the spec says meanwhile.
    if (!kubeflow())
      to_.mode = job_ != nullptr ? ModeOf(*job_, record_.elastic()) : stored_.final() ? stored_.mode : wanted_.mode;
    to_.generation = wanted_.metadata->generation;
    to_.roles = CountPods(wanted_, job_, seen_.pods);
  }

  bool kubeflow() const { return seen_.job == nullptr; }
  std::int32_t RestartsSoFar() const {
    return CountOf(std::int64_t{record_.restarts} + RestartsOf(*job_) + record_.replaced.count);
  }
  bool EndsAnyway() const {
    return IsFinal(*job_) || job_->status.state.phase == "Completing" || job_->status.state.phase == "Terminating";
  }

  // --- Deletion: what it owns follows it. paddle-operator's finalizer stands for no work.

  Plan Leave() {
    if (std::optional<Write> release = ReleaseFromOperator(*wanted_.resource, *wanted_.metadata)) {
      plan_.stages.push_back({*std::move(release)});
      return std::move(plan_);
    }
    to_.phase = Phase::kTerminating;
    KeepEnded(stored_.roles, to_.roles);
    Finish();
    return std::move(plan_);
  }

  // --- Two controllers. Whatever the other one writes into the status, we do not write over it.

  Plan TwoControllers() {
    const convert::Finding finding = convert::MakeFinding(
        convert::Code::kTwoControllers, "", "", "another controller makes pods for this job, so it is left alone",
        absl::StrCat("stop the other one and set the annotation ", View(convert::kManagedBy), ": ",
                     View(convert::kManagedByUs)));
    notes_.Warning("TranslationError", finding.ToString());
    plan_.events = std::move(notes_).Take();
    return std::move(plan_);
  }

  // --- After the end.

  void Rest() {
    KeepEnded(stored_.roles, to_.roles);
    if (job_ == nullptr && !to_.completion.set()) to_.completion = SecondOf(now_);
    if (job_ != nullptr && IsFinal(*job_)) AfterEnd();
    if (to_.completion.set()) KeepTtl();
  }

  // The Job has reached its last phase: no pod of it is made anew.
  void AfterEnd() {
    if (!to_.completion.set()) {
      to_.completion =
          job_->status.state.last_transition_time.set() ? job_->status.state.last_transition_time : SecondOf(now_);
    }
    const bool clean = to_.phase == Phase::kCompleted ? wanted_.clean_completed : wanted_.clean_failed;
    if (!clean) return;
    for (RoleProgress& role : to_.roles) role.refs.clear();
    for (const NamedPod& of : PodsOf(*job_, seen_.pods)) {
      if (!of.pod->deleting) removals_.push_back(DeletionOfPod(of));
    }
  }

  void KeepTtl() {
    if (!wanted_.ttl_seconds.has_value()) return;
    const absl::Time due = to_.completion.at + absl::Seconds(*wanted_.ttl_seconds);
    if (now_ < due) return LookAgainAt(due);
    if (wanted_.ttl_takes_job) {
      expired_ = kube::DeletionOf(*wanted_.resource, *wanted_.metadata);
      expired_->resource_version = wanted_.metadata->resource_version;
    } else if (job_ != nullptr && !job_->metadata.deleting()) {
      expired_ = kube::DeletionOf(api::kJobs, job_->metadata);
    }
    if (expired_.has_value()) expired_->propagation = kube::Propagation::kForeground;
  }

  // --- No Job.

  void GoOnWithoutJob() {
    const bool had_job = stored_.translated.reason == View(kJobCreated);
    if (had_job && !seen_.jobs_current) {
      unchanged_ = true;
      return LookAgainAt(now_ + kInDoubt);
    }
    to_.scheduled = {};
    if (wanted_.suspended) {
      if (had_job) to_.translated = {"Unknown", std::string(kRecreating), "the job is suspended"};
      return Suspend();
    }
    Accept();
    if (had_job) {
      to_.restarts = CountOf(std::int64_t{stored_.restarts} + 1);
      return Recreate("its Job was deleted");
    }
    if (DeadlineIsOver()) {
      to_.phase = Phase::kFailed;
      to_.completion = SecondOf(now_);
      to_.message = DeadlineText();
      to_.translated = {"Unknown", std::string(kDeadlineExceeded), to_.message};
      return;
    }
    Create();
  }

  // The training operator's time begins when the job is accepted or resumed.
  void Accept() {
    if (!kubeflow()) return;
    to_.suspended = false;
    if (!to_.start.set()) to_.start = SecondOf(now_);
  }

  void Suspend() {
    to_.phase = Phase::kAborted;
    to_.suspended = true;
    to_.start = {};
    to_.message.clear();
  }

  void Create() {
    const Creation creation = Prepare(seen_, wanted_);
    to_.queue = creation.translation.job.spec.queue;
    if (!creation.ok()) return Refuse(creation);
    const Obstacles obstacles = FindObstacles(seen_, wanted_, creation);
    if (!obstacles.waits_for.empty()) {
      removals_ = obstacles.removals;
      return Wait(absl::StrCat("waits until ", obstacles.waits_for, " is gone"));
    }
    made_ = WritesOf(seen_, wanted_, creation, stored_.restarts);
    if (!seen_.refused.empty()) return Wait(seen_.refused);
    notes_.Tell(creation.translation.findings);
    notes_.Normal("JobCreated", absl::StrCat("made job.batch.volcano.sh ", wanted_.name(), " in queue ",
                                             creation.translation.job.spec.queue));
    to_.phase = Phase::kPending;
    to_.message.clear();
    to_.translated = {"True", std::string(kJobCreated), Summary(creation.translation.findings)};
    status_last_ = true;
  }

  void Refuse(const Creation& creation) {
    to_.phase = creation.repairable() ? Phase::kPending : Phase::kFailed;
    NotTranslated(creation);
  }

  void NotTranslated(const Creation& creation) {
    to_.message = FirstError(creation.translation.findings);
    to_.translated = {"False", std::string(creation.repairable() ? kWaiting : kInvalid),
                      Summary(creation.translation.findings)};
    if (to_.translated != stored_.translated) notes_.Tell(creation.translation.findings);
  }

  void Wait(std::string why) {
    to_.phase = stored_.recreating() ? Phase::kRestarting : Phase::kPending;
    if (!stored_.recreating()) to_.translated = {"Unknown", std::string(kWaiting), why};
    to_.message = std::move(why);
  }

  // --- Another Job in the place of the first.

  void Recreate(std::string why) {
    to_.phase = wanted_.suspended ? Phase::kAborted : Phase::kRestarting;
    to_.message = why;
    to_.scheduled = {};
    to_.translated = {"Unknown", std::string(kRecreating), std::move(why)};
  }

  void WaitForGoing() {
    if (stored_.recreating()) {
      to_.phase = wanted_.suspended ? Phase::kAborted : Phase::kRestarting;
      to_.scheduled = {};
      return;
    }
    to_.restarts = CountOf(std::int64_t{RestartsSoFar()} + 1);
    Recreate("its Job was deleted");
  }

  // The status that says so is one stage before.
  void Replace(std::string why) {
    Recreate(std::move(why));
    Write removal = kube::DeletionOf(api::kJobs, job_->metadata);
    removal.propagation = kube::Propagation::kForeground;
    removals_.push_back(std::move(removal));
  }

  // --- A Job.

  void FollowJob() {
    to_.restarts = RestartsSoFar();
    Accept();
    to_.phase = PhaseOf(*job_, to_.roles, record_.elastic(), stored_.start.set(), stored_.phase);
    if (Ended(to_.phase)) return End();
    if (ResumeAnew()) {
      to_.restarts = 0;
      return Replace("the job is resumed");
    }
    TellTranslated();
    if (to_.phase != Phase::kCompleting) {  // which nothing can turn
      if (ReplaceIfEdited() || ReplaceForGroup()) return;
      FollowSuspension();
      KeepDeadline();
      if (record_.elastic()) KeepWorkers();
      CarryOverPriority();
      KeepCompanions();
    }
    Describe();
  }

  // Also when an edit that could not be translated was taken back.
  void TellTranslated() {
    if (stored_.translated.reason == View(kJobCreated)) return;
    const Creation creation = Prepare(seen_, wanted_);
    to_.translated = {"True", std::string(kJobCreated),
                      creation.ok() ? Summary(creation.translation.findings) : std::string()};
  }

  void Describe() {
    if (!kubeflow() && !to_.start.set() && AllRun(to_.roles)) to_.start = SecondOf(now_);
    to_.scheduled = ScheduledOf(seen_, *job_);
    if (!notice_.empty()) {
      to_.message = notice_;
    } else {
      std::string message = MessageOf(seen_, *job_, to_.phase, to_.scheduled);
      const bool keep =
          message.empty() && to_.phase == Phase::kRestarting;  // how they failed is told until others come
      if (!keep) to_.message = std::move(message);
    }
    if (record_.elastic() && !kubeflow()) to_.elastic = ElasticWord();
  }

  std::string ElasticWord() const {
    if (exhausted_) return "ERROR";
    if (to_.phase == Phase::kScaling) return "DOING";
    if (stored_.elastic == "DOING" || stored_.elastic == "DONE") return "DONE";
    return "NONE";
  }

  // --- The end.

  void End() {
    if (to_.phase == Phase::kFailed && job_->status.state.phase == "Failed") {
      const bool begun = stored_.recreating() && stored_.restarts > to_.restarts;  // its pods may be gone by now
      if (!begun && PodsFollow()) return;
      if (begun || Disrupted()) {
        to_.restarts = CountOf(std::int64_t{to_.restarts} + 1);
        return Replace("all pods that failed were disrupted: evicted, preempted or on a drained node");
      }
    }
    if (stored_.translated.reason != View(kJobCreated)) to_.translated = {"True", std::string(kJobCreated), ""};
    to_.message = EndedByDeadline(*job_, DeadlineOf(wanted_, to_)) ? DeadlineText()
                                                                   : MessageOf(seen_, *job_, to_.phase, to_.scheduled);
    if (to_.message.empty() && to_.phase == Phase::kFailed) to_.message = stored_.message;
    if (!to_.start.set()) to_.start = EarliestStart(*job_, seen_.pods);
    if (record_.elastic() && !kubeflow()) to_.elastic = to_.phase == Phase::kFailed ? "ERROR" : "DONE";
    KeepEnded(CountsOf(*job_, to_.roles), to_.roles);
    if (IsFinal(*job_)) AfterEnd();
  }

  // The Job knows of more failed pods than we do, as yet.
  bool PodsFollow() {
    const absl::Time until = job_->status.state.last_transition_time.at + kPodsFollow;
    if (static_cast<std::int32_t>(FailedPods(*job_, seen_.pods).size()) >= job_->status.failed || now_ >= until)
      return false;
    unchanged_ = true;
    LookAgainAt(std::min(until, now_ + kInDoubt));
    return true;
  }

  bool Disrupted() const {
    const std::vector<NamedPod> failed = FailedPods(*job_, seen_.pods);
    return !failed.empty() && !IsLastRun(*job_) &&
           std::ranges::all_of(failed, [](const NamedPod& of) { return of.pod->disrupted; });
  }

  // --- Edits.

  bool ReplaceIfEdited() {
    const std::string mark = TranslationMark(seen_, record_.bounds);
    if (record_.translation.empty()) {
      change_.Annotate(kTranslationKey, mark);
      change_.Annotate(kPriorityKey, wanted_.priority_class);
      return false;
    }
    if (mark == record_.translation) return record_.elastic() && ScaleWorkers();
    if (wanted_.scale_forbidden && SizesOf(mark) != SizesOf(record_.translation)) {
      Notice("ScalingForbidden", absl::StrCat("the job stays as it is, ", SizesOf(record_.translation),
                                              ": its annotation scale says forbid"));
      return false;
    }
    const Creation creation = Prepare(seen_, wanted_);
    if (!creation.ok()) {
      RunOn(creation);
      return false;
    }
    StartAnew(SizesOf(mark) == SizesOf(record_.translation)
                  ? "its spec was changed"
                  : absl::StrCat("its spec was changed: ", SizesOf(record_.translation), " -> ", SizesOf(mark)));
    return true;
  }

  void StartAnew(std::string why) {
    to_.restarts = 0;
    to_.start = {};
    if (!kubeflow()) to_.elastic.clear();
    Replace(std::move(why));
  }

  // What cannot be made does not stop what runs.
  void RunOn(const Creation& creation) {
    NotTranslated(creation);
    notice_ = to_.message;
  }

  // --- A PodGroup written by hand that came after the Job: guides have both in one file, in this order.

  bool ReplaceForGroup() {
    if (!notice_.empty() || record_.translation.empty() || !IsActive(*job_) || !IsNews(HandMadeGroupOf(seen_), record_))
      return false;
    const Creation creation = Prepare(seen_, wanted_);
    const bool begun = HasBegun(*job_, seen_.pods);
    if (!creation.ok() && (!begun || seen_.options.target == convert::Target::kVolcano)) {
      RunOn(creation);
      return false;
    }
    const LateGroup late = LookAtLateGroup(*HandMadeGroupOf(seen_), creation, *job_, begun);
    if (late.replaces) {
      Replace(late.change);
      return true;
    }
    change_.Annotate(kPodGroupKey, HandMadeGroupOf(seen_)->metadata.uid);
    notes_.Tell({late.told});
    to_.translated = {"True", std::string(kJobCreated), Summary(late.findings)};
    return false;
  }

  // --- Elastic jobs.

  // True when that takes another Job: the launchers that run know their bounds from their start, and would not train
  // with more or fewer.
  bool ScaleWorkers() {
    const auto wanted = std::ranges::find(wanted_.roles, kWorker, &WantedRole::task);
    const auto is = std::ranges::find(job_->spec.tasks, kWorker, &TaskSpec::name);
    if (wanted == wanted_.roles.end() || is == job_->spec.tasks.end() || is->replicas == wanted->replicas) return false;
    if (wanted_.scale_forbidden) {
      Notice("ScalingForbidden",
             absl::StrCat("the job keeps its ", Counted(is->replicas, "worker"), ": its annotation scale says forbid"));
      return false;
    }
    const Creation creation = Prepare(seen_, wanted_);
    if (!creation.ok()) {
      RunOn(creation);
      return false;
    }
    const std::string change = absl::StrCat("workers: ", is->replicas, " -> ", wanted->replicas);
    if (!record_.bounds->Hold(wanted->replicas)) {
      StartAnew(
          absl::StrCat(change, ", and this run trains with ", record_.bounds->min, " to ", record_.bounds->max,
                       ", so the job starts anew (",
                       kubeflow() ? "elasticPolicy.minReplicas and maxReplicas" : "worker.requests and worker.limits",
                       " say in advance how far it can be scaled)"));
      return true;
    }
    ScaleTo(wanted->replicas);
    notes_.Normal("Scaling", change);
    return false;
  }

  // The gang does not become larger than the one that started: its new members may come later, too.
  void ScaleTo(std::int32_t workers) {
    change_.tasks = job_->spec.tasks;
    for (TaskSpec& task : *change_.tasks) {
      if (task.name != kWorker) continue;
      task.min_available = std::min(task.min_available.value_or(task.replicas), workers);
      task.replicas = workers;
    }
    if (job_->spec.min_available > workers) change_.min_available = workers;
    for (RoleProgress& role : to_.roles) {
      if (role.task == kWorker) role.replicas = workers;
    }
    to_.phase = PhaseOf(*job_, to_.roles, true, stored_.start.set(), stored_.phase);
  }

  void KeepWorkers() {
    if (!IsActive(*job_)) return;
    FailedWorkers workers = FindFailedWorkers(*job_, record_, FailedPods(*job_, seen_.pods), kWorker);
    for (const NamedPod& of : workers.counted) removals_.push_back(DeletionOfPod(of));
    for (const NamedPod& of : workers.uncounted) {
      notes_.Warning("WorkerReplaced", absl::StrCat("pod ", *of.name, " has failed and is made anew; at most ",
                                                    std::int64_t{job_->spec.max_retry} - 1, " are"));
    }
    if (workers.record.has_value()) change_.Annotate(kReplacedKey, workers.record->ToString());
    exhausted_ = workers.exhausted;
  }

  // Pods that are made anew need them as the first ones did.
  void KeepCompanions() {
    if (!IsActive(*job_) || CompanionsSeen(seen_, wanted_) >= record_.companions) return;
    const Creation creation = Prepare(seen_, wanted_);
    if (!creation.repairable()) return;
    for (Write& write : CompanionsMissing(seen_, wanted_, creation)) others_.push_back(std::move(write));
  }

  void CarryOverPriority() {
    if (!record_.priority_class.has_value() || *record_.priority_class == wanted_.priority_class) return;
    change_.Annotate(kPriorityKey, wanted_.priority_class);
    change_.priority_class = wanted_.priority_class;
  }

  // --- Suspension. The Job says itself that it was aborted for it, so that one aborted by hand stays as it is.

  // A Job that a resumption would bring to its end: Volcano counts it as a restart.
  bool ResumeAnew() const {
    return seen_.options.target == convert::Target::kVolcano && !wanted_.suspended && record_.suspended &&
           IsAborted(*job_) && IsLastRun(*job_);
  }

  void FollowSuspension() {
    const bool aborting = IsAborted(*job_);
    if (wanted_.suspended) {
      Suspend();
      if (!record_.suspended) change_.Annotate(kSuspendedKey, "true");
      if (IsActive(*job_)) Give("AbortJob", "the PaddleJob is suspended");
      return;
    }
    if (!record_.suspended) return;
    if (aborting) {
      Give("ResumeJob", "the PaddleJob is resumed");
    } else if (to_.phase != Phase::kRestarting && !IsGiven("AbortJob", *job_, seen_.commands)) {
      change_.Annotate(kSuspendedKey, std::nullopt);
    }
    if (aborting || to_.phase == Phase::kRestarting) to_.phase = Phase::kPending;  // a resumption is no restart
  }

  // --- The deadline.

  bool DeadlineIsOver() {
    const std::optional<absl::Time> deadline = DeadlineOf(wanted_, to_);
    if (!deadline.has_value() || now_ >= *deadline) return deadline.has_value();
    LookAgainAt(*deadline);
    return false;
  }
  void KeepDeadline() {
    if (wanted_.suspended || !IsActive(*job_) || !DeadlineIsOver()) return;
    notice_ = DeadlineText();
    Give("TerminateJob", notice_);
  }
  std::string DeadlineText() const {
    return absl::StrCat("it was active for more than its activeDeadlineSeconds, ", *wanted_.deadline_seconds);
  }

  void Give(absl::string_view action, std::string why) {
    if (!IsGiven(action, *job_, seen_.commands)) others_.push_back(GiveCommand(action, std::move(why), *job_));
  }

  // --- The plan: the status that explains, then the change of the Job, then what goes and what comes.

  void Finish() {
    if (!unchanged_ && !status_last_) WriteStatus();
    if (!change_.empty()) plan_.stages.push_back({change_.Write(*job_)});
    if (!removals_.empty()) plan_.stages.push_back(std::move(removals_));
    if (!others_.empty()) plan_.stages.push_back(std::move(others_));
    for (std::vector<Write>& stage : made_) plan_.stages.push_back(std::move(stage));
    if (status_last_) WriteStatus();
    if (plan_.stages.empty() && expired_.has_value()) plan_.stages.push_back({*std::move(expired_)});
    if (!plan_.stages.empty()) plan_.events = std::move(notes_).Take();
  }

  void WriteStatus() {
    StatusChange change = ChangeOfStatus(seen_, to_, now_);
    if (change.patch.empty()) return;
    const auto none = [](const RoleProgress& role) { return role.pods() == 0; };
    const bool last_left = std::ranges::all_of(to_.roles, none) && !std::ranges::all_of(stored_.roles, none);
    if (change.details_only && !last_left) {
      const absl::Time due = seen_.status_written + PatienceWithDetails();
      if (now_ < due) return LookAgainAt(due);
    }
    if (!change.details_only) notes_.TellPhase(stored_, to_);
    plan_.stages.push_back({kube::ChangeOf(*wanted_.resource, *wanted_.metadata, std::move(change.patch), "status")});
  }

  // A quarter of the time that the job has taken, so that pods that start one after the other cost few writes.
  absl::Duration PatienceWithDetails() const {
    const absl::Time since = to_.start.set() ? to_.start.at : wanted_.metadata->creation_timestamp.at;
    return std::clamp((now_ - since) / 4, absl::Seconds(1), absl::Seconds(10));
  }

  Write DeletionOfPod(const NamedPod& of) const {
    return DeletionByUid(api::kPods, job_->metadata.ns, *of.name, of.pod->uid);
  }

  // What keeps the job as it is, although its spec says otherwise: told once, and shown as long as it is so.
  void Notice(std::string reason, std::string text) {
    if (stored_.message != text) notes_.Warning(std::move(reason), text);
    notice_ = std::move(text);
  }

  void LookAgainAt(absl::Time when) { plan_.look_again = std::min(plan_.look_again, when); }

  const PaddleJobView& seen_;
  const absl::Time now_;
  const Wanted wanted_;
  const Progress stored_;
  const Job* job_ = nullptr;  // ours
  JobRecord record_;

  Progress to_;
  std::string notice_;      // instead of the message that pods give
  bool exhausted_ = false;  // a worker has failed once too often
  bool unchanged_ = false;  // nothing can be said yet
  bool status_last_ = false;

  JobChange change_;
  std::vector<Write> removals_, others_;
  std::vector<std::vector<Write>> made_;
  std::optional<Write> expired_;
  Notes notes_{wanted_};
  Plan plan_;
};

}  // namespace

Plan ReconcilePaddleJob(const PaddleJobView& seen, absl::Time now) { return ReconcileSteps(seen, now).Run(); }

}  // namespace gangway::paddle_lifecycle
