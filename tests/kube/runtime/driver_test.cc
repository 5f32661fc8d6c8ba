#include "kube/runtime/driver.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testutil::FakeClient;
using testutil::Refusal;
using testutil::Reply;

const api::NamespacedName kKey{"default", "ctr"};
constexpr absl::string_view kOwned =
    R"({"metadata":{"name":"p","ownerReferences":[{"apiVersion":"b/v1","kind":"Job","name":"ctr","uid":"u1","controller":true}]}})";

Write Make(Verb verb, absl::string_view name, absl::string_view body = "{}") {
  Write write;
  write.verb = verb;
  write.resource = &api::kPods;
  write.ns = "default";
  write.name = std::string(name);
  write.body = std::string(body);
  if (verb != Verb::kCreate) write.uid = "uid";
  return write;
}
api::ObjectReference Job() {
  api::ObjectReference job;
  job.kind = "Job";
  job.ns = "default";
  job.name = "ctr";
  return job;
}
Write Create(absl::string_view name) { return Make(Verb::kCreate, name, kOwned); }

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : recorder_(loop_, events_, {.component = "test"}) { Restart({}); }

  void Restart(DriverOptions options) {
    options.name = "test";
    driver_ = std::make_unique<Driver>(loop_, client_, recorder_, options,
                                       [this](const api::NamespacedName& key, absl::Time now) {
                                         EXPECT_EQ(now, loop_.Now());
                                         decided_.push_back(key.name);
                                         return decide_(key);
                                       });
    driver_->SetOnReply([this](const Write& write, const Response& response) {
      replies_.push_back(absl::StrCat(write.name, " ", response.code));
      if (on_reply_) on_reply_();
    });
    driver_->SetOnPermanentError(
        [this](const api::NamespacedName& key, const std::string& uid, const Write& write, const absl::Status& status) {
          permanent_.push_back(absl::StrCat(key.name, uid.empty() ? "" : "/", uid, " ", write.name, " ",
                                            absl::StatusCodeToString(status.code())));
        });
  }
  // The plan is wanted until `times` plans were made; then nothing is.
  void Want(Plan plan, int times = 1'000'000) {
    decide_ = [plan, times](const api::NamespacedName&) mutable { return times-- > 0 ? plan : Plan(); };
  }
  void Enqueue() {
    driver_->Enqueue(kKey);
    loop_.RunUntilIdle();
  }
  // Answers each request by the first rule whose name stands in "METHOD path".
  void Answers(std::vector<std::pair<std::string, absl::StatusOr<Response>>> rules) {
    client_.SetHandler([rules = std::move(rules)](const Request& r) -> std::optional<absl::StatusOr<Response>> {
      const std::string line = absl::StrCat(r.method, " ", r.path);
      for (const auto& [part, reply] : rules) {
        if (line.find(part) != std::string::npos) return reply;
      }
      return Reply(200);
    });
  }
  static Plan One(Write write) {
    Plan plan;
    plan.stages = {{std::move(write)}};
    return plan;
  }
  // How long after now the key is decided again.
  absl::Duration NextDecision(absl::Duration limit = absl::Hours(1)) {
    const std::size_t before = decided_.size();
    const absl::Time start = loop_.Now();
    EXPECT_TRUE(loop_.RunUntil([&] { return decided_.size() > before; }, start + limit));
    return loop_.Now() - start;
  }

  SimulatedLoop loop_{1};
  FakeClient client_{loop_}, events_{loop_};
  Recorder recorder_;
  std::function<Plan(const api::NamespacedName&)> decide_ = [](const api::NamespacedName&) { return Plan(); };
  std::function<void()> on_reply_;
  std::vector<std::string> decided_, replies_, permanent_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(DriverTest, AKeyThatWaitsIsDecidedOnce) {
  driver_->Enqueue(kKey);
  driver_->Enqueue(kKey);
  driver_->Enqueue({"default", "ads"});
  EXPECT_EQ(driver_->queued(), 2u);
  EXPECT_THAT(decided_, IsEmpty());
  loop_.RunUntilIdle();
  EXPECT_THAT(decided_, ElementsAre("ctr", "ads"));
}

