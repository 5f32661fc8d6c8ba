// The real API server asks `gangway controller --webhook` before it writes: TLS on loopback, the configurations of
// deploy/volcano/components/webhook with an address in place of the Service.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/control_plane.h"
#include "tests/e2e/gangway_process.h"
#include "tests/e2e/installed_webhook.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

using boost::json::value;
using ::testing::HasSubstr;

value Json(const std::string& text) { return *api::ParseJson(text); }

class WebhookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    auto plane = ControlPlane::Start({.controller_manager = false,
                                      // gangs of Kubernetes' own, which translate makes, too
                                      .api_server_flags = ControlPlane::GangFlags()});
    GW_ASSERT_OK(plane);
    plane_ = *std::move(plane);
    std::vector<std::string> flags = WebhookFlags(*plane_);
    flags.push_back("--log-format=json");
    controller_.emplace(plane_->folder(), "controller", "controller", plane_->admin_kubeconfig(), flags);
    ASSERT_TRUE(controller_->WaitReady()) << controller_->Log();
    GW_ASSERT_OK(InstallWebhook(*plane_, plane_->folder() + "/controller.log"));
    // The webhook knows queues from the controller's cache, which is later than what the API server answers.
    ASSERT_TRUE(Eventually([&] { return CreatePodGroup("dryRun=All").code == 201; })) << controller_->Log();
  }

  static std::string Job(const std::string& name, const std::string& more) {
    return absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                        R"("},"spec":{)", more,
                        R"(,"tasks":[{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  }
  static std::string Queue(const std::string& name) {
    return absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                        R"("},"spec":{}})");
  }
  kube::Response Create(const std::string& object) {
    const bool job = absl::StrContains(object, "\"Job\"");
    return plane_->Call("POST", job ? api::PathOf(api::kJobs, "default") : api::PathOf(api::kQueues, ""), object);
  }

  kube::Response CreatePodGroup(const std::string& query = "") {
    return plane_->Call(
        "POST", api::PathOf(api::kPodGroups, "default"),
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1}})",
        "application/json", query);
  }

  std::unique_ptr<ControlPlane> plane_;
  std::optional<GangwayProcess> controller_;
};

TEST_F(WebhookTest, TheApiServerRefusesWhatItRefusesAndStoresItsDefaults) {
  const kube::Response bad = Create(Job("bad", R"("minAvailable":5)"));
  EXPECT_EQ(bad.code, 400) << *bad.body;
  EXPECT_THAT(*bad.body, HasSubstr("validate.gangway.volcano.sh"));
  EXPECT_THAT(*bad.body, HasSubstr("job default/bad is refused: spec.minAvailable: "));

  const kube::Response good = Create(Job("good", R"("plugins":{"env":[]})"));
  ASSERT_EQ(good.code, 201) << *good.body;
  const value spec = Json(*good.body).at("spec");
  EXPECT_EQ(spec.at("queue"), "default");
  EXPECT_EQ(spec.at("schedulerName"), "volcano");
  EXPECT_EQ(spec.at("maxRetry"), 3);
  EXPECT_EQ(spec.at("minAvailable"), 2);
  EXPECT_EQ(spec.at("tasks").at(0).at("name"), "default0");

  // Changes: what may change does, what may not is refused.
  const std::string path = api::PathOf(api::kJobs, "default", "good");
  const kube::Response renamed = plane_->Call(
      "PATCH", path, R"([{"op":"replace","path":"/spec/queue","value":"other"}])", "application/json-patch+json");
  EXPECT_EQ(renamed.code, 400) << *renamed.body;
  EXPECT_THAT(*renamed.body, HasSubstr("spec.queue"));
  EXPECT_EQ(plane_->Call("PATCH", path, R"({"metadata":{"labels":{"a":"b"}}})", "application/merge-patch+json").code,
            200);

  // Queues, whose look-ups come from the controller's cache.
  ASSERT_EQ(Create(Queue("ads")).code, 201);
  const kube::Response kept = plane_->Call("DELETE", api::PathOf(api::kQueues, "", "default"));
  EXPECT_EQ(kept.code, 400) << *kept.body;
  EXPECT_EQ(plane_->Call("GET", api::PathOf(api::kQueues, "", "default")).code, 200);

  // A PodGroup of a stranger gets the queue of its namespace, as soon as the controller has seen both.
  ASSERT_EQ(plane_
                ->Call("POST", "/api/v1/namespaces",
                       R"({"metadata":{"name":"team","annotations":{"scheduling.volcano.sh/queue-name":"ads"}}})")
                .code,
            201);
  const auto in_ads = [&] {
    const kube::Response made = plane_->Call(
        "POST", api::PathOf(api::kPodGroups, "team"),
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1}})",
        "application/json", "dryRun=All");
    return made.code == 201 && Json(*made.body).at("spec").at("queue") == "ads";
  };
  EXPECT_TRUE(Eventually(in_ads)) << controller_->Log();
}

