// What is wrong with an extender's place: one configuration a fault. That of each mode that docs/extender.md shows has
// none.
#include "plugin/extender/verbs/extender_place.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Light, as it is documented; the cases change a line of it.
constexpr char kLight[] = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: extender
    arguments:
      extender.urlPrefix: http://127.0.0.1:9444
      extender.httpTimeout: 1s
      extender.jobEnqueueableVerb: jobEnqueueable
      extender.jobReadyVerb: jobReady
      extender.ignorable: false
- plugins:
  - name: overcommit
  - name: predicates
  - name: proportion
)";
constexpr char kSteer[] = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: overcommit
  - name: predicates
  - name: extender
    arguments:
      extender.urlPrefix: http://127.0.0.1:9444
      extender.onSessionOpenVerb: onSessionOpen
      extender.onSessionCloseVerb: onSessionClose
      extender.jobEnqueueableVerb: jobEnqueueable
      extender.predicateVerb: predicate
      extender.prioritizeVerb: prioritize
      extender.ignorable: true
)";
constexpr char kFull[] = R"(actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: gang
  - name: conformance
  - name: extender
    arguments:
      extender.urlPrefix: http://127.0.0.1:9444
      extender.onSessionOpenVerb: onSessionOpen
      extender.onSessionCloseVerb: onSessionClose
      extender.jobEnqueueableVerb: jobEnqueueable
      extender.prioritizeVerb: prioritize
      extender.preemptableVerb: preemptable
      extender.reclaimableVerb: reclaimable
      extender.ignorable: true
- plugins:
  - name: overcommit
  - name: predicates
)";

std::vector<std::string> Told(const std::string& text, const AskedExtender& asked = {}) {
  const auto place = FindExtenderPlace(text, "conf", asked);
  GW_EXPECT_OK(place);
  std::vector<std::string> out;
  if (!place.ok()) return out;
  for (const PlaceFault& fault : place->faults)
    out.push_back(absl::StrCat(fault.code, ":", fault.line, ": ", fault.what, " | ", fault.remedy));
  return out;
}

struct PlaceCase {
  const char* name;
  const char* text;  // one of the above
  const char *line, *instead;
  const char* fault;  // how it begins
  const char* holds;  // and what it says further on
  AskedExtender asked = {};
};
class PlaceTest : public ::testing::TestWithParam<PlaceCase> {};

