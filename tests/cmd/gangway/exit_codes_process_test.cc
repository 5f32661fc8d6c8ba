// One meaning of exit codes over all commands (docs/commands.md): each command with each code that it can end with.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

const std::string kExamples = std::string(GW_SOURCE_DIR) + "/examples/";
const std::string kConf =
    std::string(GW_SOURCE_DIR) + "/deploy/volcano/components/volcano-extender/light/volcano-scheduler.conf";

constexpr char kJob[] =
    "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: fresh, namespace: default}\n"
    "spec: {worker: {replicas: 1, template: {spec: {containers: [{name: p, image: i}]}}}}\n";
constexpr char kWrongJob[] =
    "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: wrong, namespace: default}\n"
    "spec: {worker: {replicas: -1, template: {spec: {containers: [{name: p, image: i}]}}}}\n";
constexpr char kNoYaml[] = "kind: [\n";
constexpr char kMap[] =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {epochs: '8'}\n";
constexpr char kVolcanoJob[] =
    "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: runs, namespace: default}\nspec:\n  "
    "minAvailable: 1\n"
    "  tasks: [{name: w, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]\n";

constexpr char kSnapshot[] =
    R"({"apiVersion":"v1","kind":"List","metadata":{"annotations":{"gangway.io/snapshot":"2026-11-24T07:00:00Z"}},"items":[]})";

struct Row {
  int code;
  std::vector<std::string> args;  // SERVER stands for the sandbox's kubeconfig, NOWHERE for a server that does not
                                  // answer, FILE for one to write
  std::string input = "";
};

