#include "sandbox/apiserver/apply/ownership.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/schemas/schemas.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox::apply {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace json = boost::json;

// One object and what becomes of it.
class OwnershipTest : public ::testing::Test {
 protected:
  OwnershipTest() : type_(*schemas::Schemas::Shared().For(api::kPods)->root) {}

  Write By(absl::string_view manager, absl::string_view subresource = {}) {
    return {.manager = manager,
            .subresource = subresource,
            .api_version = "v1",
            .type = type_,
            .reset = none_,
            .now = now_};
  }
  void Update(absl::string_view manager, const json::value& next) {
    managed_ = ownership_.AfterUpdate(managed_, live_.is_null() ? nullptr : &live_, next, By(manager));
    live_ = next;
  }
  void Update(absl::string_view manager, absl::string_view next) { Update(manager, *api::ParseJson(next)); }
  // The conflicts.
  std::vector<FieldConflict> Apply(absl::string_view manager, const json::value& config, bool force = false) {
    Applied out = ownership_.Apply(managed_, live_.is_null() ? nullptr : &live_, config, By(manager), force);
    if (out.conflicts.empty()) {
      live_ = out.object;
      managed_ = out.managed;
    }
    return out.conflicts;
  }
  std::vector<FieldConflict> Apply(absl::string_view manager, absl::string_view config, bool force = false) {
    return Apply(manager, *api::ParseJson(config), force);
  }
  // "" when it owns nothing.
  std::string FieldsOwnedBy(absl::string_view manager) {
    for (const ManagedEntry& entry : managed_ == nullptr ? ManagedFields() : *managed_) {
      if (entry.manager == manager) return *entry.fields;
    }
    return "";
  }
  static std::string Labels(absl::string_view labels) {
    return absl::StrCat(R"({"metadata":{"labels":{)", labels, "}}}");
  }
  std::string live() const { return api::ToJson(live_); }

  const schemas::SchemaNode& type_;
  const FieldSet none_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  Ownership ownership_;
  json::value live_;
  ManagedFieldsPtr managed_;
};

TEST_F(OwnershipTest, AConflictNamesTheOwnerAndTheField) {
  EXPECT_THAT(Apply("a", Labels(R"("x":"1","y":"1")")), IsEmpty());
  const std::vector<FieldConflict> conflicts = Apply("b", Labels(R"("x":"2")"));
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_EQ(ConflictMessage(conflicts), "Apply failed with 1 conflict: conflict with \"a\": .metadata.labels.x");
  EXPECT_EQ(live(), Labels(R"("x":"1","y":"1")"));
}

TEST_F(OwnershipTest, ForceTakesAndTheOtherKeepsTheRest) {
  Apply("a", Labels(R"("x":"1","y":"1")"));
  EXPECT_THAT(Apply("b", Labels(R"("x":"2")"), true), IsEmpty());
  EXPECT_EQ(FieldsOwnedBy("a"), R"({"f:metadata":{"f:labels":{"f:y":{}}}})");
  EXPECT_EQ(FieldsOwnedBy("b"), R"({"f:metadata":{"f:labels":{"f:x":{}}}})");
}

TEST_F(OwnershipTest, EqualValuesAreSharedAndStayUntilTheLastLetsGo) {
  Apply("a", Labels(R"("x":"1")"));
  EXPECT_THAT(Apply("b", Labels(R"("x":"1")")), IsEmpty());
  Apply("a", Labels(""));
  EXPECT_EQ(live(), Labels(R"("x":"1")"));
  Apply("b", Labels(""));
  EXPECT_EQ(live(), Labels(""));
}

TEST_F(OwnershipTest, WhatAnUpdateTookIsNotRemovedByTheApplier) {
  Apply("a", Labels(R"("x":"1")"));
  Update("u", Labels(R"("x":"2")"));
  EXPECT_EQ(FieldsOwnedBy("a"), "");
  Apply("a", Labels(R"("z":"1")"));
  EXPECT_EQ(live(), Labels(R"("x":"2","z":"1")"));
}

