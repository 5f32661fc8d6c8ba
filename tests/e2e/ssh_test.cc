// The job plugin ssh on a real API server, with the rights that the controller ships with: what it does with Secrets,
// and no more.
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kJob[] = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: plug}
spec:
  minAvailable: 1
  plugins: {ssh: [], svc: []}
  tasks: [{name: w, replicas: 2, minAvailable: 1, template: {spec: {containers: [{name: main, image: example.test/app:v1}]}}}]
)";

TEST(SshE2eTest, KeysForAJobsLifeWithFourRightsWhereTheyAreGiven) {
  if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
  auto started = InstalledGangway::Start({.nodes = 2});
  ASSERT_TRUE(started.ok()) << started.status();
  InstalledGangway& gangway = **started;
  ControlPlane& plane = gangway.plane();
  ASSERT_EQ(plane.Call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"keys"}})").code, 201);
  const std::string job_path = api::PathOf(api::kJobs, "keys", "plug"),
                    secret_path = api::PathOf(api::kSecrets, "keys", "plug-ssh");
  const auto get = [&](const std::string& path) { return *api::ParseJson(*plane.Call("GET", path).body); };
  const auto runs = [&](int pods) {
    return Eventually([&] {
      boost::system::error_code error;
      const json::value job = get(job_path);
      const json::value* const running = job.find_pointer("/status/running", error);
      return running != nullptr && running->is_int64() && running->as_int64() == pods;
    });
  };
  const auto file = [&](const char* name) {
    std::string out;
    absl::Base64Unescape(json::value_to<std::string>(get(secret_path).at("data").at(name)), &out);
    return out;
  };

  const absl::Status created = plane.Create(kJob, "keys");
  ASSERT_TRUE(created.ok()) << created;
  // Secrets are nobody's as shipped: the Job waits and says so, until somebody gives the rights for its namespace.
  EXPECT_TRUE(Eventually([&] {
    return absl::StrContains(*plane.Call("GET", api::PathOf(api::kEvents, "keys")).body, "secrets is forbidden: User");
  })) << *plane.Call("GET", api::PathOf(api::kEvents, "keys")).body
      << gangway.Logs();
  const absl::Status given = GiveSshRights(plane, "keys");
  ASSERT_TRUE(given.ok()) << given;
  const absl::Status known = AwaitSshRights(plane, "keys");
  ASSERT_TRUE(known.ok()) << known;
  const std::size_t since = plane.AuditLog().size();
  ASSERT_TRUE(runs(2)) << gangway.Logs();
  const std::string key = file("id_rsa");
  EXPECT_THAT(key, StartsWith("-----BEGIN RSA PRIVATE KEY-----"));
  EXPECT_THAT(file("authorized_keys"), StartsWith("ssh-rsa "));

  // Another process takes over, and the Job grows.
  gangway.StopBoth();
  gangway.StartBoth();
  const kube::Response scaled =
      plane.Call("PATCH", job_path, R"([{"op":"replace","path":"/spec/tasks/0/replicas","value":3}])",
                 "application/json-patch+json");
  ASSERT_EQ(scaled.code, 200) << *scaled.body;
  ASSERT_TRUE(runs(3)) << gangway.Logs();
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(file("config"), "Host plug-w-2\n"); })) << gangway.Logs();
  EXPECT_EQ(file("id_rsa"), key);

  const std::string uid = json::value_to<std::string>(get(job_path).at("metadata").at("uid"));
  const absl::Status ended = plane.Create(
      absl::StrCat(
          "{apiVersion: bus.volcano.sh/v1alpha1, kind: Command, metadata: {name: end}, action: CompleteJob, target: "
          "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: plug, uid: ",
          uid, ", controller: true}}"),
      "keys");
  ASSERT_TRUE(ended.ok()) << ended;
  EXPECT_TRUE(Eventually([&] { return plane.Call("GET", secret_path).code == 404; })) << gangway.Logs();

  std::set<std::string> verbs;
  const auto told_of_all = [&] {  // what is done is told a moment later
    verbs.clear();
    for (const absl::string_view line : absl::StrSplit(plane.AuditLog(since), '\n', absl::SkipEmpty())) {
      if (!absl::StrContains(line, R"("resource":"secrets")") ||
          !absl::StrContains(line, "gangway-system:gangway-controller"))
        continue;
      const auto event = api::ParseJson(line);
      EXPECT_TRUE(event.ok()) << line;
      if (event.ok()) verbs.insert(json::value_to<std::string>(event->at("verb")));
      EXPECT_THAT(std::string(line), Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")")));
    }
    return verbs.contains("delete");
  };
  EXPECT_TRUE(Eventually(told_of_all));
  EXPECT_THAT(verbs, ElementsAre("create", "delete", "get", "patch"));
  EXPECT_THAT(gangway.Logs(), Not(HasSubstr("PRIVATE KEY")));
  EXPECT_THAT(gangway.Logs(), Not(HasSubstr(absl::Base64Escape(key).substr(0, 60))));
}

}  // namespace
}  // namespace gangway::testutil
