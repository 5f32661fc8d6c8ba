#include "api/manifest/manifest.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testutil::IsOk;
using testutil::StatusIs;

std::vector<std::string> Jsons(absl::string_view text, absl::string_view source = "f.yaml") {
  const absl::StatusOr<std::vector<ManifestDocument>> documents = ReadDocuments(text, source);
  EXPECT_THAT(documents, IsOk()) << text;
  std::vector<std::string> out;
  if (!documents.ok()) return out;
  for (const ManifestDocument& document : *documents) {
    EXPECT_THAT(ParseCompletely(document.json), IsOk());
    out.push_back(document.json);
  }
  return out;
}

std::string Error(absl::string_view text, absl::string_view source = "f.yaml") {
  const auto documents = ReadManifest(text, source);
  EXPECT_EQ(documents.status().code(), absl::StatusCode::kInvalidArgument) << documents.status();
  return std::string(documents.status().message());
}

constexpr char kJob[] = R"(# a job
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: ctr
  namespace: ads
  labels:
    app.kubernetes.io/name: x
spec:
  tasks:
  - name: ps
    replicas: 2
  - name: trainer
    replicas: "2"
    template: {spec: {containers: [{name: c,
      image: i}]}}
)";

TEST(ManifestTest, YamlBecomesJsonInItsOrder) {
  const auto documents = ReadManifest(kJob, "job.yaml");
  ASSERT_THAT(documents, IsOk());
  ASSERT_EQ(documents->size(), 1u);
  const ManifestDocument& job = documents->front();
  EXPECT_EQ(
      job.json,
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"ctr","namespace":"ads","labels":{"app.kubernetes.io/name":"x"}},)"
      R"("spec":{"tasks":[{"name":"ps","replicas":2},{"name":"trainer","replicas":"2","template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  EXPECT_EQ(job.api_version, "batch.volcano.sh/v1alpha1");
  EXPECT_EQ(job.kind, "Job");
  EXPECT_EQ(job.ns, "ads");
  EXPECT_EQ(job.name, "ctr");
}

TEST(ManifestTest, KnowsWhereEachFieldStands) {
  const auto documents = ReadManifest(kJob, "job.yaml");
  ASSERT_THAT(documents, IsOk());
  const ManifestDocument& job = documents->front();
  EXPECT_EQ(job.Find(""), (TextPosition{2, 1}));
  EXPECT_EQ(job.Find("spec.tasks[0].replicas"), (TextPosition{12, 5}));
  EXPECT_EQ(job.Find("spec.tasks[1]"), (TextPosition{13, 5}));
  EXPECT_EQ(job.Find("spec.tasks[1].template.spec.containers[0].image"), (TextPosition{16, 7}));
  EXPECT_EQ(job.Find("metadata.labels.app.kubernetes.io/name"), (TextPosition{8, 5}));
  EXPECT_EQ(job.Find("metadata.labels[app.kubernetes.io/name]"), (TextPosition{8, 5}));
  EXPECT_EQ(job.Where("spec.tasks[1].replicas"), "job.yaml:14:5");
  // What is not there: the nearest around it.
  EXPECT_EQ(job.Find("spec.tasks[0].template.spec"), (TextPosition{11, 5}));
  EXPECT_EQ(job.Find("spec.tasks[7].name"), (TextPosition{10, 3}));
  EXPECT_EQ(job.Find("status"), (TextPosition{2, 1}));
  EXPECT_EQ(job.Find("spec.task"), (TextPosition{9, 1}));
}

TEST(ManifestTest, JsonKnowsItsPlacesToo) {
  const auto documents =
      ReadManifest("{\"apiVersion\": \"v1\",\n \"kind\": \"Pod\",\n \"spec\": {\"a\\\"b\": [1,\n 2]}}\n", "p.json");
  ASSERT_THAT(documents, IsOk());
  const ManifestDocument& pod = documents->front();
  EXPECT_EQ(pod.json, R"({"apiVersion":"v1","kind":"Pod","spec":{"a\"b":[1,2]}})");
  EXPECT_EQ(pod.Find("spec.a\"b[1]"), (TextPosition{4, 2}));
  EXPECT_EQ(pod.Find("kind"), (TextPosition{2, 2}));
}

