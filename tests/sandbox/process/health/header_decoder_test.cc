// The examples of RFC 7541, appendix C, and what is no block of header fields.
#include "sandbox/process/health/header_decoder.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Bytes(absl::string_view hex) { return absl::HexStringToBytes(absl::StrReplaceAll(hex, {{" ", ""}})); }

std::vector<std::string> Fields(HeaderDecoder& decoder, absl::string_view hex) {
  const auto fields = decoder.Decode(Bytes(hex));
  if (!fields.ok()) return {std::string(fields.status().message())};
  std::vector<std::string> out;
  for (const HeaderField& field : *fields) out.push_back(absl::StrCat(field.name, "=", field.value));
  return out;
}

// C.3: a client's three requests, nothing packed.
TEST(HeaderDecoderTest, WhatWasSaidBeforeIsKept) {
  HeaderDecoder decoder;
  EXPECT_THAT(Fields(decoder, "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"),
              ElementsAre(":method=GET", ":scheme=http", ":path=/", ":authority=www.example.com"));
  EXPECT_THAT(
      Fields(decoder, "8286 84be 5808 6e6f 2d63 6163 6865"),
      ElementsAre(":method=GET", ":scheme=http", ":path=/", ":authority=www.example.com", "cache-control=no-cache"));
  EXPECT_THAT(Fields(decoder, "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"),
              ElementsAre(":method=GET", ":scheme=https", ":path=/index.html", ":authority=www.example.com",
                          "custom-key=custom-value"));
}

// C.6: a server's three answers, packed, with a table of 256 bytes, out of which fields fall.
TEST(HeaderDecoderTest, PackedTextsAndATableThatIsFull) {
  HeaderDecoder decoder(256);
  EXPECT_THAT(Fields(decoder,
                     "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d "
                     "29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3"),
              ElementsAre(":status=302", "cache-control=private", "date=Mon, 21 Oct 2013 20:13:21 GMT",
                          "location=https://www.example.com"));
  EXPECT_THAT(Fields(decoder, "4883 640e ffc1 c0bf"),
              ElementsAre(":status=307", "cache-control=private", "date=Mon, 21 Oct 2013 20:13:21 GMT",
                          "location=https://www.example.com"));
  EXPECT_THAT(Fields(decoder,
                     "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d "
                     "d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 "
                     "3d50 07"),
              ElementsAre(":status=200", "cache-control=private", "date=Mon, 21 Oct 2013 20:13:22 GMT",
                          "location=https://www.example.com", "content-encoding=gzip",
                          "set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"));
  EXPECT_THAT(Fields(decoder, "c1"), ElementsAre(HasSubstr("there is no field 65"))) << "three are left";
}

// C.2.2, C.2.3: what is not to be kept.
TEST(HeaderDecoderTest, WhatIsNotKeptIsNotThereLater) {
  HeaderDecoder decoder;
  EXPECT_THAT(Fields(decoder, "040c 2f73 616d 706c 652f 7061 7468"), ElementsAre(":path=/sample/path"));
  EXPECT_THAT(Fields(decoder, "1008 7061 7373 776f 7264 0673 6563 7265 74"), ElementsAre("password=secret"));
  EXPECT_THAT(Fields(decoder, "be"), ElementsAre(HasSubstr("there is no field 62")));
}

TEST(HeaderDecoderTest, ATableMayBeMadeSmaller) {
  HeaderDecoder decoder;
  Fields(decoder, "4001 6101 62");
  EXPECT_THAT(Fields(decoder, "be"), ElementsAre("a=b"));
  EXPECT_THAT(Fields(decoder, "20 3f e1 1f 82"), ElementsAre(":method=GET")) << "none, and 4096 bytes again";
  EXPECT_THAT(Fields(decoder, "be"), ElementsAre(HasSubstr("there is no field 62")));
  EXPECT_THAT(Fields(decoder, "3f e2 1f"), ElementsAre(HasSubstr("their table is larger than it may be")));
}

struct WrongBlock {
  const char* name;
  std::string hex;
  const char* why;
};
class WrongBlockTest : public ::testing::TestWithParam<WrongBlock> {};
TEST_P(WrongBlockTest, IsRefused) {
  HeaderDecoder decoder;
  EXPECT_THAT(Fields(decoder, GetParam().hex), ElementsAre(HasSubstr(GetParam().why)));
}
INSTANTIATE_TEST_SUITE_P(All, WrongBlockTest,
                         ::testing::Values(WrongBlock{"NoField", "80", "there is no field 0"},
                                           WrongBlock{"EndsWithinANumber", "ff 80", "they end within a number"},
                                           WrongBlock{"LargeNumber", "ff ffffffff0f", "a number is too large"},
                                           WrongBlock{"EndsBeforeAText", "04", "they end before a text"},
                                           WrongBlock{"EndsWithinAText", "04 05 61", "they end within a text"},
                                           // Eight bits of padding; padding of zeros; the code that is for no byte.
                                           WrongBlock{"LongPadding", "04 82 1f ff", "their end is not padded"},
                                           WrongBlock{"ZerosForPadding", "04 81 18", "their end is not padded"},
                                           WrongBlock{"EndOfText", "04 84 ff ff ff ff", "a code that is none"}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(HeaderDecoderTest, FieldsThatAreMuchTogetherAreRefused) {
  HeaderDecoder decoder;
  // One field of four kilobytes that is kept, and then named again and again.
  std::string block = Bytes("40 01 61 7f a1 1e") + std::string(4000, 'x');
  block += std::string(20, '\xbe');
  EXPECT_THAT(decoder.Decode(block).status().message(), HasSubstr("more than 65536 bytes"));
}

}  // namespace
}  // namespace gangway::sandbox
