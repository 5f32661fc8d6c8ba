// `gangway archive` beside a `gangway sandbox`: what has ended is in the archive once, whoever dies meanwhile.
#include <csignal>
#include <mutex>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/scripted_server.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ArchiveProcessTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  std::vector<std::string> Words(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {GW_GANGWAY, "archive", "--kubeconfig", sandbox_->kubeconfig()});
    return flags;
  }
  void Create(const std::string& name, const std::string& more = "") const {
    const std::string job = absl::StrCat(
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name, R"("},"spec":{)", more,
        R"("minAvailable":2,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],"tasks":[{"name":"worker","replicas":2,
          "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"worker","image":"i"}]}}}]}})");
    const Outcome outcome = sandbox_->Kubectl({"create", "-f", "-"}, job);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  std::string Of(const std::string& job, const std::string& path) const {
    return sandbox_->Kubectl({"get", "vcjob", job, "-o", absl::StrCat("jsonpath={", path, "}")}).out;
  }
  bool BecomesCompleted(const std::string& job) const {
    return Eventually([&] { return Of(job, ".status.state.phase") == "Completed"; });
  }
  bool Gone(const std::string& job) const {
    return Eventually([&] { return absl::StrContains(sandbox_->Kubectl({"get", "vcjob", job}).err, "NotFound"); });
  }
  std::vector<boost::json::value> Records() const {
    std::vector<boost::json::value> out;
    for (const absl::string_view line : absl::StrSplit(ReadFile(file_), '\n', absl::SkipEmpty()))
      out.push_back(boost::json::parse({line.data(), line.size()}));
    return out;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> out;
    for (const boost::json::value& record : Records()) out.emplace_back(record.at("name").as_string());
    return out;
  }

  const TemporaryFolder folder_{"gangway-archive"};
  const std::string file_ = folder_.path() + "/jobs.jsonl", log_ = folder_.path() + "/log";
  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(ArchiveProcessTest, OnceIsOnceHoweverOftenItIsAsked) {
  Start({"--finish", "worker=50ms"});
  Create("first");
  Create("waits", R"("queue":"default","schedulerName":"nobody",)");
  ASSERT_TRUE(BecomesCompleted("first"));
  const Outcome once = RunProgram(Words({"--file", file_, "--once"}));
  EXPECT_EQ(once.exit_code, 0) << once.err;
  EXPECT_EQ(once.out, "1 job archived, 0 were there before\n");
  const Outcome again = RunProgram(Words({"--file", file_, "--once"}));
  EXPECT_EQ(again.out, "0 jobs archived, 1 was there before\n") << again.err;
  ASSERT_THAT(Records(), SizeIs(1));
  const boost::json::value record = Records()[0];
  EXPECT_EQ(record.at("name"), "first");
  EXPECT_EQ(record.at("phase"), "Completed");
  EXPECT_EQ(record.at_pointer("/job/spec/minAvailable"), 2);
  ASSERT_EQ(record.at("pods").as_array().size(), 2u);
  EXPECT_EQ(record.at_pointer("/pods/0/phase"), "Succeeded");
  EXPECT_EQ(record.at_pointer("/pods/0/task"), "worker");
  EXPECT_THAT(boost::json::serialize(record.at("events")), HasSubstr("CompleteJob"));
}

TEST_F(ArchiveProcessTest, ItFollowsAndRemembersWhatWentBeforeItsJob) {
  Start({"--finish", "worker=300ms"});
  ChildProcess archive(Words({"--file", file_}), log_);
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(ReadFile(log_), "following"); }));
  Create("follows");
  EXPECT_TRUE(Eventually([&] { return Records().size() == 1; })) << ReadFile(log_);
  EXPECT_EQ(Records()[0].at_pointer("/podGroup/kind"), "PodGroup") << "it went when the job completed";
  Create("runs", R"("queue":"default","schedulerName":"nobody",)");
  ASSERT_EQ(sandbox_->Kubectl({"delete", "vcjob", "runs"}).exit_code, 0);
  EXPECT_TRUE(Eventually([&] { return Records().size() == 2; })) << ReadFile(log_);
  EXPECT_EQ(Records()[1].at("deleted"), true);
  EXPECT_EQ(archive.Stop(), 0);
  EXPECT_THAT(ReadFile(log_), HasSubstr("2 jobs archived"));
}

