#include "api/name.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kLabelMessage =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an "
    "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kSubdomainMessage =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with "
    "an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kNameMessage =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

std::string Long(std::size_t n) { return std::string(n, 'a'); }

TEST(NameTest, Dns1123Labels) {
  for (const std::string& good :
       {std::string("a"), std::string("0"), std::string("a-b"), std::string("a--1"), Long(63)}) {
    EXPECT_THAT(CheckDns1123Label(good), IsEmpty()) << good;
  }
  for (const char* bad : {"", "A", "-a", "a-", "a_b", "a b", "a/b", "\xC3\xA9", "a\n", "a..b", ".a"}) {
    EXPECT_THAT(CheckDns1123Label(bad), ElementsAre(kLabelMessage)) << bad;
  }
  EXPECT_THAT(CheckDns1123Label("a.b"), ElementsAre("must not contain dots"));
  EXPECT_THAT(CheckDns1123Label(Long(64)), ElementsAre("must be no more than 63 characters"));
}

TEST(NameTest, Dns1123Subdomains) {
  for (const std::string& good : {std::string("a"), std::string("a.b-c.0"), Long(253)})
    EXPECT_THAT(CheckDns1123Subdomain(good), IsEmpty()) << good;
  for (const char* bad : {"", "A.b", "a..b", ".a", "a.", "a.-b", "a_b"}) {
    EXPECT_THAT(CheckDns1123Subdomain(bad), ElementsAre(kSubdomainMessage)) << bad;
  }
  EXPECT_THAT(CheckDns1123Subdomain(Long(254)), ElementsAre("must be no more than 253 characters"));
}

TEST(NameTest, Dns1035LabelsStartWithALetter) {
  EXPECT_THAT(CheckDns1035Label("a1"), IsEmpty());
  for (const char* bad : {"", "1a", "a.b", "A", "a-"}) EXPECT_THAT(CheckDns1035Label(bad), Not(IsEmpty())) << bad;
}

TEST(NameTest, QualifiedNames) {
  for (const std::string& good :
       {std::string("simple"), std::string("now-with-dashes"), std::string("1-starts.with_NUM"),
        std::string("simple/simple"), std::string("volcano.sh/queue-name"), std::string("1.2.3.4/5"), "a/" + Long(63),
        Long(253) + "/a"}) {
    EXPECT_THAT(CheckQualifiedName(good), IsEmpty()) << good;
  }
  EXPECT_THAT(CheckQualifiedName("nospecial%chars"), ElementsAre(kNameMessage));
  EXPECT_THAT(CheckQualifiedName(""), ElementsAre("name part must be non-empty", kNameMessage));
  EXPECT_THAT(CheckQualifiedName("a/"), ElementsAre("name part must be non-empty", kNameMessage));
  EXPECT_THAT(CheckQualifiedName("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(CheckQualifiedName("A.b/a"), ElementsAre(std::string("prefix part ") + kSubdomainMessage));
  EXPECT_THAT(CheckQualifiedName("a/" + Long(64)), ElementsAre("name part must be no more than 63 characters"));
  EXPECT_THAT(
      CheckQualifiedName("a/b/c"),
      ElementsAre(
          "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
          "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
          "'example.com/MyName')"));
}

TEST(NameTest, LabelValues) {
  for (const std::string& good : {std::string(), std::string("a"), std::string("A_b.c-1"), Long(63)})
    EXPECT_THAT(CheckLabelValue(good), IsEmpty()) << good;
  EXPECT_THAT(CheckLabelValue(Long(64)), ElementsAre("must be no more than 63 characters"));
  for (const char* bad : {"-a", "a-", "a b", "a/b", "."}) {
    EXPECT_THAT(
        CheckLabelValue(bad),
        ElementsAre(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
            "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
            "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"))
        << bad;
  }
}

TEST(NameTest, ConfigMapKeys) {
  for (const char* good : {"a", "a.b", ".hidden", "_", "A-1", "a..b"})
    EXPECT_THAT(CheckConfigMapKey(good), IsEmpty()) << good;
  EXPECT_THAT(CheckConfigMapKey("."), ElementsAre("must not be '.'"));
  EXPECT_THAT(CheckConfigMapKey(".."), ElementsAre("must not be '..'"));
  EXPECT_THAT(CheckConfigMapKey("..a"), ElementsAre("must not start with '..'"));
  for (const char* bad : {"", "a b", "a/b"}) EXPECT_THAT(CheckConfigMapKey(bad), Not(IsEmpty())) << bad;
}

TEST(NameTest, PathSegments) {
  EXPECT_THAT(CheckPathSegment("a:b_c"), IsEmpty());
  EXPECT_THAT(CheckPathSegment("."), ElementsAre("may not be '.'"));
  EXPECT_THAT(CheckPathSegment(".."), ElementsAre("may not be '..'"));
  EXPECT_THAT(CheckPathSegment("a/b%"), ElementsAre("may not contain '/'", "may not contain '%'"));
}

}  // namespace
}  // namespace gangway::api
