// The Client over HTTP: libcurl, one thread for every request and watch.
//
// Who we are is looked at with every request: token and certificate files are read again when they change, a credential
// program is run again when what it gave has run out. A 401 makes us look once more, and a request is sent again when
// that brings something new. Connections are kept and reused. Requests share one over HTTP/2 when the server offers it
// over TLS; each watch has its own, which no request is ever put on. libcurl sends a request again when a kept
// connection turns out dead before any byte of an answer; a create may then be answered AlreadyExists.
//
// A connection may also fall silent without ending: a proxy that hangs, a peer that forgot us. With a `silence_timeout`
// one that owes an answer and has brought no byte for so long is left behind, together with all others of its kind:
// what it carried and only reads is sent again on a fresh one, a write ends with Unavailable (it may have been carried
// out: whoever sent it looks at what is), and each watch ends as well once it has brought nothing for as long, since
// what carried it may hang too, until it brings something. Watches that were quiet while the connection that requests
// share over HTTP/2 had to be opened anew must bring something within that time: the one before may have hung as they
// do, and been ended by a server that was about to send it away. Over HTTP/2 a request that takes its time is no
// silence as long as another one is answered, so ask something small now and then (kube/runtime/pulse.h). Over
// HTTP/1.1, where every request has a connection of its own, that is no help; but what was given up although others
// were answered may take twice as long the next time, until it is answered in time: who is only slow is answered at the
// second or third try.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/client/connection.h"
#include "kube/client/text_source.h"
#include "kube/client/write_fence.h"

namespace gangway::kube {

struct HttpClientOptions {
  std::string user_agent = "gangway";
  absl::Duration connect_timeout = absl::Seconds(10);
  // From Send to the last byte of the answer; for a watch, to the first byte, when it is shorter than
  // `silence_timeout`.
  absl::Duration request_timeout = absl::Seconds(60);
  // See above. Infinite: a request waits out its time, as it does for a user who would not send it again.
  absl::Duration silence_timeout = absl::InfiniteDuration();
  // A watch without a byte for so long ends with DeadlineExceeded. Servers send a bookmark about every minute.
  absl::Duration watch_idle_timeout = absl::Minutes(5);
  // A connection that has rested for longer is not used again.
  absl::Duration max_connection_rest = absl::Seconds(90);
  // Requests; more wait their turn. Watches do not count. With a few dozen of these it stays below the 100 streams that
  // API servers allow an HTTP/2 connection, beyond which libcurl opens a connection for each.
  std::size_t max_in_flight = 64;
  // Of a credential program; requests and watches wait for it.
  absl::Duration program_timeout = absl::Minutes(1);
  // Ask for gzip; API servers answer so from 128 KiB on, watches never. It pays even on loopback: of a list of 10,000
  // objects the server has a seventh less to do, since most of what it spends there goes into TLS and frames.
  bool compress = true;
  std::size_t max_response_bytes = std::size_t{512} << 20;
  std::size_t max_frame_bytes = std::size_t{16} << 20;
  // Of frames that the loop has not taken yet, per watch; beyond it we stop reading.
  std::size_t max_undelivered_bytes = std::size_t{32} << 20;
  // When set, asked on the client's own thread whenever a write is handed to libcurl, when its connection stands and it
  // is about to be sent, and again whenever libcurl fetches bytes of its body. While it is closed the write ends with
  // FailedPrecondition and its connection with it: a header without its body does nothing.
  std::shared_ptr<const WriteFence> fence;
};

// Thread-safe. Calls back by posting to the loop, which must outlive it. Requests and watches under way when it is
// destroyed end with Cancelled.
class HttpClient : public Client, public TextSource {
 public:
  // InvalidArgument when the connection cannot be used as it is; connects to nothing yet.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Make(Loop& loop, Connection connection,
                                                          HttpClientOptions options = {});
  ~HttpClient() override;

  // An API server that refuses a request before it has read its body resets the HTTP/2 stream behind its answer;
  // libcurl 7.88 loses about one in a hundred of these answers, and the request ends with Unavailable ("Transferred a
  // partial file"). Errors: DeadlineExceeded, Unavailable (no answer), ResourceExhausted (an answer too large),
  // InvalidArgument (no request one could send), FailedPrecondition (the fence is closed), Cancelled.
  void Send(Request request, Token owner, Done done) override;
  // The handle may be destroyed on any thread, also within its own callbacks, and may outlive the client. Off the
  // loop's thread its destruction waits for a callback that is running.
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(Request request, Token owner, OnFrames on_frames,
                                                  OnEnd on_end) override;
  [[nodiscard]] std::unique_ptr<Watch> StartText(Request request, Token owner, OnText on_text, OnEnd on_end) override;

 private:
  class Core;
  explicit HttpClient(std::shared_ptr<Core> core);
  std::unique_ptr<Watch> StartStream(Request request, bool text, Token owner, OnFrames on_frames, OnEnd on_end);
  const std::shared_ptr<Core> core_;
};

}  // namespace gangway::kube
