// SPDY/3.1 as far as `kubectl port-forward` needs it, which speaks it within the messages of a WebSocket
// (chromium.org: SPDY protocol, draft 3.1; k8s.io/client-go: tunneling_dialer). There is no flow control: Kubernetes'
// programs have none. No input or output: bytes come and go as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

struct SpdyFrame {
  enum class Kind { kOpen, kData, kReset, kPing, kGoAway };
  Kind kind = Kind::kData;
  std::uint32_t id = 0;                        // of the stream, of the ping
  bool fin = false;                            // the last of its stream, in this direction
  std::map<std::string, std::string> headers;  // kOpen; names in lower case
  std::string data;                            // kData; a long one comes in parts
};

// What a client sends. After an error it is of no use any more: headers are compressed over the whole of a session.
class SpdyReader {
 public:
  static constexpr std::size_t kMaxControl = 64u << 10, kMaxHeaderBytes = 16u << 10, kMaxHeaders = 64;
  SpdyReader();
  ~SpdyReader();
  SpdyReader(const SpdyReader&) = delete;
  SpdyReader& operator=(const SpdyReader&) = delete;

  // Appends the frames that are complete with these bytes.
  absl::Status Read(absl::string_view bytes, std::vector<SpdyFrame>& frames);

 private:
  class Inflater;
  absl::Status ReadControl(std::uint32_t type, bool fin, absl::string_view payload, std::vector<SpdyFrame>& frames);

  const std::unique_ptr<Inflater> inflater_;
  std::string left_;           // of a frame that goes on
  std::size_t data_left_ = 0;  // of a data frame
  std::uint32_t data_id_ = 0;
  bool data_fin_ = false;
};

// What a server sends.
class SpdyWriter {
 public:
  SpdyWriter();
  ~SpdyWriter();
  SpdyWriter(const SpdyWriter&) = delete;
  SpdyWriter& operator=(const SpdyWriter&) = delete;

  std::string Accept(std::uint32_t stream);  // SYN_REPLY without headers
  static std::string Data(std::uint32_t stream, absl::string_view bytes, bool fin);
  static std::string Reset(std::uint32_t stream);  // CANCEL
  static std::string Ping(std::uint32_t id);

 private:
  class Deflater;
  const std::unique_ptr<Deflater> deflater_;
};

}  // namespace gangway::sandbox
