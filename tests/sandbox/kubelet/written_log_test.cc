#include "sandbox/kubelet/written_log.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

std::vector<std::string> Lines(const WrittenLog& log) {
  std::vector<std::string> out;
  for (std::int64_t i = log.first_kept(); i < log.count(); ++i)
    out.push_back(log.line(i).text + (log.line(i).partial ? "..." : ""));
  return out;
}

TEST(WrittenLogTest, ALineIsThereWithItsEndAndHasTheTimeOfItsBeginning) {
  WrittenLog log;
  log.Append(kStart, "one\ntw");
  EXPECT_THAT(Lines(log), ElementsAre("one"));
  log.Append(kStart + absl::Seconds(1), "o\n\nfour");
  EXPECT_THAT(Lines(log), ElementsAre("one", "two", ""));
  EXPECT_EQ(log.line(1).at, kStart);
  EXPECT_EQ(log.line(2).at, kStart + absl::Seconds(1));
  log.Close();
  EXPECT_THAT(Lines(log), ElementsAre("one", "two", "", "four..."));
}

TEST(WrittenLogTest, ALongLineComesInParts) {
  WrittenLog log;
  const std::string part(WrittenLog::kMaxLine, 'x');
  log.Append(kStart, part + "y\n" + part.substr(1));
  log.Append(kStart, "z\n");
  EXPECT_THAT(Lines(log), ElementsAre(part + "...", "y", part.substr(1) + "z"));
}

TEST(WrittenLogTest, TheLastLinesAreKept) {
  WrittenLog log(3 * (WrittenLog::kLineCost + 1));
  for (int i = 0; i < 1000; ++i) log.Append(kStart, std::to_string(i % 10) + "\n");
  EXPECT_THAT(Lines(log), ElementsAre("7", "8", "9"));
  EXPECT_EQ(log.count(), 1000);
  EXPECT_EQ(log.first_kept(), 997);
  log.Append(kStart, std::string(5000, 'x') + "\n");
  EXPECT_EQ(log.first_kept(), 1000) << "one line is always kept";
}

}  // namespace
}  // namespace gangway::sandbox
