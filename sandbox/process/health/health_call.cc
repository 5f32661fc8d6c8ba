#include "sandbox/process/health/health_call.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

// RFC 9113, 6.
enum FrameType {
  kData = 0,
  kHeaders = 1,
  kResetStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoAway = 7,
  kContinuation = 9,
};
constexpr int kAck = 0x1, kEndStream = 0x1, kEndHeaders = 0x4, kPadded = 0x8, kPriority = 0x20;
constexpr std::size_t kFrameHeader = 9, kMaxFrame = 16384;
constexpr std::size_t kMaxBlock = 64u << 10, kMaxMessage = 4096;
constexpr std::size_t kMessagePrefix = 5;  // grpc: doc/PROTOCOL-HTTP2.md, Length-Prefixed-Message
constexpr std::uint32_t kStream = 1;

absl::Status NoHttp2(absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat("http2: ", why)); }

std::string FrameOf(int type, int flags, std::uint32_t stream, absl::string_view payload) {
  std::string out;
  for (const std::size_t part : {payload.size() >> 16, payload.size() >> 8, payload.size()})
    out.push_back(static_cast<char>(part));
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(stream >> shift));
  return absl::StrCat(out, payload);
}

std::uint32_t NumberAt(absl::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

// RFC 7541, 6.2.2: literal, not kept, not packed. `name`: an index of the static table, or a text.
void AddText(absl::string_view text, std::string& out) {
  std::size_t size = text.size();
  if (size < 0x7f) {
    out.push_back(static_cast<char>(size));
  } else {
    out.push_back(0x7f);
    for (size -= 0x7f; size >= 0x80; size >>= 7) out.push_back(static_cast<char>(size | 0x80));
    out.push_back(static_cast<char>(size));
  }
  out.append(text.data(), text.size());
}
void AddField(char name, absl::string_view value, std::string& out) {
  out.push_back(name);
  AddText(value, out);
}
void AddField(absl::string_view name, absl::string_view value, std::string& out) {
  out.push_back(0);
  AddText(name, out);
  AddText(value, out);
}

std::string RequestHeaders(absl::string_view authority, int timeout_seconds) {
  constexpr char kAuthority = 1, kPath = 4;
  std::string out = "\x83\x86";  // :method POST, :scheme http
  AddField(kPath, "/grpc.health.v1.Health/Check", out);
  AddField(kAuthority, authority, out);
  AddField("content-type", "application/grpc", out);
  AddField("user-agent", "kube-probe/", out);
  AddField("te", "trailers", out);
  AddField("grpc-timeout", absl::StrCat(timeout_seconds, "S"), out);
  return out;
}

// grpc: doc/PROTOCOL-HTTP2.md, Percent-Encoded
std::string Unescaped(absl::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
        absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte)) {
      out.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// RFC 9113, 7.
std::string ErrorText(std::uint32_t code) {
  constexpr const char* kNames[] = {"NO_ERROR",
                                    "PROTOCOL_ERROR",
                                    "INTERNAL_ERROR",
                                    "FLOW_CONTROL_ERROR",
                                    "SETTINGS_TIMEOUT",
                                    "STREAM_CLOSED",
                                    "FRAME_SIZE_ERROR",
                                    "REFUSED_STREAM",
                                    "CANCEL",
                                    "COMPRESSION_ERROR",
                                    "CONNECT_ERROR",
                                    "ENHANCE_YOUR_CALM",
                                    "INADEQUATE_SECURITY",
                                    "HTTP_1_1_REQUIRED"};
  return code < std::size(kNames) ? kNames[code] : absl::StrCat("error ", code);
}

// grpc: doc/PROTOCOL-HTTP2.md, Errors
int GrpcCodeOfReset(std::uint32_t code) {
  switch (code) {
    case 7:
      return kGrpcUnavailable;
    case 8:
      return 1;  // Canceled
    case 11:
      return 8;  // ResourceExhausted
    case 12:
      return 7;  // PermissionDenied
    default:
      return kGrpcInternal;
  }
}

// Without what only fills it up (RFC 9113, 6.1, 6.2).
absl::StatusOr<absl::string_view> Unpadded(absl::string_view payload, int flags, bool priority) {
  std::size_t pad = 0;
  if ((flags & kPadded) != 0) {
    if (payload.empty()) return NoHttp2("padding without a size");
    pad = static_cast<unsigned char>(payload.front());
    payload.remove_prefix(1);
  }
  if (priority && (flags & kPriority) != 0) {
    if (payload.size() < 5) return NoHttp2("a priority of the wrong size");
    payload.remove_prefix(5);
  }
  if (pad > payload.size()) return NoHttp2("more padding than there is");
  payload.remove_suffix(pad);
  return payload;
}

}  // namespace

