// What one request may cost and leave behind: depth, size and work are bounded, and what is stored can be read.
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

constexpr const char* kForms[] = {"application/json", "application/json;as=Table;v=v1;g=meta.k8s.io",
                                  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"};

class LimitsTest : public ServerTest {
 protected:
  std::string one_ = absl::StrCat(kConfigMaps, "/c");

  // Every way to read an object, and writes that read what is there.
  void ExpectReadable(const std::string& path) {
    for (const char* accept : kForms) {
      EXPECT_EQ(Do("GET", path, {}, {.accept = accept}).code, 200) << accept;
    }
    EXPECT_EQ(Patch(path, R"({"metadata":{"labels":{"read":"yes"}}})").code, 200);
    EXPECT_EQ(Delete(path).code, 200);
  }
};

// `copies` copies of a value at `root` into its own depths, each by `step`: 2^copies levels.
std::string DoublingPatch(int copies, const std::string& root = "/x", const std::string& step = "/a") {
  std::string patch = absl::StrCat(R"([{"op":"add","path":")", root, R"(","value":{}})");
  std::size_t depth = 1;
  for (int i = 0; i < copies; ++i, depth *= 2) {
    std::string path = root;
    for (std::size_t level = 0; level < depth; ++level) path += step;
    absl::StrAppend(&patch, R"(,{"op":"copy","from":")", root, R"(","path":")", path, "\"}");
  }
  return patch + "]";
}

TEST_F(LimitsTest, CopiesIntoThemselvesGetNoDeeperThanABody) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  ASSERT_EQ(Post(kJobs, JobJson("j")).code, 201);
  const std::uint64_t before = revision();
  for (const int copies : {9, 12, 17}) {
    const Answer answer = Patch(one_, DoublingPatch(copies), "json", "fieldValidation=Ignore");
    EXPECT_EQ(answer.code, 422) << copies;
    EXPECT_EQ(answer.Text("reason"), "Invalid");
    EXPECT_THAT(answer.Text("message"), HasSubstr("deeper than 100 levels"));
    EXPECT_EQ(Patch(absl::StrCat(kJobs, "/j"), DoublingPatch(copies), "json", "fieldValidation=Ignore").code, 422);
  }
  EXPECT_EQ(revision(), before);
  EXPECT_EQ(Patch(one_, DoublingPatch(5), "json", "fieldValidation=Ignore").code, 200);
  ExpectReadable(one_);
}

// Whatever is patched into whatever: there is an answer, and what is stored can be read in every form.
TEST_F(LimitsTest, RandomPatchesLeaveWhatCanBeRead) {
  constexpr std::uint64_t kSeed = 20261122;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  const std::string deployment =
      R"({"metadata":{"name":"d","annotations":{"a":"b"},"labels":{"a":"b"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{)"
      R"("metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","args":["1"]}]}}}})";
  const std::string nested = absl::StrCat(std::string(60, '['), std::string(60, ']'));
  const std::vector<std::string> values = {R"({"a":{"a":{}}})", nested, "\"\\u0000\"", "1e308", "-0",
                                           "[1,[2]]",           "null", "{}",          "\"9\""};
  const std::vector<std::string> roots = {"",
                                          "/metadata",
                                          "/metadata/annotations",
                                          "/metadata/labels",
                                          "/spec",
                                          "/spec/template/spec/containers/0",
                                          "/status",
                                          "/metadata/managedFields",
                                          "/metadata/managedFields/0/fieldsV1",
                                          "/x"};
  const auto pointer = [&] {
    std::string out = roots[below(roots.size())];
    for (std::size_t i = below(4); i > 0; --i) out += std::vector<std::string>{"/a", "/0", "/-", "/f:spec"}[below(4)];
    return out;
  };
  int done = 0;
  for (int i = 0; i < 3'000; ++i) {
    if (i % 50 == 0) {
      Delete(path + "/d");
      ASSERT_EQ(Post(path, deployment).code, 201);
    }
    std::string patch;
    for (std::size_t n = 1 + below(2); n > 0; --n) {
      const std::string op = std::vector<std::string>{"add", "replace", "move", "copy", "copy", "remove"}[below(6)];
      absl::StrAppend(&patch, patch.empty() ? "" : ",", R"({"op":")", op, R"(","path":")", pointer(), R"(","from":")",
                      pointer(), R"(","value":)", values[below(values.size())], "}");
    }
    patch = absl::StrCat("[", patch, "]");
    if (below(30) == 0)
      patch =
          DoublingPatch(static_cast<int>(below(10)), roots[1 + below(roots.size() - 1)], below(2) == 0 ? "/a" : "/f:a");
    const Answer answer = Patch(path + "/d", patch, "json", "fieldValidation=Ignore");
    ASSERT_TRUE(answer.code == 200 || answer.code == 400 || answer.code == 409 || answer.code == 422)
        << answer.body << patch;
    done += answer.code == 200 ? 1 : 0;
    for (const char* accept : kForms) {
      ASSERT_EQ(Do("GET", path + "/d", {}, {.query = "includeObject=Object", .accept = accept}).code, 200) << patch;
    }
  }
  EXPECT_GT(done, 100);
}