TEST_F(OwnershipTest, AnUntrackedObjectIsOwnedByWhoCameBeforeTheFirstApply) {
  live_ = *api::ParseJson(Labels(R"("x":"1")"));
  Update("u", Labels(R"("x":"2")"));
  EXPECT_EQ(managed_, nullptr) << "updates do not begin it";
  const std::vector<FieldConflict> conflicts = Apply("a", Labels(R"("x":"3","y":"1")"));
  ASSERT_THAT(conflicts, SizeIs(1));
  EXPECT_EQ(conflicts[0].manager, "\"before-first-apply\" using v1");
}

TEST_F(OwnershipTest, TimesMoveOnlyWithTheObject) {
  Apply("a", Labels(R"("x":"1")"));
  const ManagedFieldsPtr before = managed_;
  now_ += absl::Seconds(5);
  Apply("a", Labels(R"("x":"1")"));
  EXPECT_EQ(managed_, before);
  Apply("b", Labels(R"("x":"1")"));
  ASSERT_THAT(*managed_, SizeIs(2));
  EXPECT_EQ((*managed_)[0].seconds, 0) << "it joined without changing anything: kube-apiserver says no time either";
  Update("u", Labels(R"("x":"1","y":"2")"));
  EXPECT_EQ(managed_->back().seconds, absl::ToUnixSeconds(now_));
}

TEST_F(OwnershipTest, MoreThanTenUpdatersBecomeAncientChanges) {
  Update("first", Labels(R"("a":"1")"));
  for (int i = 0; i < 12; ++i) {
    now_ += absl::Seconds(1);
    json::value next = live_;
    next.as_object()["metadata"].as_object()["labels"].as_object()[absl::StrCat("l", i)] = "1";
    Update(absl::StrCat("m", i), next);
  }
  EXPECT_THAT(*managed_, SizeIs(10));
  EXPECT_EQ((*managed_)[0].manager, "ancient-changes");
  EXPECT_EQ(*(*managed_)[0].fields, R"({"f:metadata":{"f:labels":{".":{},"f:a":{},"f:l0":{},"f:l1":{},"f:l2":{}}}})");
}

TEST_F(OwnershipTest, ObjectsMadeAlikeShareTheirTexts) {
  Update("u", Labels(R"("x":"1")"));
  const Bytes first = (*managed_)[0].fields;
  live_ = nullptr;
  managed_ = nullptr;
  Update("u", Labels(R"("x":"2")"));
  EXPECT_EQ((*managed_)[0].fields, first);
}

// No empty lists: they name nothing, so an apply may leave them out (of Kubernetes, too). Random labels, annotations,
// finalizers, containers with environment and ports.
json::value RandomPod(std::mt19937& random, bool whole) {
  const auto coin = [&] { return random() % 2 == 0; };
  json::object metadata, spec;
  const auto texts = [&] {
    json::object out;
    for (const char* name : {"a", "b", "c"}) {
      if (coin()) out[name] = absl::StrCat(random() % 2);
    }
    return out;
  };
  if (coin()) metadata["labels"] = texts();
  if (coin()) metadata["annotations"] = texts();
  if (coin()) {
    json::array finalizers;
    for (const char* name : {"x/a", "x/b", "x/c"}) {
      if (coin()) finalizers.emplace_back(name);
    }
    if (!finalizers.empty()) metadata["finalizers"] = finalizers;
  }
  json::array containers;
  for (const char* name : {"one", "two", "three"}) {
    if (!coin()) continue;
    json::object container{{"name", name}};
    if (whole || coin()) container["image"] = absl::StrCat("i", random() % 2);
    if (coin()) container["command"] = json::array{absl::StrCat(random() % 2)};
    json::array env, ports;
    for (const char* variable : {"A", "B"}) {
      if (coin()) env.push_back(json::object{{"name", variable}, {"value", absl::StrCat(random() % 2)}});
    }
    for (const int port : {80, 443}) {
      if (coin()) ports.push_back(json::object{{"containerPort", port}, {"protocol", coin() ? "TCP" : "UDP"}});
    }
    if (!env.empty()) container["env"] = env;
    if (!ports.empty()) container["ports"] = ports;
    containers.push_back(container);
  }
  if (!containers.empty()) spec["containers"] = containers;
  if (coin()) spec["nodeSelector"] = texts();
  json::object out;
  if (!metadata.empty()) out["metadata"] = metadata;
  if (!spec.empty()) out["spec"] = spec;
  return out;
}

