#include "sandbox/apiserver/store/store.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::gangway::testutil::IsOk;
using ::gangway::testutil::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

RecordPtr Make(const Store& store, absl::string_view name, absl::string_view ns = "ns",
               std::vector<std::string> owners = {}, absl::string_view uid = {}) {
  auto record = std::make_shared<Record>();
  record->resource = &api::kPods;
  record->key = {std::string(ns), std::string(name)};
  record->uid = uid.empty() ? absl::StrCat("uid-", ns, "-", name) : std::string(uid);
  record->revision = store.next_revision();
  std::string json = R"({"metadata":{"resourceVersion":")";
  record->revision_at = static_cast<std::uint32_t>(json.size());
  absl::StrAppend(&json, record->revision, "\"}}");
  record->json = MakeBytes(std::move(json));
  record->owner_uids = std::move(owners);
  return record;
}

std::vector<std::string> NamesAt(const Store& store, Revision revision, absl::string_view ns = {}) {
  std::vector<std::string> names;
  const absl::Status status = store.ScanAt(revision, api::kPods, ns, nullptr, [&](const RecordPtr& record) {
    names.push_back(absl::StrCat(record->key.name, "@", record->revision));
    return true;
  });
  EXPECT_THAT(status, IsOk());
  return names;
}

TEST(PackedPairsTest, FindsWholeNamesOnly) {
  PackedPairs pairs;
  pairs.Add("app", "web");
  pairs.Add("tier", "");
  absl::string_view value;
  EXPECT_TRUE(pairs.Find("app", &value));
  EXPECT_EQ(value, "web");
  EXPECT_TRUE(pairs.Find("tier", &value));
  EXPECT_EQ(value, "");
  EXPECT_FALSE(pairs.Find("ap", &value));
  EXPECT_FALSE(pairs.Find("web", &value));
}

TEST(PackedPairsTest, NamesAndValuesMayHoldAnyByte) {
  const std::string nul("a\0b", 3), only_nul(1, '\0'), longer(300, 'x');
  PackedPairs pairs;
  pairs.Add("phase", nul);
  pairs.Add(nul, only_nul);
  pairs.Add("longer", longer);
  pairs.Add("last", "z");
  EXPECT_EQ(pairs.Get("phase"), nul);
  EXPECT_EQ(pairs.Get(nul), only_nul);
  EXPECT_EQ(pairs.Get("longer"), longer);
  EXPECT_EQ(pairs.Get("last"), "z");
  absl::string_view value;
  EXPECT_FALSE(pairs.Find("b", &value));
  EXPECT_FALSE(pairs.Find("a", &value));
  const auto map = pairs.ToMap();
  EXPECT_EQ(map.size(), 4u);
  EXPECT_EQ(map.at("phase"), nul);
  EXPECT_EQ(map.at(nul), only_nul);
  EXPECT_EQ(map.at("longer"), longer);
}

TEST(StoreTest, OneRevisionCountsEveryCommit) {
  Store store;
  store.Put(Make(store, "a"));
  store.Put(Make(store, "b"));
  store.Put(Make(store, "a"));
  store.Delete(api::kPods, {"ns", "b"});
  EXPECT_EQ(store.revision(), 4u);
  EXPECT_EQ(store.Count(api::kPods), 1u);
  EXPECT_EQ(store.Count(api::kPods, "ns"), 1u);
  EXPECT_EQ(store.Count(api::kPods, "other"), 0u);
  EXPECT_EQ(store.Find(api::kPods, {"ns", "a"})->revision, 3u);
  EXPECT_EQ(store.Find(api::kPods, {"ns", "b"}), nullptr);
}

TEST(StoreTest, AnEarlierRevisionIsSeenAsItWas) {
  Store store;
  store.Put(Make(store, "a"));            // 1
  store.Put(Make(store, "c"));            // 2
  store.Put(Make(store, "b"));            // 3
  store.Delete(api::kPods, {"ns", "a"});  // 4
  store.Put(Make(store, "c"));            // 5
  store.Put(Make(store, "a"));            // 6
  EXPECT_THAT(NamesAt(store, 0), IsEmpty());
  EXPECT_THAT(NamesAt(store, 2), ElementsAre("a@1", "c@2"));
  EXPECT_THAT(NamesAt(store, 3), ElementsAre("a@1", "b@3", "c@2"));
  EXPECT_THAT(NamesAt(store, 4), ElementsAre("b@3", "c@2"));
  EXPECT_THAT(NamesAt(store, 6), ElementsAre("a@6", "b@3", "c@5"));
  EXPECT_EQ(*store.CountAt(2, api::kPods, "ns"), 2u);
  EXPECT_EQ(*store.CountAt(4, api::kPods, "ns"), 2u);
  EXPECT_EQ(*store.CountAt(6, api::kPods, ""), 3u);
}

