// The examples of this project and the manifests of paddle-operator's and Kubeflow's guides: each is translated as it
// stands, what comes out is what an API server with Volcano would take, and the job runs to Completed in the embedded
// cluster.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "base/strings.h"
#include "cmd/translate/object_check.h"
#include "cmd/validate/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/translator/examples/embedded_cluster.h"
#include "translator/files/manifest.h"

namespace gangway::convert {
namespace {

using ::testing::IsEmpty;

struct Example {
  const char* file;
  const char* said;       // codes, for a Job that no controller of ours keeps
  const char* etcd = "";  // --elastic-etcd
};
// Everything is told of a restart, so that goes without saying.
const Example kExamples[] = {
    {"examples/paddle/ps.yaml", "W-CLEAN"},
    {"examples/paddle/gloo.yaml", ""},
    {"examples/paddle/collective.yaml", ""},
    {"examples/paddle/single.yaml", ""},
    {"examples/paddle/heter.yaml", ""},
    {"examples/paddle/elastic.yaml", ""},
    {"examples/paddle/host.yaml", ""},
    {"examples/paddle/kubeflow.yaml", ""},
    {"examples/paddle/multi-gpu.yaml", ""},
    {"examples/paddle-operator/wide_and_deep.yaml", "W-CLEAN"},
    {"examples/paddle-operator/wide_and_deep_podip.yaml", "W-CLEAN"},
    {"examples/paddle-operator/wide_and_deep_service.yaml", "I-INTRANET W-CLEAN"},
    {"examples/paddle-operator/wide_and_deep_volcano.yaml", "W-CLEAN"},
    {"examples/paddle-operator/resnet.yaml", "W-CLEAN"},
    {"examples/paddle-operator/storage.yaml", "W-CLEAN"},
    {"tests/golden/paddle/guide/wide-and-deep.yaml", "W-CLEAN"},
    {"tests/golden/paddle/guide/wide-and-deep-service.yaml", "I-INTRANET W-CLEAN"},
    {"tests/golden/paddle/guide/resnet.yaml", "W-CLEAN"},
    {"tests/golden/paddle/guide/resnet-host.yaml", "W-CLEAN"},
    {"tests/golden/paddle/guide/elastic.yaml", "W-CLEAN", "etcd.infra:2379"},
    {"tests/golden/paddle/guide/volcano.yaml", "W-CLEAN"},
    {"tests/golden/paddle/guide/volcano-podgroup.yaml", "W-CLEAN W-PG-DROPPED"},
    {"tests/golden/paddle/guide/storage.yaml", "W-CLEAN W-DEPRECATED"},
    {"tests/golden/paddle/guide/deepfm.yaml", "I-INTRANET W-CLEAN W-ENUM"},
    {"tests/golden/paddle/guide/kubeflow-gpu.yaml", "W-SHM"},
};

TranslateOptions For(Target target, bool kept = false) {
  TranslateOptions out;
  out.target = target;
  out.kept = kept;
  return out;
}

// As `gangway translate` reads and writes them.
class PaddleExamplesTest : public ::testing::TestWithParam<Example> {
 protected:
  PaddleExamplesTest() {
    auto documents =
        api::ReadMixedManifest(testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR, "/", GetParam().file)), GetParam().file);
    EXPECT_TRUE(documents.ok()) << documents.status();
    if (documents.ok()) documents_ = *std::move(documents);
  }
  ManifestTranslation Translated(TranslateOptions options) const {
    static const TypeCheck check = cmd::CheckTypes;
    options.elastic_etcd = GetParam().etcd;
    return TranslateManifest(documents_, options, check);
  }

  std::vector<api::MixedDocument> documents_;
};

TEST_P(PaddleExamplesTest, IsTranslatedAsItStands) {
  const ManifestTranslation out = Translated(For(Target::kGangway));
  std::vector<std::string> said;
  for (const PlacedFinding& placed : out.findings) said.emplace_back(EntryOf(placed.finding.code).name);
  std::sort(said.begin(), said.end());
  EXPECT_EQ(absl::StrJoin(said, " "), GetParam().said);
  EXPECT_EQ(out.jobs, 1u);
  EXPECT_EQ(out.refused, 0u);
}

