// Gangway's own webhook rehearsed: docs/operations.md's way to it, the real kubectl, `gangway sandbox` and `gangway
// controller --webhook`, with roles in force.
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/certificates/identity.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Job(const std::string& name, const std::string& spec) {
  return absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                      R"("},"spec":{)", spec,
                      R"("tasks":[{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
}

class OwnWebhookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  }
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = sandbox_.Kubectl(std::move(args), input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // What stands in the log behind `mark`, to the end of the text.
  static std::string After(const std::string& log, const std::string& mark) {
    const std::size_t at = log.find(mark);
    if (at == std::string::npos) return "";
    const std::size_t from = at + mark.size();
    return log.substr(from, log.find('"', from) - from);
  }
  static std::string PortIn(const std::string& log) {
    return After(log, R"("what":"webhook","url":"https://127.0.0.1:)");
  }

  SandboxProcess sandbox_{{"--rbac", "--components=kubelets,scheduler"}};
};

TEST_F(OwnWebhookTest, ABadJobIsRefusedAndAGoodOneGetsItsDefaults) {
  const Identity ca({.common_name = "gangway-webhook-ca"}, nullptr);
  const Identity server(
      {.common_name = "gangway-webhook", .alternative_names = "DNS:gangway-webhook.gangway-system.svc"}, &ca);
  const std::string base = sandbox_.folder() + "/tls";
  WriteFile(base + ".crt", server.CertificatePem());
  WriteFile(base + ".key", server.KeyPem());

  Kubectl({"apply", "-k", GW_SOURCE_DIR "/deploy/volcano/overlays/standalone-webhook"});
  for (const char* const kind : {"mutatingwebhookconfiguration", "validatingwebhookconfiguration"}) {
    Kubectl({"patch", kind, "gangway", "--type=json", "-p",
             absl::StrCat(R"([{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":")",
                          absl::Base64Escape(ca.CertificatePem()), R"("}])")});
  }
  // Nothing runs behind the Service yet: failurePolicy Ignore.
  Kubectl({"apply", "-f", "-"}, Job("early", ""));

  GangwayProcess controller(
      sandbox_.folder(), "controller",
      {"controller", "--kubeconfig", sandbox_.KubeconfigOf("gangway-system", "gangway-controller"),
       "--webhook=127.0.0.1:0", "--metrics-addr=127.0.0.1:0", "--webhook-tls-cert=" + base + ".crt",
       "--webhook-tls-key=" + base + ".key"});
  ASSERT_TRUE(Eventually([&] { return controller.Ready() && !PortIn(controller.log()).empty(); })) << controller.log();
  Kubectl({"apply", "-f", "-"},
          absl::StrCat(R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"gangway-webhook",)",
                       R"("namespace":"gangway-system"},"subsets":[{"addresses":[{"ip":"127.0.0.1"}],)",
                       R"("ports":[{"name":"webhook","port":)", PortIn(controller.log()), "}]}]}"));

  const Outcome bad = sandbox_.Kubectl({"apply", "-f", "-"}, Job("bad", R"("minAvailable":5,)"));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("Error from server"),
                             HasSubstr("admission webhook \"validate.gangway.volcano.sh\" denied the request: "
                                       "job default/bad is refused: spec.minAvailable: ")));
  EXPECT_NE(sandbox_.Kubectl({"get", "vcjob", "bad"}).exit_code, 0);
  Kubectl({"apply", "-f", "-"}, Job("good", ""));
  EXPECT_EQ(
      Kubectl({"get", "vcjob", "good", "-o", "jsonpath={.spec.queue} {.spec.tasks[0].name} {.spec.minAvailable}"}),
      "default default0 2");
  // It was the webhook that said so, and was asked by HTTPS for the name of its Service.
  const std::string metrics = *Get(After(controller.log(), R"("what":"metrics","url":")"), "/metrics").body;
  EXPECT_THAT(metrics, AllOf(HasSubstr(R"(gangway_webhook_reviews_total{code="200",page="/mutate"})"),
                             HasSubstr(R"(gangway_webhook_reviews_total{code="200",page="/validate"})")));
  // With the controller at work, whose own writes are asked about as well, the job runs.
  Kubectl({"wait", "vcjob/good", "--for=jsonpath={.status.state.phase}=Running", "--timeout=120s"});
}

}  // namespace
}  // namespace gangway::testutil
