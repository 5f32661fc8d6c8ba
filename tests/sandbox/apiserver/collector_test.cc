// Owner references: background, foreground and orphaning deletions, and owners that are not there.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CollectorTest : public ServerTest {
 protected:
  std::string Owner(absl::string_view name, absl::string_view uid, bool blocks = false) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","name":")", name, R"(","uid":")", uid, R"(")",
                        blocks ? R"(,"blockOwnerDeletion":true)" : "", "}");
  }
  std::string Owned(absl::string_view owners) { return absl::StrCat(R"(,"ownerReferences":[)", owners, "]"); }
  std::string Make(absl::string_view name, absl::string_view more = {}) {
    const Answer created = Post(kConfigMaps, ConfigMapJson(name, more));
    EXPECT_EQ(created.code, 201) << created.body;
    return created.Text("metadata.uid");
  }
  bool There(absl::string_view name) { return Get(Path(name)).code == 200; }
  std::string Path(absl::string_view name) { return absl::StrCat(kConfigMaps, "/", name); }
};

TEST_F(CollectorTest, BackgroundCascadesThroughGenerations) {
  const std::string a = Make("a");
  const std::string b = Make("b", Owned(Owner("a", a)));
  Make("c", Owned(Owner("b", b)));
  Settle();
  EXPECT_EQ(Delete(Path("a"), R"({"propagationPolicy":"Background"})").code, 200);
  EXPECT_FALSE(There("a"));
  EXPECT_TRUE(There("b")) << "the owner goes first";
  Settle();
  EXPECT_FALSE(There("b"));
  EXPECT_FALSE(There("c"));
  EXPECT_EQ(journal_.back().client, "garbage-collector");
}

TEST_F(CollectorTest, ForegroundWaitsForTheDependentsThatBlock) {
  const std::string a = Make("a");
  Make("b", absl::StrCat(R"(,"finalizers":["x.io/hold"])", Owned(Owner("a", a, true))));
  Make("c", Owned(Owner("a", a, false)));
  const Answer marked = Delete(Path("a"), R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(marked.code, 200);
  EXPECT_EQ(marked.Text("metadata.finalizers.0"), "foregroundDeletion");
  Settle();
  EXPECT_FALSE(There("c"));
  EXPECT_NE(Get(Path("b")).Text("metadata.deletionTimestamp"), "");
  EXPECT_TRUE(There("a")) << "b blocks it";
  ASSERT_EQ(Patch(Path("b"), R"({"metadata":{"finalizers":null}})").code, 200);
  Settle();
  EXPECT_FALSE(There("b"));
  EXPECT_FALSE(There("a"));
}

TEST_F(CollectorTest, ForegroundOfAJobEndsWithItsPods) {
  const Answer job = Post(kJobs, JobJson("j"));
  ASSERT_EQ(job.code, 201) << job.body;
  const std::string owner = absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":")",
                                         job.Text("metadata.uid"), R"(","controller":true,"blockOwnerDeletion":true})");
  ASSERT_EQ(Post(kPods, PodJson("p", Owned(owner))).code, 201);
  ASSERT_EQ(Bind("p", "n").code, 201);
  ASSERT_EQ(Delete(absl::StrCat(kJobs, "/j"), "", "propagationPolicy=Foreground").code, 200);
  Settle();
  EXPECT_NE(Get(PodPath("p")).Text("metadata.deletionTimestamp"), "");
  EXPECT_EQ(Get(absl::StrCat(kJobs, "/j")).code, 200);
  ASSERT_EQ(Delete(PodPath("p"), R"({"gracePeriodSeconds":0})").code, 200);
  Settle();
  EXPECT_EQ(Get(absl::StrCat(kJobs, "/j")).code, 404);
}

TEST_F(CollectorTest, OrphansStayWithoutTheirOwner) {
  const std::string a = Make("a");
  Make("b", Owned(Owner("a", a)));
  EXPECT_EQ(Delete(Path("a"), R"({"propagationPolicy":"Orphan"})").code, 200);
  Settle();
  EXPECT_FALSE(There("a"));
  ASSERT_TRUE(There("b"));
  EXPECT_THAT(Get(Path("b")).body, Not(HasSubstr("ownerReferences")));
}

TEST_F(CollectorTest, DependentsOfAnOwnerThatNeverWasGo) {
  Make("b", Owned(Owner("nobody", "no-such-uid")));
  const std::string a = Make("a");
  Make("c", Owned(Owner("a", "an-earlier-uid")));
  Make("d", Owned(Owner("a", a)));
  Settle();
  EXPECT_TRUE(There("b")) << "whoever makes it anew each time it goes must not do so for ever at one moment";
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_FALSE(There("b"));
  EXPECT_FALSE(There("c")) << "a of today is not the owner it named";
  EXPECT_TRUE(There("d"));
}

TEST_F(CollectorTest, OneLivingOwnerIsEnough) {
  const std::string a = Make("a"), z = Make("z");
  Make("b", Owned(absl::StrCat(Owner("a", a), ",", Owner("z", z))));
  Delete(Path("a"));
  Settle();
  ASSERT_TRUE(There("b"));
  EXPECT_EQ(Get(Path("b")).json().Size("metadata.ownerReferences"), 1u);
  EXPECT_EQ(Get(Path("b")).Text("metadata.ownerReferences.0.name"), "z");
  Delete(Path("z"));
  Settle();
  EXPECT_FALSE(There("b"));
}

TEST_F(CollectorTest, OwnersOfKindsWeDoNotKnowAreLeftAlone) {
  Make("b", Owned(R"({"apiVersion":"example.com/v1","kind":"Widget","name":"w","uid":"u"})"));
  Settle();
  EXPECT_TRUE(There("b"));
}

TEST_F(CollectorTest, ADependentThatComesLateIsSeenByTheForegroundDeletion) {
  const std::string a = Make("a");
  Make("b", absl::StrCat(R"(,"finalizers":["x.io/hold"])", Owned(Owner("a", a, true))));
  Delete(Path("a"), R"({"propagationPolicy":"Foreground"})");
  Settle();
  Make("late", Owned(Owner("a", a, true)));
  Settle();
  EXPECT_FALSE(There("late"));
  EXPECT_TRUE(There("a"));
}

}  // namespace
}  // namespace gangway::testutil
