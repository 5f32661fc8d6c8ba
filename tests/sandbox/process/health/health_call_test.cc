// A call of grpc.health.v1.Health/Check against a server whose frames a test writes.
#include "sandbox/process/health/health_call.h"

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

TEST(HealthCallTest, WhatIsAsked) {
  const std::string sent = HealthCall("10.1.0.1:50051", "trainer", 5).TakeOutput();
  EXPECT_THAT(sent, StartsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  HeaderDecoder decoder;
  // After the settings of six bytes.
  const std::string frames = sent.substr(24 + 9 + 6);
  const std::size_t size = static_cast<unsigned char>(frames[2]);
  EXPECT_EQ(frames.substr(0, 9), Frame(kHeaders, kEndHeaders, 1, std::string(size, ' ')).substr(0, 9));
  const auto fields = decoder.Decode(frames.substr(9, size));
  GW_ASSERT_OK(fields);
  std::vector<std::string> said;
  for (const HeaderField& field : *fields) said.push_back(absl::StrCat(field.name, "=", field.value));
  EXPECT_THAT(said, ::testing::ElementsAre(":method=POST", ":scheme=http", ":path=/grpc.health.v1.Health/Check",
                                           ":authority=10.1.0.1:50051", "content-type=application/grpc",
                                           "user-agent=kube-probe/", "te=trailers", "grpc-timeout=5S"));
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

TEST(HealthCallTest, HeaderFieldsMayBePaddedAndInParts) {
  const std::string block = Field("grpc-status", "0");
  const std::string padded = Frame(kHeaders, kEndStream | 0x8 | 0x20, 1,
                                   "\x02" + std::string("\0\0\0\0\x10", 5) + block.substr(0, 4) + std::string(2, '\0'));
  EXPECT_EQ(Told(kHello + kBegins + Says(Serving(1)) + padded + Frame(kContinuation, 0, 1, block.substr(4, 3)) +
                 Frame(kContinuation, kEndHeaders, 1, block.substr(7))),
            "");
}

struct Wrong {
  const char* name;
  std::string bytes;
  const char* why;
};
class NoHttp2Test : public ::testing::TestWithParam<Wrong> {};
TEST_P(NoHttp2Test, IsRefused) { EXPECT_THAT(Told(GetParam().bytes), HasSubstr(GetParam().why)); }
INSTANTIATE_TEST_SUITE_P(
    All, NoHttp2Test,
    ::testing::Values(Wrong{"Http1", "HTTP/1.1 400 Bad Request\r\n\r\n", "does not begin with a frame of settings"},
                      Wrong{"AnotherFrameFirst", Frame(kPing, 0, 0, "12345678"),
                            "does not begin with a frame of settings"},
                      Wrong{"LargeFrame", kHello + std::string("\x01\0\0\0\0\0\0\0\x01", 9), "a frame is too large"},
                      Wrong{"ShortPing", kHello + Frame(kPing, 0, 0, "1"), "a PING of the wrong size"},
                      Wrong{"ShortGoAway", kHello + Frame(kGoAway, 0, 0, "1234"), "a GOAWAY of the wrong size"},
                      Wrong{"ShortReset", kHello + Frame(kReset, 0, 1, "1"), "an RST_STREAM of the wrong size"},
                      Wrong{"Push", kHello + Frame(kPush, 0, 1, "1"), "a PUSH_PROMISE that was not allowed"},
                      Wrong{"AnotherStream", kHello + Frame(kHeaders, kEndHeaders, 3, "\x88"), "that nobody asked for"},
                      Wrong{"DataOfAnotherStream", kHello + Frame(kData, 0, 3, "x"), "that nobody asked for"},
                      Wrong{"FrameWithinABlock", kHello + Frame(kHeaders, 0, 1, "\x88") + Frame(kData, 0, 1, ""),
                            "a frame within a block of header fields"},
                      Wrong{"ContinuationOfNothing", kHello + Frame(kContinuation, kEndHeaders, 1, "\x88"),
                            "a CONTINUATION of nothing"},
                      Wrong{"MorePadding", kHello + Frame(kData, 0x8, 1, "\x05x"), "more padding than there is"},
                      Wrong{"NoPadding", kHello + Frame(kData, 0x8, 1, ""), "padding without a size"},
                      Wrong{"ShortPriority", kHello + Frame(kHeaders, 0x20, 1, "x"), "a priority of the wrong size"},
                      Wrong{"NoHeaderFields", kHello + Frame(kHeaders, kEndHeaders, 1, "\x80"), "there is no field 0"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(HealthCallTest, WhoSaysALotIsNotListenedTo) {
  EXPECT_THAT(Told(kHello + kBegins + Frame(kData, 0, 1, std::string(5000, 'x'))),
              HasSubstr("the answer has more than 4096 bytes"));
  HealthCall call("a:1", "", 1);
  std::string told = Told(kHello, &call);
  for (int i = 0; i < 40 && told == "..."; ++i) told = Told(Frame(99, 0, 0, std::string(10000, 'x')), &call);
  EXPECT_THAT(told, HasSubstr("more than 262144 bytes"));
  HealthCall parts("a:1", "", 1);
  told = Told(kHello + Frame(kHeaders, 0, 1, ""), &parts);
  for (int i = 0; i < 10 && told == "..."; ++i)
    told = Told(Frame(kContinuation, 0, 1, std::string(10000, 'x')), &parts);
  EXPECT_THAT(told, HasSubstr("a block of header fields is too large"));
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