TEST_F(DriverTest, AStageStartsWhenTheOneBeforeIsDone) {
  Plan plan;
  plan.stages = {{Create("a"), Create("b")}, {}, {Create("c")}};
  plan.events = {{EventNote::Type::kNormal, "Made", "made 3", Job()}};
  Want(plan, 1);
  Enqueue();
  EXPECT_THAT(client_.requests(), SizeIs(2));
  client_.Answer(0, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(2));
  client_.Answer(1, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(3));
  EXPECT_THAT(events_.requests(), IsEmpty());
  EXPECT_EQ(driver_->under_way(), 1u);
  client_.Answer(2, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_THAT(replies_, ElementsAre("a 201", "b 201", "c 201"));
  EXPECT_THAT(events_.requests(), SizeIs(1));
  EXPECT_EQ(driver_->under_way(), 0u);
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(decided_, SizeIs(1));
}

TEST_F(DriverTest, EventsWithoutWritesAreRecordedAtOnce) {
  Plan plan;
  plan.events = {{EventNote::Type::kWarning, "Waits", "waits for 1 of 4", Job()}};
  Want(plan);
  Enqueue();
  EXPECT_THAT(events_.requests(), SizeIs(1));
}

TEST_F(DriverTest, AKeyEnqueuedMeanwhileIsDecidedAgainAfterwards) {
  Want(One(Create("a")), 1);
  Enqueue();
  driver_->Enqueue(kKey);
  driver_->Enqueue(kKey);
  loop_.RunUntilIdle();
  EXPECT_THAT(decided_, SizeIs(1));
  client_.Answer(0, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_THAT(decided_, SizeIs(2));
}

TEST_F(DriverTest, TheReplyReachesTheOwnerBeforeTheNextDecision) {
  Want(One(Create("a")), 1);
  Answers({});
  on_reply_ = [&] {
    EXPECT_THAT(decided_, SizeIs(1));
    driver_->Enqueue(kKey);  // as the cache would
  };
  Enqueue();
  EXPECT_THAT(decided_, SizeIs(2));
}

TEST_F(DriverTest, AConflictIsDecidedAgainAfterABackOff) {
  Plan plan;
  plan.stages = {{Make(Verb::kMergePatch, "a"), Create("b")}, {Create("never")}};
  plan.events = {{EventNote::Type::kNormal, "Made", "made", Job()}};
  Want(plan, 1);
  Answers({{"PATCH", Refusal(409, "Conflict")}});
  Enqueue();
  EXPECT_THAT(decided_, SizeIs(1));
  const absl::Duration wait = NextDecision();
  EXPECT_GE(wait, absl::Milliseconds(25));
  EXPECT_LE(wait, absl::Milliseconds(50));
  EXPECT_THAT(replies_, ElementsAre("a 409", "b 200"));  // what succeeded was shown, the next stage dropped
  EXPECT_THAT(events_.requests(), IsEmpty());
  EXPECT_THAT(permanent_, IsEmpty());
}

TEST_F(DriverTest, AConflictIsDecidedAgainAtOnceWhenTheCacheHasMoved) {
  Want(One(Make(Verb::kMergePatch, "a")), 1);
  Answers({{"PATCH", Refusal(409, "Conflict")}});
  Enqueue();
  const absl::Time before = loop_.Now();
  Enqueue();
  EXPECT_THAT(decided_, SizeIs(2));
  EXPECT_EQ(loop_.Now(), before);
  loop_.RunFor(absl::Hours(1));  // the timer of the back-off is gone
  EXPECT_THAT(decided_, SizeIs(2));
}

TEST_F(DriverTest, NotFoundIsDoneForADeletionAndStaleForTheRest) {
  Answers({{"", Refusal(404, "NotFound", "pods", "a")}});
  Want(One(Make(Verb::kDelete, "a")), 1);
  Enqueue();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(decided_, SizeIs(1));
  EXPECT_THAT(replies_, ElementsAre("a 404"));
  Want(One(Make(Verb::kMergePatch, "a")), 1);
  Enqueue();
  EXPECT_LE(NextDecision(), absl::Seconds(1));
}

TEST_F(DriverTest, AFailedPreconditionIsAnOldView) {
  Answers({{"", Refusal(412, "PreconditionFailed")}});
  Want(One(Make(Verb::kMergePatch, "a")), 1);
  Enqueue();
  EXPECT_THAT(permanent_, IsEmpty());
  EXPECT_LE(NextDecision(), absl::Milliseconds(50));
}

TEST_F(DriverTest, TooManyRequestsWaitsAsLongAsTheServerAsks) {
  Response busy = Refusal(429, "TooManyRequests");
  busy.retry_after = absl::Seconds(7);
  Answers({{"", busy}});
  Want(One(Create("a")), 1);
  Enqueue();
  driver_->Enqueue(kKey);  // not even for a change
  EXPECT_EQ(NextDecision(), absl::Seconds(7));
}

TEST_F(DriverTest, ServerAndTransportErrorsBackOffFurtherEachTime) {
  for (const absl::StatusOr<Response>& error : {absl::StatusOr<Response>(Refusal(500, "InternalError")),
                                                absl::StatusOr<Response>(absl::UnavailableError("reset"))}) {
    Answers({{"", error}});
    Want(One(Create("a")), 6);
    Enqueue();
    driver_->Enqueue(kKey);
    absl::Duration wait;
    for (int i = 0; i < 5; ++i) wait = NextDecision();
    EXPECT_GE(wait, absl::Milliseconds(400));
    EXPECT_LE(wait, absl::Milliseconds(800));
    NextDecision();  // the seventh wants nothing: the failures are forgotten
    Want(One(Create("a")), 1);
    Enqueue();
    EXPECT_LE(NextDecision(), absl::Milliseconds(50));
  }
}

TEST_F(DriverTest, WhereNobodyAnswersTheWaitStaysShort) {
  Want(One(Create("a")));
  Answers({{"POST", absl::UnavailableError("connection refused")}});
  Enqueue();
  for (int i = 0; i < 20; ++i) EXPECT_LE(NextDecision(), absl::Seconds(5));
  Answers({{"POST", Refusal(500, "InternalError")}});
  NextDecision();
  EXPECT_LE(NextDecision(), absl::Milliseconds(50)) << "it is back, and not yet ready";
  absl::Duration wait;
  for (int i = 0; i < 12; ++i) wait = NextDecision();
  EXPECT_GE(wait, absl::Seconds(30)) << "it answers, and fails";
}

TEST_F(DriverTest, ALostReplyDoesNotMakeASecondObject) {
  Answers({{"POST", Refusal(409, "AlreadyExists", "pods", "p")}, {"GET", Reply(200, std::string(kOwned))}});
  Plan plan;
  plan.stages = {{Create("p")}, {Create("q")}};
  Want(plan, 1);
  Enqueue();
  EXPECT_THAT(client_.lines(),
              ElementsAre("POST /api/v1/namespaces/default/pods", "GET /api/v1/namespaces/default/pods/p",
                          "POST /api/v1/namespaces/default/pods", "GET /api/v1/namespaces/default/pods/q"));
  EXPECT_THAT(replies_, ElementsAre("p 200", "q 200"));  // the caches see the object that is there
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(decided_, SizeIs(1));
}

TEST_F(DriverTest, SomebodyElsesObjectIsAPermanentError) {
  Answers({{"POST", Refusal(409, "AlreadyExists", "pods", "p")}, {"GET", Reply(200, R"({"metadata":{"name":"p"}})")}});
  Plan plan = One(Create("p"));
  plan.uid = "u1";
  Want(plan, 1);
  Enqueue();
  EXPECT_THAT(permanent_, ElementsAre("ctr/u1 p ALREADY_EXISTS")) << "and for whom it was";
  EXPECT_LE(NextDecision(), absl::Seconds(1)) << "it may go, and nobody tells us";
}

TEST_F(DriverTest, SomebodyElsesObjectThatIsGoingIsWaitedFor) {
  Answers({{"POST", Refusal(409, "AlreadyExists", "pods", "p")},
           {"GET", Reply(200, R"({"metadata":{"name":"p","deletionTimestamp":"2026-01-01T00:00:00Z"}})")}});
  Want(One(Create("p")), 1);
  Enqueue();
  EXPECT_THAT(permanent_, IsEmpty());
  EXPECT_LE(NextDecision(), absl::Seconds(1));
}

TEST_F(DriverTest, AnObjectThatIsGoingMustGoBeforeItsSuccessorComes) {
  std::string going(kOwned);
  going.insert(going.find("\"name\""), R"("deletionTimestamp":"2026-01-01T00:00:00Z",)");
  Answers({{"POST", Refusal(409, "AlreadyExists", "pods", "p")}, {"GET", Reply(200, going)}});
  Want(One(Create("p")), 1);
  Enqueue();
  EXPECT_THAT(permanent_, IsEmpty());
  EXPECT_LE(NextDecision(), absl::Seconds(1));
}

TEST_F(DriverTest, WhatIsRefusedIsTriedAgainMoreAndMoreRarely) {
  for (const int code : {400, 403, 422}) {
    Restart({});
    permanent_.clear();
    Answers({{"", Refusal(code, "Invalid")}});
    Want(One(Create("a")));
    Enqueue();
    EXPECT_THAT(permanent_, SizeIs(1));
    EXPECT_LE(NextDecision(), absl::Seconds(1));
    for (int i = 0; i < 12; ++i) NextDecision();
    EXPECT_GE(NextDecision(), absl::Seconds(150));
    EXPECT_LE(NextDecision(), absl::Minutes(5));
  }
}

TEST_F(DriverTest, AChangeBringsARefusedKeyForwardButMakesNoStorm) {
  Answers({{"", Refusal(403, "Forbidden")}});
  Want(One(Create("a")));
  Enqueue();
  for (int i = 0; i < 12; ++i) NextDecision();
  const std::size_t before = decided_.size();
  const absl::Time start = loop_.Now();
  while (loop_.Now() < start + absl::Minutes(1)) {  // as each pod of a gang that changes
    driver_->Enqueue(kKey);
    loop_.RunFor(absl::Milliseconds(10));
  }
  EXPECT_GE(decided_.size() - before, 11u) << "a change waits for seconds";
  EXPECT_LE(decided_.size() - before, 13u);
}

TEST_F(DriverTest, AChangeDuringThePauseAfterARefusalIsLookedAtWhenItEnds) {
  Answers({{"", Refusal(403, "Forbidden")}});
  Want(One(Create("a")), 13);
  Enqueue();
  for (int i = 0; i < 12; ++i) NextDecision();
  Enqueue();
  EXPECT_EQ(NextDecision(), absl::Seconds(5));
  const std::size_t before = decided_.size();
  loop_.RunFor(absl::Hours(1));  // the timer of the back-off is gone
  EXPECT_EQ(decided_.size(), before);
}

TEST_F(DriverTest, AChangeDoesNotCutTheBackOffAfterAServersError) {
  Answers({{"", Refusal(503, "ServiceUnavailable")}});
  Want(One(Create("a")), 1);
  Enqueue();
  Enqueue();
  EXPECT_THAT(decided_, SizeIs(1));
  EXPECT_GE(NextDecision(), absl::Milliseconds(25));
}

TEST_F(DriverTest, OnlyServersErrorsAreTriedAgainSoon) {
  Want(One(Create("a")), 1);
  Answers({{"", Refusal(499, "Odd")}});
  Enqueue();
  EXPECT_THAT(permanent_, SizeIs(1));
}

TEST_F(DriverTest, AfterEightRefusalsMoreTheRestOfTheStageIsLeftOut) {
  DriverOptions options;
  options.qps = 0;
  options.max_in_flight = 1;
  Restart(options);
  Plan plan;
  plan.stages.emplace_back();
  for (int i = 0; i < 100; ++i) plan.stages[0].push_back(Create(absl::StrCat("p", i)));
  Want(plan, 1);
  Answers({{"", Refusal(403, "Forbidden")}});
  Enqueue();
  EXPECT_THAT(client_.lines(), SizeIs(8));
}

TEST_F(DriverTest, WhenManyAreRefusedTheRestOfTheStageIsLeftOut) {
  DriverOptions options;
  options.qps = 0;
  Restart(options);
  Plan plan;
  plan.stages.emplace_back();
  for (int i = 0; i < 1000; ++i) plan.stages[0].push_back(Create(absl::StrCat("p", i)));
  Want(plan, 1);
  Answers({{"", Refusal(403, "Forbidden")}});
  Enqueue();
  EXPECT_LE(client_.lines().size(), 80u);
  EXPECT_THAT(permanent_, SizeIs(3)) << "told once and again, not a thousand times";
  EXPECT_EQ(driver_->under_way(), 0u);
  EXPECT_LE(NextDecision(), absl::Seconds(1));
}

TEST_F(DriverTest, AFewRefusalsStopNobodyElse) {
  DriverOptions options;
  options.qps = 0;
  Restart(options);
  Plan plan;
  plan.stages.emplace_back();
  for (int i = 0; i < 200; ++i)
    plan.stages[0].push_back(Make(Verb::kDelete, i % 50 == 0 ? absl::StrCat("bad", i) : absl::StrCat("p", i)));
  Want(plan, 1);
  Answers({{"bad", Refusal(422, "Invalid")}});
  Enqueue();
  EXPECT_THAT(client_.lines(), SizeIs(200));
}

TEST_F(DriverTest, AWriteThatCannotBeSentIsPermanentToo) {
  Want(One(Make(Verb::kMergePatch, "a", "[]")), 1);
  Enqueue();
  EXPECT_THAT(permanent_, ElementsAre("ctr a INVALID_ARGUMENT"));
  EXPECT_THAT(client_.requests(), IsEmpty());
}

TEST_F(DriverTest, TheMostUrgentOutcomeOfAStageDecides) {
  Plan plan;
  plan.stages = {{Create("a"), Make(Verb::kMergePatch, "b")}};
  Want(plan, 1);
  Answers({{"POST", Refusal(422, "Invalid")}, {"PATCH", Refusal(503, "ServiceUnavailable")}});
  Enqueue();
  EXPECT_LE(NextDecision(), absl::Seconds(1));
}

TEST_F(DriverTest, LooksAgainWhenThePlanSaysAndEachPlanReplacesTheLast) {
  Plan later, sooner;
  later.look_again = loop_.Now() + absl::Hours(1);
  sooner.look_again = loop_.Now() + absl::Minutes(1);
  Want(later);
  Enqueue();
  Want(sooner, 1);
  Enqueue();
  EXPECT_EQ(NextDecision(), absl::Minutes(1));
  loop_.RunFor(absl::Hours(2));  // the last plan wanted no look
  EXPECT_THAT(decided_, SizeIs(3));
}

TEST_F(DriverTest, ALookInThePastIsNoCircle) {
  Plan plan;
  plan.look_again = absl::InfinitePast();
  Want(plan);
  driver_->Enqueue(kKey);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_LE(decided_.size(), 11u);
}

TEST_F(DriverTest, WritesInFlightAreLimited) {
  Restart({.max_in_flight = 2});
  Plan plan;
  plan.stages = {{Create("a"), Create("b"), Create("c")}};
  Want(plan, 1);
  Enqueue();
  EXPECT_THAT(client_.requests(), SizeIs(2));
  client_.Answer(0, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(3));
}

// Whatever became of a write, its place is free for the next.
TEST_F(DriverTest, AWriteThatCannotBeSentIsNotInFlight) {
  Restart({.max_in_flight = 1});
  Want(One(Make(Verb::kMergePatch, "a", "[]")), 1);
  Enqueue();
  ASSERT_THAT(permanent_, SizeIs(1));
  Want(One(Create("b")), 1);
  driver_->Enqueue({"default", "ads"});
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(1));
}

TEST_F(DriverTest, AWriteWhoseObjectIsThereIsNotInFlight) {
  Restart({.max_in_flight = 1});
  Answers({{"POST", Refusal(409, "AlreadyExists", "pods", "p")}, {"GET", Reply(200, std::string(kOwned))}});
  Plan plan;
  plan.stages = {{Create("p"), Create("q")}};
  Want(plan, 1);
  Enqueue();
  EXPECT_THAT(replies_, ElementsAre("p 200", "q 200"));
}

// One key makes, three tell.
class YieldingTest : public DriverTest {
 protected:
  YieldingTest() {
    decide_ = [this](const api::NamespacedName& key) {
      if (key.name == "make") return makes_-- > 0 ? One(Create("made")) : Plan();
      Write write = Make(Verb::kMergePatch, key.name, absl::StrCat(R"({"version":)", version_, "}"));
      write.yields = true;
      Plan plan = tells_-- > 0 ? One(std::move(write)) : Plan();
      plan.events = {{EventNote::Type::kNormal, "Told", absl::StrCat(version_), Job()}};
      return plan;
    };
  }
  void Start(int tellers, int max_in_flight) {
    Restart({.max_in_flight = max_in_flight, .yield_patience = absl::Seconds(2)});
    driver_->Enqueue({"default", "make"});
    for (int i = 0; i < tellers; ++i) driver_->Enqueue(Teller(i));
    loop_.RunUntilIdle();
  }
  // Nothing is made.
  void StartHeld(int tellers) {
    makes_ = 0;
    for (int i = 0; i < tellers; ++i) driver_->Enqueue(Teller(i));
    loop_.RunUntilIdle();
  }
  static api::NamespacedName Teller(int i) { return {"default", absl::StrCat("tell-", i)}; }
  std::string Sent() const {
    std::string out;
    for (const Request& request : client_.requests()) out += request.method == "POST" ? 'm' : request.path.back();
    return out;
  }
  int makes_ = 1, tells_ = 100, version_ = 1;
  std::size_t answered_ = 0;
};

TEST_F(YieldingTest, WhatOnlyTellsComesAfterWhatMakesSomethingHappen) {
  Start(3, 16);
  EXPECT_EQ(Sent(), "m");
  client_.Answer(0, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_EQ(Sent(), "m01") << "nothing else is under way: an eighth of sixteen";
  client_.Answer(2, Reply(200));
  loop_.RunUntilIdle();
  EXPECT_EQ(Sent(), "m012");
}

TEST_F(YieldingTest, ButNeverStarves) {
  Start(3, 8);
  loop_.RunFor(absl::Milliseconds(1999));
  EXPECT_EQ(Sent(), "m");
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(Sent(), "m0") << "one of eight is theirs";
  client_.Answer(1, Reply(200));
  loop_.RunUntilIdle();
  EXPECT_EQ(Sent(), "m01");
}

// With few tokens what is late takes no more than its share of them, too.
TEST_F(YieldingTest, OfARateTheLateHaveAnEighth) {
  Restart({.qps = 10, .burst = 1, .yield_patience = absl::Seconds(2)});
  decide_ = [](const api::NamespacedName& key) {
    Plan plan;
    plan.stages.emplace_back();
    for (int i = 0; i < 40; ++i) {
      Write write = Make(Verb::kMergePatch, key.name, "{}");
      if (key.name == "make") write = Create(absl::StrCat("made-", i));
      write.yields = key.name != "make";
      plan.stages[0].push_back(std::move(write));
    }
    return plan;
  };
  driver_->Enqueue({"default", "make"});
  driver_->Enqueue(Teller(0));
  for (int i = 0; i < 200; ++i) {
    loop_.RunFor(absl::Milliseconds(25));
    for (std::size_t r = answered_; r < client_.requests().size(); ++r) client_.Answer(r, Reply(201));
    answered_ = client_.requests().size();
  }
  EXPECT_THAT(Sent(), ::testing::MatchesRegex("m{20,22}(0m{7}){2}0m{1,7}0*"));
}

// Of what has changed one write tells, and its turn is that of the first.
TEST_F(YieldingTest, WhatIsNotSentYetIsDecidedAnewWhenItsKeyChanges) {
  Start(2, 8);
  loop_.RunFor(absl::Seconds(1));
  version_ = 2;
  driver_->Enqueue(Teller(0));
  loop_.RunUntilIdle();
  EXPECT_EQ(driver_->under_way(), 3u);
  EXPECT_EQ(Sent(), "m");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(Sent(), "m0");
  EXPECT_EQ(client_.requests()[1].body, R"({"version":2,"metadata":{"uid":"uid"}})");
  EXPECT_THAT(events_.requests(), IsEmpty());
  client_.Answer(1, Reply(200));
  loop_.RunUntilIdle();
  EXPECT_THAT(events_.requests(), SizeIs(1)) << "told once";
}

TEST_F(YieldingTest, WhatNeedNotBeToldAnyMoreIsNot) {
  Start(1, 8);
  tells_ = 0;
  driver_->Enqueue(Teller(0));
  loop_.RunUntilIdle();
  EXPECT_EQ(driver_->under_way(), 1u);
  client_.Answer(0, Reply(201));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Sent(), "m");
  EXPECT_EQ(driver_->under_way(), 0u);
}

// For what others are about to do, though nothing of its own is under way.
TEST_F(YieldingTest, WhatOnlyTellsCanBeHeld) {
  driver_->HoldYielding(loop_.Now() + absl::Seconds(3));
  StartHeld(2);
  loop_.RunFor(absl::Milliseconds(2999));
  EXPECT_EQ(Sent(), "");
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(Sent(), "01");
}

TEST_F(YieldingTest, TheEndOfAHoldMayComeEarlier) {
  driver_->HoldYielding(absl::InfiniteFuture());
  StartHeld(2);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Sent(), "");
  driver_->HoldYielding(loop_.Now());
  loop_.RunUntilIdle();
  EXPECT_EQ(Sent(), "01");
}

