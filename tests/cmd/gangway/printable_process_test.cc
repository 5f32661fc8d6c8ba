// Whatever files and servers write, no command passes it on to the terminal: neither escapes, nor marks of direction,
// nor lines that look like ours.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// As YAML writes it: colours, the title of a window, C1, overrides and isolates of direction, what is not seen, a line
// of its own.
const std::string kHostile =
    R"(\e[31m\e]0;pwned\a\x9b2J\u202e\u2066\u200f\u200b\U000e0041\nforged.yaml:1:1: all is well)";
const std::string kShown = R"(\u001b[31m)";

// What a terminal would act on, with what stands around it; "" for nothing.
std::string Unprintable(const std::string& text) {
  for (std::size_t i = 0, length = 0; i < text.size(); i += length) {
    length = Utf8Length(text, i);
    const bool layout = text[i] == '\n' || text[i] == '\t';
    if (length == 0 || (!layout && !IsPrintable(Utf8Decode(text, i, length))))
      return OneLine(text.substr(i < 60 ? 0 : i - 60, 120));
    if (text.compare(i, 12, "\nforged.yaml") == 0) return OneLine(text.substr(i < 60 ? 0 : i - 60, 120));
  }
  return "";
}

void ExpectPrintable(const Outcome& outcome, const std::string& what) {
  EXPECT_EQ(Unprintable(outcome.out), "") << what;
  EXPECT_EQ(Unprintable(outcome.err), "") << what;
}

TEST(PrintableProcessTest, TheJudgeSeesWhatATerminalWouldActOn) {
  for (const char* const bad : {"\x1b[0m", "a\r", "\xe2\x80\xae", "\xc2\x9b", "\xff", "ok\nforged.yaml:1"})
    EXPECT_NE(Unprintable(bad), "") << OneLine(bad);
  EXPECT_EQ(Unprintable("fine\n\tforged.yaml"), "");
}

// One place prints; a command that went around it would be found here before somebody finds it elsewhere.
TEST(PrintableProcessTest, CommandsPrintThroughOneDoor) {
  int looked_at = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GW_SOURCE_DIR "/cmd")) {
    if (entry.path().extension() != ".cc" || entry.path().filename() == "output.cc") continue;
    ++looked_at;
    const std::string text = ReadFile(entry.path());
    for (const char* const call : {"std::printf(", "std::fprintf(", "std::puts(", "std::fputs(", "std::fwrite(",
                                   "std::fputc(", "std::cout", "std::cerr"}) {
      EXPECT_EQ(text.find(call), std::string::npos)
          << entry.path() << " has " << call << "; cmd/terminal/output.h prints";
    }
  }
  EXPECT_GT(looked_at, 40);
}

class PrintableFilesTest : public ::testing::Test {
 protected:
  std::string File(const std::string& text) const {
    const std::string path = folder_.path() + "/job\x1b[31m\xe2\x80\xae.yaml";
    WriteFile(path, absl::StrReplaceAll(text, {{"HOSTILE", kHostile}}));
    return path;
  }
  const TemporaryFolder folder_{"gangway-printable"};
};

TEST_F(PrintableFilesTest, ValidateTranslateAndDiff) {
  const std::vector<std::string> files{
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: \"HOSTILE\", namespace: "
      "\"HOSTILE\"}\nspec: {worker: {replicas: 1, template: {spec: {containers: [{name: p, image: i}]}}}}\n",
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: wd, annotations: "
      "{\"paddle.gangway.io/HOSTILE\": \"x\", paddle.gangway.io/wait-dns: \"HOSTILE\", \"HOSTILE\": \"HOSTILE\"}}\n"
      "spec: {intranet: \"HOSTILE\", \"HOSTILE\": 1, worker: {replicas: 1, template: {spec: {containers: [{name: "
      "\"HOSTILE\", image: i, command: [serve, --bind, \"HOSTILE $(POD_IP)\", --bind, $(POD_IP)]}]}}}}\n",
      "apiVersion: v1\nkind: \"HOSTILE\"\nmetadata: {name: \"HOSTILE\"}\n",
      "apiVersion: \"batch.volcano.sh/HOSTILE\"\nkind: Job\nmetadata: {name: x}\n",
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: \"HOSTILE\"}\nspec: {queue: \"HOSTILE\", "
      "tasks: [{name: \"HOSTILE\", replicas: 1, \"HOSTILE\": 2, template: {spec: {containers: [{name: "
      "\"HOSTILE\"}]}}}]}\n",
      "\"HOSTILE\": 1\n\"HOSTILE\": 2\n",
      "a: \"HOSTILE\n"};
  for (const std::string& text : files) {
    const std::string path = File(text);
    for (const std::vector<std::string>& flags :
         std::vector<std::vector<std::string>>{{"validate"},
                                               {"validate", "-o", "json"},
                                               {"translate"},
                                               {"translate", "-o", "json"},
                                               {"translate", "--explain"},
                                               {"translate", "--strict"},
                                               {"diff", "--master", "http://127.0.0.1:1"}}) {
      std::vector<std::string> argv{GW_GANGWAY};
      argv.insert(argv.end(), flags.begin(), flags.end());
      argv.insert(argv.end(), {"-f", path});
      ExpectPrintable(RunProgram(argv, {"KUBECONFIG=", "HOME=" + folder_.path()}),
                      absl::StrCat(flags.back(), " of ", text));
    }
  }
  EXPECT_THAT(RunProgram({GW_GANGWAY, "validate", "-f", File(files[0])}).out,
              HasSubstr("job\\u001b[31m\\u202e.yaml:3:"))
      << "and the file's own name";
}

