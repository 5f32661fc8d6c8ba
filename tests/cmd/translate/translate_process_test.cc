// `gangway translate` as a user runs it: inputs, outputs, exit codes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Job(const std::string& name, int replicas) {
  return absl::StrCat("apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: ", name,
                      "}\nspec: {worker: {replicas: ", replicas,
                      ", template: {spec: {containers: [{name: p, image: i}]}}}}\n");
}

class TranslateProcessTest : public ::testing::Test {
 protected:
  static Outcome Run(std::vector<std::string> arguments, const std::string& input = {},
                     const std::string& command = "translate") {
    arguments.insert(arguments.begin(), {GW_GANGWAY, command});
    return RunProgram(arguments, {}, input);
  }
  std::string File(const std::string& name, const std::string& text) const {
    WriteFile(folder_.path() + "/" + name, text);
    return folder_.path() + "/" + name;
  }
  const TemporaryFolder folder_{"gangway-translate"};
};

TEST_F(TranslateProcessTest, WarningsGoToStandardErrorAndEndWithZero) {
  const Outcome outcome = Run({"-f", "-"}, Job("wd", 2));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("# Made of PaddleJob wd"), HasSubstr("\nkind: Job\n")));
  EXPECT_THAT(outcome.err, IsEmpty()) << "what is so of every job is not told of each";
  const Outcome warned =
      Run({"-f", "-"}, absl::StrReplaceAll(Job("wd", 2), {{"spec: {", "spec: {cleanPodPolicy: Always, "}}));
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_THAT(warned.err, StartsWith("standard input:4:8: W-CLEAN "));
  EXPECT_EQ(Run({"-f", "-"}, Job("wd", 2)).out, outcome.out) << "the same bytes every time";
}

TEST_F(TranslateProcessTest, ForKubernetesAlone) {
  const Outcome outcome =
      Run({"-f", "-", "--target=kubernetes", "--scheduler-name=volcano", "-o", "json"}, Job("wd", 2));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup")"),
                                 HasSubstr(R"("apiVersion":"batch/v1","kind":"Job")"), Not(HasSubstr("volcano.sh")),
                                 HasSubstr(R"("schedulerName":"volcano")")));
  EXPECT_THAT(outcome.err, HasSubstr("standard input:4:1: W-NOT-IN-JOBS spec: "));
  const Outcome foreign = Run({"-f", "-", "--target=kubernetes"},
                              "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v}\nspec: {}\n");
  EXPECT_EQ(foreign.exit_code, 0);
  EXPECT_THAT(foreign.err, HasSubstr("W-NOT-IN-JOBS kind: \"Job\": is passed on as it is"));
  EXPECT_THAT(Run({"-f", "-", "--scheduler-name=volcano"}, Job("wd", 2)).err,
              HasSubstr("--scheduler-name is for --target=kubernetes"));
  EXPECT_EQ(Run({"-f", "-", "--target=kubernetes", "--scheduler-name=A_b"}, Job("wd", 2)).exit_code, 2);
  EXPECT_EQ(Run({"-f", "-", "--target=kubernetes"}, Job("wd", 2), "validate").exit_code, 2) << "it judges for Volcano";
}

TEST_F(TranslateProcessTest, AJobWithAnErrorEndsWithOneAndTheOthersComeOut) {
  File("a.yaml", Job("a", 1));
  File("b.yaml", Job("b", -1));
  const Outcome outcome = Run({"-f", folder_.path()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("name: a\n"), Not(HasSubstr("name: b\n"))));
  EXPECT_THAT(outcome.err, HasSubstr("/b.yaml:4:17: E-REPLICAS spec.worker.replicas: Invalid value: -1: "));
}

TEST_F(TranslateProcessTest, FlagsAreCheckedLikeTheAnnotationsAndTheControllersSettings) {
  for (const char* wrong :
       {"--elastic-etcd=etcd", "--elastic-etcd=etcd:0", "--elastic-etcd=http://etcd:2379", "--elastic-etcd=a:1,b:2",
        "--elastic-etcd=:2379", "--elastic-etcd=e e:2379", "--cluster-domain=Cluster_Local", "--cluster-domain=a..b"}) {
    for (const char* command : {"translate", "validate"}) {
      const Outcome outcome = Run({"-f", "-", wrong}, Job("wd", 1), command);
      EXPECT_EQ(outcome.exit_code, 2) << wrong;
      EXPECT_THAT(outcome.err, HasSubstr("must be ")) << wrong;
    }
    EXPECT_THAT(Run({"-f", "-", "--master", "http://127.0.0.1:1", wrong}, Job("wd", 1), "diff").err,
                HasSubstr("must be "))
        << wrong;
  }
  EXPECT_EQ(
      Run({"-f", "-", "--elastic-etcd=etcd.infra:2379", "--cluster-domain=k8s.example.com"}, Job("wd", 1)).exit_code,
      0);
}

