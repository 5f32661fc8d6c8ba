#include "cmd/snapshot/file/pseudonyms.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::snapshot {
namespace {

TEST(PseudonymsTest, WhatBelongedTogetherStillDoes) {
  Pseudonyms pseudonyms;
  const std::string job = pseudonyms.Of("ctr"), task = pseudonyms.Of("worker");
  EXPECT_NE(job, "ctr");
  EXPECT_NE(job, task);
  EXPECT_EQ(pseudonyms.Of("ctr-worker-0"), absl::StrCat(job, "-", task, "-0"));
  EXPECT_EQ(pseudonyms.Of("ctr-worker-17.ctr.default"), absl::StrCat(job, "-", task, "-17.", job, ".default"));
  const std::string uid = "0a4cbe11-9d3e-4f6a-8e21-c0ffee123456";
  EXPECT_EQ(pseudonyms.Of(absl::StrCat("ctr-", uid)), absl::StrCat(job, "-", pseudonyms.Of(uid)));
}

TEST(PseudonymsTest, CountsSizesAndWordsOfKubernetesStay) {
  Pseudonyms pseudonyms;
  for (const char* const text :
       {"0", "128", "8Gi", "1h30m", "true", "default", "kube-system", "volcano", "requests.cpu"})
    EXPECT_EQ(pseudonyms.Of(text), text);
  EXPECT_FALSE(absl::StrContains(pseudonyms.Of("run-20261121153"), "20261121153")) << "no count has so many digits";
}

TEST(PseudonymsTest, AddressesDoNotStay) {
  Pseudonyms pseudonyms;
  for (const char* const text : {"192.168.7.31", "ip-10-2-3-4.internal", "cn-beijing.192.168.7.31"})
    EXPECT_EQ(pseudonyms.Of(text).find_first_of("0123456789"), std::string::npos) << pseudonyms.Of(text);
  EXPECT_EQ(pseudonyms.Of("1-2-3"), "1-2-3") << "three numbers are none";
}

TEST(PseudonymsTest, KeysOfKubernetesAndOfMakersOfDevicesStay) {
  Pseudonyms pseudonyms;
  for (const char* const key :
       {"nvidia.com/gpu", "topology.kubernetes.io/zone", "volcano.sh/task-spec", "requests.nvidia.com/gpu"})
    EXPECT_EQ(pseudonyms.OfKey(key), key);
  for (const char* const key : {"acme.com/team", "notkubernetes.io/acme", "acme/nvidia.com", "acme"})
    EXPECT_FALSE(absl::StrContains(pseudonyms.OfKey(key), "acme")) << pseudonyms.OfKey(key);
  EXPECT_EQ(pseudonyms.OfKey("requests.acme.com/gpu"), absl::StrCat("requests.", pseudonyms.Of("acme.com/gpu")));
}

TEST(PseudonymsTest, NoTwoWordsShareOne) {
  Pseudonyms pseudonyms;
  std::set<std::string> given;
  for (int i = 0; i < 20'000; ++i) {
    const std::string one = pseudonyms.Of(absl::StrCat("w", i));
    EXPECT_TRUE(given.insert(one).second) << one;
    EXPECT_NE(one, "svc") << "a word that stays is no pseudonym";
    EXPECT_NE(one, "ssh") << "a word that stays is no pseudonym";
  }
}

}  // namespace
}  // namespace gangway::snapshot
