#include "plugin/extender/calls/field_path.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gangway::extender {
namespace {

TEST(FieldPathTest, ALongTextIsQuotedInPart) {
  const std::string hundred(100, 'x');
  EXPECT_EQ(Quoted(hundred), absl::StrCat("\"", hundred, "\""));
  EXPECT_EQ(Quoted(hundred + "y"), absl::StrCat("\"", hundred, "...\""));
}

TEST(FieldPathTest, AComplaintAboutAFieldGoesOnWithItsPath) {
  EXPECT_EQ(WrongIn("gang", "tasks[0]: is wrong").message(), "gang.tasks[0]: is wrong");
  EXPECT_EQ(WrongIn("gang", "is no gang: so it says").message(), "gang: is no gang: so it says");
  EXPECT_EQ(WrongIn("gang", " x: is no field").message(), "gang:  x: is no field");
  EXPECT_EQ(WrongIn("gang", std::string(501, 'x')).message(), absl::StrCat("gang: ", std::string(500, 'x'), "..."));
}

}  // namespace
}  // namespace gangway::extender
