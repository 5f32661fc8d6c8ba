#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// What one watch was told: "ADDED a@5", "BOOKMARK @9".
struct Seen {
  std::vector<std::string> frames;
  std::vector<Bytes> objects;
  std::optional<absl::Status> end;
  std::unique_ptr<kube::Watch> watch;
  std::optional<kube::Response> refused;
};

class WatchTest : public ServerTest {
 protected:
  std::unique_ptr<Seen> Watch(absl::string_view path, std::string query, std::string accept = {}) {
    auto seen = std::make_unique<Seen>();
    kube::Request request;
    request.method = "GET";
    request.path = std::string(path);
    request.query = absl::StrCat("watch=true", query.empty() ? "" : "&", query);
    request.accept = std::move(accept);
    EXPECT_TRUE(sandbox::ApiServer::IsWatch(request));
    auto answer = server_.StartWatch(
        request, {"test"},
        [s = seen.get()](std::vector<kube::Frame> frames) {
          static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
          for (const kube::Frame& frame : frames) {
            const Json object(*frame.object);
            s->frames.push_back(absl::StrCat(kNames[static_cast<int>(frame.type)], " ", object.Text("metadata.name"),
                                             "@", object.Text("metadata.resourceVersion")));
            s->objects.push_back(frame.object);
          }
        },
        [s = seen.get()](absl::Status status) { s->end = status; });
    seen->watch = std::move(answer.watch);
    seen->refused = std::move(answer.refused);
    return seen;
  }
  std::string At(int back = 0) { return absl::StrCat("@", revision() - static_cast<std::uint64_t>(back)); }
};

TEST_F(WatchTest, TellsEachChangeOnceAndInOrder) {
  const auto seen = Watch(kConfigMaps, absl::StrCat("resourceVersion=", revision()));
  Post(kConfigMaps, ConfigMapJson("a"));
  Patch(absl::StrCat(kConfigMaps, "/a"), R"({"data":{"a":"2"}})");
  Post(kPods, PodJson("other-resource"));
  Delete(absl::StrCat(kConfigMaps, "/a"));
  EXPECT_THAT(seen->frames, IsEmpty()) << "nothing is told from within the write";
  Settle();
  EXPECT_THAT(seen->frames, ElementsAre("ADDED a" + At(3), "MODIFIED a" + At(2), "DELETED a" + At(0)));
}

TEST_F(WatchTest, WithoutARevisionItBeginsWithWhatIsThere) {
  Post(kConfigMaps, ConfigMapJson("a"));
  const auto seen = Watch(kConfigMaps, "");
  Post(kConfigMaps, ConfigMapJson("b"));
  Settle();
  EXPECT_THAT(seen->frames, ElementsAre("ADDED a" + At(1), "ADDED b" + At(0)));
}

TEST_F(WatchTest, WhoIsToldTheSameSharesIt) {
  Post(kConfigMaps, ConfigMapJson("a"));
  const auto first = Watch(kConfigMaps, ""), second = Watch(kConfigMaps, "");
  Settle();
  ASSERT_EQ(first->objects.size(), 1u);
  ASSERT_EQ(second->objects.size(), 1u);
  EXPECT_EQ(first->objects[0], second->objects[0]);
  EXPECT_TRUE(Json(*first->objects[0]).Has("metadata.managedFields"));
  Delete(absl::StrCat(kConfigMaps, "/a"));
  Settle();
  EXPECT_THAT(first->frames, ElementsAre("ADDED a" + At(1), "DELETED a" + At(0)));
}

TEST_F(WatchTest, ResumesBehindARevision) {
  Post(kConfigMaps, ConfigMapJson("a"));
  const std::string from = absl::StrCat(revision());
  Post(kConfigMaps, ConfigMapJson("b"));
  Delete(absl::StrCat(kConfigMaps, "/a"));
  const auto seen = Watch(kConfigMaps, "resourceVersion=" + from);
  Settle();
  EXPECT_THAT(seen->frames, ElementsAre("ADDED b" + At(1), "DELETED a" + At(0)));
}