TEST_P(PaddleExamplesTest, WhatComesOutIsValid) {
  for (const TranslateOptions& options : {For(Target::kGangway), For(Target::kGangway, true), For(Target::kVolcano)}) {
    for (const ManifestObject& object : Translated(options).objects) {
      const auto documents = api::ReadMixedManifest(object.json, "translated");
      ASSERT_TRUE(documents.ok()) << documents.status();
      const cmd::Validation validation = cmd::Validate(*documents);
      EXPECT_THAT(validation.findings, IsEmpty()) << cmd::ValidationText(validation) << object.json;
    }
  }
}

class PaddleExamplesInTheSandboxTest : public PaddleExamplesTest {
 protected:
  const api::ManifestDocument& job() const {
    return std::find_if(documents_.begin(), documents_.end(),
                        [](const api::MixedDocument& one) { return one.document.kind == "PaddleJob"; })
        ->document;
  }
  std::string ns() const { return job().ns.empty() ? "default" : job().ns; }
  void MakeNamespace() {
    if (ns() == "default") return;
    EXPECT_EQ(
        cluster_.Create(absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", ns(), "\"}}")),
        "");
  }

  testutil::EmbeddedCluster cluster_{"nvidia.com/gpu=8,label:disk=ssd", {"worker=5s"}, {}};
};

TEST_P(PaddleExamplesInTheSandboxTest, TheTranslatedJobCompletes) {
  MakeNamespace();
  for (const ManifestObject& object : Translated(For(Target::kGangway)).objects)
    EXPECT_EQ(cluster_.Create(object.json, ns()), "");
  const auto phase = [&] { return cluster_.At(api::kJobs, job().name, "/status/state/phase", ns()); };
  EXPECT_TRUE(cluster_.Until([&] { return phase() == "Completed"; })) << "it is " << phase();
}

TEST_P(PaddleExamplesInTheSandboxTest, ThePaddleJobCompletes) {
  MakeNamespace();
  for (const api::MixedDocument& one : documents_) EXPECT_EQ(cluster_.Create(one.document.json, ns()), "");
  const bool kubeflow = job().api_version == "kubeflow.org/v1";
  const api::Resource& resource = *api::FindKind(job().api_version, job().kind);
  const auto phase = [&] {
    if (!kubeflow) return cluster_.At(resource, job().name, "/status/phase", ns());
    const boost::json::value conditions = cluster_.Get(resource, job().name, ns());
    const boost::json::value* const status = conditions.as_object().if_contains("status");
    const boost::json::value* const all = status == nullptr ? nullptr : status->as_object().if_contains("conditions");
    return all == nullptr || all->as_array().empty() ? std::string()
                                                     : std::string(all->as_array().back().at("type").as_string());
  };
  // Nobody tells this controller of an etcd.
  const bool lacks_etcd = *GetParam().etcd != '\0';
  const std::string end = lacks_etcd ? "Failed" : kubeflow ? "Succeeded" : "Completed";
  EXPECT_TRUE(cluster_.Until([&] { return phase() == end; })) << "it is " << phase();
  if (lacks_etcd) {
    EXPECT_THAT(cluster_.At(resource, job().name, "/status/message", ns()), ::testing::HasSubstr("E-ELASTIC"));
  }
}

std::string NameOf(const ::testing::TestParamInfo<Example>& info) {
  const std::filesystem::path path(info.param.file);
  std::string out = path.parent_path().filename().string() + path.stem().string();
  std::erase(out, '-');
  return out;
}
INSTANTIATE_TEST_SUITE_P(Examples, PaddleExamplesTest, ::testing::ValuesIn(kExamples), NameOf);
INSTANTIATE_TEST_SUITE_P(Examples, PaddleExamplesInTheSandboxTest, ::testing::ValuesIn(kExamples), NameOf);

TEST(PaddleExamplesListTest, TheGalleryTellsOfEach) {
  const std::filesystem::path examples = GW_SOURCE_DIR "/examples";
  const std::string gallery = testutil::ReadFile(examples / "README.md");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(examples)) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_THAT(gallery, ::testing::HasSubstr(entry.path().lexically_relative(examples).string()));
  }
}

TEST(PaddleExamplesListTest, EachFileIsThere) {
  for (const char* const folder : {"examples/paddle", "examples/paddle-operator", "tests/golden/paddle/guide"}) {
    for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(GW_SOURCE_DIR, "/", folder))) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string file = absl::StrCat(folder, "/", entry.path().filename().string());
      EXPECT_TRUE(std::any_of(std::begin(kExamples), std::end(kExamples), [&](const Example& e) {
        return e.file == file;
      })) << file;
    }
  }
}

}  // namespace
}  // namespace gangway::convert
