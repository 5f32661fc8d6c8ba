#include "kube/runtime/informers.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "kube/client/status.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testutil::FakeClient;
using testutil::Reply;

struct Fruit {
  api::ObjectMeta metadata;
  std::int32_t seeds = 0;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Fruit";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Fruit::metadata>("metadata", ""),
                           api::MakeField<&Fruit::seeds>("seeds", ""));
  }
};
struct Vegetable {
  api::ObjectMeta metadata;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Vegetable";
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&Vegetable::metadata>("metadata", "")); }
};

std::string FruitText(absl::string_view name, int version, absl::string_view seeds = "0") {
  return absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"default","uid":"u-)", name,
                      R"(","resourceVersion":")", version, R"("},"seeds":)", seeds, "}");
}
std::string ListText(int version, const std::vector<std::string>& items = {}) {
  return absl::StrCat(R"({"metadata":{"resourceVersion":")", version, R"("},"items":[)", absl::StrJoin(items, ","),
                      "]}");
}

class InformersTest : public ::testing::Test {
 protected:
  // Lists in the order they were asked for, each of the items given for its plural.
  void AnswerLists() {
    client_.SetHandler([this](const Request& request) -> std::optional<absl::StatusOr<Response>> {
      if (request.path == unanswered_) return std::nullopt;
      return Reply(200, request.path == "/api/v1/pods" ? ListText(10, pods_) : ListText(10));
    });
  }
  std::vector<std::string> Lists() {
    std::vector<std::string> lists;
    for (const Request& request : client_.requests()) lists.push_back(absl::StrCat(request.path, "?", request.query));
    return lists;
  }
  Informer<Fruit>::OnChange Note(std::string who) {
    return [this, who = std::move(who)](const auto& key, const auto& before, const auto& after) {
      told_.push_back(
          absl::StrCat(who, " ", key.name, before == nullptr ? "" : " changed", after == nullptr ? " gone" : ""));
      seen_.push_back(after);
    };
  }
  void Settle() { loop_.RunUntilIdle(); }
  std::vector<std::string> Told() { return std::exchange(told_, {}); }

  SimulatedLoop loop_{1};
  FakeClient client_{loop_};
  std::vector<std::string> pods_ = {FruitText("a", 3)}, told_;
  std::string unanswered_;
  std::vector<Informer<Fruit>::Object> seen_;
  Informers informers_{loop_, client_};
  Owner owner_;
};

TEST_F(InformersTest, ThoseWhoAskForTheSameShareOneWatchAndOneObject) {
  AnswerLists();
  informers_.Of<Fruit>(api::kPods).Listen(owner_.token(), Note("first"));
  informers_.Of<Fruit>(api::kPods).Listen(owner_.token(), Note("second"));
  informers_.Start();
  Settle();
  EXPECT_THAT(Lists(), ElementsAre("/api/v1/pods?limit=500"));
  EXPECT_EQ(client_.watches(), 1u);
  EXPECT_THAT(Told(), ElementsAre("first a", "second a")) << "in the order they came";
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0], seen_[1]) << "it was decoded once";
}

TEST_F(InformersTest, WhatDiffersIsNotShared) {
  Informer<Fruit>& all = informers_.Of<Fruit>(api::kPods);
  EXPECT_NE(&all, &informers_.Of<Fruit>(api::kPods, {.labels = "a"}));
  EXPECT_NE(&all, &informers_.Of<Fruit>(api::kPods, {.fields = "a"}));
  EXPECT_NE(&all, &informers_.Of<Fruit>(api::kPods, {.optional = true}));
  EXPECT_NE(&all, &informers_.Of<Fruit>(api::kPods, {.unless_forbidden = true}));
  EXPECT_NE(&all, &informers_.Of<Fruit>(api::kPods, {.everywhere = true}));
  EXPECT_NE(&all, &informers_.Of<Fruit>(api::kServices));
  EXPECT_NE(static_cast<AnyInformer*>(&all), &informers_.Of<Vegetable>(api::kPods));
  EXPECT_EQ(&all, &informers_.Of<Fruit>(api::kPods, {.keep = false}));
}

TEST_F(InformersTest, OneWhoKeepsObjectsIsEnough) {
  AnswerLists();
  Informer<Fruit>& kept = informers_.Of<Fruit>(api::kPods, {.keep = false});
  informers_.Of<Fruit>(api::kPods, {.keep = true});
  Informer<Fruit>& let_go = informers_.Of<Fruit>(api::kPods, {.labels = "x", .keep = false});
  informers_.Start();
  Settle();
  EXPECT_NE(kept.Get({"default", "a"}), nullptr);
  EXPECT_EQ(let_go.Get({"default", "a"}), nullptr);
  EXPECT_EQ(let_go.size(), 1u);
}

TEST_F(InformersTest, WhoIsGoneIsNotTold) {
  AnswerLists();
  auto gone = std::make_unique<Owner>();
  informers_.Of<Fruit>(api::kPods)
      .Listen(
          gone->token(), Note("gone"), [this] { told_.push_back("synced"); },
          [this](const auto&, const auto&) { told_.push_back("bad"); });
  informers_.Of<Fruit>(api::kPods).Listen(owner_.token(), Note("there"), nullptr, [this](const auto&, const auto&) {
    told_.push_back("bad, to who is there");
  });
  pods_.push_back(FruitText("b", 4, R"("many")"));
  informers_.Start();
  gone.reset();
  Settle();
  EXPECT_THAT(Told(), ElementsAre("there a", "bad, to who is there"));
}

