#include "translator/files/comments.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::convert {
namespace {

using api::volcano::Job;
using api::volcano::TaskSpec;

std::int32_t Sum(const Job& job) {
  std::int32_t sum = 0;
  for (const TaskSpec& task : job.spec.tasks) sum += task.replicas;
  return sum;
}

std::string Head(const Job& job, absl::string_view of, const Findings& findings) {
  const std::string tasks = absl::StrJoin(job.spec.tasks, " and ", [](std::string* out, const TaskSpec& t) {
    absl::StrAppend(out, t.name, " ", t.replicas);
  });
  std::string out = absl::StrCat("Made of ", of, ": ", tasks, ".");
  for (const Finding& finding : findings) {
    if (finding.level() == Level::kWarning) absl::StrAppend(&out, "\n", finding.ToString());
  }
  return out;
}

std::string Together(const Job& job) {
  const std::int32_t sum = Sum(job), least = job.spec.min_available;
  if (sum == 1) return "";
  if (least == 1) return absl::StrCat("1 pod of ", sum, " is enough to start");
  return least == sum ? absl::StrCat("all ", sum, " pods start together, or none does")
                      : absl::StrCat(least, " pods of ", sum, " start together, or none does");
}

// The first task in which `text` stands; the others have it for the same reason.
std::optional<std::size_t> FirstWith(const Job& job, absl::string_view text) {
  for (std::size_t i = 0; i < job.spec.tasks.size(); ++i) {
    if (absl::StrContains(job.spec.tasks[i].pod_template.json, text)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> FirstWithPolicies(const Job& job) {
  for (std::size_t i = 0; i < job.spec.tasks.size(); ++i) {
    if (!job.spec.tasks[i].policies.empty()) return i;
  }
  return std::nullopt;
}

bool Restarts(const Job& job) {
  for (const api::volcano::LifecyclePolicy& policy : job.spec.policies) {
    if (policy.action == "RestartJob") return true;
  }
  return false;
}

}  // namespace

std::vector<api::YamlComment> CommentsOn(const Job& job, absl::string_view of, const Findings& findings) {
  std::vector<api::YamlComment> out{{"", Head(job, of, findings)}};
  const auto say = [&](std::string path, std::string text) {
    if (!text.empty()) out.push_back({std::move(path), std::move(text)});
  };
  const auto in_task = [&](std::optional<std::size_t> task, absl::string_view path, absl::string_view text) {
    if (task.has_value()) say(absl::StrCat("spec.tasks[", *task, "].", path), std::string(text));
  };
  say("spec.minAvailable", Together(job));
  in_task(FirstWith(job, "\"wait-dns\""), "template.spec.initContainers",
          "wait-dns: until the names of the peers resolve; a program looks once, and gives up");
  in_task(FirstWith(job, "\"PADDLE_TRAINER_ID\""), "template.spec.containers[0].env",
          "who the pod is, and who the others are; yours come after these");
  in_task(FirstWithPolicies(job), "policies", "the first one that fits counts, before those of the job");
  if (Restarts(job)) say("spec.policies", "without one of its pods a job cannot go on: all of it runs again");
  if (job.spec.plugins.contains("svc"))
    say("spec.plugins.svc", "the Service that gives pods their names, also while they are not ready");
  if (job.spec.max_retry > 0) {
    say("spec.maxRetry", absl::StrCat("Volcano counts runs: this is the first and ", job.spec.max_retry - 1,
                                      job.spec.max_retry == 2 ? " restart" : " restarts"));
  }
  return out;
}

}  // namespace gangway::convert
