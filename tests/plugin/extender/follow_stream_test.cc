// Streams of Follow over the wire: answers in order, back-pressure, limits, and how they end.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/requests.h"
#include "tests/plugin/extender/server_fixture.h"

namespace gangway::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using testutil::Eventually;

// A caller of Follow; ends its stream when it goes.
class Follower {
 public:
  explicit Follower(const Server& server) : stub_(v1::GangScheduler::NewStub(Connect(server))) {
    context_.set_deadline(In(testutil::kPatience));
    stream_ = stub_->Follow(&context_);
  }
  bool Send(const v1::FollowRequest& request) { return stream_->Write(request); }
  bool Receive(v1::FollowResponse& response) { return stream_->Read(&response); }
  // Reads until the stream has ended.
  grpc::Status End() {
    stream_->WritesDone();
    return Finish();
  }
  grpc::Status Finish() {
    v1::FollowResponse response;
    while (stream_->Read(&response)) {
    }
    return stream_->Finish();
  }
  void Cancel() { context_.TryCancel(); }

 private:
  std::unique_ptr<v1::GangScheduler::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FollowRequest, v1::FollowResponse>> stream_;
};

v1::FollowRequest NodesToFollow(int nodes) {
  v1::FollowRequest request;
  const v1::Cluster cluster = testutil::ClusterOf(nodes);
  for (const v1::Node& node : cluster.nodes()) *request.add_changes()->mutable_node() = node;
  return request;
}

v1::FollowRequest GangToFollow(const std::string& name) {
  v1::FollowRequest request;
  v1::Gang& gang = *request.add_changes()->mutable_gang();
  gang.set_name(name);
  testutil::AddTask(gang, "w", 2, "9");
  request.set_decide(true);
  return request;
}

class FollowStreamTest : public ServerTest {
 protected:
  bool CountedFollow(absl::string_view code) {
    return metrics_.Expose().find(absl::StrCat("calls_total{code=\"", code, "\",method=\"Follow\"}")) !=
           std::string::npos;
  }
  bool Open(int streams) {
    return Eventually([&] {
      return metrics_.Expose().find(absl::StrCat("gangway_extender_streams ", streams)) != std::string::npos;
    });
  }
};

TEST_F(FollowStreamTest, ChangesGoInAndDecisionsComeOut) {
  const auto server = Start();
  Follower follower(*server);
  ASSERT_TRUE(follower.Send(NodesToFollow(3)));
  ASSERT_TRUE(follower.Send(GangToFollow("g")));
  v1::FollowResponse response;
  ASSERT_TRUE(follower.Receive(response));
  EXPECT_EQ(response.request(), 2);
  ASSERT_EQ(response.decisions_size(), 1);
  EXPECT_TRUE(response.decisions(0).placed());
  EXPECT_EQ(response.decisions(0).placements_size(), 2);
  ASSERT_TRUE(follower.Send(GangToFollow("h")));
  ASSERT_TRUE(follower.Receive(response));
  ASSERT_EQ(response.decisions_size(), 1);
  EXPECT_EQ(response.decisions(0).reason().kind(), "no_room") << "of three nodes two are taken";
  EXPECT_TRUE(Open(1));
  EXPECT_TRUE(follower.End().ok());
  EXPECT_TRUE(Eventually([&] { return CountedFollow("OK"); }));
  EXPECT_TRUE(Open(0));
}

TEST_F(FollowStreamTest, AWrongChangeEndsTheStreamByItsPath) {
  const auto server = Start();
  Follower follower(*server);
  v1::FollowRequest request = NodesToFollow(2);
  request.mutable_changes(1)->mutable_node()->clear_name();
  ASSERT_TRUE(follower.Send(request));
  const grpc::Status status = follower.Finish();
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), StartsWith("changes[1].node.name: must not be empty"));
}

TEST_F(FollowStreamTest, AClusterThatGrowsTooLargeEndsTheStreamAndNoOther) {
  ServerOptions options;
  options.max_stream_bytes = 200'000;
  const auto server = Start(std::move(options));
  Follower good(*server), greedy(*server);
  ASSERT_TRUE(good.Send(NodesToFollow(2)));
  greedy.Send(NodesToFollow(1000));
  const grpc::Status status = greedy.Finish();
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("takes more than 200000 bytes"));
  ASSERT_TRUE(good.Send(GangToFollow("g")));
  v1::FollowResponse response;
  EXPECT_TRUE(good.Receive(response));
  EXPECT_TRUE(good.End().ok());
}

