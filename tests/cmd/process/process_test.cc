// The real program as controller and scheduler against the API server of the sandbox.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/certificates/identity.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/tcp_proxy.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kJob = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/ctr-volcano";
const char* const kLease = "/apis/coordination.k8s.io/v1/namespaces/gangway-system/leases/gangway-scheduler";

class ProcessTest : public ::testing::Test {
 protected:
  GangwayProcess Start(const std::string& command, const std::string& name, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {command, "--kubeconfig", server_->kubeconfig()});
    return GangwayProcess(folder_.path(), name, std::move(flags));
  }
  // With a lease that ends soon, and not so soon that a busy machine loses it.
  GangwayProcess StartContender(const std::string& name, int lease_seconds = 4) {
    return Start(
        "scheduler", name,
        {"--leader-elect", absl::StrCat("--leader-elect-lease-duration=", lease_seconds, "s"),
         absl::StrCat("--leader-elect-renew-deadline=", lease_seconds - 1, "s"), "--leader-elect-retry-period=200ms"});
  }
  void MakeNamespace() {
    server_->Call("POST", "/api/v1/namespaces",
                  R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"gangway-system"}})");
  }
  static std::string Example() { return std::string(GW_SOURCE_DIR) + "/examples/ctr-volcano.yaml"; }
  bool JobBecomes(const std::string& phase) {
    return Eventually([&] { return server_->PhaseOf(kJob) == phase; });
  }
  std::string Holder() const {
    const std::string lease(*server_->Call("GET", kLease).body);
    const std::size_t at = lease.find("\"holderIdentity\":\"");
    return at == std::string::npos ? "" : lease.substr(at + 18, lease.find('"', at + 18) - at - 18);
  }
  static bool Leads(const GangwayProcess& process) {
    return absl::StrContains(process.Page("/debug/dump"), "\"leading\":true");
  }

  const TemporaryFolder folder_{"gangway-process"};
  std::unique_ptr<ApiServerProcess> server_ =
      std::make_unique<ApiServerProcess>(folder_.path(), std::vector<std::string>{"--finish", "trainer=300ms"});
};

TEST_F(ProcessTest, TheSeedJobIsCompletedByTwoProcesses) {
  GangwayProcess controller = Start("controller", "controller"), scheduler = Start("scheduler", "scheduler");
  ASSERT_TRUE(Eventually([&] { return controller.Ready() && scheduler.Ready(); }))
      << controller.log() << scheduler.log();
  EXPECT_EQ(Get(scheduler.url(), "/healthz").code, 200);
  server_->Apply(Example());
  EXPECT_TRUE(JobBecomes("Completed")) << controller.log() << scheduler.log();
  EXPECT_THAT(scheduler.Page("/debug/dump"), HasSubstr("\"nodes\":6"));
  // A busy machine's API server may be slow to answer for a moment.
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(scheduler.Page("/debug/dump"), "\"notReady\":\"\""); }))
      << scheduler.log();
  EXPECT_THAT(controller.Page("/debug/dump"), HasSubstr("\"jobs\":1"));
  for (GangwayProcess* process : {&controller, &scheduler}) {
    EXPECT_EQ(process->process().Stop(), 0) << process->log();
    EXPECT_THAT(process->log(), HasSubstr("\"msg\":\"stopping\""));
  }
}

// A gang whose pods are there; nobody need let it in.
constexpr char kGang[] = R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pair}
spec: {minMember: 2, queue: default}
---
apiVersion: v1
kind: Pod
metadata: {name: pair-0, annotations: {scheduling.k8s.io/group-name: pair}}
spec: {schedulerName: volcano, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pair-1, annotations: {scheduling.k8s.io/group-name: pair}}
spec: {schedulerName: volcano, containers: [{name: c, image: i}]}
)";

