// `gangway logs`, with and without -f, in an embedded cluster on a simulated clock.
#include <functional>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "base/simulated_loop.h"
#include "cmd/logs/log_follower.h"
#include "cmd/logs/log_printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testutil::StatusIs;

// Two trainers with an init container; the policies and the rest are the case's.
std::string JobJson(const std::string& more_spec = "", const std::string& pod_annotations = "",
                    const std::string& restart = "Never") {
  return absl::StrCat(
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"},"spec":{"schedulerName":"volcano","minAvailable":2,)",
      R"("tasks":[{"name":"w","replicas":2,"template":{"metadata":{"annotations":{)", pod_annotations,
      R"(}},"spec":{"restartPolicy":")", restart,
      R"(","initContainers":[{"name":"fetch","image":"i"}],"containers":[{"name":"main","image":"i"}]}}}])", more_spec,
      "}}");
}

class LogStreamTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> finish, std::vector<std::string> fail, const std::string& job,
             sandbox::Faults faults = {}) {
    sandbox::ClusterOptions options;
    options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape("")}, 2);
    options.kubelets.behaviour = *sandbox::Behaviour::Parse(finish, fail);
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, std::move(options));
    user_ = std::make_unique<sandbox::InProcessClient>(loop_, cluster_->api_server(), "user", std::move(faults));
    cluster_->Start();
    loop_.RunFor(absl::Seconds(1));
    ASSERT_EQ(Call("POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", job).code, 201);
  }
  kube::Response Call(const std::string& method, const std::string& path, const std::string& body = "") {
    std::optional<kube::Response> answer;
    user_->Send({method, path, "", "", "", body}, owner_.token(),
                [&](absl::StatusOr<kube::Response> reply) { answer = *std::move(reply); });
    EXPECT_TRUE(loop_.RunUntil([&] { return answer.has_value(); }, loop_.Now() + absl::Seconds(10)));
    return *std::move(answer);
  }
  Job GetJob() {
    return *api::Decode<Job>(*Call("GET", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/j").body);
  }
  std::vector<api::core::Pod> Pods() {
    const auto list = api::ParseJson(*Call("GET", "/api/v1/namespaces/default/pods").body);
    std::vector<api::core::Pod> pods;
    for (const auto& item : list->at("items").as_array())
      pods.push_back(*api::Decode<api::core::Pod>(api::ToJson(item)));
    return pods;
  }
  LogOutput Output() {
    LogOutput output;
    output.print = [this](absl::string_view text) {
      EXPECT_TRUE(absl::EndsWith(text, "\n"));
      for (absl::string_view line : absl::StrSplit(text.substr(0, text.size() - 1), '\n')) lines_.emplace_back(line);
    };
    output.tell = [this](absl::string_view note) { notes_.emplace_back(note); };
    return output;
  }
  void Follow(FollowOptions options = {}) {
    follower_ = std::make_unique<LogFollower>(
        loop_, *user_, *user_, GetJob(), std::move(options), Output(),
        [this](const Job*, const Job* after) { phases_.push_back(after->status.state.phase); },
        [this](absl::Status status) { end_ = std::move(status); });
    follower_->Start();
  }
  absl::Status End(absl::Duration patience = absl::Minutes(5)) {
    EXPECT_TRUE(loop_.RunUntil([&] { return end_.has_value(); }, loop_.Now() + patience))
        << lines_.size() << " lines, " << notes_.size() << " notes";
    return end_.value_or(absl::UnknownError("no end"));
  }
  absl::Status Print(LogChoice choice = {}) {
    lines_.clear();
    end_.reset();
    LogPrinter printer(loop_, *user_, Pods(), std::move(choice), Output(),
                       [this](absl::Status status) { end_ = std::move(status); });
    printer.Start();
    return End();
  }
  std::vector<std::string> LinesOf(const std::string& prefix) const {
    std::vector<std::string> out;
    for (const std::string& line : lines_) {
      if (absl::StartsWith(line, prefix)) out.push_back(line.substr(prefix.size()));
    }
    return out;
  }

  SimulatedLoop loop_{3};
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::unique_ptr<sandbox::InProcessClient> user_;
  std::vector<std::string> lines_, notes_, phases_;
  std::optional<absl::Status> end_;
  std::unique_ptr<LogFollower> follower_;
  Owner owner_;
};

TEST_F(LogStreamTest, FollowsFromBeforeTheFirstPodToTheEnd) {
  Start({"w=5s"}, {}, JobJson());
  Follow();
  GW_EXPECT_OK(End());
  for (const std::string pod : {"w-0", "w-1"}) {
    EXPECT_THAT(LinesOf(absl::StrCat("[", pod, "/fetch] ")),
                ElementsAre(HasSubstr("started on node-"), HasSubstr("exit code 0")));
    const std::string who = absl::StrCat("j-", pod, "/main: ");
    EXPECT_THAT(LinesOf(absl::StrCat("[", pod, "/main] ")),
                ElementsAre(StartsWith(who + "simulated container started"), who + "step 1", who + "step 2",
                            who + "step 3", who + "step 4", who + "ended with exit code 0"));
  }
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_EQ(phases_.back(), "Completed");
}

TEST_F(LogStreamTest, FollowsThePodsThatARestartMakesAnew) {
  Start({"w=4s"}, {"w-1=2s:137x1"},
        JobJson(R"(,"maxRetry":3,"policies":[{"event":"PodFailed","action":"RestartJob"}])"));
  Follow();
  GW_EXPECT_OK(End());
  const std::vector<std::string> one = LinesOf("[w-1/main] ");
  EXPECT_THAT(one,
              ElementsAre(HasSubstr("started"), HasSubstr("step 1"), HasSubstr("exit code 137"), HasSubstr("started"),
                          HasSubstr("step 1"), HasSubstr("step 2"), HasSubstr("step 3"), HasSubstr("exit code 0")));
  EXPECT_THAT(phases_, Contains("Restarting"));
}

TEST_F(LogStreamTest, FollowsRestartsInThePod) {
  Start({}, {"w=2s:1"}, JobJson("", "", "OnFailure"));
  Follow();
  EXPECT_FALSE(loop_.RunUntil([&] { return end_.has_value(); }, loop_.Now() + absl::Seconds(20)));
  EXPECT_THAT(LinesOf("[w-0/main] "),
              ElementsAre(HasSubstr("started on"), HasSubstr("step 1"), HasSubstr("exit code 1"),
                          HasSubstr("restart 1"), HasSubstr("step 1"), HasSubstr("exit code 1"), HasSubstr("restart 2"),
                          HasSubstr("step 1"), HasSubstr("exit code 1")));
  LogChoice previous;
  previous.previous = true;
  previous.tasks = {"w"};
  GW_EXPECT_OK(Print(previous));
  EXPECT_THAT(LinesOf("[w-0/main] "), Contains(HasSubstr("exit code 1")));
  EXPECT_THAT(LinesOf("[w-0/fetch] "), IsEmpty());
}

TEST_F(LogStreamTest, HowTheJobEnded) {
  Start({}, {"w-1=2s:3"}, JobJson(R"(,"policies":[{"event":"PodFailed","action":"AbortJob"}])"));
  Follow();
  EXPECT_THAT(End(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("job default/j is Aborted")));
  EXPECT_THAT(LinesOf("[w-1/main] "), Contains(HasSubstr("exit code 3")));
}

TEST_F(LogStreamTest, ADeletedJobEndsIt) {
  Start({}, {}, JobJson());
  Follow();
  loop_.RunFor(absl::Seconds(5));
  Call("DELETE", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/j");
  EXPECT_THAT(End(), StatusIs(absl::StatusCode::kCancelled, HasSubstr("was deleted")));
  EXPECT_THAT(LinesOf("[w-0/main] "), Not(IsEmpty()));
}

TEST_F(LogStreamTest, ConnectionsThatBreakLoseAndRepeatNothing) {
  sandbox::Faults faults;
  int breaks = 0;
  faults.frames = [&](const kube::Request& request, const std::vector<kube::Frame>&) {
    sandbox::WatchFate fate;
    fate.break_before = absl::StrContains(request.path, "/log") && loop_.Random() % 3 == 0;
    breaks += fate.break_before ? 1 : 0;
    return fate;
  };
  Start({"w=60s"}, {}, JobJson("", R"("sandbox.gangway.io/log":"300ms:loss")"), std::move(faults));
  Follow();
  GW_EXPECT_OK(End());
  EXPECT_GT(breaks, 20);
  for (const std::string pod : {"w-0", "w-1"}) {
    std::vector<std::string> wanted{absl::StrCat("j-", pod, "/main: simulated container started on ")};
    for (int i = 1; i < 200; ++i) wanted.push_back(absl::StrCat("j-", pod, "/main: loss ", i));
    wanted.push_back(absl::StrCat("j-", pod, "/main: ended with exit code 0"));
    std::vector<std::string> got = LinesOf(absl::StrCat("[", pod, "/main] "));
    ASSERT_FALSE(got.empty());
    got.front().resize(wanted.front().size());
    EXPECT_EQ(got, wanted);
  }
}

TEST_F(LogStreamTest, WhatKeepsItFromSeeingThePodsIsTold) {
  sandbox::Faults faults;
  faults.request = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (absl::EndsWith(request.path, "/pods") && request.method == "GET")
      fate.loss = sandbox::RequestFate::Loss::kReply;
    return fate;
  };
  Start({}, {}, JobJson(), std::move(faults));
  Follow();
  loop_.RunFor(absl::Seconds(30));
  ASSERT_FALSE(notes_.empty());
  EXPECT_THAT(notes_.front(), StartsWith("trying on: the API server does not answer"));
  EXPECT_LE(notes_.size(), 2u);
}

TEST_F(LogStreamTest, TailIsAboutWhatWasThereBefore) {
  Start({"w=10s"}, {}, JobJson());
  loop_.RunFor(absl::Milliseconds(5500));
  FollowOptions options;
  options.choice.tail = 1;
  options.choice.containers = {"main"};
  Follow(std::move(options));
  GW_EXPECT_OK(End());
  const std::vector<std::string> lines = LinesOf("[w-0/main] ");
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines, Each(AllOf(Not(HasSubstr("started")), Not(HasSubstr("step 1")), Not(HasSubstr("step 2")))));
  EXPECT_THAT(lines, AllOf(Contains(HasSubstr("step 9")), Contains(HasSubstr("exit code 0"))));
  EXPECT_THAT(LinesOf("[w-0/fetch] "), IsEmpty());
}

