#include "kube/runtime/lease.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/fenced_client.h"
#include "kube/runtime/pulse.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/testing/fake_client.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testutil::FakeClient;
using testutil::StatusIs;

LeaseOptions OptionsOf(std::string identity) {
  LeaseOptions options;
  options.ns = "gangway-system";
  options.name = "gangway-scheduler";
  options.identity = std::move(identity);
  return options;
}

// One process that contends.
struct Contender {
  Contender(Loop& l, Client& client, LeaseOptions options)
      : loop(l),
        fence([this] { return loop.Now(); }),
        lease(loop, client, fence, std::move(options),
              {[this] { acquired_at = loop.Now(); }, [this](const std::string& why) { lost = why; },
               [this](const std::string& holder) { holders.push_back(holder); }}) {}
  Loop& loop;
  WriteFence fence;
  std::optional<absl::Time> acquired_at;
  std::optional<std::string> lost;
  std::vector<std::string> holders;
  Lease lease;
};

// --- against the sandbox's API server

class LeaseTest : public ::testing::Test {
 protected:
  LeaseTest() {
    Call("POST", "/api/v1/namespaces",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"gangway-system"}})");
  }
  Response Call(const std::string& method, const std::string& path, const std::string& body = "") {
    return server_.Handle({method, path, "", "", "", body}, {"test"});
  }
  boost::json::value Spec() {
    const Response reply =
        Call("GET", "/apis/coordination.k8s.io/v1/namespaces/gangway-system/leases/gangway-scheduler");
    return reply.ok() ? api::ParseJson(*reply.body)->at("spec") : boost::json::value();
  }
  std::string Holder() {
    const boost::json::value spec = Spec();
    return spec.is_null() ? "no lease" : std::string(spec.at("holderIdentity").as_string());
  }
  // With a client of its own, whose requests get the fate that `fate` says.
  std::unique_ptr<Contender> Start(const std::string& identity, sandbox::Faults faults = {},
                                   std::function<absl::Time()> answered_at = nullptr) {
    clients_.push_back(std::make_unique<sandbox::InProcessClient>(loop_, server_, identity, std::move(faults)));
    LeaseOptions options = OptionsOf(identity);
    options.answered_at = std::move(answered_at);
    auto contender = std::make_unique<Contender>(loop_, *clients_.back(), std::move(options));
    contender->lease.Start();
    return contender;
  }
  // Loses every request while `cut_` is set.
  sandbox::Faults Cuttable() {
    sandbox::Faults faults;
    faults.request = [this](const Request&) {
      sandbox::RequestFate fate;
      if (cut_) fate.loss = sandbox::RequestFate::Loss::kRequest;
      return fate;
    };
    return faults;
  }

  SimulatedLoop loop_{7};
  sandbox::ApiServer server_{loop_, {}};
  std::vector<std::unique_ptr<sandbox::InProcessClient>> clients_;
  bool cut_ = false;
};

TEST_F(LeaseTest, TheFirstMakesItAndRenewsIt) {
  const auto a = Start("a");
  ASSERT_TRUE(loop_.RunUntil([&] { return a->lease.held(); }, loop_.Now() + absl::Seconds(1)));
  boost::json::value spec = Spec();
  EXPECT_EQ(spec.at("holderIdentity").as_string(), "a");
  EXPECT_EQ(spec.at("leaseDurationSeconds").as_int64(), 15);
  EXPECT_EQ(spec.at("leaseTransitions").as_int64(), 0);
  const std::string acquired(spec.at("acquireTime").as_string()), renewed(spec.at("renewTime").as_string());
  EXPECT_THAT(acquired, ::testing::MatchesRegex(R"(20..-..-..T..:..:..\.......Z)"));
  loop_.RunFor(absl::Seconds(60));
  spec = Spec();
  EXPECT_EQ(std::string(spec.at("acquireTime").as_string()), acquired);
  EXPECT_GT(std::string(spec.at("renewTime").as_string()), renewed);
  EXPECT_TRUE(a->fence.open());
  EXPECT_THAT(a->holders, ElementsAre("a"));
  EXPECT_FALSE(a->lost.has_value());
}

