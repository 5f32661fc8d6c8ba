// A Client that sends no write while its fence is closed: for clients without a socket, where HttpClientOptions::fence
// cannot stand.
#pragma once

#include <memory>

#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/client/write_fence.h"

namespace gangway::kube {

// Used on the loop. Everything it refers to outlives it.
class FencedClient final : public Client {
 public:
  FencedClient(Loop& loop, Client& client, const WriteFence& fence) : loop_(loop), client_(client), fence_(fence) {}

  void Send(Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(Request request, Token owner, OnFrames on_frames,
                                                  OnEnd on_end) override;

 private:
  Loop& loop_;
  Client& client_;
  const WriteFence& fence_;
};

}  // namespace gangway::kube
