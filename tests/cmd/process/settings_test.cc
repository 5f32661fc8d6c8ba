#include "cmd/process/settings.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::StatusIs;

class SettingsTest : public ::testing::Test {
 protected:
  absl::StatusOr<Settings> Read(ProcessKind kind = ProcessKind::kController) {
    SettingSources sources;
    sources.flags = flags_;
    if (!file_.empty()) {
      sources.config_file = folder_.path() + "/config.yaml";
      testutil::WriteFile(sources.config_file, file_);
    }
    sources.environment = [this](const std::string& name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    return ReadSettings(kind, sources);
  }
  std::string Message() { return std::string(Read().status().message()); }

  const testutil::TemporaryFolder folder_{"gangway-settings"};
  std::map<std::string, std::string> flags_, environment_;
  std::string file_;
};

TEST_F(SettingsTest, DefaultsAreThoseOfTheTable) {
  const auto defaults = Read();
  GW_ASSERT_OK(defaults);
  Settings written;
  for (const Setting* setting : SettingsOf(ProcessKind::kController)) {
    if (setting->fallback[0] == '\0') continue;
    GW_EXPECT_OK(setting->set(written, setting->fallback));
  }
  EXPECT_EQ(defaults->lease_duration, written.lease_duration);
  EXPECT_EQ(defaults->renew_deadline, written.renew_deadline);
  EXPECT_EQ(defaults->retry_period, written.retry_period);
  EXPECT_EQ(defaults->scheduler_name, "volcano");
  EXPECT_EQ(defaults->drain_timeout, written.drain_timeout);
  EXPECT_EQ(defaults->kube_api_burst, written.kube_api_burst);
  EXPECT_EQ(defaults->lease_name, "gangway-controller");
  EXPECT_EQ(Read(ProcessKind::kScheduler)->lease_name, "gangway-scheduler");
}

TEST_F(SettingsTest, AFlagGoesBeforeTheEnvironmentBeforeTheFile) {
  file_ = "schedulerName: from-file\n";
  EXPECT_EQ(Read()->scheduler_name, "from-file");
  environment_["GANGWAY_SCHEDULER_NAME"] = "from-environment";
  EXPECT_EQ(Read()->scheduler_name, "from-environment");
  flags_["scheduler-name"] = "from-flag";
  EXPECT_EQ(Read()->scheduler_name, "from-flag");
}

TEST_F(SettingsTest, AWholeFile) {
  file_ = R"(namespaces: [b, a, b]
only: job,queue
leaderElection:
  enabled: true
  leaseDuration: 30s
  resourceName: mine
metricsAddr: ":8080"
healthAddr: "[::1]:8081"
kubeAPI: {qps: 12.5, burst: 7}
log:
  level: debug
)";
  const auto settings = Read();
  GW_ASSERT_OK(settings);
  EXPECT_THAT(settings->namespaces, ElementsAre("a", "b"));
  EXPECT_THAT(settings->only, ElementsAre("job", "queue"));
  EXPECT_TRUE(settings->leader_elect);
  EXPECT_EQ(settings->lease_duration, absl::Seconds(30));
  EXPECT_EQ(settings->lease_name, "mine");
  EXPECT_EQ(settings->metrics_addr, (ListenAddress{"0.0.0.0", 8080}));
  EXPECT_EQ(settings->health_addr, (ListenAddress{"::1", 8081}));
  EXPECT_EQ(settings->kube_api_qps, 12.5);
  EXPECT_EQ(settings->kube_api_burst, 7);
  EXPECT_EQ(settings->log_level, log::Level::kDebug);
}

TEST_F(SettingsTest, AnEmptyFileSaysNothing) {
  file_ = "# nothing\n";
  GW_EXPECT_OK(Read());
  file_ = "log:\n";
  GW_EXPECT_OK(Read());
}

TEST_F(SettingsTest, AMistakeIsNamedWithItsPlace) {
  file_ = "schedulerName: volcano\nleaderElection:\n  enabled: true\n  leaseDuration: soon\n";
  EXPECT_THAT(Message(), EndsWith("config.yaml:4: leaderElection.leaseDuration: must be a positive duration such as "
                                  "15s or 500ms, not \"soon\""));
  environment_["GANGWAY_LEADER_ELECT_LEASE_DURATION"] = "later";
  EXPECT_THAT(Message(), HasSubstr("GANGWAY_LEADER_ELECT_LEASE_DURATION: must be"));
  flags_["leader-elect-lease-duration"] = "never";
  EXPECT_THAT(
      Message(),
      HasSubstr("--leader-elect-lease-duration: must be a positive duration such as 15s or 500ms, not \"never\""));
}

