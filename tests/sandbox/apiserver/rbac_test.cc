// With RBAC on: who somebody is, what they may do, and what they are told when they may not.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"
#include "tests/sandbox/rbac/asks.h"
#include "tests/testing/golden.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kAdmin = "admin-token";

sandbox::ApiServerOptions WithRbac() {
  sandbox::ApiServerOptions options;
  options.rbac.emplace();
  options.rbac->token_secret = std::string(32, 's');
  options.rbac->tokens[kAdmin] = {.name = "kubernetes-admin", .uid = {}, .groups = {"system:masters"}, .extra = {}};
  return options;
}

class RbacTest : public ServerTest {
 protected:
  RbacTest() : ServerTest(WithRbac()) { Settle(); }

  kube::Response Send(const std::string& method, const std::string& target, const std::string& body,
                      sandbox::Credentials credentials, const std::string& content_type = "") {
    const std::pair<std::string, std::string> parts = absl::StrSplit(target, absl::MaxSplits('?', 1));
    kube::Request request;
    request.method = method;
    request.path = parts.first;
    request.query = parts.second;
    request.content_type = content_type;
    request.body = body;
    sandbox::Caller caller{.name = "test"};
    caller.credentials = std::move(credentials);
    if (!sandbox::ApiServer::IsWatch(request)) return server_.Handle(request, caller);
    auto answer = server_.StartWatch(request, caller, [](std::vector<kube::Frame>) {}, [](absl::Status) {});
    if (answer.refused.has_value()) return *std::move(answer.refused);
    kube::Response opened;
    opened.code = 200;
    opened.body = MakeBytes("");
    return opened;
  }
  static std::string Bearer(const std::string& token) { return absl::StrCat("Bearer ", token); }
  Answer With(const std::string& token, const std::string& method, const std::string& target,
              const std::string& body = "") {
    const kube::Response response = Send(method, target, body, {token.empty() ? "" : Bearer(token), {}},
                                         method == "PATCH" ? "application/merge-patch+json" : "");
    return {response.code, *response.body, response.content_type, response.warnings, response.retry_after};
  }
  Answer As(const std::string& user, const std::string& method, const std::string& target,
            const std::string& body = "") {
    const kube::Response response = Send(method, target, body, {Bearer(kAdmin), {{"user", user}}},
                                         method == "PATCH" ? "application/merge-patch+json" : "");
    return {response.code, *response.body, response.content_type, response.warnings, response.retry_after};
  }
  std::string Token(const std::string& account, const std::string& spec = "{}") {
    const Answer answer =
        With(kAdmin, "POST", absl::StrCat("/api/v1/namespaces/default/serviceaccounts/", account, "/token"),
             absl::StrCat(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":)", spec, "}"));
    EXPECT_EQ(answer.code, 201) << answer.body;
    return answer.Text("status.token");
  }
  std::string WhoIs(const std::string& token) {
    const Answer answer = With(token, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                               R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
    return answer.code == 201 ? answer.Text("status.userInfo.username") : absl::StrCat(answer.code);
  }
};

// Each is asked of the real API server, too (tests/e2e/rbac_answers_test.cc), which wrote the file.
TEST_F(RbacTest, AnswersAreThoseOfTheRealOne) {
  const std::string answers = AnswersOf([this](const Ask& ask) {
    sandbox::Credentials credentials{Bearer(kAdmin), {}};
    if (!ask.as.empty()) credentials.impersonate.emplace_back("user", ask.as);
    for (const std::string& group : ask.groups) credentials.impersonate.emplace_back("group", group);
    kube::Response response = Send(ask.method, ask.path, ask.body, std::move(credentials), ask.content_type);
    Settle();
    return response;
  });
  const std::vector<std::string> got = absl::StrSplit(answers, "\n\n"),
                                 wanted = absl::StrSplit(ReadFile(RecordedAnswersFile()), "\n\n");
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], wanted[i]);
}

TEST_F(RbacTest, ATokenThatIsNoneIsUnauthorizedAndNoTokenIsAnonymous) {
  const Answer answer = With("x.y.z", "GET", "/version");
  EXPECT_EQ(answer.code, 401);
  EXPECT_EQ(answer.Text("reason"), "Unauthorized");
  EXPECT_EQ(answer.Text("message"), "Unauthorized");
  EXPECT_EQ(With("", "GET", "/version").code, 200);
  EXPECT_THAT(With("", "GET", kPods.data()).Text("message"), HasSubstr(R"(User "system:anonymous" cannot list)"));
  EXPECT_EQ(WhoIs(kAdmin), "kubernetes-admin");
}

TEST_F(RbacTest, WhoIsRefusedChangesNothing) {
  const std::uint64_t before = revision();
  EXPECT_EQ(As("jane", "POST", kConfigMaps.data(), ConfigMapJson("a")).code, 403);
  EXPECT_EQ(With("x", "POST", kConfigMaps.data(), ConfigMapJson("a")).code, 401);
  EXPECT_EQ(revision(), before);
}

