// What becomes of each verb when we are not there, slow, garbled, cut off, refusing or of another session; by the
// plugin's switch `ignorable`. The table stands in docs/extender.md; the client is
// tests/plugin/extender/http/volcano_client.h.
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/http/serving.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/raw_socket.h"
#include "tests/testing/scripted_server.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Answers every request alike.
class Answering {
 public:
  explicit Answering(std::string body, int code = 200, std::string headers = "")
      : server_([=](const std::string&) { return ScriptedAnswer{code, body, headers}; }) {}
  int port() const { return server_.port(); }

 private:
  ScriptedServer server_;
};

std::unique_ptr<VolcanoClient> Asking(int port, bool ignorable = false, absl::Duration timeout = absl::Seconds(30)) {
  return std::make_unique<VolcanoClient>(
      VolcanoClientOptions{.port = port, .ignorable = ignorable, .timeout = timeout});
}

constexpr char kTask[] = R"({"UID":"u"})";
constexpr char kNode[] = R"({"Name":"n"})";

TEST(VolcanoRulesTest, X1AReplyOfMoreThanTenMiBIsAnError) {
  const Answering server(absl::StrCat("{\"status\":\"", std::string(11u << 20, 'a'), "\"}"));
  EXPECT_THAT(std::string(Asking(server.port())->Send("predicate", "{}").status().message()),
              HasSubstr("http: request body too large"));
}

TEST(VolcanoRulesTest, X5AnEmptyStatusFitsWhateverItsCode) {
  EXPECT_TRUE(Asking(Answering(R"({"status":"","code":3})").port())->Predicate(kTask, kNode).fits);
  const VolcanoClient::Fit unfit = Asking(Answering(R"({"status":"no"})").port())->Predicate(kTask, kNode);
  EXPECT_EQ(unfit.code, 1);
  EXPECT_TRUE(unfit.blocks_preempt());
}

TEST(VolcanoRulesTest, X6UnschedulableLeavesANodeToPreemptAndOtherCodesNothing) {
  const VolcanoClient::Fit two = Asking(Answering(R"({"status":"no","code":2})").port())->Predicate(kTask, kNode);
  EXPECT_TRUE(two.blocks_allocate());
  EXPECT_FALSE(two.blocks_preempt());
  const VolcanoClient::Fit nine = Asking(Answering(R"({"status":"no","code":9})").port())->Predicate(kTask, kNode);
  EXPECT_FALSE(nine.blocks_allocate());
}

TEST(VolcanoRulesTest, X7A16ScoresMustBeThere) {
  std::string error = "none";
  EXPECT_FALSE(Asking(Answering("{}").port())->Prioritize(kTask, {kNode}, &error).has_value());
  EXPECT_EQ(error, "");
  EXPECT_THAT(*Asking(Answering(R"({"nodeScore":{}})").port())->Prioritize(kTask, {kNode}), IsEmpty());
  const std::string body = Recorded("onSessionOpen-6").body;
  const Answering failing(R"({"nodeScore":{},"errorMessage":"no"})");
  const auto client = Asking(failing.port(), /*ignorable=*/true);  // an explicit error counts all the same
  const SessionOutcome outcome = RunSession(*client, body, {.predicate = false, .ready = false, .events = false});
  EXPECT_THAT(outcome.skipped, SizeIs(8));
  EXPECT_THAT(outcome.bound, IsEmpty());
}

TEST(VolcanoRulesTest, X9AVoteThatIsMissingAbstains) {
  EXPECT_FALSE(Asking(Answering(R"({"victims":[{"UID":"v"}]})").port())->Victims("preemptable", kTask, {}).has_value());
  EXPECT_THAT(*Asking(Answering(R"({"status":1,"victims":[]})").port())->Victims("preemptable", kTask, {}), IsEmpty());
}

