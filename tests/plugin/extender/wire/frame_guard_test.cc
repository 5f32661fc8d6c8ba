#include "plugin/extender/wire/frame_guard.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gangway::extender {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'795'000'000);
constexpr char kGreeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr int kData = 0, kHeaders = 1, kPriority = 2, kResetStream = 3, kSettings = 4, kPing = 6, kWindow = 8,
              kContinuation = 9, kUnknown = 77;
constexpr int kAcknowledged = 1, kEndHeaders = 4;

std::string Frame(int type, int flags, std::uint32_t stream, std::size_t size) {
  std::string out;
  for (const int shift : {16, 8, 0}) out.push_back(static_cast<char>(size >> shift));
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(stream >> shift));
  return absl::StrCat(out, std::string(size, '\1'));
}
std::string Request(std::uint32_t stream) {
  return absl::StrCat(Frame(kHeaders, kEndHeaders, stream, 60), Frame(kData, 1, stream, 100));
}
std::string Settled() {
  return absl::StrCat(kGreeting, Frame(kSettings, 0, 0, 6), Frame(kSettings, kAcknowledged, 0, 0));
}

class FrameGuardTest : public ::testing::Test {
 protected:
  FrameLimits limits_;
  ResetAllowance of_all_{limits_.resets_of_all};
  FrameGuard guard_{limits_, of_all_};
};