HealthCall::HealthCall(absl::string_view authority, absl::string_view service, int timeout_seconds) {
  const std::string request = EncodeHealthRequest(service);
  std::string message(1, '\0');  // not packed
  for (int shift = 24; shift >= 0; shift -= 8) message.push_back(static_cast<char>(request.size() >> shift));
  message += request;
  out_ = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  out_ += FrameOf(kSettings, 0, 0, absl::string_view("\0\x02\0\0\0\0", 6));  // SETTINGS_ENABLE_PUSH: 0
  out_ += FrameOf(kHeaders, kEndHeaders, kStream, RequestHeaders(authority, timeout_seconds));
  out_ += FrameOf(kData, kEndStream, kStream, message);
}

std::string HealthCall::TakeOutput() { return std::exchange(out_, {}); }

absl::StatusOr<std::optional<HealthAnswer>> HealthCall::Take(absl::string_view bytes) {
  taken_ += bytes.size();
  if (taken_ > kMaxBytes) return NoHttp2(absl::StrCat("the answer has more than ", kMaxBytes, " bytes"));
  in_.append(bytes.data(), bytes.size());
  std::size_t at = 0;
  while (!answer_ && in_.size() - at >= kFrameHeader) {
    const absl::string_view rest = absl::string_view(in_).substr(at);
    const std::size_t size = NumberAt(rest, 0) >> 8;
    Frame frame;
    frame.type = static_cast<unsigned char>(rest[3]);
    frame.flags = static_cast<unsigned char>(rest[4]);
    frame.stream = NumberAt(rest, 5) & 0x7fffffff;
    if (!connected_ && (frame.type != kSettings || size > kMaxFrame))
      return NoHttp2("the answer does not begin with a frame of settings");
    if (size > kMaxFrame) return NoHttp2("a frame is too large");
    if (rest.size() < kFrameHeader + size) break;
    frame.payload = rest.substr(kFrameHeader, size);
    at += kFrameHeader + size;
    connected_ = true;
    GW_RETURN_IF_ERROR(Read(frame));
  }
  in_.erase(0, at);
  return answer_;
}

absl::Status HealthCall::Read(const Frame& frame) {
  if (in_block_ && frame.type != kContinuation) return NoHttp2("a frame within a block of header fields");
  switch (frame.type) {
    case kSettings:
      if ((frame.flags & kAck) == 0) out_ += FrameOf(kSettings, kAck, 0, "");
      return absl::OkStatus();
    case kPing:
      if (frame.payload.size() != 8) return NoHttp2("a PING of the wrong size");
      if ((frame.flags & kAck) == 0) out_ += FrameOf(kPing, kAck, 0, frame.payload);
      return absl::OkStatus();
    case kGoAway:
      if (frame.payload.size() < 8) return NoHttp2("a GOAWAY of the wrong size");
      if ((NumberAt(frame.payload, 0) & 0x7fffffff) < kStream)
        Answer(kGrpcUnavailable, absl::StrCat("the server goes away: ", ErrorText(NumberAt(frame.payload, 4))));
      return absl::OkStatus();
    case kResetStream: {
      if (frame.payload.size() != 4) return NoHttp2("an RST_STREAM of the wrong size");
      const std::uint32_t code = NumberAt(frame.payload, 0);
      if (frame.stream == kStream) {
        Answer(GrpcCodeOfReset(code),
               absl::StrCat("stream terminated by RST_STREAM with error code: ", ErrorText(code)));
      }
      return absl::OkStatus();
    }
    case kHeaders:
    case kContinuation:
      return ReadHeaders(frame);
    case kData:
      return ReadData(frame);
    case kPushPromise:
      return NoHttp2("a PUSH_PROMISE that was not allowed");
    default:
      return absl::OkStatus();  // windows, priorities and what is not known yet
  }
}