TEST(StoreTest, ADeletionKeepsTheLastStateAtItsOwnRevision) {
  Store store;
  store.Put(Make(store, "a"));
  std::vector<std::string> seen;
  store.SetOnCommit([&](const Change& change, const JournalNote&) {
    seen.push_back(absl::StrCat(change.deleted, " ", *change.before->json, " ", *change.after->json));
  });
  store.Delete(api::kPods, {"ns", "a"});
  EXPECT_THAT(seen, ElementsAre(R"(1 {"metadata":{"resourceVersion":"1"}} {"metadata":{"resourceVersion":"2"}})"));
}

TEST(StoreTest, HistoryIsBoundedByCountAndBytes) {
  Store by_count({.max_history_changes = 3, .max_history_bytes = 1 << 20});
  for (int i = 0; i < 10; ++i) by_count.Put(Make(by_count, "a"));
  EXPECT_EQ(by_count.compacted_revision(), 7u);
  EXPECT_THAT(by_count.ScanAt(6, api::kPods, "", nullptr, [](const RecordPtr&) { return true; }),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(NamesAt(by_count, 7), ElementsAre("a@7"));

  Store by_bytes({.max_history_changes = 1000, .max_history_bytes = 100});
  for (int i = 0; i < 10; ++i) by_bytes.Put(Make(by_bytes, "a"));
  EXPECT_GE(by_bytes.compacted_revision(), 6u);
  EXPECT_LT(by_bytes.compacted_revision(), 10u);
}

TEST(StoreTest, CompactForgetsEverythingBefore) {
  Store store;
  store.Put(Make(store, "a"));
  store.Put(Make(store, "b"));
  store.Compact();
  EXPECT_EQ(store.compacted_revision(), 2u);
  store.Put(Make(store, "c"));
  EXPECT_THAT(NamesAt(store, 2), ElementsAre("a@1", "b@2"));
}

TEST(StoreTest, DependentsFollowTheirOwners) {
  Store store;
  store.Put(Make(store, "b", "ns", {"o"}));
  store.Put(Make(store, "a", "ns", {"o", "p"}));
  const auto names = [&](absl::string_view uid) {
    std::vector<std::string> out;
    for (const RecordPtr& record : store.Dependents(uid)) out.push_back(record->key.name);
    return out;
  };
  EXPECT_THAT(names("o"), ElementsAre("a", "b"));
  store.Put(Make(store, "a", "ns", {"p"}));
  EXPECT_THAT(names("o"), ElementsAre("b"));
  EXPECT_THAT(names("p"), ElementsAre("a"));
  store.Delete(api::kPods, {"ns", "b"});
  EXPECT_THAT(names("o"), IsEmpty());
  EXPECT_TRUE(store.Alive("uid-ns-a"));
  EXPECT_FALSE(store.Alive("uid-ns-b"));
}

TEST(StoreTest, ScanStaysInItsNamespaceAndStartsBehindAKey) {
  Store store;
  for (const char* ns : {"a", "ab", "b"}) {
    for (const char* name : {"x", "y"}) store.Put(Make(store, name, ns));
  }
  const auto keys = [&](absl::string_view ns, const api::NamespacedName* after) {
    std::vector<std::string> out;
    store.Scan(api::kPods, ns, after, [&](const RecordPtr& record) {
      out.push_back(record->key.ToString());
      return true;
    });
    return out;
  };
  EXPECT_THAT(keys("a", nullptr), ElementsAre("a/x", "a/y"));
  const api::NamespacedName after{"ab", "x"};
  EXPECT_THAT(keys("", &after), ElementsAre("ab/y", "b/x", "b/y"));
  EXPECT_THAT(keys("ab", &after), ElementsAre("ab/y"));
}

}  // namespace
}  // namespace gangway::sandbox