TEST_F(LimitsTest, CopiesThatGrowTheObjectAreInvalid) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  std::string patch = R"([{"op":"add","path":"/data/a","value":"0123456789"})";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&patch, R"(,{"op":"copy","from":"/data","path":"/data/)", i, "\"}");
  const Answer answer = Patch(one_, patch + "]", "json");
  EXPECT_EQ(answer.code, 422) << answer.body;
  EXPECT_EQ(answer.Text("reason"), "Invalid");
}

TEST_F(LimitsTest, AnObjectIsNoLargerThanEtcdTakes) {
  const std::string half(700 << 10, 'x'), path = "/apis/apps/v1/namespaces/default/deployments";
  const auto deployment = [](absl::string_view args) {
    return absl::StrCat(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},)",
        R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","args":[)", args,
        "]}]}}}}");
  };
  EXPECT_EQ(Post(path, deployment(absl::StrCat("\"", half, half, half, "\""))).code, 500);
  ASSERT_EQ(Post(path, deployment(absl::StrCat("\"", half, "\",\"", half, "\""))).code, 201);
  const std::uint64_t before = revision();
  const std::string more =
      absl::StrCat(R"([{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":")", half, "\"}]");
  const Answer answer = Patch(path + "/d", more, "json");
  EXPECT_EQ(answer.code, 500);
  EXPECT_EQ(answer.Text("message"), "etcdserver: request is too large");
  EXPECT_EQ(Patch(path + "/d", more, "json", "dryRun=All").code, 200);
  EXPECT_EQ(revision(), before);
  ExpectReadable(path + "/d");
}

TEST_F(LimitsTest, FieldsMayHoldNulBytes) {
  ASSERT_EQ(Post(kPods, PodJson("p")).code, 201);
  ASSERT_EQ(Post(kPods, PodJson("q")).code, 201);
  ASSERT_EQ(Patch(PodPath("p") + "/status", R"({"status":{"phase":"a\u0000b"}})").code, 200);
  EXPECT_EQ(Get(kPods, "fieldSelector=status.podIP%3D10.0.0.1").json().Size("items"), 0u);
  EXPECT_EQ(Get(kPods, "fieldSelector=status.phase%3DPending").json().Size("items"), 1u);
  EXPECT_EQ(Get(kPods, "fieldSelector=status.phase%3Da%00b").json().Size("items"), 1u);
}

// Ownership that a client states is kept as text: what cannot be read again owns nothing, and ends nobody.
TEST_F(LimitsTest, OwnershipThatCannotBeReadIsDropped) {
  const auto owned = [](absl::string_view step) {
    return absl::StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",)",
        R"("time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{")", step,
        R"(":{}}}}]},"data":{"a":"2"}})");
  };
  int i = 0;
  for (const std::string& step : {std::string("v:1e999"), std::string("v:-1e999"), std::string(R"(k:{\"a\":1e999})"),
                                  absl::StrCat("v:", std::string(90, '['), std::string(90, ']'))}) {
    ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
    ASSERT_EQ(Put(one_, owned(step)).code, 200) << step;
    for (const char* manager : {"a", "b"}) {
      ASSERT_EQ(
          Patch(one_, absl::StrCat(R"({"data":{"a":")", ++i, R"("}})"), "merge", absl::StrCat("fieldManager=", manager))
              .code,
          200);
      ASSERT_EQ(Do("PATCH", one_,
                   absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"b":")", ++i,
                                R"("}})"),
                   {.query = absl::StrCat("force=true&fieldManager=", manager),
                    .content_type = "application/apply-patch+yaml"})
                    .code,
                200);
    }
    ExpectReadable(one_);
  }
}

TEST_F(LimitsTest, AKeyOfAListThatIsNoScalarIsAMistake) {
  for (const int depth : {1, 40, 90}) {
    const std::string name = absl::StrCat(std::string(static_cast<std::size_t>(depth), '['),
                                          std::string(static_cast<std::size_t>(depth), ']'));
    const std::string pod =
        absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":)", name,
                     R"(,"image":"i"},{"name":)", name, R"(}]}})");
    const Answer answer =
        Do("PATCH", PodPath("p"), pod, {.query = "fieldManager=m", .content_type = "application/apply-patch+yaml"});
    EXPECT_GE(answer.code, 400) << answer.body;
    EXPECT_EQ(answer.Text("kind"), "Status");
  }
}

