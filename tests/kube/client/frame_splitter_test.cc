#include "kube/client/frame_splitter.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;
using testutil::IsOk;
using testutil::StatusIs;

std::string Text(const Frame& frame) { return absl::StrCat(FrameTypeName(frame.type), " ", *frame.object); }

TEST(ParseFrameTest, KeysInAnyOrderOthersSkipped) {
  for (const char* line : {
           R"({"type":"MODIFIED","object":{"a":{"b":"}]\"{"}}})",
           R"({"object":{"a":{"b":"}]\"{"}},"type":"MODIFIED"})",
           R"( { "x" : [1,{"type":"ADDED"}] , "type" : "MODIFIED" , "object" : {"a":{"b":"}]\"{"}} , "y":null } )",
       }) {
    const absl::StatusOr<Frame> frame = ParseFrame(line);
    GW_ASSERT_OK(frame);
    EXPECT_EQ(Text(*frame), R"(MODIFIED {"a":{"b":"}]\"{"}})") << line;
  }
}

TEST(ParseFrameTest, WhatItWritesItReads) {
  for (FrameType type :
       {FrameType::kAdded, FrameType::kModified, FrameType::kDeleted, FrameType::kBookmark, FrameType::kError}) {
    std::string line;
    AppendFrame({type, MakeBytes(R"({"k":"\\"})")}, line);
    EXPECT_EQ(line.back(), '\n');
    const absl::StatusOr<Frame> frame = ParseFrame(line);
    GW_ASSERT_OK(frame);
    EXPECT_EQ(frame->type, type);
    EXPECT_EQ(*frame->object, R"({"k":"\\"})");
  }
}

TEST(ParseFrameTest, RefusesWhatIsNoFrame) {
  for (const char* line :
       {"", "[]", "{", "{}", R"({"type":"ADDED"})", R"({"object":{}})", R"({"type":"ADDED","object":[]})",
        R"({"type":"ADDED","object":{)", R"({"type":"ADDED","object":{}}{})", R"({"type":"ADDED","object":{}},)",
        R"({"type":"RENAMED","object":{}})", R"({"type":1,"object":{}})", R"({"type":"ADDED" "object":{}})",
        R"({"type":"ADDED","object":{"a":"\)", R"({type:"ADDED","object":{}})"}) {
    EXPECT_THAT(ParseFrame(line), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("watch frame"))) << line;
  }
}

// However the bytes are cut, the frames are the same.
TEST(FrameSplitterTest, CutAnywhere) {
  std::string stream;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    const Frame frame{i % 2 == 0 ? FrameType::kAdded : FrameType::kDeleted,
                      MakeBytes(absl::StrCat("{\"n\":", i, ",\"s\":\"\\n\"}"))};
    AppendFrame(frame, stream);
    if (i % 5 == 0) stream += "\r\n";
    expected.push_back(Text(frame));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    FrameSplitter splitter(1000);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t size = std::min<std::size_t>(stream.size() - at, 1 + random() % (round < 5 ? 1 : 200));
      std::vector<Frame> frames;
      ASSERT_THAT(splitter.Feed(absl::string_view(stream).substr(at, size), frames), IsOk());
      for (const Frame& frame : frames) seen.push_back(Text(frame));
      at += size;
    }
    ASSERT_EQ(seen, expected);
    EXPECT_THAT(splitter.Finish(), IsOk());
  }
}

TEST(FrameSplitterTest, AnEndWithinAFrameIsNoOrderlyEnd) {
  FrameSplitter splitter(1000);
  std::vector<Frame> frames;
  GW_ASSERT_OK(splitter.Feed("{\"type\":\"ADDED\"", frames));
  EXPECT_THAT(splitter.Finish(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(FrameSplitterTest, KeepsNoMoreThanTheLimit) {
  FrameSplitter splitter(100);
  std::vector<Frame> frames;
  GW_ASSERT_OK(splitter.Feed(std::string(100, ' '), frames));
  EXPECT_THAT(splitter.Feed(" ", frames), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("100 bytes")));
  EXPECT_THAT(splitter.Feed("\n{\"type\":\"ADDED\",\"object\":{}}\n", frames), testing::Not(IsOk()));
  EXPECT_TRUE(frames.empty());
}

TEST(FrameSplitterTest, RandomBytes) {
  std::mt19937 random(5);
  std::string valid;
  AppendFrame({FrameType::kAdded, MakeBytes(R"({"a":[1,"\"x\\",{}],"b":{"c":null}})")}, valid);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = valid + valid;
    for (unsigned n = 0; n < 1 + random() % 4; ++n) bytes[random() % bytes.size()] = "{}[]\",:\\\n x"[random() % 11];
    FrameSplitter splitter(1000);
    std::vector<Frame> frames;
    splitter.Feed(bytes, frames).IgnoreError();  // must not crash; what it finds must be an object
    for (const Frame& frame : frames) ASSERT_TRUE(frame.object->front() == '{');
  }
}

}  // namespace
}  // namespace gangway::kube