TEST_F(YieldingTest, WhatMakesSomethingHappenIsNotHeld) {
  driver_->HoldYielding(absl::InfiniteFuture());
  StartHeld(1);
  makes_ = 1;
  driver_->Enqueue({"default", "make"});
  loop_.RunUntilIdle();
  EXPECT_EQ(Sent(), "m");
}

TEST_F(YieldingTest, NothingIsHeldForEver) {
  driver_->HoldYielding(absl::InfiniteFuture());
  StartHeld(1);
  loop_.RunFor(absl::Seconds(29));
  driver_->HoldYielding(absl::InfiniteFuture());
  loop_.RunFor(absl::Milliseconds(999));
  EXPECT_EQ(Sent(), "");
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(Sent(), "0") << "after half a minute, however often it is said";
  loop_.RunFor(absl::Milliseconds(500));
  driver_->HoldYielding(absl::InfiniteFuture());
  driver_->Enqueue(Teller(1));
  loop_.RunUntilIdle();
  EXPECT_EQ(Sent(), "01") << "and then not for a second";
  loop_.RunFor(absl::Seconds(1));
  driver_->HoldYielding(absl::InfiniteFuture());
  driver_->Enqueue(Teller(2));
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(Sent(), "01");
}

// Whoever stops has told what he had to tell, and waits for nobody.
TEST_F(YieldingTest, WhatIsHeldIsSentByWhoFallsAsleep) {
  driver_->HoldYielding(absl::InfiniteFuture());
  StartHeld(1);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Sent(), "");
  driver_->Sleep();
  EXPECT_EQ(Sent(), "0");
}

