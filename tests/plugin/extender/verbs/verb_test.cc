#include "plugin/extender/verbs/verb.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gangway::extender {
namespace {

TEST(VerbTest, EachIsFoundByTheEndOfItsPath) {
  for (std::size_t i = 0; i < kVerbs; ++i) {
    const auto verb = static_cast<Verb>(i);
    EXPECT_EQ(VerbOfPath(absl::StrCat("/", VerbName(verb))), verb);
    EXPECT_EQ(VerbOfPath(absl::StrCat("/a/b/", VerbName(verb))), verb);
    EXPECT_TRUE(Serves(Mode::kFull, verb));
  }
  for (const char* path : {"/", "", "/predicates", "/Predicate", "/predicate/", "/x"})
    EXPECT_EQ(VerbOfPath(path), std::nullopt) << path;
  EXPECT_EQ(ModeOf("steer"), Mode::kSteer);
  EXPECT_EQ(ModeOf("heavy"), std::nullopt);
  EXPECT_FALSE(Serves(Mode::kLight, Verb::kPredicate));
  EXPECT_FALSE(Serves(Mode::kSteer, Verb::kPreemptable));
}

}  // namespace
}  // namespace gangway::extender
