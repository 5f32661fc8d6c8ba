// deploy/volcano on a real API server: the types judge as Volcano's do, every overlay can be applied, removed and
// applied again without anybody's jobs going away, and each account may do what docs/rbac.md says.
//
// GW_UPDATE_GOLDEN=1 writes docs/rbac.md anew, and fails.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/control_plane.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/testing/golden.h"

namespace gangway::testutil {
namespace {

using boost::json::object;
using boost::json::value;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kDeploy = GW_SOURCE_DIR "/deploy/volcano";
const std::string kOverlays[] = {"standalone", "beside-volcano", "beside-volcano-extender", "paddle-only", "shadow"};

value Json(const std::string& text) { return *api::ParseJson(text); }
std::string Text(const value& v) { return std::string(v.get_string()); }

// One control plane for all cases, without Volcano's types until they are applied here.
class ManifestsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent() || !HasKubectl()) return;
    auto started =
        ControlPlane::Start({.volcano_crds = false,
                             .api_server_flags = {"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}});
    ASSERT_TRUE(started.ok()) << started.status();
    plane_ = *std::move(started);
    Apply("crds");
    std::string types;
    for (const auto& file : std::filesystem::directory_iterator(kDeploy + "/crds")) {
      if (file.path().filename() != "kustomization.yaml")
        absl::StrAppend(&types, types.empty() ? "" : ",", file.path().stem().string());
    }
    EXPECT_TRUE(Serves(types)) << types;
    Apply("namespace");
    Apply("paddle-namespace");
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    if (!HasKubectl())
      GTEST_SKIP() << "there is no kubectl on this machine, so there is no control plane on this machine to use";
  }

  // kubectl apply -k; warnings are failures (of pod security, of unknown fields). What it gives rights to has them
  // then.
  static std::string Apply(const std::string& kustomization) {
    const Outcome outcome = plane_->Kubectl({"apply", "-k", kDeploy + "/" + kustomization});
    EXPECT_EQ(outcome.exit_code, 0) << kustomization << ": " << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty()) << kustomization;
    const absl::Status known = AwaitRights(*plane_, Kubectl({"kustomize", kDeploy + "/" + kustomization}));
    EXPECT_TRUE(known.ok()) << kustomization << ": " << known;
    return outcome.out;
  }
  // Types that were applied are established, and then in discovery, in the API server's own time.
  static bool Serves(const std::string& types) {
    return Eventually([&] { return plane_->Kubectl({"get", types}).exit_code == 0; });
  }
  static std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = plane_->Kubectl(std::move(args), input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }

  static std::unique_ptr<ControlPlane> plane_;
};
std::unique_ptr<ControlPlane> ManifestsTest::plane_;

std::string CollectionOf(const value& document, const std::string& ns) {
  const api::Resource* resource = api::FindKind(Text(document.at("apiVersion")), Text(document.at("kind")));
  return api::PathOf(*resource, ns);
}

// --- The types.

TEST_F(ManifestsTest, TheTypesAreStructuralAndServed) {
  for (const char* name : {"jobs.batch.volcano.sh", "podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh",
                           "commands.bus.volcano.sh", "jobflows.flow.volcano.sh", "jobtemplates.flow.volcano.sh",
                           "cronjobs.batch.volcano.sh"}) {
    const value crd =
        Json(*plane_->Call("GET", std::string("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/") + name).body);
    for (const value& condition : crd.at("status").at("conditions").get_array()) {
      const std::string type = Text(condition.at("type"));
      EXPECT_EQ(Text(condition.at("status")), type == "Established" || type == "NamesAccepted" ? "True" : "False")
          << name << api::ToJson(condition);
    }
  }
  EXPECT_THAT(Kubectl({"api-resources", "--no-headers", "--api-group=batch.volcano.sh"}), HasSubstr("vcjob,vj"));
}

// The flat file is for `kubectl create -f URL`.
TEST_F(ManifestsTest, TheFlatFilesAreTakenByCreate) {
  EXPECT_EQ(plane_->Kubectl({"replace", "--dry-run=server", "-f", kDeploy + "/crds.yaml"}).exit_code, 0);
  const Outcome workload = plane_->Kubectl({"create", "--dry-run=server", "-f", kDeploy + "/gangway.yaml"});
  EXPECT_THAT(workload.err, HasSubstr(R"(namespaces "gangway-system" already exists)"));
  for (const absl::string_view line : absl::StrSplit(workload.err, '\n', absl::SkipEmpty())) {
    EXPECT_THAT(std::string(line), HasSubstr("already exists"));
  }
}

// Under kubectl's strict validation: what the originals take is taken, the guide's misspelt policy included, and shown
// in their columns.
TEST_F(ManifestsTest, PaddleJobsOfBothDialectsAreKept) {
  for (const char* kustomization : {"crds-paddle", "crds-kubeflow"}) Apply(kustomization);
  EXPECT_TRUE(Serves("paddlejobs.batch.paddlepaddle.org,paddlejobs.kubeflow.org"));
  const std::string pods =
      R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"paddle","image":"train"}]}})";
  const auto paddle_job = [](const std::string& name, const std::string& spec) {
    return absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                        R"("},"spec":)", spec, "}");
  };
  const std::vector<std::string> apply{"apply", "--validate=strict", "-f", "-"};
  Kubectl(apply, paddle_job("guide",
                            absl::StrCat(
                                R"({"cleanPolicy":"OnCompletion","withGloo":1,"intranet":"PodIP","ps":{"replicas":2,)",
                                pods, R"(},"worker":{"replicas":2,)", pods, "}}")));
  Kubectl(apply,
          paddle_job("stored",
                     absl::StrCat(R"({"cleanPodPolicy":"OnFailed","elastic":0,"worker":{"replicas":-1,)", pods, "}}")));
  EXPECT_EQ(Kubectl({"get", "pdj", "guide", "-o", "jsonpath={.spec.cleanPolicy}"}), "OnCompletion");
  const auto words = [](const std::string& text) -> std::vector<std::string> {
    return absl::StrSplit(text.substr(0, text.find('\n')), ' ', absl::SkipEmpty());
  };
  EXPECT_EQ(words(Kubectl({"get", "pdj"})),
            (std::vector<std::string>{"NAME", "STATUS", "MODE", "PS", "WORKER", "AGE"}));
  const Outcome unknown =
      plane_->Kubectl(apply, paddle_job("odd", absl::StrCat(R"({"tasks":[],"worker":{)", pods, "}}")));
  EXPECT_THAT(unknown.err, HasSubstr(R"(unknown field "spec.tasks")"));
  const Outcome none = plane_->Kubectl(apply, paddle_job("none", absl::StrCat(R"({"worker":{)", pods, "}}")));
  EXPECT_THAT(none.err, HasSubstr("spec.worker.replicas: Required value"));

  const std::string kubeflow = absl::StrCat(
      R"({"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":"two"},"spec":{"elasticPolicy":)",
      R"({"metrics":[{"type":"Resource"}]},"paddleReplicaSpecs":{"Worker":{"replicas":2,)", pods, "}}}}");
  Kubectl(apply, kubeflow);
  EXPECT_EQ(words(Kubectl({"get", "paddlejobs.kubeflow.org"})), (std::vector<std::string>{"NAME", "STATE", "AGE"}));
  Kubectl({"scale", "paddlejobs.kubeflow.org/two", "--replicas=3"});
  EXPECT_EQ(
      Kubectl({"get", "paddlejobs.kubeflow.org", "two", "-o", "jsonpath={.spec.paddleReplicaSpecs.Worker.replicas}"}),
      "3");
  for (const char* folder : {"/crds-paddle", "/crds-kubeflow"}) Kubectl({"delete", "-k", kDeploy + folder});
}