TEST_F(SettingsTest, WhatDoesNotFitTogetherIsNamedToo) {
  file_ = "leaderElection:\n  renewDeadline: 20s\n  leaseDuration: 15s\n";
  EXPECT_THAT(Message(),
              EndsWith("config.yaml:3: leaderElection.leaseDuration: must be more than renewDeadline, which is 20s"));
  file_ = "tls:\n  cert: /a\n";
  EXPECT_THAT(Message(), HasSubstr("config.yaml:2: tls.cert: TLS needs a certificate and its key"));
  file_ = "webhook:\n  addr: 127.0.0.1:9443\n";
  EXPECT_THAT(Message(),
              HasSubstr("webhook.tls.cert: an API server calls webhooks in TLS only: give a certificate and its key"));
  file_ = "webhook:\n  addr: 127.0.0.1:9443\n  tls:\n    cert: /a\n";
  EXPECT_THAT(Message(), HasSubstr("config.yaml:4: webhook.tls.cert: TLS needs a certificate and its key"));
}

struct BadFile {
  const char* name;
  const char* text;
  const char* message;  // after the folder
};
class BadConfigTest : public SettingsTest, public ::testing::WithParamInterface<BadFile> {};
TEST_P(BadConfigTest, StopsTheStart) {
  file_ = GetParam().text;
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}
INSTANTIATE_TEST_SUITE_P(
    All, BadConfigTest,
    ::testing::Values(
        BadFile{"Typo", "a: 1\n", "config.yaml:1: a: there is no such setting"},
        BadFile{"NearTypo", "\nleaderElection:\n  leasDuration: 3s\n",
                "config.yaml:3: leaderElection.leasDuration: there is no such setting; did you mean "
                "leaderElection.leaseDuration?"},
        BadFile{"WrongGroup", "leaseDuration: 3s\n", "did you mean leaderElection.leaseDuration?"},
        BadFile{"WrongCase", "healthaddr: :80\n", "did you mean healthAddr?"},
        BadFile{"GroupAsValue", "leaderElection: yes\n", "config.yaml:1: leaderElection: must be a map"},
        BadFile{"ValueAsGroup", "schedulerName: {a: b}\n", "config.yaml:1: schedulerName: must be a value, not a map"},
        BadFile{"NoMap", "- a\n", "config.yaml:1: must be a map of settings"},
        BadFile{"TwoDocuments", "context: a\n---\ncontext: b\n", "one document is expected, there are 2"},
        BadFile{"Twice", "context: a\ncontext: b\n", "context"}, BadFile{"Broken", "context: [a\n", "config.yaml"},
        BadFile{"Number", "kubeAPI:\n  burst: 0\n",
                "config.yaml:2: kubeAPI.burst: must be a whole number, 1 or more, not \"0\""},
        BadFile{"Negative", "kubeAPI:\n  qps: -1\n", "kubeAPI.qps: must be a number, 0 or more"},
        BadFile{"Address", "metricsAddr: 8080\n", "metricsAddr: must be HOST:PORT"},
        BadFile{"Port", "metricsAddr: :80800\n", "metricsAddr: must be HOST:PORT"},
        BadFile{"Namespace", "namespaces: [Big]\n", "config.yaml:1: namespaces: must be names of namespaces"},
        BadFile{"PaddleTarget", "paddle: {target: me}\n", "paddle.target: must be volcano or gangway, not \"me\""},
        BadFile{"ElasticEtcd", "paddle: {elasticEtcd: 'http://etcd:2379'}\n", "must be HOST:PORT"},
        BadFile{"NotifyUrl", "notify: {url: hooks.example}\n",
                "config.yaml:1: notify.url: must be a URL such as https://hooks.example/jobs"},
        BadFile{"NotifyEvents", "notify: {events: [completed, ended]}\n",
                "must be some of completed, failed, aborted, restarted, waiting, not \"completed,ended\""},
        BadFile{"NotifySecret", "notify: {url: 'http://hooks', tokenFile: /x}\n",
                "notify.url: the secret of --notify-token-file would not be encrypted on its way"},
        BadFile{"NotifyNobody", "notify: {tokenFile: /x}\n", "notify.tokenFile: nobody gets it"},
        BadFile{"VolcanoVersion", "paddle: {volcanoVersion: new}\n", "must be a release of Volcano such as 1.13"},
        BadFile{"Only", "only: jobs\n", "there is no reconciler \"jobs\"; did you mean job?"},
        BadFile{"Level", "log:\n  level: loud\n",
                "log.level: must be debug, info, warning, error or off, not \"loud\""},
        BadFile{"Switch", "leaderElection:\n  enabled: 1\n",
                "leaderElection.enabled: must be true or false, not \"1\""}),
    [](const auto& c) { return c.param.name; });

TEST_F(SettingsTest, TheMissingFileIsSaid) {
  SettingSources sources;
  sources.config_file = folder_.path() + "/none.yaml";
  EXPECT_THAT(ReadSettings(ProcessKind::kScheduler, sources),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("none.yaml"), HasSubstr("No such file"))));
}

TEST_F(SettingsTest, TheSchedulerKnowsNoReconcilers) {
  file_ = "only: job\n";
  EXPECT_THAT(Read(ProcessKind::kScheduler),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("only: there is no such setting")));
}

