#include "api/field_table.h"

#include <map>
#include <random>

#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/paddle/paddle_job.h"
#include "api/random_object.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Inner {
  std::string text;
  std::int32_t number = 0;
  static constexpr std::string_view kName = "Inner";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Inner::text>("text", "a text"), MakeField<&Inner::number>("number", "a number"));
  }
};
struct View2 {
  std::string text;
  static constexpr std::string_view kName = "View2";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&View2::text>("text", "")); }
};
// One field of every kind.
struct Everything {
  bool flag = false;
  std::int32_t small = 0;
  std::int64_t big = 0, counter = 0;
  std::string text, needed;
  Quantity quantity;
  Time time;
  MicroTime micro_time;
  Document document;
  std::optional<bool> maybe;
  std::optional<Inner> maybe_inner;
  Inner inner;
  View2 view;
  std::vector<Inner> list;
  std::vector<std::string> texts;
  std::map<std::string, Inner> map;
  std::map<std::string, std::vector<std::int32_t>> lists;
  std::vector<Document> documents;
  static constexpr std::string_view kName = "Everything";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Everything::flag>("flag", ""), MakeField<&Everything::small>("small", ""),
                      MakeField<&Everything::big>("big", ""), MakeField<&Everything::counter>("counter", "").KeepZero(),
                      MakeField<&Everything::text>("text", ""), MakeField<&Everything::needed>("needed", "").Required(),
                      MakeField<&Everything::quantity>("quantity", ""), MakeField<&Everything::time>("time", ""),
                      MakeField<&Everything::micro_time>("microTime", ""),
                      MakeField<&Everything::document>("document", ""), MakeField<&Everything::maybe>("maybe", ""),
                      MakeField<&Everything::maybe_inner>("maybeInner", ""), MakeField<&Everything::inner>("inner", ""),
                      MakeField<&Everything::view>("view", ""), MakeField<&Everything::list>("list", ""),
                      MakeField<&Everything::texts>("texts", ""), MakeField<&Everything::map>("map", ""),
                      MakeField<&Everything::lists>("lists", ""), MakeField<&Everything::documents>("documents", ""));
  }
};

Everything Read(absl::string_view json) {
  auto out = Decode<Everything>(json);
  EXPECT_TRUE(out.ok()) << json << ": " << out.status();
  return out.ok() ? *std::move(out) : Everything();
}
DecodeReport Report(absl::string_view json, Everything* out = nullptr) {
  Everything unused;
  return DecodeInto(json, TypeOf<Everything>(), out != nullptr ? out : &unused);
}