// Of a PodGroup each write of its status is a change of the PodGroup, of which nobody need be asked.
TEST_F(WebhookTest, NobodyIsAskedAboutAPodGroupsStatus) {
  if (ControlPlane::Minor() < 28) GTEST_SKIP() << "Kubernetes asks webhooks by matchConditions since 1.28";
  const std::string path = api::PathOf(api::kPodGroups, "default", "g");
  const kube::Response made = CreatePodGroup();
  ASSERT_EQ(made.code, 201) << *made.body;
  const auto patch = [&](const std::string& body) {
    EXPECT_EQ(plane_->Call("PATCH", path, body, "application/merge-patch+json").code, 200);
  };
  const auto asked = [&] {
    std::vector<std::string> lines;
    for (const absl::string_view line : absl::StrSplit(controller_->Get("metrics", "/metrics"), '\n')) {
      if (absl::StartsWith(line, "gangway_webhook_reviews_total{") && absl::StrContains(line, "/validate"))
        lines.emplace_back(line);
    }
    return absl::StrJoin(lines, "\n");
  };
  const std::string before = asked();
  ASSERT_THAT(before, HasSubstr("page=\"/validate\""));
  patch(R"({"status":{"phase":"Inqueue"}})");
  EXPECT_EQ(asked(), before);
  patch(R"({"spec":{"minMember":2}})");
  EXPECT_NE(asked(), before);
}

// What `gangway translate` makes of every example (tests/golden/translate), the examples themselves, and the pods that
// come of them: taken by a real API server with our types and our webhook, its validation strict.
TEST_F(WebhookTest, EveryExampleAndWhatIsMadeOfItIsTaken) {
  for (const char* const ns : {"ads", "kubeflow"}) {
    ASSERT_EQ(plane_->Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns, "\"}}")).code,
              201);
  }
  ASSERT_EQ(Create(Queue("ads")).code, 201);
  const std::string job = Job("probe", R"("queue":"ads")");  // the webhook knows queues from the controller's cache
  ASSERT_TRUE(Eventually([&] {
    return plane_->Call("POST", api::PathOf(api::kJobs, "default"), job, "application/json", "dryRun=All").code == 201;
  })) << controller_->Log();
  const auto try_out = [&](const std::string& object, const std::string& where) {
    const value document = Json(object);
    const api::Resource* const resource =
        api::FindKind(std::string(document.at("apiVersion").as_string()), std::string(document.at("kind").as_string()));
    ASSERT_NE(resource, nullptr) << where;
    const value* const ns = document.at("metadata").as_object().if_contains("namespace");
    const kube::Response taken =
        plane_->Call("POST", api::PathOf(*resource, ns == nullptr ? "default" : std::string(ns->as_string())), object,
                     "application/json", "dryRun=All&fieldValidation=Strict");
    EXPECT_EQ(taken.code, 201) << where << ": " << *taken.body;
  };
  int jobs = 0, examples = 0;
  for (const char* const folder : {"tests/golden/translate", "tests/golden/paddle/guide", "examples/paddle"}) {
    for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(GW_SOURCE_DIR, "/", folder))) {
      const std::string file = entry.path().string();
      if (!absl::EndsWith(file, ".yaml")) continue;
      // of gangs of Kubernetes' own
      if (absl::EndsWith(file, ".kubernetes.yaml") && ControlPlane::Minor() < 36) continue;
      const auto documents = api::ReadManifest(ReadFile(file), file);
      ASSERT_THAT(documents, IsOk());
      for (const api::ManifestDocument& document : *documents) {
        if (api::FindKind(document.api_version, document.kind) == nullptr || document.kind == "Namespace") continue;
        try_out(document.json, file);
        examples += document.kind == "PaddleJob" ? 1 : 0;
        if (document.kind != "Job" || document.api_version != "batch.volcano.sh/v1alpha1") continue;
        ++jobs;
        const value made = Json(document.json);
        for (const value& task : made.at("spec").at("tasks").as_array()) {
          boost::json::object pod = task.at("template").as_object();
          pod["apiVersion"] = "v1";
          pod["kind"] = "Pod";
          pod["metadata"].emplace_object()["name"] = "pod";
          try_out(api::ToJson(pod), absl::StrCat(file, " ", api::ToJson(task.at("name"))));
        }
      }
    }
  }
  EXPECT_GT(jobs, 30);
  EXPECT_GT(examples, 15);
}

}  // namespace
}  // namespace gangway::testutil
