// A call of grpc.health.v1.Health/Check against a server whose frames a test writes.
#include "sandbox/process/health/health_call.h"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

enum Type { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPush = 5, kPing = 6, kGoAway = 7, kContinuation = 9 };
constexpr int kEndStream = 1, kEndHeaders = 4;

std::string Frame(int type, int flags, int stream, const std::string& payload) {
  std::string out(9, '\0');
  out[1] = static_cast<char>(payload.size() >> 8);
  out[2] = static_cast<char>(payload.size());
  out[3] = static_cast<char>(type);
  out[4] = static_cast<char>(flags);
  out[8] = static_cast<char>(stream);
  return out + payload;
}
std::string Field(const std::string& name, const std::string& value) {
  return absl::StrCat(std::string(1, '\0'), std::string(1, static_cast<char>(name.size())), name,
                      std::string(1, static_cast<char>(value.size())), value);
}
const std::string kHello = Frame(kSettings, 0, 0, "");
const std::string kBegins = Frame(kHeaders, kEndHeaders, 1, "\x88" + Field("content-type", "application/grpc"));
std::string Says(const std::string& response) {
  return Frame(
      kData, 0, 1,
      absl::StrCat(absl::string_view("\0\0\0\0", 4), std::string(1, static_cast<char>(response.size())), response));
}
std::string Ends(const std::string& code, const std::string& message = "") {
  return Frame(kHeaders, kEndHeaders | kEndStream, 1,
               Field("grpc-status", code) + (message.empty() ? "" : Field("grpc-message", message)));
}
std::string Serving(char status) { return std::string("\x08") + status; }

// What a probe would tell: "" is healthy, "..." that more has to come.
std::string Told(const std::string& bytes, HealthCall* call = nullptr) {
  HealthCall own("10.1.0.1:50051", "", 1);
  const auto answer = (call == nullptr ? own : *call).Take(bytes);
  if (!answer.ok()) return std::string(answer.status().message());
  return answer->has_value() ? HealthComplaint(**answer, "1s") : "...";
}

std::vector<std::string> FieldsOf(std::string block) {
  nghttp2_hd_inflater* inflater = nullptr;
  if (nghttp2_hd_inflate_new(&inflater) != 0) return {"no memory"};
  std::vector<std::string> out;
  auto* at = reinterpret_cast<std::uint8_t*>(block.data());
  std::uint8_t* const end = at + block.size();
  for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
    nghttp2_nv field;
    const ssize_t read = nghttp2_hd_inflate_hd2(inflater, &field, &flags, at, static_cast<std::size_t>(end - at), 1);
    if (read < 0) {
      out.push_back(nghttp2_strerror(static_cast<int>(read)));
      break;
    }
    at += read;
    const auto text = [](const std::uint8_t* bytes, std::size_t size) { return std::string(bytes, bytes + size); };
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
      out.push_back(absl::StrCat(text(field.name, field.namelen), "=", text(field.value, field.valuelen)));
  }
  nghttp2_hd_inflate_del(inflater);
  return out;
}