TEST_F(RbacTest, WatchesAreAuthorized) {
  EXPECT_EQ(As("jane", "GET", absl::StrCat(kPods, "?watch=true")).code, 403);
  EXPECT_EQ(With("x", "GET", absl::StrCat(kPods, "?watch=true")).code, 401);
  EXPECT_EQ(With(kAdmin, "GET", absl::StrCat(kPods, "?watch=true")).code, 200);
}

// A GET that becomes a stream into a pod needs the right to write.
TEST_F(RbacTest, WhoMayReadPodsMayNotExecInThem) {
  const auto stream = [this](const std::string& verbs) {
    EXPECT_EQ(With(kAdmin, "PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/exec",
                   absl::StrCat(
                       R"({"metadata":{"name":"exec"},"rules":[{"apiGroups":[""],"resources":["pods/exec"],"verbs":[)",
                       verbs, "]}]}"))
                  .code,
              200);
    kube::Request request;
    request.method = "GET";
    request.path = PodPath("a") + "/exec";
    request.query = "command=ls&stdout=true";
    sandbox::Caller caller{.name = "test"};
    caller.credentials = sandbox::Credentials{Bearer(kAdmin), {{"user", "jane"}}};
    return Json(*server_.ReadStream(request, caller).refused->body).Text("message");
  };
  With(kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", R"({"metadata":{"name":"exec"}})");
  With(
      kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      R"({"metadata":{"name":"exec"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"exec"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]})");
  EXPECT_THAT(stream(R"("get")"), HasSubstr(R"(User "jane" cannot create resource "pods/exec")"));
  EXPECT_THAT(stream(R"("create")"), HasSubstr(R"(User "jane" cannot get resource "pods/exec")"));
  EXPECT_THAT(stream(R"("get","create")"), HasSubstr("not found"));
}

TEST_F(RbacTest, AnAccountsTokenIsTheAccount) {
  const std::string token = Token("default");
  EXPECT_EQ(WhoIs(token), "system:serviceaccount:default:default");
  EXPECT_THAT(With(token, "GET", kPods.data()).Text("message"),
              HasSubstr(R"(User "system:serviceaccount:default:default" cannot list)"));
  // With its time, ...
  loop_.RunFor(absl::Seconds(3599));
  EXPECT_EQ(WhoIs(token), "system:serviceaccount:default:default");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(WhoIs(token), "401");
  // ... for another audience, ...
  EXPECT_EQ(WhoIs(Token("default", R"({"audiences":["vault"]})")), "401");
  // ... with its pod, ...
  With(kAdmin, "POST", kPods.data(), PodJson("a"));
  const std::string bound = Token("default", R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"a"}})");
  EXPECT_EQ(WhoIs(bound), "system:serviceaccount:default:default");
  With(kAdmin, "DELETE", PodPath("a") + "?gracePeriodSeconds=0");
  EXPECT_EQ(WhoIs(bound), "401");
  // ... and with the account, also when there is another of its name.
  const std::string of_old = Token("default");
  With(kAdmin, "DELETE", "/api/v1/namespaces/default/serviceaccounts/default");
  EXPECT_EQ(WhoIs(of_old), "401");
  Settle();
  EXPECT_EQ(WhoIs(Token("default")), "system:serviceaccount:default:default");
  EXPECT_EQ(WhoIs(of_old), "401");
}

// k8s.io/apiserver: pkg/authentication/request/x509 and union.
TEST_F(RbacTest, ACertificateIsItsUser) {
  const auto who = [&](sandbox::CertifiedUser certificate, const std::string& token = "") {
    const kube::Response answer = Send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                       R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})",
                                       {token.empty() ? "" : Bearer(token), {}, std::move(certificate)});
    return answer.ok() ? Json(*answer.body).Text("status.userInfo.username") : absl::StrCat(answer.code);
  };
  const sandbox::User jane{.name = "jane", .uid = {}, .groups = {"team-a"}, .extra = {}};
  EXPECT_EQ(who({jane, ""}), "jane");
  EXPECT_EQ(who({jane, ""}, kAdmin), "jane") << "it comes before a token";
  EXPECT_EQ(who({jane, "expired"}), "401");
  EXPECT_EQ(who({jane, "expired"}, kAdmin), "kubernetes-admin");
  EXPECT_EQ(who({sandbox::User(), ""}), "403") << "nobody: system:anonymous may not ask";
  EXPECT_EQ(Send("GET", kPods.data(), "", {"", {}, sandbox::CertifiedUser{jane, ""}}).code, 403);
  With(kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
       R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"team"},)"
       R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},)"
       R"("subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"team-a"}]})");
  EXPECT_EQ(Send("GET", kPods.data(), "", {"", {}, sandbox::CertifiedUser{jane, ""}}).code, 200);
}

