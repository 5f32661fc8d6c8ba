#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/volcano/pod_failure.h"
#include "api/volcano/restarts.h"
#include "cmd/dashboard/view/rows.h"
#include "plugin/lifecycle/job/last_failure.h"
#include "plugin/lifecycle/words.h"

namespace gangway::dashboard {
namespace {

using api::volcano::Job;
using api::volcano::PodGroup;
using api::volcano::PodGroupCondition;
using Key = std::pair<absl::string_view, absl::string_view>;

// What other objects know of a job.
struct Around {
  const PodGroup* group = nullptr;
  std::vector<const EventSeen*> events;
  absl::Time first_pod = absl::InfiniteFuture();
  std::set<std::string> nodes;
};

std::map<Key, Around> Surroundings(const Seen& seen) {
  std::map<Key, Around> out;
  for (const auto& group : seen.groups) {
    const api::OwnerReference* const owner = group->metadata.Controller();
    if (owner != nullptr && owner->kind == "Job") out[{group->metadata.ns, owner->name}].group = group.get();
  }
  for (const PodSeen* pod : seen.pods) {
    if (pod->job.empty()) continue;
    Around& around = out[{pod->ns, pod->job}];
    around.first_pod = std::min(around.first_pod, pod->created);
    if (!pod->node.empty() && !pod->ended) around.nodes.insert(pod->node);
  }
  for (const EventSeen* event : seen.events) out[{event->ns, event->job}].events.push_back(event);
  return out;
}

std::vector<TaskRow> TasksOf(const Job& job) {
  std::vector<TaskRow> rows;
  for (const api::volcano::TaskSpec& task : job.spec.tasks) {
    TaskRow row;
    row.name = task.name;
    row.replicas = task.replicas;
    if (const auto counts = job.status.task_status_count.find(task.name);
        counts != job.status.task_status_count.end()) {
      const auto of = [&](const char* phase) {
        const auto at = counts->second.phase.find(phase);
        return at == counts->second.phase.end() ? 0 : at->second;
      };
      row.pending = of("Pending");
      row.running = of("Running");
      row.succeeded = of("Succeeded");
      row.failed = of("Failed");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// "pod ctr-trainer-1: container trainer ended with exit code 137 (OOMKilled)"
std::string FailureText(const lifecycle::LastFailure& failure) {
  api::volcano::PodFailure pod;
  pod.container = failure.container;
  pod.exit_code = failure.exit_code;
  pod.reason = failure.reason;
  const std::string what = api::volcano::Describe(pod);
  return absl::StrCat(failure.pod.empty() ? "" : absl::StrCat("pod ", failure.pod, ": "),
                      what.empty() ? failure.event : what, failure.action.empty() ? "" : ": ", failure.action);
}

// What of one second led to what: the API tells times in whole seconds. The conditions of a Job stand in the order in
// which it entered its phases, each the last time; pods and gang are those that it has now, so made after a restart
// that it has left.
class CausalOrder {
 public:
  explicit CausalOrder(const Job& job) {
    const auto& conditions = job.status.conditions;
    const auto find = [&](const char* phase) {
      return std::find_if(conditions.begin(), conditions.end(), [&](const auto& c) { return c.status == phase; });
    };
    const auto restarted = find("Restarting");
    if (restarted == conditions.end() || std::next(restarted) == conditions.end()) return;
    restarted_ = restarted->last_transition_time.at;
    ran_before_ = find("Running") < restarted;
  }

  int Of(const Moment& moment) const {
    const bool led_to_restart = moment.at == restarted_;
    switch (moment.what) {
      case Moment::What::kCreated:
        return 0;
      case Moment::What::kAdmitted:
        return 5;
      case Moment::What::kPlaced:
        return 6;
      case Moment::What::kFailed:
      case Moment::What::kWarning:
        return led_to_restart ? 2 : 8;
      case Moment::What::kAction:
        return led_to_restart ? 3 : 9;
      case Moment::What::kPhase:
        if (moment.text == "Running") return led_to_restart && ran_before_ ? 1 : 7;
        return led_to_restart && moment.text == "Restarting" ? 4 : 10;
    }
    return 0;
  }

 private:
  absl::Time restarted_ = absl::InfinitePast();
  bool ran_before_ = false;  // and has not run since
};

std::vector<Moment> LifeOf(const Job& job, const Around& around) {
  std::vector<Moment> life;
  const auto add = [&](Moment::What what, absl::Time at, std::string text = "", std::int32_t count = 1) {
    if (at > absl::InfinitePast() && at < absl::InfiniteFuture()) life.push_back({what, at, std::move(text), count});
  };
  add(Moment::What::kCreated, job.metadata.creation_timestamp.at);
  add(Moment::What::kAdmitted, around.first_pod);
  if (around.group != nullptr) {
    for (const PodGroupCondition& condition : around.group->status.conditions) {
      if (condition.type == "Scheduled" && condition.status == "True")
        add(Moment::What::kPlaced, condition.last_transition_time.at);
    }
  }
  for (const api::volcano::JobCondition& condition : job.status.conditions) {
    if (condition.status != "Pending")  // it says no more than that it was created
      add(Moment::What::kPhase, condition.last_transition_time.at, condition.status);
  }
  if (const auto failure = lifecycle::ReadLastFailure(job.status.controlled_resources))
    add(Moment::What::kFailed, failure->at.at, FailureText(*failure));
  for (const EventSeen* event : around.events) {
    // Of a job of that name that is gone; and what the gang's own row says.
    if (event->job_uid != job.metadata.uid || event->reason == "PodGroupPending") continue;
    if (event->reason == "ExecuteAction" || event->warning) {
      add(event->warning ? Moment::What::kWarning : Moment::What::kAction, event->at, event->message,
          std::max(event->count, 1));
    }
  }
  const CausalOrder order(job);
  std::stable_sort(life.begin(), life.end(), [&](const Moment& a, const Moment& b) {
    return std::pair(a.at, order.Of(a)) < std::pair(b.at, order.Of(b));
  });
  return life;
}

}  // namespace

std::vector<JobRow> JobRows(const Seen& seen) {
  std::map<Key, Around> surroundings = Surroundings(seen);
  std::vector<JobRow> rows;
  for (const auto& job : seen.jobs) {
    Around& around = surroundings[{job->metadata.ns, job->metadata.name}];
    JobRow row;
    row.ns = job->metadata.ns;
    row.name = job->metadata.name;
    row.queue = job->spec.queue.empty() ? "default" : job->spec.queue;
    row.phase = job->status.state.phase;
    row.message = job->status.state.message;
    row.ended = lifecycle::Finished(lifecycle::ParsePhase(row.phase));
    row.min_available = job->spec.min_available;
    row.restarts = api::volcano::RestartsOf(job->status.retry_count, job->spec.max_retry);
    row.most_restarts = api::volcano::MostRestarts(job->spec.max_retry);
    row.tasks = TasksOf(*job);
    row.life = LifeOf(*job, around);
    row.nodes.assign(around.nodes.begin(), around.nodes.end());
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const JobRow& a, const JobRow& b) {
    return std::tie(a.ended, a.ns, a.name) < std::tie(b.ended, b.ns, b.name);
  });
  return rows;
}

}  // namespace gangway::dashboard
