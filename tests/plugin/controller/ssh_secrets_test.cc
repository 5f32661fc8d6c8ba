// Secrets of the job plugin ssh against the sandbox's API server: made once, never read, never somebody else's.
#include "plugin/controller/ssh_secrets.h"

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/log.h"
#include "gmock/gmock.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::JobText;

// The pairs are numbered; each takes a while, as real ones do.
class NumberedKeys : public SshKeys {
 public:
  explicit NumberedKeys(Loop& loop) : loop_(loop) {}
  void Take(Token owner, Done done) override {
    loop_.PostAt(loop_.Now() + delay, std::move(owner), [this, done = std::move(done)]() mutable {
      if (failing) return done(absl::InternalError("no entropy"));
      ++taken;
      done(lifecycle::SshKeyPair{absl::StrCat("private ", taken), absl::StrCat("public ", taken)});
    });
  }
  absl::Duration delay = absl::Milliseconds(50);
  bool failing = false;
  int taken = 0;

 private:
  Loop& loop_;
};

class SshTest : public ControllersTest {
 protected:
  void StartWithKeys() {
    Options options;
    options.ssh.keys = &keys_;
    Start(options);
  }
  static std::string WithSsh(const std::string& flags = "[]", const std::string& name = "plug") {
    return JobText(
        name, 1, {{"w", 1}},
        absl::StrCat(R"("plugins":{"ssh":)", flags, R"(},"policies":[{"event":"PodFailed","action":"RestartJob"}])"));
  }
  std::string FileIn(const char* file) {
    std::string out;
    absl::Base64Unescape(json::value_to<std::string>(Get(api::kSecrets, "plug-ssh").at("data").at(file)), &out);
    return out;
  }
  NumberedKeys keys_{loop_};
};

TEST_F(SshTest, OnePairForAJobThroughRestartsOfItAndOfOurs) {
  StartWithKeys();
  StartJob("plug", WithSsh());
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  SetPod("plug-w-0", "Failed");
  Run(absl::Seconds(5));
  EXPECT_EQ(Job("plug").status.version, 1);
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  Crash();
  StartWithKeys();
  api::volcano::Job job = Job("plug");
  job.spec.tasks[0].replicas = 3;
  Patch(api::kJobs, "plug", absl::StrCat(R"({"spec":{"tasks":[)", api::Encode(job.spec.tasks[0]), "]}}"));
  Run(absl::Seconds(5));
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  EXPECT_THAT(FileIn("config"), HasSubstr("Host plug-w-2\n"));
  EXPECT_EQ(keys_.taken, 1);
}

TEST_F(SshTest, ALostReplyMakesNoSecondPair) {
  int secrets = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "POST" && absl::StrContains(request.path, "/secrets") && ++secrets == 1)
      fate.loss = sandbox::RequestFate::Loss::kReply;
    return fate;
  };
  StartWithKeys();
  Create(api::kJobs, WithSsh());
  Run(absl::Seconds(5));
  EXPECT_EQ(keys_.taken, 1);
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
}

TEST_F(SshTest, ACrashBeforeTheReplyIsSeenIsNoHarm) {
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "POST" && absl::StrContains(request.path, "/secrets")) fate.reply_delay = absl::Hours(1);
    return fate;
  };
  StartWithKeys();
  Create(api::kJobs, WithSsh());
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  Crash();
  fate_ = nullptr;
  StartWithKeys();
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  EXPECT_EQ(keys_.taken, 1);
}

TEST_F(SshTest, TheSecretGoesWithTheJobsEndThoughWeDieInBetween) {
  StartWithKeys();
  StartJob("plug", WithSsh());
  fate_ = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE" && absl::StrContains(request.path, "/secrets/"))
      fate.loss = sandbox::RequestFate::Loss::kRequest;
    return fate;
  };
  Command("end", "TerminateJob", "plug");
  EXPECT_THAT(Names(api::kSecrets), Contains("plug-ssh"));
  Crash();
  fate_ = nullptr;
  StartWithKeys();
  Delete(api::kPods, "plug-w-0");
  Run(absl::Seconds(5));
  EXPECT_EQ(Phase("plug"), "Terminated");
  EXPECT_THAT(Names(api::kSecrets), Not(Contains("plug-ssh")));
  EXPECT_FALSE(Job("plug").status.controlled_resources.contains("plugin-ssh"));
}

TEST_F(SshTest, ASecretOfAnotherOwnerIsLeftAloneAndTheJobWaits) {
  StartWithKeys();
  Create(api::kSecrets,
         R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"plug-ssh"},"data":{"id_rsa":"bWluZQ=="}})");
  Create(api::kJobs, WithSsh());
  Run(absl::Minutes(1));
  EXPECT_EQ(FileIn("id_rsa"), "mine");
  EXPECT_THAT(Events(), Contains(AllOf(HasSubstr("FailedCreate: Secret plug-ssh"), HasSubstr("already exists"))));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  Delete(api::kSecrets, "plug-ssh");
  Run(absl::Minutes(6));
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
}

