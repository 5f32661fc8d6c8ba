// `gangway extender` beside Volcano's scheduler: what the components of each mode make of Volcano's own manifests.
#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/deploy/volcano/manifests.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kStock[] = GW_SOURCE_DIR "/tests/deploy/volcano/stock";

class ExtenderComponentTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
    stock_ = Read(RenderedFolder(kStock), "stock");
    const auto from_here = [&](const std::string& to) {
      return std::filesystem::relative(to, std::filesystem::canonical(folder_.path())).string();
    };
    WriteFile(folder_.path() + "/kustomization.yaml",
              absl::StrCat("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [",
                           from_here(kStock), "]\ncomponents: [", from_here(Component()), "]\n"));
    beside_ = Read(RenderedFolder(folder_.path()), GetParam());
    ASSERT_EQ(beside_.size(), stock_.size());
  }
  std::string Component() const { return kDeploy + "/components/volcano-extender/" + GetParam(); }
  std::string ConfFile() const { return Component() + "/volcano-scheduler.conf"; }
  static value& Named(std::vector<value>& documents, const std::string& name) {
    return *std::find_if(documents.begin(), documents.end(), [&](const value& d) { return NameOf(d) == name; });
  }
  static boost::json::array& Containers(value& deployment) {
    return deployment.at("spec").at("template").at("spec").at("containers").as_array();
  }
  value Sidecar() {
    for (const value& one : Containers(Named(beside_, kScheduler))) {
      if (TextAt(one, "/name") == "gangway-extender") return one;
    }
    return {};
  }
  const std::string kScheduler = "Deployment volcano-system/volcano-scheduler",
                    kConf = "ConfigMap volcano-system/volcano-scheduler-configmap";

  TemporaryFolder folder_{"extender-component"};
  std::vector<value> stock_, beside_;
};
INSTANTIATE_TEST_SUITE_P(All, ExtenderComponentTest, ::testing::Values("light", "steer", "full"),
                         [](const auto& mode) { return mode.param; });

TEST_P(ExtenderComponentTest, AllThatIsChangedIsOneContainerMoreAndTheConfiguration) {
  EXPECT_EQ(TextAt(Named(beside_, kConf), "/data/volcano-scheduler.conf"), ReadFile(ConfFile()));
  boost::json::array& containers = Containers(Named(beside_, kScheduler));
  EXPECT_EQ(containers.size(), 2u);
  // The way back: without both everything is as it was.
  containers.erase(std::find_if(containers.begin(), containers.end(),
                                [](const value& one) { return TextAt(one, "/name") == "gangway-extender"; }));
  Named(beside_, kConf) = Named(stock_, kConf);
  for (const value& document : stock_) EXPECT_EQ(Named(beside_, NameOf(document)), document) << NameOf(document);
}

TEST_P(ExtenderComponentTest, TheSidecarIsARestrictedOneOfThisVersion) {
  const value sidecar = Sidecar();
  EXPECT_EQ(At(sidecar, "/securityContext/runAsNonRoot"), value(true));
  EXPECT_EQ(At(sidecar, "/securityContext/allowPrivilegeEscalation"), value(false));
  EXPECT_EQ(At(sidecar, "/securityContext/readOnlyRootFilesystem"), value(true));
  EXPECT_EQ(TextsAt(sidecar, "/securityContext/capabilities/drop"), std::vector<std::string>{"ALL"});
  EXPECT_EQ(TextAt(sidecar, "/securityContext/seccompProfile/type"), "RuntimeDefault");
  EXPECT_FALSE(TextAt(sidecar, "/resources/limits/memory").empty());
  const std::vector<std::string> words = absl::StrSplit(RunProgram({GW_GANGWAY, "version"}).out, ' ');
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(TextAt(sidecar, "/image"), absl::StrCat("gangway:", absl::StripSuffix(words[1], "\n")));
  // Volcano's own ports of the same pod: metrics and healthz.
  for (const char* taken : {":8080", ":11251"}) EXPECT_THAT(TextsAt(sidecar, "/args"), Not(Contains(HasSubstr(taken))));
  EXPECT_EQ(TextAt(sidecar, "/ports/0/name"), TextAt(sidecar, "/livenessProbe/httpGet/port"));
}