TEST(VolcanoRulesTest, X10ABodyIsNeededAndOnly200IsSuccess) {
  Asking(Answering("").port())->JobEnqueued("{}");  // logged, and no more
  EXPECT_FALSE(Asking(Answering("").port())->Event("allocateFunc", kTask));
  EXPECT_FALSE(Asking(Answering("{}", 204).port())->Event("allocateFunc", kTask));
  EXPECT_TRUE(Asking(Answering("{}", 204).port(), true)->Event("allocateFunc", kTask));
  EXPECT_TRUE(Asking(Answering("null").port())->Event("allocateFunc", kTask));
}

TEST(VolcanoRulesTest, X12ASessionThatFailsToOpenIsOneWithoutUsUnlessItIsIgnorable) {
  EXPECT_FALSE(Asking(Answering("", 500).port())->OpenSession("{}"));
  EXPECT_TRUE(Asking(Answering("", 500).port(), true)->OpenSession("{}"));
}

TEST(VolcanoRulesTest, A14AJobThatMayNotStartHoldsItsNodesUntilTheSessionEnds) {
  const Answering server(R"({"status":false})");
  const auto client = Asking(server.port());
  const std::string body = Recorded("onSessionOpen-6").body;
  const SessionOutcome outcome =
      RunSession(*client, body,
                 {.session = false, .predicate = false, .prioritize = false, .enqueueable = false, .events = false});
  EXPECT_THAT(outcome.bound, IsEmpty());
  EXPECT_THAT(outcome.held, SizeIs(4));
}

// That no test of a session is content with what it must not be.
TEST(BrokenPromisesTest, APartAndANodeThatHoldsTooMuchAreNamed) {
  const std::string body = Recorded("onSessionOpen-6").body;
  const SessionOutcome whole = RunSession(*Asking(Answering("{}").port()), body,
                                          {.session = false,
                                           .predicate = false,
                                           .prioritize = false,
                                           .ready = false,
                                           .enqueueable = false,
                                           .events = false});
  ASSERT_THAT(whole.bound_by_job, SizeIs(1));
  ASSERT_THAT(BrokenPromises(body, whole), IsEmpty());
  const auto& [job, count] = *whole.bound_by_job.begin();

  SessionOutcome part = whole;
  --part.bound_by_job[job];
  EXPECT_THAT(BrokenPromises(body, part), ElementsAre(absl::StrCat(job, ": ", count - 1, " of ", count, " are bound")));

  SessionOutcome crowded = whole;
  const std::string node = whole.bound.begin()->second;
  for (auto& [pod, on] : crowded.bound) on = node;
  EXPECT_THAT(BrokenPromises(body, crowded), ElementsAre(absl::StrCat(node, ": is overcommitted")));
}

// One that accepts and says nothing.
class Silent {
 public:
  Silent() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    GW_CHECK(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 && listen(fd_, 64) == 0);
    socklen_t size = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Silent() { close(fd_); }
  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
};

TEST(VolcanoRulesTest, X11AJobThatNobodyAnswersForIsReadyUnlessItIsIgnorable) {
  const Silent silent;
  const absl::Duration timeout = absl::Milliseconds(20);
  EXPECT_TRUE(Asking(silent.port(), false, timeout)->JobReady("{}"));
  EXPECT_FALSE(Asking(silent.port(), true, timeout)->JobReady("{}"));
}

struct Failure {
  std::string name;
  std::function<int(std::vector<std::shared_ptr<void>>& alive)> port;  // of who fails so
  absl::Duration timeout = absl::Seconds(30);
};

std::vector<Failure> Failures() {
  const auto answering = [](std::string body, int code) {
    return [=](std::vector<std::shared_ptr<void>>& alive) {
      const auto server = std::make_shared<Answering>(body, code);
      alive.push_back(server);
      return server->port();
    };
  };
  return {{"Down",
           [](auto&) {
             const Silent gone;
             return gone.port();  // closed when this returns
           }},
          {"Slow",
           [](auto& alive) {
             const auto silent = std::make_shared<Silent>();
             alive.push_back(silent);
             return silent->port();
           },
           absl::Milliseconds(20)},
          {"Garbage", answering("<html>", 200)},
          {"HalfAReply", answering(R"({"status":)", 200)},
          {"Refused", answering(R"({"status":1})", 503)}};
}

