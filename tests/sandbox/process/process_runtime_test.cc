// A kubelet's pods with a host that does what the test says.
#include "sandbox/process/process_runtime.h"

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "tests/sandbox/process/scripted_host.h"
#include "tests/testing/files.h"

namespace gangway::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ProcessRuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ProcessOptions options;
    options.folder = temporary_.path();
    options.claims = temporary_.path() + "/claims";
    options.max_log_bytes = 1 << 20;
    options.on_line = [this](const api::ObjectMeta&, absl::string_view line) { shown_.emplace_back(line); };
    ClusterOptions cluster;
    cluster.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 1);
    cluster.api_server.root_ca = root_ca_;
    cluster.kubelets.make_runtime = [this, options](kube::Informers& informers, OnContainers on_containers) {
      return std::make_unique<ProcessRuntime>(informers, options, host_, std::move(on_containers));
    };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(cluster));
    cluster_->Start(Component::kKubelets);
    loop_.RunFor(absl::Seconds(1));
  }
  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    return cluster_->api_server().Handle(request, {"user"});
  }
  // `container` goes on in its container, `pod` after its containers.
  void MakePod(const std::string& name, const std::string& container = "", const std::string& pod = "") {
    const kube::Response made =
        Ask("POST", api::PathOf(api::kPods, "default"),
            absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                         R"("},"spec":{"nodeName":"node-000","restartPolicy":"Never","containers":[)",
                         R"({"name":"main","image":"x","command":["true"])", container, "}]", pod, "}}"));
    ASSERT_EQ(made.code, 201) << *made.body;
    loop_.RunFor(absl::Seconds(1));
  }
  void Prepared() {
    News news;
    news.id = host_.prepared.back().uid;
    host_.events.on_pod(news);
    loop_.RunFor(absl::Seconds(1));
  }
  std::string PodText(const std::string& name) { return *Ask("GET", api::PathOf(api::kPods, "default", name)).body; }
  std::string EventsText() { return *Ask("GET", "/api/v1/namespaces/default/events").body; }

  std::string root_ca_;
  testutil::TemporaryFolder temporary_{"process-runtime"};
  SimulatedLoop loop_{7};
  ScriptedHost host_;
  std::vector<std::string> shown_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ProcessRuntimeTest, APodThatWasBeingPreparedHearsOfTheHostsEnd) {
  MakePod("waits");
  ASSERT_THAT(host_.prepared, SizeIs(1));
  host_.events.on_gone();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(EventsText(), AllOf(HasSubstr("FailedCreatePodSandBox"), HasSubstr("start the sandbox anew")));
}

TEST_F(ProcessRuntimeTest, WhatTheMachineDoesNotDoIsNoFaultOfTheContainer) {
  const std::string resolver = temporary_.path() + "/resolv.conf";
  std::filesystem::create_directory(resolver);  // in the place of a file that every container has
  MakePod("waits");
  Prepared();
  EXPECT_THAT(host_.started, IsEmpty());
  EXPECT_THAT(PodText("waits"), AllOf(HasSubstr("\"CreateContainerError\""), HasSubstr("Is a directory")));
  std::filesystem::remove(resolver);
  loop_.RunFor(absl::Seconds(11));
  EXPECT_THAT(host_.started, SizeIs(1));
}

TEST_F(ProcessRuntimeTest, NamesThatCouldNotBeWrittenAreWrittenLater) {
  ASSERT_TRUE(Ask("POST", api::PathOf(api::kServices, "default"),
                  R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"job"},"spec":{"clusterIP":"None",)"
                  R"("publishNotReadyAddresses":true,"selector":{"app":"x"}}})")
                  .ok());
  MakePod("first");
  Prepared();
  const std::string hosts = absl::StrCat(temporary_.path(), "/pods/", host_.prepared.at(0).uid, "/hosts");
  std::filesystem::remove(hosts);
  std::filesystem::create_directory(hosts);
  ASSERT_TRUE(Ask("POST", api::PathOf(api::kPods, "default"),
                  R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"second","labels":{"app":"x"}},"spec":{)"
                  R"("nodeName":"node-000","subdomain":"job","hostname":"second","containers":[{"name":"main",)"
                  R"("image":"x","command":["true"]}]}})")
                  .ok());
  loop_.RunFor(absl::Seconds(1));
  std::filesystem::remove(hosts);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_THAT(testutil::ReadFile(hosts), HasSubstr("second.job"));
}

