// Admission webhooks in force: who is asked what, and what becomes of the answers.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/in_process_client.h"
#include "sandbox/apiserver/refusal.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::Answer;
using testutil::Json;

constexpr absl::string_view kMutating = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
constexpr absl::string_view kValidating = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

class WebhooksTest : public testutil::ServerTest {
 protected:
  // What a webhook answers beside uid and allowed.
  using Review = std::function<std::string(const Json& review)>;

  WebhooksTest() {
    server_.SetWebhookCalls([this](const WebhookCall& call, auto done) {
      calls_.push_back(call);
      if (holds_) return held_.push_back(std::move(done));
      loop_.Post(owner_.token(), [this, call, done = std::move(done)]() mutable { done(AnswerTo(call)); });
    });
  }

  absl::StatusOr<kube::Response> AnswerTo(const WebhookCall& call) {
    const auto found = webhooks_.find(call.path);
    if (found == webhooks_.end()) return absl::UnavailableError("connect: connection refused");
    const Json review(call.body);
    const std::string answer = found->second(review);
    return JsonResponse(
        200, MakeBytes(absl::StartsWith(answer, "{\"raw\"")
                           ? Json(answer).Text("raw")
                           : absl::StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)",
                                          R"("response":{"uid":")", review.Text("request.uid"), "\",", answer, "}}")));
  }

  static std::string Allowed() { return R"("allowed":true)"; }
  static std::string Patch(absl::string_view operations) {
    return absl::StrCat(R"("allowed":true,"patchType":"JSONPatch","patch":")", absl::Base64Escape(operations), "\"");
  }
  static std::string Denied(absl::string_view status) { return absl::StrCat(R"("allowed":false,"status":)", status); }

  // A configuration of one webhook at https://hook/NAME that is asked about config maps, unless `more` says otherwise.
  void Configure(absl::string_view kind, absl::string_view name, Review review, absl::string_view more = {},
                 absl::string_view rules = {}) {
    webhooks_[absl::StrCat("/", name)] = std::move(review);
    const std::string given(
        rules.empty() ? R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["configmaps"]}])"
                      : rules);
    const Answer made =
        Post(kind, absl::StrCat(R"({"metadata":{"name":")", name, R"("},"webhooks":[{"name":")", name,
                                R"(.example.com","sideEffects":"None","admissionReviewVersions":["v1"],)",
                                R"("clientConfig":{"url":"https://hook/)", name, R"("},"rules":)", given, more, "}]}"));
    ASSERT_EQ(made.code, 201) << made.body;
  }

  // By way of webhooks. Code 0: no answer yet.
  Answer Ask(absl::string_view method, absl::string_view path, absl::string_view body = {}, std::string query = {},
             std::string type = {}) {
    return *AskAndWait(method, path, body, std::move(query), std::move(type));
  }
  std::shared_ptr<const Answer> AskAndWait(absl::string_view method, absl::string_view path,
                                           absl::string_view body = {}, std::string query = {}, std::string type = {}) {
    auto out = std::make_shared<Answer>();
    kube::Request request{.method = std::string(method),
                          .path = std::string(path),
                          .query = std::move(query),
                          .content_type = std::move(type),
                          .accept = {},
                          .body = std::string(body)};
    server_.Serve(std::move(request), {"test"}, [out](kube::Response response, std::vector<Bytes> more) {
      *out = {response.code, *response.body, response.content_type, response.warnings, response.retry_after};
      for (const Bytes& piece : more) out->body += *piece;
    });
    Settle();
    return out;
  }
  Answer Create(absl::string_view name = "a", std::string query = {}) {
    return Ask("POST", testutil::kConfigMaps, ConfigMapJson(name), std::move(query));
  }
  std::string PathsCalled() const {
    return absl::StrJoin(calls_, " ", [](std::string* out, const WebhookCall& call) { *out += call.path; });
  }

  std::map<std::string, Review> webhooks_;
  std::vector<WebhookCall> calls_;
  bool holds_ = false;
  std::vector<absl::AnyInvocable<void(absl::StatusOr<kube::Response>)>> held_;
  Owner owner_;
};