absl::Status HealthCall::ReadHeaders(const Frame& frame) {
  if (frame.stream != kStream) return NoHttp2("header fields that nobody asked for");
  if (frame.type == kHeaders) {
    GW_ASSIGN_OR_RETURN(const absl::string_view part, Unpadded(frame.payload, frame.flags, true));
    block_ = std::string(part);
    block_ends_stream_ = (frame.flags & kEndStream) != 0;
  } else {
    if (!in_block_) return NoHttp2("a CONTINUATION of nothing");
    block_.append(frame.payload.data(), frame.payload.size());
  }
  if (block_.size() > kMaxBlock) return NoHttp2("a block of header fields is too large");
  in_block_ = (frame.flags & kEndHeaders) == 0;
  return in_block_ ? absl::OkStatus() : ReadBlock();
}

absl::Status HealthCall::ReadBlock() {
  GW_ASSIGN_OR_RETURN(const std::vector<HeaderField> fields, decoder_.Decode(block_));
  for (const HeaderField& field : fields) {
    int code = 0;
    if (field.name == ":status" && absl::SimpleAtoi(field.value, &code)) http_code_ = code;
    if (field.name == "grpc-status") grpc_code_ = absl::SimpleAtoi(field.value, &code) ? code : kGrpcUnknown;
    if (field.name == "grpc-message") grpc_message_ = Unescaped(field.value);
  }
  if (block_ends_stream_) EndStream();
  return absl::OkStatus();
}

absl::Status HealthCall::ReadData(const Frame& frame) {
  if (frame.stream != kStream) return NoHttp2("an answer that nobody asked for");
  GW_ASSIGN_OR_RETURN(const absl::string_view part, Unpadded(frame.payload, frame.flags, false));
  if (message_.size() + part.size() <= kMaxMessage) {
    message_.append(part.data(), part.size());
  } else {
    Answer(8, absl::StrCat("the answer has more than ", kMaxMessage, " bytes"));  // ResourceExhausted
  }
  if ((frame.flags & kEndStream) != 0) EndStream();
  return absl::OkStatus();
}

void HealthCall::Answer(int code, std::string message) {
  if (!answer_) answer_ = HealthAnswer{code, std::move(message)};
}

void HealthCall::EndStream() {
  if (!grpc_code_ && http_code_ != 200) {
    return Answer(GrpcCodeOfHttp(http_code_),
                  absl::StrCat("unexpected HTTP status code received from server: ", http_code_));
  }
  if (!grpc_code_) return Answer(kGrpcInternal, "server closed the stream without sending trailers");
  if (*grpc_code_ != 0) return Answer(*grpc_code_, std::exchange(grpc_message_, {}));
  const absl::string_view message = message_;
  if (message.size() < kMessagePrefix || NumberAt(message, 1) != message.size() - kMessagePrefix)
    return Answer(kGrpcInternal, "the answer is not one whole message");
  if (message.front() != 0) return Answer(kGrpcInternal, "the answer is packed in a way that was not allowed");
  const auto serving = DecodeHealthResponse(message.substr(kMessagePrefix));
  if (!serving.ok()) return Answer(kGrpcInternal, std::string(serving.status().message()));
  if (!answer_) answer_ = HealthAnswer{0, "", *serving};
}

}  // namespace gangway::sandbox
