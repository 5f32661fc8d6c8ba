// Random PaddleJobs, many of them impossible: what comes out is the same each time, is nothing with an error, and is a
// Job that Volcano's admission takes without adding anything to it. GW_TRANSLATE_SEED replays one.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "api/paddle/paddle_job.h"
#include "tests/translator/convert/drawing.h"
#include "tests/translator/convert/translated.h"

namespace gangway::convert {
namespace {

using testutil::EnvOf;
using testutil::Variable;

constexpr std::uint64_t kJobs = 4000, kWildJobs = 1000;

class PaddleDrawing : public testutil::Drawing {
 public:
  using Drawing::Drawing;

  std::string Job() {
    return absl::StrCat(
        "{\"metadata\":{",
        Members({Maybe(100, "name",
                       {"\"wd\"", "\"wd\"", "\"wide-and-deep\"", "\"1job\"", "\"a.b\"", "\"\"",
                        absl::StrCat("\"", std::string(54, 'n'), "\"")}),
                 Maybe(60, "namespace", {"\"default\"", "\"team\""}), Maybe(50, "annotations", {AnnotationsOf()}),
                 Maybe(10, "labels", {R"({"team":"ads"})"})}),
        "},\"spec\":{",
        Members({Maybe(60, "ps", {Role()}), Maybe(95, "worker", {Role()}), Maybe(15, "heter", {Role()}),
                 Maybe(15, "elastic", {"1", "0", "-1", "3"}),
                 Maybe(40, "intranet", {"\"PodIP\"", "\"Service\"", "\"Host\"", "\"Host\"", "\"host\""}),
                 Maybe(40, "withGloo", {"0", "1", "2", "9", "-1"}),
                 Maybe(30, "cleanPodPolicy", {"\"Always\"", "\"Never\"", "\"OnFailed\""}),
                 Maybe(10, "cleanPolicy", {"\"OnCompletion\""}),
                 Maybe(15, "sampleSetRef",
                       {R"({"name":"data","mountPath":"/data"})", R"({"name":"data","mountPath":"/a:b"})",
                        R"({"name":"No","mountPath":"/dev/shm"})",
                        R"({"name":"data","namespace":"other","mountPath":"/data"})", R"({"mountPath":""})"}),
                 Maybe(40, "schedulingPolicy", {Scheduling()})}),
        "}}");
  }

 private:
  std::string Role() {
    return absl::StrCat("{",
                        Members({Maybe(100, "replicas", {"1", "1", "2", "3", "33", "0", "700", "2147483647", "-1"}),
                                 Maybe(10, "requests", {"1", "2", "0"}), Maybe(10, "limits", {"3", "1", "2147483647"}),
                                 Maybe(97, "template", {Template()})}),
                        "}");
  }

  std::string Container(absl::string_view name) {
    return absl::StrCat(
        "{\"name\":\"", name, "\",",
        Members(
            {Maybe(99, "image", {"\"paddle:2.6\""}),
             Maybe(30, "command", {R"(["python","train.py"])", R"(["paddle_k8s","start_fluid"])"}),
             Maybe(
                 20, "ports",
                 {R"([{"containerPort":36000,"name":"rpc"}])",
                  R"([{"containerPort":21800,"hostPort":21800},{"containerPort":8080}])", R"([{"containerPort":0}])"}),
             Maybe(
                 30, "env",
                 {R"([{"name":"PADDLE_PORT","value":"7000"},{"name":"POD_IP","value":"x"},{"name":"ENTRY","value":"python x.py"}])",
                  R"([{"name":"A","valueFrom":{"configMapKeyRef":{"name":"wd","key":"PADDLE_PORT"}}}])",
                  R"([{"name":"B"},{"name":"B"}])", "null", R"([{"value":"x"}])"}),
             Maybe(10, "envFrom", {R"([{"configMapRef":{"name":"wd"}}])", R"([{"secretRef":{"name":"s"}}])"}),
             Maybe(40, "resources",
                   {R"({"limits":{"nvidia.com/gpu":"8"}})", R"({"requests":{"cpu":"2"},"limits":{"cpu":"1"}})",
                    R"({"limits":{"cpu":"4","memory":"1Gi"}})", "{}"}),
             Maybe(10, "volumeMounts", {R"([{"name":"shm","mountPath":"/dev/shm"}])"}),
             Maybe(10, "securityContext", {R"({"runAsNonRoot":true})"})}),
        "}");
  }

  std::string Template() {
    const std::string containers =
        absl::StrCat(Container("paddle"), Chance(20) ? "," + Container("sidecar") : "", Chance(3) ? ",1" : "");
    return absl::StrCat(
        "{",
        Members(
            {Maybe(30, "metadata",
                   {R"({"labels":{"team":"ads"},"finalizers":["a/b"]})",
                    R"({"name":"x","annotations":{"sidecar.istio.io/inject":"true"}})", "{}", "7"}),
             absl::StrCat(
                 "\"spec\":{",
                 Members({absl::StrCat("\"containers\":[", containers, "]"),
                          Maybe(10, "initContainers",
                                {absl::StrCat("[", Container("first"), "]"),
                                 absl::StrCat("[", Container("wait-dns"), "]")}),
                          Maybe(10, "hostNetwork", {"true", "false"}),
                          Maybe(15, "dnsPolicy", {"\"Default\"", "\"ClusterFirst\"", "\"None\""}),
                          Maybe(10, "schedulerName",
                                {"\"volcano\"", "\"other\"", absl::StrCat("\"", std::string(70, 's'), "\"")}),
                          Maybe(30, "restartPolicy", {"\"Always\"", "\"Never\"", "\"OnFailure\"", "\"never\""}),
                          Maybe(40, "volumes",
                                {R"([{"name":"shm","emptyDir":{"medium":"Memory"}}])",
                                 R"([{"name":"shm","configMap":{"name":"wd"}},{"name":"sample-set","emptyDir":{}}])"}),
                          Maybe(5, "hostname", {"\"h\""}), Maybe(5, "affinity", {"{}", R"({"nodeAffinity":{}})"})}),
                 "}")}),
        "}");
  }

