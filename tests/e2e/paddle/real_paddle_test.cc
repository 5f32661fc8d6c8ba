// Real PaddlePaddle, 2.6.2 for CPUs, trains in the embedded cluster whose containers are processes: what is translated
// for it is what it reads. The package is installed by scripts/install-paddle, outside of the repository; where it
// cannot be had everything here is skipped.
//
// Beside one job of parameter servers (20 s) all is left to a long run.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/sandbox/process/process_cluster.h"
#include "tests/testing/long_test.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::Eventually;
using testutil::RunProgram;

constexpr std::chrono::seconds kTraining{120};

// The folder of PaddlePaddle; "" with the reason in `why` when there is none.
std::string PaddleFolder(const std::string& version, std::string* why) {
  const testutil::Outcome outcome = RunProgram({GW_SOURCE_DIR "/scripts/install-paddle", version});
  *why = outcome.err;
  return outcome.exit_code == 0 ? std::string(absl::StripSuffix(outcome.out, "\n")) : std::string();
}

class RealPaddleTest : public ProcessCluster {
 protected:
  bool StartPaddle(const std::string& version = "2.6.2") {
    python_ = PaddleFolder(version, &why_);
    return !python_.empty() && Start(false, {{"*", python_, true}});
  }
  std::string ExampleText(const std::string& file) {
    return testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR "/examples/train/", file));
  }
  // All objects of a file.
  void Apply(const std::string& text) {
    const auto documents = api::ReadManifest(text, "file");
    ASSERT_TRUE(documents.ok()) << documents.status();
    for (const api::ManifestDocument& document : *documents) {
      const api::Resource* const resource = api::FindKind(document.api_version, document.kind);
      ASSERT_NE(resource, nullptr) << document.kind;
      Make(api::PathOf(*resource, "default"), document.json);
    }
  }
  std::string At(const api::Resource& resource, const std::string& name, const char* pointer) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, "default", name));
    if (!reply.ok()) return "";
    const json::value object = *api::ParseJson(*reply.body);
    boost::system::error_code error;
    const json::value* const at = object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
  }
  std::string JobPhase(const std::string& name) { return At(api::kJobs, name, "/status/state/phase"); }
  bool JobBecomes(const std::string& name, const std::string& phase) {
    return Eventually([&] { return JobPhase(name) == phase; }, kTraining);
  }
  // What every container of the job has written, for a test that fails.
  std::string Everything() {
    std::string out;
    const json::value pods = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : pods.at("items").as_array()) {
      const std::string name = json::value_to<std::string>(pod.at("metadata").at("name"));
      absl::StrAppend(&out, "--- ", name, " ", api::ToJson(pod.at("status")), "\n", Log(name));
    }
    return out;
  }
  std::vector<std::string> PodNames() {
    std::vector<std::string> out;
    const json::value pods = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : pods.at("items").as_array())
      out.push_back(json::value_to<std::string>(pod.at("metadata").at("name")));
    return out;
  }
  // Of the line "done: loss A -> B".
  static std::optional<std::pair<double, double>> Losses(const std::string& log) {
    for (absl::string_view line : absl::StrSplit(log, '\n')) {
      if (!absl::ConsumePrefix(&line, "done: loss ")) continue;
      const std::vector<absl::string_view> parts = absl::StrSplit(line, " -> ");
      std::pair<double, double> out;
      if (parts.size() == 2 && absl::SimpleAtod(parts[0], &out.first) && absl::SimpleAtod(parts[1], &out.second))
        return out;
    }
    return std::nullopt;
  }
  // The job is Completed, both workers saw their loss fall, and the servers went.
  void ExpectTrained(const std::string& job, const std::string& worker = "worker") {
    ASSERT_TRUE(JobBecomes(job, "Completed")) << JobPhase(job) << "\n" << Everything();
    for (const int index : {0, 1}) {
      const std::string pod = absl::StrCat(job, "-", worker, "-", index);
      EXPECT_EQ(Phase(pod), "Succeeded");
      const auto losses = Losses(Log(pod));
      ASSERT_TRUE(losses.has_value()) << Log(pod);
      EXPECT_LT(losses->second, losses->first);
      EXPECT_NEAR(losses->second, AloneLoss(), 0.25) << Log(pod);
    }
    EXPECT_THAT(PodNames(), Not(::testing::Contains(HasSubstr("-ps-")))) << "servers stay";
  }
  // Where the same model ends when one process trains it, on as many batches as each worker.
  double AloneLoss() {
    if (!alone_.has_value()) {
      const std::string code = temporary_.path() + "/train.py";
      const auto documents = api::ReadManifest(ExampleText("ctr-ps.yaml"), "ps.yaml");
      for (const api::ManifestDocument& document : *documents) {
        if (document.kind != "ConfigMap") continue;
        testutil::WriteFile(code,
                            json::value_to<std::string>(api::ParseJson(document.json)->at("data").at("train.py")));
      }
      const testutil::Outcome outcome = RunProgram({python_ + "/bin/python", code}, {"STEPS=400"});
      const auto losses = Losses(outcome.out);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      alone_ = losses.has_value() ? losses->second : 1e9;
    }
    return *alone_;
  }

  std::string python_;
  std::optional<double> alone_;
};

#define PADDLE_OR_SKIP(...) \
  if (!StartPaddle(__VA_ARGS__)) GTEST_SKIP() << why_

TEST_F(RealPaddleTest, ParameterServersTrain) {
  PADDLE_OR_SKIP();
  Apply(ExampleText("ctr-ps.yaml"));
  ExpectTrained("ctr");
}

class RealCollectiveTest : public RealPaddleTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(RealCollectiveTest, WorkersEndWithTheSameWeights) {
  GW_LONG_TEST();
  PADDLE_OR_SKIP();
  Apply(ExampleText(absl::StrCat("linear-", GetParam(), ".yaml")));
  ASSERT_TRUE(JobBecomes("linear", "Completed")) << JobPhase("linear") << "\n" << Everything();
  std::vector<std::string> weights;
  for (const char* const pod : {"linear-worker-0", "linear-worker-1"}) {
    const std::string log = Log(pod);
    const auto losses = Losses(log);
    ASSERT_TRUE(losses.has_value()) << log;
    EXPECT_LT(losses->second, losses->first);
    for (const absl::string_view line : absl::StrSplit(log, '\n'))
      if (absl::StartsWith(line, "weights ")) weights.emplace_back(line);
  }
  ASSERT_EQ(weights.size(), 2u) << Everything();
  EXPECT_EQ(weights[0], weights[1]);
}
INSTANTIATE_TEST_SUITE_P(Dialects, RealCollectiveTest, ::testing::Values("collective", "kubeflow"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
}  // namespace gangway::sandbox
