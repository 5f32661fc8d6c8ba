#include "kube/runtime/informer.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/metrics.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testutil::FakeClient;
using testutil::Refusal;
using testutil::Reply;

struct Thing {
  api::ObjectMeta metadata;
  std::int32_t value = 0;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Thing";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Thing::metadata>("metadata", ""),
                           api::MakeField<&Thing::value>("value", ""));
  }
};

std::string Pod(absl::string_view name, absl::string_view uid, int version, absl::string_view value = "0") {
  return absl::StrCat(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")", name,
                      R"(","namespace":"default","uid":")", uid, R"(","resourceVersion":")", version, R"("},"value":)",
                      value, "}");
}
std::string List(int version, const std::vector<std::string>& items, absl::string_view next = "") {
  return absl::StrCat(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")", version,
                      R"(","continue":")", next, R"("},"items":[)", absl::StrJoin(items, ","), "]}");
}
std::string Bookmark(int version) {
  return absl::StrCat(R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":")", version, R"("}})");
}
const api::NamespacedName kA{"default", "a"};

class InformerTest : public ::testing::Test {
 protected:
  void Start(InformerOptions options = {}) {
    cache_ = std::make_unique<Informer<Thing>>(loop_, client_, api::kPods, std::move(options));
    cache_->Start(
        [this](const api::NamespacedName& key, const auto& before, const auto& after) {
          const auto text = [](const auto& o) {
            return o == nullptr ? std::string("-") : absl::StrCat(o->metadata.uid, "=", o->value);
          };
          told_.push_back(absl::StrCat(key.name, ": ", text(before), " > ", text(after)));
        },
        [this] { told_.push_back("synced"); },
        [this](const api::ObjectReference& regarding, const absl::Status& status) {
          told_.push_back(absl::StrCat("bad ", regarding.name, "/", regarding.uid, "@", regarding.resource_version));
          EXPECT_FALSE(status.ok());
        });
    EXPECT_THAT(told_, IsEmpty());
    Settle();
  }
  // Started, listed, watching.
  void StartWith(int version, const std::vector<std::string>& items, InformerOptions options = {}) {
    Start(std::move(options));
    client_.Answer(0, Reply(200, List(version, items)));
    Settle();
    ASSERT_EQ(client_.watches(), 1u);
    told_.clear();
  }
  void Settle() { loop_.RunUntilIdle(); }
  void Push(FrameType type, std::string object) {
    client_.Push(client_.watches() - 1, type, std::move(object));
    Settle();
  }
  void ListAgain() {
    client_.Push(client_.watches() - 1, FrameType::kError,
                 R"({"kind":"Status","status":"Failure","reason":"Expired","code":410})");
    Settle();
    ASSERT_THAT(client_.last().query, Not(HasSubstr("watch")));
  }
  void AnswerLast(Response response) {
    client_.Answer(client_.requests().size() - 1, std::move(response));
    Settle();
  }
  std::vector<std::string> Told() { return std::exchange(told_, {}); }

  SimulatedLoop loop_{1};
  FakeClient client_{loop_};
  std::unique_ptr<Informer<Thing>> cache_;
  std::vector<std::string> told_;
};

TEST_F(InformerTest, ListsInPagesThenWatchesFromThere) {
  InformerOptions options;
  options.ns = "default";
  options.label_selector = "app in (a,b)";
  options.page_size = 2;
  Start(options);
  EXPECT_EQ(client_.last().path, "/api/v1/namespaces/default/pods");
  EXPECT_EQ(client_.last().query, "limit=2&labelSelector=app%20in%20%28a%2Cb%29");
  AnswerLast(Reply(200, List(10, {Pod("a", "u1", 3, "1"), Pod("b", "u2", 4)}, "next/1")));
  EXPECT_FALSE(cache_->synced());
  EXPECT_THAT(client_.last().query, HasSubstr("continue=next%2F1"));
  AnswerLast(Reply(200, List(10, {Pod("c", "u3", 5)})));
  EXPECT_TRUE(cache_->synced());
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=1", "b: - > u2=0", "c: - > u3=0", "synced"));
  ASSERT_EQ(client_.watches(), 1u);
  EXPECT_THAT(client_.watch_request(0).query,
              AllOf(HasSubstr("watch=true"), HasSubstr("allowWatchBookmarks=true"), HasSubstr("resourceVersion=10"),
                    HasSubstr("labelSelector=app"), HasSubstr("timeoutSeconds=")));
  EXPECT_EQ(cache_->Get(kA)->value, 1);
  std::vector<std::string> names;
  cache_->ForEach([&](const auto& key, const auto&) { names.push_back(key.name); });
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
}