TEST_F(LeaseTest, OneOfTwoHoldsItAndTheOtherKnowsWho) {
  const auto a = Start("a");
  const auto b = Start("b");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_NE(a->lease.held(), b->lease.held());
  const std::string holder = Holder();
  EXPECT_EQ(a->lease.holder(), holder);
  EXPECT_EQ(b->lease.holder(), holder);
  EXPECT_EQ((holder == "a" ? b : a)->fence.open(), false);
  EXPECT_EQ(Spec().at("leaseTransitions").as_int64(), 0);
}

TEST_F(LeaseTest, AKilledHolderIsSucceededWithinTwentySeconds) {
  auto a = Start("a");
  loop_.RunFor(absl::Seconds(1));
  const auto b = Start("b");
  loop_.RunFor(absl::Seconds(30));
  ASSERT_TRUE(a->lease.held());
  const absl::Time killed = loop_.Now();
  a.reset();
  ASSERT_TRUE(loop_.RunUntil([&] { return b->lease.held(); }, killed + absl::Minutes(1)));
  EXPECT_GE(*b->acquired_at - killed, absl::Seconds(15) - absl::Seconds(2));
  EXPECT_LE(*b->acquired_at - killed, absl::Seconds(18));
  EXPECT_EQ(Spec().at("leaseTransitions").as_int64(), 1);
}

TEST_F(LeaseTest, AReleasedLeaseIsTakenWithTheNextLook) {
  const auto a = Start("a");
  loop_.RunFor(absl::Seconds(1));
  const auto b = Start("b");
  loop_.RunFor(absl::Seconds(30));
  const absl::Time asked = loop_.Now();
  bool done = false;
  a->lease.Release(absl::Seconds(5), [&] { done = true; });
  EXPECT_FALSE(a->fence.open());
  EXPECT_FALSE(done) << "never within the call";
  ASSERT_TRUE(loop_.RunUntil([&] { return done; }, asked + absl::Seconds(1)));
  EXPECT_EQ(Holder(), "");
  EXPECT_EQ(Spec().at("leaseDurationSeconds").as_int64(), 1);
  ASSERT_TRUE(loop_.RunUntil([&] { return b->lease.held(); }, asked + absl::Seconds(3)));
  EXPECT_FALSE(a->lost.has_value());
  EXPECT_THAT(b->holders, ElementsAre("a", "", "b"));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Holder(), "b") << "who released contends no more";
}

// Its renewal was carried out and not answered yet: what it knows of the lease is old.
TEST_F(LeaseTest, ALeaseIsReleasedWhileItsRenewalIsUnderWay) {
  bool renews = false;
  sandbox::Faults faults;
  faults.request = [&](const Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "PUT" && absl::StrContains(request.body, R"("holderIdentity":"a")")) {
      renews = true;
      fate.reply_delay = absl::Seconds(1);
    }
    return fate;
  };
  const auto a = Start("a", std::move(faults));
  loop_.RunFor(absl::Seconds(1));
  const auto b = Start("b");
  loop_.RunFor(absl::Seconds(30));
  renews = false;
  ASSERT_TRUE(loop_.RunUntil([&] { return renews; }, loop_.Now() + absl::Seconds(5)));
  loop_.RunFor(absl::Milliseconds(500));
  const absl::Time asked = loop_.Now();
  a->lease.Release(absl::Seconds(5), [] {});
  EXPECT_TRUE(loop_.RunUntil([&] { return b->lease.held(); }, asked + absl::Seconds(3)));
}

TEST_F(LeaseTest, WhoCannotReachTheServerWritesNothingBeforeAnotherTakesIt) {
  const auto a = Start("a", Cuttable());
  loop_.RunFor(absl::Seconds(1));
  const auto b = Start("b");
  loop_.RunFor(absl::Seconds(30));
  ASSERT_TRUE(a->lease.held());
  cut_ = true;
  std::optional<absl::Time> closed_at;
  ASSERT_TRUE(loop_.RunUntil(
      [&] {
        if (!a->fence.open() && !closed_at) closed_at = loop_.Now();
        return b->lease.held();
      },
      loop_.Now() + absl::Minutes(1)));
  ASSERT_TRUE(closed_at.has_value());
  EXPECT_LT(*closed_at, *b->acquired_at);
  EXPECT_FALSE(a->lease.held());
  EXPECT_FALSE(a->lost.has_value()) << "nobody has told it";
  cut_ = false;
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(a->lost, "taken by b");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_FALSE(a->lease.held()) << "a lease once lost is not taken again by the same process";
}