// What is told first, or beside it, would hold up what makes something happen.
TEST_F(DriverTest, BeforeAnotherStageAndBesideOtherWritesNothingYields) {
  Write tells = Make(Verb::kMergePatch, "tells");
  tells.yields = true;
  Plan before = One(tells), beside = One(tells);
  before.stages.push_back({Create("later")});
  beside.stages[0].push_back(Create("other"));
  decide_ = [&](const api::NamespacedName& key) {
    return key.name == "make" ? One(Create("made")) : key.name == "before" ? before : beside;
  };
  for (const char* const name : {"make", "before", "beside"}) driver_->Enqueue({"default", name});
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(4));
}

// One write is in flight at a time; the first plan has been begun when the others come.
TEST_F(DriverTest, WhatIsUrgentGoesFirstThenWhatWasBegun) {
  Restart({.max_in_flight = 1});
  decide_ = [](const api::NamespacedName& key) {
    if (key.name == "urgent") {
      Write write = Create("binds");
      write.urgent = true;
      return One(std::move(write));
    }
    Plan plan = One(Create(key.name + "-1"));
    plan.stages.push_back({Create(key.name + "-2"), Create(key.name + "-3")});
    return plan;
  };
  for (const char* const name : {"a", "b", "urgent"}) driver_->Enqueue({"default", name});
  loop_.RunUntilIdle();
  for (std::size_t i = 0; i < 7; ++i) {
    ASSERT_THAT(client_.requests(), SizeIs(i + 1)) << "one is in flight";
    client_.Answer(i, Reply(201));
    loop_.RunUntilIdle();
  }
  EXPECT_THAT(replies_, ElementsAre("a-1 201", "binds 201", "a-2 201", "a-3 201", "b-1 201", "b-2 201", "b-3 201"));
}

