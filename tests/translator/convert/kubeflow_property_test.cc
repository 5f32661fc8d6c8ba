// Random PaddleJobs of kubeflow.org, many of them impossible: what comes out is the same each time, is nothing with an
// error, and is a Job that Volcano's admission takes without adding anything to it. GW_TRANSLATE_SEED replays one.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/translator/convert/drawing.h"

namespace gangway::convert {
namespace {

namespace kf = api::paddle::kubeflow;

constexpr std::uint64_t kJobs = 4000;

class KubeflowDrawing : public testutil::Drawing {
 public:
  using Drawing::Drawing;

  std::string Job() {
    std::string roles;
    for (const absl::string_view key : {"Master", "Worker", "worker", "Chief"}) {
      if (!Chance(key == "Worker" ? 90 : key == "Master" ? 40 : 3)) continue;
      absl::StrAppend(&roles, roles.empty() ? "" : ",", "\"", key, "\":{",
                      Members({Maybe(85, "replicas", {"0", "1", "2", "3", "40", "2000000000", "-1"}),
                               Maybe(70, "restartPolicy",
                                     {"\"Always\"", "\"OnFailure\"", "\"Never\"", "\"ExitCode\"", "\"never\""}),
                               Maybe(98, "template", {Template()})}),
                      "}");
    }
    return absl::StrCat(
        "{\"metadata\":{",
        Members({Maybe(100, "name",
                       {"\"wd\"", "\"wd\"", "\"wide-and-deep\"", "\"1job\"", "\"a.b\"", "\"\"",
                        absl::StrCat("\"", std::string(54, 'n'), "\"")}),
                 Maybe(60, "namespace", {"\"default\"", "\"team\""}), Maybe(50, "annotations", {AnnotationsOf()})}),
        "},\"spec\":{",
        Members({absl::StrCat("\"paddleReplicaSpecs\":{", roles, "}"), Maybe(60, "runPolicy", {RunPolicy()}),
                 Maybe(30, "elasticPolicy",
                       {absl::StrCat("{",
                                     Members({Maybe(60, "minReplicas", {"1", "2", "0"}),
                                              Maybe(60, "maxReplicas", {"2", "4", "-1"}),
                                              Maybe(30, "maxRestarts", {"0", "5", "-1"})}),
                                     "}")})}),
        "}}");
  }

 private:
  std::string Template() {
    const std::string container = absl::StrCat(
        "{",
        Members({Maybe(99, "name", {"\"paddle\"", "\"paddle\"", "\"paddle\"", "\"other\""}),
                 Maybe(98, "image", {"\"paddle:2.6\""}),
                 Maybe(30, "ports",
                       {R"([{"containerPort":37777,"name":"master"}])", R"([{"containerPort":36543,"name":"http"}])",
                        R"([{"containerPort":70000,"name":"master"}])"}),
                 Maybe(30, "env", {R"([{"name":"PADDLE_NNODES","value":"9"},{"name":"POD_IP","value":"x"}])"}),
                 Maybe(40, "resources",
                       {R"({"limits":{"nvidia.com/gpu":"1"}})", R"({"requests":{"cpu":"2"},"limits":{"cpu":"1"}})",
                        R"({"limits":{"cpu":"4","memory":"1Gi"}})"}),
                 Maybe(10, "command", {"[\"python\",\"train.py\"]"})}),
        "}");
    const std::string sidecar = Chance(20) ? R"(,{"name":"sidecar","image":"s"})" : "";
    return absl::StrCat(
        "{",
        Members({Maybe(30, "metadata", {R"({"labels":{"team":"ads"},"finalizers":["a/b"]})", R"({"name":"x"})"}),
                 absl::StrCat("\"spec\":{",
                              Members({absl::StrCat("\"containers\":[", container, sidecar, "]"),
                                       Maybe(10, "hostNetwork", {"true"}),
                                       Maybe(10, "dnsPolicy", {"\"Default\"", "\"ClusterFirst\""}),
                                       Maybe(10, "schedulerName", {"\"volcano\"", "\"other\""}),
                                       Maybe(10, "restartPolicy", {"\"Always\"", "\"Never\""}),
                                       Maybe(10, "activeDeadlineSeconds", {"30"})}),
                              "}")}),
        "}");
  }

  std::string RunPolicy() {
    const std::string scheduling = absl::StrCat(
        "{",
        Members({Maybe(40, "minAvailable", {"1", "2", "3", "0", "99"}),
                 Maybe(40, "queue", {"\"ads\"", "\"root\"", "\"No\""}),
                 Maybe(30, "priorityClass", {"\"high\"", "\"A B\""}), Maybe(20, "minResources", {R"({"cpu":"2"})"}),
                 Maybe(10, "scheduleTimeoutSeconds", {"30"})}),
        "}");
    return absl::StrCat(
        "{",
        Members({Maybe(50, "cleanPodPolicy", {"\"None\"", "\"Running\"", "\"All\"", "\"Always\""}),
                 Maybe(30, "ttlSecondsAfterFinished", {"0", "60", "-1"}),
                 Maybe(30, "activeDeadlineSeconds", {"60", "99999999999", "0"}),
                 Maybe(40, "backoffLimit", {"0", "3", "2147483647", "-1"}), Maybe(30, "suspend", {"true"}),
                 Maybe(10, "managedBy", {"\"kubeflow.org/training-operator\"", "\"me\""}),
                 Maybe(40, "schedulingPolicy", {scheduling})}),
        "}");
  }

  std::string AnnotationsOf() {
    return Annotations({{"max-restarts", {"0", "7", "2147483646", "x"}},
                        {"container-restarts", {"-1", "0", "4"}},
                        {"server-grace", {"0", "1m"}},
                        {"wait-dns", {"off", "alpine"}},
                        {"elastic-etcd", {"etcd:2379", "etcd"}},
                        {"elastic-style", {"legacy"}},
                        {"name-style", {"absolute"}},
                        {"per-pod-services", {"on"}},
                        {"network-policy", {"on"}},
                        {"strict-roles", {"on"}},
                        {"scheduler", {"any"}},
                        {"run-entry", {"on"}},
                        {"ttl", {"90"}},
                        {"endpoints", {"ip", "names"}}});
  }
};

// Whether there was a Job.
bool Try(std::uint64_t seed) {
  const std::string text = KubeflowDrawing(seed).Job();
  const absl::StatusOr<kf::PaddleJob> job = api::Decode<kf::PaddleJob>(text);
  EXPECT_TRUE(job.ok()) << text;
  if (!job.ok()) return false;
  return testutil::TranslatesWell(*job, testutil::OptionsOf(seed), text);
}

TEST(KubeflowPropertyTest, SameEachTimeAndAdmittedAsItIs) {
  std::uint64_t only = 0;
  if (const char* const seed = std::getenv("GW_TRANSLATE_SEED"); seed != nullptr && absl::SimpleAtoi(seed, &only)) {
    Try(only);
    return;
  }
  std::uint64_t jobs = 0;
  for (std::uint64_t seed = 0; seed < kJobs && !HasFailure(); ++seed) {
    jobs += Try(seed) ? 1 : 0;
    if (HasFailure()) ADD_FAILURE() << "GW_TRANSLATE_SEED=" << seed << " replays it";
  }
  EXPECT_GT(jobs, kJobs / 20) << "too few of them are possible";
}

}  // namespace
}  // namespace gangway::convert
