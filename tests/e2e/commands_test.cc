// `gangway diff`, `submit`, `import` and `doctor` against a real API server: owners and deletions in the foreground,
// the garbage collector, RBAC's answers about service accounts, webhook configurations.
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/control_plane.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CommandsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent()) return;
    auto plane = ControlPlane::Start({.kwok = true, .audit = false});
    ASSERT_TRUE(plane.ok()) << plane.status();
    plane_ = plane->release();
    ASSERT_TRUE(plane_->CreateNodes(1).ok());
  }
  static void TearDownTestSuite() {
    delete plane_;
    plane_ = nullptr;
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(plane_, nullptr);
  }
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    args.insert(args.end(), {"--kubeconfig", plane_->admin_kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + plane_->folder()});
  }
  void Make(const std::string& path, const std::string& body) const {
    const kube::Response made = plane_->Call("POST", path, body);
    ASSERT_EQ(made.code, 201) << *made.body;
  }
  void MakeNamespace(const std::string& name) const {
    Make("/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", name, R"("}})"));
  }
  static std::string TextOf(const std::string& path) { return *plane_->Call("GET", path).body; }
  static int CodeOf(const std::string& path) { return plane_->Call("GET", path).code; }

  static ControlPlane* plane_;
};
ControlPlane* CommandsTest::plane_ = nullptr;

TEST_F(CommandsTest, SubmitAndReplace) {
  MakeNamespace("rec");
  const std::string folder = GW_SOURCE_DIR "/examples/paddlerec/",
                    map = "/api/v1/namespaces/rec/configmaps/k8s-ctr-dnn-modelconfig";
  const std::vector<std::string> submit{"submit", "-m", folder + "config.yaml", "-b", folder + "backend.yaml",
                                        "-n",     "rec"};
  const Outcome first = Run(submit);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(TextOf(map), AllOf(HasSubstr("\"ownerReferences\""), HasSubstr("\"blockOwnerDeletion\":true"),
                                 Not(HasSubstr("submitted-for"))));
  const std::string uid = api::ToJson(api::ParseJson(TextOf(map))->at("metadata").at("uid"));
  EXPECT_EQ(Run(submit).exit_code, 1);
  std::vector<std::string> replace = submit;
  replace.emplace_back("--replace");
  const Outcome second = Run(replace);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(TextOf(map), Not(HasSubstr(uid)));
}

TEST_F(CommandsTest, DiffAsksTheServerAndChangesNothing) {
  MakeNamespace("diff");
  std::string text = ReadFile(GW_SOURCE_DIR "/examples/paddle/ps.yaml");
  const std::string name = "metadata:\n  name: ";
  ASSERT_NE(text.find(name), std::string::npos);
  text.replace(text.find(name), name.size(), "metadata:\n  namespace: diff\n  name: ");
  const std::string file = plane_->folder() + "/ps.yaml", jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/diff/jobs";
  WriteFile(file, text);
  const Outcome fresh = Run({"diff", "-f", file});
  EXPECT_EQ(fresh.exit_code, 1) << fresh.err;
  EXPECT_THAT(fresh.out, AllOf(HasSubstr("--- live/Job diff/"), HasSubstr("\n+  minAvailable: ")));
  EXPECT_THAT(TextOf(jobs), HasSubstr("\"items\":[]")) << "it was a dry run";
  const Outcome translated = RunProgram({GW_GANGWAY, "translate", "-f", file, "-o", "json"}, {});
  ASSERT_EQ(translated.exit_code, 0) << translated.err;
  const boost::json::value list = *api::ParseJson(translated.out);
  for (const boost::json::value& item : list.at("items").as_array()) Make(jobs, api::ToJson(item));
  const Outcome same = Run({"diff", "-f", file});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  WriteFile(file,
            text + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: diff}\ndata: {a: b}\n");
  const Outcome more = Run({"diff", "-f", file});
  EXPECT_EQ(more.exit_code, 1) << more.err;
  EXPECT_THAT(more.out, AllOf(HasSubstr("+++ translated/ConfigMap diff/more\n"), Not(HasSubstr("/Job "))));
}