TEST_F(FollowStreamTest, StreamsBeyondTheLimitAreRefusedAtOnce) {
  ServerOptions options;
  options.max_streams = 1;
  const auto server = Start(std::move(options));
  Follower first(*server);
  ASSERT_TRUE(Open(1));
  {
    Follower second(*server);
    const grpc::Status status = second.Finish();
    EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr("1 streams are open already"));
  }
  EXPECT_TRUE(first.End().ok());
  ASSERT_TRUE(Open(0));
  Follower third(*server);
  EXPECT_TRUE(third.End().ok()) << "the place is free again";
}

TEST_F(FollowStreamTest, OneThatIsCancelledLeavesItsPlace) {
  ServerOptions options;
  options.max_streams = 1;
  const auto server = Start(std::move(options));
  Follower follower(*server);
  ASSERT_TRUE(follower.Send(NodesToFollow(2)));
  ASSERT_TRUE(Open(1));
  follower.Cancel();
  EXPECT_EQ(follower.Finish().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(Open(0));
}

TEST_F(FollowStreamTest, WorkThatNobodyWaitsForIsNotDone) {
  testutil::Inbox<bool> begun;
  ServerOptions options;
  options.before_call = [&](absl::string_view, explain::StillWanted still_wanted) {
    begun.Put(true);
    EXPECT_TRUE(Eventually([&] { return !still_wanted().ok(); }));
  };
  const auto server = Start(std::move(options));
  Follower follower(*server);
  ASSERT_TRUE(follower.Send(NodesToFollow(2)));
  ASSERT_TRUE(begun.Take().has_value());
  follower.Cancel();
  EXPECT_EQ(follower.Finish().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(Eventually([&] { return CountedFollow("CANCELLED"); }));
}

// Nothing more is read of a caller whose last message is still being worked on: what it sends stays with it once the
// connection's window is full.
TEST_F(FollowStreamTest, ACallerThatIsTooFastHasToWait) {
  Gate gate;
  ServerOptions options;
  options.before_call = gate.Hook();
  const auto server = Start(std::move(options));
  Follower follower(*server);
  testutil::Inbox<bool> sent;
  constexpr int kMessages = 16;
  std::thread sender([&] {
    for (int i = 0; i < kMessages; ++i) follower.Send(NodesToFollow(2000));  // about 200 KB
    sent.Put(true);
  });
  ASSERT_TRUE(gate.AwaitHeld(1));
  const std::string before = metrics_.Expose();
  EXPECT_THAT(before, ::testing::Not(HasSubstr("gangway_extender_request_bytes_count{method=\"Follow\"}")));
  gate.Open();
  EXPECT_TRUE(sent.Take().has_value());
  sender.join();
  EXPECT_TRUE(follower.End().ok());
  EXPECT_THAT(metrics_.Expose(),
              HasSubstr(absl::StrCat("gangway_extender_request_bytes_count{method=\"Follow\"} ", kMessages)));
}

TEST_F(FollowStreamTest, AServerThatGoesEndsStreamsThatWait) {
  ServerOptions options;
  auto server = Start(std::move(options));
  Follower follower(*server);
  ASSERT_TRUE(follower.Send(NodesToFollow(2)));
  ASSERT_TRUE(follower.Send(GangToFollow("g")));
  v1::FollowResponse response;
  ASSERT_TRUE(follower.Receive(response));
  std::thread ending([&] { server.reset(); });
  const grpc::Status status = follower.Finish();
  ending.join();
  EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("about to go"));
}

TEST_F(FollowStreamTest, ADeadlineOfAStreamIsKept) {
  const auto server = Start();
  const auto stub = v1::GangScheduler::NewStub(Connect(*server));
  grpc::ClientContext context;
  context.set_deadline(In(std::chrono::milliseconds(50)));
  const auto stream = stub->Follow(&context);
  v1::FollowResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Open(0));
}

}  // namespace
}  // namespace gangway::extender