TEST_P(PlaceTest, IsToldAndNothingElse) {
  const PlaceCase& c = GetParam();
  ASSERT_THAT(std::string(c.text), HasSubstr(c.line));
  const std::string text = absl::StrReplaceAll(c.text, {{c.line, c.instead}});
  EXPECT_THAT(Told(text, c.asked), ElementsAre(AllOf(StartsWith(c.fault), HasSubstr(c.holds)))) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, PlaceTest,
    ::testing::Values(
        PlaceCase{"Misspelt", kLight, "extender.jobReadyVerb", "extender.jobReadyVerbs",
                  "D-EXTENDER-ARGUMENT:12: nobody reads the argument extender.jobReadyVerbs",
                  "write extender.jobReadyVerb"},
        PlaceCase{"NoText", kLight, "httpTimeout: 1s", "httpTimeout: 1",
                  "D-EXTENDER-ARGUMENT:10: extender.httpTimeout is no text", "counts as absent"},
        PlaceCase{"NoDuration", kLight, "httpTimeout: 1s", "httpTimeout: soon",
                  "D-EXTENDER-ARGUMENT:10: extender.httpTimeout is no duration", "counts as 1s"},
        PlaceCase{"NeitherTrueNorFalse", kLight, "ignorable: false", "ignorable: never",
                  "D-EXTENDER-ARGUMENT:13: extender.ignorable is neither", "counts as false"},
        PlaceCase{"ManagedResourcesAsText", kLight, "extender.ignorable: false",
                  "extender.managedResources: nvidia.com/gpu",
                  "D-EXTENDER-ARGUMENT:13: extender.managedResources is no list of names: the scheduler's process ends",
                  "[nvidia.com/gpu]"},
        PlaceCase{"NoAddress", kLight, "      extender.urlPrefix: http://127.0.0.1:9444\n", "",
                  "D-EXTENDER-URL:", "there is no extender.urlPrefix: every question fails"},
        PlaceCase{"NoHttpAddress", kLight, "http://127.0.0.1:9444", "127.0.0.1:9444",
                  "D-EXTENDER-URL:9: ", "is no http:// address"},
        PlaceCase{"TlsWhereThereIsNone", kLight, "http://127.0.0.1:9444", "https://127.0.0.1:9444",
                  "D-EXTENDER-URL:9: ", "answers without TLS"},
        PlaceCase{"AnotherVerb", kLight, "jobReadyVerb: jobReady", "jobReadyVerb: jobEnqueueable",
                  "D-EXTENDER-VERB:12: extender.jobReadyVerb names jobEnqueueable",
                  "write extender.jobReadyVerb: jobReady"},
        PlaceCase{"NoSuchVerb", kLight, "jobReadyVerb: jobReady", "jobReadyVerb: ready",
                  "D-EXTENDER-VERB:12: extender.jobReadyVerb names no verb", "404"},
        PlaceCase{"NoVerbs", kLight,
                  "      extender.jobEnqueueableVerb: jobEnqueueable\n      extender.jobReadyVerb: jobReady\n", "",
                  "D-EXTENDER-VERB:7: no verb is named", "never asked"},
        PlaceCase{"SwitchedOff", kLight, "- name: extender\n", "- name: extender\n    enableJobReady: false\n",
                  "D-EXTENDER-VERB:13: jobReady is never asked: enableJobReady is false", "leave out enableJobReady"},
        PlaceCase{"NoActionPreempt", kFull, "preempt, reclaim", "reclaim",
                  "D-EXTENDER-VERB:13: preemptable is never asked: there is no action preempt", "add preempt"},
        PlaceCase{
            "NoSession", kSteer,
            "      extender.onSessionOpenVerb: onSessionOpen\n      extender.onSessionCloseVerb: onSessionClose\n", "",
            "D-EXTENDER-VERB:8: the verbs of steer and full are answered by the plan of a session",
            "add extender.onSessionOpenVerb"},
        PlaceCase{"BehindWhoLetsIn", kSteer, "  - name: gang\n", "  - name: gang\n  - name: proportion\n",
                  "D-EXTENDER-TIER:9: the extender stands in tier 2, behind proportion of tier 1",
                  "jobEnqueueable is not asked"},
        PlaceCase{"NoGang", kLight, "  - name: gang\n", "", "D-EXTENDER-TIER:2: there is no plugin gang",
                  "list gang before"},
        PlaceCase{"ReadyAndIgnorable", kSteer, "      extender.ignorable",
                  "      extender.jobReadyVerb: jobReady\n      extender.ignorable",
                  "D-EXTENDER-DOWN:17: with extender.ignorable true a jobReady that fails means not ready",
                  "no gang is bound"},
        PlaceCase{
            "NotIgnorable", kSteer, "ignorable: true", "ignorable: false",
            "D-EXTENDER-DOWN:16: extender.ignorable is false: once we are down in the middle of a session, no pod "
            "fits anywhere (predicate); pods are skipped",
            "ends the scheduler's process"},
        PlaceCase{"NoTimeout", kLight, "httpTimeout: 1s", "httpTimeout: 0s",
                  "D-EXTENDER-TIMEOUT:10: extender.httpTimeout is not positive", "stops the scheduler"},
        PlaceCase{"LongTimeout", kLight, "httpTimeout: 1s", "httpTimeout: 1m",
                  "D-EXTENDER-TIMEOUT:10: extender.httpTimeout is 1m0s", "hold up the whole scheduler"},
        PlaceCase{"ShorterThanTheBudget", kSteer, "      extender.onSessionOpenVerb",
                  "      extender.httpTimeout: 500ms\n      extender.onSessionOpenVerb",
                  "D-EXTENDER-TIMEOUT:11: extender.httpTimeout is 500ms, and an opening is answered after 700ms",
                  "--http-budget"},
        PlaceCase{"UsualTimeoutShorterThanTheBudget",
                  kSteer,
                  "http://127.0.0.1:9444",
                  "http://127.0.0.1:9445",
                  "D-EXTENDER-TIMEOUT:9: extender.httpTimeout is 1s, and an opening is answered after 2s",
                  "",
                  {Mode::kSteer, absl::Seconds(2)}},
        PlaceCase{
            "LightShorterThanTheBudget", kLight, "httpTimeout: 1s", "httpTimeout: 500ms",
            "D-EXTENDER-TIMEOUT:10: extender.httpTimeout is 500ms, and jobEnqueueable and jobReady may wait 700ms "
            "(--http-budget) for a plan",
            "no gang is let in, and gangs start on nodes that are kept for others"},
        PlaceCase{"UsualTimeoutShorterThanTheBudgetOfLight",
                  kLight,
                  "      extender.httpTimeout: 1s\n      extender.jobEnqueueableVerb: jobEnqueueable\n",
                  "",
                  "D-EXTENDER-TIMEOUT:8: extender.httpTimeout is 1s, and jobReady may wait 2s",
                  "--http-budget",
                  {Mode::kLight, absl::Seconds(2)}},
        PlaceCase{"SessionForLight", kLight, "      extender.ignorable",
                  "      extender.onSessionOpenVerb: onSessionOpen\n      extender.ignorable",
                  "D-EXTENDER-COST:13: onSessionOpen sends the whole cluster", "--mode light"},
        PlaceCase{"Enqueued", kLight, "      extender.ignorable",
                  "      extender.jobEnqueuedVerb: jobEnqueued\n      extender.ignorable",
                  "D-EXTENDER-COST:13: jobEnqueued is a call for each gang", "leave out extender.jobEnqueuedVerb"},
        PlaceCase{"Events", kSteer, "      extender.ignorable",
                  "      extender.allocateFuncVerb: x/allocateFunc\n      extender.ignorable",
                  "D-EXTENDER-COST:16: allocateFunc is a call for each pod", "/debug/sessions"},
        PlaceCase{"VictimsOfSteer",
                  kFull,
                  "      extender.reclaimableVerb: reclaimable\n",
                  "",
                  "D-EXTENDER-COST:13: preemptable is asked, and --mode steer answers it as if nobody were there",
                  "--mode full",
                  {Mode::kSteer, absl::Milliseconds(700)}}),
    [](const auto& info) { return info.param.name; });