TEST_F(LeaseTest, AShortOutageCostsNothing) {
  const auto a = Start("a", Cuttable());
  loop_.RunFor(absl::Seconds(30));
  cut_ = true;
  loop_.RunFor(absl::Seconds(6));
  cut_ = false;
  for (int i = 0; i < 600; ++i) {
    loop_.RunFor(absl::Milliseconds(100));
    ASSERT_TRUE(a->lease.held() && a->fence.open()) << i;
  }
  EXPECT_FALSE(a->lost.has_value());
}

// An API server that was away for long: who held the lease goes on as soon as it is back, without a restart, and
// without waiting for an expiry that nobody else is there to see.
TEST_F(LeaseTest, ALongOutageEndsWithTheFirstRenewal) {
  absl::Time answered = loop_.Now();
  const auto a = Start("a", Cuttable(), [&] { return cut_ ? answered : answered = loop_.Now(); });
  loop_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(a->lease.held());
  cut_ = true;
  loop_.RunFor(absl::Seconds(11));
  EXPECT_FALSE(a->lease.held());
  EXPECT_FALSE(a->fence.open());
  loop_.RunFor(absl::Minutes(10));
  EXPECT_FALSE(a->fence.open());
  cut_ = false;
  const absl::Time back = loop_.Now();
  ASSERT_TRUE(loop_.RunUntil([&] { return a->lease.held(); }, back + absl::Seconds(3)));
  EXPECT_TRUE(a->fence.open());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(a->lease.held());
  EXPECT_FALSE(a->lost.has_value());
  EXPECT_EQ(Spec().at("leaseTransitions").as_int64(), 0);
}

// The renewals are answered first; the client that works has its time from then on.
TEST_F(LeaseTest, AfterAnOutageTheWorkHasTimeToBeAnswered) {
  absl::Time answered = loop_.Now();
  bool works = true;
  const auto a = Start("a", Cuttable(), [&] { return works ? answered = loop_.Now() : answered; });
  loop_.RunFor(absl::Minutes(1));
  works = false;
  cut_ = true;
  loop_.RunFor(absl::Minutes(1));
  cut_ = false;
  loop_.RunFor(absl::Seconds(9));
  EXPECT_TRUE(a->lease.held());
  loop_.RunFor(absl::Seconds(6));
  EXPECT_THAT(a->lost.value_or(""), HasSubstr("given back")) << "it is not answered at all";
}

// --- the client that works is another one than the lease's

TEST_F(LeaseTest, WhoCannotWorkGivesTheLeaseBack) {
  absl::Time a_answered = loop_.Now();
  bool a_works = true;
  const auto a = Start("a", {}, [&] { return a_works ? a_answered = loop_.Now() : a_answered; });
  loop_.RunFor(absl::Seconds(1));
  const auto b = Start("b", {}, [this] { return loop_.Now(); });
  loop_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(a->lease.held());
  const absl::Time hung = loop_.Now();
  a_works = false;
  loop_.RunFor(absl::Seconds(8));
  EXPECT_TRUE(a->lease.held()) << "a short silence costs nothing";
  ASSERT_TRUE(loop_.RunUntil([&] { return b->lease.held(); }, hung + absl::Minutes(1)));
  EXPECT_LE(*b->acquired_at - hung, absl::Seconds(15)) << "10 s of silence and a look each";
  EXPECT_EQ(a->lost, "given back: no request of the client that works was answered within 10s");
  EXPECT_FALSE(a->fence.open());
  EXPECT_THAT(b->holders, ElementsAre("a", "", "b")) << "given back, not run out";
  a_works = true;
  loop_.RunFor(absl::Minutes(1));
  EXPECT_FALSE(a->lease.held()) << "what it had decided may still be on its way";
}