TEST_F(WebhooksTest, TheReviewSaysWhatIsAskedAndThePatchIsStored) {
  std::string seen;
  Configure(kMutating, "m", [&](const Json& review) {
    seen = api::ToJson(review.draft().root());
    return Patch(R"([{"op":"add","path":"/data/b","value":"2"}])");
  });
  const Answer made = Create("a", "fieldManager=me");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Text("data.b"), "2");
  EXPECT_EQ(Get(absl::StrCat(testutil::kConfigMaps, "/a")).Text("data.b"), "2");
  const Json review(seen);
  EXPECT_EQ(review.Text("kind"), "AdmissionReview");
  EXPECT_EQ(review.Text("request.kind.kind"), "ConfigMap");
  EXPECT_EQ(review.Text("request.resource.resource"), "configmaps");
  EXPECT_EQ(review.Text("request.requestKind.version"), "v1");
  EXPECT_EQ(review.Text("request.name"), "a");
  EXPECT_EQ(review.Text("request.namespace"), "default");
  EXPECT_EQ(review.Text("request.operation"), "CREATE");
  EXPECT_EQ(review.Text("request.userInfo.username"), "sandbox-user");
  EXPECT_EQ(review.Text("request.object.data.a"), "1");
  EXPECT_EQ(review.Text("request.oldObject"), "null");
  EXPECT_EQ(review.Text("request.dryRun"), "false");
  EXPECT_EQ(review.Text("request.options.kind"), "CreateOptions");
  EXPECT_EQ(review.Text("request.options.fieldManager"), "me");
  ASSERT_THAT(calls_, SizeIs(1));
  EXPECT_EQ(calls_[0].server, "https://hook");
  EXPECT_EQ(calls_[0].query, "timeout=10s");
}

TEST_F(WebhooksTest, WhatIsDeniedIsNotWrittenAndSaysWhoDeniedIt) {
  Configure(kValidating, "v", [](const Json& review) {
    return review.Text("request.name") == "bad"
               ? Denied(
                     R"({"code":422,"reason":"Invalid","message":"no","details":{"name":"bad","causes":[{"field":"data","message":"m"}]}})")
               : Denied("{}");
  });
  const std::uint64_t before = revision();
  const Answer bad = Create("bad");
  EXPECT_EQ(bad.code, 422);
  EXPECT_EQ(bad.Text("message"), R"(admission webhook "v.example.com" denied the request: no)");
  EXPECT_EQ(bad.Text("reason"), "Invalid");
  EXPECT_EQ(bad.Text("details.causes.0.field"), "data");
  const Answer worse = Create("worse");
  EXPECT_EQ(worse.code, 400);
  EXPECT_EQ(worse.Text("message"), R"(admission webhook "v.example.com" denied the request without explanation)");
  EXPECT_EQ(revision(), before);
}

TEST_F(WebhooksTest, UpdatesAndDeletionsAreAskedAboutWithWhatWas) {
  std::vector<std::string> seen;
  ASSERT_EQ(Create().code, 201);
  Configure(kValidating, "v", [&](const Json& review) {
    seen.push_back(absl::StrCat(review.Text("request.operation"), " ", review.Text("request.oldObject.data.a"), " ",
                                review.Text("request.object.data.a"), " ", review.Text("request.options.kind"), " ",
                                review.Text("request.dryRun")));
    return Allowed();
  });
  const std::string path = absl::StrCat(testutil::kConfigMaps, "/a");
  EXPECT_EQ(Ask("PATCH", path, R"({"data":{"a":"2"}})", "", "application/merge-patch+json").code, 200);
  EXPECT_EQ(Ask("PUT", path, R"({"metadata":{"name":"a"},"data":{"a":"3"}})", "dryRun=All").code, 200);
  EXPECT_EQ(Ask("DELETE", path).code, 200);
  EXPECT_THAT(seen, ElementsAre("UPDATE 1 2 PatchOptions false", "UPDATE 2 3 UpdateOptions true",
                                "DELETE 2  DeleteOptions false"));
}

