#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/meta.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

struct Part {
  std::string name;
  static constexpr std::string_view kName = "Part";
  static constexpr auto Fields() { return MakeFields(MakeField<&Part::name>("name", "").Required()); }
};
struct Whole {
  std::string word, label;
  std::int32_t small = 0;
  std::optional<std::int64_t> big;
  bool flag = false;
  std::vector<std::string> words;
  std::vector<Part> parts;
  std::map<std::string, std::vector<std::string>> map;
  Quantity quantity;
  ResourceList resources;
  Time time;
  Document document;
  static constexpr std::string_view kName = "Whole";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Whole::word>("word", "one \"word\"").OneOf("a,b").Default("a").Required(),
                      MakeField<&Whole::label>("label", "").Pattern("dns1123label").MaxLength(63).MinLength(1),
                      MakeField<&Whole::small>("small", "").Minimum(0).Maximum(9).Default(3).Required(),
                      MakeField<&Whole::big>("big", "").Minimum(-1), MakeField<&Whole::flag>("flag", ""),
                      MakeField<&Whole::words>("words", "").OneOf("x,y").MinItems(1),
                      MakeField<&Whole::parts>("parts", "").ListKey("name"), MakeField<&Whole::map>("map", ""),
                      MakeField<&Whole::quantity>("quantity", ""), MakeField<&Whole::resources>("resources", ""),
                      MakeField<&Whole::time>("time", ""), MakeField<&Whole::document>("document", ""));
  }
};

boost::json::object SchemaOf(const Type& type) {
  std::string out;
  WriteSchema(type, out);
  std::vector<std::string> duplicates;
  GW_EXPECT_OK(ParseCompletely(out, {}, &duplicates));
  EXPECT_THAT(duplicates, ::testing::IsEmpty());
  return ParseJson(out)->as_object();
}
std::string Property(const char* name) {
  static const boost::json::object schema = SchemaOf(TypeOf<Whole>());
  return ToJson(schema.at("properties").as_object().at(name));
}

TEST(WriteSchemaTest, ObjectsListTheirPropertiesAndWhatIsRequired) {
  const boost::json::object schema = SchemaOf(TypeOf<Whole>());
  EXPECT_EQ(schema.at("type"), "object");
  EXPECT_EQ(schema.at("properties").as_object().size(), 12u);
  EXPECT_EQ(ToJson(schema.at("required")), R"(["word","small"])");
}

TEST(WriteSchemaTest, Strings) {
  EXPECT_EQ(Property("word"), R"({"type":"string","enum":["a","b"],"description":"one \"word\"","default":"a"})");
  EXPECT_EQ(Property("label"),
            R"({"type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$","maxLength":63,"minLength":1})");
}

TEST(WriteSchemaTest, NumbersAndFlags) {
  EXPECT_EQ(Property("small"), R"({"type":"integer","format":"int32","minimum":0,"maximum":9,"default":3})");
  EXPECT_EQ(Property("big"), R"({"type":"integer","format":"int64","minimum":-1})");
  EXPECT_EQ(Property("flag"), R"({"type":"boolean"})");
}

TEST(WriteSchemaTest, TheEnumOfAListIsOnItsItems) {
  EXPECT_EQ(Property("words"), R"({"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1})");
}

TEST(WriteSchemaTest, ListsWithKeysAreMaps) {
  EXPECT_EQ(Property("parts"),
            R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},)"
            R"("x-kubernetes-list-map-keys":["name"],"x-kubernetes-list-type":"map"})");
}

TEST(WriteSchemaTest, Maps) {
  EXPECT_EQ(Property("map"), R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}})");
}

TEST(WriteSchemaTest, QuantitiesAreNumbersOrStrings) {
  const std::string quantity =
      R"({"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|)"
      R"(([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$","x-kubernetes-int-or-string":true})";
  EXPECT_EQ(Property("quantity"), quantity);
  EXPECT_EQ(Property("resources"), R"({"type":"object","additionalProperties":)" + quantity + "}");
}

TEST(WriteSchemaTest, TimesAndDocuments) {
  EXPECT_EQ(Property("time"), R"({"type":"string","format":"date-time"})");
  EXPECT_EQ(Property("document"), R"({"x-kubernetes-preserve-unknown-fields":true})");
}

TEST(WriteSchemaTest, VolcanosTypesHaveSchemas) {
  for (const Type* type : {&TypeOf<volcano::Job>(), &TypeOf<volcano::PodGroup>(), &TypeOf<volcano::Queue>(),
                           &TypeOf<volcano::Command>()}) {
    EXPECT_EQ(SchemaOf(*type).at("type"), "object") << type->name;
  }
  const std::string job = ToJson(SchemaOf(TypeOf<volcano::Job>()));
  EXPECT_THAT(
      job, ::testing::HasSubstr(
               R"("maxRetry":{"type":"integer","format":"int32","description":"restarts before the job has Failed")"));
}

}  // namespace
}  // namespace gangway::api