TEST_F(WatchTest, TooOldIsGone) {
  Post(kConfigMaps, ConfigMapJson("a"));
  const std::string from = absl::StrCat(revision() - 1);
  server_.CompactHistory();
  const auto seen = Watch(kConfigMaps, "resourceVersion=" + from);
  Settle();
  ASSERT_EQ(seen->objects.size(), 1u);
  EXPECT_THAT(seen->frames[0], StartsWith("ERROR"));
  const Json status(*seen->objects[0]);
  EXPECT_EQ(status.Text("code"), "410");
  EXPECT_EQ(status.Text("reason"), "Expired");
  EXPECT_THAT(status.Text("message"), StartsWith("too old resource version"));
  EXPECT_TRUE(seen->end.has_value() && seen->end->ok());
  // The latest one is never too old.
  EXPECT_NE(Watch(kConfigMaps, absl::StrCat("resourceVersion=", revision()))->watch, nullptr);
}

TEST_F(WatchTest, ASelectorMakesAdditionsAndDeletionsOfChanges) {
  const auto seen = Watch(kConfigMaps, absl::StrCat("labelSelector=tier%3Dweb&resourceVersion=", revision()));
  const std::string path = absl::StrCat(kConfigMaps, "/a");
  Post(kConfigMaps, ConfigMapJson("a"));
  Patch(path, R"({"metadata":{"labels":{"tier":"web"}}})");
  Patch(path, R"({"data":{"a":"9"}})");
  Patch(path, R"({"metadata":{"labels":{"tier":"db"}}})");
  Patch(path, R"({"data":{"a":"10"}})");
  Delete(path);
  Settle();
  EXPECT_THAT(seen->frames, ElementsAre("ADDED a" + At(4), "MODIFIED a" + At(3), "DELETED a" + At(2)));
  // The last state that matched, at the revision of the change.
  EXPECT_EQ(Json(*seen->objects.back()).Text("metadata.labels.tier"), "web");
}

TEST_F(WatchTest, PodsOfOneNode) {
  const auto n1 = Watch(kPods, absl::StrCat("fieldSelector=spec.nodeName%3Dn1&resourceVersion=", revision()));
  const auto n2 = Watch("/api/v1/pods", absl::StrCat("fieldSelector=spec.nodeName%3Dn2&resourceVersion=", revision()));
  Post(kPods, PodJson("p"));
  Post(kPods, PodJson("q"));
  Bind("p", "n1");
  const std::string bound = At();
  Delete(PodPath("p"), R"({"gracePeriodSeconds":0})");
  Settle();
  EXPECT_THAT(n1->frames, ElementsAre("ADDED p" + bound, "DELETED p" + At()));
  EXPECT_THAT(n2->frames, IsEmpty());
}

TEST_F(WatchTest, OneObjectByNameAndOneNamespace) {
  const auto named = Watch(absl::StrCat(kConfigMaps, "/a"), "");
  const auto other = Watch("/api/v1/namespaces/kube-system/configmaps", "");
  Post(kConfigMaps, ConfigMapJson("a"));
  Post(kConfigMaps, ConfigMapJson("b"));
  Settle();
  EXPECT_THAT(named->frames, ElementsAre("ADDED a" + At(1)));
  EXPECT_THAT(other->frames, IsEmpty());
}

TEST_F(WatchTest, BookmarksMoveAQuietWatchOn) {
  const auto seen = Watch(kConfigMaps, absl::StrCat("allowWatchBookmarks=true&resourceVersion=", revision()));
  const auto deaf = Watch(kConfigMaps, absl::StrCat("resourceVersion=", revision()));
  Post(kPods, PodJson("p"));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_THAT(seen->frames, ElementsAre("BOOKMARK " + At()));
  EXPECT_EQ(Json(*seen->objects[0]).Text("kind"), "ConfigMap");
  EXPECT_THAT(deaf->frames, IsEmpty());
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(seen->frames.size(), 1u) << "a quiet cluster has nothing to say";
}