TEST_F(SshTest, AJobThatTakesTheNameOfADeletedOneWaitsOnlyUntilItsSecretIsGone) {
  StartWithKeys();
  Create(
      api::kSecrets,
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"plug-ssh","finalizers":["test/held"],"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"plug","uid":"earlier","controller":true}]},"data":{}})");
  Create(api::kJobs, WithSsh());
  Run(absl::Seconds(3));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  Patch(api::kSecrets, "plug-ssh",
        R"({"metadata":{"finalizers":null}})");  // now the garbage collector's deletion is carried out
  Run(absl::Seconds(10));
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("FailedCreate"))));
}

TEST_F(SshTest, ASecretThatAUserRemovedIsMadeAnewWithTheNextRestart) {
  StartWithKeys();
  StartJob("plug", WithSsh());
  Delete(api::kSecrets, "plug-ssh");
  SetPod("plug-w-0", "Failed");
  Run(absl::Seconds(5));
  EXPECT_EQ(FileIn("id_rsa"), "private 2");
}

TEST_F(SshTest, WhoMayNotAskIsToldAndAsksAgain) {
  StartWithKeys();
  StartJob("plug", WithSsh());
  Crash();
  bool forbidden = true;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (forbidden && request.method == "GET" && absl::StrContains(request.path, "/secrets/")) {
      fate.answer.emplace();
      fate.answer->code = 403;
      fate.answer->body = MakeBytes(
          R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"forbidden: User gangway cannot get secrets"})");
    }
    return fate;
  };
  StartWithKeys();
  Run(absl::Seconds(5));
  EXPECT_THAT(Events(), Contains(AllOf(HasSubstr("SecretError"), HasSubstr("cannot get secrets"))));
  forbidden = false;
  Command("end", "CompleteJob", "plug");
  Run(absl::Minutes(2));
  EXPECT_THAT(Names(api::kSecrets), Not(Contains("plug-ssh")));
}

TEST_F(SshTest, AnAnswerThatDoesNotReadHarmsNobody) {
  StartWithKeys();
  StartJob("plug", WithSsh());
  Crash();
  int answers = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "GET" && absl::StrContains(request.path, "/secrets/") && ++answers == 1) {
      fate.answer.emplace();
      fate.answer->code = 200;
      fate.answer->body = MakeBytes(R"({"metadata":{"name":"plug-ssh","labels":5}})");
    }
    return fate;
  };
  StartWithKeys();
  Run(absl::Seconds(10));
  EXPECT_GE(answers, 1);
  EXPECT_EQ(FileIn("id_rsa"), "private 1");
  EXPECT_EQ(Phase("plug"), "Running");
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("FailedCreate"))));
}

TEST_F(SshTest, AKeyThatCannotBeMadeIsToldAndTriedAgain) {
  keys_.failing = true;
  StartWithKeys();
  Create(api::kJobs, WithSsh());
  Run(absl::Seconds(5));
  EXPECT_THAT(Events(), Contains(AllOf(HasSubstr("SecretError"), HasSubstr("no entropy"))));
  keys_.failing = false;
  Run(absl::Minutes(2));
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
}

TEST_F(SshTest, SecretsAreNeitherListedNorWatchedNorRead) {
  std::set<std::string> seen;
  fate_ = [&](const kube::Request& request) {
    if (absl::StrContains(request.path, "/secrets")) {
      seen.insert(absl::StrCat(request.method, " ", request.path.substr(request.path.find("/secrets"))));
      EXPECT_THAT(request.accept, HasSubstr("as=PartialObjectMetadata"));
    }
    return sandbox::RequestFate{};
  };
  StartWithKeys();
  StartJob("plug", WithSsh());
  Crash();
  StartWithKeys();
  Command("end", "CompleteJob", "plug");
  Run(absl::Seconds(5));
  EXPECT_THAT(seen, ElementsAre("DELETE /secrets/plug-ssh", "GET /secrets/plug-ssh", "POST /secrets"));
}

TEST_F(SshTest, NoPrivateKeyInLogsEventsOrTheDump) {
  std::string lines;
  log::Options options;
  options.level = log::Level::kDebug;
  options.sink = [&](absl::string_view line) { absl::StrAppend(&lines, line, "\n"); };
  log::Configure(std::move(options));
  StartWithKeys();
  Create(api::kSecrets, R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"plug-ssh"},"data":{}})");
  Create(api::kJobs, WithSsh(R"(["--ssh-private-key=TOPSECRET","--ssh-public-key=p","--ssh-port=TOPSECRET"])"));
  Run(absl::Seconds(5));
  Delete(api::kSecrets, "plug-ssh");
  Run(absl::Minutes(6));
  LetIn("plug");
  EXPECT_THAT(Events(), Contains(HasSubstr("FailedCreate: Secret plug-ssh")));
  EXPECT_THAT(Events(), Contains(HasSubstr("PluginError: job plugin ssh: flag --ssh-port")));
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("TOPSECRET"))));
  EXPECT_THAT(controllers_->Dump(), Not(HasSubstr("TOPSECRET")));
  EXPECT_THAT(lines, Not(HasSubstr("TOPSECRET")));
  EXPECT_THAT(lines, Not(HasSubstr(absl::Base64Escape("TOPSECRET"))));
  EXPECT_THAT(lines, HasSubstr("plug-ssh")) << "there is something in the log";
  log::Configure({});
}

