// An API server that the cases are put to: in this process, over HTTP to the sandbox, or the real one.
//
// Thread-safe: many cases ask one server at the same time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kube/client/client.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {

// What a watch brought: a frame, or its end.
struct WatchNews {
  bool ended = false;
  kube::Frame frame;  // unless it ended
  absl::Status end;
};

// A watch that is open; ends when destroyed.
class OpenWatch {
 public:
  OpenWatch(LoopThread& loop, kube::Client& client, kube::Request request);
  ~OpenWatch();
  OpenWatch(const OpenWatch&) = delete;
  OpenWatch& operator=(const OpenWatch&) = delete;

  // nullopt when nothing comes within kPatience.
  std::optional<WatchNews> Next() { return news_.Take(); }

 private:
  LoopThread& loop_;
  Inbox<WatchNews> news_;
  std::unique_ptr<Owner> owner_;  // both of the loop's thread
  std::unique_ptr<kube::Watch> watch_;
};

class Server {
 public:
  virtual ~Server() = default;
  // One request, waited for. A watch is sent only to be refused; accepted it is an error.
  virtual absl::StatusOr<kube::Response> Send(kube::Request request);
  std::unique_ptr<OpenWatch> Watch(kube::Request request);
  // Makes the server forget its history.
  virtual absl::Status Compact() = 0;

 protected:
  LoopThread& loop() { return loop_; }
  // Stops the loop, then drops the client; first in the destructor of every server.
  void Close();
  std::unique_ptr<kube::Client> client_;  // set by the constructors of the servers; used on the loop

 private:
  LoopThread loop_;
};

std::unique_ptr<Server> MakeInProcessServer();
std::unique_ptr<Server> MakeHttpServer();

}  // namespace gangway::testutil
