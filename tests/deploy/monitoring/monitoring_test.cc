// deploy/monitoring names metrics and labels that the programs have: Prometheus' own parser reads the expressions
// (promql-metrics, scripts/e2e-tools), and the programs are asked for their metrics. And each alert fires when it
// should and is silent when not, as promtool has it.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using boost::json::value;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::StartsWith;

using Metrics = std::map<std::string, std::set<std::string>>;  // labels by name

std::string Tool(const std::string& name) {
  const char* const folder = std::getenv("GW_E2E_BIN");
  return absl::StrCat(folder != nullptr ? folder : GW_SOURCE_DIR "/build/e2e/bin", "/", name);
}
value ReadYaml(const std::string& path) {
  const auto documents = api::ReadDocuments(ReadFile(path), path);
  EXPECT_TRUE(documents.ok()) << documents.status();
  return *api::ParseJson(documents->at(0).json);
}
constexpr char kAlerts[] = GW_SOURCE_DIR "/deploy/monitoring/alerts.yaml";
constexpr char kAlertsTest[] = GW_SOURCE_DIR "/tests/deploy/monitoring/alerts_test.yaml";

// Expressions by what they are of.
std::map<std::string, std::string> Expressions() {
  std::map<std::string, std::string> out;
  const value alerts = ReadYaml(kAlerts);
  for (const value& rule : alerts.at("groups").at(0).at("rules").get_array()) {
    EXPECT_NE(api::TextAt(rule, {"labels", "severity"}), "");
    EXPECT_NE(api::TextAt(rule, {"annotations", "summary"}), "");
    out["alert " + api::TextAt(rule, {"alert"})] = api::TextAt(rule, {"expr"});
  }
  const value dashboard = *api::ParseJson(ReadFile(GW_SOURCE_DIR "/deploy/monitoring/dashboard.json"));
  for (const value& panel : dashboard.at("panels").get_array()) {
    for (const value& target : panel.at("targets").get_array())
      out[absl::StrCat("panel ", api::TextAt(panel, {"title"}), " ", api::TextAt(target, {"refId"}))] =
          api::TextAt(target, {"expr"});
  }
  return out;
}

// Of a page of metrics: names, those of a histogram's parts as they are written, and labels.
void AddPage(const std::string& page, Metrics& metrics) {
  for (const absl::string_view line : absl::StrSplit(page, '\n', absl::SkipEmpty())) {
    if (line.front() == '#') continue;
    const std::string name(line.substr(0, line.find_first_of("{ ")));
    std::set<std::string>& labels = metrics[name];
    if (line.size() == name.size() || line[name.size()] != '{') continue;
    for (const absl::string_view pair :
         absl::StrSplit(line.substr(name.size() + 1, line.find('}') - name.size() - 1), "\","))
      labels.emplace(pair.substr(0, pair.find('=')));
  }
}

std::string MetricsOf(const GangwayProcess& process) {
  const std::string log = process.log(), said = R"("what":"metrics","url":")";
  const std::size_t at = log.find(said);
  if (at == std::string::npos) return "";
  const std::string url = log.substr(at + said.size());
  return *Get(url.substr(0, url.find('"')), "/metrics").body;
}