struct Row {
  int number = 0, status = 0;
  std::string what, message;
  value document, input;
};

// Older API servers count in another sentence.
std::set<std::string> AsSaidNow(const std::set<std::string>& causes) {
  std::set<std::string> out;
  for (const std::string& cause : causes) {
    const bool older = absl::StrContains(cause, "may not be longer than ");
    out.insert(older ? absl::StrCat(absl::StrReplaceAll(cause, {{"be longer than", "be more than"}}), " bytes")
                     : cause);
  }
  return out;
}

std::vector<Row> RecordedRows(absl::string_view method) {
  std::vector<Row> rows;
  const value all = Json(ReadFile(GW_SOURCE_DIR "/tests/golden/volcano/admission.json"));
  int number = 0;
  const auto text = [](const value& row, const char* key) {
    const value* at = row.get_object().if_contains(key);
    return at != nullptr && at->is_string() ? Text(*at) : std::string();
  };
  for (const value& row : all.get_array()) {
    ++number;
    if (Text(row.at("method")) != method) continue;
    const value* input = row.get_object().if_contains("input");
    rows.push_back({number, static_cast<int>(row.at("status").as_int64()), text(row, "what"), text(row, "message"), row,
                    input != nullptr ? *input : value()});
  }
  return rows;
}

std::set<std::string> CausesIn(const value& causes) {
  std::set<std::string> out;
  if (!causes.is_array()) return out;
  for (const value& cause : causes.get_array())
    out.insert(absl::StrCat(Text(cause.at("field")), ": ", Text(cause.at("message"))));
  return out;
}