TEST_F(InformersTest, OneIsToldOfWhatCannotBeRead) {
  AnswerLists();
  for (const std::string who : {"first", "second"}) {
    informers_.Of<Fruit>(api::kPods)
        .Listen(owner_.token(), Note(who), nullptr, [this, who](const auto& regarding, const auto&) {
          told_.push_back(who + " of bad " + regarding.name);
        });
  }
  pods_ = {FruitText("b", 4, R"("many")")};
  informers_.Start();
  Settle();
  EXPECT_THAT(Told(), ElementsAre("first of bad b"));
}

// One listener may end another.
TEST_F(InformersTest, WhoIsEndedByAnothersNewsIsNotTold) {
  AnswerLists();
  auto second = std::make_unique<Owner>();
  informers_.Of<Fruit>(api::kPods).Listen(owner_.token(), [&](const auto&, const auto&, const auto&) {
    second.reset();
  });
  informers_.Of<Fruit>(api::kPods).Listen(second->token(), Note("second"));
  informers_.Start();
  Settle();
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(InformersTest, AListIsAskedForWhenThoseBeforeItAreIn) {
  AnswerLists();
  unanswered_ = "/api/v1/pods";
  Informer<Fruit>& services = informers_.Of<Fruit>(api::kServices);
  Informer<Fruit>& pods = informers_.Of<Fruit>(api::kPods);
  Informer<Fruit>& nodes = informers_.Of<Fruit>(api::kNodes);
  services.After(pods);
  services.After(nodes);
  informers_.Start();
  Settle();
  EXPECT_THAT(Lists(), UnorderedElementsAre("/api/v1/pods?limit=500", "/api/v1/nodes?limit=500"));
  EXPECT_FALSE(services.synced());
  unanswered_.clear();
  client_.Answer(absl::StartsWith(Lists()[0], "/api/v1/pods") ? 0 : 1, Reply(200, ListText(10)));
  Settle();
  EXPECT_EQ(Lists().back(), "/api/v1/services?limit=500");
  EXPECT_TRUE(services.synced());
}

TEST_F(InformersTest, AReplyEntersOnceWhoeverWrote) {
  AnswerLists();
  informers_.Of<Fruit>(api::kPods).Listen(owner_.token(), Note("first"));
  informers_.Of<Fruit>(api::kPods).Listen(owner_.token(), Note("second"));
  informers_.Start();
  Settle();
  Told();
  Write write;
  write.resource = &api::kPods;
  write.ns = "default";
  write.name = "b";
  informers_.ObserveReply(write, Reply(201, FruitText("b", 11)));
  EXPECT_THAT(Told(), ElementsAre("first b", "second b"));
  informers_.ObserveReply(write, Reply(201, FruitText("b", 11)));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(InformersTest, OfNamedNamespacesOnlyTheseAreWatched) {
  AnswerLists();
  Informers informers(loop_, client_, nullptr, {"b", "a"});
  Informer<Fruit>& namespaces = informers.Of<Fruit>(api::kNamespaces);
  informers.Of<Fruit>(api::kPods);
  informers.Of<Fruit>(api::kPods, {.everywhere = true});
  informers.Of<Fruit>(api::kNodes);
  informers.Start();
  Settle();
  EXPECT_THAT(Lists(),
              UnorderedElementsAre("/api/v1/namespaces?limit=500&fieldSelector=metadata.name%3Da",
                                   "/api/v1/namespaces?limit=500&fieldSelector=metadata.name%3Db",
                                   "/api/v1/namespaces/a/pods?limit=500", "/api/v1/namespaces/b/pods?limit=500",
                                   "/api/v1/pods?limit=500", "/api/v1/nodes?limit=500"));
  EXPECT_EQ(namespaces.seen_up_to({"", "a"}), 10u);
  EXPECT_EQ(namespaces.seen_up_to({"", "c"}), 0u) << "nobody asked for it";
}

TEST_F(InformersTest, EachHasANameInDumps) {
  informers_.Of<Fruit>(api::kJobs);
  informers_.Of<Fruit>(api::kBatchJobs);
  informers_.Of<Fruit>(api::kPods, {.labels = "app"});
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject();
  informers_.DumpSizes(json);
  json.EndObject();
  EXPECT_EQ(out, R"({"jobs":0,"jobs.batch":0,"pods?app":0})");
}

// What is made for more than one component is made once, and anew when nobody holds it.
struct Counted {
  explicit Counted(Informers&) { ++made; }
  static inline int made = 0;
};

TEST_F(InformersTest, WhatIsSharedIsMadeOnceForThoseWhoHoldIt) {
  Counted::made = 0;
  auto first = informers_.Shared<Counted>();
  EXPECT_EQ(first, informers_.Shared<Counted>());
  EXPECT_EQ(Counted::made, 1);
  first.reset();
  first = informers_.Shared<Counted>();
  EXPECT_EQ(Counted::made, 2);
}

}  // namespace
}  // namespace gangway::kube