TEST_F(ProcessTest, AShadowReportsAndSendsNothingButQuestions) {
  TcpProxy proxy({server_->port()});
  proxy.Record();
  const std::string through = folder_.path() + "/through-the-proxy", gang = folder_.path() + "/gang.yaml";
  WriteFile(through, absl::StrReplaceAll(ReadFile(server_->kubeconfig()), {{server_->url(), proxy.url()}}));
  WriteFile(gang, kGang);
  GangwayProcess shadow(folder_.path(), "shadow", {"scheduler", "--shadow", "--kubeconfig", through});
  ASSERT_TRUE(Eventually([&] { return shadow.Ready(); })) << shadow.log();
  const auto tells = [&](const char* what) { return absl::StrContains(shadow.Page("/debug/dump"), what); };
  server_->Apply(gang);
  ASSERT_TRUE(Eventually([&] { return tells("\"ahead\":1"); })) << shadow.log();
  EXPECT_EQ(server_->PhaseOf("/api/v1/namespaces/default/pods/pair-0"), "Pending") << "it has done nothing";
  GangwayProcess scheduler = Start("scheduler", "scheduler");
  EXPECT_TRUE(Eventually([&] { return tells("\"compared\":1"); })) << shadow.log() << scheduler.log();
  EXPECT_EQ(shadow.process().Stop(), 0) << shadow.log();
  EXPECT_THAT(shadow.log(), AllOf(HasSubstr("\"shadow\":{\"since\":"), HasSubstr("\"compared\":1")));
  const std::string said = proxy.said();
  EXPECT_THAT(said, AllOf(HasSubstr("GET /api/v1/pods?"), HasSubstr("gangway-scheduler")));
  for (const char* const method : {"POST /", "PUT /", "PATCH /", "DELETE /"}) EXPECT_THAT(said, Not(HasSubstr(method)));
}

TEST_F(ProcessTest, OnlyWhatWasAskedForRuns) {
  server_->Apply(Example());
  GangwayProcess controller = Start("controller", "controller", {"--only=queue"});
  ASSERT_TRUE(Eventually([&] { return controller.Ready(); })) << controller.log();
  const std::string queue = "/apis/scheduling.volcano.sh/v1beta1/queues/default";
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(*server_->Call("GET", queue).body, "\"state\":\"Open\""); }))
      << controller.log();
  EXPECT_EQ(server_->PhaseOf(kJob), "") << "nobody keeps jobs";
  EXPECT_THAT(controller.Page("/debug/dump"), AllOf(HasSubstr("\"queue\":{"), Not(HasSubstr("\"job\":{"))));
}

TEST_F(ProcessTest, WhenTheLeaderIsKilledAnotherTakesOver) {
  MakeNamespace();
  GangwayProcess controller = Start("controller", "controller");
  GangwayProcess first = StartContender("first");
  ASSERT_TRUE(Eventually([&] { return Leads(first); })) << first.log();
  GangwayProcess second = StartContender("second");
  ASSERT_TRUE(Eventually([&] { return second.Ready(); })) << "a replica that waits is ready as well: " << second.log();
  EXPECT_FALSE(Leads(second));
  first.process().Signal(SIGKILL);
  server_->Apply(Example());
  EXPECT_TRUE(Eventually([&] { return Leads(second); })) << second.log();
  EXPECT_TRUE(JobBecomes("Completed")) << second.log();
}

TEST_F(ProcessTest, AfterSigtermTheOtherLeadsAtOnce) {
  MakeNamespace();
  GangwayProcess first = StartContender("first", 300);
  ASSERT_TRUE(Eventually([&] { return Leads(first); })) << first.log();
  GangwayProcess second = StartContender("second", 300);
  ASSERT_TRUE(Eventually([&] { return second.Ready(); })) << second.log();
  EXPECT_EQ(first.process().Stop(), 0) << first.log();
  EXPECT_THAT(first.log(), HasSubstr("\"msg\":\"lease released\""));
  EXPECT_TRUE(Eventually([&] { return Leads(second); })) << "long before the lease would have ended: " << second.log();
}

// A leader that is stopped past the end of its lease finds what it missed, and writes none of what it would have
// decided.
TEST_F(ProcessTest, WhoWasStoppedPastItsLeaseWritesNothingAndEnds) {
  MakeNamespace();
  GangwayProcess controller = Start("controller", "controller");
  GangwayProcess first = StartContender("first");
  ASSERT_TRUE(Eventually([&] { return Leads(first); })) << first.log();
  const std::string held_by_first = Holder();
  first.process().Signal(SIGSTOP);
  server_->Apply(Example());
  ASSERT_TRUE(JobBecomes("Pending"));
  // Nobody else contends, so whatever is written from here on would be the first's.
  const absl::Time stopped = absl::Now();
  ASSERT_TRUE(Eventually([&] { return absl::Now() - stopped > absl::Seconds(4.2); }));
  first.process().Signal(SIGCONT);
  EXPECT_EQ(first.process().Wait(), 3) << first.log();
  EXPECT_THAT(first.log(), HasSubstr("\"msg\":\"lease lost\""));
  EXPECT_EQ(server_->PhaseOf(kJob), "Pending");
  EXPECT_THAT(*server_->Call("GET", "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups").body,
              Not(HasSubstr("Inqueue")));
  EXPECT_EQ(Holder(), held_by_first) << "it did not renew either";
  GangwayProcess fresh = StartContender("fresh");
  EXPECT_TRUE(JobBecomes("Completed")) << fresh.log();
}

