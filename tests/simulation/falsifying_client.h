// A client that lies: it shows objects other than they are, and answers or changes what is sent.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/json.hpp>

#include "api/resource.h"
#include "base/loop.h"
#include "kube/client/client.h"

namespace gangway::testutil {

struct Lies {
  // Of every object that is read: in answers and in the frames of watches.
  std::function<void(const api::Resource&, boost::json::object&)> show;
  // May change the request. With an answer it is not sent.
  std::function<std::optional<kube::Response>(kube::Request&)> send;
};

// Used on its loop.
class FalsifyingClient final : public kube::Client {
 public:
  FalsifyingClient(Loop& loop, std::unique_ptr<kube::Client> client, Lies lies)
      : loop_(loop), client_(std::move(client)), lies_(std::move(lies)) {}
  void Send(kube::Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                        OnEnd on_end) override;

 private:
  Loop& loop_;
  const std::unique_ptr<kube::Client> client_;
  const Lies lies_;
};

// The resource that a path speaks of, by its plural and group; nullptr: none we know.
const api::Resource* ResourceOf(absl::string_view path);
// An answer with a Status of that code.
kube::Response Refusal(int code, absl::string_view reason, absl::string_view message = "no");

}  // namespace gangway::testutil