TEST(HealthCallTest, WhatIsAsked) {
  const std::string sent = HealthCall("10.1.0.1:50051", "trainer", 5).TakeOutput();
  EXPECT_THAT(sent, StartsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  // After the settings of six bytes.
  const std::string frames = sent.substr(24 + 9 + 6);
  const std::size_t size = static_cast<unsigned char>(frames[2]);
  EXPECT_EQ(frames.substr(0, 9), Frame(kHeaders, kEndHeaders, 1, std::string(size, ' ')).substr(0, 9));
  EXPECT_THAT(
      FieldsOf(frames.substr(9, size)),
      ElementsAre(":method=POST", ":scheme=http", ":path=/grpc.health.v1.Health/Check", ":authority=10.1.0.1:50051",
                  "content-type=application/grpc", "user-agent=kube-probe/", "te=trailers", "grpc-timeout=5S"));
  EXPECT_EQ(frames.substr(9 + size), Frame(kData, kEndStream, 1, std::string("\0\0\0\0\x09\x0a\x07trainer", 14)));
}

TEST(HealthCallTest, AServerThatServesIsHealthyHoweverItsBytesCome) {
  const std::string whole = kHello + kBegins + Says(Serving(1)) + Ends("0");
  EXPECT_EQ(Told(whole), "");
  HealthCall call("a:1", "", 1);
  for (const char c : whole.substr(0, whole.size() - 1)) ASSERT_EQ(Told(std::string(1, c), &call), "...");
  EXPECT_EQ(Told(whole.substr(whole.size() - 1), &call), "");
}

// pkg/probe/grpc has these words; google.golang.org/grpc those of the errors.
TEST(HealthCallTest, WhatElseAServerSays) {
  const auto told = [](const std::string& after) { return Told(kHello + kBegins + after); };
  EXPECT_EQ(told(Says(Serving(2)) + Ends("0")), "service unhealthy (responded with \"NOT_SERVING\")");
  EXPECT_EQ(told(Says("") + Ends("0")), "service unhealthy (responded with \"UNKNOWN\")");
  EXPECT_EQ(told(Says(Serving(9)) + Ends("0")), "service unhealthy (responded with \"9\")");
  EXPECT_EQ(told(Ends("5", "unknown%20service")),
            "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service");
  EXPECT_EQ(told(Ends("12", "no 100%")),
            "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): no 100%");
  EXPECT_EQ(told(Ends("4")), "timeout: health rpc did not complete within 1s");
  EXPECT_THAT(told(Ends("0")), HasSubstr("code = Internal desc = the answer is not one whole message"));
  EXPECT_THAT(told(Says("\x0b") + Ends("0")), HasSubstr("code = Internal desc = the answer is no HealthCheckResponse"));
  EXPECT_THAT(told(Frame(kReset, 0, 1, std::string("\0\0\0\x07", 4))),
              HasSubstr("code = Unavailable desc = stream terminated by RST_STREAM with error code: REFUSED_STREAM"));
  EXPECT_THAT(told(Frame(kGoAway, 0, 0, std::string("\0\0\0\0\0\0\0\x02", 8))),
              HasSubstr("code = Unavailable desc = the server goes away: INTERNAL_ERROR"));
  EXPECT_EQ(told(Frame(kGoAway, 0, 0, std::string("\0\0\0\x01\0\0\0\0", 8)) + Says(Serving(1)) + Ends("0")), "")
      << "after this call";
  EXPECT_THAT(Told(kHello + Frame(kHeaders, kEndHeaders | kEndStream, 1, "\x8d")),
              HasSubstr("does not implement the grpc health protocol (grpc.health.v1.Health): unexpected HTTP status "
                        "code received from server: 404"));
  EXPECT_THAT(Told(kHello + Frame(kHeaders, kEndHeaders | kEndStream, 1, "\x88")),
              HasSubstr("server closed the stream without sending trailers"));
}

TEST(HealthCallTest, FieldsOfWhichSomeAreUnknownAreRead) {
  // Field 2: a text; field 1: 1; field 3: a fixed number.
  EXPECT_EQ(*DecodeHealthResponse(std::string("\x12\x02hi\x08\x01\x1d\0\0\0\0", 11)), 1);
  for (const char* const wrong : {"\x08", "\x12\x05h", "\x09\x01", "\x0b"})
    EXPECT_FALSE(DecodeHealthResponse(wrong).ok()) << absl::CHexEscape(wrong);
  EXPECT_EQ(EncodeHealthRequest(""), "");
  EXPECT_EQ(EncodeHealthRequest(std::string(200, 'x')).substr(0, 3), "\x0a\xc8\x01");
}

TEST(HealthCallTest, WhatTheProtocolWantsAnsweredIs) {
  HealthCall call("a:1", "", 1);
  call.TakeOutput();
  EXPECT_EQ(Told(kHello, &call), "...");
  EXPECT_TRUE(call.connected());
  EXPECT_EQ(call.TakeOutput(), Frame(kSettings, 1, 0, ""));
  Told(Frame(kPing, 0, 0, "12345678") + Frame(kPing, 1, 0, "12345678") + Frame(kSettings, 1, 0, "") +
           Frame(99, 0, 0, "x"),
       &call);
  EXPECT_EQ(call.TakeOutput(), Frame(kPing, 1, 0, "12345678")) << "answers are not answered";
}

TEST(HealthCallTest, WhatWasNotAskedForIsNotListenedTo) {
  const std::string pushed =
      Frame(kPush, kEndHeaders, 1, std::string("\0\0\0\x02\x82\x86\x84", 7) + Field(":authority", "a")) +
      Frame(kHeaders, kEndHeaders, 2, "\x88" + Field("grpc-status", "5")) + Frame(kData, kEndStream, 2, "x");
  EXPECT_EQ(Told(kHello + pushed), "...");
  EXPECT_EQ(Told(kHello + pushed + kBegins + Says(Serving(1)) + Ends("0")), "");
}

// Without :status.
TEST(HealthCallTest, AnAnswerThatIsNoneOfHttpIsRefused) {
  HealthCall call("a:1", "", 1);
  call.TakeOutput();
  EXPECT_THAT(Told(kHello + Frame(kHeaders, kEndHeaders, 1, Field("grpc-status", "0")), &call),
              HasSubstr("code = Internal desc = stream terminated by RST_STREAM with error code: PROTOCOL_ERROR"));
  EXPECT_THAT(call.TakeOutput(), HasSubstr(Frame(kReset, 0, 1, std::string("\0\0\0\x01", 4))));
}

TEST(HealthCallTest, HeaderFieldsMayBePaddedAndInParts) {
  const std::string block = Field("grpc-status", "0");
  const std::string padded = Frame(kHeaders, kEndStream | 0x8 | 0x20, 1,
                                   "\x02" + std::string("\0\0\0\0\x10", 5) + block.substr(0, 4) + std::string(2, '\0'));
  EXPECT_EQ(Told(kHello + kBegins + Says(Serving(1)) + padded + Frame(kContinuation, 0, 1, block.substr(4, 3)) +
                 Frame(kContinuation, kEndHeaders, 1, block.substr(7))),
            "");
}

std::string Repeated(const std::string& frame) {
  std::string out;
  for (int i = 0; i < 100; ++i) out += frame;
  return out;
}

// What nghttp2 does not take: that it is told of.
struct Wrong {
  const char* name;
  std::string bytes;
  const char* why;
};
class NoHttp2Test : public ::testing::TestWithParam<Wrong> {};
TEST_P(NoHttp2Test, IsRefused) { EXPECT_THAT(Told(GetParam().bytes), HasSubstr(GetParam().why)); }
INSTANTIATE_TEST_SUITE_P(
    All, NoHttp2Test,
    ::testing::Values(
        Wrong{"Http1", "HTTP/1.1 400 Bad Request\r\n\r\n",
              "http2: the answer does not begin as one does: PROTOCOL_ERROR: SETTINGS expected"},
        Wrong{"AnotherFrameFirst", Frame(kPing, 0, 0, "12345678"), "does not begin as one does"},
        Wrong{"LargeFrame", kHello + std::string("\x01\0\0\0\0\0\0\0\x01", 9), "FRAME_SIZE_ERROR"},
        Wrong{"ShortPing", kHello + Frame(kPing, 0, 0, "1"), "FRAME_SIZE_ERROR"},
        Wrong{"Push",
              kHello + Frame(kSettings, 1, 0, "") + Frame(kPush, kEndHeaders, 1, std::string("\0\0\0\x02", 4) + "\x82"),
              "PROTOCOL_ERROR"},
        Wrong{"AnotherStream", kHello + Frame(kHeaders, kEndHeaders, 3, "\x88"), "PROTOCOL_ERROR"},
        Wrong{"FrameWithinABlock", kHello + Frame(kHeaders, 0, 1, "\x88") + Frame(kData, 0, 1, ""), "PROTOCOL_ERROR"},
        Wrong{"ManyParts", kHello + Frame(kHeaders, 0, 1, "") + Repeated(Frame(kContinuation, 0, 1, "x")),
              "Too many CONTINUATION frames"},
        Wrong{"NoHeaderFields", kHello + Frame(kHeaders, kEndHeaders, 1, "\x80"), "COMPRESSION_ERROR"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(HealthCallTest, WhoSaysALotIsNotListenedTo) {
  EXPECT_THAT(Told(kHello + kBegins + Frame(kData, 0, 1, std::string(5000, 'x'))),
              HasSubstr("the answer has more than 4096 bytes"));
  HealthCall call("a:1", "", 1);
  std::string told = Told(kHello, &call);
  for (int i = 0; i < 40 && told == "..."; ++i) told = Told(Frame(99, 0, 0, std::string(10000, 'x')), &call);
  EXPECT_THAT(told, HasSubstr("more than 262144 bytes"));
}

// Whatever comes, it ends, and nothing is read that is not there (the address sanitizer's to see).
TEST(HealthCallTest, DamagedAnswersAreAnsweredOrRefused) {
  const std::string good =
      kHello + kBegins + Says(Serving(1)) + Ends("5", "no%20such") + Frame(kPing, 0, 0, "12345678");
  RandomStream random(20261124);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (std::uint64_t i = 0; i <= random.Below(4); ++i) {
      const std::size_t at = random.Below(bytes.size());
      switch (random.Below(3)) {
        case 0:
          bytes[at] = static_cast<char>(random.Below(256));
          break;
        case 1:
          bytes.erase(at, 1 + random.Below(4));
          break;
        default:
          bytes.insert(at, 1, static_cast<char>(random.Below(256)));
      }
      if (bytes.empty()) break;
    }
    HealthCall call("a:1", "x", 1);
    const std::size_t half = random.Below(bytes.size() + 1);
    if (call.Take(bytes.substr(0, half)).ok()) call.Take(bytes.substr(half)).IgnoreError();  // both ways are right
    EXPECT_LE(call.TakeOutput().size(), 1000u);
  }
}

}  // namespace
}  // namespace gangway::sandbox