const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {0, {"completion", "bash"}},
      {2, {"completion", "tcl"}},
      {0, {"version"}},
      {2, {"version", "--short"}},
      {2, {"version", "--strict"}},
      {2, {"version", "SERVER"}},
      {0, {"crds"}},
      {2, {"crds", "jobs.batch"}},
      {0, {"translate", "-f", "-"}, kJob},
      {1, {"translate", "-f", "-"}, kWrongJob},
      {2, {"translate", "-f", "-"}, kNoYaml},
      {2, {"translate", "-f", "/none.yaml"}},
      {2, {"translate", "--file", "-"}, kJob},
      {2, {"translate", "-f", "-", "-f", "/none.yaml"}, kWrongJob},
      {0, {"validate", "-f", "-"}, kJob},
      {1, {"validate", "-f", "-"}, kWrongJob},
      {2, {"validate", "-f", "-"}, kNoYaml},
      {2, {"validate", "-f", "/none.yaml"}},
      {0, {"diff", "-f", "-", "SERVER"}, kMap},
      {1, {"diff", "-f", "-", "SERVER"}, kJob},
      {2, {"diff", "-f", "-", "SERVER"}, kWrongJob},
      {2, {"diff", "-f", "-", "NOWHERE"}, kJob},
      {0,
       {"submit", "-m", kExamples + "paddlerec/config.yaml", "-b", kExamples + "paddlerec/backend.yaml", "--dry-run"}},
      {1,
       {"submit", "-m", kExamples + "paddlerec/backend.yaml", "-b", kExamples + "paddlerec/config.yaml", "--dry-run"}},
      {2, {"submit", "-m", "/none.yaml", "-b", kExamples + "paddlerec/backend.yaml"}},
      {2, {"submit", "-m", kExamples + "paddlerec/config.yaml", "-b", kExamples + "paddlerec/backend.yaml", "NOWHERE"}},
      {0, {"run", "--image", "paddle", "--wait=false", "SERVER", "--", "true"}},
      {0, {"run", "--image", "paddle", "--dry-run", "--", "python", "train.py"}},
      {1, {"run", "--image", "paddle", "--name", "ended", "--wait=false", "SERVER", "--", "true"}},
      {2, {"run", "--image", "paddle", "--workers", "-1", "--dry-run", "--", "true"}},
      {2, {"run", "--image", "paddle", "NOWHERE", "--", "true"}},
      {3, {"run", "--image", "paddle", "--timeout", "10ms", "SERVER", "--", "true"}},
      {0, {"archive", "--once", "--file", "FILE", "SERVER"}},
      {0, {"archive", "--release", "SERVER"}},
      {2, {"archive", "--once", "--file", "/none/jobs.jsonl", "SERVER"}},
      {2, {"archive", "--once", "--file", "FILE", "NOWHERE"}},
      {0, {"job", "list", "SERVER"}},
      {2, {"job", "list", "NOWHERE"}},
      {2, {"job", "lists"}},
      {0, {"job", "view", "runs", "SERVER"}},
      {1, {"job", "view", "nobody", "SERVER"}},
      {1, {"job", "view", "nobody", "runs", "SERVER"}},
      {2, {"job", "view", "NOWHERE"}},
      {3, {"job", "resume", "ended", "--wait", "SERVER"}},
      {1, {"job", "suspend", "nobody", "SERVER"}},
      {1, {"job", "delete", "nobody", "SERVER"}},
      {0, {"queue", "list", "SERVER"}},
      {1, {"queue", "get", "nobody", "SERVER"}},
      {1, {"queue", "operate", "nobody", "-a", "open", "SERVER"}},
      {2, {"queue", "operate", "default", "-a", "shut", "SERVER"}},
      {2, {"queue", "list", "NOWHERE"}},
      {0, {"logs", "runs", "SERVER"}},
      {1, {"logs", "nobody", "SERVER"}},
      {2, {"logs", "runs", "--task", "nobody", "SERVER"}},
      {2, {"logs", "runs", "NOWHERE"}},
      {3, {"logs", "-f", "ended", "SERVER"}},
      {0, {"import", "SERVER"}},
      {1, {"import", "nobody", "SERVER"}},
      {2, {"import", "--apply", "--rollback", "SERVER"}},
      {2, {"import", "NOWHERE"}},
      {0, {"doctor", "SERVER"}},
      {2, {"doctor", "NOWHERE"}},
      {2, {"doctor", "--kubeconfig", "/none"}},
      {0, {"doctor", "--scheduler-conf", kConf}},
      {2, {"doctor", "--scheduler-conf", kConf, "SERVER"}},
      {0, {"explain", "job", "runs", "SERVER"}},
      {0, {"explain", "queue", "default", "SERVER"}},
      {0, {"explain", "job", "runs", "--what-if", "min=1", "SERVER"}},
      {1, {"explain", "job", "runs", "--what-if", "queue=nobody,without=default/nobody", "SERVER"}},
      {1, {"explain", "job", "nobody", "SERVER"}},
      {2, {"explain", "job", "runs", "--what-if", "min=few", "SERVER"}},
      {2, {"explain", "job", "runs", "NOWHERE"}},
      {0, {"top", "SERVER"}},
      {2, {"top", "--every", "often", "SERVER"}},
      {2, {"top", "NOWHERE"}},
      {2, {"dashboard", "--listen", "0.0.0.0:0", "SERVER"}},
      {2, {"dashboard", "--kubeconfig", "/none"}},
      {2, {"sandbox", "--dashboard", "nowhere"}},
      {0, {"snapshot", "SERVER"}},
      {2, {"snapshot", "-o", "/none/snapshot.json", "SERVER"}},
      {2, {"snapshot", "NOWHERE"}},
      {0, {"simulate", "-"}, kSnapshot},
      {1, {"simulate", "-", "--jobs", kExamples + "too-large.yaml"}, kSnapshot},
      {2, {"simulate", "-"}, kJob},
      {2, {"simulate", "-", "--runs", "long"}, kSnapshot},
      {2, {"simulate", "/none.json"}},
      {2, {"scheduler", "--shadow", "--leader-elect", "SERVER"}},
      {0, {"sandbox", "--quiet", "--components", "apiserver", "--timeout", "10ms"}},
      {1,
       {"sandbox", "--quiet", "--components", "apiserver", "--apply", "-", "--timeout", "20s"},
       "apiVersion: v9\nkind: Nothing\nmetadata: {name: x}\n"},
      {2, {"sandbox", "--until", "job/x"}},
      {2, {"sandbox", "--apply", "/none.yaml"}},
      {3, {"sandbox", "--quiet", "--components", "apiserver", "--until", "job/x=Completed", "--timeout", "10ms"}},
      {2, {"scheduler", "--log-level", "loud"}},
      {2, {"scheduler", "--kubeconfig", "/none"}},
      {2, {"controller", "--webhook", "127.0.0.1:0"}},
      {2, {"extender", "--listen", "nowhere"}},
      {2, {"frobnicate"}},
      {2, {}},
      {0, {"--help"}},
      {0, {"--version"}},
      {0, {"job", "view", "--help"}}};
  return rows;
}

