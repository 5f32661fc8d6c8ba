#include "cmd/logs/line_cutter.h"

#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kT1[] = "2026-11-21T05:11:53.100000000Z", kT2[] = "2026-11-21T05:11:53.200000000Z",
               kT3[] = "2026-11-21T05:11:54.000000001Z";

class Cut {
 public:
  std::vector<std::string> Feed(absl::string_view bytes) {
    cutter_.Feed(bytes, sink_);
    return std::exchange(lines_, {});
  }
  std::vector<std::string> Finish() {
    cutter_.Finish(sink_);
    return std::exchange(lines_, {});
  }
  LineCutter& operator*() { return cutter_; }

 private:
  LineCutter cutter_;
  std::vector<std::string> lines_;
  std::function<void(absl::string_view, absl::string_view)> sink_ = [this](absl::string_view, absl::string_view text) {
    lines_.emplace_back(text);
  };
};

std::string Line(absl::string_view stamp, absl::string_view text) { return absl::StrCat(stamp, " ", text, "\n"); }

TEST(LineCutterTest, StampsComeOffAndLinesStayWhole) {
  std::vector<std::string> stamps;
  LineCutter cutter;
  cutter.Begin();
  const auto sink = [&](absl::string_view stamp, absl::string_view text) {
    stamps.push_back(absl::StrCat(stamp, "|", text));
  };
  cutter.Feed(absl::StrCat(kT1, " a b\n", kT2), sink);
  cutter.Feed(" \nno stamp here\n\nlast", sink);
  EXPECT_THAT(stamps, ElementsAre(absl::StrCat(kT1, "|a b"), absl::StrCat(kT2, "|"), "|no stamp here", "|"));
  cutter.Finish(sink);
  EXPECT_EQ(stamps.back(), "|last");
}

TEST(LineCutterTest, AnyBytesGoThrough) {
  Cut cut;
  const std::string bytes("\x00\xff\x80\r\x1b[0m", 8);
  EXPECT_THAT(cut.Feed(Line(kT1, bytes)), ElementsAre(bytes));
}

TEST(LineCutterTest, CutAnywhereTheLinesAreTheSame) {
  const std::string text =
      absl::StrCat(Line(kT1, "one"), Line(kT1, ""), Line(kT2, "three three"), "bare\n", Line(kT3, "five"));
  for (std::size_t piece = 1; piece < 40; ++piece) {
    Cut cut;
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      for (std::string& line : cut.Feed(absl::string_view(text).substr(at, piece))) all.push_back(std::move(line));
    }
    EXPECT_THAT(all, ElementsAre("one", "", "three three", "bare", "five")) << piece;
  }
}

// What a server gives from a whole second on.
TEST(LineCutterTest, WhatComesAgainIsLeftOut) {
  Cut cut;
  (*cut).Begin();
  EXPECT_THAT((*cut).resume_from(), std::nullopt);
  EXPECT_THAT(cut.Feed(absl::StrCat(Line(kT1, "a"), Line(kT2, "b"), Line(kT2, "b"), kT2, " half of")),
              ElementsAre("a", "b", "b"));
  EXPECT_EQ((*cut).resume_from(), absl::FromCivil(absl::CivilSecond(2026, 11, 21, 5, 11, 53), absl::UTCTimeZone()));
  (*cut).Begin();
  EXPECT_THAT(
      cut.Feed(absl::StrCat(Line(kT1, "a"), Line(kT2, "b"), Line(kT2, "b"), Line(kT2, "half of it"), Line(kT3, "c"))),
      ElementsAre("half of it", "c"));
  (*cut).Begin();
  EXPECT_THAT(cut.Feed(absl::StrCat(Line(kT3, "c"), Line(kT3, "d"))), ElementsAre("d"));
  (*cut).Begin();
  EXPECT_THAT(cut.Feed(absl::StrCat(Line(kT3, "c"), Line(kT3, "d"))), IsEmpty());
}

TEST(LineCutterTest, AStampThatGoesBackIsNoReasonToDropALine) {
  Cut cut;
  (*cut).Begin();
  EXPECT_THAT(cut.Feed(absl::StrCat(Line(kT2, "out"), Line(kT1, "err"), Line(kT3, "out"))),
              ElementsAre("out", "err", "out"));
}

TEST(LineCutterTest, ALongLineComesInPiecesAndGoesOnWhereItBroke) {
  std::string text;
  for (std::size_t i = 0; text.size() < 3 * LineCutter::kMaxLine; ++i) absl::StrAppend(&text, i, ",");
  Cut whole;
  (*whole).Begin();
  std::vector<std::string> pieces = whole.Feed(Line(kT1, text));
  ASSERT_GT(pieces.size(), 2u);
  EXPECT_EQ(absl::StrCat(pieces[0], pieces[1], pieces[2], pieces.size() > 3 ? pieces[3] : ""), text);
  for (const std::string& piece : pieces) EXPECT_LE(piece.size(), LineCutter::kMaxLine + 40);

  Cut broken;
  (*broken).Begin();
  std::string all;
  const std::string line = Line(kT1, text);
  for (const std::string& piece : broken.Feed(absl::string_view(line).substr(0, line.size() - 1000))) all += piece;
  EXPECT_FALSE(all.empty());
  (*broken).Begin();
  for (const std::string& piece : broken.Feed(absl::StrCat(line, Line(kT2, "next")))) all += piece;
  EXPECT_EQ(all, text + "next");
}

// However often a stream breaks, wherever: each line once, in order.
TEST(LineCutterTest, PropertyNothingIsLostOrRepeated) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<absl::Time, std::string>> log;
    absl::Time at = absl::FromUnixSeconds(1'795'000'000);
    for (int i = 0; i < 60; ++i) {
      at += absl::Milliseconds(100) * static_cast<int>(random() % 4);  // 0: the same stamp as before
      log.emplace_back(at, absl::StrCat("line ", random() % 3));
    }
    const auto from = [&](std::optional<absl::Time> since) {
      std::string out;
      for (const auto& [stamp, text] : log) {
        if (since.has_value() && stamp < *since) continue;
        absl::StrAppend(&out, absl::FormatTime("%Y-%m-%dT%H:%M:%E9SZ", stamp, absl::UTCTimeZone()), " ", text, "\n");
      }
      return out;
    };
    std::vector<std::string> wanted, got;
    for (const auto& entry : log) wanted.push_back(entry.second);
    Cut cut;
    for (bool last = false; !last;) {
      const std::string rest = from((*cut).resume_from());
      last = random() % 6 == 0;
      (*cut).Begin();
      for (std::string& line :
           cut.Feed(absl::string_view(rest).substr(0, last ? rest.size() : random() % (rest.size() + 1))))
        got.push_back(std::move(line));
    }
    ASSERT_EQ(got, wanted) << "round " << round;
  }
}

}  // namespace
}  // namespace gangway::cmd