TEST_F(DriverTest, WritesKeepToTheRate) {
  Restart({.qps = 10, .burst = 2});
  Plan plan;
  plan.stages = {{}};
  for (int i = 0; i < 12; ++i) plan.stages[0].push_back(Create(absl::StrCat("p", i)));
  Want(plan, 1);
  Answers({});
  const absl::Time start = loop_.Now();
  driver_->Enqueue(kKey);
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(2));
  ASSERT_TRUE(loop_.RunUntil([&] { return replies_.size() == 12; }, start + absl::Minutes(1)));
  EXPECT_EQ(loop_.Now() - start, absl::Seconds(1));
}

TEST_F(DriverTest, DestroyedItDropsEverything) {
  Plan plan;
  plan.stages = {{Create("a")}, {Create("b")}};
  plan.look_again = loop_.Now() + absl::Minutes(1);
  Want(plan);
  Enqueue();
  driver_->Enqueue(kKey);
  driver_.reset();
  client_.Answer(0, Reply(201));
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.requests(), SizeIs(1));
  EXPECT_THAT(decided_, SizeIs(1));
  EXPECT_THAT(replies_, IsEmpty());
}

TEST_F(DriverTest, CountsWhatBecameOfWrites) {
  Metrics metrics;
  Restart({.metrics = &metrics});
  Want(One(Create("a")), 1);
  Answers({{"", Refusal(422, "Invalid")}});
  Enqueue();
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_writes_total{driver=\"test\",result=\"permanent\"} 1\n"));
  driver_.reset();
}

