#include "sandbox/workloads/sync_budget.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;
using PodPtr = std::shared_ptr<const HostedPod>;

struct SyncBudgetTest : ::testing::Test {
  SyncBudgetTest() {
    budget.metadata.name = "b";
    budget.metadata.ns = "default";
    budget.metadata.uid = "uid-b";
    budget.metadata.generation = 2;
    budget.spec.selector.json = R"({"matchLabels":{"app":"web"}})";
  }
  // Of the set of that name; "": of nobody.
  void Add(bool ready, const std::string& controller = "web", const std::string& kind = "ReplicaSet") {
    auto pod = std::make_shared<HostedPod>();
    pod->metadata.name = absl::StrCat("p", pods.size());
    pod->metadata.ns = "default";
    pod->metadata.labels = {{"app", "web"}};
    if (!controller.empty()) {
      api::OwnerReference& owner = pod->metadata.owner_references.emplace_back();
      owner.kind = kind;
      owner.name = controller;
      owner.uid = "uid-" + controller;
      owner.controller = true;
    }
    pod->status.conditions.emplace_back();
    pod->status.conditions.back().type = "Ready";
    pod->status.conditions.back().status = ready ? "True" : "False";
    pods.push_back(std::move(pod));
  }
  // The status that is written; "": none.
  std::string Written() {
    const kube::Plan plan = SyncBudget(
        budget, pods,
        [this](const HostedPod& pod) -> std::optional<Scale> {
          const api::OwnerReference* const owner = pod.metadata.Controller();
          if (owner == nullptr || owner->kind != "ReplicaSet") return std::nullopt;
          return Scale{owner->uid, wanted};
        },
        now);
    return plan.stages.empty() ? "" : plan.stages[0][0].body;
  }
  // "3 of 2 healthy, 4 expected, 1 allowed: SufficientPods"
  std::string Told() {
    const std::string body = Written();
    if (body.empty()) return "";
    const boost::json::value value = *api::ParseJson(body);
    const boost::json::object& status = value.at("status").as_object();
    const auto number = [&](const char* key) { return status.at(key).to_number<int>(); };
    return absl::StrCat(number("currentHealthy"), " of ", number("desiredHealthy"), " healthy, ",
                        number("expectedPods"), " expected, ", number("disruptionsAllowed"),
                        " allowed: ", std::string(status.at("conditions").at(0).at("reason").as_string().c_str()));
  }
  Budget budget;
  std::vector<PodPtr> pods;
  std::int32_t wanted = 4;
  absl::Time now = absl::FromUnixSeconds(1'790'000'000);
};

TEST_F(SyncBudgetTest, AMinimumIsOfThePodsThatAreThere) {
  budget.spec.min_available.json = "2";
  EXPECT_EQ(Told(), "0 of 2 healthy, 0 expected, 0 allowed: InsufficientPods");
  for (const bool ready : {true, true, true, false}) Add(ready, "job", "Job");
  EXPECT_EQ(Told(), "3 of 2 healthy, 4 expected, 1 allowed: SufficientPods");
}

TEST_F(SyncBudgetTest, SharesAreOfWhatIsAskedForAndRoundedUp) {
  for (int i = 0; i < 4; ++i) Add(true);
  wanted = 5;
  budget.spec.min_available.json = R"("50%")";
  EXPECT_EQ(Told(), "4 of 3 healthy, 5 expected, 1 allowed: SufficientPods");
  budget.spec.min_available.json = "";
  budget.spec.max_unavailable.json = R"("30%")";
  EXPECT_EQ(Told(), "4 of 3 healthy, 5 expected, 1 allowed: SufficientPods") << "30% of 5 are 2";
  budget.spec.max_unavailable.json = "1";
  EXPECT_EQ(Told(), "4 of 4 healthy, 5 expected, 0 allowed: InsufficientPods");
  budget.spec.max_unavailable.json = "9";
  EXPECT_EQ(Told(), "4 of 0 healthy, 5 expected, 4 allowed: SufficientPods");
}

TEST_F(SyncBudgetTest, WhatAJobWantsIsNotKnown) {
  Add(true, "train", "Job");
  budget.spec.max_unavailable.json = "1";
  EXPECT_EQ(Told(), "1 of 0 healthy, 0 expected, 0 allowed: SyncFailed");
  EXPECT_THAT(Written(), HasSubstr("pod p0 belongs to Job train, which does not say how many pods it wants"));
  pods.clear();
  Add(true, "");
  Add(true);
  EXPECT_EQ(Told(), "2 of 3 healthy, 4 expected, 0 allowed: InsufficientPods") << "one of nobody counts for nobody";
}

TEST_F(SyncBudgetTest, WhatIsSaidIsNotSaidAgainAndAConditionKeepsItsTime) {
  budget.spec.min_available.json = "1";
  for (int i = 0; i < 3; ++i) Add(true);
  budget.status.current_healthy = 3;
  budget.status.desired_healthy = 1;
  budget.status.expected_pods = 3;
  budget.status.disruptions_allowed = 2;
  budget.status.observed_generation = 2;
  BudgetCondition& condition = budget.status.conditions.emplace_back();
  condition.type = "DisruptionAllowed";
  condition.status = "True";
  condition.reason = "SufficientPods";
  condition.last_transition_time.at = now - absl::Hours(1);
  EXPECT_EQ(Written(), "");
  pods.pop_back();
  EXPECT_THAT(Written(), HasSubstr(R"("disruptionsAllowed":1)"));
  EXPECT_THAT(Written(), HasSubstr(R"("lastTransitionTime":"2026-09-21T13:13:20Z")"));
  budget.spec.min_available.json = "2";
  EXPECT_THAT(Written(), HasSubstr(R"("lastTransitionTime":"2026-09-21T14:13:20Z")")) << "none may go now";
}

TEST_F(SyncBudgetTest, WhomItIsAbout) {
  Add(true);
  EXPECT_TRUE(IsAbout(budget, *pods[0]));
  budget.spec.selector.json = "{}";
  EXPECT_TRUE(IsAbout(budget, *pods[0]));
  budget.spec.selector.json = "";
  EXPECT_FALSE(IsAbout(budget, *pods[0]));
  budget.spec.selector.json = "{}";
  budget.metadata.ns = "other";
  EXPECT_FALSE(IsAbout(budget, *pods[0]));
}

}  // namespace
}  // namespace gangway::sandbox
