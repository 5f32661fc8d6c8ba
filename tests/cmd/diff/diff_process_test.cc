// `gangway diff` as a user runs it, against a `gangway sandbox`.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kJob[] = R"(apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wd, namespace: default}
spec:
  worker:
    replicas: 2
    template: {spec: {containers: [{name: paddle, image: "paddle:2.6", resources: {requests: {cpu: 100m}}}]}}
)";
constexpr char kMap[] =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {epochs: '8'}\n";

class DiffProcessTest : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> args, const std::string& input) const {
    args.insert(args.begin(), GW_GANGWAY);
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + folder_.path()}, input);
  }
  Outcome Diff(const std::string& input, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"diff", "-f", "-", "--kubeconfig", sandbox_.kubeconfig()});
    return Run(more, input);
  }
  // As a user does it: translate | kubectl apply.
  void Apply(const std::string& input) const {
    const Outcome translated = Run({"translate", "-f", "-"}, input);
    ASSERT_EQ(translated.exit_code, 0) << translated.err;
    const Outcome applied = sandbox_.Kubectl({"apply", "-f", "-"}, translated.out);
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }
  static std::string Changed(const std::string& what, const std::string& instead) {
    return absl::StrReplaceAll(kJob, {{what, instead}});
  }

  const TemporaryFolder folder_{"gangway-diff"};
  const SandboxProcess sandbox_{{"--start-delay", "10ms", "--stop-delay", "10ms"}};
};

TEST_F(DiffProcessTest, WhatIsNotThereWouldBeMadeAndWhatIsAppliedIsTheSame) {
  const std::string both = absl::StrCat(kJob, "---\n", kMap);
  const Outcome fresh = Diff(both);
  EXPECT_EQ(fresh.exit_code, 1) << fresh.err;
  EXPECT_THAT(fresh.out,
              AllOf(StartsWith("--- live/Job default/wd\n+++ translated/Job default/wd\n@@ -0,0 +1,"),
                    HasSubstr("\n+  minAvailable: 2\n"), HasSubstr("+++ translated/ConfigMap default/settings\n"),
                    HasSubstr("\n+  epochs: \"8\"\n")));
  Apply(both);
  const Outcome same = Diff(both);
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, IsEmpty());
}

TEST_F(DiffProcessTest, ChangesAreShownAndWhatWouldBeRefusedIsSaid) {
  Apply(kJob);
  const Outcome image = Diff(Changed("paddle:2.6", "paddle:3.0"));
  EXPECT_EQ(image.exit_code, 1);
  EXPECT_THAT(image.out, AllOf(HasSubstr("              image: paddle:2.6\n+"), HasSubstr("image: paddle:3.0\n")));
  EXPECT_THAT(image.err, HasSubstr("gangway diff: Job default/wd: the API server would refuse this: "));
  for (const absl::string_view line : absl::StrSplit(image.out, '\n')) {
    if (absl::StartsWith(line, "-") && !absl::StartsWith(line, "---")) {
      EXPECT_TRUE(absl::StrContains(line, "image: paddle:2.6")) << "what the server adds is no difference: " << line;
    }
  }
  const Outcome priority = Diff(Changed("spec:\n", "spec:\n  schedulingPolicy: {minAvailable: 1}\n"));
  EXPECT_EQ(priority.exit_code, 1);
  EXPECT_THAT(priority.out, AllOf(HasSubstr("\n-  minAvailable: 2\n+  minAvailable: 1\n")));
  EXPECT_THAT(priority.err, Not(HasSubstr("would refuse")));
}

TEST_F(DiffProcessTest, ObjectsThatPassThroughAreComparedAsTheServerWouldMergeThem) {
  Apply(kMap);
  ASSERT_EQ(sandbox_.Kubectl({"patch", "configmap", "settings", "-p", R"({"data":{"theirs":"1"}})"}).exit_code, 0);
  EXPECT_EQ(Diff(kMap).exit_code, 0) << "what others added stays";
  const Outcome changed = Diff(absl::StrReplaceAll(kMap, {{"'8'", "'9'"}}));
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.out, HasSubstr("\n-  epochs: \"8\"\n+  epochs: \"9\"\n"));
  const Outcome unknown = Diff("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: a}}\n");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("gangway diff: PyTorchJob a: "));
}

TEST_F(DiffProcessTest, APodGroupInTheWayIsAnError) {
  const std::string group =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: wd, namespace: default}\nspec: "
      "{minMember: 2}\n";
  ASSERT_EQ(sandbox_.Kubectl({"apply", "-f", "-"}, group).exit_code, 0);
  const Outcome outcome = Diff(kJob);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("gangway diff: Job default/wd: E-PG-CLASH "));
  EXPECT_THAT(Diff(kJob, {"--target=gangway"}).err, Not(HasSubstr("E-PG-CLASH")));
}

TEST_F(DiffProcessTest, AJobThatTheControllerKeepsIsComparedWithWhatItWouldMake) {
  ASSERT_EQ(sandbox_.Kubectl({"apply", "-f", "-"}, kJob).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return sandbox_.Kubectl({"get", "vcjob", "wd"}).exit_code == 0; }));
  const Outcome same = Diff(kJob);
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  const Outcome more = Diff(Changed("replicas: 2", "replicas: 3"));
  EXPECT_EQ(more.exit_code, 1);
  EXPECT_THAT(more.out,
              AllOf(HasSubstr("-  minAvailable: 2\n+  minAvailable: 3\n"), Not(HasSubstr("ownerReferences:\n-"))));
}

TEST_F(DiffProcessTest, WhatTheClusterSaysOfTheJobCounts) {
  const std::string group =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: wd, namespace: default}\nspec: "
      "{minMember: 1}\n";
  ASSERT_EQ(sandbox_.Kubectl({"apply", "-f", "-"}, absl::StrCat(group, "---\n", kJob)).exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return sandbox_.Kubectl({"get", "vcjob", "wd"}).exit_code == 0; }));
  const Outcome same = Diff(kJob);
  EXPECT_EQ(same.exit_code, 0) << "the controller has taken over what the PodGroup asks for: " << same.out << same.err;
  ASSERT_EQ(sandbox_.Kubectl({"annotate", "namespace", "default", "scheduling.volcano.sh/queue-name=ads"}).exit_code,
            0);
  EXPECT_THAT(Diff(kJob).out, HasSubstr("\n-  queue: default\n+  queue: ads\n"));
}

TEST_F(DiffProcessTest, WhatIsWrongEndsWithTwo) {
  const Outcome bad = Diff(Changed("replicas: 2", "replicas: -2"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("standard input:6:5: E-REPLICAS "));
  EXPECT_THAT(bad.out, IsEmpty());
  EXPECT_EQ(Diff("a: [\n").exit_code, 2);
  EXPECT_EQ(Run({"diff"}, "").exit_code, 2);
  const Outcome nowhere = Run({"diff", "-f", "-", "--master", "http://127.0.0.1:1"}, kJob);
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("gave no answer"));
}

}  // namespace
}  // namespace gangway::testutil
