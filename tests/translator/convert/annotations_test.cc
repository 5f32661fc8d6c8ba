// The wishes in annotations (docs/paddlejob.md), and the options that hold for all jobs.
#include "translator/convert/annotations.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"
#include "translator/convert/options.h"

namespace gangway::convert {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Read {
  Annotations annotations;
  std::vector<std::string> said;
};

Read ReadOne(absl::string_view name, absl::string_view value, bool strict = false) {
  Findings findings;
  Read out{ReadAnnotations({{absl::StrCat("paddle.gangway.io/", name), std::string(value)}}, strict, findings), {}};
  for (const Finding& finding : findings) out.said.push_back(finding.ToString());
  return out;
}

// "" when the value is taken.
std::string Said(absl::string_view name, absl::string_view value) {
  return absl::StrJoin(ReadOne(name, value).said, "; ");
}

TEST(AnnotationsTest, NothingSaidIsTheDefault) {
  Findings findings;
  const Annotations none = ReadAnnotations({{"team", "ads"}, {"gangway.io/max-restarts", "x"}}, true, findings);
  EXPECT_THAT(findings, IsEmpty()) << "annotations of others are theirs";
  EXPECT_EQ(none.max_restarts, 3);
  EXPECT_EQ(none.server_grace, absl::Seconds(10));
  EXPECT_TRUE(none.wait_dns);
  EXPECT_FALSE(none.strict_roles);
  EXPECT_FALSE(none.ttl_seconds.has_value());
}

TEST(AnnotationsTest, EachIsRead) {
  EXPECT_EQ(ReadOne("max-restarts", "0").annotations.max_restarts, 0);
  EXPECT_TRUE(ReadOne("max-restarts", "3").annotations.max_restarts_given);
  EXPECT_EQ(ReadOne("container-restarts", "-1").annotations.container_restarts, -1);
  EXPECT_EQ(ReadOne("server-grace", "90").annotations.server_grace, absl::Seconds(90));
  EXPECT_EQ(ReadOne("server-grace", "1m30s").annotations.server_grace, absl::Seconds(90));
  EXPECT_TRUE(ReadOne("server-grace", "0").annotations.server_grace_given);
  EXPECT_FALSE(ReadOne("wait-dns", "off").annotations.wait_dns);
  EXPECT_EQ(ReadOne("wait-dns", "alpine:3.19").annotations.wait_dns_image, "alpine:3.19");
  EXPECT_TRUE(ReadOne("wait-dns", "alpine:3.19").annotations.wait_dns);
  EXPECT_EQ(ReadOne("host-port-base", "31000").annotations.host_port_base, 31000);
  EXPECT_EQ(ReadOne("elastic-etcd", "etcd.infra:2379").annotations.elastic_etcd, "etcd.infra:2379");
  EXPECT_TRUE(ReadOne("elastic-style", "legacy").annotations.elastic_legacy);
  EXPECT_TRUE(ReadOne("per-pod-services", "on").annotations.per_pod_services);
  EXPECT_TRUE(ReadOne("network-policy", "true").annotations.network_policy);
  EXPECT_FALSE(ReadOne("wait-dns", "false").annotations.wait_dns);
  EXPECT_EQ(Said("network-policy", "false"), "");
  EXPECT_TRUE(ReadOne("name-style", "absolute").annotations.absolute_names);
  EXPECT_TRUE(ReadOne("scale", "forbid").annotations.scale_forbidden);
  EXPECT_EQ(ReadOne("ttl", "1h").annotations.ttl_seconds, 3600);
  EXPECT_EQ(ReadOne("ttl", "0").annotations.ttl_seconds, 0);
  EXPECT_TRUE(ReadOne("strict-roles", "on").annotations.strict_roles);
  EXPECT_TRUE(ReadOne("task-index", "from-name").annotations.wrap_command);
  EXPECT_TRUE(ReadOne("scheduler", "any").annotations.any_scheduler);
  EXPECT_TRUE(ReadOne("run-entry", "on").annotations.run_entry);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"endpoints", "names"}, {"backend", "job"}, {"scale", "allow"}}) {
    EXPECT_EQ(Said(name, value), "") << name;
  }
}

TEST(AnnotationsTest, WhatHasNoMeaningIsToldAndTheDefaultCounts) {
  EXPECT_EQ(Said("wait-dns", ""),
            "W-ENUM metadata.annotations[paddle.gangway.io/wait-dns]: \"\": must be on, off, or the name of an image "
            "(until then it is as if it were not written)");
  const Read grace = ReadOne("server-grace", "-5s");
  EXPECT_THAT(grace.said, ElementsAre(HasSubstr("must be seconds or a duration like 10s or 1m30s, not negative")));
  EXPECT_EQ(grace.annotations.server_grace, absl::Seconds(10));
  EXPECT_FALSE(grace.annotations.server_grace_given);
  for (const absl::string_view text :
       {"", "-1", "3.5", " 3", "+3", "0x3", "three", "2147483647", "99999999999999999999"}) {
    EXPECT_THAT(Said("max-restarts", text), HasSubstr("must be a number from 0 to 2147483646")) << text;
  }
  for (const absl::string_view text :
       {"etcd.infra", ":2379", "etcd.infra:0", "etcd://etcd.infra:2379", "a:1,b:2", "a b:1", "etcd.infra:70000"}) {
    EXPECT_THAT(Said("elastic-etcd", text), HasSubstr("like etcd.infra:2379")) << text;
  }
  for (const absl::string_view text : {"a:65536", "a:", "a:1x", "a:000001", "a\tb:1", "a\x7f:1"})
    EXPECT_NE(Said("elastic-etcd", text), "") << text;
  for (const absl::string_view text : {"0", "65477", "2.5", "-20"}) EXPECT_NE(Said("host-port-base", text), "") << text;
  for (const absl::string_view text : {"-2", "2147483648", "-", "--1"})
    EXPECT_NE(Said("container-restarts", text), "") << text;
  for (const absl::string_view text : {"a b", "a\x7f", "a\n"}) {
    EXPECT_NE(Said("wait-dns", text), "") << text;
    EXPECT_NE(Said("managed-by", text), "") << text;
  }
  for (const absl::string_view text : {"1.5s", "-1", "68y", "2147483648s"}) EXPECT_NE(Said("ttl", text), "") << text;
  EXPECT_THAT(Said("backend", "pods"), HasSubstr("must be job"));
}

