// `gangway import` against the sandbox's API server, with what paddle-operator makes.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/gangway_process.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kJobPath[] = "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs/wd";
constexpr char kGroupPath[] = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/wd";

class ImportProcessTest : public ::testing::Test {
 protected:
  explicit ImportProcessTest(const std::string& components = "apiserver,kubelets", std::string annotations = "{}")
      : annotations_(std::move(annotations)),
        server_(folder_.path(), {"--start-delay", "10ms", "--stop-delay", "10ms", "--components", components}) {}

  // A job as the operator's guide has it, with its hand-made PodGroup, and what the operator made for it.
  void SetUp() override {
    Make(
        "/apis/scheduling.volcano.sh/v1beta1/queues",
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"ads"},"spec":{"weight":1}})");
    ASSERT_EQ(server_
                  .Call("PATCH", "/apis/scheduling.volcano.sh/v1beta1/queues/ads/status",
                        R"({"status":{"state":"Open"}})", "application/merge-patch+json")
                  .code,
              200);
    Make("/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs",
         absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob",
      "metadata":{"name":"wd","annotations":)",
                      annotations_, R"(,"finalizers":["finalizers.paddlepaddle.org"]},"spec":{"cleanPodPolicy":"Never",
      "ps":{"replicas":1,"template":{"spec":{"containers":[{"name":"paddle","image":"i"}]}}},"worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"paddle","image":"i"}]}}}}})"));
    Make(
        "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wd"},"spec":{"minMember":2,"queue":"ads"}})");
    const auto job = api::ParseJson(*server_.Call("GET", kJobPath).body);
    const std::string owner = absl::StrCat(
        R"("ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":"wd","uid":)",
        api::ToJson(job->at("metadata").at("uid")), R"(,"controller":true}])");
    for (const char* const name : {"wd-ps-0", "wd-worker-0"}) {
      Make(
          "/api/v1/namespaces/default/pods",
          absl::StrCat(
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "\",", owner,
              R"(},"spec":{"nodeName":"node-000","terminationGracePeriodSeconds":0,"containers":[{"name":"paddle","image":"i"}]}})"));
      Make("/api/v1/namespaces/default/services",
           absl::StrCat(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")", name, "\",", owner,
                        R"(},"spec":{"clusterIP":"None","ports":[{"port":36000}]}})"));
    }
    Make("/api/v1/namespaces/default/configmaps",
         absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"wd",)", owner,
                      R"(},"data":{"PADDLE_PORT":"41000"}})"));
    ASSERT_TRUE(Eventually([&] { return server_.PhaseOf("/api/v1/namespaces/default/pods/wd-ps-0") == "Running"; }));
    ASSERT_TRUE(
        Eventually([&] { return server_.PhaseOf("/api/v1/namespaces/default/pods/wd-worker-0") == "Running"; }));
  }
  void Make(const std::string& path, const std::string& body) const {
    const kube::Response made = server_.Call("POST", path, body, "application/json");
    ASSERT_EQ(made.code, 201) << *made.body;
  }
  Outcome Import(std::vector<std::string> args) const {
    args.insert(args.begin(), {GW_GANGWAY, "import", "--kubeconfig", server_.kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + folder_.path()});
  }
  int CodeOf(const std::string& path) const { return server_.Call("GET", path).code; }
  std::string JobText() const { return *server_.Call("GET", kJobPath).body; }

  const TemporaryFolder folder_{"gangway-import"};
  const std::string annotations_;
  const ApiServerProcess server_;
};