TEST_F(LogStreamTest, TooManyAreRefusedAndSaidHowToChoose) {
  Start({}, {}, JobJson());
  loop_.RunFor(absl::Seconds(5));
  FollowOptions options;
  options.max_streams = 3;
  Follow(std::move(options));
  EXPECT_THAT(End(), StatusIs(absl::StatusCode::kInvalidArgument,
                              AllOf(HasSubstr("4 containers of job j have logs, more than the 3"),
                                    HasSubstr("--max-log-requests"))));
}

TEST_F(LogStreamTest, PrintsWhatIsThere) {
  Start({}, {}, JobJson());
  loop_.RunFor(absl::Milliseconds(2500));
  GW_EXPECT_OK(Print());
  ASSERT_FALSE(lines_.empty());
  EXPECT_THAT(lines_.front(), StartsWith("[w-0/fetch] j-w-0/fetch: simulated container started"));
  EXPECT_THAT(lines_.back(), StartsWith("[w-1/main] j-w-1/main: step"));
  LogChoice choice;
  choice.tail = 1;
  choice.prefix = false;
  choice.timestamps = true;
  choice.containers = {"main"};
  GW_EXPECT_OK(Print(choice));
  EXPECT_THAT(lines_, ElementsAre(::testing::MatchesRegex("2026-01-01T00:00:0[0-9.]+Z j-w-0/main: step 2"),
                                  HasSubstr("j-w-1/main: step 2")));
  choice.previous = true;
  EXPECT_THAT(Print(choice), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no container has run before")));
}

TEST_F(LogStreamTest, PodsThatHaveNotStartedAreTold) {
  Start({}, {}, JobJson());
  cluster_->Stop(sandbox::Component::kKubelets);
  loop_.RunFor(absl::Seconds(2));
  GW_EXPECT_OK(Print());
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_THAT(notes_, Contains("w-0: container main has written nothing yet: not started yet"));
}

}  // namespace
}  // namespace gangway::cmd