// Before, one with a deadline of 2 s gave its lease back, and ended, as soon as the cluster was quiet for 3 s.
TEST_F(LeaseTest, WhoHasNothingToDoKeepsTheLeaseHoweverShortItsDeadlineIs) {
  for (const int deadline_ms : {500, 1000, 2000, 3000, 10'000}) {
    const std::string identity = absl::StrCat("deadline-", deadline_ms);
    sandbox::InProcessClient client(loop_, server_, identity, {});
    LeaseOptions options = OptionsOf(identity);
    options.renew_deadline = absl::Milliseconds(deadline_ms);
    options.retry_period = options.renew_deadline / 5;
    Pulse pulse(loop_, client, QuietFor(options.renew_deadline));
    options.answered_at = [&] { return pulse.answered_at(); };
    pulse.Start();
    Contender contender(loop_, client, std::move(options));
    contender.lease.Start();
    loop_.RunFor(absl::Minutes(2));
    EXPECT_TRUE(contender.lease.held()) << identity;
    EXPECT_EQ(contender.lost.value_or("kept"), "kept") << identity;
    contender.lease.Release(absl::Seconds(1), [] {});
    loop_.RunFor(absl::Seconds(20));
  }
}

TEST_F(LeaseTest, WhoHasNotWorkedYetDoesNotContend) {
  absl::Time answered = absl::InfinitePast();
  const auto a = Start("a", {}, [&] { return answered; });
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Holder(), "no lease");
  answered = loop_.Now();
  EXPECT_TRUE(loop_.RunUntil([&] { return a->lease.held(); }, loop_.Now() + absl::Milliseconds(200)));
}

// A loop that was busy finds what is due before the answers that came meanwhile.
TEST_F(LeaseTest, AnswersThatWaitedCount) {
  int stale = 0;  // how many looks more find an old answer
  const auto a = Start("a", {}, [&] { return stale-- > 0 ? loop_.Now() - absl::Seconds(11) : loop_.Now(); });
  loop_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(a->lease.held());
  stale = 1;
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(a->lease.held());
  stale = 2;
  loop_.RunFor(absl::Minutes(1));
  EXPECT_FALSE(a->lease.held());
}

TEST_F(LeaseTest, WhatCannotBeGivenBackIsLostAllTheSame) {
  absl::Time answered = loop_.Now();
  int looks = 0;
  const auto a = Start("a", Cuttable(), [&] {
    if (++looks > 1 && loop_.Now() - answered > absl::Seconds(10)) cut_ = true;  // just before it is given back
    return answered;
  });
  ASSERT_TRUE(loop_.RunUntil([&] { return a->lost.has_value(); }, loop_.Now() + absl::Seconds(20)));
  EXPECT_FALSE(a->fence.open());
}

// A process that is stopped and goes on: its loop finds everything due at once, and the fence is closed already.
TEST_F(LeaseTest, WhoWasAsleepFindsItsLeaseLost) {
  auto asleep = std::make_unique<SimulatedLoop>(9, loop_.Now());
  absl::Time clock = loop_.Now();
  sandbox::ApiServer server(*asleep, {});
  server.Handle({"POST", "/api/v1/namespaces", "", "", "", R"({"metadata":{"name":"gangway-system"}})"}, {"test"});
  sandbox::InProcessClient client(*asleep, server, "a");
  WriteFence fence([&] { return std::max(clock, asleep->Now()); });
  std::optional<std::string> lost;
  Lease lease(*asleep, client, fence, OptionsOf("a"), {[] {}, [&](const std::string& why) { lost = why; }, nullptr});
  lease.Start();
  asleep->RunFor(absl::Seconds(5));
  ASSERT_TRUE(lease.held());
  EXPECT_TRUE(fence.open());
  clock = asleep->Now() + absl::Seconds(20);
  EXPECT_FALSE(fence.open());
  asleep->RunFor(absl::Seconds(3));
  EXPECT_FALSE(lease.held());
  EXPECT_THAT(lost.value_or(""), HasSubstr("time ran out"));
}