TEST(MonitoringTest, AlertsAndDashboardNameWhatThereIs) {
  if (!std::filesystem::exists(Tool("promql-metrics")))
    GTEST_SKIP() << "there is no control plane on this machine, and no promql-metrics";
  const TemporaryFolder folder("gangway-monitoring");
  ApiServerProcess server(folder.path(), {"--node-shape", "cpu=16,memory=64Gi,nvidia.com/gpu=8,count=4"});
  server.Apply(GW_SOURCE_DIR "/deploy/volcano/namespace/namespace.yaml");  // of the leases
  std::vector<std::unique_ptr<GangwayProcess>> processes;
  for (const std::string command : {"scheduler", "controller"})
    processes.push_back(
        std::make_unique<GangwayProcess>(folder.path(), command,
                                         std::vector<std::string>{command, "--kubeconfig", server.kubeconfig(),
                                                                  "--leader-elect", "--metrics-addr", "127.0.0.1:0"}));
  const ExtenderProcess extender({"--http-listen", "127.0.0.1:0", "--http-budget", kAmpleBudget, "--mode", "steer"});
  ASSERT_TRUE(Eventually([&] { return processes[0]->Ready() && processes[1]->Ready(); }));
  server.Apply(GW_SOURCE_DIR "/examples/ctr-volcano.yaml");
  ASSERT_TRUE(Eventually([&] {
    return absl::StrContains(MetricsOf(*processes[0]), "gangway_bindings_total{result=\"bound\"} 4");
  })) << processes[0]->log();

  // Queues and namespaces are measured a little later.
  server.Apply(GW_SOURCE_DIR "/examples/too-large.yaml");
  for (const absl::string_view metric : {"volcano_queue_allocated_scalar_resources", "gangway_namespace_held_resources",
                                         "gangway_namespace_waiting_resources"}) {
    EXPECT_TRUE(Eventually([&] { return absl::StrContains(MetricsOf(*processes[0]), metric); })) << metric;
  }
  Metrics there{{"up", {}}};
  for (const auto& process : processes) {
    const std::string page = MetricsOf(*process);
    EXPECT_THAT(page, HasSubstr("\ngangway_build_info{"));  // GangwayGone knows them by it
    AddPage(page, there);
  }
  VolcanoClient client({.port = extender.http_port()});
  for (int i = 0; i < 2; ++i) {  // of the second the plan is kept
    EXPECT_TRUE(client.OpenSession(Recorded("onSessionOpen-1").body));
    client.CloseSession();
  }
  const std::string page = extender.Page("/metrics");
  EXPECT_THAT(page, HasSubstr("\ngangway_extender_calls "));
  AddPage(page, there);
  EXPECT_THAT(there, Contains(Key("gangway_leader")));

  const std::map<std::string, std::string> expressions = Expressions();
  // What has no replica has no series: who is gone is known by who was there, each job by itself.
  ASSERT_THAT(expressions, Contains(Key("alert GangwayGone")));
  EXPECT_THAT(expressions.at("alert GangwayGone"),
              AllOf(StartsWith("count by (job) (last_over_time(gangway_build_info["),
                    HasSubstr(" or last_over_time(gangway_extender_calls["),
                    EndsWith(") unless count by (job) (gangway_build_info or gangway_extender_calls)")));
  std::string input;
  for (const auto& [what, expression] : expressions) absl::StrAppend(&input, expression, "\n");
  const Outcome read = RunProgram({Tool("promql-metrics")}, {}, input);
  const std::vector<std::string> answers = absl::StrSplit(read.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(answers.size(), expressions.size()) << read.err;
  // What Prometheus adds as it scrapes.
  const std::set<std::string> added{"job", "instance", "pod", "namespace"};
  std::size_t i = 0;
  for (const auto& [what, expression] : expressions) {
    SCOPED_TRACE(absl::StrCat(what, ": ", expression));
    const value answer = *api::ParseJson(answers[i++]);
    EXPECT_EQ(api::TextAt(answer, {"error"}), "");
    const value* const named = api::ValueAt(answer, {"metrics"});
    ASSERT_NE(named, nullptr);
    for (const auto& [name, labels] : named->get_object()) {
      EXPECT_THAT(there, Contains(Key(std::string(name))));
      for (const value& label : labels.get_array()) {
        const std::string text(label.get_string());
        EXPECT_TRUE(added.contains(text) || there[std::string(name)].contains(text) || text == "resource")
            << name << " has no label " << text;
      }
    }
  }
}

TEST(MonitoringTest, EachAlertFiresWhenItShouldAndIsSilentWhenNot) {
  std::set<std::string> fire, silent;
  const value tests = ReadYaml(kAlertsTest), alerts = ReadYaml(kAlerts);
  for (const value& test : tests.at("tests").get_array()) {
    for (const value& moment : test.at("alert_rule_test").get_array())
      (moment.as_object().contains("exp_alerts") ? fire : silent).insert(api::TextAt(moment, {"alertname"}));
  }
  for (const value& rule : alerts.at("groups").at(0).at("rules").get_array()) {
    EXPECT_THAT(fire, Contains(api::TextAt(rule, {"alert"}))) << "nobody has seen it fire: " << kAlertsTest;
    EXPECT_THAT(silent, Contains(api::TextAt(rule, {"alert"}))) << "nobody has seen it silent: " << kAlertsTest;
  }
  const std::string promtool = Tool("promtool");
  if (!std::filesystem::exists(promtool)) GTEST_SKIP() << "there is no promtool on this machine (scripts/e2e-tools)";
  const Outcome checked = RunProgram({promtool, "check", "rules", kAlerts});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  const Outcome tried = RunProgram({promtool, "test", "rules", kAlertsTest});
  EXPECT_EQ(tried.exit_code, 0) << tried.out << tried.err;
}

}  // namespace
}  // namespace gangway::testutil
