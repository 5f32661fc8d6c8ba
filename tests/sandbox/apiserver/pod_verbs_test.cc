// Binding, eviction and logs.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

class BindingTest : public ServerTest {
 protected:
  void SetUp() override { ASSERT_EQ(Post(kPods, PodJson("p")).code, 201); }
  std::string Path(absl::string_view pod = "p") { return absl::StrCat(kPods, "/", pod, "/binding"); }
};

TEST_F(BindingTest, SetsTheNodeAndTheCondition) {
  const Answer bound = Bind("p", "n1");
  EXPECT_EQ(bound.code, 201);
  EXPECT_EQ(bound.Text("status"), "Success");
  const Answer pod = Get(PodPath("p"));
  EXPECT_EQ(pod.Text("spec.nodeName"), "n1");
  EXPECT_EQ(pod.Text("status.conditions.0.type"), "PodScheduled");
  EXPECT_EQ(pod.Text("status.conditions.0.status"), "True");
  EXPECT_EQ(pod.Text("metadata.generation"), "1");
  EXPECT_EQ(journal_.back().subresource, "binding");
}

TEST_F(BindingTest, RefusedTwice) {
  Bind("p", "n1");
  const std::uint64_t before = revision();
  for (const char* node : {"n1", "n2"}) {
    const Answer again = Bind("p", node);
    EXPECT_EQ(again.code, 409);
    EXPECT_EQ(again.Text("reason"), "Conflict");
    EXPECT_EQ(again.Text("message"),
              "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"");
  }
  EXPECT_EQ(revision(), before);
}

TEST_F(BindingTest, RefusedWhileDeleting) {
  Post(kPods, PodJson("held", R"(,"finalizers":["x.io/a"])"));
  Delete(PodPath("held"));
  const Answer refused = Bind("held", "n1");
  EXPECT_EQ(refused.code, 409);
  EXPECT_THAT(refused.Text("message"), HasSubstr("is being deleted"));
}

struct BindingCase {
  const char* name;
  const char* body;
  int code;
  const char* says;
};
class BadBindingTest : public ServerTest, public ::testing::WithParamInterface<BindingCase> {};
TEST_P(BadBindingTest, IsRefused) {
  ASSERT_EQ(Post(kPods, PodJson("p", "", R"(,"schedulingGates":[{"name":"g"}])")).code, 201);
  const std::uint64_t before = revision();
  const Answer refused = Post(absl::StrCat(kPods, "/p/binding"), GetParam().body);
  EXPECT_EQ(refused.code, GetParam().code) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr(GetParam().says));
  EXPECT_EQ(refused.Text("kind"), "Status");
  EXPECT_EQ(revision(), before);
}
INSTANTIATE_TEST_SUITE_P(
    All, BadBindingTest,
    ::testing::Values(
        BindingCase{"OtherName", R"({"metadata":{"name":"q"},"target":{"name":"n"}})", 400, "name in URL"},
        BindingCase{"OtherKind", R"({"target":{"kind":"Pod","name":"n"}})", 500, "target.kind"},
        BindingCase{"NoNode", R"({"target":{"kind":"Node","name":""}})", 500, "target.name"},
        BindingCase{"OtherUid", R"({"metadata":{"uid":"x"},"target":{"name":"n"}})", 409, "UID"},
        BindingCase{"OldVersion", R"({"metadata":{"resourceVersion":"1"},"target":{"name":"n"}})", 409, "modified"},
        BindingCase{"Gated", R"({"target":{"name":"n"}})", 409, "schedulingGates"},
        BindingCase{"WrongType", R"({"kind":"Pod","target":{"name":"n"}})", 400, "kind"},
        BindingCase{"NotJson", "{", 400, "line 1"}),
    [](const auto& c) { return c.param.name; });

TEST_F(BindingTest, OfAPodThatIsNotThere) { EXPECT_EQ(Bind("nobody", "n").code, 404); }

class EvictionTest : public ServerTest {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      ASSERT_EQ(Post(kPods, PodJson(name, R"(,"labels":{"app":"web"})")).code, 201);
      ASSERT_EQ(Bind(name, "n").code, 201);
      ASSERT_EQ(Patch(PodPath(name) + "/status",
                      R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})")
                    .code,
                200);
    }
  }
  Answer Evict(absl::string_view name, absl::string_view more = {}) {
    return Post(
        absl::StrCat(kPods, "/", name, "/eviction"),
        absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", name, "\"}", more, "}"));
  }
  void Guard(absl::string_view rule) {
    ASSERT_EQ(Post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                   absl::StrCat(R"({"metadata":{"name":"guard"},"spec":{"selector":{"matchLabels":{"app":"web"}},)",
                                rule, "}}"))
                  .code,
              201);
  }
};