TEST_F(WebhooksTest, ReadsAskNobody) {
  Configure(kValidating, "v", [](const Json&) { return Denied("{}"); });
  EXPECT_EQ(Ask("GET", testutil::kConfigMaps).code, 200);
  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(WebhooksTest, AWebhookThatCannotBeAskedRefusesOrIsPassedOverAsItsPolicySays) {
  Configure(kValidating, "ignored", nullptr, R"(,"failurePolicy":"Ignore")");
  webhooks_.clear();
  EXPECT_EQ(Create("a").code, 201);
  Configure(kValidating, "needed", nullptr);
  webhooks_.clear();
  const Answer refused = Create("b");
  EXPECT_EQ(refused.code, 500);
  EXPECT_EQ(refused.Text("reason"), "InternalError");
  EXPECT_EQ(refused.Text("message"),
            R"(Internal error occurred: failed calling webhook "needed.example.com": failed to call webhook: )"
            R"(Post "https://hook/needed?timeout=10s": connect: connection refused)");
}

TEST_F(WebhooksTest, AnswersThatAreNoneAreFailures) {
  std::string answer;
  Configure(kValidating, "v", [&](const Json&) { return answer; });
  const auto said = [&](std::string what) {
    answer = std::move(what);
    return Create("a").Text("message");
  };
  EXPECT_THAT(said(R"({"raw":"{}"})"), HasSubstr("webhook response was absent"));
  EXPECT_THAT(said(R"({"raw":"nonsense"})"), HasSubstr("its answer cannot be read"));
  EXPECT_THAT(said(R"({"raw":"{\"response\":{}}"})"),
              HasSubstr("expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got"));
  EXPECT_THAT(
      said(
          R"({"raw":"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"response\":{\"uid\":\"x\",\"allowed\":true}}"})"),
      HasSubstr("expected response.uid="));
  EXPECT_THAT(said(Patch("[]")), HasSubstr("validating webhook may not return response.patch"));
}

TEST_F(WebhooksTest, APatchThatDoesNotApplyIsAnErrorAndNothingIsWritten) {
  std::string operations = R"([{"op":"remove","path":"/nowhere"}])";
  Configure(kMutating, "m", [&](const Json&) { return Patch(operations); });
  const std::uint64_t before = revision();
  EXPECT_EQ(Create().code, 500);
  operations = R"([{"op":"replace","path":"","value":7}])";
  EXPECT_EQ(Create().code, 500);
  operations = R"([{"op":"add","path":"/data","value":[]}])";
  EXPECT_EQ(Create().code, 500);
  EXPECT_EQ(revision(), before);
}

TEST_F(WebhooksTest, RulesSelectByOperationResourceSubresourceVersionAndScope) {
  const auto asked = [&](absl::string_view rule, absl::string_view name) {
    Configure(kValidating, name, [](const Json&) { return Allowed(); }, "", rule);
    calls_.clear();
    Ask("POST", testutil::kConfigMaps, ConfigMapJson(absl::StrCat("c-", name)));
    Ask("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":"n-)", name, R"("}})"));
    Ask("PATCH", "/api/v1/namespaces/default/status", absl::StrCat(R"({"metadata":{"labels":{"n":")", name, R"("}}})"),
        "", "application/merge-patch+json");
    std::string out;
    for (const WebhookCall& call : calls_)
      absl::StrAppend(&out, Json(call.body).Text("request.resource.resource"), "/",
                      Json(call.body).Text("request.subResource"), " ");
    EXPECT_EQ(Delete(absl::StrCat(kValidating, "/", name)).code, 200);
    return out;
  };
  EXPECT_EQ(asked(R"([{"apiGroups":["*"],"apiVersions":["*"],"operations":["CREATE"],"resources":["*"]}])", "a"),
            "configmaps/ namespaces/ ");
  EXPECT_EQ(
      asked(R"([{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*/*"],"scope":"Cluster"}])",
            "b"),
      "namespaces/ namespaces/status ");
  EXPECT_EQ(
      asked(R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["*"],"scope":"Namespaced"}])",
            "c"),
      "configmaps/ ");
  EXPECT_EQ(
      asked(R"([{"apiGroups":[""],"apiVersions":["v1"],"operations":["UPDATE"],"resources":["namespaces/status"]}])",
            "d"),
      "namespaces/status ");
  EXPECT_EQ(asked(R"([{"apiGroups":["apps"],"apiVersions":["v1"],"operations":["*"],"resources":["*/*"]}])", "e"), "");
  EXPECT_EQ(asked(R"([{"apiGroups":[""],"apiVersions":["v2"],"operations":["*"],"resources":["*/*"]}])", "f"), "");
}