TEST_F(LimitsTest, ACountInAForgedContinueIsNotBelieved) {
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(Post(kConfigMaps, ConfigMapJson(name)).code, 201);
  const auto list = [&](absl::string_view remaining) {
    const std::string token =
        absl::WebSafeBase64Escape(absl::StrCat("1\n", revision(), "\n", remaining, "\ndefault\na"));
    return Get(kConfigMaps, absl::StrCat("limit=1&continue=", token));
  };
  for (const char* remaining : {"-9223372036854775808", "-1"}) EXPECT_EQ(list(remaining).code, 400) << remaining;
  const Answer none = list("0");
  EXPECT_EQ(none.code, 200);
  EXPECT_FALSE(none.json().Has("metadata.remainingItemCount"));
  EXPECT_EQ(list("9223372036854775807").code, 200);
}

TEST_F(LimitsTest, TimesStayTimesHoweverLongTheGraceIs) {
  constexpr absl::string_view kLongest = "9223372036854775807";
  ASSERT_EQ(Post(kPods, PodJson("p", "", absl::StrCat(R"(,"terminationGracePeriodSeconds":)", kLongest))).code, 201);
  ASSERT_EQ(Bind("p", "n").code, 201);
  ASSERT_EQ(Delete(PodPath("p")).code, 200);
  EXPECT_EQ(Get(PodPath("p")).Text("metadata.deletionTimestamp"), "9999-12-31T23:59:59Z");
  EXPECT_EQ(Get(PodPath("p")).Text("metadata.deletionGracePeriodSeconds"), kLongest);
  ASSERT_EQ(Delete(PodPath("p"), {}, "gracePeriodSeconds=10").code, 200);
  EXPECT_EQ(Get(PodPath("p")).Text("metadata.deletionTimestamp").size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(Delete(PodPath("p"), {}, "gracePeriodSeconds=0").code, 200);
}

TEST_F(LimitsTest, ABudgetsShareIsAtMostTheWhole) {
  const auto budget = [&](absl::string_view share) {
    return Post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                absl::StrCat(R"({"metadata":{"name":"b"},"spec":{"minAvailable":")", share,
                             R"(","selector":{"matchLabels":{"a":"b"}}}})"));
  };
  for (const char* share : {"9223372036854775807%", "101%", "-1%", "x", "%"}) {
    const Answer answer = budget(share);
    EXPECT_EQ(answer.code, 422) << share;
    EXPECT_THAT(answer.Text("message"), HasSubstr("spec.minAvailable")) << share;
  }
  EXPECT_EQ(budget("100%").code, 201);
}

TEST_F(LimitsTest, WhoAsksForTheSameObjectsSharesThem) {
  const std::string text(2'000, 'x');
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(
        Post(kConfigMaps, absl::StrCat(R"({"metadata":{"name":"c)", i, R"("},"data":{"a":")", text, R"("}})")).code,
        201);
  }
  const auto list = [&](std::vector<Bytes>* more) {
    kube::Request request;
    request.method = "GET";
    request.path = std::string(kConfigMaps);
    std::string body = *server_.Handle(request, {"test"}, more).body;
    for (const Bytes& piece : more == nullptr ? std::vector<Bytes>() : *more) body += *piece;
    return body;
  };
  std::vector<Bytes> first, second;
  const std::string whole = list(nullptr);
  EXPECT_EQ(list(&first), whole);
  ASSERT_EQ(Post(kPods, PodJson("another")).code, 201);  // the list's revision is another, the objects are the same
  EXPECT_EQ(list(&second).size(), whole.size());
  ASSERT_EQ(first.size(), 2 * 50u);
  ASSERT_EQ(second.size(), first.size());
  for (std::size_t i = 0; i + 1 < first.size(); ++i) EXPECT_TRUE(first[i] == second[i]) << i;
  ASSERT_EQ(Patch(absl::StrCat(kConfigMaps, "/c0"), R"({"data":{"a":"new"}})").code, 200);
  std::vector<Bytes> third;
  EXPECT_THAT(list(&third), HasSubstr(R"("a":"new")"));
  EXPECT_TRUE(third[2] == first[2]);
}

// --- work

std::string Repeated(int times, const std::function<std::string(int)>& element) {
  std::string out;
  for (int i = 0; i < times; ++i) absl::StrAppend(&out, i == 0 ? "" : ",", element(i));
  return out;
}