TEST(DecodeTest, ReadsEveryKind) {
  const Everything e = Read(R"({
    "flag": true, "small": -2147483648, "big": 9223372036854775807, "text": "a\n\u00e9\ud83d\ude00", "quantity": "1.5Gi",
    "time": "2026-11-21T13:11:53+08:00", "microTime": "2026-11-21T05:11:53.123456Z", "document": {"a": [1, {"b": null}] } ,
    "maybe": false, "maybeInner": {}, "inner": {"number": 3, "text": "t"}, "list": [{"text": "1"}, {}], "texts": ["x", ""],
    "map": {"k": {"number": 1}}, "lists": {"l": [1, 2], "e": []}, "documents": [1, "s", [], {"x":1}] })");
  EXPECT_TRUE(e.flag);
  EXPECT_EQ(e.small, std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(e.big, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(e.text, "a\n\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(e.quantity.ToString(), "1536Mi");
  EXPECT_EQ(api::FormatTime(e.time.at), "2026-11-21T05:11:53Z");
  EXPECT_EQ(FormatMicroTime(e.micro_time.at), "2026-11-21T05:11:53.123456Z");
  EXPECT_EQ(e.document.json, R"({"a": [1, {"b": null}] })");
  EXPECT_EQ(e.maybe, std::optional(false));
  EXPECT_TRUE(e.maybe_inner.has_value());
  EXPECT_EQ(e.inner.number, 3);
  ASSERT_EQ(e.list.size(), 2u);
  EXPECT_EQ(e.list[0].text, "1");
  EXPECT_THAT(e.texts, ElementsAre("x", ""));
  EXPECT_EQ(e.map.at("k").number, 1);
  EXPECT_THAT(e.lists.at("l"), ElementsAre(1, 2));
  EXPECT_THAT(e.lists.at("e"), IsEmpty());
  ASSERT_EQ(e.documents.size(), 4u);
  EXPECT_EQ(e.documents[1].json, "\"s\"");
  EXPECT_EQ(e.documents[2].json, "[]");
}

TEST(DecodeTest, NullAndAbsentAreTheSame) {
  const Everything e = Read(
      R"({"flag":null,"small":null,"text":null,"quantity":null,"time":null,"document":null,"maybe":null,"inner":null,"list":null,"map":null})");
  EXPECT_TRUE(SameObject(e, Everything()));
  EXPECT_TRUE(SameObject(Read("{}"), Everything()));
  EXPECT_FALSE(e.time.set());
}

TEST(DecodeTest, QuantitiesMayBeNumbers) {
  EXPECT_EQ(Read(R"({"quantity": 4 })").quantity.ToString(), "4");
  EXPECT_EQ(Read(R"({"quantity": 0.1})").quantity.ToString(), "100m");
  EXPECT_EQ(Read(R"({"quantity":-1.5e3})").quantity.ToString(), "-1500");
  EXPECT_EQ(Read(R"({"quantity":9223372036854775807})").quantity,
            Quantity::FromUnits(std::numeric_limits<std::int64_t>::max()));
}

TEST(DecodeTest, FractionsOfTheUnitOfATimeAreDropped) {
  EXPECT_EQ(Read(R"({"time":"2026-11-21T05:11:53.9Z"})").time.at, absl::FromUnixSeconds(1795237913));
  EXPECT_EQ(Read(R"({"microTime":"2026-11-21T05:11:53.1234569Z"})").micro_time.at,
            absl::FromUnixMicros(1795237913123456));
}

TEST(DecodeTest, KeysMayBeEscapedAndInAnyOrder) {
  const Everything e = Read(R"({"texts":["b"],"t\u0065xt":"a","flag":true})");
  EXPECT_EQ(e.text, "a");
  EXPECT_TRUE(e.flag);
  EXPECT_THAT(e.texts, ElementsAre("b"));
}

struct WrongCase {
  const char* json;
  const char* message;
};
class WrongTest : public ::testing::TestWithParam<WrongCase> {};
TEST_P(WrongTest, SaysWhereAndWhat) {
  EXPECT_THAT(Decode<Everything>(GetParam().json),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongTest,
    ::testing::Values(WrongCase{R"({"flag":1})", "flag: must be a boolean"},
                      WrongCase{R"({"flag":"true"})", "flag: must be a boolean"},
                      WrongCase{R"({"maybe":0})", "maybe: must be a boolean"},
                      WrongCase{R"({"small":"1"})", "small: must be an integer"},
                      WrongCase{R"({"small":1.5})", "small: must be an integer"},
                      WrongCase{R"({"small":{}})", "small: must be an integer"},
                      WrongCase{R"({"small":2147483648})", "small: must be a 32-bit integer"},
                      WrongCase{R"({"small":-2147483649})", "small: must be a 32-bit integer"},
                      WrongCase{R"({"small":123456789012345678901234567890})", "small: must be a 32-bit integer"},
                      WrongCase{R"({"big":9223372036854775808})", "big: must be a 64-bit integer"},
                      WrongCase{R"({"big":1e3})", "big: must be an integer"},
                      WrongCase{R"({"text":5})", "text: must be a string"},
                      WrongCase{R"({"text":["a"]})", "text: must be a string"},
                      WrongCase{R"({"quantity":"1x"})", "quantity: invalid quantity \"1x\""},
                      WrongCase{R"({"quantity":true})", "quantity: must be a quantity"},
                      WrongCase{R"({"quantity":"10E"})", "quantity: quantity \"10E\" is out of range"},
                      WrongCase{R"({"time":"yesterday"})", "time: \"yesterday\" is no RFC 3339 time"},
                      WrongCase{R"({"time":0})", "time: must be a time"},
                      WrongCase{R"({"microTime":{}})", "microTime: must be a time"},
                      WrongCase{R"({"inner":[]})", "inner: must be an object"},
                      WrongCase{R"({"inner":{"number":"x"}})", "inner.number: must be an integer"},
                      WrongCase{R"({"maybeInner":{"text":1}})", "maybeInner.text: must be a string"},
                      WrongCase{R"({"list":{}})", "list: must be a list"},
                      WrongCase{R"({"list":[{},{"number":true}]})", "list[1].number: must be an integer"},
                      WrongCase{R"({"list":[{},null]})", "list[1]: must not be null"},
                      WrongCase{R"({"texts":["a",1]})", "texts[1]: must be a string"},
                      WrongCase{R"({"map":[]})", "map: must be an object"},
                      WrongCase{R"({"map":{"a":null}})", "map.a: must not be null"},
                      WrongCase{R"({"map":{"a":{"text":{}}}})", "map.a.text: must be a string"},
                      WrongCase{R"({"lists":{"a.b/c":[1,2,"x"]}})", "lists.a.b/c[2]: must be an integer"},
                      WrongCase{R"({"documents":[{},null]})", "documents[1]: must not be null"}));

class NotJsonTest : public ::testing::TestWithParam<const char*> {};
TEST_P(NotJsonTest, IsRefused) {
  EXPECT_THAT(Decode<Everything>(GetParam()), StatusIs(absl::StatusCode::kInvalidArgument));
}
INSTANTIATE_TEST_SUITE_P(All, NotJsonTest,
                         ::testing::Values("", " ", "{", "}", "[]", "null", "1", "\"text\"", "{} {}", "{}x",
                                           "{\"flag\":}", "{\"flag\":true,}", "{\"flag\" true}", "{\"text\":\"a",
                                           "{\"list\":[{}", "{\"list\":[{},]}", "{\"small\":1 2}",
                                           "{\"text\":\"\xFF\"}", "{\"quantity\":1x}", "{\"flag\":truex}"));

TEST(DecodeTest, ReportsUnknownFieldsWithTheirPaths) {
  const DecodeReport report = Report(
      R"({"typo":1,"inner":{"Text":"x","deep":{"text":1}},"list":[{},{"nmber":1}],"map":{"any":{"x":1}},"flag":true})");
  GW_EXPECT_OK(report.status);
  EXPECT_THAT(report.unknown, ElementsAre("typo", "inner.Text", "inner.deep", "list[1].nmber", "map.any.x"));
  EXPECT_THAT(report.duplicate, IsEmpty());
}

TEST(DecodeTest, UnknownFieldsOfViewsAndDocumentsAreNoNews) {
  const DecodeReport report = Report(R"({"view":{"text":"a","other":1},"document":{"what":"ever"}})");
  GW_EXPECT_OK(report.status);
  EXPECT_THAT(report.unknown, IsEmpty());
}

TEST(DecodeTest, ReportsDuplicatesAndTheLastOneCounts) {
  Everything e;
  const DecodeReport report = Report(
      R"({"text":"first","small":1,"list":[{"text":"a"}],"inner":{"text":"i","number":7},"map":{"k":{"number":1},"k":{"text":"t"}},)"
      R"("text":"last","small":null,"list":[{"text":"b"}],"inner":{"number":8,"number":9}})",
      &e);
  GW_EXPECT_OK(report.status);
  EXPECT_THAT(report.duplicate, ElementsAre("map.k", "text", "small", "list", "inner", "inner.number"));
  EXPECT_EQ(e.text, "last");
  EXPECT_EQ(e.small, 0);
  ASSERT_EQ(e.list.size(), 1u);
  EXPECT_EQ(e.list[0].text, "b");
  EXPECT_EQ(e.inner.text, "");
  EXPECT_EQ(e.inner.number, 9);
  EXPECT_EQ(e.map.at("k").number, 0);
  EXPECT_EQ(e.map.at("k").text, "t");
}

TEST(DecodeTest, ReportsAreBounded) {
  std::string json = "{\"flag\":true";
  for (int i = 0; i < 500; ++i) json += ",\"x" + std::to_string(i) + "\":0,\"flag\":true";
  const DecodeReport report = Report(json + "}");
  GW_EXPECT_OK(report.status);
  EXPECT_EQ(report.unknown.size(), 100u);
  EXPECT_EQ(report.duplicate.size(), 100u);
}

TEST(DecodeTest, OneParserServesBodiesOfAllSizes) {
  for (const int size : {1, 100000, 3, 1000000, 0, 70}) {
    const std::string text(static_cast<std::size_t>(size), 'x');
    EXPECT_EQ(Read("{\"text\":\"" + text + "\"}").text, text);
  }
}

TEST(EncodeTest, LeavesOutWhatSaysNothing) {
  EXPECT_EQ(Encode(Inner{}), "{}");
  EXPECT_EQ(Encode(Inner{"a", 0}), R"({"text":"a"})");
}

std::string EncodeEverything(const Everything& e) {
  std::string out;
  EncodeTo(TypeOf<Everything>(), &e, out);
  return out;
}

TEST(EncodeTest, RequiredAndKeptFieldsAreAlwaysThere) {
  EXPECT_EQ(EncodeEverything({}), R"({"counter":0,"needed":""})");
}

TEST(EncodeTest, WritesFieldsInTheOrderOfTheTableWhateverTheOrderRead) {
  EXPECT_EQ(
      EncodeEverything(Read(
          R"({"lists":{"b":[],"a":[1]},"maybeInner":{},"maybe":false,"needed":"n","time":"2026-11-21T05:11:53Z","quantity":0.5,"document":[ 1 ],"flag":true})")),
      R"({"flag":true,"counter":0,"needed":"n","quantity":"500m","time":"2026-11-21T05:11:53Z","document":[ 1 ],)"
      R"("maybe":false,"maybeInner":{},"lists":{"a":[1],"b":[]}})");
}

TEST(EncodeTest, EscapesTextsAndKeys) {
  Everything e;
  e.text = std::string("\"\\\n\0\x1f", 5);
  e.map["k\"\t"].number = 1;
  EXPECT_EQ(EncodeEverything(e),
            R"({"counter":0,"text":"\"\\\n\u0000\u001f","needed":"","map":{"k\"\t":{"number":1}}})");
}

// decode(encode(x)) == x, for whole types and views alike.
template <class T>
class RoundTripTest : public ::testing::Test {};
using AllTypes = ::testing::Types<Everything, volcano::Job, volcano::PodGroup, volcano::Queue, volcano::Command,
                                  core::Pod, core::Node, core::ConfigMap, core::PriorityClass, core::PartialObject,
                                  ObjectReference, paddle::PaddleJob, paddle::kubeflow::PaddleJob>;
TYPED_TEST_SUITE(RoundTripTest, AllTypes);

TYPED_TEST(RoundTripTest, DecodingWhatWasEncodedGivesTheSameObject) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 300; ++round) {
    const auto before = RandomObject<TypeParam>([&random] { return random(); });
    std::string json;
    EncodeTo(TypeOf<TypeParam>(), &before, json);
    std::vector<std::string> duplicates;
    GW_ASSERT_OK(ParseCompletely(json, {}, &duplicates)) << json;
    ASSERT_THAT(duplicates, IsEmpty()) << json;
    TypeParam after;
    const DecodeReport report = DecodeInto(json, TypeOf<TypeParam>(), &after);
    GW_ASSERT_OK(report.status) << json;
    ASSERT_THAT(report.unknown, IsEmpty());
    ASSERT_THAT(report.duplicate, IsEmpty());
    ASSERT_TRUE(SameObject(before, after)) << json;
    std::string again;
    EncodeTo(TypeOf<TypeParam>(), &after, again);
    ASSERT_EQ(again, json);
  }
}

