// Calls admission webhooks over HTTPS, each server by a client of its own, so that one that hangs keeps nobody waiting
// but those who asked it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "base/loop.h"
#include "kube/client/http_client.h"
#include "sandbox/apiserver/api_server.h"

namespace gangway::sandbox {

// Used on its loop, which is a real one.
class WebhookHttpCalls {
 public:
  explicit WebhookHttpCalls(Loop& loop) : loop_(loop) {}
  // An answer comes later, also that the call could not be made. Errors are those of kube::HttpClient.
  void Call(const WebhookCall& call, kube::Client::Done done);

 private:
  // Each has a thread. Beyond so many the one that was used longest ago goes, unless it is at work.
  static constexpr std::size_t kMaxClients = 16;
  struct Known {
    std::unique_ptr<kube::HttpClient> client;
    std::uint64_t last_use = 0;
    int at_work = 0;
  };
  void MakeRoom();

  Loop& loop_;
  absl::btree_map<std::string, Known> clients_;
  std::uint64_t uses_ = 0;
  Owner owner_;
};

}  // namespace gangway::sandbox
