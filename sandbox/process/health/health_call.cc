#include "sandbox/process/health/health_call.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::sandbox {
namespace {

constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kMessagePrefix = 5;  // grpc: doc/PROTOCOL-HTTP2.md, Length-Prefixed-Message
constexpr std::int32_t kStream = 1;

absl::Status NoHttp2(absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat("http2: ", why)); }

absl::string_view Text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string Message(absl::string_view request) {
  std::string out(1, '\0');  // not packed
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(request.size() >> shift));
  return absl::StrCat(out, request);
}

std::size_t SizeOfMessage(absl::string_view prefix) {
  std::size_t out = 0;
  for (std::size_t i = 1; i < kMessagePrefix; ++i) out = out << 8 | static_cast<unsigned char>(prefix[i]);
  return out;
}

// Both are read before the call that gets it returns.
nghttp2_nv Field(absl::string_view name, absl::string_view value) {
  const auto bytes = [](absl::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
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

// grpc: doc/PROTOCOL-HTTP2.md, Errors
int GrpcCodeOfReset(std::uint32_t code) {
  switch (code) {
    case NGHTTP2_REFUSED_STREAM:
      return kGrpcUnavailable;
    case NGHTTP2_CANCEL:
      return 1;  // Canceled
    case NGHTTP2_ENHANCE_YOUR_CALM:
      return 8;  // ResourceExhausted
    case NGHTTP2_INADEQUATE_SECURITY:
      return 7;  // PermissionDenied
    default:
      return kGrpcInternal;
  }
}

}  // namespace

// Streams that the server opens, before it has read that we want none, are not listened to.
struct HealthCall::Callbacks {
  static HealthCall& Of(void* call) { return *static_cast<HealthCall*>(call); }

  static ssize_t Request(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                         nghttp2_data_source* source, void*) {
    std::string& rest = *static_cast<std::string*>(source->ptr);
    size = std::min(size, rest.size());
    std::copy_n(rest.begin(), size, to);
    rest.erase(0, size);
    if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* call) {
    if (frame->hd.stream_id == kStream && frame->hd.type == NGHTTP2_HEADERS)
      Of(call).ReadField(Text(name, name_size), Text(value, value_size));
    return 0;
  }
  static int OnData(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data, std::size_t size,
                    void* call) {
    if (stream == kStream) Of(call).ReadData(Text(data, size));
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* call) {
    HealthCall& self = Of(call);
    const int type = frame->hd.type;
    if (type == NGHTTP2_SETTINGS) self.connected_ = true;
    if (type == NGHTTP2_GOAWAY && frame->goaway.last_stream_id < kStream) {
      self.Answer(kGrpcUnavailable,
                  absl::StrCat("the server goes away: ", nghttp2_http2_strerror(frame->goaway.error_code)));
    }
    if (frame->hd.stream_id == kStream && (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      self.EndStream();
    return 0;
  }
  // By the server, or by us for what it said.
  static int OnStreamClose(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* call) {
    if (stream == kStream)
      Of(call).Answer(GrpcCodeOfReset(code),
                      absl::StrCat("stream terminated by RST_STREAM with error code: ", nghttp2_http2_strerror(code)));
    return 0;
  }
  static int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* call) {
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    const nghttp2_goaway& away = frame->goaway;
    Of(call).broken_ = absl::StrCat(nghttp2_http2_strerror(away.error_code), away.opaque_data_len > 0 ? ": " : "",
                                    Text(away.opaque_data, away.opaque_data_len));
    return 0;
  }
};

void HealthCall::Close::operator()(nghttp2_session* session) const { nghttp2_session_del(session); }

HealthCall::HealthCall(absl::string_view authority, absl::string_view service, int timeout_seconds)
    : request_(Message(EncodeHealthRequest(service))) {
  nghttp2_session_callbacks* callbacks = nullptr;
  GW_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, Callbacks::OnFrameSent);
  nghttp2_session* session = nullptr;
  GW_CHECK(nghttp2_session_client_new(&session, callbacks, this) == 0);
  session_.reset(session);
  nghttp2_session_callbacks_del(callbacks);

  const nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
  GW_CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &no_push, 1) == 0);
  const std::string timeout = absl::StrCat(timeout_seconds, "S");
  const nghttp2_nv fields[] = {Field(":method", "POST"),
                               Field(":scheme", "http"),
                               Field(":path", "/grpc.health.v1.Health/Check"),
                               Field(":authority", authority),
                               Field("content-type", "application/grpc"),
                               Field("user-agent", "kube-probe/"),
                               Field("te", "trailers"),
                               Field("grpc-timeout", timeout)};
  nghttp2_data_provider body;
  body.source.ptr = &request_;
  body.read_callback = Callbacks::Request;
  GW_CHECK(nghttp2_submit_request(session, nullptr, fields, std::size(fields), &body, nullptr) == kStream);
  Send();
}

void HealthCall::Send() {
  const std::uint8_t* bytes = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0;)
    absl::StrAppend(&out_, Text(bytes, static_cast<std::size_t>(size)));
}

std::string HealthCall::TakeOutput() { return std::exchange(out_, {}); }

absl::StatusOr<std::optional<HealthAnswer>> HealthCall::Take(absl::string_view bytes) {
  taken_ += bytes.size();
  if (taken_ > kMaxBytes) return NoHttp2(absl::StrCat("the answer has more than ", kMaxBytes, " bytes"));
  const ssize_t read =
      nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (read < 0) return NoHttp2(nghttp2_strerror(static_cast<int>(read)));
  Send();  // which is when we end what was wrong
  if (!answer_ && !broken_.empty())
    return NoHttp2(absl::StrCat(connected_ ? "" : "the answer does not begin as one does: ", broken_));
  return answer_;
}

void HealthCall::ReadField(absl::string_view name, absl::string_view value) {
  int code = 0;
  if (name == ":status" && absl::SimpleAtoi(value, &code)) http_code_ = code;
  if (name == "grpc-status") grpc_code_ = absl::SimpleAtoi(value, &code) ? code : kGrpcUnknown;
  if (name == "grpc-message") grpc_message_ = Unescaped(value);
}

void HealthCall::ReadData(absl::string_view bytes) {
  if (message_.size() + bytes.size() <= kMaxMessage) {
    absl::StrAppend(&message_, bytes);
  } else {
    Answer(8, absl::StrCat("the answer has more than ", kMaxMessage, " bytes"));  // ResourceExhausted
  }
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
  if (message.size() < kMessagePrefix || SizeOfMessage(message) != message.size() - kMessagePrefix)
    return Answer(kGrpcInternal, "the answer is not one whole message");
  if (message.front() != 0) return Answer(kGrpcInternal, "the answer is packed in a way that was not allowed");
  const auto serving = DecodeHealthResponse(message.substr(kMessagePrefix));
  if (!serving.ok()) return Answer(kGrpcInternal, std::string(serving.status().message()));
  if (!answer_) answer_ = HealthAnswer{0, "", *serving};
}

}  // namespace gangway::sandbox
