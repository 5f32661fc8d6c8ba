#include "sandbox/streams/spdy.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/streams/spdy_dictionary.h"
#include "tests/sandbox/streams/spdy_client.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::SpdyClient;
using testutil::StatusIs;
using Kind = SpdyFrame::Kind;

std::vector<SpdyFrame> ReadAll(SpdyReader& reader, absl::string_view bytes) {
  std::vector<SpdyFrame> frames;
  EXPECT_EQ(reader.Read(bytes, frames), absl::OkStatus());
  return frames;
}

TEST(SpdyTest, TheDictionaryIsTheDrafts) {
  EXPECT_EQ(SpdyDictionary().size(), 1423u);
  EXPECT_EQ(adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(SpdyDictionary().data()), 1423), 0xe3c6a7c2u)
      << "what every stream of headers begins with: 78 bb e3 c6 a7 c2";
}

TEST(SpdyTest, FramesMayArriveByteByByte) {
  SpdyClient client;
  const std::string bytes = client.Open(1, {{"StreamType", "error"}, {"port", "80"}}) +
                            client.Open(3, {{"streamtype", "data"}, {"port", "80"}}) + SpdyClient::Data(3, "hello") +
                            SpdyClient::Data(3, "", true) + SpdyClient::Control(6, SpdyClient::Word(7)) +
                            SpdyClient::Control(4, SpdyClient::Word(0)) +
                            SpdyClient::Control(3, SpdyClient::Word(3) + SpdyClient::Word(5));
  SpdyReader slow;
  std::vector<SpdyFrame> frames;
  for (const char byte : bytes) ASSERT_EQ(slow.Read({&byte, 1}, frames), absl::OkStatus());
  ASSERT_EQ(frames.size(), 10u) << "each byte of data is a part";
  EXPECT_THAT(frames[0].headers, ElementsAre(Pair("port", "80"), Pair("streamtype", "error")));
  EXPECT_EQ(frames[1].id, 3u);
  std::string data;
  for (std::size_t i = 2; i < 8; ++i) data += frames[i].data;
  EXPECT_EQ(data, "hello");
  EXPECT_TRUE(frames[7].fin);
  EXPECT_FALSE(frames[6].fin);
  EXPECT_EQ(frames[8].kind, Kind::kPing);
  EXPECT_EQ(frames[8].id, 7u);
  EXPECT_EQ(frames[9].kind, Kind::kReset);

  SpdyClient again;
  SpdyReader fast;
  const std::vector<SpdyFrame> at_once =
      ReadAll(fast, again.Open(1, {{"port", "80"}}) + SpdyClient::Data(1, "hello", true));
  ASSERT_EQ(at_once.size(), 2u);
  EXPECT_EQ(at_once[1].data, "hello");
  EXPECT_TRUE(at_once[1].fin);
}

TEST(SpdyTest, WhatIsTooLargeOrBrokenEndsTheSession) {
  const auto refused = [](const std::string& bytes) {
    SpdyReader reader;
    std::vector<SpdyFrame> frames;
    const absl::Status status = reader.Read(bytes, frames);
    EXPECT_THAT(frames, IsEmpty());
    return status;
  };
  SpdyClient client;
  const std::string bomb = client.Open(1, {{"x", std::string(SpdyReader::kMaxHeaderBytes, 'a')}});
  EXPECT_THAT(refused(bomb), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too large")));
  SpdyClient other;
  std::vector<std::pair<std::string, std::string>> many;
  for (std::size_t i = 0; i <= SpdyReader::kMaxHeaders; ++i) many.emplace_back(absl::StrCat("h", i), "");
  EXPECT_THAT(refused(other.Open(1, many)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65 headers")));
  EXPECT_THAT(refused(SpdyClient::Word(0x80030001) + SpdyClient::Word(SpdyReader::kMaxControl + 1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a control frame of 65537 bytes")));
  EXPECT_THAT(refused(SpdyClient::Word(0x80020006) + SpdyClient::Word(4) + SpdyClient::Word(1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("version")));
  EXPECT_THAT(refused(SpdyClient::Control(1, std::string(9, 'x'))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut off")));
  EXPECT_THAT(refused(SpdyClient::Control(1, std::string(30, 'x'))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("decompressed")));
}

TEST(SpdyTest, WhatAServerSaysIsRead) {
  SpdyWriter writer;
  SpdyReader reader;  // reads a server's frames as well
  EXPECT_THAT(ReadAll(reader, writer.Accept(1) + writer.Accept(3)), IsEmpty());
  const std::vector<SpdyFrame> frames =
      ReadAll(reader, SpdyWriter::Data(3, "x", true) + SpdyWriter::Reset(3) + SpdyWriter::Ping(5));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_TRUE(frames[0].fin);
  EXPECT_EQ(frames[1].kind, Kind::kReset);
  EXPECT_EQ(frames[2].id, 5u);
}

}  // namespace
}  // namespace gangway::sandbox