TEST_F(ProcessTest, AnApiServerThatIsAwayIsWaitedFor) {
  server_.reset();
  TcpProxy proxy({1});  // nobody is there; the address stays ours, whatever else is started meanwhile
  const std::string kubeconfig = folder_.path() + "/later";
  WriteFile(
      kubeconfig,
      absl::StrCat("{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], "
                   "clusters: [{name: c, cluster: {server: \"",
                   proxy.url(), "\"}}]}"));
  GangwayProcess scheduler(folder_.path(), "scheduler", {"scheduler", "--kubeconfig", kubeconfig});
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(scheduler.log(), "API server not reached"); }))
      << scheduler.log();
  ASSERT_TRUE(Eventually([&] { return !scheduler.url().empty(); }));
  EXPECT_EQ(Get(scheduler.url(), "/readyz").code, 503);
  EXPECT_EQ(Get(scheduler.url(), "/healthz").code, 200);
  server_ = std::make_unique<ApiServerProcess>(folder_.path());
  proxy.SetTargets({server_->port()});
  EXPECT_TRUE(Eventually([&] { return scheduler.Ready(); })) << scheduler.log();
  server_.reset();
  EXPECT_TRUE(Eventually([&] { return !scheduler.Ready(); }));
  EXPECT_FALSE(scheduler.process().Ended().has_value());
}

TEST(SandboxPortTest, TheApiServerIsWhereItsFlagSays) {
  EXPECT_TRUE(Eventually([] {  // what was free may be somebody's by then; then another one is asked for
    const int port = TcpProxy({1}).port();
    const Outcome outcome = RunProgram({GW_GANGWAY, "sandbox", "--quiet", "--components", "apiserver", "--timeout",
                                        "10ms", "--port", absl::StrCat(port)});
    return absl::StrContains(outcome.out, absl::StrCat("API server at http://127.0.0.1:", port, "\n"));
  }));
}

