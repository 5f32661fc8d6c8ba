#include "sandbox/workloads/sync_budget.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/resource.h"
#include "api/selector.h"
#include "kube/plan/writes.h"

namespace gangway::sandbox {
namespace {

using PodPtr = std::shared_ptr<const HostedPod>;

bool IsHealthy(const HostedPod& pod) {
  return !pod.metadata.deleting() &&
         std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const auto& each) { return each.type == "Ready" && each.status == "True"; });
}

// Of `2` or `"50%"`.
struct Amount {
  std::int64_t number = 0;
  bool percent = false;
  // Rounded up, as Kubernetes does for both.
  std::int64_t Of(std::int64_t all) const { return percent ? (number * all + 99) / 100 : number; }
};

std::optional<Amount> AmountOf(const api::Document& document) {
  absl::string_view text = document.json;
  if (text.empty() || text == "null") return std::nullopt;
  Amount amount;
  if (absl::ConsumePrefix(&text, "\"")) {
    absl::ConsumeSuffix(&text, "\"");
    amount.percent = absl::ConsumeSuffix(&text, "%");
  }
  return absl::SimpleAtoi(text, &amount.number) && amount.number >= 0 ? std::optional(amount) : std::nullopt;
}

struct Expected {
  std::int64_t pods = 0, healthy = 0;
};

// Failing says why nobody knows.
absl::StatusOr<Expected> ExpectedOf(const Budget& budget, const std::vector<PodPtr>& pods,
                                    absl::FunctionRef<std::optional<Scale>(const HostedPod&)> wanted_by) {
  const std::optional<Amount> most_missing = AmountOf(budget.spec.max_unavailable);
  const std::optional<Amount> least = AmountOf(budget.spec.min_available);
  if (!most_missing.has_value() && (!least.has_value() || !least->percent))
    return Expected{static_cast<std::int64_t>(pods.size()), least.value_or(Amount()).number};
  std::map<std::string, std::int64_t> wanted;
  for (const PodPtr& pod : pods) {
    const api::OwnerReference* const controller = pod->metadata.Controller();
    if (controller == nullptr) continue;  // it counts for nobody
    const std::optional<Scale> scale = wanted_by(*pod);
    if (!scale.has_value())
      return absl::FailedPreconditionError(absl::StrCat("pod ", pod->metadata.name, " belongs to ", controller->kind,
                                                        " ", controller->name,
                                                        ", which does not say how many pods it wants"));
    wanted[scale->uid] = scale->wanted;
  }
  Expected out;
  for (const auto& [uid, count] : wanted) out.pods += count;
  out.healthy =
      most_missing.has_value() ? std::max<std::int64_t>(out.pods - most_missing->Of(out.pods), 0) : least->Of(out.pods);
  return out;
}

}  // namespace

bool IsAbout(const Budget& budget, const HostedPod& pod) {
  if (budget.metadata.ns != pod.metadata.ns) return false;
  const auto selector = api::LabelSelector::FromJson(budget.spec.selector.json);
  return selector.ok() && selector->Matches(pod.metadata.labels);
}

kube::Plan SyncBudget(const Budget& budget, const std::vector<PodPtr>& pods,
                      absl::FunctionRef<std::optional<Scale>(const HostedPod&)> wanted_by, absl::Time now) {
  kube::Plan plan;
  if (budget.metadata.deleting()) return plan;
  const auto healthy = std::count_if(pods.begin(), pods.end(), [](const PodPtr& pod) { return IsHealthy(*pod); });
  const absl::StatusOr<Expected> expected = ExpectedOf(budget, pods, wanted_by);
  const std::int64_t allowed =
      expected.ok() && expected->pods > 0 ? std::max<std::int64_t>(healthy - expected->healthy, 0) : 0;
  const absl::string_view status = allowed > 0 ? "True" : "False";
  const absl::string_view reason = !expected.ok() ? "SyncFailed" : allowed > 0 ? "SufficientPods" : "InsufficientPods";
  const BudgetStatus& before = budget.status;
  absl::Time since = now;
  bool same = before.current_healthy == healthy && before.disruptions_allowed == allowed &&
              before.observed_generation == budget.metadata.generation && !before.conditions.empty();
  if (expected.ok())
    same = same && before.expected_pods == expected->pods && before.desired_healthy == expected->healthy;
  for (const BudgetCondition& condition : before.conditions) {
    if (condition.type != "DisruptionAllowed") continue;
    if (condition.status == status) since = condition.last_transition_time.at;
    same = same && condition.status == status && condition.reason == reason;
  }
  if (same) return plan;
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Key("status").BeginObject();
  json.Field("currentHealthy", static_cast<std::int64_t>(healthy))
      .Field("desiredHealthy", expected.ok() ? expected->healthy : before.desired_healthy)
      .Field("expectedPods", expected.ok() ? expected->pods : before.expected_pods)
      .Field("disruptionsAllowed", allowed)
      .Field("observedGeneration", budget.metadata.generation);
  json.Key("conditions").BeginArray().BeginObject();
  json.Field("type", "DisruptionAllowed")
      .Field("status", status)
      .Field("reason", reason)
      .Field("message", expected.ok() ? absl::string_view() : expected.status().message())
      .Field("observedGeneration", budget.metadata.generation)
      .Field("lastTransitionTime", api::FormatTime(since));
  json.EndObject().EndArray().EndObject().EndObject();
  plan.stages.push_back({kube::ChangeOf(api::kPodDisruptionBudgets, budget.metadata, std::move(body), "status")});
  return plan;
}

}  // namespace gangway::sandbox