TEST_F(CommandsTest, ImportThereAndBack) {
  MakeNamespace("moving");
  const std::string job = "/apis/batch.paddlepaddle.org/v1/namespaces/moving/paddlejobs/wd",
                    group = "/apis/scheduling.volcano.sh/v1beta1/namespaces/moving/podgroups/wd";
  const std::string role = R"({"replicas":1,"template":{"spec":{"containers":[{"name":"paddle","image":"i"}]}}})";
  Make("/apis/batch.paddlepaddle.org/v1/namespaces/moving/paddlejobs",
       absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd",
    "finalizers":["finalizers.paddlepaddle.org"]},"spec":{"ps":)",
                    role, R"(,"worker":)", role, "}}"));
  Make(
      "/apis/scheduling.volcano.sh/v1beta1/namespaces/moving/podgroups",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wd"},"spec":{"minMember":2,"queue":"ads"}})");
  const std::string owner = absl::StrCat(
      R"("ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":"wd","controller":true,"uid":)",
      api::ToJson(api::ParseJson(TextOf(job))->at("metadata").at("uid")), "}]");
  Make("/api/v1/namespaces/moving/pods",
       absl::StrCat(R"({"metadata":{"name":"wd-ps-0",)", owner,
                    R"(},"spec":{"nodeName":"node-000","containers":[{"name":"paddle","image":"i"}]}})"));
  Make("/api/v1/namespaces/moving/services",
       absl::StrCat(R"({"metadata":{"name":"wd-ps-0",)", owner,
                    R"(},"spec":{"clusterIP":"None","ports":[{"port":36000}]}})"));

  const Outcome moved = Run({"import", "-n", "moving", "--apply", "wd"});
  ASSERT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_EQ(CodeOf("/api/v1/namespaces/moving/pods/wd-ps-0"), 404);
  EXPECT_EQ(CodeOf("/api/v1/namespaces/moving/services/wd-ps-0"), 404);
  EXPECT_EQ(CodeOf(group), 404);
  EXPECT_THAT(TextOf(job), AllOf(HasSubstr(R"("paddle.gangway.io/managed-by":"gangway")"),
                                 HasSubstr(R"("queue":"ads")"), Not(HasSubstr("finalizers"))));
  const Outcome back = Run({"import", "-n", "moving", "--rollback", "wd"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_THAT(TextOf(job), Not(HasSubstr("schedulingPolicy")));
  EXPECT_THAT(TextOf(group), HasSubstr(R"("minMember":2)"));
}

TEST_F(CommandsTest, S7DoctorAsksWhoMayListPods) {
  MakeNamespace("doctor");
  ASSERT_TRUE(plane_->Create(ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"), "doctor").ok());
  Make(
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
      R"({"metadata":{"name":"left-behind"},"webhooks":[{"name":"a.left.behind","failurePolicy":"Ignore","sideEffects":"None","admissionReviewVersions":["v1"],
          "clientConfig":{"service":{"namespace":"gone","name":"gone"}}}]})");
  const Outcome sick = Run({"doctor"});
  EXPECT_EQ(sick.exit_code, 1) << sick.err;
  EXPECT_EQ(sick.err, "");
  EXPECT_THAT(
      sick.out,
      AllOf(HasSubstr("job doctor/ctr-volcano: service account default of its pods may not list pods"),
            HasSubstr("validatingwebhookconfiguration left-behind: webhook a.left.behind asks service gone/gone")));
  Make(
      "/apis/rbac.authorization.k8s.io/v1/namespaces/doctor/roles",
      R"({"metadata":{"name":"pod-reader"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]})");
  Make(
      "/apis/rbac.authorization.k8s.io/v1/namespaces/doctor/rolebindings",
      R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"pod-reader"},"subjects":[{"kind":"ServiceAccount","name":"default","namespace":"doctor"}]})");
  ASSERT_EQ(
      plane_->Call("DELETE", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/left-behind").code,
      200);
  const auto well = [&] { return Run({"doctor"}).out; };
  EXPECT_TRUE(Eventually([&] { return well().find("may not list pods") == std::string::npos; }));
  EXPECT_THAT(well(), Not(HasSubstr("left-behind")));
}

}  // namespace
}  // namespace gangway::testutil
