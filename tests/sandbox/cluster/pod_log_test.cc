// GET pods/log of simulated containers, whole and followed, as a kubelet behind an API server answers it.
#include "sandbox/cluster/pod_log.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using testutil::StatusIs;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";

class PodLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 1);
    options.kubelets.times.restart_backoff = absl::Seconds(10);
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
    cluster_->Start(Component::kKubelets);
    loop_.RunFor(absl::Seconds(1));
  }
  // A pod on the one node, running.
  void Create(const std::string& annotations, const std::string& restart = "Never",
              const std::string& more_containers = "") {
    const kube::Response made =
        Call("POST", kPods,
             absl::StrCat(R"({"metadata":{"name":"p","annotations":{)", annotations,
                          R"(}},"spec":{"nodeName":"node-000","restartPolicy":")", restart,
                          R"(","containers":[{"name":"c","image":"i"})", more_containers, "]}}"));
    ASSERT_EQ(made.code, 201) << *made.body;
  }
  kube::Response Call(const std::string& method, const std::string& path, const std::string& body = "",
                      const std::string& query = "") {
    std::optional<kube::Response> answer;
    user_->Send({method, path, query, "", "", body}, owner_.token(),
                [&](absl::StatusOr<kube::Response> reply) { answer = *std::move(reply); });
    EXPECT_TRUE(loop_.RunUntil([&] { return answer.has_value(); }, loop_.Now() + absl::Seconds(10)));
    return *std::move(answer);
  }
  std::vector<std::string> Log(const std::string& query = "") {
    const kube::Response answer = Call("GET", absl::StrCat(kPods, "/p/log"), "", query);
    EXPECT_EQ(answer.code, 200) << *answer.body;
    return absl::StrSplit(*answer.body, '\n', absl::SkipEmpty());
  }
  void Follow(const std::string& query = "") {
    stream_ = user_->StartText(
        {"GET", absl::StrCat(kPods, "/p/log"), absl::StrCat("follow=true", query), "", "", ""}, owner_.token(),
        [this](absl::string_view text) { absl::StrAppend(&text_, text); },
        [this](absl::Status status) { end_ = std::move(status); });
  }
  bool Ends(absl::Duration patience) {
    return loop_.RunUntil([&] { return end_.has_value(); }, loop_.Now() + patience);
  }
  std::vector<std::string> Followed() const { return absl::StrSplit(text_, '\n', absl::SkipEmpty()); }

  SimulatedLoop loop_{5};
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<InProcessClient> user_;
  std::string text_;
  std::optional<absl::Status> end_;
  std::unique_ptr<kube::Watch> stream_;
  Owner owner_;
};

