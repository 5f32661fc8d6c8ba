#include "base/nearest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gangway {
namespace {

struct Case {
  const char* name;
  std::string word;
  std::vector<std::string> known;
  std::string nearest;
};

class NearestTest : public ::testing::TestWithParam<Case> {};

TEST_P(NearestTest, IsWhatWasMeant) { EXPECT_EQ(Nearest(GetParam().word, GetParam().known), GetParam().nearest); }

const std::vector<std::string> kCommands = {"explain", "queue", "job", "validate", "sandbox"};
const std::vector<std::string> kKeys = {"leaderElection.leaseDuration", "leaderElection.retryPeriod", "log.level",
                                        "log_format"};

INSTANTIATE_TEST_SUITE_P(
    All, NearestTest,
    ::testing::Values(Case{"ALetterIsMissing", "explan", kCommands, "explain"},
                      Case{"TwoLettersAreSwapped", "quuee", kCommands, "queue"},
                      Case{"TwoOfFourLettersAreSwapped", "rnak", {"rank"}, "rank"},
                      Case{"LettersOfAnotherCase", "VALIDATE", kCommands, "validate"},
                      Case{"OneOfThreeLetters", "jop", kCommands, "job"},
                      Case{"TheNearestOfSeveral", "quue", {"quay", "queue"}, "queue"},
                      Case{"HalfOfItIsAnotherWord", "explore", kCommands, ""},
                      Case{"AnotherWordOfThatLength", "delete", kCommands, ""},
                      Case{"TwoOfThreeLetters", "jar", kCommands, ""}, Case{"AllOfALetter", "x", {"y", "xy"}, ""},
                      Case{"Nothing", "", {"y", "job"}, ""},
                      Case{"InItsGroup", "leaderElection.leasDuration", kKeys, "leaderElection.leaseDuration"},
                      Case{"InAGroupThatIsMisspelled", "leadrElection.retryPeriod", kKeys,
                           "leaderElection.retryPeriod"},
                      Case{"InNoGroup", "leaseDuration", kKeys, "leaderElection.leaseDuration"},
                      Case{"InTheWrongGroup", "election.retryPeriod", kKeys, "leaderElection.retryPeriod"},
                      Case{"AnotherSeparator", "log.format", kKeys, "log_format"},
                      Case{"AnotherKeyOfALongGroup", "leaderElection.address", kKeys, ""},
                      Case{"AShortKeyOfALongGroup", "leaderElection.ttl", {"leaderElection.log"}, ""}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace gangway
