#include "tests/plugin/extender/http2_caller.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

nghttp2_nv Field(absl::string_view name, absl::string_view value) {
  const auto bytes = [](absl::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

void AppendNumber(std::string& out, std::size_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

// RFC 9113, 4.1
std::string Frame(int type, int flags, int stream, absl::string_view payload) {
  std::string out;
  AppendNumber(out, payload.size(), 3);
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  AppendNumber(out, static_cast<std::size_t>(stream), 4);
  return absl::StrCat(out, payload);
}

// Fields as they are, in no table. RFC 7541, 6.2.2
std::string Literal(absl::string_view name, absl::string_view value) {
  GW_CHECK(name.size() < 127 && value.size() < 127);
  std::string out(1, '\0');
  out.push_back(static_cast<char>(name.size()));
  absl::StrAppend(&out, name);
  out.push_back(static_cast<char>(value.size()));
  return absl::StrCat(out, value);
}

std::string Fields(absl::string_view last) {
  return absl::StrCat(Literal(":method", "POST"), Literal(":scheme", "http"),
                      Literal(":path", "/gangway.v1.Lifecycle/Decide"), Literal(":authority", "localhost"), last);
}

// With a header that goes on.
std::string Begin(absl::string_view last_field) {
  return absl::StrCat(absl::string_view(NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN),
                      Frame(NGHTTP2_SETTINGS, 0, 0, ""), Frame(NGHTTP2_HEADERS, 0, 1, Fields(last_field)));
}

}  // namespace

struct Http2Caller::Callbacks {
  static ssize_t Read(nghttp2_session*, std::int32_t, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    std::string& rest = *static_cast<std::string*>(source->ptr);
    size = std::min(size, rest.size());
    std::copy_n(rest.begin(), size, to);
    rest.erase(0, size);
    if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* caller) {
    auto& self = *static_cast<Http2Caller*>(caller);
    if (frame->hd.stream_id == self.stream_ &&
        absl::string_view(reinterpret_cast<const char*>(name), name_size) == "grpc-status")
      GW_CHECK(absl::SimpleAtoi(absl::string_view(reinterpret_cast<const char*>(value), value_size), &self.status_));
    return 0;
  }
  static int OnStreamClose(nghttp2_session*, std::int32_t stream, std::uint32_t, void* caller) {
    auto& self = *static_cast<Http2Caller*>(caller);
    self.over_ = self.over_ || stream == self.stream_;
    return 0;
  }
};

void Http2Caller::Close::operator()(nghttp2_session* session) const { nghttp2_session_del(session); }

Http2Caller::Http2Caller(int port) : socket_(static_cast<std::uint16_t>(port)) {
  nghttp2_session_callbacks* callbacks = nullptr;
  GW_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_option* option = nullptr;
  GW_CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_max_send_header_block_length(option, std::size_t{64} << 20);
  nghttp2_session* session = nullptr;
  GW_CHECK(nghttp2_session_client_new2(&session, callbacks, this, option) == 0);
  session_.reset(session);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  GW_CHECK(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0) == 0);
  Flush();
}
Http2Caller::~Http2Caller() = default;

bool Http2Caller::Submit(absl::string_view method, absl::string_view message, const Http2Fields& more) {
  message_.assign(1, '\0');  // not packed
  AppendNumber(message_, message.size(), 4);
  absl::StrAppend(&message_, message);
  std::vector<nghttp2_nv> fields = {Field(":method", "POST"), Field(":scheme", "http"),
                                    Field(":path", method),   Field(":authority", "localhost"),
                                    Field("te", "trailers"),  Field("content-type", "application/grpc")};
  for (const auto& [name, value] : more) fields.push_back(Field(name, value));
  nghttp2_data_provider body;
  body.source.ptr = &message_;
  body.read_callback = Callbacks::Read;
  stream_ = nghttp2_submit_request(session_.get(), nullptr, fields.data(), fields.size(), &body, nullptr);
  over_ = false;
  status_ = -1;
  return stream_ > 0;
}

bool Http2Caller::Call(absl::string_view method, absl::string_view message, const Http2Fields& more) {
  return Submit(method, message, more) && Flush();
}

bool Http2Caller::CallAndReset(absl::string_view method, absl::string_view message) {
  if (!Call(method, message)) return false;
  GW_CHECK(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream_, NGHTTP2_CANCEL) == 0);
  return Flush();
}

bool Http2Caller::Flush() {
  const auto take = [this](const std::string& bytes) {
    return nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0;
  };
  const std::uint8_t* bytes = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0;) {
    if (!socket_.Send({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)})) return false;
  }
  return take(socket_.TakeWhatCame());
}

int Http2Caller::AwaitStatus() {
  while (!over_) {
    const std::string part = socket_.ReadPart();
    if (part.empty() ||
        nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(part.data()), part.size()) < 0)
      return status_;
    if (!Flush()) return status_;
  }
  return status_;
}

bool Http2Caller::AwaitEnd() {
  for (std::string part; !(part = socket_.ReadPart()).empty();) {
    nghttp2_session_mem_recv(session_.get(), reinterpret_cast<const std::uint8_t*>(part.data()), part.size());
    Flush();
  }
  return socket_.ClosedByPeer();
}

std::string EndlessTextBegin() {
  // A text of 2^28 bytes: RFC 7541, 5.1 and 5.2
  return Begin(absl::string_view("\x00\x01x\x7f\x81\xff\xff\x7f", 8));
}
std::string EndlessTextContinuation(std::size_t bytes) {
  return Frame(NGHTTP2_CONTINUATION, 0, 1, std::string(bytes, 'a'));
}
std::string EndlessFieldsBegin() { return Begin(Literal("x", "y")); }
std::string EndlessFieldsContinuation(std::size_t bytes) {
  std::string fields;
  while (fields.size() < bytes) absl::StrAppend(&fields, Literal("x", std::string(100, 'a')));
  return Frame(NGHTTP2_CONTINUATION, 0, 1, fields);
}

std::string EndlessFieldsEnd() { return Frame(NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, ""); }
std::string OpenRequest(int stream) {
  return Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, stream,
               Fields(absl::StrCat(Literal("te", "trailers"), Literal("content-type", "application/grpc"))));
}

std::string Resets(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    absl::StrAppend(&out, Frame(NGHTTP2_RST_STREAM, 0, 1, absl::string_view("\0\0\0\x08", 4)));
  return out;
}
std::string EmptySettings(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, Frame(NGHTTP2_SETTINGS, 0, 0, ""));
  return out;
}
std::string Priorities(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    absl::StrAppend(&out, Frame(NGHTTP2_PRIORITY, 0, 1, absl::string_view("\0\0\0\0\x10", 5)));
  return out;
}

}  // namespace gangway::testutil