// What Volcano's webhooks made of an object before the schema saw it, where that decides the row.
bool WebhookDecides(const Row& row) {
  return row.what == "weight 0" /* made 1 */ || absl::StrContains(row.message, "mutatejob.volcano.sh");
}

TEST_F(ManifestsTest, EveryRecordedCreateGetsTheSchemasVerdict) {
  int refused = 0, accepted = 0;
  for (const Row& row : RecordedRows("POST")) {
    SCOPED_TRACE(absl::StrCat("row ", row.number, ": ", row.what));
    if (WebhookDecides(row)) continue;
    value document = row.input;
    object& metadata = document.at("metadata").get_object();
    const bool namespaced = metadata.contains("namespace");
    if (namespaced) metadata["namespace"] = "default";
    const kube::Response reply = plane_->Call("POST", CollectionOf(document, namespaced ? "default" : ""),
                                              api::ToJson(document), "application/json", "dryRun=All");
    if (row.status != 422) {  // accepted by the schema, whatever the webhooks said then
      EXPECT_EQ(reply.code, 201) << *reply.body;
      ++accepted;
      continue;
    }
    ++refused;
    EXPECT_EQ(reply.code, 422) << *reply.body;
    if (reply.code != 422) continue;
    const value status = Json(*reply.body);
    const std::set<std::string> recorded = CausesIn(row.document.at("causes")),
                                ours = AsSaidNow(CausesIn(status.at("details").at("causes")));
    EXPECT_THAT(ours, ::testing::Not(IsEmpty()));
    // Volcano's defaults may have carried a wrong value to more places.
    EXPECT_TRUE(std::includes(recorded.begin(), recorded.end(), ours.begin(), ours.end()))
        << ::testing::PrintToString(ours) << " recorded: " << ::testing::PrintToString(recorded);
  }
  EXPECT_GE(refused, 25);
  EXPECT_GE(accepted, 90);
}

TEST_F(ManifestsTest, EveryRecordedUpdateThatTheSchemaRefusedIsRefused) {
  const std::string job =
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"base"},"spec":{"minAvailable":1,
      "schedulerName":"volcano","tasks":[{"name":"w","replicas":2,"template":{"spec":{"containers":[{"name":"w","image":"i"}]}}}]}})";
  const std::string queue =
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q-open"},"spec":{"weight":1}})";
  const std::string job_path = api::PathOf(api::kJobs, "default", "base"),
                    queue_path = api::PathOf(api::kQueues, "", "q-open");
  ASSERT_EQ(plane_->Call("POST", api::PathOf(api::kJobs, "default"), job).code, 201);
  ASSERT_EQ(plane_->Call("POST", api::PathOf(api::kQueues, ""), queue).code, 201);
  int refused = 0;
  for (const Row& row : RecordedRows("PUT")) {
    if (row.status != 422) continue;
    SCOPED_TRACE(absl::StrCat("row ", row.number, ": ", row.what));
    const std::string change = Text(row.input.at("changed").at(0));  // "~ /spec/weight: 1 -> 0"
    const std::vector<std::string> parts = absl::StrSplit(absl::StripPrefix(change, "~ "), absl::ByString(": "));
    const std::vector<std::string> values = absl::StrSplit(parts.at(1), absl::ByString(" -> "));
    const std::string patch =
        absl::StrCat(R"([{"op":"add","path":")", parts.at(0), R"(","value":)", values.at(1), "}]");
    const kube::Response reply = plane_->Call("PATCH", absl::StrContains(row.message, "Queue") ? queue_path : job_path,
                                              patch, "application/json-patch+json", "dryRun=All");
    ASSERT_EQ(reply.code, 422) << *reply.body;
    EXPECT_EQ(Text(Json(*reply.body).at("message")), row.message);
    ++refused;
  }
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(plane_->Call("DELETE", job_path).code, 200);
  EXPECT_EQ(plane_->Call("DELETE", queue_path).code, 200);
}

