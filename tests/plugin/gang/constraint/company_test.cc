// What constraints say of pods in company: whom others may keep off nodes, also once they are placed, and of whom more
// fit less.
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::constraint {
namespace {

using model::Wants;
using testutil::Cpu;

const model::PodTermFacts kEverybody{"zone", {{"default"}, {}, {}}},
    kNobody{"zone", {{"default"}, {}, {model::kNoPod}}};

struct CompanyCase {
  std::string name;
  std::function<void(Wants& wants, Wants& other)> ask;
  bool kept_off = false, unsettled = false, more_fit_less = false;
};

class CompanyTest : public ::testing::TestWithParam<CompanyCase> {};

TEST_P(CompanyTest, Answers) {
  model::Cluster cluster;
  cluster.SetNode(testutil::Node("n"));
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = "c";
  cluster.SetClaim(claim);
  Wants wants = Cpu(1000), other = Cpu(2000);
  GetParam().ask(wants, other);
  const model::TaskId its = cluster.SetPod(testutil::Pod("g", "w", 0, wants));
  const model::Shape& others = cluster.shape(cluster.task(cluster.SetPod(testutil::Pod("g", "x", 0, other))).shape);
  const Placed placed(cluster);
  const Asks& asks = placed.AsksOf(cluster.task(its).shape);  // which the other's terms may have changed
  EXPECT_EQ(asks.KeptOffBy(others), GetParam().kept_off);
  EXPECT_EQ(asks.UnsettledBy(others), GetParam().unsettled);
  EXPECT_EQ(asks.more_fit_less(), GetParam().more_fit_less);
}

INSTANTIATE_TEST_SUITE_P(
    All, CompanyTest,
    ::testing::Values(
        CompanyCase{"Amounts", [](Wants&, Wants&) {}, false, false, true},
        CompanyCase{"NodeLabels", [](Wants& wants, Wants&) { wants.selector = {{"zone", "a"}}; }, false, false, true},
        CompanyCase{"NodePreference",
                    [](Wants& wants, Wants&) { wants.preferences = {{1, {{"zone", model::Op::kIn, {"a"}}}}}; }, false,
                    false, true},
        CompanyCase{"Near", [](Wants& wants, Wants&) { wants.pod_affinity = {kEverybody}; }, true, false, false},
        CompanyCase{"NearNobody", [](Wants& wants, Wants&) { wants.pod_affinity = {kNobody}; }, false, false, false},
        CompanyCase{"Away", [](Wants& wants, Wants&) { wants.pod_anti_affinity = {kEverybody}; }, true, false, false},
        CompanyCase{"AwayFromNobody", [](Wants& wants, Wants&) { wants.pod_anti_affinity = {kNobody}; }, false, false,
                    false},
        CompanyCase{"OthersAreAway", [](Wants&, Wants& other) { other.pod_anti_affinity = {kEverybody}; }, true, false,
                    true},
        CompanyCase{"OthersAreAwayFromNobody", [](Wants&, Wants& other) { other.pod_anti_affinity = {kNobody}; }, false,
                    false, true},
        CompanyCase{"Spread", [](Wants& wants, Wants&) { wants.spreads = {{kEverybody}}; }, true, true, false},
        CompanyCase{"SpreadOfNobody", [](Wants& wants, Wants&) { wants.spreads = {{kNobody}}; }, false, false, false},
        CompanyCase{"SpreadWherePossible",
                    [](Wants& wants, Wants&) {
                      wants.spreads = {{kEverybody}};
                      wants.spreads.front().required = false;
                    },
                    false, false, false},
        CompanyCase{"PodPreference", [](Wants& wants, Wants&) { wants.pod_preferences = {{1, kEverybody}}; }, false,
                    false, true},
        CompanyCase{"Ports",
                    [](Wants& wants, Wants& other) { wants.host_ports = other.host_ports = {{"TCP", "", 80}}; }, false,
                    false, false},
        CompanyCase{"Claims", [](Wants& wants, Wants& other) { wants.claims = other.claims = {"default/c"}; }, false,
                    false, false}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::constraint