class FailureTest : public ::testing::TestWithParam<std::tuple<Failure, bool>> {};
INSTANTIATE_TEST_SUITE_P(Each, FailureTest, ::testing::Combine(::testing::ValuesIn(Failures()), ::testing::Bool()),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param).name,
                                               std::get<1>(info.param) ? "Ignorable" : "NotIgnorable");
                         });

// docs/extender.md, "When we do not answer"
TEST_P(FailureTest, EachVerbHasTheAnswerThatIsWrittenDown) {
  const auto& [failure, ignorable] = GetParam();
  std::vector<std::shared_ptr<void>> alive;
  const auto client = Asking(failure.port(alive), ignorable, failure.timeout);
  const bool body_is_read = failure.name == "Garbage" || failure.name == "HalfAReply";
  EXPECT_EQ(client->OpenSession("{}"), ignorable || body_is_read);  // its body is not read
  EXPECT_EQ(client->JobEnqueueable("{}"), ignorable ? 1 : -1);
  EXPECT_EQ(client->JobReady("{}"), !ignorable);
  EXPECT_EQ(client->Predicate(kTask, kNode).fits, ignorable);
  EXPECT_EQ(client->Prioritize(kTask, {kNode}).has_value(), ignorable);
  EXPECT_EQ(client->QueueOverused("{}"), !ignorable);
  EXPECT_THAT(*client->Victims("preemptable", kTask, {}), IsEmpty());
  EXPECT_THAT(*client->Victims("reclaimable", kTask, {}), IsEmpty());
  EXPECT_EQ(client->Event("allocateFunc", kTask), ignorable);
  EXPECT_EQ(client->Event("deallocateFunc", kTask), ignorable);
}

// The gang's promise does not hang on us: beside what we answer Volcano's own plugin counts, as this client does, so
// whatever fails, no part of a gang is bound.
TEST_P(FailureTest, NoPartOfAGangIsBound) {
  const auto& [failure, ignorable] = GetParam();
  std::vector<std::shared_ptr<void>> alive;
  const auto client = Asking(failure.port(alive), ignorable, failure.timeout);
  const std::string body = Recorded("onSessionOpen-6").body;
  EXPECT_THAT(BrokenPromises(body, RunSession(*client, body)), IsEmpty());
}

// What Volcano only logs, or does not look at: whatever becomes of these verbs alone, it changes nothing of a session.
TEST_P(FailureTest, OfVerbsThatOnlyTellAnErrorChangesNothing) {
  const auto& [failure, ignorable] = GetParam();
  std::vector<std::shared_ptr<void>> alive;
  const int failing = failure.port(alive);
  const ScriptedServer well([](const std::string& request) {
    const std::string path = request.substr(0, request.find(" HTTP/1.1"));
    return ScriptedAnswer{200, absl::EndsWith(path, "/prioritize") ? R"({"nodeScore":{}})"
                               : absl::EndsWith(path, "/jobReady") ? R"({"status":true})"
                                                                   : "{}"};
  });
  const auto outcomes = [&, ignores = ignorable, timeout = failure.timeout](const char* fails) {
    VolcanoClientOptions options{.port = well.port(), .ignorable = ignores};
    if (fails != nullptr) options.elsewhere[fails] = {failing, timeout};
    VolcanoClient client(options);
    std::vector<std::string> let_in = RunSession(client, Recorded("onSessionOpen-5").body).let_in;
    const SessionOutcome outcome = RunSession(client, Recorded("onSessionOpen-6").body);
    return std::tuple(std::move(let_in), outcome.bound, outcome.held, outcome.skipped);
  };
  const auto none_fails = outcomes(nullptr);
  EXPECT_THAT(std::get<0>(none_fails), SizeIs(2));
  EXPECT_THAT(std::get<1>(none_fails), SizeIs(4)) << "of the other gang what was placed is taken back";
  for (const char* const verb : {"onSessionClose", "jobEnqueued", "deallocateFunc"})
    EXPECT_EQ(outcomes(verb), none_fails) << verb;
  EXPECT_EQ(outcomes("allocateFunc") == none_fails, ignorable) << "which is no such verb";
}

