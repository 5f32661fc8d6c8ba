// A kube::Client that records what it is asked and answers as it is told. Replies and frames are posted to the loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/loop.h"
#include "kube/client/client.h"

namespace gangway::testutil {

inline kube::Response Reply(int code, std::string body = "{}") {
  kube::Response response;
  response.code = code;
  response.content_type = "application/json";
  response.body = MakeBytes(std::move(body));
  return response;
}

// A refusal as Kubernetes words it, about the object `name` of the resource `kind` ("pods").
inline kube::Response Refusal(int code, absl::string_view reason, absl::string_view kind = "",
                              absl::string_view name = "") {
  return Reply(code, absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")", reason,
                                  R"(","reason":")", reason, R"(","code":)", code, R"(,"details":{"name":")", name,
                                  R"(","kind":")", kind, "\"}}"));
}

class FakeClient final : public kube::Client {
 public:
  // Empty: the request stays unanswered until Answer().
  using Handler = std::function<std::optional<absl::StatusOr<kube::Response>>(const kube::Request&)>;

  explicit FakeClient(Loop& loop) : loop_(loop) {}

  // Asked for every request; without a handler requests stay unanswered.
  void SetHandler(Handler handler) { handler_ = std::move(handler); }

  const std::vector<kube::Request>& requests() const { return requests_; }
  const kube::Request& last() const { return requests_.back(); }
  // "POST /api/v1/namespaces/default/pods"
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const kube::Request& r : requests_) out.push_back(absl::StrCat(r.method, " ", r.path));
    return out;
  }
  // Answers the request of that number.
  void Answer(std::size_t index, absl::StatusOr<kube::Response> reply) {
    GW_CHECK(index < waiting_.size() && waiting_[index].done != nullptr);
    Post(std::exchange(waiting_[index].done, nullptr), waiting_[index].owner, std::move(reply));
  }

  void Send(kube::Request request, Token owner, Done done) override {
    requests_.push_back(request);
    waiting_.push_back({owner, std::move(done)});
    if (!handler_) return;
    if (auto reply = handler_(request)) Answer(waiting_.size() - 1, *std::move(reply));
  }

  // Watches in the order they were started.
  std::size_t watches() const { return watches_.size(); }
  const kube::Request& watch_request(std::size_t index) const { return watches_[index]->request; }
  bool watch_open(std::size_t index) const { return watches_[index]->open; }
  void Push(std::size_t index, kube::FrameType type, std::string object) {
    loop_.Post(watches_[index]->owner, [s = watches_[index], type, object = std::move(object)]() mutable {
      if (s->open) s->on_frames({{type, MakeBytes(std::move(object))}});
    });
  }
  void EndWatch(std::size_t index, absl::Status status) {
    loop_.Post(watches_[index]->owner, [s = watches_[index], status] {
      if (std::exchange(s->open, false)) s->on_end(status);
    });
  }

  [[nodiscard]] std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                        OnEnd on_end) override {
    auto stream = std::make_shared<Stream>();
    stream->request = std::move(request);
    stream->owner = std::move(owner);
    stream->on_frames = std::move(on_frames);
    stream->on_end = std::move(on_end);
    watches_.push_back(stream);
    return std::make_unique<Handle>(std::move(stream));
  }

 private:
  struct Waiting {
    Token owner;
    Done done;
  };
  struct Stream {
    kube::Request request;
    Token owner;
    OnFrames on_frames;
    OnEnd on_end;
    bool open = true;
  };
  class Handle final : public kube::Watch {
   public:
    explicit Handle(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
    ~Handle() override { stream_->open = false; }

   private:
    std::shared_ptr<Stream> stream_;
  };

  void Post(Done done, Token owner, absl::StatusOr<kube::Response> reply) {
    loop_.Post(std::move(owner),
               [done = std::move(done), reply = std::move(reply)]() mutable { done(std::move(reply)); });
  }

  Loop& loop_;
  Handler handler_;
  std::vector<kube::Request> requests_;
  std::vector<Waiting> waiting_;
  std::vector<std::shared_ptr<Stream>> watches_;
};

}  // namespace gangway::testutil
