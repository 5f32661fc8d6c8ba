// A caller over HTTP/2 who does what no library does: resets what it has just asked, sends more of a header than is
// allowed, or one that does not end. The frames are nghttp2's where it writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/testing/raw_socket.h"

struct nghttp2_session;

namespace gangway::testutil {

using Http2Fields = std::vector<std::pair<std::string, std::string>>;

class Http2Caller {
 public:
  // Connected; the preface and the settings are sent.
  explicit Http2Caller(int port);
  ~Http2Caller();

  // A call of `method` ("/package.Service/Method") with one message and these fields more. False: the peer takes no
  // more.
  bool Call(absl::string_view method, absl::string_view message, const Http2Fields& more = {});
  // The same, taken back in the next frame.
  bool CallAndReset(absl::string_view method, absl::string_view message);
  // Reads on until the last call is answered: its grpc-status, or -1 when it has none because the stream was reset or
  // the connection closed.
  int AwaitStatus();
  // Whether the peer closes the connection, whatever it says before.
  bool AwaitEnd();

 private:
  struct Callbacks;
  struct Close {
    void operator()(nghttp2_session* session) const;
  };
  bool Submit(absl::string_view method, absl::string_view message, const Http2Fields& more);
  // Sends what there is and takes what has come.
  bool Flush();

  RawSocket socket_;
  std::unique_ptr<nghttp2_session, Close> session_;
  std::string message_;  // what is not sent yet
  std::int32_t stream_ = 0;
  bool over_ = false;
  int status_ = -1;
};

// The beginning of a connection, and the frames of a header that never ends: of one field whose text goes on and on, or
// of one field after the other. `Continuation` of about that size, to be sent as often as one likes.
std::string EndlessTextBegin();
std::string EndlessTextContinuation(std::size_t bytes);
std::string EndlessFieldsBegin();
std::string EndlessFieldsContinuation(std::size_t bytes);
// The end of the header that was begun, after all; and another request, whose message does not come.
std::string EndlessFieldsEnd();
std::string OpenRequest(int stream);
// The first one taken back, so many times; settings that set nothing; priorities of the first.
std::string Resets(int count);
std::string EmptySettings(int count);
std::string Priorities(int count);

}  // namespace gangway::testutil