TEST_F(LimitsTest, AnObjectOfManyLabelsIsSelectedLikeAnyOther) {
  ASSERT_EQ(Post(kConfigMaps,
                 ConfigMapJson(
                     "c", absl::StrCat(R"(,"labels":{)",
                                       Repeated(1'000, [](int i) { return absl::StrCat("\"k", i, "\":\"v", i, "\""); }),
                                       "}")))
                .code,
            201);
  const auto count = [&](absl::string_view selector) {
    return Get(kConfigMaps, absl::StrCat("labelSelector=", selector)).json().Size("items");
  };
  EXPECT_EQ(count("k0,k999%3Dv999,k5+in+(a,v5),!k1000"), 1u);
  EXPECT_EQ(count("k0,k999%3Dv998"), 0u);
  EXPECT_EQ(count("k1000,k0"), 0u);
}

double CpuSeconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Four times as many may take eight times as long, where searching for each would take sixteen times. `seconds_for` so
// many is asked again when it looks too long: others' work disturbs it.
void ExpectInProportion(const std::function<double(int)>& seconds_for) {
  double ratio = 16;
  for (int attempt = 0; attempt < 4 && ratio > 8; ++attempt) ratio = seconds_for(20'000) / seconds_for(5'000);
  EXPECT_LE(ratio, 8);
}

// What is compared with what was there is looked up, not searched for.
TEST_F(LimitsTest, LongListsAreComparedInProportion) {
  const auto tolerations = [](int from, int many) {
    return Repeated(many, [from](int i) { return absl::StrCat(R"({"key":"k)", from + i, R"("})"); });
  };
  const auto gates = [](int from, int many) {
    return Repeated(many, [from](int i) { return absl::StrCat(R"({"name":"e.x/)", from + i, R"("})"); });
  };
  const auto finalizers = [](int from, int many) {
    return Repeated(many, [from](int i) { return absl::StrCat("\"e.x/", from + i, "\""); });
  };
  int objects = 0;
  const auto refused = [this](const std::string& path, const std::string& patch, const std::string& why) {
    const double begin = CpuSeconds();
    EXPECT_THAT(Patch(path, patch).Text("message"), HasSubstr(why));
    return CpuSeconds() - begin;
  };
  ExpectInProportion([&](int many) {
    const std::string name = absl::StrCat("p", ++objects);
    EXPECT_EQ(Post(kPods, PodJson(name, "", absl::StrCat(R"(,"tolerations":[)", tolerations(0, many), "]"))).code, 201);
    EXPECT_EQ(
        Patch(PodPath(name), R"([{"op":"add","path":"/spec/tolerations/-","value":{"key":"more"}}])", "json").code,
        200);
    return refused(PodPath(name), absl::StrCat(R"({"spec":{"tolerations":[)", tolerations(1, many), "]}}"),
                   "existing toleration can not be modified");
  });
  ExpectInProportion([&](int many) {
    const std::string name = absl::StrCat("p", ++objects);
    EXPECT_EQ(Post(kPods, PodJson(name, "", absl::StrCat(R"(,"schedulingGates":[)", gates(0, many), "]"))).code, 201);
    return refused(PodPath(name), absl::StrCat(R"({"spec":{"schedulingGates":[)", gates(1, many), "]}}"),
                   absl::StrCat("found new scheduling gate 'e.x/", many, "'"));
  });
  ExpectInProportion([&](int many) {
    const std::string name = absl::StrCat("f", ++objects), path = absl::StrCat(kConfigMaps, "/", name);
    EXPECT_EQ(Post(kConfigMaps, ConfigMapJson(name, absl::StrCat(R"(,"finalizers":[)", finalizers(0, many), "]"))).code,
              201);
    EXPECT_EQ(Delete(path).code, 200);
    return refused(path, absl::StrCat(R"({"metadata":{"finalizers":[)", finalizers(1, many), "]}}"),
                   absl::StrCat(R"(found new finalizers []string{"e.x/)", many, R"("})"));
  });
}

// An answer says what is wrong with some of many.
TEST_F(LimitsTest, ComplaintsAreCounted) {
  const Answer keys =
      Post(kConfigMaps, absl::StrCat(R"({"metadata":{"name":"c"},"data":{)",
                                     Repeated(50'000, [](int i) { return absl::StrCat("\"!", i, "\":\"\""); }), "}}"));
  EXPECT_EQ(keys.code, 422);
  EXPECT_LT(keys.body.size(), 200'000u);
  EXPECT_THAT(keys.Text("message"), HasSubstr("data[!0]"));
  EXPECT_THAT(keys.Text("message"), HasSubstr(" and more"));
  const std::string wrong = absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","args":[)",
      Repeated(50'000, [](int) { return "0"; }), "]}]}}");
  const Answer types =
      Do("PATCH", PodPath("p"), wrong, {.query = "fieldManager=m", .content_type = "application/apply-patch+yaml"});
  EXPECT_EQ(types.code, 500);
  EXPECT_LT(types.body.size(), 200'000u);
}

}  // namespace
}  // namespace gangway::testutil
