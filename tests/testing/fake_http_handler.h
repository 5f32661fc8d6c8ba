// A handler for the HTTP front: answers what it is told to and shows who asked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/client/client.h"
#include "kube/serve/http_front.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {

inline kube::Response MakeResponse(int code, std::string body) {
  kube::Response response;
  response.code = code;
  response.content_type = "application/json";
  response.body = MakeBytes(std::move(body));
  return response;
}

class FakeHttpHandler : public kube::HttpHandler {
 public:
  struct Stream {
    kube::Client::OnFrames on_frames;
    kube::Client::OnEnd on_end;
  };
  using Answer = std::function<void(kube::Request, kube::HttpCaller, Respond)>;

  // Without `answer`: 200 with "METHOD path?query body".
  explicit FakeHttpHandler(Answer answer = nullptr) : answer_(std::move(answer)) {}

  // Set before the front starts: what a watch of this path is refused with.
  void RefuseWatch(const std::string& path, kube::Response response) { refusals_[path] = std::move(response); }

  // Set before the front starts: a watch of this path is a stream of text.
  void TellText(const std::string& path) { texts_.insert(path); }

  // On the loop. Null when nobody watches `path`.
  Stream* WatchOf(const std::string& path) {
    const auto found = streams_.find(path);
    return found == streams_.end() ? nullptr : found->second.get();
  }
  std::size_t watches() const { return streams_.size(); }

  // Paths, when their watch begins and when it was destroyed.
  Inbox<std::string> started, ended;

  bool IsWatch(const kube::Request& request) override { return absl::StrContains(request.query, "watch=true"); }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override {
    if (answer_) return answer_(std::move(request), std::move(caller), std::move(respond));
    respond(MakeResponse(200, absl::StrCat(request.method, " ", request.path, request.query.empty() ? "" : "?",
                                           request.query, request.body.empty() ? "" : " ", request.body)));
  }
  WatchAnswer StartWatch(kube::Request request, kube::HttpCaller, kube::Client::OnFrames on_frames,
                         kube::Client::OnEnd on_end) override {
    if (const auto refused = refusals_.find(request.path); refused != refusals_.end())
      return {nullptr, refused->second, ""};
    streams_[request.path] = std::make_shared<Stream>(Stream{std::move(on_frames), std::move(on_end)});
    started.Put(request.path);
    const bool text = texts_.contains(request.path);
    return {std::make_unique<Handle>(*this, request.path), std::nullopt, text ? "text/plain" : "application/json",
            text};
  }

 private:
  class Handle : public kube::Watch {
   public:
    Handle(FakeHttpHandler& handler, std::string path) : handler_(handler), path_(std::move(path)) {}
    ~Handle() override {
      handler_.streams_.erase(path_);
      handler_.ended.Put(path_);
    }

   private:
    FakeHttpHandler& handler_;
    const std::string path_;
  };

  const Answer answer_;
  std::map<std::string, kube::Response> refusals_;
  std::set<std::string> texts_;
  std::map<std::string, std::shared_ptr<Stream>> streams_;
};

// A front on a loop of its own.
class RunningFront {
 public:
  explicit RunningFront(FakeHttpHandler::Answer answer = nullptr, kube::HttpFrontOptions options = {})
      : handler(std::move(answer)) {
    front_ = thread.Run([&] { return *kube::HttpFront::Start(thread.loop(), handler, options); });
  }
  ~RunningFront() { Stop(); }

  std::uint16_t port() const { return front_->port(); }
  std::string url() const { return front_->url(); }
  int connections() const { return front_->connections(); }
  void Stop() {
    if (front_ != nullptr) thread.Run([this] { front_.reset(); });
  }
  void Send(const std::string& path, std::vector<kube::Frame> frames) {
    thread.Run([&] {
      if (FakeHttpHandler::Stream* stream = handler.WatchOf(path)) stream->on_frames(std::move(frames));
    });
  }
  void End(const std::string& path, absl::Status status) {
    thread.Run([&] {
      if (FakeHttpHandler::Stream* stream = handler.WatchOf(path)) stream->on_end(std::move(status));
    });
  }

  FakeHttpHandler handler;
  LoopThread thread;

 private:
  std::unique_ptr<kube::HttpFront> front_;
};

}  // namespace gangway::testutil