TEST_F(ProcessRuntimeTest, ALastLineWithoutItsEndIsShown) {
  MakePod("writes");
  Prepared();
  ASSERT_THAT(host_.started, SizeIs(1));
  News news;
  news.id = host_.started[0].id;
  host_.events.on_started(news);
  host_.events.on_output(news.id, "first\nlast");
  EXPECT_THAT(shown_, ElementsAre("first"));
  host_.events.on_ended(news);
  EXPECT_THAT(shown_, ElementsAre("first", "last"));
}

TEST_F(ProcessRuntimeTest, AllLogsTogetherHaveABound) {
  // Of seven pods each writes a sixth of what all may keep; five have ended.
  constexpr int kLines = 175, kText = 935;
  std::vector<std::size_t> sizes;
  std::size_t all = 0;
  for (int i = 0; i < 7; ++i) {
    MakePod(absl::StrCat("chatty-", i));
    Prepared();
    News news;
    news.id = host_.started.back().id;
    host_.events.on_started(news);
    for (int line = 0; line < kLines; ++line) host_.events.on_output(news.id, std::string(kText, 'x') + "\n");
    if (i < 5) host_.events.on_ended(news);
    loop_.RunFor(absl::Seconds(1));
  }
  for (int i = 0; i < 7; ++i) {
    sizes.push_back(
        Ask("GET", absl::StrCat(api::PathOf(api::kPods, "default", absl::StrCat("chatty-", i)), "/log")).body->size());
    all += sizes.back();
  }
  EXPECT_LE(all, 1u << 20);
  EXPECT_GE(all, (1u << 20) / 4 * 3) << "no more than has to go";
  EXPECT_LT(sizes[0], 70'000u) << "the one that ended first";
  EXPECT_EQ(sizes[6], kLines * (kText + 1u)) << "not those that run";
}

TEST_F(ProcessRuntimeTest, WhatIsTooLongIsNotOrdered) {
  std::string twice = "$(A)$(A)";
  for (int i = 0; i < 4; ++i) twice += twice;
  std::string env = absl::StrCat(R"(,"env":[{"name":"A","value":")", std::string(1024, 'x'), R"("})");
  // Each 32 times the one before.
  for (int i = 0; i < 6; ++i) absl::StrAppend(&env, R"(,{"name":"A","value":")", twice, R"("})");
  MakePod("long", env + "]");
  Prepared();
  EXPECT_THAT(host_.started, IsEmpty());
  EXPECT_THAT(PodText("long"), AllOf(HasSubstr("CreateContainerConfigError"), HasSubstr("argument list too long")));
  // Within that, but each mount has it.
  std::string mounts;
  for (int i = 0; i < 8000; ++i)
    absl::StrAppend(&mounts, i > 0 ? "," : "", R"({"name":"v","mountPath":"/)", i, R"x(","subPathExpr":"$(B)"})x");
  MakePod(
      "wide",
      absl::StrCat(R"(,"env":[{"name":"B","value":")", std::string(3000, 'y'), R"("}],"volumeMounts":[)", mounts, "]"),
      R"(,"volumes":[{"name":"v","emptyDir":{}}])");
  Prepared();
  EXPECT_THAT(host_.started, IsEmpty());
  EXPECT_THAT(PodText("wide"), HasSubstr("too many to be started"));
  MakePod("short");
  Prepared();
  EXPECT_THAT(host_.started, SizeIs(1));
}

TEST_F(ProcessRuntimeTest, AChangeOfNoNameMakesNoNamesAnew) {
  MakePod("quiet");
  Prepared();
  const auto patch = [&](const std::string& body) {
    kube::Request request;
    request.method = "PATCH";
    request.path = api::PathOf(api::kPods, "default", "quiet");
    request.content_type = "application/merge-patch+json";
    request.body = body;
    EXPECT_TRUE(cluster_->api_server().Handle(request, {"user"}).ok());
    loop_.RunFor(absl::Milliseconds(1));  // all but the names, which settle for 2 ms
    const std::uint64_t before = loop_.steps();
    loop_.RunFor(absl::Milliseconds(2));
    return loop_.steps() - before;
  };
  EXPECT_GT(patch(R"({"metadata":{"labels":{"app":"x"}}})"), 0u) << "a Service may select it";
  EXPECT_EQ(patch(R"({"metadata":{"annotations":{"note":"x"}}})"), 0u);
}

// What handlers do over streams.
class RuntimeHandlersTest : public ProcessRuntimeTest {
 protected:
  // A pod that runs; `container` as for MakePod.
  void RunPod(const std::string& name, const std::string& container, const std::string& pod = "") {
    MakePod(name, container, pod);
    Prepared();
    ASSERT_FALSE(host_.started.empty()) << PodText(name);
    News news;
    news.id = run_ = host_.started.back().id;
    host_.events.on_started(news);
    loop_.RunFor(absl::Milliseconds(100));
  }
  // The newest stream ends so.
  void StreamEnds(int exit_code, const std::string& error = "") {
    News news;
    news.id = host_.opened.back().id;
    news.exit_code = exit_code;
    news.error = error;
    host_.events.on_stream_ended(news);
    loop_.RunFor(absl::Milliseconds(100));
  }
  void StreamSays(const std::string& bytes) {
    host_.events.on_stream_output(host_.opened.back().id, false, bytes);
    loop_.RunFor(absl::Milliseconds(100));
  }
  std::string run_;
};

TEST_F(RuntimeHandlersTest, ACommandSaysWhetherAContainerIsReady) {
  RunPod("asked", R"(,"readinessProbe":{"exec":{"command":["test","-f","/up"]}})");
  ASSERT_THAT(host_.opened, SizeIs(1));
  EXPECT_EQ(host_.opened[0].run, run_);
  EXPECT_THAT(host_.opened[0].argv, ElementsAre("test", "-f", "/up"));
  StreamSays("not there \x1b[1m");
  StreamEnds(1);
  EXPECT_THAT(EventsText(), HasSubstr(R"(Readiness probe failed: not there \\u001b[1m")"));
  EXPECT_THAT(PodText("asked"), Not(HasSubstr(R"("ready":true)")));
  loop_.RunFor(absl::Seconds(10));
  ASSERT_THAT(host_.opened, SizeIs(2)) << "periodSeconds";
  StreamEnds(0);
  EXPECT_THAT(PodText("asked"), HasSubstr(R"("ready":true)"));
}

TEST_F(RuntimeHandlersTest, WhoDoesNotAnswerInTimeHasFailedAndIsLeft) {
  RunPod("slow", R"(,"readinessProbe":{"exec":{"command":["sleep","9"]}})");
  ASSERT_THAT(host_.opened, SizeIs(1));
  EXPECT_THAT(host_.left, IsEmpty());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(host_.left, ElementsAre(host_.opened[0].id));
  EXPECT_THAT(EventsText(), HasSubstr(R"(Readiness probe failed: command timed out: \"sleep 9\" timed out after 1s)"));
}

TEST_F(RuntimeHandlersTest, ARequestGoesToThePodAndFollowsItsRedirections) {
  RunPod("web",
         R"(,"ports":[{"name":"http","containerPort":8080}],"readinessProbe":{"httpGet":{"port":"http","path":"up"}})");
  ASSERT_THAT(host_.opened, SizeIs(1));
  EXPECT_EQ(host_.opened[0].ip, "10.1.0.1");
  EXPECT_EQ(host_.opened[0].port, 8080);
  EXPECT_THAT(host_.written, HasSubstr("GET /up HTTP/1.1\r\nHost: 10.1.0.1:8080\r\n"));
  StreamSays("HTTP/1.1 302 Found\r\nLocation: http://10.1.0.1:81/there\r\n\r\n");
  ASSERT_THAT(host_.opened, SizeIs(2));
  EXPECT_EQ(host_.opened[1].port, 81);
  EXPECT_THAT(host_.left, ElementsAre(host_.opened[0].id));
  StreamSays("HTTP/1.1 503 Service");
  StreamSays(" Unavailable\r\n\r\n");
  EXPECT_THAT(EventsText(), HasSubstr("Readiness probe failed: HTTP probe failed with statuscode: 503"));
  loop_.RunFor(absl::Seconds(10));
  StreamEnds(128, "connect to 10.1.0.1:8080: Connection refused");
  EXPECT_THAT(EventsText(),
              HasSubstr(R"(Get \"http://10.1.0.1:8080/up\": dial tcp 10.1.0.1:8080: connect: connection refused)"));
  loop_.RunFor(absl::Seconds(10));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(EventsText(), HasSubstr("context deadline exceeded (Client.Timeout exceeded while awaiting headers)"));
  loop_.RunFor(absl::Seconds(9));
  StreamSays("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_THAT(PodText("web"), HasSubstr(R"("ready":true)"));
}

TEST_F(RuntimeHandlersTest, AConnectionIsEnough) {
  RunPod("tcp", R"(,"readinessProbe":{"tcpSocket":{"port":7000}})");
  ASSERT_THAT(host_.opened, SizeIs(1));
  EXPECT_TRUE(host_.opened[0].connect_only);
  StreamEnds(128, "connect to 10.1.0.1:7000: Connection refused");
  EXPECT_THAT(EventsText(), HasSubstr("Readiness probe failed: dial tcp 10.1.0.1:7000: connect: connection refused"));
  loop_.RunFor(absl::Seconds(10));
  StreamEnds(0);
  EXPECT_THAT(PodText("tcp"), HasSubstr(R"("ready":true)"));
}

TEST_F(RuntimeHandlersTest, WhatCannotBeAskedIsTold) {
  RunPod("port", R"(,"readinessProbe":{"httpGet":{"port":"web"}})");
  RunPod("name", R"(,"readinessProbe":{"tcpSocket":{"port":1,"host":"example.com"}})");
  EXPECT_THAT(host_.opened, IsEmpty());
  EXPECT_THAT(EventsText(), AllOf(HasSubstr("resulted in unknown state: strconv.Atoi: parsing "),
                                  HasSubstr("host example.com: names are not looked up")));
}

TEST_F(RuntimeHandlersTest, AHookIsOverBeforeTheSignal) {
  RunPod("hooked", R"(,"lifecycle":{"preStop":{"exec":{"command":["bye"]}}})", R"(,"terminationGracePeriodSeconds":5)");
  EXPECT_TRUE(Ask("DELETE", api::PathOf(api::kPods, "default", "hooked")).ok());
  loop_.RunFor(absl::Seconds(1));
  ASSERT_THAT(host_.opened, SizeIs(1));
  EXPECT_THAT(host_.opened[0].argv, ElementsAre("bye"));
  EXPECT_THAT(host_.signals, IsEmpty());
  StreamEnds(0);
  EXPECT_THAT(host_.signals, ElementsAre(SIGTERM));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(host_.signals, ElementsAre(SIGTERM, SIGKILL));
}

TEST_F(RuntimeHandlersTest, AHookThatHangsIsLeftAtTheEndOfTheGrace) {
  RunPod("hangs", R"(,"lifecycle":{"preStop":{"exec":{"command":["never"]}}})",
         R"(,"terminationGracePeriodSeconds":5)");
  EXPECT_TRUE(Ask("DELETE", api::PathOf(api::kPods, "default", "hangs")).ok());
  loop_.RunFor(absl::Seconds(6));
  EXPECT_THAT(host_.signals, ElementsAre(SIGTERM));
  EXPECT_THAT(host_.left, ElementsAre(host_.opened.at(0).id));
}

TEST_F(RuntimeHandlersTest, WhatRanInAContainerIsLeftWithIt) {
  RunPod("ends", R"(,"readinessProbe":{"exec":{"command":["true"]},"timeoutSeconds":60})");
  News news;
  news.id = run_;
  host_.events.on_ended(news);
  EXPECT_THAT(host_.left, ElementsAre(host_.opened.at(0).id));
}

TEST_F(RuntimeHandlersTest, AContainerHasTheUserThatItAsksFor) {
  RunPod("other", "", R"(,"securityContext":{"runAsUser":1000,"fsGroup":2000})");
  ASSERT_TRUE(host_.started.back().user.has_value());
  EXPECT_EQ(host_.started.back().user->uid, 1000);
  EXPECT_THAT(host_.started.back().user->groups, ElementsAre(2000));
  MakePod("root", R"(,"securityContext":{"runAsNonRoot":true})");
  Prepared();
  EXPECT_THAT(host_.started, SizeIs(1));
  EXPECT_THAT(PodText("root"), AllOf(HasSubstr("CreateContainerConfigError"),
                                     HasSubstr("container has runAsNonRoot and image will run as root")));
}

class TokensTest : public ProcessRuntimeTest {
 protected:
  TokensTest() { root_ca_ = "of this server"; }
  // The file of that name in the volume of the pod's token.
  std::string File(const std::string& name) {
    for (const auto& volume : std::filesystem::directory_iterator(
             absl::StrCat(temporary_.path(), "/pods/", host_.prepared.back().uid, "/volumes")))
      return testutil::ReadFile(absl::StrCat(volume.path().string(), "/", name));
    return "no volume";
  }
};

TEST_F(TokensTest, APodHasItsAccountsTokenAndHasItAnewInTime) {
  MakePod("p");
  Prepared();
  ASSERT_THAT(host_.started, SizeIs(1));
  EXPECT_THAT(host_.started[0].mounts,
              ::testing::Contains(::testing::Field(&Mount::target, "/var/run/secrets/kubernetes.io/serviceaccount")));
  EXPECT_EQ(File("ca.crt"), "of this server");
  EXPECT_EQ(File("namespace"), "default");
  const std::string token = File("token");
  EXPECT_THAT(token, ::testing::MatchesRegex("[^.]+\\.[^.]+\\.[^.]+"));
  loop_.RunFor(absl::Minutes(47));
  EXPECT_EQ(File("token"), token);
  loop_.RunFor(absl::Minutes(2));  // 4/5 of 3607 s
  const std::string second = File("token");
  EXPECT_NE(second, token);
  EXPECT_THAT(second, ::testing::MatchesRegex("[^.]+\\.[^.]+\\.[^.]+"));
  loop_.RunFor(absl::Minutes(50));
  EXPECT_NE(File("token"), second) << "and so on";
}

TEST_F(TokensTest, ATokenThatIsNotGivenHoldsThePod) {
  MakePod("p", R"(,"volumeMounts":[{"name":"t","mountPath":"/t"}])",
          R"(,"automountServiceAccountToken":false,"volumes":[{"name":"t","projected":{"sources":[)"
          R"({"serviceAccountToken":{"path":"token","expirationSeconds":700}}]}}])");
  EXPECT_THAT(host_.prepared, SizeIs(1));
  Ask("DELETE", api::PathOf(api::kPods, "default", "p"));
  // Its account goes before the token is asked for; the next has the name and is another.
  Ask("POST", api::PathOf(api::kServiceAccounts, "default"),
      R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"gone"}})");
  cluster_->Stop(Component::kKubelets);
  const kube::Response made = Ask("POST", api::PathOf(api::kPods, "default"),
                                  R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"q"},"spec":{"nodeName":)"
                                  R"("node-000","serviceAccountName":"gone","containers":[{"name":"main","image":"x",)"
                                  R"("command":["true"]}]}})");
  ASSERT_EQ(made.code, 201) << *made.body;
  Ask("DELETE", api::PathOf(api::kServiceAccounts, "default", "gone"));
  cluster_->Start(Component::kKubelets);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(EventsText(), AllOf(HasSubstr("FailedMount"), HasSubstr("failed to fetch token"),
                                  HasSubstr(R"(serviceaccounts \"gone\" not found)")));
  const std::size_t before = host_.prepared.size();
  Ask("POST", api::PathOf(api::kServiceAccounts, "default"),
      R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"gone"}})");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(host_.prepared.size(), before + 1) << "it goes on when there is one";
}

TEST_F(ProcessRuntimeTest, OnceItIsGoneItHearsNothing) {
  ASSERT_TRUE(host_.events.on_output);
  cluster_->Stop(Component::kKubelets);
  EXPECT_FALSE(host_.events.on_output);
}

}  // namespace
}  // namespace gangway::sandbox
