// A server of the extender, and what tests of it have in common.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/server.h"
#include "proto/gangway/v1/extender.grpc.pb.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {

inline std::chrono::system_clock::time_point In(std::chrono::milliseconds time) {
  return std::chrono::system_clock::now() + time;
}

// Never shares a connection with another channel.
inline std::shared_ptr<grpc::Channel> Connect(
    const Server& server, std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials()) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(server.address(), std::move(credentials), arguments);
}

inline grpc::Status Place(const std::shared_ptr<grpc::Channel>& channel, const v1::PlaceGangRequest& request,
                          v1::PlaceGangResponse* reply, std::chrono::milliseconds patience = testutil::kPatience) {
  grpc::ClientContext context;
  context.set_deadline(In(patience));
  return v1::GangScheduler::NewStub(channel)->PlaceGang(&context, request, reply);
}

// Calls with bytes of one's own.
inline grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                            const std::string& bytes, std::string* reply = nullptr) {
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(channel);
  grpc::ClientContext context;
  context.set_deadline(In(testutil::kPatience));
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer answer;
  testutil::Inbox<grpc::Status> done;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &answer,
                 [&](grpc::Status status) { done.Put(std::move(status)); });
  const grpc::Status status = *done.Take();
  grpc::Slice all;
  if (status.ok() && reply != nullptr && answer.DumpToSingleSlice(&all).ok())
    reply->assign(reinterpret_cast<const char*>(all.begin()), all.size());
  return status;
}

// Holds calls where they begin, until it is opened.
class Gate {
 public:
  auto Hook() {
    return [this](absl::string_view, explain::StillWanted) {
      std::unique_lock<std::mutex> lock(mu_);
      ++held_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    };
  }
  bool AwaitHeld(int count) {
    std::unique_lock<std::mutex> lock(mu_);
    return changed_.wait_for(lock, testutil::kPatience, [&] { return held_ >= count; });
  }
  void Open() {
    const std::lock_guard<std::mutex> lock(mu_);
    open_ = true;
    changed_.notify_all();
  }
  ~Gate() { Open(); }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  int held_ = 0;
  bool open_ = false;
};

class ServerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Server> Start(ServerOptions options = {}) {
    auto server = Server::Start(std::move(options), metrics_);
    EXPECT_THAT(server, testutil::IsOk());
    return server.ok() ? *std::move(server) : nullptr;
  }
  // Whether a call of PlaceGang ended with this code, and was counted.
  bool Counted(absl::string_view code) {
    return metrics_.Expose().find(absl::StrCat("calls_total{code=\"", code, "\",method=\"PlaceGang\"}")) !=
           std::string::npos;
  }
  Metrics metrics_;
};

}  // namespace gangway::extender