// Flags are read before the file that is missing here.
TEST_P(ExtenderComponentTest, TheProgramTakesEveryFlagAndListensWhereItIsAsked) {
  std::vector<std::string> argv = TextsAt(Sidecar(), "/args");
  EXPECT_THAT(argv, Contains("--mode=" + GetParam()));
  EXPECT_THAT(argv, Contains("--http-listen=127.0.0.1:9444"));
  EXPECT_THAT(ReadFile(ConfFile()), HasSubstr("extender.urlPrefix: http://127.0.0.1:9444\n"));
  argv.insert(argv.begin(), GW_GANGWAY);
  const Outcome outcome = RunProgram(argv);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--scheduler-conf: /volcano.scheduler/volcano-scheduler.conf"),
                                 Not(HasSubstr("--help"))));
}

TEST_P(ExtenderComponentTest, DoctorFindsNothingInItsConfiguration) {
  const Outcome doctor = RunProgram({GW_GANGWAY, "doctor", "--scheduler-conf", ConfFile()});
  EXPECT_EQ(doctor.out, "nothing was found\n");
  EXPECT_EQ(doctor.exit_code, 0);
  const std::string broken = folder_.path() + "/broken.conf";
  WriteFile(broken,
            absl::StrReplaceAll(ReadFile(ConfFile()), {{"extender.jobEnqueueableVerb", "extender.jobEnqueueable"}}));
  const Outcome told = RunProgram({GW_GANGWAY, "doctor", "--scheduler-conf", broken});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.out, HasSubstr("D-EXTENDER-ARGUMENT " + broken + ":"));
}

TEST_P(ExtenderComponentTest, AConfigurationOfOnesOwnReplacesIt) {
  WriteFile(
      folder_.path() + "/mine.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: volcano-scheduler-configmap, namespace: volcano-system}\n"
      "data: {volcano-scheduler.conf: \"actions: mine\\n\"}\n");
  WriteFile(folder_.path() + "/kustomization.yaml",
            ReadFile(folder_.path() + "/kustomization.yaml") + "patches: [{path: mine.yaml}]\n");
  beside_ = Read(RenderedFolder(folder_.path()), GetParam());
  EXPECT_EQ(TextAt(Named(beside_, kConf), "/data/volcano-scheduler.conf"), "actions: mine\n");
  EXPECT_THAT(TextsAt(Sidecar(), "/args"), Contains("--mode=" + GetParam()));
}

// Volcano's own chart: what Helm has rendered goes in, and what it installs comes out.
TEST_P(ExtenderComponentTest, HelmsPostRendererMakesTheSame) {
  const std::string renderer = kDeploy + "/components/volcano-extender/post-renderer";
  const std::string rendered = ReadFile(std::string(kStock) + "/volcano.yaml");
  const Outcome plain = RunProgram({renderer, GetParam()}, {}, rendered);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  std::vector<value> made = Read(plain.out, "post-renderer");
  ASSERT_EQ(made.size(), beside_.size());
  for (const value& document : beside_) EXPECT_EQ(Named(made, NameOf(document)), document) << NameOf(document);
  // and a configuration of one's own
  WriteFile(
      folder_.path() + "/mine.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: volcano-scheduler-configmap, namespace: volcano-system}\n"
      "data: {volcano-scheduler.conf: \"actions: mine\\n\"}\n");
  const Outcome patched = RunProgram({renderer, GetParam(), folder_.path() + "/mine.yaml"}, {}, rendered);
  ASSERT_EQ(patched.exit_code, 0) << patched.err;
  made = Read(patched.out, "post-renderer");
  EXPECT_EQ(TextAt(Named(made, kConf), "/data/volcano-scheduler.conf"), "actions: mine\n");
  EXPECT_EQ(Containers(Named(made, kScheduler)).size(), 2u);

  const Outcome wrong = RunProgram({renderer, "heavy"}, {}, rendered);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "post-renderer: heavy is no mode; write light, steer or full\n");
  EXPECT_EQ(RunProgram({renderer, GetParam(), "/there-is-none"}, {}, rendered).exit_code, 2);
}

TEST_P(ExtenderComponentTest, TheConfigurationStandsInTheDocument) {
  EXPECT_THAT(ReadFile(GW_SOURCE_DIR "/docs/extender.md"), HasSubstr("```yaml\n" + ReadFile(ConfFile()) + "```\n"));
}

}  // namespace
}  // namespace gangway::testutil
