#include "translator/convert/gang.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/check.h"
#include "base/counted.h"

namespace gangway::convert {
namespace {

constexpr absl::string_view kMinAvailableField = "spec.schedulingPolicy.minAvailable";

std::string BoundField(const GangTask& task, absl::string_view which) {
  return absl::StrCat("spec.", task.size.name, ".", which);
}

void SayUnused(const GangTask& task, Findings& findings) {
  const auto say = [&](const std::optional<std::int32_t>& bound, absl::string_view which) {
    if (!bound.has_value()) return;
    findings.push_back(MakeFinding(Code::kUnused, BoundField(task, which), absl::StrCat(*bound),
                                   "bounds the replicas of elastic jobs, and this one is not elastic"));
  };
  say(task.bounds.requests, "requests");
  say(task.bounds.limits, "limits");
}

ElasticBounds BoundsOf(const GangTask& task, Findings& findings) {
  const std::int32_t replicas = task.size.replicas;
  if (!task.bounds.given()) return {1, std::max(replicas, kMostWorkersUnbounded)};
  const ElasticBounds bounds{task.bounds.requests.value_or(replicas), task.bounds.limits.value_or(replicas)};
  if (bounds.min < 1 || bounds.min > replicas) {
    findings.push_back(MakeFinding(Code::kElastic, BoundField(task, "requests"), absl::StrCat(bounds.min),
                                   absl::StrCat("must be from 1 to the ", Counted(replicas, "replica")),
                                   "leave it out to need all of them"));
  }
  if (bounds.max < replicas) {
    findings.push_back(MakeFinding(Code::kElastic, BoundField(task, "limits"), absl::StrCat(bounds.max),
                                   absl::StrCat("must be at least the ", Counted(replicas, "replica")),
                                   "leave it out to have no more than these, and requests too for any number"));
  }
  return bounds;
}

// The wish within what the tasks have; `natural` is what is taken without one.
std::int32_t MinAvailable(const GangWish& wish, std::int32_t natural, std::int32_t sum, Findings& findings) {
  if (!wish.min_available.has_value()) return natural;
  const std::int32_t wanted = *wish.min_available;
  if (wanted < 1) {
    findings.push_back(MakeFinding(Code::kMinAvailableLow, kMinAvailableField, absl::StrCat(wanted)));
    return 1;
  }
  if (wanted > sum) {
    findings.push_back(MakeFinding(Code::kMinAvailable, kMinAvailableField, absl::StrCat(wanted),
                                   absl::StrCat("the job has ", Counted(sum, "pod"), " and would wait forever")));
  } else if (wanted < natural) {
    findings.push_back(
        MakeFinding(Code::kPartialGang, kMinAvailableField, absl::StrCat(wanted),
                    absl::StrCat("the job may start with ", Counted(wanted, "pod"), ", but counts on ", natural)));
  }
  return wanted;
}

// A smaller gang does without workers, never without servers; a gang that is too small for these leaves it to Volcano,
// which does not look at the tasks when they ask for more than the job.
std::vector<std::int32_t> Split(const std::vector<GangTask>& tasks, std::int32_t min_available) {
  std::int32_t others = 0;
  for (const GangTask& task : tasks) others += task.size.name == "worker" ? 0 : task.size.replicas;
  std::vector<std::int32_t> minimums;
  for (const GangTask& task : tasks) {
    const bool yields = task.size.name == "worker" && min_available >= others;
    minimums.push_back(yields ? min_available - others : task.size.replicas);
    // A task that must have more pods than it is given would keep the job waiting for ever.
    GW_CHECK(minimums.back() >= 0 && minimums.back() <= task.size.replicas);
  }
  return minimums;
}

}  // namespace

Finding TakeOver(const HandMadeGroup& group, GangWish& wish) {
  if (!wish.min_available.has_value()) wish.min_available = group.min_member;
  if (wish.queue.empty()) wish.queue = group.queue;
  if (wish.priority_class.empty()) wish.priority_class = group.priority_class;
  wish.min_resources = wish.min_resources || group.min_resources;
  return MakeFinding(Code::kPgDropped, "metadata.name", api::JsonString(group.name));
}

Gang CountGang(const std::vector<GangTask>& tasks, bool elastic, const GangWish& wish) {
  Gang out;
  std::int32_t sum = 0, natural = 0;
  for (const GangTask& task : tasks) {
    sum += task.size.replicas;
    if (elastic) out.bounds = BoundsOf(task, out.findings);
    if (!elastic) SayUnused(task, out.findings);
    natural += elastic && task.bounds.given() ? out.bounds->min : task.size.replicas;
  }
  if (!HasErrors(out.findings)) {
    out.min_available = MinAvailable(wish, natural, sum, out.findings);
    if (!HasErrors(out.findings)) out.task_minimums = Split(tasks, out.min_available);
  }
  if (wish.min_resources)
    out.findings.push_back(MakeFinding(Code::kMinResources, "spec.schedulingPolicy.minResources"));
  if (!wish.priority_class.empty()) {
    out.findings.push_back(
        MakeFinding(Code::kPriority, "spec.schedulingPolicy.priorityClass", api::JsonString(wish.priority_class)));
  }
  Arrange(out.findings);
  return out;
}

}  // namespace gangway::convert
