#include "kube/runtime/recorder.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::FakeClient;
using testutil::Refusal;
using testutil::Reply;

EventNote Note(absl::string_view message = "waits for 1 of 4 tasks") {
  EventNote note;
  note.type = EventNote::Type::kWarning;
  note.reason = "Unschedulable";
  note.message = std::string(message);
  note.regarding.api_version = "scheduling.volcano.sh/v1beta1";
  note.regarding.kind = "PodGroup";
  note.regarding.ns = "default";
  note.regarding.name = "ctr";
  note.regarding.uid = "u1";
  return note;
}

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() { Restart(Options()); }
  static RecorderOptions Options() {
    RecorderOptions options;
    options.component = "volcano";
    return options;
  }
  void Restart(RecorderOptions options) { recorder_ = std::make_unique<Recorder>(loop_, client_, options); }
  void Record(const EventNote& note = Note()) {
    recorder_->Record(note);
    loop_.RunUntilIdle();
  }
  void AnswerLast(absl::StatusOr<Response> reply) {
    client_.Answer(client_.requests().size() - 1, std::move(reply));
    loop_.RunUntilIdle();
  }

  SimulatedLoop loop_{1};
  FakeClient client_{loop_};
  std::unique_ptr<Recorder> recorder_;
};

TEST_F(RecorderTest, WritesACoreEvent) {
  Record();
  ASSERT_THAT(client_.requests(), SizeIs(1));
  EXPECT_EQ(client_.lines()[0], "POST /api/v1/namespaces/default/events");
  EXPECT_EQ(client_.last().query, "fieldValidation=Ignore");
  const std::string& body = client_.last().body;
  EXPECT_THAT(body, StartsWith(R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"ctr.)"));
  EXPECT_THAT(
      body,
      HasSubstr(
          R"("involvedObject":{"kind":"PodGroup","namespace":"default","name":"ctr","uid":"u1",)"
          R"("apiVersion":"scheduling.volcano.sh/v1beta1"},"reason":"Unschedulable",)"
          R"("message":"waits for 1 of 4 tasks","source":{"component":"volcano"},)"
          R"("firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z","count":1,"type":"Warning")"));
  EXPECT_EQ(recorder_->waiting(), 1u);
  AnswerLast(Reply(201));
  EXPECT_EQ(recorder_->waiting(), 0u);
}

TEST_F(RecorderTest, RepeatsRaiseTheCountNowAndThen) {
  Record();
  AnswerLast(Reply(201));
  for (int i = 0; i < 5; ++i) Record();
  EXPECT_THAT(client_.requests(), SizeIs(1));
  loop_.RunFor(absl::Seconds(1));
  ASSERT_THAT(client_.requests(), SizeIs(2));
  EXPECT_EQ(client_.last().method, "PATCH");
  EXPECT_THAT(client_.last().path, StartsWith("/api/v1/namespaces/default/events/ctr."));
  EXPECT_EQ(client_.last().content_type, "application/merge-patch+json");
  EXPECT_EQ(client_.last().body, R"({"count":6,"lastTimestamp":"2026-01-01T00:00:00Z"})");
  Record();  // while that one is under way
  AnswerLast(Reply(200));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.last().body, HasSubstr("\"count\":7"));
}

TEST_F(RecorderTest, AnotherMessageOrObjectIsAnotherEvent) {
  Record();
  Record(Note("waits for 2 of 4 tasks"));
  EventNote other = Note();
  other.regarding.uid = "u2";
  Record(other);
  EXPECT_THAT(client_.requests(), SizeIs(3));
  for (const Request& request : client_.requests()) EXPECT_EQ(request.method, "POST");
}

TEST_F(RecorderTest, ClusterScopedObjectsHaveTheirEventsInDefault) {
  EventNote note = Note();
  note.regarding = {};
  note.regarding.api_version = "v1";
  note.regarding.kind = "Node";
  note.regarding.name = "n1";
  Record(note);
  EXPECT_EQ(client_.lines()[0], "POST /api/v1/namespaces/default/events");
  EXPECT_THAT(client_.last().body, HasSubstr(R"("involvedObject":{"kind":"Node","name":"n1","apiVersion":"v1"})"));
}

TEST_F(RecorderTest, ARestartedProcessFindsItsEventAgain) {
  Record();
  const std::string first = client_.last().body;
  Restart(Options());
  Record();
  EXPECT_EQ(client_.last().body, first);
  AnswerLast(Refusal(409, "AlreadyExists"));
  EXPECT_EQ(client_.last().method, "GET");
  AnswerLast(Reply(200, R"({"count":4})"));
  EXPECT_THAT(client_.last().body, HasSubstr("\"count\":5"));
}

TEST_F(RecorderTest, AnEventThatExpiredIsMadeAnew) {
  Record();
  AnswerLast(Reply(201));
  loop_.RunFor(absl::Hours(2));
  Record();
  EXPECT_EQ(client_.last().method, "PATCH");
  AnswerLast(Refusal(404, "NotFound"));
  EXPECT_EQ(client_.last().method, "POST");
  EXPECT_THAT(client_.last().body,
              AllOf(HasSubstr("\"count\":1"), HasSubstr(R"("firstTimestamp":"2026-01-01T02:00:00Z")")));
}