TEST_F(TranslateProcessTest, WhatCannotBeReadAndWrongFlagsEndWithTwo) {
  const Outcome outcome = Run({"-f", "-", "-f", folder_.path() + "/none.yaml"}, Job("wd", 1));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("kind: Job\n"));
  EXPECT_THAT(outcome.err, HasSubstr("gangway translate: " + folder_.path() + "/none.yaml: No such file"));
  for (const std::string& text : {std::string("a: &a [*a]\n"), std::string("a: 1\na: 2\n"),
                                  std::string("x: {<<: {a: b}}\n"), std::string("kind: [\n")}) {
    const Outcome broken = Run({"-f", "-"}, text);
    EXPECT_EQ(broken.exit_code, 2) << text;
    EXPECT_THAT(broken.out, IsEmpty()) << text;
    EXPECT_THAT(broken.err, AllOf(StartsWith("standard input:"), HasSubstr(": E-YAML Forbidden: "))) << text;
    const Outcome beside = Run({"-f", "-"}, absl::StrCat(Job("wd", 1), "---\n", text));
    EXPECT_EQ(beside.exit_code, 2) << text;
    EXPECT_THAT(beside.out, HasSubstr("kind: Job\n")) << "what stands before it is translated";
  }
  EXPECT_EQ(Run({}).exit_code, 2);
  EXPECT_EQ(Run({"-f", "-", "--target=k8s"}).exit_code, 2);
  EXPECT_EQ(Run({"-f", "-", "--volcano-version", "new"}, Job("wd", 1)).exit_code, 2);
}

TEST_F(TranslateProcessTest, JsonIsOneList) {
  const Outcome outcome = Run({"-f", "-", "-o", "json"}, absl::StrCat(Job("a", 1), "---\n", Job("b", 1)));
  EXPECT_EQ(outcome.exit_code, 0);
  const auto list = api::ParseJson(outcome.out);
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->at("items").as_array().size(), 2u);
}

TEST_F(TranslateProcessTest, ExplainPrintsATableInTheObjectsPlace) {
  const Outcome outcome = Run({"-f", "-", "--explain"}, Job("wd", 2));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("PaddleJob wd (standard input:1:1)\n"), HasSubstr("spec.worker.replicas "),
                                 Not(HasSubstr("kind: Job"))));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(": W-RETRY "), HasSubstr(": I-RESTART ")));
}

TEST_F(TranslateProcessTest, WhatIsStrictRefusesWhatNobodyKnows) {
  const std::string text =
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: wd}\nspec:\n  cleanPodPolcy: Never\n"
      "  worker: {replicas: 1, template: {spec: {containers: [{name: p, image: i}]}}}\n";
  EXPECT_EQ(Run({"-f", "-"}, text).exit_code, 0);
  const Outcome strict = Run({"-f", "-", "--strict"}, text);
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.out, IsEmpty());
  EXPECT_THAT(strict.err, HasSubstr("standard input:5:3: E-UNKNOWN-FIELD spec.cleanPodPolcy: Forbidden: there is no "
                                    "such field (did you mean cleanPodPolicy?)"));
}

TEST_F(TranslateProcessTest, ValidateJudgesTheSameAndPrintsNoObjects) {
  const Outcome good = Run({"-f", "-"}, Job("wd", 2), "validate");
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_THAT(good.out, AllOf(Not(HasSubstr("W-RETRY")), HasSubstr("1 object checked, 0 refused\n"),
                              Not(HasSubstr("kind: Job"))));
  const Outcome bad = Run({"-f", "-"}, Job("wd", -2), "validate");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("standard input:4:17: paddlejob wd: E-REPLICAS spec.worker.replicas: "),
                             HasSubstr("1 object checked, 1 refused\n")));
}

}  // namespace
}  // namespace gangway::testutil