TEST_F(EvictionTest, MarksThePodAndSaysWhy) {
  EXPECT_EQ(Evict("a").code, 201);
  const Answer pod = Get(PodPath("a"));
  EXPECT_NE(pod.Text("metadata.deletionTimestamp"), "");
  EXPECT_THAT(pod.body, HasSubstr(R"("type":"DisruptionTarget")"));
  EXPECT_THAT(pod.body, HasSubstr(R"("reason":"EvictionByEvictionAPI")"));
}

TEST_F(EvictionTest, ABudgetRefusesWhatItCannotSpare) {
  Guard(R"("minAvailable":2)");
  const std::uint64_t before = revision();
  const Answer refused = Evict("a");
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(refused.Text("reason"), "TooManyRequests");
  EXPECT_EQ(refused.Text("details.causes.0.reason"), "DisruptionBudget");
  EXPECT_EQ(refused.Text("details.causes.0.message"),
            "The disruption budget guard needs 2 healthy pods and has 2 currently");
  EXPECT_FALSE(refused.retry_after.has_value()) << "nobody knows when the budget will have room";
  EXPECT_EQ(revision(), before);
}

TEST_F(EvictionTest, ABudgetLetsGoWhatItCan) {
  Guard(R"("maxUnavailable":"50%")");
  EXPECT_EQ(Evict("a").code, 201);
  EXPECT_EQ(Evict("b").code, 429);
}

TEST_F(EvictionTest, EndedPodsAreNobodysLoss) {
  Guard(R"("minAvailable":2)");
  ASSERT_EQ(Patch(PodPath("a") + "/status", R"({"status":{"phase":"Failed"}})").code, 200);
  EXPECT_EQ(Evict("a").code, 201);
  EXPECT_EQ(Get(PodPath("a")).code, 404);
}

TEST_F(EvictionTest, Preconditions) {
  EXPECT_EQ(Evict("a", R"(,"deleteOptions":{"preconditions":{"uid":"x"}})").code, 409);
  EXPECT_EQ(Get(PodPath("a")).Text("metadata.deletionTimestamp"), "");
  EXPECT_EQ(Evict("nobody").code, 404);
}

class LogTest : public ServerTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(Post(kPods, PodJson("p")).code, 201);
    server_.SetPodLogs([](const sandbox::LogQuery& query) -> absl::StatusOr<std::string> {
      if (query.previous) return absl::InvalidArgumentError("previous terminated container not found");
      return absl::StrCat(query.ns, "/", query.pod, "/", query.container, "@", query.node, " ",
                          query.tail_lines.value_or(-1), "\n");
    });
  }
  std::string Path() { return PodPath("p") + "/log"; }
};

TEST_F(LogTest, PlainTextFromTheNode) {
  EXPECT_EQ(Get(Path()).code, 204);  // no node has it yet
  Bind("p", "n1");
  const Answer log = Do("GET", Path(), "", {.query = "tailLines=3", .accept = "text/plain, */*"});
  EXPECT_EQ(log.code, 200);
  EXPECT_EQ(log.content_type, "text/plain");
  EXPECT_EQ(log.body, "default/p/main@n1 3\n");
}

TEST_F(LogTest, Refusals) {
  Bind("p", "n1");
  EXPECT_EQ(Get(Path(), "container=none").code, 400);
  EXPECT_EQ(Get(Path(), "tailLines=x").code, 400);
  EXPECT_EQ(Get(Path(), "tailLines=-1").code, 422);
  EXPECT_EQ(Get(Path(), "sinceSeconds=1&sinceTime=2026-11-21T05:11:53Z").code, 422);
  EXPECT_EQ(Get(Path(), "sinceTime=yesterday").code, 400);
  EXPECT_EQ(Get(Path(), "follow=true").code, 200);
  EXPECT_THAT(Get(Path(), "previous=true").body, HasSubstr("previous terminated container"));
  EXPECT_EQ(Get(PodPath("nobody") + "/log").code, 404);
  EXPECT_EQ(Do("POST", Path()).code, 405);
}

}  // namespace
}  // namespace gangway::testutil