TEST(ManifestTest, SeveralDocuments) {
  EXPECT_THAT(Jsons("---\na: 1\n---\n# nothing\n---\nb: 2\n...\n---\n- 3\n"),
              ElementsAre(R"({"a":1})", R"({"b":2})", "[3]"));
  EXPECT_THAT(Jsons("{\"a\":1}\n{\"b\":2} [3]"), ElementsAre(R"({"a":1})", R"({"b":2})", "[3]"));
  EXPECT_THAT(Jsons("{\"a\":1}\n---\n{\"b\":2}\n"), ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_THAT(Jsons(""), IsEmpty());
  EXPECT_THAT(Jsons("# only a comment\n"), IsEmpty());
  EXPECT_THAT(Jsons(" \n\t\n"), IsEmpty());
}

TEST(ManifestTest, ScalarsAsKubernetesReadsThem) {
  EXPECT_THAT(
      Jsons("a: yes\nb: 'yes'\nc: \"8\"\nd: 010\ne: ~\nf:\ng: 1.50\nh: 2020-01-01\ni: ''\nj: 0x10\nk: |\n  x\n  y\n"),
      ElementsAre(
          R"({"a":true,"b":"yes","c":"8","d":8,"e":null,"f":null,"g":1.5,"h":"2020-01-01","i":"","j":16,"k":"x\ny\n"})"));
  EXPECT_THAT(Jsons("a: !!str 8\nb: !!int \"8\"\nc: !!float 2\nd: ! yes\ne: !!str\nf: !!map {}\ng: !!seq []\n"),
              ElementsAre(R"({"a":"8","b":8,"c":2,"d":"yes","e":"","f":{},"g":[]})"));
}

TEST(ManifestTest, KeysBecomeStrings) {
  EXPECT_THAT(Jsons("1: a\ntrue: b\n0x10: c\n\"2\": d\n"), ElementsAre(R"({"1":"a","true":"b","16":"c","2":"d"})"));
}

TEST(ManifestTest, AliasesAreFollowed) {
  EXPECT_THAT(Jsons("a: &x {k: [1, &y two]}\nb: *x\nc: *y\n"),
              ElementsAre(R"({"a":{"k":[1,"two"]},"b":{"k":[1,"two"]},"c":"two"})"));
  EXPECT_THAT(Jsons("&k a: 1\nb: *k\n"), ElementsAre(R"({"a":1,"b":"a"})"));
}

TEST(ManifestTest, ByteOrderMarkAndCarriageReturns) {
  EXPECT_THAT(Jsons("\xEF\xBB\xBF"
                    "a: 1\r\nb: x\r\n"),
              ElementsAre(R"({"a":1,"b":"x"})"));
}

TEST(ManifestTest, UnicodeStays) {
  EXPECT_THAT(Jsons("a: 训练\nb: \"\\u8bad\\U0001F600\"\n"), ElementsAre("{\"a\":\"训练\",\"b\":\"训😀\"}"));
  EXPECT_THAT(Jsons("{\"a\":\"\\ud83d\\ude00\\n\"}"), ElementsAre("{\"a\":\"😀\\n\"}"));
}

TEST(ManifestTest, ColumnsAreBytesAlsoBehindOtherLetters) {
  const auto documents = ReadDocuments("训练: {é: 1, 名: [x, 训,\n 练: y]}\n训: z\n", "f.yaml");
  ASSERT_THAT(documents, IsOk());
  EXPECT_EQ((*documents)[0].Find("训练.é"), (TextPosition{1, 10}));
  EXPECT_EQ((*documents)[0].Find("训练.名[1]"), (TextPosition{1, 26}));
  EXPECT_EQ((*documents)[0].Find("训练.名[2].练"), (TextPosition{2, 2}));
  EXPECT_EQ((*documents)[0].Find("训"), (TextPosition{3, 1}));
}

TEST(ManifestTest, ListsAreExpanded) {
  const auto documents = ReadManifest(
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n"
      "- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: Pod\n    metadata:\n      name: b\n",
      "l.yaml");
  ASSERT_THAT(documents, IsOk());
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[0].name, "a");
  EXPECT_EQ((*documents)[1].name, "b");
  EXPECT_EQ((*documents)[1].Where("metadata.name"), "l.yaml:11:7");
  const auto empty = ReadManifest("apiVersion: v1\nkind: List\nitems: []\n", "l.yaml");
  ASSERT_THAT(empty, IsOk());
  EXPECT_TRUE(empty->empty());
}