TEST_F(WebhooksTest, SelectorsOfNamespacesAndObjects) {
  Configure(
      kValidating, "v", [](const Json&) { return Denied("{}"); },
      R"(,"objectSelector":{"matchLabels":{"judge":"me"}},"namespaceSelector":{"matchExpressions":[{"key":"free","operator":"DoesNotExist"}]})");
  EXPECT_EQ(Create("a").code, 201);
  const std::string marked = ConfigMapJson("b", R"(,"labels":{"judge":"me"})");
  EXPECT_EQ(Ask("POST", testutil::kConfigMaps, marked).code, 400);
  // Whoever takes the label away is still asked about: it was there.
  EXPECT_EQ(Post(testutil::kConfigMaps, marked).code, 201);
  EXPECT_EQ(Ask("PATCH", absl::StrCat(testutil::kConfigMaps, "/b"), R"({"metadata":{"labels":null}})", "",
                "application/merge-patch+json")
                .code,
            400);
  EXPECT_EQ(Post("/api/v1/namespaces", R"({"metadata":{"name":"free","labels":{"free":"1"}}})").code, 201);
  EXPECT_EQ(Ask("POST", "/api/v1/namespaces/free/configmaps", marked).code, 201);
}

TEST_F(WebhooksTest, ConditionsDecideAndTheirErrorsAreFailures) {
  Configure(
      kValidating, "v", [](const Json&) { return Denied("{}"); },
      R"(,"matchConditions":[{"name":"bad-ones","expression":"object.data.a == 'bad'"}])");
  EXPECT_EQ(Create("a").code, 201);
  EXPECT_EQ(Ask("POST", testutil::kConfigMaps, R"({"metadata":{"name":"b"},"data":{"a":"bad"}})").code, 400);
  const Answer wrong = Ask("POST", testutil::kConfigMaps, R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(wrong.code, 500);
  EXPECT_THAT(wrong.Text("message"), HasSubstr("expression 'bad-ones' resulted in error: no such key: data"));
  EXPECT_THAT(calls_, SizeIs(1));
}

TEST_F(WebhooksTest, MutatingOnesAreAskedInOrderAndAgainWhenTheyWishTo) {
  const auto append = [](absl::string_view letter) {
    return [letter](const Json& review) {
      return Patch(absl::StrCat(R"([{"op":"replace","path":"/data/a","value":")", review.Text("request.object.data.a"),
                                letter, R"("}])"));
    };
  };
  Configure(kMutating, "a", append("a"), R"(,"reinvocationPolicy":"IfNeeded")");
  Configure(kMutating, "b", append("b"));
  EXPECT_EQ(Create().Text("data.a"), "1aba");
  EXPECT_EQ(PathsCalled(), "/a /b /a");
}

TEST_F(WebhooksTest, ValidatingOnesAreAskedAtOnceAndSeeWhatMutatingOnesMade) {
  Configure(kMutating, "m", [](const Json&) { return Patch(R"([{"op":"add","path":"/data/b","value":"2"}])"); });
  std::string seen;
  for (const char* const name : {"v", "w"}) {
    Configure(kValidating, name, [&](const Json& review) {
      seen += review.Text("request.object.data.b");
      return Allowed();
    });
  }
  kube::Response answered;
  ASSERT_EQ(Create().code, 201);
  EXPECT_EQ(seen, "22");
  EXPECT_EQ(PathsCalled(), "/m /v /w");
  holds_ = true;
  calls_.clear();
  EXPECT_EQ(Create("b").code, 0);
  ASSERT_THAT(held_, SizeIs(1));
  held_[0](AnswerTo(calls_[0]));
  Settle();
  EXPECT_THAT(held_, SizeIs(3));  // both, before either has answered
}

TEST_F(WebhooksTest, WarningsArePassedOn) {
  Configure(kValidating, "v", [](const Json&) { return R"("allowed":true,"warnings":["mind the gap"])"; });
  EXPECT_THAT(Create().warnings, ElementsAre("mind the gap"));
}

