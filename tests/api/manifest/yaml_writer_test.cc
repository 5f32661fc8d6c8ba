#include "api/manifest/yaml_writer.h"

#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::IsOkAndHolds;
using ::gangway::testutil::StatusIs;

TEST(YamlOfTest, BlocksWithSortedKeys) {
  EXPECT_EQ(YamlOf(R"({"b":[1,{"d":2,"c":true}],"a":{"x":"y z"},"e":[],"f":{}})").value(),
            ("a:\n  x: y z\nb:\n  - 1\n  - c: true\n    d: 2\ne: []\nf: {}\n"));
}

// Everything that a plain scalar would turn into something else.
TEST(YamlOfTest, ReadsBackAsWhatItWas) {
  for (const char* json : {
           R"({"a":"8","b":"true","c":"yes","d":"null","e":"~","f":"","g":"1e3","h":"0x10","i":"010","j":".nan"})",
           R"({"a":" x","b":"x ","c":"- x","d":"a: b","e":"a #b","f":"#","g":"[x","h":"{x","i":"&x","j":"*x","k":"!x","l":"|","m":"%x"})",
           R"({"a":"two\nlines\n","b":"tab\there","c":"quote\"d","d":"it's","e":"\u00e9\u4e2d","f":"back\\slash","g":"---","h":"..."})",
           R"({"8":1,"true":2,"y":3,"n":4,"null":5,"a: b":6,"":7,"<<":8})",
           R"({"a":null,"b":false,"c":-1,"d":1.5,"e":12345678901234567890,"f":[[1,[2]],[]],"g":{"h":{"i":{}}}})",
           R"("text")", "7", "[]", "{}",
       }) {
    const absl::StatusOr<std::string> yaml = YamlOf(json);
    ASSERT_TRUE(yaml.ok()) << json;
    const auto documents = ReadDocuments(*yaml, "x.yaml");
    ASSERT_TRUE(documents.ok()) << documents.status() << "\n" << *yaml;
    ASSERT_EQ(documents->size(), 1u) << *yaml;
    EXPECT_EQ(*ParseJson(documents->front().json), *ParseJson(json)) << *yaml;
  }
}

TEST(YamlOfTest, RefusesWhatIsNoJson) {
  EXPECT_THAT(YamlOf("{").status(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace gangway::api