// pkg/serviceaccount: programs that read it once go on with it.
TEST_F(RbacTest, AMountedTokenIsGoodForAYear) {
  With(kAdmin, "POST", kPods.data(), PodJson("a"));
  const std::string spec = R"({"expirationSeconds":3607,"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"a"}})";
  const Answer answer =
      With(kAdmin, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token",
           absl::StrCat(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":)", spec, "}"));
  EXPECT_EQ(answer.Text("status.expirationTimestamp"), api::FormatTime(loop_.Now() + absl::Seconds(3607)));
  const std::string token = answer.Text("status.token"), of_no_pod = Token("default", R"({"expirationSeconds":3607})");
  loop_.RunFor(absl::Hours(2));
  EXPECT_EQ(WhoIs(token), "system:serviceaccount:default:default");
  EXPECT_EQ(WhoIs(of_no_pod), "401");
  With(kAdmin, "DELETE", PodPath("a") + "?gracePeriodSeconds=0");
  EXPECT_EQ(WhoIs(token), "401");
}

TEST_F(RbacTest, OnlyWhoMayActsAsSomebodyElse) {
  const std::string token = Token("default");
  const auto as = [&](std::vector<std::pair<std::string, std::string>> impersonate) {
    return Json(*Send("GET", std::string(kPods), "", {Bearer(token), std::move(impersonate)}).body).Text("message");
  };
  EXPECT_THAT(as({{"user", "jane"}}),
              HasSubstr(R"(User "system:serviceaccount:default:default" cannot impersonate resource "users")"));
  With(
      kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      R"({"metadata":{"name":"imp"},"rules":[{"apiGroups":[""],"resources":["users"],"verbs":["impersonate"],"resourceNames":["jane"]}]})");
  With(
      kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      R"({"metadata":{"name":"imp"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"imp"},"subjects":[{"kind":"ServiceAccount","name":"default","namespace":"default"}]})");
  EXPECT_THAT(as({{"user", "jane"}}), HasSubstr(R"(User "jane" cannot list resource "pods")"));
  EXPECT_THAT(as({{"user", "joe"}}), HasSubstr(R"(users "joe" is forbidden)"));
  EXPECT_THAT(as({{"user", "jane"}, {"group", "system:masters"}}),
              HasSubstr(R"(groups "system:masters" is forbidden)"));
  EXPECT_THAT(as({{"user", "jane"}, {"uid", "7"}}), HasSubstr(R"(uids.authentication.k8s.io "7" is forbidden)"));
  EXPECT_THAT(as({{"user", "jane"}, {"extra-scopes", "view"}}),
              HasSubstr(R"(cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io")"));
  EXPECT_THAT(as({{"group", "devs"}}), HasSubstr("without impersonating a user"));
  EXPECT_THAT(as(std::vector<std::pair<std::string, std::string>>(101, {"group", "g"})), HasSubstr("without"));
  std::vector<std::pair<std::string, std::string>> many(101, {"group", "g"});
  many.emplace_back("user", "jane");
  EXPECT_THAT(as(std::move(many)), HasSubstr("100 headers at most"));
}

// A role of the cluster that takes in others has what they have, as soon as they change.
TEST_F(RbacTest, AggregatedRolesFollow) {
  const auto may = [this] { return As("vera", "GET", "/apis/example.com/v1/things").code; };
  With(
      kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
      R"({"metadata":{"name":"v"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"vera"}]})");
  EXPECT_EQ(may(), 403);
  With(
      kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      R"({"metadata":{"name":"t","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},"rules":[{"apiGroups":["example.com"],"resources":["things"],"verbs":["list"]}]})");
  Settle();
  EXPECT_EQ(may(), 404);
  With(kAdmin, "DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterroles/t");
  Settle();
  EXPECT_EQ(may(), 403);
}

TEST_F(RbacTest, RulesOfOneself) {
  With(
      kAdmin, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
      R"({"metadata":{"name":"v"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"vera"}]})");
  const auto rules = [this](const std::string& ns) {
    return As("vera", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
              absl::StrCat(
                  R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":")",
                  ns, "\"}}"))
        .body;
  };
  EXPECT_THAT(rules("default"),
              AllOf(HasSubstr("deployments/scale"), HasSubstr("/openapi/*"), HasSubstr("selfsubjectreviews")));
  EXPECT_THAT(rules("kube-system"), AllOf(Not(HasSubstr("deployments/scale")), HasSubstr("selfsubjectreviews")));
}

// Without RBAC credentials count for nothing.
class NoRbacTest : public ServerTest {};
TEST_F(NoRbacTest, EverybodyMayDoEverything) {
  kube::Request request;
  request.method = "GET";
  request.path = std::string(kPods);
  sandbox::Caller caller{.name = "test"};
  caller.credentials = sandbox::Credentials{"Bearer nonsense", {{"user", "jane"}}};
  EXPECT_EQ(server_.Handle(request, caller).code, 200);
  EXPECT_EQ(Get("/apis/rbac.authorization.k8s.io/v1/clusterroles").json().Size("items"), 0u);
}

}  // namespace
}  // namespace gangway::testutil