// It would be most of what we hold, and nobody looks at it.
TEST_F(InformerTest, ManagedFieldsAreNotKept) {
  StartWith(
      10,
      {R"({"metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":"3","labels":{"x":"y"},"managedFields":[{"manager":"kubectl-client-side-apply"}]}})"});
  ASSERT_NE(cache_->Get(kA), nullptr);
  EXPECT_EQ(cache_->Get(kA)->metadata.managed_fields.json.capacity(), std::string().capacity());
  EXPECT_EQ(cache_->Get(kA)->metadata.labels.at("x"), "y");
}

TEST_F(InformerTest, TellsWhatTheWatchSays) {
  StartWith(10, {Pod("a", "u1", 3)});
  Push(FrameType::kModified, Pod("a", "u1", 11, "5"));
  Push(FrameType::kAdded, Pod("b", "u2", 12));
  Push(FrameType::kDeleted, Pod("a", "u1", 13, "5"));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > u1=5", "b: - > u2=0", "a: u1=5 > -"));
  EXPECT_EQ(cache_->Get(kA), nullptr);
}

TEST_F(InformerTest, VersionsCompareAsNumbersAndOldOnesAreIgnored) {
  StartWith(10, {Pod("a", "u1", 9)});
  Push(FrameType::kModified, Pod("a", "u1", 10, "1"));
  Push(FrameType::kModified, Pod("a", "u1", 9, "2"));
  Push(FrameType::kModified, Pod("a", "u1", 10, "3"));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > u1=1"));
}

TEST_F(InformerTest, TheReplyToOurWriteEntersAndItsEchoIsIgnored) {
  StartWith(10, {Pod("a", "u1", 9)});
  cache_->Observe(MakeBytes(Pod("a", "u1", 20, "7")));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > u1=7"));  // before Observe() returned
  Push(FrameType::kModified, Pod("a", "u1", 15, "3"));
  Push(FrameType::kModified, Pod("a", "u1", 20, "7"));
  EXPECT_THAT(Told(), IsEmpty());
  Push(FrameType::kModified, Pod("a", "u1", 21, "8"));
  EXPECT_THAT(Told(), ElementsAre("a: u1=7 > u1=8"));
}

TEST_F(InformerTest, ALateReplyBringsNothingBack) {
  StartWith(10, {Pod("a", "u1", 9)});
  Push(FrameType::kDeleted, Pod("a", "u1", 12));
  Told();
  cache_->Observe(MakeBytes(Pod("a", "u1", 11)));
  EXPECT_THAT(Told(), IsEmpty());
  Push(FrameType::kAdded, Pod("a", "u2", 14));
  Told();
  cache_->Observe(MakeBytes(Pod("a", "u1", 11)));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_EQ(cache_->Get(kA)->metadata.uid, "u2");
}

TEST_F(InformerTest, ADeletionLeavesATombstoneUntilTheWatchHasPassedIt) {
  StartWith(10, {Pod("a", "u1", 9)});
  cache_->ObserveDeleted(kA, "u1");
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > -"));
  Push(FrameType::kModified, Pod("a", "u1", 11));  // from before the deletion
  cache_->Observe(MakeBytes(Pod("a", "u1", 12)));  // a reply from before
  EXPECT_THAT(Told(), IsEmpty());
  cache_->Observe(MakeBytes(Pod("a", "u2", 14)));  // its successor
  EXPECT_THAT(Told(), ElementsAre("a: - > u2=0"));
  Push(FrameType::kDeleted, Pod("a", "u1", 13));  // the watch passes
  Push(FrameType::kAdded, Pod("a", "u2", 14));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_EQ(cache_->Get(kA)->metadata.uid, "u2");
}