class ExitCodesTest : public ::testing::Test {
 protected:
  Outcome Run(const Row& row) const {
    std::vector<std::string> argv{GW_GANGWAY};
    for (const std::string& arg : row.args) {
      if (arg == "SERVER") {
        argv.insert(argv.end(), {"--kubeconfig", sandbox_.kubeconfig()});
      } else if (arg == "NOWHERE") {
        argv.insert(argv.end(), {"--master", "http://127.0.0.1:1"});
      } else if (arg == "FILE") {
        argv.push_back(sandbox_.folder() + "/jobs.jsonl");
      } else {
        argv.push_back(arg);
      }
    }
    return RunProgram(argv, {"KUBECONFIG=", "HOME=" + sandbox_.folder()}, row.input);
  }
  Outcome Gangway(std::vector<std::string> args) const {
    args.push_back("SERVER");
    return Run({0, std::move(args)});
  }
  const SandboxProcess sandbox_{{"--start-delay", "10ms", "--stop-delay", "10ms", "--fail", "ended-w-0=10ms:7"}};
};

TEST_F(ExitCodesTest, EveryCommandMeansTheSame) {
  ASSERT_EQ(sandbox_.Kubectl({"apply", "-f", "-"}, kMap).exit_code, 0);
  ASSERT_EQ(sandbox_.Kubectl({"apply", "-f", "-"}, kVolcanoJob).exit_code, 0);
  std::string ended = kVolcanoJob;
  ended.replace(ended.find("runs"), 4, "ended");
  ended.replace(ended.find("  minAvailable"), 0,
                "  maxRetry: 1\n  policies: [{event: PodFailed, action: RestartJob}]\n");
  ended.replace(ended.find("{containers"), 1, "{restartPolicy: Never, ");
  ASSERT_EQ(sandbox_.Kubectl({"apply", "-f", "-"}, ended).exit_code, 0);
  ASSERT_TRUE(Eventually([&] {
    return Gangway({"job", "view", "ended"}).out.find("Phase:\tFailed") != std::string::npos;
  })) << Gangway({"job", "view", "ended"}).out;
  ASSERT_TRUE(
      Eventually([&] { return Gangway({"job", "view", "runs"}).out.find("Phase:\tRunning") != std::string::npos; }));
  for (const Row& row : Rows()) {
    const Outcome outcome = Run(row);
    EXPECT_EQ(outcome.exit_code, row.code) << "gangway " << absl::StrJoin(row.args, " ") << "\n"
                                           << outcome.err << outcome.out.substr(0, 1000);
    if (outcome.exit_code != 0) {
      EXPECT_NE(absl::StrCat(outcome.out, outcome.err), "")
          << "gangway " << absl::StrJoin(row.args, " ") << " does not say why";
    }
  }
  // What is found needs something to find.
  ASSERT_EQ(Gangway({"queue", "operate", "default", "-a", "close"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return Gangway({"doctor"}).exit_code == 1; }));
}

// A command that is new stands in the table, and in the page.
TEST_F(ExitCodesTest, EveryCommandIsLookedAt) {
  const std::string help = RunProgram({GW_GANGWAY, "--help"}).out;
  std::set<std::string> seen;
  for (const Row& row : Rows()) {
    if (!row.args.empty()) seen.insert(row.args.front());
  }
  const std::string page = ReadFile(GW_SOURCE_DIR "/docs/commands.md");
  bool listed = false;
  for (const absl::string_view line : absl::StrSplit(help, '\n')) {
    if (line == "Subcommands:") {
      listed = true;
    } else if (listed && line.size() > 2 && line[2] != ' ') {
      const std::string command(line.substr(2, line.find(' ', 2) - 2));
      EXPECT_TRUE(seen.contains(command)) << command;
      EXPECT_THAT(page, HasSubstr(absl::StrCat("| `", command, "`"))) << "docs/commands.md, Exit codes";
    }
  }
  EXPECT_TRUE(listed) << help;
}

}  // namespace
}  // namespace gangway::testutil
