#include "translator/convert/policies.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/duration.h"
#include "api/json.h"

namespace gangway::convert {
namespace {

using api::volcano::LifecyclePolicy;

constexpr char kRestartJob[] = "RestartJob", kTerminateJob[] = "TerminateJob", kCompleteJob[] = "CompleteJob";

// What a drained or preempted program returns, and what Paddle's launcher makes of SIGTERM. 137 is also what a lack of
// memory ends with.
constexpr std::int32_t kDisturbed[] = {143, 137, 15};
// What a Python program returns for errors of its own.
constexpr std::int32_t kOwnFault[] = {1, 2};
// Of those that kubeflow's ExitCode retries, from 128 on, the ones that are seen; Volcano knows no ranges.
constexpr std::int32_t kRetryable[] = {130, 134, 137, 139, 143};

// Time for the eviction to follow the failure that it caused.
constexpr absl::Duration kDoubt = absl::Seconds(10);
constexpr std::int32_t kElasticMaxRetry = 100;
constexpr std::int32_t kDefaultTaskMaxRetry = 3;
constexpr std::int64_t kContainerRestartsAPod = 3;

constexpr VolcanoVersion kToldIndex{1, 9}, kDelaysAtAll{1, 11}, kElasticWorks{1, 11};
// Before it a restarted pod took the PodGroup of its job with it, and the job hung.
constexpr VolcanoVersion kRestartsPods{1, 17};

LifecyclePolicy On(absl::string_view event, absl::string_view action, absl::Duration delay = absl::ZeroDuration()) {
  LifecyclePolicy out;
  out.event = std::string(event);
  out.action = std::string(action);
  if (delay > absl::ZeroDuration()) out.timeout = api::FormatGoDuration(delay);
  return out;
}

LifecyclePolicy OnExit(std::int32_t code, absl::string_view action) {
  LifecyclePolicy out;
  out.exit_code = code;
  out.action = std::string(action);
  return out;
}

class PolicyWriter {
 public:
  PolicyWriter(const std::vector<PolicyTask>& tasks, absl::string_view completing_task, bool elastic,
               const Annotations& annotations, const TranslateOptions& options)
      : tasks_(tasks),
        completing_task_(completing_task),
        elastic_(elastic),
        annotations_(annotations),
        options_(options),
        serves_(std::any_of(tasks.begin(), tasks.end(), [](const PolicyTask& t) { return t.serves; })) {}

  JobPolicies Write() {
    const std::int32_t from_annotation = annotations_.max_restarts + 1;  // Volcano counts runs, and takes 0 for 3
    out_.max_retry = elastic_ && !annotations_.max_restarts_given ? kElasticMaxRetry : from_annotation;
    if (!elastic_) out_.policies.push_back(On("PodEvicted", kRestartJob));
    for (const PolicyTask& task : tasks_) out_.tasks.push_back(elastic_ ? ElasticTask(task) : Task(task));
    Tell();
    Arrange(out_.findings);
    return std::move(out_);
  }

 private:
  bool delays() const { return options_.target != Target::kVolcano; }
  bool before(const VolcanoVersion& version) const {
    return options_.target == Target::kVolcano && options_.volcano < version;
  }

  TaskPolicies Task(const PolicyTask& task) const {
    TaskPolicies out{.policies = {}, .max_retry = kDefaultTaskMaxRetry};
    if (task.restart_policy == "OnFailure") {
      Restarted(task, out);
    } else if (task.by_exit_code) {
      for (const std::int32_t code : kRetryable) out.policies.push_back(OnExit(code, kRestartJob));
      out.policies.push_back(On("PodFailed", kTerminateJob, delays() ? Doubt(task) : absl::ZeroDuration()));
    } else if (delays()) {
      for (const std::int32_t code : kDisturbed) out.policies.push_back(OnExit(code, kRestartJob));
      out.policies.push_back(On("PodFailed", kTerminateJob, Doubt(task)));
    } else {
      for (const std::int32_t code : kOwnFault) out.policies.push_back(OnExit(code, kTerminateJob));
      out.policies.push_back(On("PodFailed", kRestartJob));
    }
    if (task.name == completing_task_) out.policies.push_back(On("TaskCompleted", kCompleteJob, Grace()));
    return out;
  }