TEST_F(RecorderTest, ALongNameIsCutToWhatKubernetesTakes) {
  EventNote note = Note();
  note.regarding.name = std::string(253, 'n');
  Record(note);
  const std::string& body = client_.last().body;
  const std::size_t from = body.find(R"("name":")") + 8;
  EXPECT_EQ(body.find('"', from) - from, 253u);
}

// Neither is the beginning of a name that Kubernetes takes.
TEST_F(RecorderTest, AnEventAboutWhatHasNoNameHasOne) {
  for (const char* const name : {"", "--"}) {
    EventNote note = Note();
    note.regarding.name = name;
    Record(note);
    EXPECT_THAT(client_.last().body, HasSubstr(R"("metadata":{"name":"unknown.)")) << name;
  }
}

TEST_F(RecorderTest, TriesAFewTimesAndThenDrops) {
  client_.SetHandler([](const Request&) { return absl::StatusOr<Response>(absl::UnavailableError("reset")); });
  Record();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.requests(), SizeIs(4));
  EXPECT_EQ(recorder_->waiting(), 0u);
  Record(Note("another"));
  loop_.RunFor(absl::Hours(1));
  Record();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.requests(), SizeIs(12)) << "as often for the next, and for the same later";
  client_.SetHandler([](const Request&) { return absl::StatusOr<Response>(Refusal(403, "Forbidden")); });
  Record();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.requests(), SizeIs(13));
}

TEST_F(RecorderTest, WhatAsksForTimeIsTriedAgainAndWhatIsGoneIsNot) {
  std::size_t before = 0;
  for (const auto& [answer, requests] :
       {std::pair(408, 4u), std::pair(429, 4u), std::pair(500, 4u), std::pair(404, 1u), std::pair(430, 1u)}) {
    client_.SetHandler([code = answer](const Request&) { return absl::StatusOr<Response>(Refusal(code, "Refused")); });
    Record(Note(absl::StrCat("answered with ", answer)));
    loop_.RunFor(absl::Hours(1));
    EXPECT_EQ(client_.requests().size() - before, requests) << answer;
    before = client_.requests().size();
  }
}

TEST_F(RecorderTest, KeepsToTheRateAndToItsRoom) {
  RecorderOptions options = Options();
  options.qps = 1;
  options.burst = 2;
  options.max_waiting = 5;
  Restart(options);
  client_.SetHandler([](const Request&) { return absl::StatusOr<Response>(Reply(201)); });
  for (int i = 0; i < 10; ++i) recorder_->Record(Note(absl::StrCat("note ", i)));
  loop_.RunUntilIdle();
  EXPECT_THAT(client_.requests(), SizeIs(2));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(client_.requests(), SizeIs(5));
}

TEST_F(RecorderTest, WaitsBehindMoreUrgentWritesButNotForLong) {
  bool busy = true;
  RecorderOptions options = Options();
  options.busy = [&] { return busy; };
  options.patience = absl::Seconds(1);
  Restart(options);
  recorder_->Record(Note("a"));
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_THAT(client_.requests(), SizeIs(0));
  busy = false;
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_THAT(client_.requests(), SizeIs(1));
  busy = true;
  recorder_->Record(Note("b"));
  loop_.RunFor(absl::Milliseconds(1100));
  EXPECT_THAT(client_.requests(), SizeIs(2));
}

TEST_F(RecorderTest, ForgetsTheOldestAndStillCountsIt) {
  RecorderOptions options = Options();
  options.remembered = 1;
  Restart(options);
  Record(Note("a"));
  AnswerLast(Reply(201));
  Record(Note("b"));
  AnswerLast(Reply(201));
  Record(Note("a"));
  EXPECT_EQ(client_.last().method, "POST");
  AnswerLast(Refusal(409, "AlreadyExists"));
  AnswerLast(Reply(200, R"({"count":1})"));
  EXPECT_THAT(client_.last().body, HasSubstr("\"count\":2"));
}

TEST_F(RecorderTest, LongMessagesAreCutBetweenCharacters) {
  std::string message(1020, 'x');
  message += "éééé";
  Record(Note(message));
  EXPECT_THAT(client_.last().body, HasSubstr(absl::StrCat("\"", std::string(1020, 'x'), "...\"")));
}

TEST_F(RecorderTest, AllOfANoteIsWritten) {
  EventNote note = Note(absl::string_view("one\0two", 7));
  note.type = EventNote::Type::kNormal;
  note.regarding.resource_version = "12";
  note.regarding.field_path = "spec.containers{main}";
  Record(note);
  EXPECT_THAT(client_.last().body, HasSubstr(R"("resourceVersion":"12","fieldPath":"spec.containers{main}"},)"
                                             R"("reason":"Unschedulable","message":"one\u0000two",)"));
  EXPECT_THAT(client_.last().body, HasSubstr(R"("type":"Normal")"));
}

TEST_F(RecorderTest, DestroyedItIsSilent) {
  client_.SetHandler([](const Request&) { return absl::StatusOr<Response>(absl::UnavailableError("reset")); });
  recorder_->Record(Note());
  recorder_.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.requests(), SizeIs(1));
}

}  // namespace
}  // namespace gangway::kube