TEST_F(ProcessTest, WhatIsWrongStopsTheStart) {
  const auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), GW_GANGWAY);
    return RunProgram(flags);
  };
  Outcome outcome = run({"scheduler", "--log-level=loud"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("gangway scheduler: --log-level: must be debug, info, warning, error or off, not \"loud\""));
  outcome = run({"controller", "--kubeconfig", folder_.path() + "/none"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("none"));
  WriteFile(folder_.path() + "/config.yaml", "leaderElection:\n  leasDuration: 5s\n");
  outcome = run({"scheduler", "--config", folder_.path() + "/config.yaml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("config.yaml:2: leaderElection.leasDuration: there is no such setting; did you "
                                     "mean leaderElection.leaseDuration?"));
  WriteFile(folder_.path() + "/conf", "actions: [enqueue]\n");
  outcome = run({"scheduler", "--kubeconfig", server_->kubeconfig(), "--scheduler-conf", folder_.path() + "/conf"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/conf:1: actions: must be one text with commas"));
  outcome = run({"scheduler", "--kubeconfig", server_->kubeconfig(), "--scheduler-conf", folder_.path() + "/none"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/none: No such file or directory"));
  outcome = run({"controller", "--scheduler-conf", folder_.path() + "/conf"});
  EXPECT_NE(outcome.exit_code, 0) << "the controller has no such setting";
  WriteFile(folder_.path() + "/controller.conf", "networkTopologyDiscovery: 7\n");
  outcome = run(
      {"controller", "--kubeconfig", server_->kubeconfig(), "--controller-conf", folder_.path() + "/controller.conf"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--controller-conf: "),
                                 HasSubstr("/controller.conf:1: networkTopologyDiscovery: must be a list of sources")));
  outcome = run({"sandbox", "--controller-conf", folder_.path() + "/controller.conf"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--controller-conf: "));
  outcome = run({"sandbox", "--scheduler-conf", folder_.path() + "/conf"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--scheduler-conf"));
  outcome = run(
      {"scheduler", "--kubeconfig", server_->kubeconfig(), absl::StrCat("--health-addr=127.0.0.1:", server_->port())});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--health-addr: cannot listen on 127.0.0.1:"));
}

TEST_F(ProcessTest, NothingThatTheWebhookIsAskedCostsTheLease) {
  MakeNamespace();
  const Identity authority({.common_name = "authority"}, nullptr),
      server({.common_name = "webhook", .alternative_names = "IP:127.0.0.1"}, &authority);
  WriteFile(folder_.path() + "/tls.crt", server.CertificatePem());
  WriteFile(folder_.path() + "/tls.key", server.KeyPem());
  GangwayProcess leader =
      Start("controller", "leader",
            {"--leader-elect", "--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
             "--leader-elect-retry-period=200ms", "--webhook=127.0.0.1:0", "--webhook-tls-cert",
             folder_.path() + "/tls.crt", "--webhook-tls-key", folder_.path() + "/tls.key"});
  ASSERT_TRUE(Eventually([&] { return Leads(leader); })) << leader.log();
  const std::string log = leader.log(), before = R"("what":"webhook","url":")";
  ASSERT_THAT(log, HasSubstr(before));
  const std::size_t at = log.find(before) + before.size();

  // Each of them took the old way of answering ten seconds of the loop, and more.
  std::string tasks = "{}";
  while (tasks.size() < 3'000'000) tasks += ",{}";
  const std::string review = absl::StrCat(
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",)",
      R"("resource":{"group":"batch.volcano.sh","version":"v1alpha1","resource":"jobs"},)",
      R"("object":{"metadata":{"name":"j"},"spec":{"tasks":[)", tasks, "]}}}}");
  LoopThread thread;
  Owner owner;
  kube::Connection connection;
  connection.server = log.substr(at, log.find('"', at) - at);
  connection.ca.data = authority.CertificatePem();
  auto client = kube::HttpClient::Make(thread.loop(), connection);
  ASSERT_TRUE(client.ok()) << client.status();
  Inbox<int> answers;
  for (const char* path : {"/mutate", "/validate", "/mutate", "/validate"}) {
    (*client)->Send({"POST", path, "", "application/json", "", review}, owner.token(),
                    [&](absl::StatusOr<kube::Response> r) { answers.Put(r.ok() ? r->code : 0); });
  }
  for (int i = 0; i < 4; ++i) EXPECT_THAT(answers.Take(), ::testing::Optional(400)) << leader.log();
  EXPECT_TRUE(Leads(leader)) << leader.log();
  EXPECT_FALSE(leader.process().Ended().has_value());
  client->reset();
  thread.Join();
}

// Nodes of two racks, and then by another label: the file is read again.
TEST_F(ProcessTest, VolcanosControllerConfigurationMakesHyperNodes) {
  const std::string conf = folder_.path() + "/volcano-controller.conf";
  const auto write = [&](const std::string& label) {
    WriteFile(conf,
              absl::StrCat("networkTopologyDiscovery:\n- {source: ufm, enabled: true}\n- source: label\n  enabled: "
                           "true\n  config: {networkTopologyTypes: {rdma: [{nodeLabel: ",
                           label, "}, {nodeLabel: kubernetes.io/hostname}]}}\n"));
  };
  for (const char* const name : {"a", "b"}) {
    server_->Call("POST", "/api/v1/nodes",
                  absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                               R"(","labels":{"rack":"r-)", name, R"(","row":"all"}}})"));
  }
  write("rack");
  GangwayProcess controller = Start("controller", "controller", {"--controller-conf", conf});
  const auto count = [&](const std::string& what) {
    const std::string list = *server_->Call("GET", "/apis/topology.volcano.sh/v1alpha1/hypernodes").body;
    int found = 0;
    for (std::size_t at = 0; (at = list.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_TRUE(Eventually([&] { return count(R"("nodeCount":1)") == 2; })) << controller.log();
  EXPECT_THAT(controller.log(), HasSubstr("volcano-controller.conf:2: source ufm is not followed"));
  write("row");
  controller.process().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return count(R"("nodeCount":2)") == 1 && count(R"("nodeCount":1)") == 0; }))
      << controller.log();
  WriteFile(conf, "networkTopologyDiscovery: 7\n");
  controller.process().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] {
    return absl::StrContains(controller.log(), "the controller configuration changed and cannot be used");
  })) << controller.log();
  EXPECT_EQ(count(R"("nodeCount":2)"), 1);
}

// What does not apply is printed line by line, and what is changed takes effect; what cannot be read does not.
TEST_F(ProcessTest, VolcanosSchedulerConfigurationIsFollowedAndReadAgain) {
  const std::string conf = folder_.path() + "/volcano-scheduler.conf";
  WriteFile(conf,
            "actions: \"enqueue, allocate, preempt\"\ntiers:\n- plugins:\n  - name: overcommit\n  - name: gang\n  - "
            "name: drf\n  - name: predicats\n  - name: conformance\n");
  GangwayProcess scheduler = Start("scheduler", "scheduler", {"--scheduler-conf", conf});
  ASSERT_TRUE(Eventually([&] { return scheduler.Ready(); })) << scheduler.log();
  const auto says = [&](const std::string& what) {
    return Eventually([&] { return absl::StrContains(scheduler.log(), what); });
  };
  EXPECT_THAT(
      scheduler.log(),
      AllOf(HasSubstr("\"policy\":\"lets in up to the cluster's room times 1.2; fills fuller nodes first, by all "
                      "resources alike; "
                      "evicts for a higher priority in a queue\""),
            HasSubstr(
                "volcano-scheduler.conf:1: action preempt: members beyond a gang's minimum go, or gangs as a whole"),
            HasSubstr("volcano-scheduler.conf:6: plugin drf: "),
            HasSubstr("volcano-scheduler.conf:8: plugin conformance: "),
            HasSubstr("\"level\":\"warning\",\"msg\":\"scheduler configuration: a mistake\",\"line\":\"")));
  EXPECT_THAT(
      scheduler.log(),
      HasSubstr("volcano-scheduler.conf:7: plugin predicats: there is no such plugin; did you mean predicates?"));

  const std::string group = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
  const auto phase = [&] {
    return absl::StrContains(*server_->Call("GET", group + "/large").body, "\"phase\":\"Inqueue\"");
  };
  server_->Call(
      "POST", group,
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"large"},"spec":{"minMember":1,"queue":"default","minResources":{"cpu":"1000"}}})");
  EXPECT_TRUE(Eventually([&] {
    return absl::StrContains(scheduler.Page("/debug/dump"), "gangs are let in for up to ");
  })) << scheduler.log();
  WriteFile(conf, "actions: enqeue\n");
  scheduler.process().Signal(SIGHUP);
  EXPECT_TRUE(says("volcano-scheduler.conf:1: actions: there is no action \\\"enqeue\\\"; did you mean enqueue?"))
      << scheduler.log();
  EXPECT_FALSE(phase()) << "the last one goes on";
  WriteFile(conf, "actions: allocate\n");
  scheduler.process().Signal(SIGHUP);
  EXPECT_TRUE(says("lets in everybody")) << scheduler.log();
  EXPECT_TRUE(Eventually(phase)) << scheduler.log();
}

TEST_F(ProcessTest, AChangedFileIsReadAgain) {
  const std::string config = folder_.path() + "/config.yaml";
  WriteFile(config, "kubeAPI: {qps: 5}\n");
  GangwayProcess scheduler = Start("scheduler", "scheduler", {"--config", config});
  ASSERT_TRUE(Eventually([&] { return scheduler.Ready(); })) << scheduler.log();
  WriteFile(config, "kubeAPI: {qps: 7}\nschedulerName: other\n");
  scheduler.process().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(scheduler.log(), "configuration read again"); }));
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(scheduler.log(), "\"keys\":\"schedulerName\""); }))
      << scheduler.log();
  WriteFile(config, "kubeAPI: {qps: many}\n");
  scheduler.process().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(scheduler.log(), "cannot be used; the last one goes on"); }));
  EXPECT_TRUE(scheduler.Ready());
}

}  // namespace
}  // namespace gangway::testutil