TEST_F(ArchiveProcessTest, NoTtlIsFasterThanAHold) {
  Start({"--finish", "worker=1s"});
  {
    ChildProcess archive(Words({"--file", file_, "--hold"}), log_);
    Create("brief", R"("ttlSecondsAfterFinished":0,)");
    Create("long", R"("ttlSecondsAfterFinished":3600,)");
    for (const std::string job : {"brief", "long"})
      ASSERT_TRUE(Eventually([&] { return Of(job, ".metadata.finalizers") == R"(["gangway.io/archive"])"; }));
    archive.Signal(SIGKILL);
    archive.Wait();
  }
  // Nobody archives; the job is over and its time is up.
  ASSERT_TRUE(Eventually([&] { return !Of("brief", ".metadata.deletionTimestamp").empty(); }));
  ASSERT_TRUE(BecomesCompleted("long"));
  EXPECT_THAT(Records(), IsEmpty());
  ChildProcess archive(Words({"--file", file_, "--hold"}), log_);
  EXPECT_TRUE(Gone("brief"));
  EXPECT_TRUE(Eventually([&] { return Of("long", ".metadata.finalizers").empty(); }));
  EXPECT_THAT(Names(), UnorderedElementsAre("brief", "long"));
  EXPECT_NE(Of("long", ".metadata.annotations.gangway\\.io/archived-at"), "");
  EXPECT_EQ(archive.Stop(), 0);
}

TEST_F(ArchiveProcessTest, AReleaseLetsAllJobsGo) {
  Start({});
  {
    ChildProcess archive(Words({"--file", file_, "--hold"}), log_);
    Create("held");
    ASSERT_TRUE(Eventually([&] { return !Of("held", ".metadata.finalizers").empty(); }));
    archive.Signal(SIGKILL);
    archive.Wait();
  }
  const Outcome released = RunProgram(Words({"--release"}));
  EXPECT_EQ(released.exit_code, 0) << released.err;
  EXPECT_EQ(released.out, "1 job released\n");
  EXPECT_EQ(Of("held", ".metadata.finalizers"), "");
  ASSERT_EQ(sandbox_->Kubectl({"delete", "vcjob", "held"}).exit_code, 0);
  EXPECT_TRUE(Gone("held"));
}

TEST_F(ArchiveProcessTest, AStoreThatIsDownForAWhileGetsEachJobOnceAndNoSecretIsTold) {
  std::mutex mu;
  int refuse = 3;
  std::vector<std::string> put;
  const ScriptedServer store(ScriptedServer::AnswerToBody([&](const std::string& head, const std::string& body) {
    const std::lock_guard lock(mu);
    if (refuse > 0) {
      --refuse;
      return refuse == 1 ? ScriptedAnswer{.raw = "HTTP/1.1 20"} : ScriptedAnswer{503, "busy"};
    }
    if (absl::StartsWith(head, "HEAD")) return ScriptedAnswer{put.empty() ? 404 : 200, ""};
    put.push_back(body);
    return ScriptedAnswer{};
  }));
  Start({"--finish", "worker=50ms"});
  Create("first");
  ASSERT_TRUE(BecomesCompleted("first"));
  const std::vector<std::string> environment{"AWS_ACCESS_KEY_ID=AKIA", "AWS_SECRET_ACCESS_KEY=hush-hush"};
  const Outcome once = RunProgram(Words({"--to", store.url() + "/b", "--once"}), environment);
  EXPECT_EQ(once.exit_code, 0) << once.err;
  EXPECT_THAT(once.err,
              AllOf(HasSubstr("not archived; tried again"), HasSubstr("answers 503"), Not(HasSubstr("hush"))));
  EXPECT_EQ(RunProgram(Words({"--to", store.url() + "/b", "--once"}), environment).exit_code, 0);
  const std::lock_guard lock(mu);
  ASSERT_THAT(put, SizeIs(1));
  EXPECT_EQ(boost::json::parse(put[0]).at("name"), "first");
}

TEST_F(ArchiveProcessTest, AStoreThatNeverTakesItIsToldAndNotSuccess) {
  const ScriptedServer store([](const std::string&) -> ScriptedAnswer { return {507, "full"}; });
  Start({"--finish", "worker=50ms"});
  Create("first");
  ASSERT_TRUE(BecomesCompleted("first"));
  const Outcome once = RunProgram(Words({"--to", store.url() + "/b", "--unsigned", "--once"}));
  EXPECT_EQ(once.exit_code, 3);
  EXPECT_THAT(once.err, HasSubstr("gangway archive: the store answers 507 to default/first-"));
}

TEST_F(ArchiveProcessTest, FlagsThatSayNothingOrTooMuch) {
  const auto refused = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {GW_GANGWAY, "archive", "--master", "http://127.0.0.1:1"});
    const Outcome outcome = RunProgram(flags, {"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="});
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(refused({}), HasSubstr("where to? give --file, --to or both"));
  EXPECT_THAT(refused({"--file", file_, "--unsigned"}), HasSubstr("are for --to"));
  EXPECT_THAT(refused({"--release", "--file", file_}), HasSubstr("--release archives nothing"));
  EXPECT_THAT(refused({"--to", "http://127.0.0.1:1/b"}), HasSubstr("there are no credentials"));
  EXPECT_THAT(refused({"--to", "bucket", "--unsigned"}), HasSubstr("--to: server \"bucket\""));
  EXPECT_THAT(refused({"--file", file_, "--once", "--hold"}), HasSubstr("leave one out"));
}

}  // namespace
}  // namespace gangway::testutil
