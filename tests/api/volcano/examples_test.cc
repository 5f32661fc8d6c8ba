// The examples are what they claim to be.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/volcano/admission.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

std::vector<ManifestDocument> Read(const std::string& path) {
  std::ifstream in(GW_SOURCE_DIR "/" + path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  absl::StatusOr<std::vector<ManifestDocument>> documents = ReadManifest(text.str(), path);
  EXPECT_THAT(documents, testutil::IsOk());
  return documents.ok() ? *documents : std::vector<ManifestDocument>();
}

volcano::Verdict Create(const ManifestDocument& document) {
  absl::StatusOr<boost::json::value> object = ParseJson(document.json);
  EXPECT_THAT(object, testutil::IsOk());
  volcano::AdmissionRequest request;
  request.resource = FindKind(document.api_version, document.kind);
  EXPECT_EQ(request.resource, &kJobs);
  return volcano::Admit(request, &*object, [](absl::string_view name) -> std::optional<volcano::QueueFacts> {
    if (name != "default") return std::nullopt;
    return volcano::QueueFacts{"Open", "root", {}, 0};
  });
}

TEST(ExamplesTest, CtrVolcanoIsTheRecordedJob) {
  const std::vector<ManifestDocument> example = Read("examples/ctr-volcano.yaml");
  const std::vector<ManifestDocument> recorded = Read("tests/golden/volcano/seed-ctr-volcano/input.yaml");
  ASSERT_EQ(example.size(), 1u);
  ASSERT_EQ(recorded.size(), 1u);
  EXPECT_EQ(*ParseJson(example[0].json), *ParseJson(recorded[0].json));
  EXPECT_TRUE(Create(example[0]).allowed()) << Create(example[0]).message;
}

// But for its name, its plugins and how its containers learn of each other it is the other one.
TEST(ExamplesTest, CtrPaddlePluginIsCtrVolcanoWithoutCounts) {
  const std::vector<ManifestDocument> example = Read("examples/ctr-paddle-plugin.yaml"),
                                      original = Read("examples/ctr-volcano.yaml");
  ASSERT_EQ(example.size(), 1u);
  EXPECT_TRUE(Create(example[0]).allowed()) << Create(example[0]).message;
  boost::json::value ours = *ParseJson(example[0].json), theirs = *ParseJson(original[0].json);
  EXPECT_TRUE(ours.at("spec").as_object().contains("plugins"));
  ours.at("spec").as_object().erase("plugins");
  for (boost::json::value* const job : {&ours, &theirs}) {
    job->at("metadata").as_object().erase("name");
    for (boost::json::value& task : job->at("spec").at("tasks").as_array()) {
      boost::json::object& container = task.at("template").at("spec").at("containers").at(0).as_object();
      if (job == &ours) {
        for (const boost::json::value& one : container.at("env").as_array()) {
          const std::string name(one.at("name").as_string());
          EXPECT_EQ(name.find("_NUM"), name == "CPU_NUM" ? name.find("_NUM") : std::string::npos) << name;
          EXPECT_EQ(name.find("PORT"), std::string::npos) << name;
        }
      }
      container.erase("env");
      container.erase("command");
    }
  }
  EXPECT_EQ(ours, theirs);
}

TEST(ExamplesTest, TooLargeIsAValidJob) {
  const std::vector<ManifestDocument> example = Read("examples/too-large.yaml");
  ASSERT_EQ(example.size(), 1u);
  EXPECT_EQ(example[0].name, "too-large");
  EXPECT_TRUE(Create(example[0]).allowed()) << Create(example[0]).message;
}

}  // namespace
}  // namespace gangway::api