TEST_F(LeaseTest, LabelsOfOthersSurvive) {
  const auto a = Start("a");
  loop_.RunFor(absl::Seconds(3));
  const std::string path = "/apis/coordination.k8s.io/v1/namespaces/gangway-system/leases/gangway-scheduler";
  server_.Handle({"PATCH", path, "", "application/merge-patch+json", "", R"({"metadata":{"labels":{"team":"ml"}}})"},
                 {"test"});
  loop_.RunFor(absl::Seconds(30));
  EXPECT_TRUE(a->lease.held());
  EXPECT_THAT(*Call("GET", path).body, HasSubstr(R"("team":"ml")"));
}

TEST_F(LeaseTest, ADeletedLeaseIsLost) {
  const auto a = Start("a");
  loop_.RunFor(absl::Seconds(3));
  Call("DELETE", "/apis/coordination.k8s.io/v1/namespaces/gangway-system/leases/gangway-scheduler");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(a->lost, "deleted");
}

TEST_F(LeaseTest, TheMissingNamespaceIsWaitedFor) {
  Call("DELETE", "/api/v1/namespaces/gangway-system");
  loop_.RunFor(absl::Seconds(1));
  const auto a = Start("a");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_FALSE(a->lease.held());
  Call("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"gangway-system"}})");
  EXPECT_TRUE(loop_.RunUntil([&] { return a->lease.held(); }, loop_.Now() + absl::Seconds(5)));
}

TEST_F(LeaseTest, AWriteDecidedBeforeTheLeaseEndedIsNotSentAfterIt) {
  sandbox::InProcessClient client(loop_, server_, "writer");
  WriteFence fence([&] { return loop_.Now(); });
  FencedClient fenced(loop_, client, fence);
  Owner owner;
  std::vector<absl::StatusCode> results;
  const auto write = [&] {
    fenced.Send({"POST", "/api/v1/namespaces", "", "", "", R"({"metadata":{"generateName":"x-"}})"}, owner.token(),
                [&](const absl::StatusOr<Response>& reply) { results.push_back(reply.status().code()); });
  };
  write();
  fence.OpenUntil(loop_.Now() + absl::Seconds(5));
  write();
  loop_.RunFor(absl::Seconds(5));
  write();
  fenced.Send({"GET", "/api/v1/namespaces", "", "", "", ""}, owner.token(),
              [&](const absl::StatusOr<Response>& reply) { results.push_back(reply.status().code()); });
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(results, ElementsAre(absl::StatusCode::kFailedPrecondition, absl::StatusCode::kOk,
                                   absl::StatusCode::kFailedPrecondition, absl::StatusCode::kOk));
}

// --- against a server that says what the test wants

constexpr absl::string_view kPath = "/apis/coordination.k8s.io/v1/namespaces/gangway-system/leases/gangway-scheduler";

std::string LeaseJson(absl::string_view holder, absl::string_view renewed, int version, int duration = 15) {
  return absl::StrCat(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"gangway-scheduler","namespace":"gangway-system","resourceVersion":")",
      version, R"("},"spec":{"holderIdentity":")", holder, R"(","leaseDurationSeconds":)", duration,
      R"(,"leaseTransitions":4,"acquireTime":"2020-01-01T00:00:00.000000Z","renewTime":")", renewed, R"("}})");
}

TEST(LeaseRecordTest, ClocksOfOtherMachinesDoNotMatter) {
  for (const char* renewed : {"1999-01-01T00:00:00.000000Z", "2222-01-01T00:00:00.000000Z"}) {
    SimulatedLoop loop(1);
    FakeClient client(loop);
    std::vector<std::string> puts;
    client.SetHandler([&](const Request& request) -> std::optional<absl::StatusOr<Response>> {
      if (request.method == "GET") return testutil::Reply(200, LeaseJson("z", renewed, 9));
      puts.push_back(request.body);
      return testutil::Reply(200, request.body);
    });
    Contender b(loop, client, OptionsOf("b"));
    b.lease.Start();
    loop.RunFor(absl::Seconds(14));
    EXPECT_FALSE(b.lease.held()) << renewed;
    EXPECT_THAT(puts, ElementsAre());
    loop.RunFor(absl::Seconds(1.1));
    EXPECT_TRUE(b.lease.held()) << renewed;
    ASSERT_FALSE(puts.empty());
    EXPECT_THAT(puts[0], HasSubstr(R"("leaseTransitions":5)"));
    EXPECT_THAT(puts[0], HasSubstr(R"("resourceVersion":"9")")) << "a stale view must be refused";
  }
}