// We answer, and have no plan of the session that we are asked in.
struct WrongSession {
  std::string name;
  std::function<void(VolcanoClient&, Serving&)> before;
};
class WrongSessionTest : public ::testing::TestWithParam<std::tuple<WrongSession, bool>> {};
INSTANTIATE_TEST_SUITE_P(
    Each, WrongSessionTest,
    ::testing::Combine(::testing::Values(WrongSession{"NoneIsOpen", [](VolcanoClient&, Serving&) {}},
                                         WrongSession{"ItIsClosed",
                                                      [](VolcanoClient& client, Serving&) {
                                                        client.OpenSession(Recorded("onSessionOpen-6").body);
                                                        client.CloseSession();
                                                      }},
                                         WrongSession{"ItArrivedTorn",
                                                      [](VolcanoClient& client, Serving&) {
                                                        client.OpenSession(Recorded("onSessionOpen-6").body);
                                                        client.OpenSession(
                                                            Recorded("onSessionOpen-6").body.substr(0, 1000));
                                                      }},
                                         WrongSession{"OfOtherGangs",
                                                      [](VolcanoClient& client, Serving& serving) {
                                                        client.OpenSession(Recorded("onSessionOpen-1").body);
                                                        ASSERT_THAT(serving.Sessions(),
                                                                    HasSubstr("\"state\":\"planned\""));
                                                      }}),
                       ::testing::Bool()),
    [](const auto& info) {
      return absl::StrCat(std::get<0>(info.param).name, std::get<1>(info.param) ? "Ignorable" : "NotIgnorable");
    });

// docs/extender.md, "When we do not answer": as without a plan, whether it is ignorable or not.
TEST_P(WrongSessionTest, EachVerbIsAnsweredAsWithoutUs) {
  const auto& [wrong, ignorable] = GetParam();
  extender::VerbOptions options;
  options.mode = extender::Mode::kFull;
  options.budget = absl::Seconds(30);
  Serving serving(options);
  const auto client = Asking(serving.port(), ignorable);
  wrong.before(*client, serving);
  const std::string body = Recorded("onSessionOpen-6").body, task = TaskIn(body, "gb-w-0");
  const std::string job = R"({"UID":"x-cont/gb-292c7e93-f737-4887-aedb-601a519c2550","MinAvailable":0})";
  const std::string node = R"({"Name":"node-000"})";
  EXPECT_EQ(client->JobEnqueueable(job), 0);
  client->JobEnqueued(job);
  EXPECT_TRUE(client->JobReady(job));
  EXPECT_TRUE(client->Predicate(task, node).fits);
  EXPECT_THAT(*client->Prioritize(task, {node, R"({"Name":"node-001"})"}), IsEmpty());
  EXPECT_FALSE(client->QueueOverused(R"({"Name":"nobody's"})"));
  EXPECT_FALSE(client->Victims("preemptable", task, {task}).has_value());
  EXPECT_FALSE(client->Victims("reclaimable", task, {task}).has_value());
  EXPECT_TRUE(client->Event("allocateFunc", task));
  EXPECT_TRUE(client->Event("deallocateFunc", task));
  client->CloseSession();
  EXPECT_THAT(serving.metrics().Expose(), HasSubstr(R"(verbs_total{result="ok",verb="jobEnqueued"} 1)"));
}

// And no part of a gang is bound, though whoever opens is answered of another.
TEST_P(WrongSessionTest, NoPartOfAGangIsBound) {
  const auto& [wrong, ignorable] = GetParam();
  extender::VerbOptions options;
  options.mode = extender::Mode::kFull;
  options.budget = absl::Seconds(30);
  Serving serving(options);
  const auto client = Asking(serving.port(), ignorable);
  wrong.before(*client, serving);
  const std::string body = Recorded("onSessionOpen-6").body;
  const SessionOutcome outcome = RunSession(*client, body, {.session = false});
  EXPECT_THAT(outcome.bound, SizeIs(4));
  EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
}

}  // namespace
}  // namespace gangway::testutil
