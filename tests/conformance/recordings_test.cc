#include "tests/conformance/recordings.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/normal.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::pair<std::string, std::string>>;

constexpr char kUid[] = "0f3c6b1e-0000-4000-8000-00000000000", kNow[] = "<now>";

std::string Told(Normalizer& normalizer, std::string body, const std::string& type = "application/json") {
  const std::string now = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
  while (body.find(kNow) != std::string::npos) body.replace(body.find(kNow), 5, now);
  kube::Response response;
  response.code = 200;
  response.content_type = type;
  response.body = std::make_shared<const std::string>(body);
  return api::ToJson(normalizer.Of(response).at("body"));
}

TEST(NormalizerTest, WhatChanceMadeIsNumberedAsItAppears) {
  Normalizer normalizer(Words{{"t-case", "<ns>"}});
  EXPECT_EQ(
      Told(normalizer, absl::StrCat(R"({"metadata":{"uid":")", kUid,
                                    R"(1","resourceVersion":"17","namespace":"t-case","creationTimestamp":"<now>"}})")),
      R"({"metadata":{"creationTimestamp":"<time>","namespace":"<ns>","resourceVersion":"<rv 1>","uid":"<uid 1>"}})");
  EXPECT_EQ(
      Told(normalizer, absl::StrCat(R"({"metadata":{"uid":")", kUid, R"(2","resourceVersion":"18"},"owner":")", kUid,
                                    R"(1","at":"2020-01-01T00:00:00Z"})")),
      R"({"at":"2020-01-01T00:00:00Z","metadata":{"resourceVersion":"<rv 2>","uid":"<uid 2>"},"owner":"<uid 1>"})");
  EXPECT_EQ(
      Told(
          normalizer,
          R"({"kind":"PodList","metadata":{"resourceVersion":"19","continue":"abc"},"items":[{"metadata":{"resourceVersion":"17"}}]})"),
      R"({"items":[{"metadata":{"resourceVersion":"<rv 1>"}}],"kind":"PodList","metadata":{"continue":"<continue>","resourceVersion":"<version>"}})");
}

TEST(NormalizerTest, GeneratedNamesAreKnownWhereverTheyStand) {
  Normalizer normalizer(Words{});
  EXPECT_EQ(Told(normalizer, R"({"metadata":{"generateName":"a-","name":"a-x1y2z"}})"),
            R"({"metadata":{"generateName":"a-","name":"a-<name>"}})");
  EXPECT_EQ(Told(normalizer, R"({"message":"pods \"a-x1y2z\" not found"})"),
            R"({"message":"pods \"a-<name>\" not found"})");
}

TEST(NormalizerTest, VersionsWithinTexts) {
  Normalizer normalizer(Words{});
  EXPECT_EQ(Told(normalizer, R"json({"message":"too old resource version: 3 (17)"})json"),
            R"({"message":"too old resource version: <version>"})");
  EXPECT_EQ(Told(normalizer, "<now> is text", "text/plain"), R"("<time> is text")");
}

json::array Answers(const std::string& text) { return api::ParseJson(text)->as_array(); }
LeftOut Rule(const std::string& at, std::vector<std::string> cases = {}) {
  return {at, std::move(cases), "a reason", false, "left_out.yaml:" + at};
}

TEST(CompareTest, EveryDifferenceIsNamed) {
  std::set<std::string> used;
  const json::array recorded = Answers(R"([{"code":200,"body":{"a":1,"b":[1,2],"c":{"d":"x"}}}])");
  EXPECT_EQ(Compare(recorded, Answers(R"([{"code":200,"body":{"a":1.0,"b":[1,2],"c":{"d":"x"}}}])"), "C", {}, used),
            "");
  EXPECT_EQ(
      Compare(recorded, Answers(R"([{"code":201,"body":{"a":"1","b":[1],"c":{"d":"x","e":null}}},"the watch ended"])"),
              "C", {}, used),
      "0/body/a: recorded 1, is \"1\"\n0/body/b/1: recorded 2, is absent\n0/body/c/e: recorded absent, is "
      "null\n0/code: recorded 200, is 201\n"
      "1: recorded absent, is \"the watch ended\"");
}

TEST(CompareTest, WhatIsLeftOutIsLeftOutThereAlone) {
  std::set<std::string> used;
  const json::array recorded = Answers(R"([{"body":{"items":[{"a":1,"b":1},{"a":2,"b":1}]}}])");
  const json::array seen = Answers(R"([{"body":{"items":[{"a":3,"b":1},{"a":3,"b":2}]}}])");
  EXPECT_EQ(Compare(recorded, seen, "C",
                    {Rule("body/items/*/a"), Rule("body/items/1/b", {"Another"}), Rule("body/items/a")}, used),
            "0/body/items/1/b: recorded 1, is 2");
  EXPECT_THAT(used, ElementsAre("left_out.yaml:body/items/*/a"));
  EXPECT_EQ(Compare(recorded, seen, "C", {Rule("body/items", {"C"})}, used), "");
}

TEST(CompareTest, ARuleMayBeOfAnyDepth) {
  std::set<std::string> used;
  const json::array recorded = Answers(R"([{"body":{"a":1,"deep":[{"x":{"a":1}}]},"a":1}])");
  const json::array seen = Answers(R"([{"body":{"a":2,"deep":[{"x":{"a":2}}]},"a":2}])");
  EXPECT_EQ(Compare(recorded, seen, "C", {Rule("**/x/a")}, used), "0/a: recorded 1, is 2\n0/body/a: recorded 1, is 2");
  EXPECT_EQ(Compare(recorded, seen, "C", {Rule("**/a")}, used), "");
}

TEST(LeftOutTest, ARuleSaysWhy) {
  const TemporaryFolder folder("left-out");
  const std::string file = folder.path() + "/left_out.yaml";
  WriteFile(file, "- {at: body/a, cases: [One], because: of that}\n- {at: body/b, because: of this}\n");
  const auto rules = LoadLeftOut(file);
  GW_ASSERT_OK(rules);
  ASSERT_EQ(rules->size(), 2u);
  EXPECT_THAT((*rules)[0].cases, ElementsAre("One"));
  WriteFile(file, "- {at: body/a, because: of that}\n- at: body/b\n");
  EXPECT_THAT(LoadLeftOut(file).status().ToString(), HasSubstr("left_out.yaml:2"));
}

TEST(RecordingsTest, WhatIsWrittenIsReadAndCasesThatAreNoMoreGo) {
  const TemporaryFolder folder("recordings");
  const auto named = [](const std::string& name) {
    return Case{.name = name, .file = "one", .alone = false, .steps = {}};
  };
  const std::vector<Case> all = {named("A"), named("B")};
  Recordings before(folder.path());
  EXPECT_EQ(before.Find(all[0]), nullptr);
  before.Keep(all[0], Answers(R"([{"code":200},"the watch ended"])"));
  before.Keep(named("Gone"), {});
  before.Write(all);
  Recordings after(folder.path());
  ASSERT_NE(after.Find(all[0]), nullptr);
  EXPECT_EQ(*after.Find(all[0]), Answers(R"([{"code":200},"the watch ended"])"));
  EXPECT_EQ(after.Find(all[1]), nullptr);
  EXPECT_EQ(after.Find(named("Gone")), nullptr);
}

}  // namespace
}  // namespace gangway::testutil