TEST(LeaseRecordTest, TheHolderRenewsWithoutLookingFirst) {
  SimulatedLoop loop(1);
  FakeClient client(loop);
  client.SetHandler([&](const Request& request) -> std::optional<absl::StatusOr<Response>> {
    if (request.method == "GET") return testutil::Refusal(404, "NotFound", "leases", "gangway-scheduler");
    return testutil::Reply(request.method == "POST" ? 201 : 200, request.body);
  });
  Contender a(loop, client, OptionsOf("a"));
  a.lease.Start();
  loop.RunFor(absl::Seconds(4.5));
  EXPECT_THAT(client.lines(), ElementsAre(absl::StrCat("GET ", kPath),
                                          "POST /apis/coordination.k8s.io/v1/namespaces/gangway-system/leases",
                                          absl::StrCat("PUT ", kPath), absl::StrCat("PUT ", kPath)));
}

TEST(LeaseRecordTest, AHolderThatIsRefusedLooksWhoHasIt) {
  SimulatedLoop loop(1);
  FakeClient client(loop);
  bool stolen = false;
  client.SetHandler([&](const Request& request) -> std::optional<absl::StatusOr<Response>> {
    if (request.method == "GET") {
      return stolen ? testutil::Reply(200, LeaseJson("z", "2026-01-01T00:00:00.000000Z", 77))
                    : testutil::Refusal(404, "NotFound", "leases", "");
    }
    if (stolen) return testutil::Refusal(409, "Conflict", "leases", "gangway-scheduler");
    return testutil::Reply(200, request.body);
  });
  Contender a(loop, client, OptionsOf("a"));
  a.lease.Start();
  loop.RunFor(absl::Seconds(3));
  ASSERT_TRUE(a.lease.held());
  stolen = true;
  loop.RunFor(absl::Seconds(3));
  EXPECT_EQ(a.lost, "taken by z");
  EXPECT_FALSE(a.fence.open());
}

// What is there cannot be seen: nothing is known of the lease, and it is looked again.
TEST(LeaseRecordTest, WhereNoLookSucceedsNobodyHoldsIt) {
  for (const absl::StatusOr<Response>& answer :
       {absl::StatusOr<Response>(testutil::Refusal(403, "Forbidden", "leases", "")),
        absl::StatusOr<Response>(testutil::Reply(200, "[]")),
        absl::StatusOr<Response>(absl::UnavailableError("connection refused"))}) {
    SimulatedLoop loop(1);
    FakeClient client(loop);
    bool broken = true;
    client.SetHandler([&](const Request& request) -> std::optional<absl::StatusOr<Response>> {
      if (broken) return answer;
      if (request.method == "GET") return testutil::Refusal(404, "NotFound", "leases", "");
      return testutil::Reply(200, request.body);
    });
    Contender a(loop, client, OptionsOf("a"));
    a.lease.Start();
    loop.RunFor(absl::Seconds(20));
    EXPECT_FALSE(a.lease.held());
    EXPECT_THAT(a.holders, ::testing::IsEmpty());
    for (const Request& request : client.requests()) EXPECT_EQ(request.method, "GET");
    EXPECT_GE(client.requests().size(), 8u) << "every two seconds and a fifth";
    EXPECT_LE(client.requests().size(), 11u);
    broken = false;
    loop.RunFor(absl::Seconds(3));
    EXPECT_TRUE(a.lease.held());
  }
}