TEST_F(WebhooksTest, NoRequestWaitsForTheWebhookOfAnother) {
  Configure(kValidating, "v", [](const Json&) { return Allowed(); });
  holds_ = true;
  EXPECT_EQ(Create("slow").code, 0);
  EXPECT_EQ(Ask("POST", testutil::kPods, PodJson("quick")).code, 201);
  EXPECT_EQ(Get(absl::StrCat(testutil::kConfigMaps, "/slow")).code, 404);
  held_[0](AnswerTo(calls_[0]));
  Settle();
  EXPECT_EQ(Get(absl::StrCat(testutil::kConfigMaps, "/slow")).code, 200);
}

// Somebody else was faster: the webhook is asked about what would be stored now.
TEST_F(WebhooksTest, AnObjectThatChangedMeanwhileIsAskedAboutAnew) {
  ASSERT_EQ(Create().code, 201);
  std::vector<std::string> seen;
  Configure(kValidating, "v", [&](const Json& review) {
    seen.push_back(review.Text("request.oldObject.data.a"));
    return Allowed();
  });
  const std::string path = absl::StrCat(testutil::kConfigMaps, "/a");
  holds_ = true;
  Ask("PATCH", path, R"({"data":{"b":"9"}})", "", "application/merge-patch+json");
  ASSERT_EQ(ServerTest::Patch(path, R"({"data":{"a":"2"}})").code, 200);
  holds_ = false;
  held_[0](AnswerTo(calls_[0]));
  Settle();
  EXPECT_THAT(seen, ElementsAre("1", "2"));
  EXPECT_EQ(Get(path).Text("data.a"), "2");
  EXPECT_EQ(Get(path).Text("data.b"), "9");
}

// Somebody else is faster each time: after a minute it is given up.
TEST_F(WebhooksTest, ARequestThatIsAskedAboutAgainAndAgainEnds) {
  ASSERT_EQ(Create().code, 201);
  Configure(kValidating, "v", [](const Json&) { return Allowed(); });
  const std::string path = absl::StrCat(testutil::kConfigMaps, "/a");
  holds_ = true;
  const auto answer = AskAndWait("PATCH", path, R"({"data":{"b":"9"}})", "", "application/merge-patch+json");
  std::size_t asked = 0;
  for (; answer->code == 0 && asked < 5; ++asked) {
    ASSERT_EQ(held_.size(), asked + 1);
    ASSERT_EQ(ServerTest::Patch(path, absl::StrCat(R"({"data":{"a":"of )", asked, R"("}})")).code, 200);
    loop_.RunFor(absl::Seconds(25));
    held_[asked](AnswerTo(calls_[asked]));
    Settle();
  }
  EXPECT_EQ(asked, 3u);
  ASSERT_EQ(answer->code, 504);
  EXPECT_EQ(answer->Text("reason"), "Timeout");
  EXPECT_FALSE(absl::StrContains(Get(path).body, R"("b")"));
}

// Names, UIDs and times that the server gives are the same whenever the request is run.
TEST_F(WebhooksTest, AGeneratedNameIsAskedAboutOnce) {
  std::vector<std::string> seen;
  Configure(kValidating, "v", [&](const Json& review) {
    seen.push_back(review.Text("request.object.metadata.name"));
    return Allowed();
  });
  const Answer made = Ask("POST", testutil::kConfigMaps, R"({"metadata":{"generateName":"g-"}})");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_THAT(seen, ElementsAre(made.Text("metadata.name")));
}

TEST_F(WebhooksTest, OfACollectionEachIsAskedAboutBeforeAnyGoes) {
  for (const char* const name : {"a", "b", "c"}) ASSERT_EQ(Create(name).code, 201);
  Configure(kValidating, "v", [](const Json& review) {
    return review.Text("request.name") == "b" ? Denied(R"({"message":"keep"})") : Allowed();
  });
  const Answer told = Ask("DELETE", testutil::kConfigMaps);
  EXPECT_THAT(told.Text("message"), HasSubstr("denied the request: keep"));
  EXPECT_THAT(calls_, SizeIs(3));
  EXPECT_EQ(Get(absl::StrCat(testutil::kConfigMaps, "/b")).code, 200);
}

