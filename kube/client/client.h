// How to talk to an API server: send a request, hold a watch. Nothing here knows about objects.
//
// Two implementations: http_client.h over libcurl, and the sandbox's in-process client. Both call back by posting to
// the loop they were made with, never from within the call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "base/strings.h"

namespace gangway::kube {

struct Request {
  std::string method;        // GET POST PUT PATCH DELETE
  std::string path;          // "/api/v1/namespaces/default/pods", percent-encoded
  std::string query;         // "limit=500&continue=...", percent-encoded, without '?'
  std::string content_type;  // of the body; "" = application/json
  std::string accept;        // "" = application/json
  std::string body;
};

struct Response {
  int code = 0;  // the HTTP status
  std::string content_type;
  Bytes body;                                 // never null
  std::optional<absl::Duration> retry_after;  // the header, when the server sent it
  std::vector<std::string> warnings;          // the texts of its Warning headers
  bool ok() const { return code >= 200 && code < 300; }
};

enum class FrameType { kAdded, kModified, kDeleted, kBookmark, kError };

// One watch event. `object` is the object's JSON, for kError a Status.
struct Frame {
  FrameType type = FrameType::kAdded;
  Bytes object;
};

// Ends the watch when destroyed; nothing is called back afterwards.
class Watch {
 public:
  virtual ~Watch() = default;
};

class Client {
 public:
  // An error is a transport error: the request may or may not have been carried out. Any HTTP answer is a Response.
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;
  // Frames arrive in batches, in order.
  using OnFrames = absl::AnyInvocable<void(std::vector<Frame>)>;
  // Called once; Ok when the server closed the stream in an orderly way. A refused watch (such as 410) ends with the
  // Status that StatusFromResponse (status.h) makes.
  using OnEnd = absl::AnyInvocable<void(absl::Status)>;

  virtual ~Client() = default;

  // `owner` guards `done`: when it is gone the request is still sent, its answer dropped.
  virtual void Send(Request request, Token owner, Done done) = 0;
  // `request` is a GET with watch=true in its query.
  [[nodiscard]] virtual std::unique_ptr<Watch> StartWatch(Request request, Token owner, OnFrames on_frames,
                                                          OnEnd on_end) = 0;
};

}  // namespace gangway::kube