TEST_F(ImportProcessTest, APlanChangesNothing) {
  const std::string before = JobText();
  const Outcome plan = Import({});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("paddlejob default/wd: runs under paddle-operator\n"),
                              HasSubstr("  goes: configmap wd, pod wd-ps-0, pod wd-worker-0, podgroup wd, service "
                                        "wd-ps-0, service wd-worker-0\n"),
                              HasSubstr("  taken over from podgroup wd: queue ads, minMember 2\n"),
                              HasSubstr("  2 running pods are stopped: the training starts again")));
  EXPECT_EQ(JobText(), before);
  EXPECT_THAT(Import({"--apply"}).out, HasSubstr("left alone: it runs; name it, or say --include-running"));
  EXPECT_EQ(JobText(), before);
  const Outcome nobody = Import({"nobody"});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("paddlejob default/nobody: there is no such job"));
  EXPECT_EQ(Import({"--apply", "--rollback"}).exit_code, 2);
}

TEST_F(ImportProcessTest, ThereAndBack) {
  const Outcome moved = Import({"--apply", "wd"});
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_THAT(moved.out, HasSubstr("done; what was is kept in config map gangway-import-wd"));
  EXPECT_EQ(CodeOf("/api/v1/namespaces/default/pods/wd-ps-0"), 404);
  EXPECT_EQ(CodeOf("/api/v1/namespaces/default/services/wd-worker-0"), 404);
  EXPECT_EQ(CodeOf("/api/v1/namespaces/default/configmaps/wd"), 404);
  EXPECT_EQ(CodeOf(kGroupPath), 404);
  EXPECT_THAT(JobText(), AllOf(HasSubstr(R"("paddle.gangway.io/managed-by":"gangway")"),
                               HasSubstr(R"("schedulingPolicy":)"), Not(HasSubstr("finalizers.paddlepaddle.org"))));
  EXPECT_THAT(Import({}).out, HasSubstr("paddlejob default/wd: is gangway's already\n"));

  const Outcome back = Import({"--rollback", "wd"});
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_THAT(back.out, HasSubstr("paddlejob default/wd: is paddle-operator's again"));
  EXPECT_THAT(JobText(), AllOf(HasSubstr(R"("paddle.gangway.io/managed-by":"paddle-operator")"),
                               Not(HasSubstr("\"schedulingPolicy\""))));
  EXPECT_EQ(CodeOf(kGroupPath), 200);
  EXPECT_EQ(CodeOf("/api/v1/namespaces/default/configmaps/gangway-import-wd"), 404);
  const Outcome again = Import({"--rollback", "wd"});
  EXPECT_EQ(again.exit_code, 0) << "it is back";
}

TEST_F(ImportProcessTest, WhileTheOperatorRunsNothingIsTakenFromIt) {
  Make("/apis/apps/v1/namespaces/default/deployments",
       R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"paddle-controller-manager"},
    "spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"m","image":"r/paddle-operator:v0.3.5"}]}}}})");
  const std::string before = JobText();
  const Outcome refused = Import({"--apply", "wd"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("E-TWO-CONTROLLERS"), HasSubstr("deployment default/paddle-controller-manager"),
                    HasSubstr("kubectl scale deployment")));
  EXPECT_EQ(JobText(), before);
  EXPECT_THAT(
      Import({}).out,
      HasSubstr("paddle-operator runs (deployment default/paddle-controller-manager): stop it before --apply\n"));

  // doctor sees what is wrong here, and changes nothing either.
  const Outcome doctor = RunProgram({GW_GANGWAY, "doctor", "--kubeconfig", server_.kubeconfig()},
                                    {"KUBECONFIG=", "HOME=" + folder_.path()});
  EXPECT_EQ(doctor.exit_code, 1) << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("podgroup default/wd: has the name of a PaddleJob"));
  EXPECT_EQ(JobText(), before);
}

// With controllers and scheduler: what was the operator's runs as ours, and stops when it goes back.
class ImportLifeTest : public ImportProcessTest {
 protected:
  ImportLifeTest()
      : ImportProcessTest("apiserver,kubelets,controllers,scheduler",
                          R"({"paddle.gangway.io/managed-by":"paddle-operator"})") {}
};