TEST_F(ManifestsTest, EveryRecordedObjectIsTakenWithoutLoss) {
  int objects = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GW_SOURCE_DIR "/tests/golden/volcano")) {
    const std::string file = entry.path().string();
    if (!absl::EndsWith(file, ".json") || absl::EndsWith(file, "admission.json")) continue;
    const value recorded = Json(ReadFile(file));
    for (const char* kind : {"Job", "PodGroup", "Queue"}) {
      const value* list = recorded.get_object().if_contains(kind);
      if (list == nullptr) continue;
      for (value document : list->get_array()) {
        object& metadata = document.at("metadata").get_object();
        metadata = object{{"name", "recorded"}};
        const bool namespaced = std::string(kind) != "Queue";
        const kube::Response reply =
            plane_->Call("POST", CollectionOf(document, namespaced ? "default" : ""), api::ToJson(document),
                         "application/json", "dryRun=All&fieldValidation=Strict");
        EXPECT_EQ(reply.code, 201) << file << " " << kind << ": " << *reply.body;
        ++objects;
      }
    }
  }
  EXPECT_GT(objects, 10);
}

// --- The workload.

// The pods of our Deployments, made as pods: pod security and the priority class let them in.
void ExpectPodsAreTaken(ControlPlane& plane, const std::string& overlay) {
  const value deployments = Json(*plane.Call("GET", api::PathOf(api::kDeployments, "gangway-system")).body);
  EXPECT_FALSE(deployments.at("items").get_array().empty()) << overlay;
  for (const value& deployment : deployments.at("items").get_array()) {
    value pod = deployment.at("spec").at("template");
    pod.at("metadata").get_object()["name"] = "trial";
    const kube::Response reply = plane.Call("POST", api::PathOf(api::kPods, "gangway-system"), api::ToJson(pod),
                                            "application/json", "dryRun=All");
    EXPECT_EQ(reply.code, 201) << overlay << ": " << *reply.body;
  }
}

// What `kubectl auth can-i --list` says: what may be done with what, by the names it is bound to ("" for none). The API
// server merges roles in no order, so verbs are sorted.
using Rights = std::map<std::string, std::set<std::string>>;
Rights MayDo(const ControlPlane& plane, const std::string& account, const std::string& ns) {
  const Outcome outcome =
      plane.Kubectl({"auth", "can-i", "--list", "--no-headers", "--as=system:serviceaccount:gangway-system:" + account,
                     "--as-group=system:serviceaccounts", "--as-group=system:serviceaccounts:gangway-system",
                     "--as-group=system:authenticated", "-n", ns});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  Rights rights;
  for (const absl::string_view line : absl::StrSplit(outcome.out, '\n', absl::SkipEmpty())) {
    // resource, [URLs], [names], [verbs]
    const std::vector<std::string> parts = absl::StrSplit(line, absl::ByAnyChar("[]"));
    EXPECT_EQ(parts.size(), 7u) << line;
    if (parts.size() != 7) continue;
    const std::string resource(absl::StripAsciiWhitespace(parts[0]));
    const std::vector<std::string> verbs = absl::StrSplit(parts[5], ' ', absl::SkipEmpty());
    rights[absl::StrCat(resource.empty() ? parts[1] : resource, parts[3].empty() ? "" : " named ", parts[3])].insert(
        verbs.begin(), verbs.end());
  }
  return rights;
}

std::string TableOf(const Rights& rights) {
  std::string out = "| what | verbs |\n|---|---|\n";
  for (const auto& [what, verbs] : rights)
    absl::StrAppend(&out, "| `", what, "` | ", absl::StrJoin(verbs, " "), " |\n");
  return out;
}

struct Place {
  const char* ns;
  const char* title;
};
std::vector<Place> PlacesOf(const std::string& overlay) {
  if (overlay != "paddle-only") return {{"default", "any namespace"}, {"gangway-system", "beside that in its own"}};
  return {{"paddle-system", "the namespace of the jobs"},
          {"default", "the namespace `default`"},
          {"kube-system", "any other namespace"},
          {"gangway-system", "its own namespace"}};
}