TEST_F(SettingsTest, OnlyTheSchedulerHasAConfigurationOfVolcanos) {
  file_ = "schedulerConf: /etc/volcano-scheduler.conf\n";
  EXPECT_EQ(Read(ProcessKind::kScheduler)->scheduler_conf, "/etc/volcano-scheduler.conf");
  EXPECT_THAT(Read(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("schedulerConf: there is no such setting")));
}

TEST_F(SettingsTest, OnlyTheControllerHasTheOtherOne) {
  file_ = "controllerConf: /etc/volcano-controller.conf\n";
  EXPECT_EQ(Read()->controller_conf, "/etc/volcano-controller.conf");
  EXPECT_THAT(Read(ProcessKind::kScheduler),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("controllerConf: there is no such setting")));
}

TEST_F(SettingsTest, WhatAChangeOfTheFileCannotBringAbout) {
  file_ = "context: a\nlog: {level: info}\n";
  const auto before = Read();
  file_ = "context: b\nlog: {level: debug}\nmetricsAddr: :80\n";
  const auto after = Read();
  EXPECT_THAT(NeedRestart(ProcessKind::kController, *before, *after), ElementsAre("context", "metricsAddr"));
  EXPECT_THAT(NeedRestart(ProcessKind::kController, *before, *before), ElementsAre());
}

// The page is part of what users read: every setting stands there with its three names.
TEST_F(SettingsTest, PaddleJobsAreWrittenForWhoeverRunsJobs) {
  const auto target = [this](const std::string& file) {
    file_ = file;
    const auto settings = Read(ProcessKind::kController);
    EXPECT_TRUE(settings.ok()) << settings.status();
    return TranslateOptionsOf(*settings).target;
  };
  EXPECT_EQ(target(""), convert::Target::kGangway);
  EXPECT_EQ(target("only: [paddlejob]\n"), convert::Target::kVolcano);
  EXPECT_EQ(target("only: [job, paddlejob]\n"), convert::Target::kGangway);
  EXPECT_EQ(target("only: [paddlejob]\npaddle: {target: gangway}\n"), convert::Target::kGangway);
  file_ = "paddle: {elasticEtcd: 'etcd.infra:2379', volcanoVersion: '1.10', clusterDomain: cluster.test}\n";
  const auto settings = Read(ProcessKind::kController);
  ASSERT_TRUE(settings.ok()) << settings.status();
  const convert::TranslateOptions options = TranslateOptionsOf(*settings);
  EXPECT_EQ(options.elastic_etcd, "etcd.infra:2379");
  EXPECT_EQ(options.volcano, (convert::VolcanoVersion{1, 10}));
  EXPECT_EQ(options.cluster_domain, "cluster.test");
}

TEST_F(SettingsTest, TheUrlOfAWebhookIsTakenApart) {
  const auto parts = [&](const std::string& url) {
    flags_["notify-url"] = url;
    const auto settings = Read(ProcessKind::kController);
    return settings.ok() ? settings->notify_server + " " + settings->notify_path + " " + settings->notify_query
                         : std::string(settings.status().message());
  };
  EXPECT_EQ(parts("https://hooks.example:8443/a/b?key=1&x=/y"), "https://hooks.example:8443 /a/b key=1&x=/y");
  EXPECT_EQ(parts("https://hooks.example"), "https://hooks.example / ");
  EXPECT_EQ(parts("https://hooks.example?key=1"), "https://hooks.example / key=1");
  EXPECT_EQ(parts(""), "  ");
  EXPECT_THAT(parts("ftp://hooks/secret"), AllOf(HasSubstr("--notify-url: must be a URL"), Not(HasSubstr("secret"))));
}

TEST_F(SettingsTest, AShadowHoldsNoLease) {
  flags_["shadow"] = "true";
  const auto settings = Read(ProcessKind::kScheduler);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_TRUE(settings->shadow);
  flags_["leader-elect"] = "true";
  EXPECT_THAT(std::string(Read(ProcessKind::kScheduler).status().message()),
              HasSubstr("shadow: a shadow writes nothing, so it holds no lease; leave out --leader-elect"));
}

TEST(SettingsPageTest, EverySettingIsDocumented) {
  const std::string page = testutil::ReadFile(std::string(GW_SOURCE_DIR) + "/docs/configuration.md");
  std::set<std::string> flags, keys;
  for (const Setting* setting : SettingsOf(ProcessKind::kController)) {
    EXPECT_THAT(page, HasSubstr("`--" + std::string(setting->flag) + "`"));
    EXPECT_THAT(page, HasSubstr("`" + std::string(setting->key) + "`"));
    EXPECT_THAT(page, HasSubstr("`" + EnvironmentName(*setting) + "`"));
    EXPECT_TRUE(flags.insert(setting->flag).second) << setting->flag;
    EXPECT_TRUE(keys.insert(setting->key).second) << setting->key;
  }
}

}  // namespace
}  // namespace gangway::cmd
