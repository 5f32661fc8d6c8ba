#include "sandbox/apiserver/in_process_client.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
  faults.frames = [&](const kube::Request&, const std::vector<kube::Frame>&) { return WatchFate{.break_before = break_next}; };
  InProcessClient client(loop_, server_, "me", std::move(faults));
  Watched seen;
  const auto open = [&](kube::Request request) {
    return client.StartWatch(std::move(request), owner_.token(),
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
  const auto watch = client.StartWatch(old, owner_.token(), [&](std::vector<kube::Frame>) { ++seen.frames; },
                                       [&](absl::Status status) { seen.ends.push_back(status.code()); });
  EXPECT_THAT(seen.ends, IsEmpty());
  Settle();
  EXPECT_THAT(seen.ends, ElementsAre(absl::StatusCode::kNotFound));
}

TEST_F(InProcessClientTest, ADestroyedWatchHearsNothing) {
  InProcessClient client(loop_, server_, "me");
  Watched seen;
  auto watch = client.StartWatch(WatchOf(), owner_.token(), [&](std::vector<kube::Frame>) { ++seen.frames; },
                                 [&](absl::Status status) { seen.ends.push_back(status.code()); });
  Settle();
  Post(kConfigMaps, ConfigMapJson("a"));
  watch.reset();
  Settle();
  EXPECT_EQ(seen.frames, 0);
  EXPECT_THAT(seen.ends, IsEmpty());
}

}  // namespace
}  // namespace gangway::testutil