std::string AccountsOf(ControlPlane& plane, const std::string& overlay, const Rights& everybody) {
  std::string text = absl::StrCat("\n## ", overlay, "\n");
  const value accounts = Json(*plane.Call("GET", api::PathOf(api::kServiceAccounts, "gangway-system")).body);
  for (const value& account : accounts.at("items").get_array()) {
    const std::string name = Text(account.at("metadata").at("name"));
    if (name == "default") continue;
    Rights said = everybody;
    for (const Place& place : PlacesOf(overlay)) {
      Rights rights = MayDo(plane, name, place.ns);
      for (const auto& [what, verbs] : said) rights.erase(what);
      if (overlay != "paddle-only") said.insert(rights.begin(), rights.end());  // of any namespace, so here too
      absl::StrAppend(&text, "\n### ", name, ", ", place.title, "\n\n",
                      rights.empty() ? "Nothing more.\n" : TableOf(rights));
    }
  }
  return text;
}

void ExpectJobsAreThere(ControlPlane& plane, const std::string& overlay) {
  for (const char* ns : {"default", "paddle-system"}) {
    EXPECT_EQ(plane.Call("GET", api::PathOf(api::kJobs, ns, "stays")).code, 200) << overlay;
  }
}

TEST_F(ManifestsTest, TakingTheWorkloadAwayLeavesTheJobsAndPuttingItBackWorks) {
  const std::string job = R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"stays"},
      "spec":{"minAvailable":1,"schedulerName":"volcano","tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"w","image":"i"}]}}}]}})";
  for (const char* ns : {"default", "paddle-system"})
    ASSERT_EQ(plane_->Call("POST", api::PathOf(api::kJobs, ns), job).code, 201);
  const Rights everybody = MayDo(*plane_, "default", "default");
  std::string rights = absl::StrCat(
      "# Who may do what\n\n"
      "What `kubectl auth can-i --list` says of each service account on an API server 1.36. What each rule is for "
      "stands beside it in\n"
      "`deploy/volcano/base`. Secrets are nobody's, but where somebody gives the controller the ClusterRole "
      "`gangway-controller-ssh` (`docs/job-plugins.md`).\n"
      "Generated by `tests/e2e/manifests_test.cc` with `GW_UPDATE_GOLDEN=1`.\n\n"
      "## Everybody\n\n",
      TableOf(everybody));

  for (const std::string& overlay : kOverlays) {
    Apply("overlays/" + overlay);
    ExpectPodsAreTaken(*plane_, overlay);
    rights += AccountsOf(*plane_, overlay, everybody);
    Kubectl({"delete", "--wait=true", "-k", kDeploy + "/overlays/" + overlay});
    EXPECT_EQ(plane_->Call("GET", "/api/v1/namespaces/gangway-system").code, 404) << overlay;
    ExpectJobsAreThere(*plane_, overlay);
  }
  // Each over what the one before has left, of which it may be a part.
  for (const std::string& overlay : kOverlays) {
    Apply("overlays/" + overlay);
    EXPECT_THAT(Apply("overlays/" + overlay), ::testing::Not(HasSubstr("created"))) << overlay;
    ExpectJobsAreThere(*plane_, overlay);
  }

  const std::string page = GW_SOURCE_DIR "/docs/rbac.md";
  if (ControlPlane::Minor() == 36) return ExpectGolden(page, rights);
  // What everybody may do is Kubernetes' own, and the page has it of that release.
  const auto ours = [](const std::string& text) { return text.substr(text.find("\n## standalone\n")); };
  EXPECT_EQ(ours(rights), ours(ReadFile(page)));
}

// Where that admission plugin is on, whoever writes blockOwnerDeletion needs the right to the owner's finalizers.
TEST_F(ManifestsTest, TheControllerMayOwnWhatItMakes) {
  Apply("overlays/standalone");
  const auto as_controller = [&](const std::string& owner_api, const std::string& owner_kind) {
    const std::string group = absl::StrCat(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"owned","namespace":"default","ownerReferences":)",
        R"([{"apiVersion":")", owner_api, R"(","kind":")", owner_kind,
        R"(","name":"o","uid":"u","controller":true,"blockOwnerDeletion":true}]},"spec":{}})");
    return plane_->Kubectl(
        {"create", "--dry-run=server", "--as=system:serviceaccount:gangway-system:gangway-controller", "-f", "-"},
        group);
  };
  EXPECT_EQ(as_controller("batch.volcano.sh/v1alpha1", "Job").exit_code, 0);
  EXPECT_EQ(as_controller("batch.volcano.sh/v1alpha1", "CronJob").exit_code, 0);
  EXPECT_EQ(as_controller("v1", "Pod").exit_code, 0);
  // As docs/operations.md says.
  EXPECT_THAT(as_controller("apps/v1", "ReplicaSet").err, HasSubstr("cannot set blockOwnerDeletion"));
}

}  // namespace
}  // namespace gangway::testutil
