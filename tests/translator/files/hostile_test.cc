// Inputs that are wrong, by accident or on purpose: there is an answer with code, path and line, and nothing half done
// comes out.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/strings.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "cmd/validate/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"
#include "translator/files/manifest.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const TypeCheck& Check() {
  static const TypeCheck check = cmd::CheckTypes;
  return check;
}

struct BadJob {
  const char* name;
  const char* spec;  // "T" stands for a template
  const char* told;  // begins a line of the findings, after the file's name
};

class BadJobTest : public ::testing::TestWithParam<BadJob> {};

TEST_P(BadJobTest, IsAnsweredWithCodePathAndLine) {
  std::string spec = GetParam().spec;
  for (std::size_t at = 0; (at = spec.find("template: T", at)) != std::string::npos;)
    spec.replace(at, 11, "template: {spec: {containers: [{name: p, image: i}]}}");
  const std::string text = absl::StrCat(
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata:\n  name: wd\nspec:\n", spec, "\n");
  const auto documents = api::ReadMixedManifest(text, "f.yaml");
  ASSERT_THAT(documents, testutil::IsOk());
  const ManifestTranslation translation = TranslateManifest(*documents, {}, Check());
  const std::string findings = cmd::TranslationFindings(translation);
  EXPECT_THAT(absl::StrCat("\n", findings), HasSubstr(absl::StrCat("\nf.yaml:", GetParam().told)));
  EXPECT_EQ(translation.objects.empty(), absl::StrContains(GetParam().told, ": E-")) << findings;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadJobTest,
    ::testing::Values(
        BadJob{"NoRole", "  intranet: PodIP", "5:1: E-EMPTY spec: "},
        BadJob{"NoPods", "  ps: {replicas: 0, template: T}\n  worker: {replicas: 0, template: T}",
               "5:1: E-EMPTY spec: "},
        BadJob{"RoleOfNoPods", "  ps: {replicas: 0, template: T}\n  worker: {replicas: 1, template: T}",
               "6:8: W-ZERO-REPLICAS spec.ps.replicas: 0: "},
        BadJob{"NegativeReplicas", "  worker: {replicas: -1, template: T}",
               "6:12: E-REPLICAS spec.worker.replicas: Invalid value: -1: "},
        BadJob{"ReplicasOutOfRange", "  worker: {replicas: 3000000000, template: T}",
               "6:12: E-TYPE spec.worker.replicas: "},
        BadJob{"ReplicasThatAreText", "  worker: {replicas: \"2\", template: T}",
               "6:12: E-TYPE spec.worker.replicas: "},
        BadJob{"NoReplicas", "  worker: {template: T}", "6:3: E-REFUSED spec.worker.replicas: Required value"},
        BadJob{"ARoleThatIsAList", "  worker: []", "6:3: E-TYPE spec.worker: "},
        BadJob{"NoTemplate", "  worker: {replicas: 1}", "6:3: E-NO-CONTAINER spec.worker.template"},
        BadJob{"NoContainers", "  worker: {replicas: 1, template: {spec: {containers: []}}}",
               "6:43: E-NO-CONTAINER spec.worker.template.spec.containers"},
        BadJob{"UnknownIntranet", "  intranet: Hosts\n  worker: {replicas: 1, template: T}",
               "6:3: W-ENUM spec.intranet: \"Hosts\": "},
        BadJob{"TooManyInTheGang", "  schedulingPolicy: {minAvailable: 5}\n  worker: {replicas: 1, template: T}",
               "6:22: E-MIN-AVAILABLE spec.schedulingPolicy.minAvailable: Invalid value: 5: "},
        BadJob{"AQuantityOutOfRange",
               "  worker: {replicas: 1, template: {spec: {containers: [{name: p, image: i, resources: {limits: {cpu: "
               "1e99999}}}]}}}",
               "6:97: E-"},
        BadJob{"AQuantityThatIsNone",
               "  worker: {replicas: 1, template: {spec: {containers: [{name: p, image: i, resources: {limits: {cpu: "
               "lots}}}]}}}",
               "6:97: E-"},
        BadJob{"HeterAlone", "  heter: {replicas: 1, template: T}", "6:3: E-HETER spec.heter"},
        BadJob{"ElasticWithoutEtcd", "  elastic: 1\n  worker: {replicas: 1, template: T}",
               "6:3: E-ELASTIC spec.elastic: "}),
    [](const auto& c) { return c.param.name; });

TEST(BadNameTest, SaysWhatWouldFit) {
  const std::string text =
      absl::StrCat("apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata:\n  name: ", std::string(58, 'a'),
                   "\nspec: {worker: {replicas: 200, template: {spec: {containers: [{name: p, image: i}]}}}}\n");
  const ManifestTranslation translation = TranslateManifest(*api::ReadMixedManifest(text, "f.yaml"), {}, Check());
  EXPECT_THAT(cmd::TranslationFindings(translation), StartsWith("f.yaml:4:3: E-NAME-LENGTH metadata.name: "));
  EXPECT_TRUE(translation.objects.empty());
}

TEST(BadFileTest, LargeAndEndlessOnesAreAnsweredSoon) {
  const auto told = [](const std::string& text) {
    const auto documents = api::ReadMixedManifest(text, "f.yaml");
    return documents.ok() ? cmd::TranslationFindings(TranslateManifest(*documents, {}, Check()))
                          : std::string(documents.status().message());
  };
  EXPECT_THAT(told(absl::StrCat("train: {engine: \"", std::string(10 << 20, 'x'), "\"}\n")),
              AllOf(StartsWith("f.yaml:1:"), HasSubstr(": E-YAML Forbidden: the document is ")));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i)
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, ", *a", i - 1, ", *a", i - 1, ", *a", i - 1,
                    "]\n");
  EXPECT_THAT(told(bomb), AllOf(StartsWith("f.yaml:"), HasSubstr(": E-YAML Forbidden: ")));
}