TEST(AnnotationsTest, NumbersUpToTheirBorders) {
  EXPECT_EQ(ReadOne("max-restarts", "2147483646").annotations.max_restarts, 2147483646);
  EXPECT_EQ(ReadOne("container-restarts", "2147483647").annotations.container_restarts, 2147483647);
  EXPECT_EQ(ReadOne("container-restarts", "0").annotations.container_restarts, 0);
  EXPECT_EQ(ReadOne("host-port-base", "1").annotations.host_port_base, 1);
  EXPECT_EQ(ReadOne("host-port-base", "65476").annotations.host_port_base, 65476) << "59 ports come after it";
  EXPECT_EQ(ReadOne("ttl", "2147483647s").annotations.ttl_seconds, 2147483647);
  EXPECT_EQ(ReadOne("server-grace", "0s").annotations.server_grace, absl::ZeroDuration());
  for (const absl::string_view text : {"a:1", "a:65535"})
    EXPECT_EQ(ReadOne("elastic-etcd", text).annotations.elastic_etcd, text);
}

TEST(AnnotationsTest, ANearWordIsNamed) {
  EXPECT_THAT(Said("name-style", "absolut"), HasSubstr("(did you mean absolute?)"));
  EXPECT_EQ(Said("max-restart", "3"),
            "W-UNKNOWN-FIELD metadata.annotations[paddle.gangway.io/max-restart]: there is no such annotation (did you "
            "mean max-restarts?)");
  EXPECT_THAT(Said("zzzzzzz", "3"), HasSubstr("(remove it)"));
}

TEST(AnnotationsTest, StrictMakesThemErrors) {
  EXPECT_THAT(ReadOne("max-restart", "3", true).said,
              ElementsAre(HasSubstr("E-UNKNOWN-FIELD metadata.annotations[paddle.gangway.io/max-restart]")));
  EXPECT_THAT(ReadOne("scale", "no", true).said,
              ElementsAre(HasSubstr("E-ENUM metadata.annotations[paddle.gangway.io/scale]")));
}

TEST(AnnotationsTest, NumericEndpointsAreRefused) {
  EXPECT_THAT(ReadOne("endpoints", "ip").said,
              ElementsAre(HasSubstr("E-IP metadata.annotations[paddle.gangway.io/endpoints]")));
}

TEST(AnnotationsTest, EachIsInTheDocs) {
  const std::string docs = testutil::ReadFile(GW_SOURCE_DIR "/docs/paddlejob.md");
  for (const std::string& name : AnnotationNames()) EXPECT_THAT(docs, HasSubstr(absl::StrCat("| `", name, "` |")));
}

TEST(VolcanoVersionTest, ReleasesAsTheyAreWritten) {
  EXPECT_EQ(*ParseVolcanoVersion("1.13"), (VolcanoVersion{1, 13}));
  EXPECT_EQ(*ParseVolcanoVersion("v1.9.0"), (VolcanoVersion{1, 9}));
  EXPECT_EQ(*ParseVolcanoVersion("v1.16.0-alpha.0"), (VolcanoVersion{1, 16}));
  EXPECT_EQ(*ParseVolcanoVersion("1.16+build"), (VolcanoVersion{1, 16}));
  EXPECT_EQ(*ParseVolcanoVersion("1.9999.9999"), (VolcanoVersion{1, 9999}));
  EXPECT_LT((VolcanoVersion{1, 9}), (VolcanoVersion{1, 10}));
  for (const absl::string_view text : {"", "1", "v", "1.", "1.x", ".13", "latest", "1.13.", "1.13.0.0", "1.13-", "1,13",
                                       "1.99999", "10000.1", "1.13.99999", "1.13x", "1.13+", " 1.13", "-1.13"}) {
    EXPECT_EQ(ParseVolcanoVersion(text).status(),
              absl::InvalidArgumentError(absl::StrCat("'", text, "' is no version of Volcano: write it like 1.13")));
  }
}

TEST(TargetTest, Names) {
  EXPECT_EQ(TargetName(Target::kVolcano), "volcano");
  EXPECT_EQ(TargetName(Target::kGangway), "gangway");
}

}  // namespace
}  // namespace gangway::convert