TEST(ManifestTest, ErrorsSayWhereAndWhatToDo) {
  EXPECT_EQ(Error("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n"),
            "f.yaml: line 5, column 3: the key \"name\" stands twice in one map, first in line 4; remove one");
  EXPECT_EQ(Error("{\"kind\":\"Pod\",\n\"kind\":\"Pod\"}"),
            "f.yaml: line 2, column 1: the key \"kind\" stands twice in one map, first in line 1; remove one");
  EXPECT_EQ(Error("a: &x {b: 1}\nc:\n  <<: *x\n"),
            "f.yaml: line 3, column 3: merge keys (<<) are not supported; write the fields out");
  EXPECT_THAT(Error("a: 1\n- b\n"), HasSubstr("f.yaml: line 2, column 1: "));
  EXPECT_THAT(Error("a: [1, 2\n"), HasSubstr("f.yaml: line 2"));
  EXPECT_EQ(Error("a: !foo 1\n"), "f.yaml: line 1, column 4: the tag !foo means nothing to Kubernetes; remove it");
  EXPECT_EQ(Error("a: .nan\n"), "f.yaml: line 1, column 4: .nan cannot be said in JSON; quote it or use a number");
  EXPECT_EQ(Error("a: !!int x\n"), "f.yaml: line 1, column 4: \"x\" is no !!int; remove the tag or change the value");
  EXPECT_EQ(Error("? [a]\n: 1\n"), "f.yaml: line 1, column 3: a key must be a word or a number, not a list or a map");
  EXPECT_EQ(Error("~: 1\n"),
            "f.yaml: line 1, column 1: a key is missing; quote it if it is meant to be empty or \"null\"");
  EXPECT_THAT(Error("a: *nobody\n"), HasSubstr("line 1, column 4"));
  EXPECT_EQ(Error("kind: Pod\n"), "f.yaml: line 1, column 1: apiVersion is missing; say what the document is");
  EXPECT_EQ(Error("---\n- a\n"), "f.yaml: line 2, column 1: a document must be a map with apiVersion and kind");
  EXPECT_EQ(Error("apiVersion: v1\nkind: 7\n"), "f.yaml: line 2, column 7: kind must be a string that is not empty");
}