Plan Stages(std::vector<std::vector<Write>> stages) {
  Plan plan;
  plan.stages = std::move(stages);
  return plan;
}

TEST_F(DriverTest, AsleepItRemembersNothing) {
  Want(Stages({{Create("p")}}), 1);
  Answers({{"POST", Reply(201)}});
  driver_->Sleep();
  Enqueue();
  driver_->Wake();
  loop_.RunUntilIdle();
  EXPECT_THAT(decided_, IsEmpty());
  EXPECT_EQ(driver_->queued(), 0u);
  Enqueue();
  EXPECT_THAT(decided_, SizeIs(1));
  EXPECT_THAT(client_.lines(), SizeIs(1));
}

TEST_F(DriverTest, PutToSleepItFinishesWhatIsUnderWay) {
  Want(Stages({{Create("a")}, {Create("b")}}), 1);
  Enqueue();
  ASSERT_EQ(driver_->under_way(), 1u);
  driver_->Enqueue(kKey);
  driver_->Sleep();
  client_.Answer(0, Reply(201));
  loop_.RunUntilIdle();
  client_.Answer(1, Reply(201));
  loop_.RunUntilIdle();
  EXPECT_EQ(driver_->under_way(), 0u);
  EXPECT_THAT(client_.lines(), SizeIs(2));
  EXPECT_THAT(decided_, SizeIs(1)) << "what was enqueued meanwhile is not decided";
}

TEST_F(DriverTest, ARetryThatIsDueDuringSleepIsForgotten) {
  Want(Stages({{Create("a")}}));
  Answers({{"POST", Reply(500)}});
  Enqueue();
  ASSERT_THAT(decided_, Not(IsEmpty()));
  const std::size_t before = decided_.size();
  driver_->Sleep();
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(decided_.size(), before);
}

}  // namespace
}  // namespace gangway::kube