// YAML and JSON are exact: what is escaped reads back as what was written.
TEST_F(PrintableFilesTest, WhatComesOutSaysTheSame) {
  const std::string path =
      File("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, annotations: {a: \"HOSTILE\"}}\n");
  const Outcome yaml = RunProgram({GW_GANGWAY, "translate", "-f", path});
  ExpectPrintable(yaml, "yaml");
  const Outcome again = RunProgram({GW_GANGWAY, "translate", "-f", "-", "-o", "json"}, {}, yaml.out);
  EXPECT_EQ(again.out, RunProgram({GW_GANGWAY, "translate", "-f", path, "-o", "json"}).out);
  EXPECT_THAT(again.out,
              HasSubstr(R"(\u001b[31m\u001b]0;pwned\u0007\u009b2J\u202e\u2066\u200f\u200b\udb40\udc41\nforged.yaml)"));
}

TEST_F(PrintableFilesTest, WrongFlags) {
  const std::string hostile = "\x1b[31m\xe2\x80\xae";
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{hostile},
                                             {"--" + hostile},
                                             {"sandbox", "--" + hostile},
                                             {"sandbox", "--nodes", hostile},
                                             {"sandbox", "--until", hostile},
                                             {"sandbox", "--apply", "/" + hostile},
                                             {"crds", hostile},
                                             {"job", hostile},
                                             {"scheduler", "--log-level", hostile},
                                             {"translate", "-f", "-", "--target", hostile},
                                             {"queue", "operate", hostile, "-a", hostile},
                                             {"logs", hostile, "--since", hostile}}) {
    std::vector<std::string> argv{GW_GANGWAY};
    argv.insert(argv.end(), flags.begin(), flags.end());
    ExpectPrintable(RunProgram(argv, {"KUBECONFIG=", "HOME=" + folder_.path()}), OneLine(flags.front()));
  }
}

// What an API server stores: a job that fails and says so in its own words.
constexpr char kJob[] = R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: hostile, namespace: default, annotations: {"a": "HOSTILE"}}
spec:
  minAvailable: 1
  maxRetry: 2
  policies: [{event: PodFailed, action: RestartJob}]
  tasks:
  - name: w
    replicas: 1
    template:
      metadata: {annotations: {sandbox.gangway.io/fail: "10ms:7", sandbox.gangway.io/termination-message: "HOSTILE \e[31mloss is nan", sandbox.gangway.io/log: "5ms:HOSTILE"}}
      spec: {restartPolicy: Never, containers: [{name: c, image: "HOSTILE", command: [sh, -c, "HOSTILE"], workingDir: "HOSTILE"}]}
)";

TEST(PrintableServerTest, WhatAServerTells) {
  const TemporaryFolder folder("gangway-printable");
  WriteFile(folder.path() + "/job.yaml",
            absl::StrReplaceAll(kJob, {{"5ms:HOSTILE", "5ms:\\e[31mloss"}, {"HOSTILE", kHostile}}));
  // The sandbox's running commentary.
  const Outcome run =
      RunProgram({GW_GANGWAY, "sandbox", "--apply", folder.path() + "/job.yaml", "--until", "job/hostile=Failed",
                  "--timeout", "60s", "--start-delay", "10ms", "--stop-delay", "10ms"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(kShown));
  ExpectPrintable(run, "sandbox");

  const SandboxProcess sandbox({"--start-delay", "10ms", "--stop-delay", "10ms"});
  ASSERT_EQ(sandbox.Kubectl({"apply", "-f", folder.path() + "/job.yaml"}).exit_code, 0);
  const auto gangway = [&](std::vector<std::string> args) {
    args.insert(args.begin(), GW_GANGWAY);
    args.insert(args.end(), {"--kubeconfig", sandbox.kubeconfig()});
    const Outcome outcome = RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox.folder()});
    ExpectPrintable(outcome, args[1]);
    return outcome;
  };
  ASSERT_TRUE(
      Eventually([&] { return gangway({"job", "view", "hostile"}).out.find("Phase:\tFailed") != std::string::npos; }));
  EXPECT_THAT(gangway({"job", "view", "hostile"}).out,
              AllOf(HasSubstr("Image:\t" + kShown), HasSubstr("\nFailure:\tpod hostile-w-0"),
                    HasSubstr("\t| hostile-w-0/c: " + kShown + "loss")));
  gangway({"job", "list"});
  gangway({"queue", "list"});
  gangway({"doctor"});
  gangway({"explain", "queue", "default", "-o", "wide"});
  gangway({"explain", "job", "hostile"});
  EXPECT_THAT(gangway({"diff", "-f", folder.path() + "/job.yaml"}).exit_code, ::testing::Lt(3));
  // The lines of a container are its own, as kubectl logs prints them.
  const Outcome logs = RunProgram({GW_GANGWAY, "logs", "hostile", "--kubeconfig", sandbox.kubeconfig()},
                                  {"KUBECONFIG=", "HOME=" + sandbox.folder()});
  EXPECT_THAT(logs.out, HasSubstr("[w-0] hostile-w-0/c: \x1b[31mloss"));
}

}  // namespace
}  // namespace gangway::testutil
