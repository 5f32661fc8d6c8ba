#include "sandbox/process/pod_names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

NamingService Service(const std::string& json) { return *api::Decode<NamingService>(json); }

const NamedPod kReady{"ml", "10.1.0.1", "ctr-ps-0", "ctr", {{"job", "ctr"}}, true};
const NamedPod kUnready{"ml", "10.1.0.2", "ctr-ps-1", "ctr", {{"job", "ctr"}}, false};

TEST(PodNamesTest, PodsOfAHeadlessServiceHaveNamesInIt) {
  const NamingService service = Service(
      R"({"metadata":{"name":"ctr","namespace":"ml"},"spec":{"clusterIP":"None","selector":{"job":"ctr"},"publishNotReadyAddresses":true}})");
  const std::string lines = SharedHostsLines("ml", {kReady, kUnready}, {&service});
  EXPECT_THAT(
      lines,
      HasSubstr("10.1.0.1\tctr-ps-0.ctr.ml.svc.cluster.local ctr-ps-0.ctr.ml.svc ctr-ps-0.ctr.ml ctr-ps-0.ctr\n"));
  EXPECT_THAT(lines, HasSubstr("10.1.0.2\tctr-ps-1.ctr.ml.svc.cluster.local"));
  EXPECT_THAT(lines, HasSubstr("10.1.0.1\tctr.ml.svc.cluster.local ctr.ml.svc ctr.ml ctr\n"));
  const std::string elsewhere = SharedHostsLines("other", {kReady}, {&service});
  EXPECT_THAT(elsewhere, HasSubstr("ctr-ps-0.ctr.ml\n"));
  EXPECT_THAT(elsewhere, Not(HasSubstr("ctr-ps-0.ctr\n"))) << "short names are of the own namespace";
}

TEST(PodNamesTest, WhoIsNotReadyHasNoNameUnlessTheServiceSaysSo) {
  const NamingService service =
      Service(R"({"metadata":{"name":"ctr","namespace":"ml"},"spec":{"clusterIP":"None","selector":{"job":"ctr"}}})");
  const std::string lines = SharedHostsLines("ml", {kReady, kUnready}, {&service});
  EXPECT_THAT(lines, HasSubstr("10.1.0.1"));
  EXPECT_THAT(lines, Not(HasSubstr("10.1.0.2")));
}

TEST(PodNamesTest, OnlyPodsThatAServiceSelectsHaveItsName) {
  const NamingService other = Service(
      R"({"metadata":{"name":"ctr","namespace":"other"},"spec":{"clusterIP":"None","selector":{"job":"ctr"},"publishNotReadyAddresses":true}})");
  const NamingService all = Service(R"({"metadata":{"name":"all","namespace":"ml"},"spec":{"clusterIP":"None"}})");
  EXPECT_EQ(SharedHostsLines("ml", {kReady}, {&other, &all}), "") << "another namespace, and none without a selector";
  const NamingService cluster_ip = Service(
      R"({"metadata":{"name":"web","namespace":"ml"},"spec":{"clusterIP":"10.96.0.1","selector":{"job":"ctr"}}})");
  const std::string lines = SharedHostsLines("ml", {kReady}, {&cluster_ip});
  EXPECT_THAT(lines, HasSubstr("10.1.0.1\tweb.ml.svc.cluster.local"));
  EXPECT_THAT(lines, Not(HasSubstr("ctr-ps-0")));
}

TEST(PodNamesTest, WhoIsGoingIsNotReadyAndAnUnsaidHostnameIsNoName) {
  const auto named = [](const std::string& meta, const std::string& spec) {
    return NamedPodOf(*api::Decode<HostedPod>(R"({"metadata":{"name":"p","namespace":"ml","labels":{"job":"ctr"})" +
                                              meta + R"(},"spec":{"subdomain":"ctr")" + spec +
                                              R"(},"status":{"conditions":[{"type":"Ready","status":"True"}]}})"),
                      "10.1.0.3");
  };
  EXPECT_TRUE(named("", "").ready);
  EXPECT_FALSE(named(R"(,"deletionTimestamp":"2027-01-15T08:00:00Z")", "").ready);
  const NamingService service =
      Service(R"({"metadata":{"name":"ctr","namespace":"ml"},"spec":{"clusterIP":"None","selector":{"job":"ctr"}}})");
  EXPECT_THAT(SharedHostsLines("ml", {named("", "")}, {&service}), Not(HasSubstr("p.ctr")));
  EXPECT_THAT(SharedHostsLines("ml", {named("", R"(,"hostname":"h")")}, {&service}), HasSubstr("h.ctr.ml"));
}

TEST(PodNamesTest, APodKnowsItself) {
  const HostedPod pod = *api::Decode<HostedPod>(
      R"({"metadata":{"name":"p","namespace":"ml"},"spec":{"hostname":"h","subdomain":"s","hostAliases":[{"ip":"1.2.3.4","hostnames":["a","b"]}]}})");
  const std::string file = HostsFile(pod, "10.1.0.9", "10.1.0.1\tother\n");
  EXPECT_THAT(file, HasSubstr("127.0.0.1\tlocalhost\n"));
  EXPECT_THAT(file, HasSubstr("10.1.0.9\th.s.ml.svc.cluster.local h\n"));
  EXPECT_THAT(file, HasSubstr("1.2.3.4\ta b\n"));
  EXPECT_THAT(file, HasSubstr("10.1.0.1\tother\n"));
  HostedPod long_name;
  long_name.metadata.name = std::string(62, 'x') + "-y";
  EXPECT_EQ(HostnameOf(long_name), std::string(62, 'x')) << "cut to 63 bytes, and without the dash at its end";
}

TEST(PodNamesTest, TheApiServerHasItsNames) {
  EXPECT_EQ(ApiServerHostsLine("ml", "10.96.0.1"),
            "10.96.0.1\tkubernetes.default.svc.cluster.local kubernetes.default.svc kubernetes.default\n");
  EXPECT_EQ(ApiServerHostsLine("default", "10.96.0.1"),
            "10.96.0.1\tkubernetes.default.svc.cluster.local kubernetes.default.svc kubernetes.default kubernetes\n");
}

}  // namespace
}  // namespace gangway::sandbox