  // A pod whose containers are restarted in place has failed only when it was evicted.
  void Restarted(const PolicyTask& task, TaskPolicies& out) const {
    out.policies.push_back(On("PodFailed", kRestartJob));
    const std::optional<std::int32_t> wanted =
        task.container_restarts.has_value() ? task.container_restarts : annotations_.container_restarts;
    const std::int64_t restarts = wanted.value_or(0);
    if (restarts < 0) return;  // a Job cannot say "without limit", so nothing is done when the limit is reached
    const std::int64_t limit =
        wanted.has_value() ? std::max<std::int64_t>(restarts, 1) : kContainerRestartsAPod * task.replicas;
    out.policies.push_back(On("TaskFailed", kTerminateJob));
    out.max_retry = static_cast<std::int32_t>(std::min<std::int64_t>(limit, std::numeric_limits<std::int32_t>::max()));
  }

  // Workers come and go: the launcher deals with it, and a pod that is gone is made again without any policy.
  // PodEvicted would also be what a smaller number of replicas looks like.
  TaskPolicies ElasticTask(const PolicyTask& task) const {
    TaskPolicies out{.policies = {}, .max_retry = kDefaultTaskMaxRetry};
    if (!options_.kept && !before(kRestartsPods)) out.policies.push_back(On("PodFailed", "RestartPod"));
    if (task.name == completing_task_) out.policies.push_back(On("TaskCompleted", kCompleteJob));
    return out;
  }

  absl::Duration Grace() const { return delays() && serves_ ? annotations_.server_grace : absl::ZeroDuration(); }
  // Longer than the grace, so that the end of the job cancels what a server's failure in it had begun.
  absl::Duration Doubt(const PolicyTask& task) const {
    return task.serves ? annotations_.server_grace + kDoubt : kDoubt;
  }

  void Tell() {
    const auto add = [&](Code code, absl::string_view field, absl::string_view value = {}, absl::string_view rule = {},
                         absl::string_view fix = {}) {
      out_.findings.push_back(MakeFinding(code, field, value, rule, fix));
    };
    const std::string version =
        api::JsonString(absl::StrCat("volcano ", options_.volcano.major, ".", options_.volcano.minor));
    if (elastic_) {
      if (before(kElasticWorks)) {
        add(Code::kElastic, "spec.elastic", version, "before 1.11 Volcano does not replace workers of an elastic job",
            "use Volcano 1.11 or later");
      }
      return;
    }
    if (before(kToldIndex) && !annotations_.wrap_command) add(Code::kVolcanoOld, "spec", version);
    const bool waits = annotations_.server_grace > absl::ZeroDuration();
    const bool never = std::any_of(tasks_.begin(), tasks_.end(), [](const PolicyTask& t) {
      return t.restart_policy != "OnFailure" && !t.by_exit_code;
    });
    if (before(kDelaysAtAll) && (never || (serves_ && waits))) {
      add(Code::kGrace, AnnotationField("server-grace"), version);
    } else if (!delays() && annotations_.server_grace_given && serves_ && waits) {
      add(Code::kGrace, AnnotationField("server-grace"), {},
          "Volcano undoes what it did after a delay, so servers end with the last worker",
          "let gangway controller run the Job");
    }
    if (!options_.explain) return;  // nearly every job has these, and nobody has to do anything
    if (!delays() && never) add(Code::kRetry, AnnotationField("max-restarts"));
    if (annotations_.max_restarts > 0 && options_.target != Target::kKubernetes)
      add(Code::kRestart, AnnotationField("max-restarts"));
  }

  const std::vector<PolicyTask>& tasks_;
  const absl::string_view completing_task_;
  const bool elastic_;
  const Annotations& annotations_;
  const TranslateOptions& options_;
  const bool serves_;
  JobPolicies out_;
};

}  // namespace

JobPolicies PoliciesFor(const std::vector<PolicyTask>& tasks, absl::string_view completing_task, bool elastic,
                        const Annotations& annotations, const TranslateOptions& options) {
  return PolicyWriter(tasks, completing_task, elastic, annotations, options).Write();
}

}  // namespace gangway::convert