  std::string Scheduling() {
    return absl::StrCat(
        "{",
        Members({Maybe(40, "minAvailable", {"1", "2", "3", "0", "-5", "99"}),
                 Maybe(40, "queue", {"\"ads\"", "\"root\"", "\"No\""}),
                 Maybe(30, "priorityClass", {"\"high\"", "\"A B\""}), Maybe(20, "minResources", {R"({"cpu":"2"})"})}),
        "}");
  }

  std::string AnnotationsOf() {
    return Annotations({{"max-restarts", {"0", "7", "2147483646", "x"}},
                        {"container-restarts", {"-1", "0", "4"}},
                        {"server-grace", {"0", "1m"}},
                        {"wait-dns", {"off", "alpine"}},
                        {"host-port-base", {"40000", "65476", "65535"}},
                        {"elastic-etcd", {"etcd:2379", "etcd"}},
                        {"elastic-style", {"legacy"}},
                        {"name-style", {"absolute"}},
                        {"per-pod-services", {"on"}},
                        {"network-policy", {"on"}},
                        {"task-index", {"from-name"}},
                        {"scheduler", {"any"}},
                        {"run-entry", {"on"}},
                        {"ttl", {"90"}},
                        {"endpoints", {"ip", "names"}}});
  }
};

// The text of a list that a pod has: in its env, or in the config map beside it.
std::string ListOf(const Translation& done, const std::string& task, const std::string& name) {
  const std::string in_env = Variable(EnvOf(done, task), name);
  if (in_env != "-") return in_env;
  for (const Companion& one : done.before) {
    if (one.name != EnvConfigMapName(done.job.metadata.name)) continue;
    const auto data = api::ParseJson(one.json).value();
    if (const auto* const text = data.at("data").as_object().if_contains(name)) return std::string(text->as_string());
  }
  return "-";
}

// Every pod finds itself in its role's list, no name stands twice in an env, and the lists are as long as there are
// pods.
void CheckEnv(const Translation& done, const std::string& shown) {
  for (const TaskSize& size : done.lineup.tasks) {
    const std::vector<std::string> env = EnvOf(done, size.name);
    std::multiset<std::string> ours;
    for (const std::string& one : env) {
      const std::string name = one.substr(0, one.find_first_of("=<"));
      if (name.rfind("PADDLE_", 0) == 0 || name == "POD_IP") ours.insert(name);
    }
    for (const std::string& name : ours) EXPECT_EQ(ours.count(name), 1u) << name << " " << shown;
    const std::string variable = size.name == "ps"       ? "PADDLE_PSERVERS_IP_PORT_LIST"
                                 : size.name == "worker" ? "PADDLE_TRAINER_ENDPOINTS"
                                                         : "PADDLE_HETER_ENDPOINTS";
    const std::string list = ListOf(done, size.name, variable);
    if (list == "-") continue;  // elastic, or said by the user
    const std::vector<std::string> endpoints = absl::StrSplit(list, ',');
    EXPECT_EQ(endpoints.size(), static_cast<std::size_t>(size.replicas)) << shown;
    const std::string host = Variable(env, "POD_IP").substr(std::string("$(PADDLE_POD_NAME)").size());
    const std::string own = absl::StrCat(PodName(done.job.metadata.name, size.name, size.replicas - 1), host, ":");
    EXPECT_EQ(endpoints.back().substr(0, own.size()), own) << shown;
  }
}

bool Try(std::uint64_t seed) {
  const std::string text = PaddleDrawing(seed).Job();
  const absl::StatusOr<api::paddle::PaddleJob> job = api::Decode<api::paddle::PaddleJob>(text);
  EXPECT_TRUE(job.ok()) << text;
  if (!job.ok()) return false;
  const TranslateOptions options = testutil::OptionsOf(seed);
  if (!testutil::TranslatesWell(*job, options, text)) return false;
  CheckEnv(Translate(*job, options), text);
  return true;
}

TEST(TranslatePropertyTest, SameEachTimeAndAdmittedAsItIs) {
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

// Objects of any value at all, templates that are no templates.
TEST(TranslatePropertyTest, WildJobsAreAnswered) {
  for (std::uint64_t seed = 0; seed < kWildJobs && !HasFailure(); ++seed) {
    RandomStream random(seed);
    auto job = api::RandomObject<api::paddle::PaddleJob>([&] { return random.Next(); });
    if (seed % 2 == 0) job.metadata.name = "wd";
    testutil::TranslatesWell(job, testutil::OptionsOf(seed), api::Encode(job));
  }
}

}  // namespace
}  // namespace gangway::convert