TEST_F(ImportLifeTest, TheJobRunsAsOursAndGoesBack) {
  EXPECT_EQ(CodeOf("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/wd"), 404) << "its pods are the operator's";
  const Outcome moved = Import({"--apply", "wd"});
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  ASSERT_TRUE(Eventually([&] {
    return server_.PhaseOf(kJobPath) == "Running" &&
           server_.PhaseOf("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/wd") == "Running";
  })) << JobText();
  EXPECT_THAT(*server_.Call("GET", "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/wd").body,
              HasSubstr(R"("queue":"ads")"))
      << "the hand-made group's";
  const Outcome back = Import({"--rollback", "wd"});
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(CodeOf("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/wd"), 404);
  EXPECT_EQ(CodeOf("/api/v1/namespaces/default/pods/wd-ps-0"), 404);
  EXPECT_EQ(CodeOf(kGroupPath), 200);
}

TEST_F(ImportLifeTest, WhatRunsAsOursIsToldAndLeftAlone) {
  const auto paddle_job = [](const std::string& name, const std::string& elastic) {
    return absl::StrCat(
        R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":")", name, R"("},"spec":{)",
        elastic, R"("worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"paddle","image":"i"}]}}}}})");
  };
  constexpr char kOwnJob[] = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/own";
  Make("/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs", paddle_job("own", ""));
  Make("/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs", paddle_job("lost", R"("elastic":1,)"));
  ASSERT_TRUE(Eventually([&] {
    return server_.PhaseOf(kOwnJob) == "Running" &&
           server_.PhaseOf("/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs/lost") == "Failed";
  }));
  Make(
      "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"own"},"spec":{"minMember":2,"queue":"ads"}})");
  // What an import writes: the spec, the mark, the Job that follows. The controller has its say about the PodGroup
  // meanwhile.
  const auto written = [&] {
    const auto own = api::ParseJson(
                   *server_.Call("GET", "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs/own").body),
               job = api::ParseJson(*server_.Call("GET", kOwnJob).body);
    return absl::StrCat(api::ToJson(own->at("spec")), own->at("metadata").as_object().contains("annotations"),
                        api::ToJson(job->at("metadata").at("uid")));
  };
  const std::string before = written();
  const Outcome all = Import({"-A", "--apply"});
  EXPECT_EQ(all.exit_code, 1) << "one of them cannot be translated";
  EXPECT_THAT(all.out, AllOf(HasSubstr("paddlejob default/own: runs under gangway already\npaddlejob default/wd: "),
                             HasSubstr("paddlejob default/lost: is gangway's already, which cannot translate it and "
                                       "runs nothing of it: E-ELASTIC"),
                             HasSubstr("left alone: it runs; name it, or say --include-running")));
  EXPECT_EQ(written(), before);
  EXPECT_EQ(Import({"--apply", "own"}).exit_code, 0) << "named, it is ours just the same";
  EXPECT_EQ(written(), before);
  EXPECT_EQ(CodeOf("/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/own"), 200);
}

TEST_F(ImportProcessTest, ElasticJobsAreJudgedByTheEtcdThatTheControllerHas) {
  ASSERT_EQ(server_
                .Call("PATCH", kJobPath, R"({"spec":{"ps":null,"elastic":1,"worker":{"replicas":2}}})",
                      "application/merge-patch+json")
                .code,
            200);
  const Outcome without = Import({"wd"});
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.out, AllOf(HasSubstr("paddlejob default/wd: cannot be taken over as it is written\n"),
                                 HasSubstr("E-ELASTIC")));
  const Outcome with = Import({"wd", "--elastic-etcd", "etcd.infra:2379"});
  EXPECT_EQ(with.exit_code, 0) << with.out;
  EXPECT_THAT(with.out, AllOf(HasSubstr("paddlejob default/wd: runs under paddle-operator\n"), Not(HasSubstr("E-"))));
  EXPECT_EQ(Import({"wd", "--volcano-version", "new"}).exit_code, 2);
}

}  // namespace
}  // namespace gangway::testutil