TEST(ExtenderPlaceTest, WhatIsDocumentedForEachModeHasNoFault) {
  for (const Mode mode : {Mode::kLight, Mode::kSteer, Mode::kFull}) {
    const std::string text =
        testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR "/deploy/volcano/components/volcano-extender/",
                                        kModeNames[static_cast<std::size_t>(mode)], "/volcano-scheduler.conf"));
    const auto place = FindExtenderPlace(text, "conf", {mode, absl::Milliseconds(700)});
    GW_ASSERT_OK(place);
    EXPECT_TRUE(place->listed);
    EXPECT_EQ(place->url, "http://127.0.0.1:9444");
    EXPECT_THAT(Told(text, {mode, absl::Milliseconds(700)}), IsEmpty());
    EXPECT_THAT(Told(text), IsEmpty());
  }
  EXPECT_THAT(Told(kLight), IsEmpty());
  EXPECT_THAT(Told(kSteer), IsEmpty());
  EXPECT_THAT(Told(kFull), IsEmpty());
}

TEST(ExtenderPlaceTest, OfTwoExtendersTheLastCounts) {
  const std::string twice =
      absl::StrCat(kLight, "  - name: extender\n    arguments: {extender.urlPrefix: \"http://other:1\"}\n");
  const auto place = FindExtenderPlace(twice, "conf");
  GW_ASSERT_OK(place);
  EXPECT_EQ(place->url, "http://other:1");
  EXPECT_THAT(absl::StrJoin(Told(twice), "\n"), HasSubstr("D-EXTENDER-TIER:18: extender is listed twice"));
}