// --- A life with one fault: whatever happens to whichever write, it ends as it does without.

enum class Fault { kLostRequest, kLostReply, kConflict, kServerError, kTooMany, kCrashBefore, kCrashAfter };

class Life : public SshTest {
 public:
  // The n-th write of the controllers, from 1, meets the fault. Returns how many writes there were.
  int Live(int at, Fault fault) {
    bool crash = false;
    fate_ = [&, this](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method == "GET" || absl::StrContains(request.path, "/events") || ++sent_ != at) return fate;
      switch (fault) {
        case Fault::kCrashBefore:
          crash = true;
          [[fallthrough]];
        case Fault::kLostRequest:
          fate.loss = sandbox::RequestFate::Loss::kRequest;
          break;
        case Fault::kCrashAfter:
          crash = true;
          [[fallthrough]];
        case Fault::kLostReply:
          fate.loss = sandbox::RequestFate::Loss::kReply;
          break;
        case Fault::kConflict:
          fate.answer = Refusal(409, "Conflict");
          break;
        case Fault::kServerError:
          fate.answer = Refusal(500, "InternalError");
          break;
        case Fault::kTooMany:
          fate.answer = Refusal(429, "TooManyRequests");
          break;
      }
      return fate;
    };
    const auto settle = [&] {
      for (int i = 0; i < 100; ++i) {
        Run(absl::Milliseconds(100));
        if (!std::exchange(crash, false)) continue;
        Crash();
        StartWithKeys();
      }
    };
    StartWithKeys();
    Create(api::kJobs, WithSsh());
    settle();
    LetIn("plug");
    settle();
    RunPods("plug");
    settle();
    EXPECT_EQ(Phase("plug"), "Running");
    const std::string key = FileIn("id_rsa");
    SetPod("plug-w-0", "Failed", 1);
    settle();
    LetIn("plug");
    settle();
    RunPods("plug");
    api::volcano::Job job = Job("plug");
    job.spec.tasks[0].replicas = 2;
    Patch(api::kJobs, "plug", absl::StrCat(R"({"spec":{"tasks":[)", api::Encode(job.spec.tasks[0]), "]}}"));
    settle();
    EXPECT_EQ(Job("plug").status.retry_count, 1);
    EXPECT_EQ(FileIn("id_rsa"), key) << "one pair for the whole life";
    EXPECT_THAT(FileIn("config"), HasSubstr("Host plug-w-1\n"));
    Command("end", "CompleteJob", "plug");
    settle();
    for (const char* const pod : {"plug-w-0", "plug-w-1"}) Delete(api::kPods, pod);
    settle();
    EXPECT_EQ(Phase("plug"), "Completed");
    EXPECT_THAT(Names(api::kSecrets), Not(Contains("plug-ssh")));
    EXPECT_FALSE(Job("plug").status.controlled_resources.contains("plugin-ssh"));
    return sent_;
  }

 private:
  void TestBody() override {}
  static kube::Response Refusal(int code, const char* reason) {
    kube::Response response;
    response.code = code;
    response.body = MakeBytes(absl::StrCat(R"({"kind":"Status","status":"Failure","code":)", code, R"(,"reason":")",
                                           reason, R"(","message":"a fault"})"));
    return response;
  }
  int sent_ = 0;
};

TEST(SshLifeTest, AFaultAtAnyWriteEndsAsWithoutOne) {
  log::Options quiet;
  quiet.level = log::Level::kOff;
  log::Configure(std::move(quiet));
  const int writes = Life().Live(0, Fault::kLostReply);
  EXPECT_GT(writes, 10);
  for (const Fault fault : {Fault::kLostRequest, Fault::kLostReply, Fault::kConflict, Fault::kServerError,
                            Fault::kTooMany, Fault::kCrashBefore, Fault::kCrashAfter}) {
    for (int at = 1; at <= writes; ++at) {
      SCOPED_TRACE(absl::StrCat("fault ", static_cast<int>(fault), " at write ", at));
      Life().Live(at, fault);
      if (::testing::Test::HasFailure()) return;
    }
  }
  log::Configure({});
}

}  // namespace
}  // namespace gangway::controller