TEST(LeaseRecordTest, CountsWhatCameOfItsRequests) {
  SimulatedLoop loop(1);
  FakeClient client(loop);
  bool broken = true;
  client.SetHandler([&](const Request& request) -> std::optional<absl::StatusOr<Response>> {
    if (broken) return testutil::Refusal(500, "InternalError", "leases", "");
    if (request.method == "GET") return testutil::Refusal(404, "NotFound", "leases", "");
    return testutil::Reply(200, request.body);
  });
  Metrics metrics;
  LeaseOptions options = OptionsOf("a");
  options.metrics = &metrics;
  Contender a(loop, client, options);
  a.lease.Start();
  loop.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_lease_requests_total{result=\"failed\"} 1\n"));
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_leader 0\n"));
  broken = false;
  ASSERT_TRUE(loop.RunUntil([&] { return a.lease.held(); }, loop.Now() + absl::Seconds(3)));
  loop.RunFor(absl::Seconds(2.5));
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_lease_requests_total{result=\"ok\"} 2\n"))
      << "taken, and renewed once";
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_leader 1\n"));
  a.lease.Release(absl::Seconds(1), nullptr);  // nobody waits for the answer
  loop.RunFor(absl::Seconds(2));
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_leader 0\n"));
}

// What counts is when the renewal was sent: its answer may be long on its way.
TEST(LeaseRecordTest, TheFenceOpensFromWhenTheRenewalWasSent) {
  SimulatedLoop loop(1);
  FakeClient client(loop);
  Contender a(loop, client, OptionsOf("a"));
  a.lease.Start();
  loop.RunFor(absl::Seconds(1));
  client.Answer(0, testutil::Refusal(404, "NotFound", "leases", ""));
  loop.RunFor(absl::Seconds(5));
  ASSERT_EQ(client.requests().size(), 2u);
  client.Answer(1, testutil::Reply(201, client.last().body));
  loop.RunFor(absl::Milliseconds(1));
  ASSERT_TRUE(a.lease.held());
  ASSERT_TRUE(a.fence.open());
  loop.RunFor(absl::Seconds(4.9));  // the next renewals stay unanswered
  EXPECT_TRUE(a.fence.open());
  loop.RunFor(absl::Seconds(0.2));
  EXPECT_FALSE(a.fence.open()) << "10 s since it was sent";
  EXPECT_FALSE(a.lost.has_value());
}

TEST(LeaseRecordTest, AnAnswerAfterTheLeaseEndedIsNone) {
  SimulatedLoop loop(1);
  FakeClient client(loop);
  Contender a(loop, client, OptionsOf("a"));
  a.lease.Start();
  loop.RunFor(absl::Seconds(1));
  client.Answer(0, testutil::Refusal(404, "NotFound", "leases", ""));
  loop.RunFor(absl::Seconds(15));
  client.Answer(1, testutil::Reply(201, client.last().body));
  loop.RunFor(absl::Milliseconds(1));
  EXPECT_FALSE(a.lease.held());
  EXPECT_FALSE(a.fence.open());
}

TEST(LeaseOptionsTest, DurationsMustFitOneAnother) {
  const auto check = [](absl::Duration lease, absl::Duration renew, absl::Duration retry) {
    LeaseOptions options = OptionsOf("a");
    options.lease_duration = lease;
    options.renew_deadline = renew;
    options.retry_period = retry;
    return CheckLeaseOptions(options);
  };
  GW_EXPECT_OK(check(absl::Seconds(15), absl::Seconds(10), absl::Seconds(2)));
  EXPECT_THAT(check(absl::Seconds(10), absl::Seconds(10), absl::Seconds(2)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("leaseDuration: must be more than renewDeadline, which is 10s")));
  EXPECT_THAT(check(absl::Seconds(15), absl::Seconds(2), absl::Seconds(2)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("renewDeadline")));
  EXPECT_THAT(check(absl::Milliseconds(1500), absl::Seconds(1), absl::Milliseconds(100)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("whole seconds")));
  EXPECT_THAT(check(absl::Seconds(15), absl::Seconds(10), absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("retryPeriod")));
}

}  // namespace
}  // namespace gangway::kube
