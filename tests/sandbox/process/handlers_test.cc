// The parts that probes and hooks are made of: when to ask and what answers mean, how a run is ended, what is sent by
// HTTP, and as whom a container runs.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/process/http_get.h"
#include "sandbox/process/probe_state.h"
#include "sandbox/process/run_stop.h"
#include "sandbox/process/security.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Answer = HandlerResult::Answer;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

TEST(ProbeStateTest, ItIsAskedAfterItsDelayAndThenOnceAPeriod) {
  HostedProbe probe;
  probe.initial_delay_seconds = 15;
  probe.period_seconds = 10;
  ProbeState state;
  EXPECT_EQ(NextProbe(probe, state, kStart), kStart + absl::Seconds(15));
  state.asked = kStart + absl::Seconds(15);
  state.under_way = true;
  EXPECT_EQ(NextProbe(probe, state, kStart), absl::InfiniteFuture());
  TakeAnswer(probe, {HandlerUse::kReadiness, Answer::kSuccess, ""}, state);
  EXPECT_EQ(NextProbe(probe, state, kStart), kStart + absl::Seconds(25));
}

struct ThresholdCase {
  const char* name;
  HandlerUse use;
  std::string answers;   // s, f, u
  std::string verdicts;  // after each: - none, y, n
  bool settled;
};
class ThresholdTest : public ::testing::TestWithParam<ThresholdCase> {};
TEST_P(ThresholdTest, VerdictsComeWithEnoughAnswersInARow) {
  HostedProbe probe;
  probe.success_threshold = GetParam().use == HandlerUse::kReadiness ? 2 : 1;
  probe.failure_threshold = 3;
  ProbeState state;
  std::string verdicts;
  for (const char c : GetParam().answers) {
    TakeAnswer(probe,
               {GetParam().use,
                c == 's'   ? Answer::kSuccess
                : c == 'f' ? Answer::kFailure
                           : Answer::kUnknown,
                ""},
               state);
    verdicts.push_back(!state.verdict ? '-' : *state.verdict ? 'y' : 'n');
  }
  EXPECT_EQ(verdicts, GetParam().verdicts);
  EXPECT_EQ(state.settled, GetParam().settled);
}
INSTANTIATE_TEST_SUITE_P(
    All, ThresholdTest,
    ::testing::Values(ThresholdCase{"Readiness", HandlerUse::kReadiness, "sfssfffss", "---yyynny", false},
                      ThresholdCase{"UnknownCountsForNothing", HandlerUse::kReadiness, "susu", "--yy", false},
                      ThresholdCase{"LivenessFailsForGood", HandlerUse::kLiveness, "sffff", "yyynn", true},
                      ThresholdCase{"LivenessGoesOn", HandlerUse::kLiveness, "sffsff", "yyyyyy", false},
                      ThresholdCase{"StartupIsOver", HandlerUse::kStartup, "ffs", "--y", true},
                      ThresholdCase{"StartupFailsForGood", HandlerUse::kStartup, "fff", "--n", true}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(RunStopTest, WithoutAHookItIsASignalAndThenTheKill) {
  RunStop stop;
  stop.until = kStart + absl::Seconds(5);
  StopStep step = NextStopStep(stop, kStart);
  EXPECT_TRUE(step.terminate);
  EXPECT_FALSE(step.kill);
  EXPECT_EQ(step.look_again, kStart + absl::Seconds(5));
  step = NextStopStep(stop, kStart + absl::Seconds(5));
  EXPECT_FALSE(step.terminate);
  EXPECT_TRUE(step.kill);
  step = NextStopStep(stop, kStart + absl::Seconds(6));
  EXPECT_FALSE(step.terminate || step.kill) << "each once";
  EXPECT_EQ(step.look_again, absl::InfiniteFuture());
}

TEST(RunStopTest, AHookThatTakesTheWholeGraceLeavesTwoSeconds) {
  RunStop stop;
  stop.until = kStart + absl::Seconds(5);
  stop.hook = RunStop::Hook::kUnderWay;
  StopStep step = NextStopStep(stop, kStart);
  EXPECT_FALSE(step.terminate);
  EXPECT_EQ(step.look_again, kStart + absl::Seconds(5));
  step = NextStopStep(stop, kStart + absl::Seconds(5));
  EXPECT_TRUE(step.terminate);
  EXPECT_FALSE(step.kill);
  EXPECT_EQ(step.look_again, kStart + absl::Seconds(7));
  EXPECT_TRUE(NextStopStep(stop, kStart + absl::Seconds(7)).kill);
}

TEST(RunStopTest, AGraceThatIsShortOrOverLeavesTwoSecondsToo) {
  for (const absl::Duration grace : {absl::ZeroDuration(), absl::Seconds(1)}) {
    RunStop stop;
    stop.until = kStart + grace;
    StopStep step = NextStopStep(stop, kStart);
    EXPECT_TRUE(step.terminate);
    EXPECT_FALSE(step.kill);
    EXPECT_EQ(step.look_again, kStart + absl::Seconds(2));
    EXPECT_TRUE(NextStopStep(stop, kStart + absl::Seconds(2)).kill);
  }
}

HostedContainer WithPorts() {
  HostedContainer out;
  out.name = "main";
  api::core::ContainerPort port;
  port.name = "http";
  port.container_port = 8080;
  out.ports.push_back(port);
  return out;
}

TEST(HttpGetTest, APortIsANumberOrAName) {
  EXPECT_EQ(*PortOf({"81"}, WithPorts()), 81);
  EXPECT_EQ(*PortOf({"\"http\""}, WithPorts()), 8080);
  EXPECT_EQ(*PortOf({"\"82\""}, WithPorts()), 82);
  EXPECT_THAT(PortOf({"\"https\""}, WithPorts()).status().message(),
              HasSubstr("strconv.Atoi: parsing \"https\": invalid syntax: container main has no port of that name"));
  for (const char* const wrong : {"0", "65536", "-1", "", "{}", "99999999999999999999"})
    EXPECT_THAT(PortOf({wrong}, WithPorts()).status().message(), HasSubstr("invalid port number")) << wrong;
}

TEST(HttpGetTest, WhatIsSent) {
  HttpGetAction action;
  const HttpTarget target = TargetOf("10.1.0.1", 80, "a b?x=1\r\ny");
  EXPECT_EQ(target.url(), "http://10.1.0.1:80/a%20b?x=1%0D%0Ay");
  EXPECT_EQ(HttpGetRequest(target, action),
            "GET /a%20b?x=1%0D%0Ay HTTP/1.1\r\nHost: 10.1.0.1:80\r\nUser-Agent: kube-probe/\r\nAccept: */*\r\n"
            "Connection: close\r\n\r\n");
  action.http_headers = {{"host", "name"}, {"X-Token", "t"}, {"user-agent", "mine"}};
  EXPECT_EQ(HttpGetRequest(target, action),
            "GET /a%20b?x=1%0D%0Ay HTTP/1.1\r\nHost: name\r\nAccept: */*\r\nX-Token: t\r\nuser-agent: mine\r\n"
            "Connection: close\r\n\r\n");
}

TEST(HttpGetTest, AnAnswerIsReadOnceItsHeaderIsComplete) {
  const std::string whole = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 302 Found\r\nlocation:  /next \r\nA: b\r\n\r\nbody";
  for (std::size_t i = 0; i < whole.size() - 4; ++i) {
    const auto answer = ReadHttpAnswer(absl::string_view(whole).substr(0, i));
    GW_ASSERT_OK(answer);
    EXPECT_FALSE(answer->has_value()) << i;
  }
  const auto answer = ReadHttpAnswer(whole);
  GW_ASSERT_OK(answer);
  EXPECT_EQ((*answer)->code, 302);
  EXPECT_EQ((*answer)->location, "/next");
}

TEST(HttpGetTest, WhatIsNoAnswerIsRefused) {
  for (const std::string& wrong : {std::string("SSH-2.0-x\r\n"), std::string("HTTP/2 200\r\n\r\n"),
                                   std::string("HTTP/1.1 20\r\n\r\n"), std::string("HTTP/1.1 000 x\r\n\r\n")})
    EXPECT_THAT(ReadHttpAnswer(wrong).status().message(), HasSubstr("malformed HTTP response")) << wrong;
  EXPECT_THAT(ReadHttpAnswer("HTTP/1.1 200 OK\r\nA: " + std::string(kMaxHttpHeader, 'x')).status().message(),
              HasSubstr("exceeds 16384 bytes"));
}

TEST(HttpGetTest, ARedirectionIsFollowedOnItsHost) {
  const HttpTarget from = TargetOf("10.1.0.1", 80, "/");
  const auto to = [&](int code, const std::string& location) {
    const auto target = RedirectOf(from, {code, location});
    return target ? target->url() : "none";
  };
  EXPECT_EQ(to(302, "/x"), "http://10.1.0.1:80/x");
  EXPECT_EQ(to(307, "http://10.1.0.1:81/y?z"), "http://10.1.0.1:81/y?z");
  EXPECT_EQ(to(301, "http://10.1.0.1"), "http://10.1.0.1:80/");
  EXPECT_EQ(to(304, "/x"), "none");
  for (const char* const elsewhere :
       {"http://10.1.0.12/", "https://10.1.0.12/", "ftp://10.1.0.1/", "//10.1.0.2/", "", "http://10.1.0.1:0/"})
    EXPECT_EQ(to(302, elsewhere), "none") << elsewhere;
  EXPECT_EQ(to(302, "https://10.1.0.1/z"), "https://10.1.0.1:443/z");
  const auto from_tls = RedirectOf(TargetOf("10.1.0.1", 8443, "/", true), {302, "/x"});
  ASSERT_TRUE(from_tls.has_value());
  EXPECT_EQ(from_tls->url(), "https://10.1.0.1:8443/x");
}

HostedPod Secured(absl::string_view pod, absl::string_view container) {
  return *api::Decode<HostedPod>(absl::StrCat(R"({"metadata":{"name":"p","namespace":"default","uid":"u1"},"spec":{)",
                                              pod, R"("containers":[{"name":"main")", container, "}]}}"));
}

TEST(SecurityTest, NothingIsAskedByDefault) {
  const HostedPod pod = Secured(R"("securityContext":{},)", R"(,"securityContext":{"runAsNonRoot":false})");
  const auto user = UserOf(pod, pod.spec.containers[0]);
  GW_ASSERT_OK(user);
  EXPECT_FALSE(user->has_value());
  EXPECT_THAT(IgnoredFields(pod), IsEmpty());
}

TEST(SecurityTest, TheContainersWordComesFirstAndGroupsAreThePods) {
  const HostedPod pod = Secured(
      R"("securityContext":{"runAsUser":1000,"runAsGroup":1001,"fsGroup":2000,"supplementalGroups":[3000],"runAsNonRoot":true},)",
      R"(,"securityContext":{"runAsUser":7,"allowPrivilegeEscalation":false})");
  const auto user = UserOf(pod, pod.spec.containers[0]);
  GW_ASSERT_OK(user);
  ASSERT_TRUE(user->has_value());
  EXPECT_EQ((*user)->uid, 7);
  EXPECT_EQ((*user)->gid, 1001);
  EXPECT_THAT((*user)->groups, ElementsAre(2000, 3000));
  EXPECT_TRUE((*user)->no_new_privileges);
}

TEST(SecurityTest, RootIsRefusedWhereItMustNotBe) {
  const HostedPod image = Secured("", R"(,"securityContext":{"runAsNonRoot":true})");
  EXPECT_EQ(UserOf(image, image.spec.containers[0]).status().message(),
            "container has runAsNonRoot and image will run as root (pod: \"p_default(u1)\", container: main)");
  const HostedPod said = Secured(R"("securityContext":{"runAsNonRoot":true,"runAsUser":0},)", "");
  EXPECT_EQ(UserOf(said, said.spec.containers[0]).status().message(),
            "container's runAsUser breaks non-root policy (pod: \"p_default(u1)\", container: main)");
}

TEST(SecurityTest, WhatIsIgnoredHasItsPath) {
  const HostedPod pod = Secured(
      R"("hostIPC":true,"hostPID":true,"shareProcessNamespace":true,"activeDeadlineSeconds":5,"securityContext":{"seccompProfile":{"type":"RuntimeDefault"},"sysctls":[],"supplementalGroupsPolicy":"Strict","fsGroupChangePolicy":"OnRootMismatch"},)",
      R"(,"stdin":true,"tty":true,"securityContext":{"privileged":true,"capabilities":{"drop":["ALL"]}},"lifecycle":{"stopSignal":"SIGINT"})");
  EXPECT_THAT(
      IgnoredFields(pod),
      ElementsAre(HasSubstr("spec.securityContext.seccompProfile: ignored: "),
                  HasSubstr("spec.securityContext.supplementalGroupsPolicy: ignored: "),
                  HasSubstr("spec.securityContext.fsGroupChangePolicy: ignored: "),
                  HasSubstr("spec.activeDeadlineSeconds: ignored: "), HasSubstr("spec.hostPID: ignored: "),
                  HasSubstr("spec.shareProcessNamespace: ignored: "), HasSubstr("spec.hostIPC: ignored: "),
                  HasSubstr("spec.containers[0].securityContext.privileged: ignored: "),
                  HasSubstr("spec.containers[0].securityContext.capabilities: ignored: "),
                  HasSubstr("spec.containers[0].lifecycle.stopSignal: ignored: "),
                  HasSubstr("spec.containers[0].stdin: ignored: "), HasSubstr("spec.containers[0].tty: ignored: ")));
  const HostedPod usual = Secured(
      R"("securityContext":{"supplementalGroupsPolicy":"Merge","fsGroupChangePolicy":"Always"},)", R"(,"stdin":false)");
  EXPECT_THAT(IgnoredFields(usual), IsEmpty());
}

}  // namespace
}  // namespace gangway::sandbox