TEST_F(PodLogTest, LinesComeAsTheyAreWrittenAndEndWithTheContainer) {
  Create(R"("sandbox.gangway.io/fail":"3500ms:7","sandbox.gangway.io/log":"1s:loss")");
  loop_.RunFor(absl::Milliseconds(1500));
  Follow();
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(Followed(), ElementsAre("p/c: simulated container started on node-000", "p/c: loss 1"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(Followed(), SizeIs(3));
  EXPECT_FALSE(end_.has_value());
  ASSERT_TRUE(Ends(absl::Seconds(5)));
  GW_EXPECT_OK(*end_);
  EXPECT_THAT(Followed(), ElementsAre(HasSubstr("started"), "p/c: loss 1", "p/c: loss 2", "p/c: loss 3",
                                      "p/c: ended with exit code 7"));
  EXPECT_EQ(Log(), Followed());
}

TEST_F(PodLogTest, EndsWithTheRunItBeganWith) {
  Create(R"("sandbox.gangway.io/fail":"2s:1")", "Always");
  loop_.RunFor(absl::Milliseconds(500));
  Follow("&timestamps=true");
  ASSERT_TRUE(Ends(absl::Seconds(5)));
  EXPECT_THAT(Followed(),
              ElementsAre(MatchesRegex("[0-9T:-]+\\.[0-9]{9}Z p/c: simulated container started on node-000"),
                          HasSubstr("step 1"), HasSubstr("exit code 1")));
  EXPECT_THAT(Log("previous=true"),
              ElementsAre(HasSubstr("started on node-000"), HasSubstr("step 1"), HasSubstr("exit code 1")));
  EXPECT_THAT(Log()[0], HasSubstr("restart 1"));
}

TEST_F(PodLogTest, EndsWithThePod) {
  Create("");
  loop_.RunFor(absl::Milliseconds(500));
  Follow();
  loop_.RunFor(absl::Seconds(2));
  EXPECT_FALSE(end_.has_value());
  Call("DELETE", absl::StrCat(kPods, "/p"));
  ASSERT_TRUE(Ends(absl::Seconds(40)));
  GW_EXPECT_OK(*end_);
}

TEST_F(PodLogTest, BreaksOffWithTheKubelet) {
  Create("");
  loop_.RunFor(absl::Milliseconds(500));
  Follow();
  loop_.RunFor(absl::Seconds(1));
  cluster_->Stop(Component::kKubelets);
  ASSERT_TRUE(Ends(absl::Seconds(1)));
  EXPECT_THAT(*end_, StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(PodLogTest, WhoeverStopsListeningIsForgotten) {
  Create("");
  loop_.RunFor(absl::Milliseconds(500));
  Follow();
  loop_.RunFor(absl::Seconds(1));
  stream_.reset();
  const std::string before = text_;
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(text_, before);
  EXPECT_FALSE(end_.has_value());
}

TEST_F(PodLogTest, CutAsAsked) {
  Create(R"("sandbox.gangway.io/finish":"5s")");
  loop_.RunFor(absl::Seconds(8));
  EXPECT_THAT(Log(), SizeIs(6));
  EXPECT_THAT(Log("tailLines=2"), ElementsAre("p/c: step 4", "p/c: ended with exit code 0"));
  EXPECT_THAT(Log("tailLines=0"), IsEmpty());
  EXPECT_THAT(Log("limitBytes=5"), ElementsAre("p/c: "));
  const absl::Time started = absl::FromUnixSeconds(1'767'225'601);
  EXPECT_THAT(
      Log(absl::StrCat("sinceTime=", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", started + absl::Milliseconds(3900),
                                                      absl::UTCTimeZone()))),
      ElementsAre("p/c: step 3", "p/c: step 4", "p/c: ended with exit code 0"));  // whole seconds
  Follow("&tailLines=1&limitBytes=8");
  ASSERT_TRUE(Ends(absl::Seconds(1)));
  EXPECT_EQ(text_, "p/c: end");
}

TEST_F(PodLogTest, ALongLogKeepsItsEnd) {
  Create(R"("sandbox.gangway.io/log":"1ms")");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(Log(), SizeIs(ContainerLog::kKept));
  EXPECT_THAT(Log()[0], HasSubstr("step "));
}

TEST(LogTextTest, LinesThatTheLogDroppedMeanwhileAreLeftOut) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  const auto written = std::make_shared<WrittenLog>(4 * (WrittenLog::kLineCost + 1));
  ContainerLog log;
  log.written = written;
  LogText text({}, now);
  std::string out;
  written->Append(now, "1\n2\n");
  text.Append(log, now, out);
  EXPECT_EQ(out, "1\n2\n");
  written->Append(now, "3\n4\n5\n6\n7\n8\n9\n");
  text.Append(log, now, out);
  EXPECT_EQ(out, "1\n2\n6\n7\n8\n9\n");
  text.Append(log, now, out);
  EXPECT_EQ(out, "1\n2\n6\n7\n8\n9\n");
}

TEST(LogTextTest, ALongLineIsStampedOnce) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  const auto written = std::make_shared<WrittenLog>();
  ContainerLog log;
  log.written = written;
  LogQuery query;
  query.timestamps = true;
  LogText text(query, now);
  std::string out;
  const std::string part(WrittenLog::kMaxLine, 'x');
  written->Append(now, part);
  text.Append(log, now, out);
  written->Append(now, "y\nz\n");
  text.Append(log, now, out);
  const std::string stamp = "2027-01-15T08:00:00.000000000Z ";
  EXPECT_EQ(out, absl::StrCat(stamp, part, "y\n", stamp, "z\n"));
}

struct RefusedCase {
  const char* query;
  int code;
  const char* says;
};

TEST_F(PodLogTest, RefusedAsTheRealOneRefuses) {
  Create("", "Never", R"(,{"name":"d","image":"i"})");
  for (const std::string follow : {"", "follow=true&"}) {
    for (const RefusedCase& refused :
         {RefusedCase{"", 400, "a container name must be specified for pod p, choose one of: [c d]"},
          RefusedCase{"container=c", 400, "container \\\"c\\\" in pod \\\"p\\\" is waiting to start"},
          RefusedCase{"container=x", 400, "container x is not valid for pod p"},
          RefusedCase{"container=c&tailLines=-1", 422,
                      "tailLines: Invalid value: -1: must be greater than or equal to 0"}}) {
      const kube::Response answer = Call("GET", absl::StrCat(kPods, "/p/log"), "", follow + refused.query);
      if (follow.empty()) {
        EXPECT_EQ(answer.code, refused.code) << refused.query;
        EXPECT_THAT(*answer.body, HasSubstr(refused.says));
      }
      end_.reset();
      Follow(absl::StrCat("&", refused.query));
      ASSERT_TRUE(Ends(absl::Seconds(1)));
      EXPECT_FALSE(end_->ok());
    }
  }
  loop_.RunFor(absl::Seconds(1));
  const kube::Response previous = Call("GET", absl::StrCat(kPods, "/p/log"), "", "container=c&previous=true");
  EXPECT_EQ(previous.code, 400);
  EXPECT_THAT(*previous.body, HasSubstr("previous terminated container \\\"c\\\" in pod \\\"p\\\" not found"));
}

}  // namespace
}  // namespace gangway::sandbox