TEST_F(FrameGuardTest, WhoAsksAndWaitsIsNotAtFault) {
  EXPECT_EQ(guard_.Look(Settled(), kNow), FrameFault::kNone);
  for (std::uint32_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(guard_.Look(absl::StrCat(Request(2 * i + 1), Frame(kPing, 0, 0, 8)), kNow), FrameFault::kNone) << i;
}

// From one connection, and from several together.
TEST_F(FrameGuardTest, RequestsThatAreTakenBackHaveAnAllowanceThatComesBackWithTime) {
  const auto take_back = [](FrameGuard& guard, absl::Time now) {
    int count = 0;
    while (count < 10'000 && guard.Look(Frame(kResetStream, 0, 1, 4), now) == FrameFault::kNone) ++count;
    EXPECT_EQ(guard.Look(Frame(kPing, 0, 0, 8), now), FrameFault::kResets) << "once at fault it stays so";
    return count;
  };
  const auto other = [&] {
    FrameGuard guard(limits_, of_all_);
    guard.Look(Settled(), kNow);
    return guard;
  };
  guard_.Look(Settled(), kNow);
  for (int i = 1; i < limits_.resets; ++i)
    ASSERT_EQ(guard_.Look(Frame(kResetStream, 0, 1, 4), kNow), FrameFault::kNone) << i;
  const absl::Time later = kNow + absl::Seconds(1);
  EXPECT_EQ(take_back(guard_, later), limits_.resets);
  FrameGuard second = other(), third = other(), fourth = other(), fifth = other();
  EXPECT_EQ(take_back(second, later), limits_.resets);
  EXPECT_EQ(take_back(third, later), limits_.resets);
  EXPECT_EQ(take_back(fourth, later), limits_.resets);
  EXPECT_EQ(take_back(fifth, later), 0) << "four have taken what there is for all";
}

TEST_F(FrameGuardTest, AHeaderHasABoundHoweverItIsCutIntoFrames) {
  const auto frames = [&](std::size_t size, int most) {
    FrameGuard guard(limits_, of_all_);
    guard.Look(Settled(), kNow);
    FrameFault fault = guard.Look(Frame(kHeaders, 0, 1, size), kNow);
    int count = 0;
    for (; fault == FrameFault::kNone && count < most; ++count)
      fault = guard.Look(Frame(kContinuation, 0, 1, size), kNow);
    EXPECT_EQ(fault, FrameFault::kHeader) << size;
    return count;
  };
  EXPECT_EQ(frames(16'000, 10), 4);
  EXPECT_EQ(frames(0, 100), limits_.header_frames);
  guard_.Look(Settled(), kNow);
  for (std::uint32_t i = 0; i < 100; ++i) {  // of each request anew
    ASSERT_EQ(guard_.Look(absl::StrCat(Frame(kHeaders, 0, 2 * i + 1, 16'000),
                                       Frame(kContinuation, kEndHeaders, 2 * i + 1, 16'000)),
                          kNow),
              FrameFault::kNone);
  }
}

TEST_F(FrameGuardTest, AHeaderIsTooLongBeforeItHasCome) {
  const std::string frame = Frame(kHeaders, 0, 1, 100'000);
  EXPECT_EQ(guard_.Look(absl::StrCat(kGreeting, frame.substr(0, 8)), kNow), FrameFault::kNone);
  EXPECT_EQ(guard_.Look(frame.substr(8, 1), kNow), FrameFault::kHeader);
}

TEST_F(FrameGuardTest, WhoDoesNotAcknowledgeOurSettingsHasFewRequests) {
  guard_.Look(absl::StrCat(kGreeting, Frame(kSettings, 0, 0, 6)), kNow);  // its own
  int count = 0;
  std::uint32_t stream = 1;
  for (; count < 10'000 && guard_.Look(Request(stream), kNow) == FrameFault::kNone; stream += 2) ++count;
  EXPECT_EQ(count, limits_.unsettled_streams);
  EXPECT_EQ(guard_.Look(Frame(kSettings, kAcknowledged, 0, 0), kNow), FrameFault::kStreams);
  FrameGuard trailers(limits_, of_all_);  // a second header of the same request
  trailers.Look(kGreeting, kNow);
  for (int i = 0; i < limits_.idle_frames; ++i)
    ASSERT_EQ(trailers.Look(Frame(kHeaders, kEndHeaders, 1, 10), kNow), FrameFault::kNone) << i;
}

TEST_F(FrameGuardTest, FramesThatAskForNothingHaveAnAllowanceThatComesBackWithTime) {
  const std::pair<const char*, std::string> frames[] = {
      {"settings", Frame(kSettings, 0, 0, 6)},       {"pings", Frame(kPing, 0, 0, 8)},
      {"priorities", Frame(kPriority, 0, 1, 5)},     {"windows", Frame(kWindow, 0, 0, 4)},
      {"empty data", Frame(kData, 0, 1, 0)},         {"acknowledgements", Frame(kSettings, kAcknowledged, 0, 0)},
      {"what is unknown", Frame(kUnknown, 0, 0, 3)}, {"headers of one request", Frame(kHeaders, kEndHeaders, 1, 9)}};
  for (const auto& [name, frame] : frames) {
    FrameGuard guard(limits_, of_all_);
    guard.Look(absl::StrCat(Settled(), Frame(kHeaders, kEndHeaders, 1, 60)), kNow);
    const auto count = [&](absl::Time now) {
      int taken = 0;
      while (taken < 100'000 && guard.Look(frame, now) == FrameFault::kNone) ++taken;
      return taken;
    };
    // Two were the settings.
    EXPECT_EQ(count(kNow), limits_.idle_frames - 2 + limits_.idle_frames_beside) << name;
    EXPECT_EQ(guard.Look(Frame(kData, 1, 1, 100), kNow + absl::Seconds(9)), FrameFault::kFrames) << name;
    FrameGuard slow(limits_, of_all_);
    slow.Look(absl::StrCat(Settled(), Frame(kHeaders, kEndHeaders, 1, 60)), kNow);
    for (int i = 0; i < 3 * limits_.idle_frames; ++i)
      ASSERT_EQ(slow.Look(frame, kNow + i * absl::Seconds(1) / limits_.idle_frames_per_second), FrameFault::kNone)
          << name << i;
  }
}

// A message of a stream, too, asks for something: a client acknowledges what it is answered, in its own way.
TEST_F(FrameGuardTest, WhoAsksMaySayMoreBesideHoweverQuick) {
  guard_.Look(absl::StrCat(Settled(), Frame(kHeaders, kEndHeaders, 1, 60)), kNow);
  std::string message = Frame(kData, 0, 1, 1);
  for (int i = 0; i < limits_.idle_frames_beside; ++i) absl::StrAppend(&message, Frame(kPing, 0, 0, 8));
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(guard_.Look(message, kNow), FrameFault::kNone) << i;
}

TEST_F(FrameGuardTest, WhatIsNotHttp2IsLeftToTheLibrary) {
  EXPECT_EQ(guard_.Look("GET / HTTP/1.1\r\n\r\n", kNow), FrameFault::kNone);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(guard_.Look(Frame(kResetStream, 0, 1, 4), kNow), FrameFault::kNone);
}

// The same fault behind the same byte, in whatever pieces they come.
TEST_F(FrameGuardTest, PiecesOfAnySizeAreTheSame) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::string all = Settled();
    std::uint32_t stream = 1;
    while (all.size() < 100'000) {
      const int what = static_cast<int>(random() % 4);
      absl::StrAppend(&all, what == 0   ? Request(stream += 2)
                            : what == 1 ? Frame(kHeaders, 0, stream += 2, random() % 30'000)
                            : what == 2 ? Frame(kContinuation, 0, stream, random() % 30'000)
                                        : Frame(kResetStream, 0, stream, 4));
    }
    absl::StrAppend(&all, Frame(kContinuation, 0, stream, 100'000));
    ResetAllowance of_all(limits_.resets_of_all), again(limits_.resets_of_all);
    FrameGuard bytes(limits_, of_all), pieces(limits_, again);
    std::size_t fault_at = 0;
    while (fault_at < all.size() && bytes.Look(absl::string_view(all).substr(fault_at, 1), kNow) == FrameFault::kNone)
      ++fault_at;
    ASSERT_LT(fault_at, all.size());
    for (std::size_t at = 0, size = 0; at < fault_at; at += size) {
      size = std::min(fault_at - at, 1 + random() % 500);
      ASSERT_EQ(pieces.Look(absl::string_view(all).substr(at, size), kNow), FrameFault::kNone) << round;
    }
    EXPECT_NE(pieces.Look(absl::string_view(all).substr(fault_at, 1), kNow), FrameFault::kNone) << round;
  }
}

}  // namespace
}  // namespace gangway::extender