TEST_F(OwnershipTest, RandomHistoriesKeepThePromises) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    live_ = nullptr;
    managed_ = nullptr;
    for (int step = 0; step < 12; ++step) {
      now_ += absl::Seconds(1);
      const std::string manager = absl::StrCat("m", random() % 3);
      if (random() % 3 == 0) {
        Update(manager, RandomPod(random, true));
        continue;
      }
      const json::value config = RandomPod(random, false);
      if (!Mistakes(config, type_).empty()) continue;
      const json::value before = live_;
      const ManagedFieldsPtr managed_before = managed_;
      if (!Apply(manager, config).empty()) {
        ASSERT_EQ(live_, before) << seed;
        ASSERT_EQ(managed_, managed_before) << seed;
        ASSERT_THAT(Apply(manager, config, true), IsEmpty()) << seed;
      }
      // Everything that was applied is there, as it was applied: laying it over once more changes nothing.
      ASSERT_TRUE(Equal(Merge(live_, config, type_), live_)) << seed << ": " << api::ToJson(config) << " in " << live();
      // The applier owns what it named.
      const FieldSet named = FieldsOf(config, type_);
      const std::string owned = FieldsOwnedBy(manager);
      if (!named.Empty()) {
        std::optional<FieldSet> mine;
        for (const ManagedEntry& entry : *managed_) {
          if (entry.manager == manager && entry.applied)
            mine = FieldSet::FromFieldsV1(absl::string_view(*entry.fields));
        }
        ASSERT_TRUE(mine.has_value()) << seed;
        ASSERT_EQ(*mine,
                  FieldSet::Difference(named, *FieldSet::FromFieldsV1(absl::string_view(R"({"f:metadata":{}})"))))
            << seed;
      }
      // Again is nothing.
      const json::value once = live_;
      const ManagedFieldsPtr managed_once = managed_;
      now_ += absl::Seconds(1);
      ASSERT_THAT(Apply(manager, config), IsEmpty()) << seed;
      ASSERT_TRUE(Equal(live_, once)) << seed << ": " << live() << " was " << api::ToJson(once);
      ASSERT_EQ(managed_, managed_once) << seed;
    }
  }
}

// What is remembered changes no answer.
TEST_F(OwnershipTest, AFreshOneAnswersTheSame) {
  std::mt19937 random(3);
  for (int step = 0; step < 500; ++step) {
    const json::value next = RandomPod(random, true);
    Ownership fresh;
    const ManagedFieldsPtr expected =
        fresh.AfterUpdate(managed_, live_.is_null() ? nullptr : &live_, next, By(absl::StrCat("m", step % 4)));
    Update(absl::StrCat("m", step % 4), next);
    ASSERT_TRUE(SameButTimes(managed_, expected)) << step;
  }
}

// What is remembered of sets that were combined is bounded by its bytes.
TEST_F(OwnershipTest, LargeSetsAreForgotten) {
  const auto labels = [](int from) {
    json::object all;
    for (int i = from; i < from + 2'000; ++i) all[absl::StrCat("key-of-some-length-", i)] = "v";
    return json::value{{"metadata", {{"labels", std::move(all)}}}};
  };
  Update("a", labels(0));
  Update("b", labels(1));
  const std::weak_ptr<const std::string> first = managed_->front().fields;
  for (int i = 2; i < 200; ++i) Update(i % 2 == 0 ? "a" : "b", labels(i));
  EXPECT_TRUE(first.expired());
}

}  // namespace
}  // namespace gangway::sandbox::apply
