// What `gangway translate` makes of each example, for each target, down to the byte. GW_UPDATE_GOLDEN=1 writes the
// files anew, and fails.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "cmd/validate/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/golden.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kGolden = GW_SOURCE_DIR "/tests/golden/translate";

struct Example {
  std::string name;
  std::vector<std::string> files;
};

bool IsInput(const fs::path& path) {
  const std::string stem = path.stem().string();
  return path.extension() == ".yaml" && !absl::EndsWith(stem, ".volcano") && !absl::EndsWith(stem, ".gangway") &&
         !absl::EndsWith(stem, ".kubernetes");
}

// Inputs that stand beside their results, the examples with a PaddleJob, those of the originals' guides, and
// PaddleRec's pair of files.
std::vector<Example> Examples() {
  std::vector<Example> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(kGolden)) {
    if (entry.is_regular_file() && IsInput(entry.path()))
      out.push_back({entry.path().stem().string(), {entry.path().string()}});
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(GW_SOURCE_DIR "/examples")) {
    if (!entry.is_regular_file() || entry.path().extension() != ".yaml") continue;
    if (!absl::StrContains(testutil::ReadFile(entry.path().string()), "kind: PaddleJob")) continue;
    out.push_back({absl::StrCat("example-", entry.path().stem().string()), {entry.path().string()}});
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(GW_SOURCE_DIR "/tests/golden/paddle/guide")) {
    if (entry.path().extension() == ".yaml")
      out.push_back({absl::StrCat("guide-", entry.path().stem().string()), {entry.path().string()}});
  }
  out.push_back({"paddlerec",
                 {GW_SOURCE_DIR "/examples/paddlerec/backend.yaml", GW_SOURCE_DIR "/examples/paddlerec/config.yaml"}});
  std::sort(out.begin(), out.end(), [](const Example& a, const Example& b) { return a.name < b.name; });
  return out;
}

std::vector<api::MixedDocument> Read(const std::string& text, const std::string& source) {
  const auto documents = api::ReadMixedManifest(text, source);
  EXPECT_THAT(documents, testutil::IsOk()) << source;
  return documents.ok() ? *documents : std::vector<api::MixedDocument>();
}

std::vector<api::MixedDocument> Read(const Example& example) {
  std::vector<api::MixedDocument> all;
  for (const std::string& file : example.files) {
    for (api::MixedDocument& document : Read(testutil::ReadFile(file), fs::path(file).filename().string()))
      all.push_back(std::move(document));
  }
  return all;
}

// Each object is of Kubernetes' own, and has no field that its type has not.
void ExpectKnownToKubernetes(const convert::ManifestTranslation& translation) {
  std::size_t jobs = 0;
  for (const convert::ManifestObject& made : translation.objects) {
    const boost::json::value object = *api::ParseJson(made.json);
    const std::string version(object.at("apiVersion").as_string()), kind(object.at("kind").as_string());
    const api::Resource* const resource = api::FindKind(version, kind);
    ASSERT_NE(resource, nullptr) << version << " " << kind;
    if (!made.made) continue;
    EXPECT_EQ(api::RowOf(*resource).origin, api::Origin::kKubernetes) << version << " " << kind;
    const convert::TypeComplaints complaints = CheckTypes(*resource, object);
    EXPECT_THAT(complaints.unknown, IsEmpty()) << made.json;
    EXPECT_THAT(complaints.errors, IsEmpty()) << made.json;
    jobs += resource == &api::kBatchJobs ? 1 : 0;
  }
  EXPECT_GT(jobs, 0u) << TranslationFindings(translation);
}

TEST(TranslateGoldenTest, EachExampleForEachTarget) {
  const convert::TypeCheck check = CheckTypes;
  for (const Example& example : Examples()) {
    SCOPED_TRACE(example.name);
    const std::vector<api::MixedDocument> documents = Read(example);
    for (const convert::Target target :
         {convert::Target::kVolcano, convert::Target::kGangway, convert::Target::kKubernetes}) {
      const convert::ManifestTranslation translation =
          TranslateManifest(documents, {.target = target, .elastic_etcd = "etcd.default:2379"}, check);
      const std::string yaml = TranslationYaml(translation);
      const std::string base = absl::StrCat(kGolden, "/", example.name, ".");
      testutil::ExpectGolden(absl::StrCat(base, std::string(convert::TargetName(target)), ".yaml"), yaml);
      if (target == convert::Target::kVolcano)
        testutil::ExpectGolden(absl::StrCat(base, "stderr"), TranslationFindings(translation));
      if (target == convert::Target::kKubernetes)
        testutil::ExpectGolden(absl::StrCat(base, "kubernetes.stderr"), TranslationFindings(translation));
      const Validation verdict = Validate(Read(yaml, "out.yaml"));
      EXPECT_EQ(verdict.refused, 0u) << ValidationText(verdict);
      if (target == convert::Target::kKubernetes) {
        ExpectKnownToKubernetes(translation);
        continue;  // none of the objects is Volcano's
      }
      EXPECT_GT(verdict.checked, 0u) << "nothing came out:\n" << TranslationFindings(translation);
    }
  }
}

}  // namespace
}  // namespace gangway::cmd