TEST_F(WatchTest, InitialEventsEndWithAMark) {
  Post(kConfigMaps, ConfigMapJson("a"));
  const auto seen =
      Watch(kConfigMaps, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  Settle();
  ASSERT_THAT(seen->frames, ElementsAre("ADDED a" + At(), "BOOKMARK " + At()));
  EXPECT_NE(seen->objects[1]->find(R"("k8s.io/initial-events-end":"true")"), std::string::npos);
  EXPECT_EQ(Watch(kConfigMaps, "sendInitialEvents=true")->refused->code, 422);
}

TEST_F(WatchTest, TimeoutEndsItInOrder) {
  const auto seen = Watch(kConfigMaps, absl::StrCat("timeoutSeconds=5&resourceVersion=", revision()));
  loop_.RunFor(absl::Seconds(4));
  EXPECT_FALSE(seen->end.has_value());
  loop_.RunFor(absl::Seconds(2));
  ASSERT_TRUE(seen->end.has_value());
  EXPECT_TRUE(seen->end->ok());
}

TEST_F(WatchTest, ADestroyedWatchHearsNothing) {
  auto seen = Watch(kConfigMaps, "");
  Post(kConfigMaps, ConfigMapJson("a"));
  seen->watch.reset();
  Settle();
  EXPECT_THAT(seen->frames, IsEmpty());
  EXPECT_FALSE(seen->end.has_value());
}

TEST_F(WatchTest, BrokenWatchesGetWhatWasWaitingThenTheEnd) {
  const auto seen = Watch(kConfigMaps, "");
  Post(kConfigMaps, ConfigMapJson("a"));
  server_.BreakWatches();
  Settle();
  EXPECT_EQ(seen->frames.size(), 1u);
  EXPECT_TRUE(seen->end.has_value());
  Post(kConfigMaps, ConfigMapJson("b"));
  Settle();
  EXPECT_EQ(seen->frames.size(), 1u);
}

TEST_F(WatchTest, TablesRowByRow) {
  const auto seen = Watch(kConfigMaps, "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  Post(kConfigMaps, ConfigMapJson("a"));
  Post(kConfigMaps, ConfigMapJson("b"));
  Settle();
  ASSERT_EQ(seen->objects.size(), 2u);
  const Json first(*seen->objects[0]), second(*seen->objects[1]);
  EXPECT_EQ(first.Text("kind"), "Table");
  EXPECT_GT(first.Size("columnDefinitions"), 0u);
  EXPECT_EQ(second.Size("columnDefinitions"), 0u);
  EXPECT_EQ(second.Size("rows"), 1u);
}

TEST_F(WatchTest, BadRequestsAreRefusedBeforeTheStream) {
  EXPECT_EQ(Watch(kConfigMaps, "resourceVersion=abc")->refused->code, 400);
  EXPECT_EQ(Watch(kConfigMaps, "labelSelector=%3D%3D")->refused->code, 400);
  EXPECT_EQ(Watch(kConfigMaps, "fieldSelector=spec.x%3D1")->refused->code, 400);
  EXPECT_EQ(Watch("/api/v1/widgets", "")->refused->code, 404);
}

TEST_F(WatchTest, FromARevisionToComeItTellsNothingBeforeIt) {
  const auto seen = Watch(kConfigMaps, absl::StrCat("resourceVersion=", revision() + 1));
  Post(kConfigMaps, ConfigMapJson("a"));
  Post(kConfigMaps, ConfigMapJson("b"));
  Settle();
  EXPECT_THAT(seen->frames, ElementsAre("ADDED b" + At(0)));
}

}  // namespace
}  // namespace gangway::testutil