// Orders that cost: the cheap plugin of the same question comes first.
TEST(ExtenderPlaceTest, BeforeThePluginsThatAskCheaper) {
  EXPECT_THAT(
      Told("actions: allocate\ntiers:\n- plugins:\n  - name: extender\n    arguments: {extender.urlPrefix: "
           "\"http://e\", extender.jobReadyVerb: jobReady}\n  - name: gang\n"),
      ElementsAre(HasSubstr("D-EXTENDER-TIER:4: the extender stands before gang: jobReady is asked after every pod")));
  EXPECT_THAT(Told(absl::StrReplaceAll(
                  kSteer, {{"  - name: predicates\n", ""},
                           {"extender.ignorable: true\n", "extender.ignorable: true\n  - name: predicates\n"}})),
              ElementsAre(HasSubstr("D-EXTENDER-TIER:7: the extender stands before predicates")));
}

// Where a question that fails lets the gang in, who stands in a later tier is not asked any more.
TEST(ExtenderPlaceTest, APermitOfAnEarlierTierHidesTheLaterOnes) {
  const std::string early = absl::StrReplaceAll(
      kSteer, {{"  - name: overcommit\n", ""},
               {"extender.ignorable: true\n",
                "extender.ignorable: true\n- plugins:\n  - name: overcommit\n  - name: capacity\n"}});
  EXPECT_THAT(Told(early), ElementsAre(AllOf(HasSubstr("D-EXTENDER-DOWN:"),
                                             HasSubstr("overcommit of tier 3, capacity of tier 3 are not asked"))));
}

// What a question of light that is given up leads to is the other way round where it is ignorable.
TEST(ExtenderPlaceTest, AnIgnorableQuestionThatIsGivenUpLetsGangsIn) {
  const std::string text =
      absl::StrReplaceAll(kLight, {{"httpTimeout: 1s", "httpTimeout: 500ms"}, {"ignorable: false", "ignorable: true"}});
  EXPECT_THAT(Told(text), ::testing::Contains(AllOf(StartsWith("D-EXTENDER-TIMEOUT:10: "),
                                                    HasSubstr("every gang is let in, and no gang is bound"))));
  // steer and full wait for an opening alone
  EXPECT_THAT(Told(absl::StrReplaceAll(kLight, {{"httpTimeout: 1s", "httpTimeout: 500ms"}}),
                   {Mode::kSteer, absl::Milliseconds(700)}),
              ::testing::Not(::testing::Contains(StartsWith("D-EXTENDER-TIMEOUT"))));
}

TEST(ExtenderPlaceTest, VictimsAreAskedForBehindWhoProtectsThem) {
  const std::string late = absl::StrReplaceAll(
      kFull, {{"  - name: conformance\n  - name: extender", "  - name: conformance\n- plugins:\n  - name: extender"}});
  const std::vector<std::string> told = Told(late);
  EXPECT_THAT(told, ElementsAre(HasSubstr("gang of tier 1, conformance of tier 1: preemptable is asked only where"),
                                HasSubstr("reclaimable is asked only where")));
  // gang and conformance that do not vote stand in nobody's way
  EXPECT_THAT(Told(absl::StrReplaceAll(
                  late, {{"- name: gang\n", "- {name: gang, enablePreemptable: false, enableReclaimable: false}\n"},
                         {"- name: conformance\n",
                          "- {name: conformance, enablePreemptable: false, enableReclaimable: false}\n"}})),
              IsEmpty());
}

TEST(ExtenderPlaceTest, NoExtenderAndNoConfiguration) {
  const auto none = FindExtenderPlace("actions: allocate\ntiers: [{plugins: [{name: gang}]}]\n", "conf");
  GW_ASSERT_OK(none);
  EXPECT_FALSE(none->listed);
  EXPECT_THAT(none->faults, IsEmpty());
  EXPECT_THAT(FindExtenderPlace("actions: allocat\n", "conf").status().message(), StartsWith("conf:1: actions: "));
  EXPECT_FALSE(FindExtenderPlace("", "conf").ok());
}

}  // namespace
}  // namespace gangway::extender