TYPED_TEST(RoundTripTest, TheOrderOfTheFieldsDoesNotMatter) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 50; ++round) {
    const auto before = RandomObject<TypeParam>([&random] { return random(); });
    std::string json;
    EncodeTo(TypeOf<TypeParam>(), &before, json);
    const boost::json::value document = *ParseJson(json);
    std::string backwards;
    JsonWriter writer(backwards);
    writer.BeginObject();
    std::vector<const boost::json::key_value_pair*> members;
    for (const auto& member : document.get_object()) members.insert(members.begin(), &member);
    for (const auto* member : members)
      writer.RawField({member->key().data(), member->key().size()}, ToJson(member->value()));
    writer.EndObject();
    TypeParam after;
    GW_ASSERT_OK(DecodeInto(backwards, TypeOf<TypeParam>(), &after).status);
    ASSERT_TRUE(SameObject(before, after)) << json;
  }
}

// Whatever the bytes, an answer and no harm; and what passes ParseCompletely never fails as "not valid JSON".
TYPED_TEST(RoundTripTest, BrokenBytesAreAnswered) {
  std::mt19937_64 random(29);
  const std::string alphabet = "{}[]:,\"\\u0e.- ntf\x01\xC3";
  for (int round = 0; round < 3000; ++round) {
    const auto object = RandomObject<TypeParam>([&random] { return random(); });
    std::string json;
    EncodeTo(TypeOf<TypeParam>(), &object, json);
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % json.size();
      if (random() % 2 == 0) {
        json[at] = alphabet[random() % alphabet.size()];
      } else {
        json.erase(at, 1 + random() % 20);
        if (json.empty()) json = "{";
      }
    }
    TypeParam after;
    const DecodeReport report = DecodeInto(json, TypeOf<TypeParam>(), &after);
    if (ParseCompletely(json).ok()) {
      ASSERT_NE(report.status.message(), "not valid JSON") << json;
    }
  }
}

}  // namespace
}  // namespace gangway::api