TEST_F(WebhooksTest, BindingsEvictionsAndScalesAreSubresources) {
  ASSERT_EQ(Post(testutil::kPods, PodJson("p")).code, 201);
  std::vector<std::string> seen;
  Configure(
      kValidating, "v",
      [&](const Json& review) {
        seen.push_back(absl::StrCat(review.Text("request.operation"), " ", review.Text("request.subResource"), " ",
                                    review.Text("request.object.kind")));
        return Allowed();
      },
      "", R"([{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["pods/*","deployments/scale"]}])");
  EXPECT_EQ(Ask("POST", absl::StrCat(testutil::kPods, "/p/binding"),
                R"({"apiVersion":"v1","kind":"Binding","target":{"kind":"Node","name":"n"}})")
                .code,
            201);
  EXPECT_EQ(Ask("POST", absl::StrCat(testutil::kPods, "/p/eviction"),
                R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})")
                .code,
            201);
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(
      Post(
          deployments,
          R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
          .code,
      201);
  EXPECT_EQ(
      Ask("PATCH", deployments + "/d/scale", R"({"spec":{"replicas":3}})", "", "application/merge-patch+json").code,
      200);
  EXPECT_THAT(seen, ElementsAre("CREATE binding Binding", "CREATE eviction Eviction", "UPDATE scale Scale"));
}

// A webhook could otherwise keep itself from being removed.
TEST_F(WebhooksTest, NobodyIsAskedAboutWebhooksThemselves) {
  for (const auto& [kind, name] : {std::pair{kValidating, "v"}, std::pair{kMutating, "m"}}) {
    Configure(
        kind, name, [](const Json&) { return Denied("{}"); }, "",
        R"([{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}])");
  }
  EXPECT_EQ(Create().code, 400);
  EXPECT_EQ(Ask("DELETE", absl::StrCat(kMutating, "/m")).code, 200);
  EXPECT_EQ(Create().code, 400);
  EXPECT_EQ(Ask("DELETE", absl::StrCat(kValidating, "/v")).code, 200);
  EXPECT_EQ(Create().code, 201);
}

TEST_F(WebhooksTest, AServiceIsFoundByItsEndpoints) {
  webhooks_["/check"] = [](const Json&) { return Allowed(); };
  ASSERT_EQ(
      Post(
          kValidating,
          R"({"metadata":{"name":"s"},"webhooks":[{"name":"s.example.com","sideEffects":"None","admissionReviewVersions":["v1"],)"
          R"("clientConfig":{"service":{"namespace":"default","name":"hook","path":"/check","port":9443}},)"
          R"("rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]})")
          .code,
      201);
  EXPECT_THAT(Create().Text("message"),
              HasSubstr(R"(Post "https://hook.default.svc:9443/check?timeout=10s": service "hook" not found)"));
  ASSERT_EQ(Post("/api/v1/namespaces/default/services",
                 R"({"metadata":{"name":"hook"},"spec":{"ports":[{"name":"w","port":9443}]}})")
                .code,
            201);
  EXPECT_THAT(Create().Text("message"), HasSubstr(R"(no endpoints available for service "hook")"));
  ASSERT_EQ(
      Post(
          "/api/v1/namespaces/default/endpoints",
          R"({"metadata":{"name":"hook"},"subsets":[{"addresses":[{"ip":"127.0.0.1"}],"ports":[{"name":"w","port":1234}]}]})")
          .code,
      201);
  EXPECT_EQ(Create().code, 201);
  ASSERT_THAT(calls_, SizeIs(1));
  EXPECT_EQ(calls_[0].server, "https://127.0.0.1:1234");
  EXPECT_EQ(calls_[0].tls_server_name, "hook.default.svc");
}

// matchPolicy Equivalent: in the version that its rules name.
TEST_F(WebhooksTest, AnotherVersionOfAKindIsAskedAboutInTheVersionThatRulesName) {
  ASSERT_EQ(
      Post(
          "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
          R"({"metadata":{"name":"toys.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"toys","kind":"Toy"},"versions":[)"
          R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},)"
          R"({"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})")
          .code,
      201);
  Settle();
  const std::string rules =
      R"([{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["*"],"resources":["toys"]}])";
  Configure(
      kMutating, "m",
      [](const Json& review) {
        EXPECT_EQ(review.Text("request.object.apiVersion"), "example.com/v1");
        EXPECT_EQ(review.Text("request.kind.version"), "v1");
        EXPECT_EQ(review.Text("request.requestKind.version"), "v2");
        return Patch(R"([{"op":"add","path":"/spec","value":{"a":1}}])");
      },
      "", rules);
  Configure(kValidating, "exact", [](const Json&) { return Denied("{}"); }, R"(,"matchPolicy":"Exact")", rules);
  const Answer made = Ask("POST", "/apis/example.com/v2/namespaces/default/toys",
                          R"({"apiVersion":"example.com/v2","kind":"Toy","metadata":{"name":"t"}})");
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Text("apiVersion"), "example.com/v2");
  EXPECT_EQ(made.Text("spec.a"), "1");
}

TEST_F(WebhooksTest, ConfigurationsThatAreNoneNameThePath) {
  const auto causes = [&](absl::string_view webhook) {
    const Answer told = Post(kValidating, absl::StrCat(R"({"metadata":{"name":"x"},"webhooks":[)", webhook, "]}"));
    EXPECT_EQ(told.code, 422) << told.body;
    return told.Text("message");
  };
  const std::string rest = R"("sideEffects":"None","admissionReviewVersions":["v1"])";
  EXPECT_THAT(
      causes(absl::StrCat(R"({"name":"a","clientConfig":{"url":"http://h"},)", rest, "}")),
      ::testing::AllOf(
          HasSubstr("webhooks[0].name: Invalid value: \"a\": should be a domain with at least three segments"),
          HasSubstr(
              "webhooks[0].clientConfig.url: Invalid value: \"http://h\": 'https' is the only allowed URL scheme")));
  EXPECT_THAT(
      causes(absl::StrCat(R"({"name":"a.b.c","clientConfig":{"url":"https://h"},)",
                          R"("matchConditions":[{"name":"n","expression":"object.x + 1 == 2"}],)", rest, "}")),
      HasSubstr("webhooks[0].matchConditions[0].expression: Invalid value: \"object.x + 1 == 2\": compilation failed: "
                "at byte 9: the operator '+' is not evaluated here"));
  const auto rule = [&](absl::string_view members, absl::string_view more = {}) {
    return causes(absl::StrCat(R"({"name":"a.b.c","clientConfig":{"url":"https://h"},"rules":[{"apiVersions":["v1"],)",
                               R"("resources":["x"],)", members, "}],", more, rest, "}"));
  };
  EXPECT_THAT(rule(R"("apiGroups":["*","a"],"operations":["CREATE"])"),
              HasSubstr("webhooks[0].rules[0].apiGroups: Invalid value: [\"*\",\"a\"]: if '*' is present"));
  EXPECT_THAT(rule(R"("operations":["CREATE"])"), HasSubstr("webhooks[0].rules[0].apiGroups: Required value"));
  EXPECT_THAT(rule(R"("apiGroups":[""],"operations":["WRITE"])"), HasSubstr("webhooks[0].rules[0].operations[0]"));
  EXPECT_THAT(rule(R"("apiGroups":[""],"operations":["CREATE"],"scope":"World")"),
              HasSubstr("webhooks[0].rules[0].scope"));
  const absl::string_view good = R"("apiGroups":[""],"operations":["CREATE"])";
  for (const absl::string_view policy : {"failurePolicy", "matchPolicy"})
    EXPECT_THAT(rule(good, absl::StrCat("\"", policy, R"(":"Perhaps",)")),
                HasSubstr(absl::StrCat("webhooks[0].", policy)));
  EXPECT_THAT(rule(good, R"("timeoutSeconds":31,)"), HasSubstr("webhooks[0].timeoutSeconds"));
}

// Components in the process are asked about as everybody is.
TEST_F(WebhooksTest, ClientsInTheProcessAreAskedAboutToo) {
  Configure(kValidating, "v", [](const Json&) { return Denied(R"({"message":"no"})"); });
  InProcessClient client(loop_, server_, "component");
  int code = 0;
  client.Send({.method = "POST",
               .path = std::string(testutil::kConfigMaps),
               .query = {},
               .content_type = {},
               .accept = {},
               .body = ConfigMapJson("a")},
              owner_.token(), [&](absl::StatusOr<kube::Response> answer) { code = answer.ok() ? answer->code : -1; });
  Settle();
  EXPECT_EQ(code, 400);
}

}  // namespace
}  // namespace gangway::sandbox
