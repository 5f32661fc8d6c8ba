#include "sandbox/apiserver/in_process_client.h"

#include <deque>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/status.h"
#include "tests/sandbox/apiserver/server_fixture.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

using sandbox::InProcessClient;
using sandbox::RequestFate;
using sandbox::WatchFate;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InProcessClientTest : public ServerTest {
 protected:
  kube::Request PostOf(absl::string_view name) {
    kube::Request request;
    request.method = "POST";
    request.path = std::string(kConfigMaps);
    request.body = ConfigMapJson(name);
    return request;
  }
  kube::Request WatchOf(std::string query = {}) {
    kube::Request request;
    request.method = "GET";
    request.path = std::string(kConfigMaps);
    request.query = absl::StrCat("watch=true&resourceVersion=", revision(), query);
    return request;
  }
  kube::Client::Done Note() {
    return [this](absl::StatusOr<kube::Response> answer) {
      answers_.push_back(answer.ok() ? absl::StrCat(answer->code) : absl::StatusCodeToString(answer.status().code()));
    };
  }
  bool There(absl::string_view name) { return Get(absl::StrCat(kConfigMaps, "/", name)).code == 200; }

  Owner owner_;
  std::vector<std::string> answers_;
};

TEST_F(InProcessClientTest, AnswersLaterAndInOrder) {
  InProcessClient client(loop_, server_, "me");
  client.Send(PostOf("a"), owner_.token(), Note());
  client.Send(PostOf("a"), owner_.token(), Note());
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_FALSE(There("a"));
  Settle();
  EXPECT_THAT(answers_, ElementsAre("201", "409"));
  EXPECT_EQ(journal_.back().client, "me");
}

TEST_F(InProcessClientTest, ALostRequestAndALostReplyLookTheSame) {
  std::vector<RequestFate::Loss> fates = {RequestFate::Loss::kRequest, RequestFate::Loss::kReply};
  std::size_t next = 0;
  sandbox::Faults faults;
  faults.request = [&](const kube::Request&) { return RequestFate{.loss = fates[next++]}; };
  InProcessClient client(loop_, server_, "me", std::move(faults));
  client.Send(PostOf("a"), owner_.token(), Note());
  client.Send(PostOf("b"), owner_.token(), Note());
  Settle();
  EXPECT_THAT(answers_, ElementsAre("UNAVAILABLE", "UNAVAILABLE"));
  EXPECT_FALSE(There("a"));
  EXPECT_TRUE(There("b"));
}

TEST_F(InProcessClientTest, Delays) {
  sandbox::Faults faults;
  faults.request = [](const kube::Request&) {
    return RequestFate{.request_delay = absl::Seconds(2), .reply_delay = absl::Seconds(3)};
  };
  InProcessClient client(loop_, server_, "me", std::move(faults));
  client.Send(PostOf("a"), owner_.token(), Note());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_FALSE(There("a"));
  loop_.RunFor(absl::Seconds(2));
  EXPECT_TRUE(There("a"));
  EXPECT_THAT(answers_, IsEmpty());
  loop_.RunFor(absl::Seconds(3));
  EXPECT_THAT(answers_, ElementsAre("201"));
}