TEST(ManifestTest, WrongIndentationIsNoNewDocument) {
  constexpr absl::string_view kMessage =
      "this does not belong to the document above; check the indentation, or begin a new one with ---";
  EXPECT_EQ(Error("  apiVersion: v1\n  kind: Pod\nmetadata:\n  name: a\n"),
            absl::StrCat("f.yaml: line 3, column 1: ", kMessage));
  EXPECT_EQ(Error("[1, 2] [3]\n", "f.json"),
            "f.json: line 1, column 1: a document must be a map with apiVersion and kind");
  for (const absl::string_view bad : {"a:\n  b: 1\n c: 2\n", "a: 1\n  b: 2\n", "- a\nb: 1\n", "a: 1\nb\n",
                                      "a: [1]\n]\n", "a: 'x' y\n", "a: \"x\" \"y\"\n", "a: 1\n\tb: 2\n"}) {
    EXPECT_FALSE(ReadDocuments(bad, "f.yaml").ok()) << bad;
  }
  EXPECT_EQ(Error("a: 1\nreplicas\n"), "f.yaml: line 2, column 1: expected ':' after \"replicas\"");
  EXPECT_EQ(Error("a:\n  x: 1\n  y z\n"), "f.yaml: line 3, column 3: expected ':' after \"y z\"");
  EXPECT_EQ(Error("a: \"x\n"), "f.yaml: line 1, column 4: the closing \" is missing");
  EXPECT_EQ(Error("a: 'it''s\n"), "f.yaml: line 1, column 4: the closing ' is missing");
  EXPECT_EQ(Error("a: !!str &x \"y\\\"\n"), "f.yaml: line 1, column 13: the closing \" is missing");
  EXPECT_THAT(Jsons("a: 1\nb:\n"), ElementsAre(R"({"a":1,"b":null})"));
  EXPECT_THAT(Jsons("\"a\": 'it''s'\n\"b\" :\n训:\nx: \"\\\"\""),
              ElementsAre("{\"a\":\"it's\",\"b\":null,\"训\":null,\"x\":\"\\\"\"}"));
  EXPECT_THAT(Jsons("{a: 1, b}"), ElementsAre(R"({"a":1,"b":null})"));
  EXPECT_THAT(Jsons("训: 1\r\nb  :\r\n"), ElementsAre("{\"训\":1,\"b\":null}"));
  EXPECT_EQ(Error("a: 1\n...\nb: 2\n"), absl::StrCat("f.yaml: line 3, column 1: ", kMessage));
  EXPECT_THAT(Jsons("a: 1\n...\n---\nb: 2\n"), ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_THAT(Jsons("--- {a: 1}\n--- {b: 2}\n"), ElementsAre(R"({"a":1})", R"({"b":2})"));
}

TEST(ManifestTest, JsonErrorsOfJsonFiles) {
  EXPECT_EQ(Error("{\"a\": 1,\n \"b\" 2}", "f.json"), "f.json: line 2, column 6: expected ':'");
  EXPECT_EQ(Error("{\"a\": [1, 2", "f.json"),
            "f.json: line 1, column 12: expected ',' or ']', not the end of the text");
  EXPECT_THAT(Error("{\"a\": 1,}", "f.json"), HasSubstr("line 1, column 9"));
  EXPECT_THAT(Error("{\"a\": 01}", "f.json"), HasSubstr("line 1, column 7"));
  EXPECT_THAT(Error("{\"a\": 1e999}", "f.json"), HasSubstr("the number is out of range"));
  EXPECT_THAT(Error("{\"a\": \"\\ud800\"}", "f.json"), HasSubstr("surrogate"));
  EXPECT_THAT(Error("{\"a\": \"x\ny\"}", "f.json"), HasSubstr("control characters"));
  EXPECT_THAT(Error("{\"a\": tru}", "f.json"), HasSubstr("expected a value"));
  // YAML that begins like JSON is YAML.
  EXPECT_THAT(Jsons("{a: 1, b: [x,],}"), ElementsAre(R"({"a":1,"b":["x"]})"));
}

TEST(MixedManifestTest, FilesThatAreNoObjectsAreTakenAsTheyAre) {
  const std::string rec = "# what is trained\ntrain:\n  engine: cluster\n";
  const auto alone = ReadMixedManifest(rec, "config.yaml");
  ASSERT_THAT(alone, IsOk());
  ASSERT_EQ(alone->size(), 1u);
  EXPECT_EQ((*alone)[0].text, rec) << "comments and all";
  EXPECT_EQ((*alone)[0].document.json, R"({"train":{"engine":"cluster"}})");
  EXPECT_EQ((*alone)[0].document.Find("train.engine"), (TextPosition{3, 3}));
  const auto beside =
      ReadMixedManifest(rec + "---\napiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}]\n", "all.yaml");
  ASSERT_THAT(beside, IsOk());
  ASSERT_EQ(beside->size(), 2u);
  EXPECT_EQ((*beside)[0].text, "") << "its file has more";
  EXPECT_EQ((*beside)[1].document.kind, "Pod");
  EXPECT_THAT(ReadMixedManifest("\xff", "f.yaml"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

// "1:1 a Pod", "3:1 the key ..." of each document.
std::vector<std::string> Each(const std::string& text, const std::string& source = "f.yaml",
                              const ManifestLimits& limits = {}) {
  const auto documents = ReadMixedManifest(text, source, limits);
  EXPECT_THAT(documents, IsOk());
  std::vector<std::string> out;
  if (!documents.ok()) return out;
  for (const MixedDocument& one : *documents) {
    const TextPosition at = one.document.Find("");
    const std::string what =
        one.document.refusal.empty() ? absl::StrCat(one.document.kind, " ", one.document.name) : one.document.refusal;
    out.push_back(absl::StrCat(at.line, ":", at.column, " ", what));
  }
  return out;
}

TEST(MixedManifestTest, ARefusedDocumentStandsAmongTheOthers) {
  const std::string a = "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n",
                    b = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n";
  const auto between = [&](const std::string& document) {
    const std::vector<std::string> all = Each(absl::StrCat(a, document, b));
    EXPECT_EQ(all.size(), 3u) << document;
    if (all.size() != 3) return std::string();
    EXPECT_EQ(all[0], "1:1 Pod a");
    EXPECT_THAT(all[2], ::testing::EndsWith("Pod b"));
    return all[1];
  };
  EXPECT_EQ(between("a: 1\na: 2\n"), "4:1 the key \"a\" stands twice in one map, first in line 3; remove one");
  EXPECT_EQ(between("x: {<<: {a: b}}\n"), "3:5 merge keys (<<) are not supported; write the fields out");
  EXPECT_EQ(between("a: &a [*a]\n"), "3:8 an alias to a value that contains it never ends; write the value out");
  EXPECT_EQ(between("a: [*b]\n"), "3:5 an alias without its anchor");
  EXPECT_EQ(between("- 1\n"), "3:1 a document must be a map with apiVersion and kind");
  EXPECT_EQ(between("text\n"), "3:1 a document must be a map with apiVersion and kind");
  EXPECT_EQ(between("kind: Pod\n"), "3:1 apiVersion is missing; say what the document is");
  EXPECT_EQ(between("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}, {a: b}]\n"),
            "5:38 apiVersion is missing; say what the document is");
  EXPECT_THAT(between("a: !x 1\n"), StartsWith("3:4 the tag !x means nothing"));
  EXPECT_THAT(between("? [a]\n: b\n"), StartsWith("3:3 a key must be a word"));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i)
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, ", *a", i - 1, ", *a", i - 1, ", *a", i - 1,
                    "]\n");
  EXPECT_THAT(between(bomb), HasSubstr("the document is more than 3145728 bytes"));
}

TEST(MixedManifestTest, TextThatIsNoYamlEndsTheSourceAndWhatStandsBeforeItDoesNotGetLost) {
  const std::string a = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
  EXPECT_THAT(Each(absl::StrCat(a, "---\nkind: [\n---\n", a)), ElementsAre("1:1 Pod a", StartsWith("6:1 ")));
  EXPECT_THAT(Each(absl::StrCat("a: 1\na: 2\n---\n", a, "---\n\"x\n")),
              ElementsAre(StartsWith("2:1 the key"), "4:1 Pod a", StartsWith("8:1 ")));
  const std::string deep(100'000, '[');
  EXPECT_THAT(Each(absl::StrCat(a, "---\nb: ", deep, "\n---\n", a)),
              ElementsAre("1:1 Pod a", StartsWith("5:103 more than 100 maps")));
  EXPECT_THAT(Each(absl::StrCat(a, "---\nb: 1\nb: ", deep, "\n")),
              ElementsAre("1:1 Pod a", StartsWith("6:1 the key"), StartsWith("6:104 more than 100 maps")));
  const std::string json = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"j"}})";
  EXPECT_THAT(Each(absl::StrCat(json, "\n", R"({"a":1,"a":2})", "\n", json)),
              ElementsAre("1:1 Pod j", StartsWith("2:8 the key")));
  EXPECT_THAT(Each(absl::StrCat(json, "\n{\"a\"\n"), "f.json"),
              ElementsAre("1:1 Pod j", StartsWith("3:1 expected ':'")));
  EXPECT_THAT(Each(absl::StrCat(R"({"a":1,"a":2})", "\n---\n", json)),
              ElementsAre(StartsWith("1:8 the key"), "3:1 Pod j"));
}

TEST(MixedManifestTest, WhatAsksForTooMuchAgainAndAgainIsNotReadOn) {
  const ManifestLimits limits{.max_nodes = 8};
  std::string text;
  for (int i = 0; i < 30; ++i) absl::StrAppend(&text, "[1,2,3,4,5,6,7,8,9]\n---\n");
  const std::vector<std::string> each = Each(text, "f.yaml", limits);
  EXPECT_EQ(each.size(), 10u);
  EXPECT_THAT(each, ::testing::Contains(HasSubstr("what stands behind it is not read")).Times(1));
  EXPECT_EQ(Each("x: &x [1, 2, 3]\ny: [*x, *x]\n---\na: 1\n", "f.yaml", limits).size(), 2u)
      << "a refused document costs the others nothing";
}

}  // namespace
}  // namespace gangway::api