std::vector<std::string> Seeds() {
  std::vector<std::string> texts;
  for (const char* folder : {"/tests/golden/paddle/guide", "/examples/paddle"}) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(GW_SOURCE_DIR, folder))) {
      if (entry.path().extension() == ".yaml") files.insert(entry.path().string());
    }
    for (const std::string& file : files) texts.push_back(testutil::ReadFile(file));
  }
  texts.push_back(absl::StrCat(testutil::ReadFile(GW_SOURCE_DIR "/examples/paddlerec/backend.yaml"), "---\n",
                               testutil::ReadFile(GW_SOURCE_DIR "/examples/paddlerec/config.yaml")));
  return texts;
}

// Whatever the text: the same answer twice, and what comes out passes validation.
void ExpectAnswer(const std::string& text, const TranslateOptions& options) {
  api::ManifestLimits limits;
  limits.max_nodes = 20'000;
  const auto documents = api::ReadMixedManifest(text, "f.yaml", limits);
  if (!documents.ok()) {
    EXPECT_THAT(std::string(documents.status().message()), StartsWith("f.yaml: "));
    return;
  }
  const ManifestTranslation translation = TranslateManifest(*documents, options, Check());
  const std::string yaml = cmd::TranslationYaml(translation), findings = cmd::TranslationFindings(translation);
  const ManifestTranslation again = TranslateManifest(*documents, options, Check());
  EXPECT_EQ(cmd::TranslationYaml(again), yaml);
  EXPECT_EQ(cmd::TranslationFindings(again), findings);
  std::set<std::size_t> refused;
  for (const PlacedFinding& placed : translation.findings) {
    EXPECT_GE(placed.at.line, 1) << placed.ToString();
    if (placed.finding.level() == Level::kError) refused.insert(placed.input);
  }
  std::vector<api::MixedDocument> made;
  for (const ManifestObject& object : translation.objects) {
    EXPECT_EQ(refused.count(object.input), 0u)
        << "something came out of a document with an error: " << object.json << "\n"
        << findings;
    if (!object.made) continue;
    auto read = api::ReadMixedManifest(api::YamlOf(object.json, api::KeyOrder::kAsWritten, object.comments).value(),
                                       "out.yaml");
    ASSERT_THAT(read, testutil::IsOk());
    ASSERT_EQ(*api::ParseJson((*read)[0].document.json), *api::ParseJson(object.json));
    made.push_back((*read)[0]);
  }
  const cmd::Validation verdict = cmd::Validate(made);
  for (const cmd::Finding& finding : verdict.findings)
    EXPECT_NE(finding.level(), Level::kError) << cmd::ValidationText(verdict) << findings;
}

