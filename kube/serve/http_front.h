// The door of a process: HTTP/1.1, plain or in TLS (1.2 and up). It frames bytes, bounds what a client may send or
// leave unread, and hands each request to a handler on the loop.
//
// A few I/O threads; a connection belongs to one of them for its life. What arrives while the loop is busy is handed
// over in one task, and so are the answers on their way back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/serve/client_certificate.h"
#include "kube/serve/web_socket.h"

namespace gangway::kube {

// Who sent a request.
struct HttpCaller {
  std::string name;           // the product of its User-Agent: "kubectl"; "unknown" when it has none
  std::string peer;           // "127.0.0.1:40312"
  std::string languages;      // its Accept-Language; "" when it has none
  std::string authorization;  // the header; "" when it has none
  // Its headers Impersonate-*, by what is behind that, in lower case: {"extra-scopes", "view"}.
  std::vector<std::pair<std::string, std::string>> impersonate;
  std::shared_ptr<const ClientCertificate> certificate;  // null: it has shown none, or was not asked
};

// What stands behind the door. Called on the loop, but for AnswerAtOnce.
class HttpHandler {
 public:
  // A response whose body goes on in pieces, which may be shared with others.
  struct Reply : Response {
    Reply() = default;
    Reply(Response response) : Response(std::move(response)) {}  // NOLINT: by design
    std::vector<Bytes> more;                                     // behind `body`; none is null
  };
  // Any thread, once; dropped uncalled it is 500. The answer to a HEAD is that of the GET: the front leaves the body
  // out.
  using Respond = absl::AnyInvocable<void(Reply)>;
  struct WatchAnswer {
    std::unique_ptr<Watch> watch;     // null when refused
    std::optional<Response> refused;  // a Status
    std::string content_type;         // of the stream
    bool text = false;                // the objects of frames are written as they are, nothing around them
  };

  virtual ~HttpHandler() = default;
  virtual bool IsWatch(const Request& request) = 0;
  virtual void HandleRequest(Request request, HttpCaller caller, Respond respond) = 0;
  // Called before, on the thread that has read the request, whatever the loop does meanwhile: an answer that takes less
  // time to find than the loop takes to wake. Null: none such, and the loop has it. Not asked about requests that
  // others follow already, nor about WebSockets.
  virtual std::optional<Reply> AnswerAtOnce(const Request&, const HttpCaller&) { return std::nullopt; }
  // The callbacks are called on the loop, not from within this call, and not after the watch was destroyed. A client
  // that reads more slowly than frames come is cut off at a limit, and its watch destroyed.
  virtual WatchAnswer StartWatch(Request request, HttpCaller caller, Client::OnFrames on_frames,
                                 Client::OnEnd on_end) = 0;
  // A request to go on as a WebSocket, in one of `protocols`. `socket` is there as long as the user.
  virtual WebSocketAnswer OpenWebSocket(Request request, HttpCaller caller, const std::vector<std::string>& protocols,
                                        WebSocket& socket);
};

struct HttpFrontOptions {
  // An IP address. On a loopback one only requests that call us by a loopback name are served, so that a page in
  // somebody's browser cannot reach us by a name of its own.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
  // A socket that listens already, which becomes ours; address and port are its own then. -1: none.
  int listener = -1;
  // PEM, both or none; none: plain HTTP. Files that change are read again for the connections that come then.
  std::string tls_certificate_file, tls_key_file;
  // PEM of the authority whose clients are asked for their certificates, which they need not have. "": nobody is asked.
  std::string tls_client_ca;
  std::string token;       // when set, requests must carry it: Authorization: Bearer
  bool read_only = false;  // everything but GET and HEAD is 405, before its body is read
  // Name and value of headers that every answer has, refusals too: what a browser is told of pages.
  std::vector<std::pair<std::string, std::string>> headers;
  int io_threads = 2;
  int max_connections = 2000;  // beyond: 503 at once
  // When all of them are in use, a new one takes the place of the one that has waited longest for its client, of those
  // that were never served first, and is refused only when all are at work.
  bool replace_idle = false;
  // Of bodies, all connections together, from their first byte to their answer. Beyond: the unfinished one that has
  // taken longest is refused with 503.
  std::size_t max_bytes_in_flight = std::numeric_limits<std::size_t>::max();
  std::size_t max_header_bytes = 32u << 10;           // beyond: 431
  int max_header_fields = 256;                        // beyond: 431, before they are looked at
  std::size_t max_body_bytes = 3u << 20;              // beyond: 413, before it is read where its length is announced
  absl::Duration header_timeout = absl::Seconds(10);  // from its first byte to the end of the header
  absl::Duration body_timeout = absl::Seconds(30);    // from there to the end of the body
  absl::Duration idle_timeout = absl::Minutes(3);     // between requests
  absl::Duration write_timeout = absl::Seconds(30);   // a client that takes no byte of an answer for so long
  // Of objects that a watcher has not taken yet, when more come: what comes at once, as its beginning does, may be
  // more.
  std::size_t max_watch_queue_bytes = std::size_t{32} << 20;
  int max_web_sockets = 256;  // beyond: 503
  // Of answers and watches that clients have not taken yet, all of them together; what several wait for counts once.
  // Beyond: whoever took least lately is cut off.
  std::size_t max_unread_bytes = std::size_t{256} << 20;
};

// Made, used and destroyed on the loop's thread, or while the loop is not running. The handler and the loop outlive it.
class HttpFront {
 public:
  // Unavailable when the port cannot be had, InvalidArgument when the address or the TLS files cannot be used. The
  // listener is closed whatever becomes of it.
  static absl::StatusOr<std::unique_ptr<HttpFront>> Start(Loop& loop, HttpHandler& handler,
                                                          HttpFrontOptions options = {});
  // Answers that were given are still written, for a moment; everything else is closed.
  ~HttpFront();
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;

  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:40311"; of a wildcard address, the loopback one
  // Thread-safe.
  int connections() const;

 private:
  class Impl;
  explicit HttpFront(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::kube