TEST_F(InProcessClientTest, ACrashedClientHearsNothingButWhatItSentIsCarriedOut) {
  auto client = std::make_unique<InProcessClient>(loop_, server_, "me");
  client->Send(PostOf("a"), owner_.token(), Note());
  client.reset();
  Settle();
  EXPECT_TRUE(There("a"));
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(InProcessClientTest, AGoneOwnerHearsNothing) {
  InProcessClient client(loop_, server_, "me");
  client.Send(PostOf("a"), owner_.token(), Note());
  owner_.Reset();
  Settle();
  EXPECT_TRUE(There("a"));
  EXPECT_THAT(answers_, IsEmpty());
}

struct Watched {
  int frames = 0;
  std::vector<absl::StatusCode> ends;
};

TEST_F(InProcessClientTest, WatchesTellBreakAndResume) {
  bool break_next = false;
  sandbox::Faults faults;
  faults.frames = [&](const kube::Request&, const std::vector<kube::Frame>&) {
    return WatchFate{.break_before = break_next};
  };
  InProcessClient client(loop_, server_, "me", std::move(faults));
  Watched seen;
  const auto open = [&](kube::Request request) {
    return client.StartWatch(
        std::move(request), owner_.token(),
        [&](std::vector<kube::Frame> frames) { seen.frames += static_cast<int>(frames.size()); },
        [&](absl::Status status) { seen.ends.push_back(status.code()); });
  };
  auto watch = open(WatchOf());
  Settle();
  Post(kConfigMaps, ConfigMapJson("a"));
  Settle();
  EXPECT_EQ(seen.frames, 1);
  const kube::Request resume = WatchOf();
  break_next = true;
  Post(kConfigMaps, ConfigMapJson("b"));
  Settle();
  EXPECT_EQ(seen.frames, 1);
  EXPECT_THAT(seen.ends, ElementsAre(absl::StatusCode::kUnavailable));
  break_next = false;
  watch = open(resume);
  Settle();
  EXPECT_EQ(seen.frames, 2) << "what the broken stream lost comes again";
  client.BreakWatches();
  Settle();
  EXPECT_THAT(seen.ends, SizeIs(2));
}

TEST_F(InProcessClientTest, ARefusedWatchEndsWithItsStatus) {
  InProcessClient client(loop_, server_, "me");
  kube::Request old = WatchOf();
  old.path = "/api/v1/widgets";
  Watched seen;
  const auto watch = client.StartWatch(
      old, owner_.token(), [&](std::vector<kube::Frame>) { ++seen.frames; },
      [&](absl::Status status) { seen.ends.push_back(status.code()); });
  EXPECT_THAT(seen.ends, IsEmpty());
  Settle();
  EXPECT_THAT(seen.ends, ElementsAre(absl::StatusCode::kNotFound));
}

TEST_F(InProcessClientTest, ADestroyedWatchHearsNothing) {
  InProcessClient client(loop_, server_, "me");
  Watched seen;
  auto watch = client.StartWatch(
      WatchOf(), owner_.token(), [&](std::vector<kube::Frame>) { ++seen.frames; },
      [&](absl::Status status) { seen.ends.push_back(status.code()); });
  Settle();
  Post(kConfigMaps, ConfigMapJson("a"));
  watch.reset();
  Settle();
  EXPECT_EQ(seen.frames, 0);
  EXPECT_THAT(seen.ends, IsEmpty());
}

// --- what a server or a network does to a watch

// A watch of ConfigMaps whose batches meet `fates`, in order; what it says, in words.
class DisturbedWatchTest : public InProcessClientTest {
 protected:
  void Open(kube::Request request) {
    watch_ = client_.StartWatch(
        std::move(request), owner_.token(),
        [this](const std::vector<kube::Frame>& frames) {
          for (const kube::Frame& frame : frames) {
            const Json object(*frame.object);
            said_.push_back(frame.type == kube::FrameType::kError ? absl::StrCat("error ", object.Text("code"))
                                                                  : object.Text("metadata.name"));
          }
        },
        [this](const absl::Status& status) {
          said_.push_back(absl::StrCat("end ", absl::StatusCodeToString(status.code())));
        });
    Settle();
  }
  void Make(absl::string_view name) {
    Post(kConfigMaps, ConfigMapJson(name));
    Settle();
  }

  std::deque<WatchFate> fates_;
  InProcessClient client_{loop_,
                          server_,
                          "me",
                          {.request = nullptr, .frames = [this](const kube::Request&, const std::vector<kube::Frame>&) {
                             if (fates_.empty()) return WatchFate{};
                             const WatchFate fate = fates_.front();
                             fates_.pop_front();
                             return fate;
                           }}};
  std::unique_ptr<kube::Watch> watch_;
  std::vector<std::string> said_;
};

TEST_F(DisturbedWatchTest, FramesComeAgainInTheirOrder) {
  fates_ = {{}, {}, {.repeat = 2}, {.repeat = 9}};
  Open(WatchOf());
  for (const char* name : {"a", "b", "c", "d"}) Make(name);
  EXPECT_THAT(said_, ElementsAre("a", "b", "a", "b", "c", "a", "b", "c", "d"));
}

TEST_F(DisturbedWatchTest, MissingFramesAreFoundOut) {
  fates_ = {{.place = WatchFate::Place::kNever, .found_out_after = absl::Seconds(5)}};
  Open(WatchOf());
  Make("a");
  Make("b");
  EXPECT_THAT(said_, ElementsAre("b"));
  loop_.RunFor(absl::Seconds(6));
  EXPECT_THAT(said_, ElementsAre("b", "error 410", "end OUT_OF_RANGE"));
  const kube::Request resume = WatchOf();
  Make("c");
  Open(resume);
  EXPECT_THAT(said_, ElementsAre("b", "error 410", "end OUT_OF_RANGE", "c")) << "it was told once";
}

TEST_F(DisturbedWatchTest, FramesInAnotherOrderAreFoundOut) {
  fates_ = {{.place = WatchFate::Place::kBehindNext, .found_out_after = absl::Seconds(5)}};
  Open(WatchOf());
  Make("a");
  EXPECT_THAT(said_, IsEmpty());
  Make("b");
  loop_.RunFor(absl::Seconds(6));
  EXPECT_THAT(said_, ElementsAre("b", "a", "error 410", "end OUT_OF_RANGE"));
}

TEST_F(DisturbedWatchTest, WhoeverLostFramesWithoutBeingToldIsToldNextTime) {
  for (const bool breaks : {true, false}) {
    fates_ = {{.place = WatchFate::Place::kNever, .found_out_after = absl::Hours(1)}};
    Open(WatchOf());
    Make(breaks ? "a" : "x");
    Make(breaks ? "b" : "y");
    const kube::Request behind = WatchOf();
    if (breaks) {
      client_.BreakWatches();
      Settle();
    } else {
      watch_.reset();
    }
    said_.clear();
    Open(behind);
    EXPECT_THAT(said_, ElementsAre("end OUT_OF_RANGE"));
    said_.clear();
    Open(behind);
    EXPECT_THAT(said_, IsEmpty());
  }
}

TEST_F(DisturbedWatchTest, EndsOfAllKinds) {
  kube::Response busy;
  busy.code = 429;
  busy.body = MakeBytes(kube::StatusBody(429, "TooManyRequests", "later"));
  for (const auto& [fate, said] : std::vector<std::pair<WatchFate, std::vector<std::string>>>{
           {{.end_before = true}, {"end OK"}},
           {{.break_before = true}, {"end UNAVAILABLE"}},
           {{.error_before = busy}, {"error 429", "end RESOURCE_EXHAUSTED"}}}) {
    fates_ = {fate};
    said_.clear();
    Open(WatchOf());
    Make(absl::StrCat("a", fate.end_before, fate.break_before));
    EXPECT_EQ(said_, said);
  }
}

TEST_F(InProcessClientTest, AWatchIsRefusedBySomebodyInBetween) {
  kube::Response busy;
  busy.code = 429;
  busy.body = MakeBytes(kube::StatusBody(429, "TooManyRequests", "later"));
  InProcessClient client(
      loop_, server_, "me",
      {.request = [&](const kube::Request&) { return RequestFate{.answer = busy}; }, .frames = nullptr});
  Watched seen;
  const auto watch = client.StartWatch(
      WatchOf(), owner_.token(), [&](std::vector<kube::Frame>) { ++seen.frames; },
      [&](absl::Status status) { seen.ends.push_back(status.code()); });
  Settle();
  EXPECT_THAT(seen.ends, ElementsAre(absl::StatusCode::kResourceExhausted));
}

TEST_F(InProcessClientTest, AReplicaThatLagsAnswersAsOfBefore) {
  Post(kConfigMaps, ConfigMapJson("a"));
  const std::string before = absl::StrCat("resourceVersion=", revision(), "&resourceVersionMatch=Exact");
  Post(kConfigMaps, ConfigMapJson("b"));
  InProcessClient client(
      loop_, server_, "me",
      {.request = [&](const kube::Request&) { return RequestFate{.query = before}; }, .frames = nullptr});
  std::string listed;
  kube::Request list;
  list.method = "GET";
  list.path = std::string(kConfigMaps);
  client.Send(list, owner_.token(), [&](absl::StatusOr<kube::Response> answer) { listed = *answer->body; });
  Settle();
  EXPECT_EQ(Json(listed).Size("items"), 1u);
}

TEST_F(InProcessClientTest, AServerThatRestartsForgetsWhoAskedAndWhatItKnew) {
  InProcessClient client(loop_, server_, "me",
                         {.request =
                              [](const kube::Request& request) {
                                const absl::Duration late = absl::Seconds(2);
                                return request.path.ends_with("/late") ? RequestFate{.request_delay = late}
                                                                       : RequestFate{.reply_delay = late};
                              },
                          .frames = nullptr});
  Watched seen;
  const kube::Request old = WatchOf();
  const auto watch = client.StartWatch(
      WatchOf(), owner_.token(), [&](std::vector<kube::Frame>) { ++seen.frames; },
      [&](absl::Status status) { seen.ends.push_back(status.code()); });
  client.Send(PostOf("a"), owner_.token(), Note());
  kube::Request get;
  get.method = "GET";
  get.path = absl::StrCat(kConfigMaps, "/late");
  client.Send(get, owner_.token(), Note());
  loop_.RunFor(absl::Seconds(1));
  server_.Restart();
  loop_.RunFor(absl::Seconds(2));
  EXPECT_TRUE(There("a"));
  EXPECT_THAT(answers_, ElementsAre("UNAVAILABLE", "UNAVAILABLE"));
  EXPECT_THAT(seen.ends, ElementsAre(absl::StatusCode::kUnavailable));
  Watched again;
  const auto resumed = client.StartWatch(
      old, owner_.token(), [&](std::vector<kube::Frame>) { ++again.frames; },
      [&](absl::Status status) { again.ends.push_back(status.code()); });
  Settle();
  EXPECT_EQ(again.frames, 1) << "the ERROR frame: the history is forgotten";
  EXPECT_THAT(again.ends, SizeIs(1));
}

}  // namespace
}  // namespace gangway::testutil
