#include "tests/conformance/server.h"

#include "absl/strings/str_cat.h"

namespace gangway::testutil {

OpenWatch::OpenWatch(LoopThread& loop, kube::Client& client, kube::Request request) : loop_(loop) {
  loop_.Run([&] {
    owner_ = std::make_unique<Owner>();
    watch_ = client.StartWatch(
        std::move(request), owner_->token(),
        [this](std::vector<kube::Frame> frames) {
          for (kube::Frame& frame : frames) news_.Put({.ended = false, .frame = std::move(frame), .end = {}});
        },
        [this](absl::Status status) { news_.Put({.ended = true, .frame = {}, .end = std::move(status)}); });
    return 0;
  });
}

OpenWatch::~OpenWatch() {
  loop_.Run([this] {
    watch_.reset();
    owner_.reset();
    return 0;
  });
}

absl::StatusOr<kube::Response> Server::Send(kube::Request request) {
  Inbox<absl::StatusOr<kube::Response>> answer;
  std::unique_ptr<Owner> owner = loop_.Run([&] {
    auto made = std::make_unique<Owner>();
    client_->Send(std::move(request), made->token(),
                  [&answer](absl::StatusOr<kube::Response> response) { answer.Put(std::move(response)); });
    return made;
  });
  std::optional<absl::StatusOr<kube::Response>> got = answer.Take();
  loop_.Run([&] {  // from here on no answer is delivered
    owner.reset();
    return 0;
  });
  if (!got.has_value()) return absl::DeadlineExceededError("no answer");
  return *std::move(got);
}

std::unique_ptr<OpenWatch> Server::Watch(kube::Request request) {
  return std::make_unique<OpenWatch>(loop_, *client_, std::move(request));
}

void Server::Close() {
  loop_.Join();
  client_.reset();
}

}  // namespace gangway::testutil