TEST_F(InformerTest, ADeletionOfAnotherUidIsIgnored) {
  StartWith(10, {Pod("a", "u2", 9)});
  cache_->ObserveDeleted(kA, "u1");
  cache_->ObserveDeleted(kA, "");
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(InformerTest, ANameTakenByANewUidIsADeletionThenAnAddition) {
  StartWith(10, {Pod("a", "u1", 9)});
  Push(FrameType::kModified, Pod("a", "u2", 12, "4"));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > -", "a: - > u2=4"));
}

TEST_F(InformerTest, AWatchThatEndsIsResumedWhereItWas) {
  StartWith(10, {});
  Push(FrameType::kAdded, Pod("a", "u1", 12));
  Push(FrameType::kBookmark, Bookmark(30));
  loop_.RunFor(absl::Minutes(5));
  client_.EndWatch(0, absl::OkStatus());
  Settle();
  ASSERT_EQ(client_.watches(), 2u);
  EXPECT_THAT(client_.watch_request(1).query, HasSubstr("resourceVersion=30"));
  EXPECT_THAT(client_.requests(), SizeIs(1));  // no second list
  EXPECT_FALSE(client_.watch_open(0));
}

TEST_F(InformerTest, FailuresWaitLongerAndLonger) {
  StartWith(10, {});
  std::vector<absl::Duration> waits;
  for (int i = 0; i < 6; ++i) {
    const absl::Time before = loop_.Now();
    const std::size_t watches = client_.watches();
    client_.EndWatch(watches - 1, absl::UnavailableError("connection reset"));
    ASSERT_TRUE(loop_.RunUntil([&] { return client_.watches() > watches; }, before + absl::Minutes(1)));
    waits.push_back(loop_.Now() - before);
  }
  EXPECT_GE(waits[0], absl::Milliseconds(100));
  EXPECT_LE(waits[0], absl::Milliseconds(200));
  EXPECT_GE(waits[5], absl::Milliseconds(3200));
  EXPECT_LE(waits[5], absl::Milliseconds(6400));
}

// An API server that was away for long is not waited for long once it is back, though it may refuse at first.
TEST_F(InformerTest, WhereNobodyAnswersTheWaitStaysShort) {
  StartWith(10, {});
  const auto wait_after = [this](const absl::Status& status) {
    const absl::Time before = loop_.Now();
    const std::size_t watches = client_.watches();
    client_.EndWatch(watches - 1, status);
    EXPECT_TRUE(loop_.RunUntil([&] { return client_.watches() > watches; }, before + absl::Minutes(1)));
    return loop_.Now() - before;
  };
  for (int i = 0; i < 20; ++i) EXPECT_LE(wait_after(absl::UnavailableError("connection refused")), absl::Seconds(5));
  EXPECT_LE(wait_after(absl::ResourceExhaustedError("storage is (re)initializing")), absl::Milliseconds(200));
  absl::Duration wait;
  for (int i = 0; i < 10; ++i) wait = wait_after(absl::InternalError("etcd is on fire"));
  EXPECT_GE(wait, absl::Seconds(15));
  client_.Push(client_.watches() - 1, FrameType::kBookmark, Bookmark(11));
  Settle();
  for (const auto& status : {absl::UnavailableError("connection refused"), absl::InternalError("etcd is on fire")})
    EXPECT_LE(wait_after(status), absl::Milliseconds(200)) << "what was is forgotten";
}

// The client ends a watch that brings nothing for long, so that one that hangs is noticed: that is no failure.
TEST_F(InformerTest, AWatchThatWasQuietForLongIsResumedAtOnce) {
  StartWith(10, {});
  loop_.RunFor(absl::Seconds(6));
  client_.EndWatch(0, absl::DeadlineExceededError("watch /pods: not a byte for 3s"));
  Settle();
  EXPECT_EQ(client_.watches(), 2u);
  EXPECT_EQ(cache_->problem(), "");
  client_.EndWatch(1, absl::DeadlineExceededError("watch /pods: not a byte for 4s"));
  Settle();
  EXPECT_EQ(client_.watches(), 2u) << "one that was never answered is a failure";
}

TEST_F(InformerTest, AWatchThatEndsAtOnceIsNotASpinningOne) {
  StartWith(10, {});
  client_.EndWatch(0, absl::OkStatus());
  Settle();
  EXPECT_EQ(client_.watches(), 1u);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(client_.watches(), 2u);
}

TEST_F(InformerTest, AListAfter410TellsOnlyTheDifferences) {
  StartWith(10, {Pod("a", "u1", 5), Pod("b", "u2", 6), Pod("c", "u3", 7), Pod("d", "u4", 8)});
  ListAgain();
  EXPECT_FALSE(client_.watch_open(0));
  AnswerLast(
      Reply(200, List(50, {Pod("a", "u1", 5), Pod("b", "u2", 40, "1"), Pod("d", "u9", 41), Pod("e", "u5", 42)})));
  EXPECT_THAT(Told(), ElementsAre("b: u2=0 > u2=1", "d: u4=0 > -", "d: - > u9=0", "e: - > u5=0", "c: u3=0 > -"));
  ASSERT_EQ(client_.watches(), 2u);
  EXPECT_THAT(client_.watch_request(1).query, HasSubstr("resourceVersion=50"));
}

TEST_F(InformerTest, ARefusedWatchListsAgain) {
  StartWith(10, {});
  client_.EndWatch(0, absl::OutOfRangeError("too old resource version"));
  Settle();
  EXPECT_THAT(client_.requests(), SizeIs(2));
}

TEST_F(InformerTest, AListNeverGoesBackwards) {
  StartWith(10, {Pod("a", "u1", 9)});
  Push(FrameType::kDeleted, Pod("a", "u1", 20));
  Told();
  ListAgain();
  AnswerLast(Reply(200, List(15, {Pod("a", "u1", 9)})));  // from a server that lags
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_EQ(client_.watches(), 1u);
  loop_.RunFor(absl::Seconds(1));
  AnswerLast(Reply(200, List(21, {})));
  EXPECT_EQ(client_.watches(), 2u);
  EXPECT_EQ(cache_->Get(kA), nullptr);
}

TEST_F(InformerTest, ARepliedObjectThatIsNewerThanTheListSurvivesIt) {
  StartWith(10, {});
  ListAgain();
  cache_->Observe(MakeBytes(Pod("a", "u1", 60)));
  cache_->Observe(MakeBytes(Pod("b", "u2", 45)));  // and is gone again in the list
  Told();
  AnswerLast(Reply(200, List(50, {})));
  EXPECT_THAT(Told(), ElementsAre("b: u2=0 > -"));
  EXPECT_NE(cache_->Get(kA), nullptr);
}

TEST_F(InformerTest, WhatAListOfItsVersionDoesNotHoldIsGone) {
  StartWith(10, {});
  cache_->Observe(MakeBytes(Pod("a", "u1", 50)));
  ListAgain();
  Told();
  AnswerLast(Reply(200, List(50, {})));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > -"));
}

TEST_F(InformerTest, AListThatWasUnderWayDoesNotUndoADeletion) {
  StartWith(10, {Pod("a", "u1", 9), Pod("b", "u2", 9)});
  cache_->ObserveDeleted({"default", "b"}, "u2");
  ListAgain();
  cache_->ObserveDeleted(kA, "u1");
  Told();
  AnswerLast(Reply(200, List(50, {Pod("a", "u1", 9)})));
  EXPECT_THAT(Told(), IsEmpty());
  Push(FrameType::kDeleted, Pod("a", "u1", 51));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(InformerTest, AContinueTokenThatExpiredAsksForAllAtOnce) {
  Start();
  AnswerLast(Reply(200, List(10, {Pod("a", "u1", 9)}, "t")));
  AnswerLast(Refusal(410, "Expired"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(client_.last().query, "limit=0");
  AnswerLast(Reply(200, List(12, {Pod("b", "u2", 11)})));
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=0", "b: - > u2=0", "a: u1=0 > -", "synced"));
}

TEST_F(InformerTest, APageThatWasRefusedIsAskedForAgainAndNotThoseBeforeIt) {
  Start();
  AnswerLast(Reply(200, List(10, {Pod("a", "u1", 9)}, "t")));
  AnswerLast(Refusal(503, "ServiceUnavailable"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.last().query, HasSubstr("continue=t"));
  AnswerLast(Reply(200, List(10, {Pod("b", "u2", 8)})));
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=0", "b: - > u2=0", "synced"));
}

TEST_F(InformerTest, ListErrorsAreTriedAgain) {
  Start();
  AnswerLast(Refusal(503, "ServiceUnavailable"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.requests(), SizeIs(2));
  client_.Answer(1, absl::UnavailableError("connection refused"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.requests(), SizeIs(3));
  AnswerLast(Reply(200, "{broken"));
  loop_.RunFor(absl::Seconds(2));
  Response busy = Refusal(429, "TooManyRequests");
  busy.retry_after = absl::Seconds(20);
  AnswerLast(busy);
  const std::size_t asked = client_.requests().size();
  loop_.RunFor(absl::Seconds(19));
  EXPECT_THAT(client_.requests(), SizeIs(asked));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.requests(), SizeIs(asked + 1));
  EXPECT_FALSE(cache_->synced());
}

TEST_F(InformerTest, AnObjectThatDoesNotDecodeStopsNobodyElse) {
  Start();
  AnswerLast(Reply(200, List(10, {Pod("a", "u1", 8, "\"x\""), Pod("b", "u2", 9)})));
  EXPECT_THAT(Told(), ElementsAre("bad a/u1@8", "b: - > u2=0", "synced"));
  EXPECT_EQ(cache_->Get(kA), nullptr);
  Push(FrameType::kModified, Pod("a", "u1", 11, "1"));      // it decodes now
  Push(FrameType::kModified, Pod("a", "u1", 12, "\"x\""));  // and no more: the last good one stays
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=1", "bad a/u1@12"));
  EXPECT_EQ(cache_->Get(kA)->value, 1);
  Push(FrameType::kModified, Pod("c", "u3", 13, "\"x\""));
  Push(FrameType::kDeleted, Pod("c", "u3", 14, "\"x\""));  // was never told
  Push(FrameType::kModified, "{");
  Push(FrameType::kDeleted, Pod("a", "u1", 15));
  EXPECT_THAT(Told(), ElementsAre("bad c/u3@13", "bad /@", "a: u1=1 > -"));
}

TEST_F(InformerTest, WhatCannotBeReadIsCountedUntilItIsReadOrGone) {
  Metrics metrics;
  InformerOptions options;
  options.metrics = &metrics;
  const auto unread = [&] {
    const std::string page = metrics.Expose(), name = "\ngangway_cache_unread_objects{resource=\"pods\"} ";
    const std::size_t at = page.find(name);
    return at == std::string::npos ? page : page.substr(at + name.size(), page.find('\n', at + 1) - at - name.size());
  };
  StartWith(10, {Pod("a", "u1", 8, "\"x\""), Pod("b", "u2", 9, "\"x\""), Pod("c", "u3", 9)}, options);
  EXPECT_EQ(unread(), "2");
  Push(FrameType::kModified, Pod("a", "u1", 11, "\"y\""));  // as before
  EXPECT_EQ(unread(), "2");
  Push(FrameType::kModified, Pod("a", "u1", 12, "1"));  // mended
  EXPECT_EQ(unread(), "1");
  Push(FrameType::kDeleted, Pod("b", "u2", 13, "\"x\""));
  EXPECT_EQ(unread(), "0");
  Push(FrameType::kModified, Pod("a", "u1", 14, "\"x\""));
  Push(FrameType::kAdded, Pod("a", "u4", 15, "\"x\""));  // another one under its name
  EXPECT_EQ(unread(), "1");
  ListAgain();
  AnswerLast(Reply(200, List(20, {Pod("c", "u3", 19, "\"x\"")})));  // a went while we did not look
  EXPECT_EQ(unread(), "1");
  cache_.reset();
  EXPECT_EQ(unread(), "0");
}

TEST_F(InformerTest, WithoutObjectsOnlyTheRulesAreKept) {
  InformerOptions options;
  options.keep_objects = false;
  StartWith(10, {Pod("a", "u1", 9, "1")}, options);
  Push(FrameType::kModified, Pod("a", "u1", 11, "2"));
  Push(FrameType::kModified, Pod("a", "u1", 11, "3"));
  Push(FrameType::kDeleted, Pod("a", "u1", 12, "3"));
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=2", "a: - > -"));
}

Write DeletePod(absl::string_view uid) {
  Write write;
  write.verb = Verb::kDelete;
  write.resource = &api::kPods;
  write.ns = "default";
  write.name = "a";
  write.uid = std::string(uid);
  return write;
}

TEST_F(InformerTest, UnderstandsRepliesToWrites) {
  StartWith(10, {Pod("a", "u1", 9)});
  Write write = DeletePod("u1");
  cache_->ObserveReply(write, Reply(200, Pod("a", "u1", 12, "9")));  // deletion has begun
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > u1=9"));
  cache_->ObserveReply(write, Refusal(404, "NotFound", "namespaces", "default"));
  cache_->ObserveReply(write, Refusal(409, "Conflict", "pods", "a"));
  Write binding = write;
  binding.verb = Verb::kCreate;
  binding.subresource = "binding";
  cache_->ObserveReply(binding, Reply(201, R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})"));
  Write other = write;
  other.resource = &api::kJobs;
  cache_->ObserveReply(other, Reply(200, R"({"kind":"Status","status":"Success"})"));
  EXPECT_THAT(Told(), IsEmpty());
  cache_->ObserveReply(write, Reply(200, R"({"kind":"Status","apiVersion":"v1","status":"Success"})"));  // it is gone
  EXPECT_THAT(Told(), ElementsAre("a: u1=9 > -"));
}

TEST_F(InformerTest, OfAnOptionalResourceThatIsNotServedThereIsNone) {
  InformerOptions options;
  options.optional = true;
  Start(std::move(options));
  AnswerLast(Reply(404, "404 page not found"));
  EXPECT_THAT(Told(), ElementsAre("synced"));
  EXPECT_TRUE(cache_->synced());
  EXPECT_EQ(cache_->problem(), "");
  const std::size_t asked = client_.requests().size();
  loop_.RunFor(absl::Minutes(4));
  EXPECT_EQ(client_.requests().size(), asked);
  loop_.RunFor(absl::Minutes(2));
  ASSERT_EQ(client_.requests().size(), asked + 1) << "asked again: its types may have been installed";
  AnswerLast(Reply(200, List(5, {Pod("a", "u1", 4)})));
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=0"));
  ListAgain();
  AnswerLast(Reply(404, "404 page not found"));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > -")) << "the types are gone, and the objects with them";
}

TEST_F(InformerTest, WhatMayNotBeReadCanCountAsNotThere) {
  InformerOptions options;
  options.unless_forbidden = true;
  Start(std::move(options));
  AnswerLast(Refusal(403, "Forbidden"));
  EXPECT_THAT(Told(), ElementsAre("synced"));
  EXPECT_EQ(cache_->problem(), "");
  EXPECT_EQ(cache_->seen_up_to(), 0u);
  const std::size_t asked = client_.requests().size();
  loop_.RunFor(absl::Minutes(1));
  ASSERT_EQ(client_.requests().size(), asked + 1) << "asked again: the right may have been given";
  AnswerLast(Reply(200, List(5, {Pod("a", "u1", 4)})));
  EXPECT_THAT(Told(), ElementsAre("a: - > u1=0"));
}

TEST_F(InformerTest, A404SaysThatTheObjectIsGone) {
  StartWith(10, {Pod("a", "u1", 9)});
  cache_->ObserveReply(DeletePod("u2"), Refusal(404, "NotFound", "pods", "a"));
  EXPECT_THAT(Told(), IsEmpty());
  cache_->ObserveReply(DeletePod("u1"), Refusal(404, "NotFound", "pods", "a"));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > -"));
}

TEST_F(InformerTest, ASelectiveCacheLearnsNoNewObjectsFromReplies) {
  InformerOptions options;
  options.field_selector = "spec.nodeName=n1";
  StartWith(10, {Pod("a", "u1", 9)}, options);
  cache_->Observe(MakeBytes(Pod("b", "u2", 20)));
  cache_->Observe(MakeBytes(Pod("a", "u1", 21, "3")));
  EXPECT_THAT(Told(), ElementsAre("a: u1=0 > u1=3"));
}

TEST_F(InformerTest, DestroyedItIsSilent) {
  Start();
  client_.Answer(0, Reply(200, List(10, {Pod("a", "u1", 9)})));
  cache_.reset();
  Settle();
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_EQ(client_.watches(), 0u);
}

TEST_F(InformerTest, SeveralNamespacesAreOneCache) {
  InformerOptions options;
  options.namespaces = {"b", "a", "b"};
  Start(options);
  ASSERT_EQ(client_.requests().size(), 2u);
  EXPECT_THAT(client_.lines(),
              ::testing::UnorderedElementsAre("GET /api/v1/namespaces/a/pods", "GET /api/v1/namespaces/b/pods"));
  const std::size_t a = client_.requests()[0].path == "/api/v1/namespaces/a/pods" ? 0 : 1, b = 1 - a;
  const auto pod = [](absl::string_view ns, int version) {
    return absl::StrCat(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":")", ns, R"(","uid":"u-)",
                        ns, R"(","resourceVersion":")", version, R"("},"value":)", version, "}");
  };
  client_.Answer(b, Reply(200, List(20, {pod("b", 11)})));
  Settle();
  EXPECT_FALSE(cache_->synced());
  client_.Answer(a, Reply(200, List(15, {pod("a", 10)})));
  Settle();
  EXPECT_THAT(told_, ElementsAre("p: - > u-b=11", "p: - > u-a=10", "synced"));
  EXPECT_EQ(cache_->seen_up_to(), 15u) << "as far as all of them";
  EXPECT_EQ(cache_->size(), 2u);
  EXPECT_EQ(cache_->Get({"a", "p"})->value, 10);
  EXPECT_EQ(cache_->Get({"b", "p"})->value, 11);
  EXPECT_EQ(cache_->Get({"c", "p"}), nullptr);
  std::vector<std::string> order;
  cache_->ForEach([&](const api::NamespacedName& key, const auto&) { order.push_back(key.ns); });
  EXPECT_THAT(order, ElementsAre("a", "b"));
  cache_->Observe(MakeBytes(pod("b", 30)));
  cache_->Observe(MakeBytes(pod("c", 31)));
  EXPECT_EQ(cache_->Get({"b", "p"})->value, 30);
  EXPECT_EQ(cache_->size(), 2u);
}

TEST_F(InformerTest, WhatMustBeThereAndIsNotServedIsWaitedFor) {
  Start();
  AnswerLast(Refusal(404, "NotFound"));
  EXPECT_FALSE(cache_->synced());
  EXPECT_THAT(cache_->problem(), HasSubstr("does not serve pods v1"));
  EXPECT_THAT(client_.requests(), SizeIs(1)) << "the core has no group to ask for";
}

TEST_F(InformerTest, OfAMissingResourceItsGroupSaysWhatItServes) {
  Informer<Thing> groups(loop_, client_, api::kPodGroups, {});
  groups.Start([](const auto&, const auto&, const auto&) {}, [] {});
  Settle();
  AnswerLast(Reply(404, "404 page not found"));
  EXPECT_EQ(client_.last().path, "/apis/scheduling.volcano.sh");
  AnswerLast(Reply(200, R"({"kind":"APIGroup","versions":[{"version":"v2"}]})"));
  EXPECT_THAT(groups.problem(), HasSubstr("serves scheduling.volcano.sh in v2"));
  loop_.RunFor(absl::Seconds(1));
  AnswerLast(Refusal(403, "Forbidden"));
  EXPECT_THAT(groups.problem(), HasSubstr("may not list podgroups"));
  EXPECT_EQ(client_.requests().size(), 3u);
}

TEST_F(InformerTest, AnObjectOfAnotherKindIsNoneOfOurs) {
  StartWith(10, {});
  Push(
      FrameType::kAdded,
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"u1","resourceVersion":"11"}})");
  EXPECT_EQ(cache_->Get(kA), nullptr);
  EXPECT_THAT(Told(), ElementsAre("bad /@"));
}

TEST_F(InformerTest, WhatStandsInItsWayIsSaidUntilItIsGone) {
  Start();
  EXPECT_EQ(cache_->problem(), "");
  client_.Answer(0, Refusal(403, "Forbidden", "pods"));
  Settle();
  EXPECT_THAT(cache_->problem(), HasSubstr("may not list pods"));
  loop_.RunFor(absl::Seconds(1));
  client_.Answer(1, absl::UnavailableError("GET http://h/api: Couldn't connect to server"));
  Settle();
  EXPECT_EQ(cache_->problem(), "the API server does not answer: Couldn't connect to server");
  loop_.RunFor(absl::Seconds(2));
  client_.Answer(2, Reply(200, List(10, {})));
  Settle();
  EXPECT_EQ(cache_->problem(), "");
}

}  // namespace
}  // namespace gangway::kube
