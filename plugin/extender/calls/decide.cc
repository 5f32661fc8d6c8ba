#include "plugin/extender/calls/decide.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/duration.h"
#include "base/status_macros.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/lifecycle/policy/decide.h"

namespace gangway::extender {
namespace {

using api::volcano::LifecyclePolicy;
using lifecycle::Action;
using lifecycle::Event;
using lifecycle::Happening;
using lifecycle::JobPhase;
using lifecycle::PodCounts;

constexpr char kActions[] =
    "AbortJob, CompleteJob, EnqueueJob, RestartJob, RestartPartition, RestartPod, RestartTask, ResumeJob, SyncJob, "
    "TerminateJob";
constexpr char kHappenings[] =
    "PodPending, PodRunning, PodFailed, PodEvicted, TaskCompleted, TaskFailed, Unknown, OutOfSync, CommandIssued, "
    "JobUpdated";

absl::StatusOr<Action> ActionOf(const std::string& text, const std::string& path) {
  const Action action = lifecycle::ParseAction(text);
  if (action == Action::kOther) return Wrong(path, absl::StrCat(Quoted(text), " is no action; one of ", kActions));
  return action;
}

absl::Status CheckCount(std::int32_t count, const std::string& path) {
  return count < 0 ? Wrong(path, absl::StrCat(count, " must not be negative")) : absl::OkStatus();
}

absl::StatusOr<absl::Duration> DurationOf(const google::protobuf::Duration& from, const std::string& path) {
  constexpr std::int64_t kMaxSeconds = 9'000'000'000;  // Go's durations are 64-bit nanoseconds
  const bool mixed = (from.seconds() < 0 && from.nanos() > 0) || (from.seconds() > 0 && from.nanos() < 0);
  if (mixed || from.nanos() <= -1'000'000'000 || from.nanos() >= 1'000'000'000)
    return Wrong(path, "is no duration: seconds and nanos do not fit together");
  if (from.seconds() < 0 || from.nanos() < 0) return Wrong(path, "must not be negative");
  if (from.seconds() > kMaxSeconds) return Wrong(path, absl::StrCat("must be at most ", kMaxSeconds, "s"));
  return absl::Seconds(from.seconds()) + absl::Nanoseconds(from.nanos());
}

absl::StatusOr<LifecyclePolicy> PolicyOf(const v1::Policy& from, const std::string& path) {
  LifecyclePolicy policy;
  GW_RETURN_IF_ERROR(ActionOf(from.action(), path + ".action").status());
  policy.action = from.action();
  if (from.has_exit_code()) {
    if (from.exit_code() == 0) return Wrong(path + ".exit_code", "must not be 0: that is no failure");
    if (from.events_size() > 0)
      return Wrong(path + ".exit_code", "stands beside events; a policy has one or the other");
    policy.exit_code = from.exit_code();
  } else if (from.events_size() == 0) {
    return Wrong(path + ".events", "must not be empty without an exit code");
  }
  for (int i = 0; i < from.events_size(); ++i) {
    if (lifecycle::ParseEvent(from.events(i)) == Event::kNone) {
      return Wrong(At(path + ".events", static_cast<std::size_t>(i)),
                   absl::StrCat(Quoted(from.events(i)), " is no event; one of *, ", kHappenings));
    }
    policy.events.push_back(from.events(i));
  }
  if (from.has_timeout()) {
    GW_ASSIGN_OR_RETURN(const absl::Duration timeout, DurationOf(from.timeout(), path + ".timeout"));
    policy.timeout = api::FormatGoDuration(timeout);
  }
  return policy;
}

template <class From>
absl::Status AddPolicies(const From& from, const std::string& path, std::vector<LifecyclePolicy>& into) {
  for (int i = 0; i < from.size(); ++i) {
    GW_ASSIGN_OR_RETURN(LifecyclePolicy policy, PolicyOf(from[i], At(path, static_cast<std::size_t>(i))));
    into.push_back(std::move(policy));
  }
  return absl::OkStatus();
}

absl::Status AddCounts(const v1::JobTask& task, const std::string& path, PodCounts& counts) {
  const v1::PodCounts& from = task.pods();
  for (const auto& [name, count, sum] :
       {std::tuple("Pending", from.pending(), &counts.pending), std::tuple("Running", from.running(), &counts.running),
        std::tuple("Succeeded", from.succeeded(), &counts.succeeded),
        std::tuple("Failed", from.failed(), &counts.failed), std::tuple("Unknown", from.unknown(), &counts.unknown),
        std::tuple("", from.terminating(), &counts.terminating)}) {
    if (count < 0 || count > 1'000'000) return Wrong(path, absl::StrCat(count, " pods must be 0 to 1000000"));
    *sum += count;
    if (*sum > 1'000'000'000) return Wrong(path, "the pods of all tasks are too many");
    if (*name != '\0' && count > 0) counts.by_task[task.name()].phase[name] = count;
  }
  return absl::OkStatus();
}

class Deciding {
 public:
  explicit Deciding(const v1::DecideRequest& request) : request_(request) {}

  absl::StatusOr<v1::DecideResponse> Run() {
    GW_RETURN_IF_ERROR(ReadJob());
    GW_RETURN_IF_ERROR(ReadEvent());
    return Reply(lifecycle::Decide(job_, happening_, held_, counts_));
  }

 private:
  absl::Status ReadJob() {
    if (!request_.has_job()) return Wrong("job", "is missing");
    const v1::Job& from = request_.job();
    if (!from.phase().empty() && lifecycle::NameOf(lifecycle::ParsePhase(from.phase())) != from.phase()) {
      return Wrong("job.phase", absl::StrCat(Quoted(from.phase()),
                                             " is no phase; one of Pending, Running, Restarting, Aborting, Aborted, ",
                                             "Completing, Completed, Terminating, Terminated, Failed"));
    }
    job_.status.state.phase = from.phase();
    GW_RETURN_IF_ERROR(CheckStep(from.version(), "job.version"));
    GW_RETURN_IF_ERROR(CheckStep(from.retry_count(), "job.retry_count"));
    job_.status.version = from.version();
    job_.status.retry_count = from.retry_count();
    job_.spec.max_retry = from.has_max_retry() ? from.max_retry() : 3;
    GW_RETURN_IF_ERROR(CheckCount(job_.spec.max_retry, "job.max_retry"));
    if (from.has_min_success()) {
      if (from.min_success() < 1)
        return Wrong("job.min_success", absl::StrCat(from.min_success(), " must be at least 1"));
      job_.spec.min_success = from.min_success();
    }
    GW_RETURN_IF_ERROR(AddPolicies(from.policies(), "job.policies", job_.spec.policies));
    GW_RETURN_IF_ERROR(ReadTasks(from));
    std::int64_t minimum = from.has_min_available() ? from.min_available() : lifecycle::TotalMinAvailable(job_.spec);
    if (minimum < 0 || minimum > lifecycle::TotalReplicas(job_.spec)) {
      return Wrong("job.min_available", absl::StrCat(minimum, " must be 0 to the tasks' ",
                                                     lifecycle::TotalReplicas(job_.spec), " replicas"));
    }
    job_.spec.min_available = static_cast<std::int32_t>(minimum);
    return absl::OkStatus();
  }

  // They are counted up, so the last number cannot be used.
  static absl::Status CheckStep(std::int32_t count, const std::string& path) {
    if (count == INT32_MAX) return Wrong(path, "is too large");
    return CheckCount(count, path);
  }

  absl::Status ReadTasks(const v1::Job& from) {
    if (from.tasks().empty()) return Wrong("job.tasks", "must not be empty");
    absl::flat_hash_set<absl::string_view> names;
    for (int t = 0; t < from.tasks_size(); ++t) {
      const v1::JobTask& task = from.tasks(t);
      const std::string path = At("job.tasks", static_cast<std::size_t>(t));
      if (task.name().empty()) return Wrong(path + ".name", "must not be empty");
      if (!names.insert(task.name()).second)
        return Wrong(path + ".name", absl::StrCat(Quoted(task.name()), " is there twice"));
      api::volcano::TaskSpec& spec = job_.spec.tasks.emplace_back();
      spec.name = task.name();
      spec.replicas = task.has_replicas() ? task.replicas() : 1;
      if (spec.replicas < 0 || spec.replicas > 1'000'000)
        return Wrong(path + ".replicas", absl::StrCat(spec.replicas, " must be 0 to 1000000"));
      total_ += spec.replicas;
      if (total_ > 1'000'000'000) return Wrong(path + ".replicas", "the pods of all tasks are too many");
      if (task.has_min_available()) {
        if (task.min_available() < 0 || task.min_available() > spec.replicas) {
          return Wrong(path + ".min_available",
                       absl::StrCat(task.min_available(), " must be 0 to the task's ", spec.replicas, " replicas"));
        }
        spec.min_available = task.min_available();
      }
      GW_RETURN_IF_ERROR(AddPolicies(task.policies(), path + ".policies", spec.policies));
      GW_RETURN_IF_ERROR(AddCounts(task, path + ".pods", counts_));
    }
    return absl::OkStatus();
  }

  absl::Status ReadEvent() {
    if (!request_.has_event()) return absl::OkStatus();
    const v1::Event& from = request_.event();
    happening_.event = lifecycle::ParseEvent(from.name());
    if (happening_.event == Event::kNone || happening_.event == Event::kAny) {
      return Wrong("event.name", absl::StrCat(Quoted(from.name()), " is nothing that happens; one of ", kHappenings));
    }
    happening_.task = from.task();
    happening_.pod = from.pod();
    happening_.exit_code = from.exit_code();
    happening_.version = from.has_version() ? from.version() : job_.status.version;
    GW_RETURN_IF_ERROR(CheckTask());
    if (happening_.event != Event::kPodFailed && from.exit_code() != 0)
      return Wrong("event.exit_code", "belongs to PodFailed only");
    if (happening_.event == Event::kCommandIssued) {
      GW_ASSIGN_OR_RETURN(happening_.action, ActionOf(from.action(), "event.action"));
    } else if (!from.action().empty()) {
      return Wrong("event.action", "belongs to CommandIssued only");
    }
    if (from.has_held()) {
      GW_ASSIGN_OR_RETURN(held_, DurationOf(from.held(), "event.held"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckTask() const {
    const bool of_task = happening_.event == Event::kPodEvicted || happening_.event == Event::kPodFailed ||
                         happening_.event == Event::kPodPending || happening_.event == Event::kTaskCompleted ||
                         happening_.event == Event::kTaskFailed;
    if (happening_.task.empty())
      return of_task ? Wrong("event.task", absl::StrCat("must not be empty with ", lifecycle::NameOf(happening_.event)))
                     : absl::OkStatus();
    for (const api::volcano::TaskSpec& task : job_.spec.tasks) {
      if (task.name == happening_.task) return absl::OkStatus();
    }
    return Wrong("event.task", absl::StrCat("the job has no task ", Quoted(happening_.task)));
  }

  v1::DecideResponse Reply(const lifecycle::Answer& answer) const {
    v1::DecideResponse reply;
    reply.set_action(std::string(lifecycle::NameOf(answer.action)));
    reply.set_asked(std::string(lifecycle::NameOf(answer.asked)));
    reply.set_phase(std::string(lifecycle::NameOf(answer.phase)));
    reply.set_version(answer.version);
    reply.set_retry_count(answer.retry_count);
    reply.set_reason(answer.reason);
    v1::Rule& rule = *reply.mutable_rule();
    rule.set_of(happening_.action ? "command" : "none");
    if (answer.policy) {
      rule.set_of(answer.policy->task < 0 ? "job" : "task");
      const std::string holder =
          answer.policy->task < 0 ? "job" : At("job.tasks", static_cast<std::size_t>(answer.policy->task));
      rule.set_path(At(holder + ".policies", static_cast<std::size_t>(answer.policy->index)));
    }
    if (answer.delay > absl::ZeroDuration()) {
      absl::Duration rest;
      reply.mutable_delay()->set_seconds(absl::IDivDuration(answer.delay, absl::Seconds(1), &rest));
      reply.mutable_delay()->set_nanos(static_cast<std::int32_t>(absl::ToInt64Nanoseconds(rest)));
    }
    return reply;
  }

  const v1::DecideRequest& request_;
  api::volcano::Job job_;
  Happening happening_;
  absl::Duration held_ = absl::ZeroDuration();
  PodCounts counts_;
  std::int64_t total_ = 0;
};

}  // namespace

absl::StatusOr<v1::DecideResponse> Decide(const v1::DecideRequest& request) { return Deciding(request).Run(); }

}  // namespace gangway::extender