int Rounds(int few) { return std::getenv("GW_TEST_LONG") != nullptr ? few * 50 : few; }

TEST(DamagedInputTest, RandomDamageToTheText) {
  const std::vector<std::string> seeds = Seeds();
  for (int round = 0; round < Rounds(600); ++round) {
    std::mt19937 random(static_cast<std::uint32_t>(round));
    std::string text = seeds[random() % seeds.size()];
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0:
          text[at] = static_cast<char>(32 + random() % 95);
          break;
        case 1:
          text.erase(at, 1 + random() % 12);
          break;
        case 2:
          text.insert(at, 1, "{}[]:,-&*!|>'\"%@`#\n\t \\?~0"[random() % 26]);
          break;
        case 3:
          text.insert(at, text.substr(random() % text.size(), random() % 60));
          break;
        case 4:
          text.insert(text.find('\n', at) == std::string::npos ? 0 : text.find('\n', at) + 1,
                      text.substr(random() % text.size(), random() % 60));
          break;
      }
      if (text.empty()) text = "a";
    }
    ExpectAnswer(
        text, {.target = static_cast<Target>(random() % 3), .strict = random() % 4 == 0, .elastic_etcd = "etcd:2379"});
    if (::testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << text;
  }
}

// Replaces one value, anywhere, by one that does not belong there.
void Spoil(json::value& value, std::mt19937& random) {
  std::vector<json::value*> places;
  const auto collect = [&places](auto&& self, json::value& at) -> void {
    places.push_back(&at);
    if (json::object* const object = at.if_object()) {
      for (json::key_value_pair& member : *object) self(self, member.value());
    } else if (json::array* const list = at.if_array()) {
      for (json::value& element : *list) self(self, element);
    }
  };
  collect(collect, value);
  static const std::vector<json::value> kOdd{nullptr,
                                             true,
                                             0,
                                             1,
                                             -1,
                                             2147483647,
                                             2147483648,
                                             1e300,
                                             "",
                                             " ",
                                             "Always",
                                             "1e99999",
                                             "-1",
                                             "a.b",
                                             "volcano",
                                             "训练",
                                             json::string(70, 'x'),
                                             json::string(140000, 'y'),
                                             json::array{},
                                             json::object{},
                                             json::array{nullptr},
                                             json::object{{"a", nullptr}}};
  json::value& place = *places[random() % places.size()];
  place = random() % 8 == 0 ? json::value(*places[random() % places.size()]) : kOdd[random() % kOdd.size()];
}

TEST(DamagedInputTest, ValuesThatDoNotBelong) {
  const std::vector<std::string> seeds = Seeds();
  for (int round = 0; round < Rounds(1'200); ++round) {
    std::mt19937 random(static_cast<std::uint32_t>(round));
    std::string text;
    const auto documents = api::ReadDocuments(seeds[random() % seeds.size()], "seed.yaml");
    ASSERT_THAT(documents, testutil::IsOk());
    for (const api::ManifestDocument& document : *documents) {
      json::value value = *api::ParseJson(document.json);
      for (std::size_t n = 1 + random() % 3; n > 0; --n) Spoil(value, random);
      absl::StrAppend(&text, api::ToJson(value), "\n");
    }
    ExpectAnswer(
        text, {.target = static_cast<Target>(random() % 3), .strict = random() % 4 == 0, .elastic_etcd = "etcd:2379"});
    if (::testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << text.substr(0, 5000);
  }
}

}  // namespace
}  // namespace gangway::convert
