#include "api/paddle/runtime_env.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::api::paddle {
namespace {

constexpr int kGlooOffset = 18;        // from server 0's port
constexpr char kTrainerPorts[] = "20";  // ports a trainer may take from its own on

std::string Endpoints(const std::vector<std::string>& hosts, int port) {
  return absl::StrJoin(hosts, ",", [port](std::string* out, const std::string& host) { absl::StrAppend(out, host, ":", port); });
}

// Who the pod is (6.5.1).
void AddIdentity(const RuntimePod& pod, std::vector<RuntimeVariable>& env) {
  const std::string role = pod.role == Role::kServer ? "PSERVER" : "TRAINER";
  env.push_back({"PADDLE_POD_NAME", "metadata.name", true, true});
  env.push_back({"POD_IP", pod.host, false, true});
  env.push_back({"PADDLE_TRAINER_ID", "metadata.labels['volcano.sh/task-index']", true, true});
  env.push_back({"TRAINING_ROLE", role, false, true});
  env.push_back({"PADDLE_TRAINING_ROLE", role, false, true});
}

// Who the others are (6.5.2).
void AddCluster(const RuntimeCluster& cluster, const RuntimePod& pod, std::vector<RuntimeVariable>& env) {
  const std::string servers = Endpoints(cluster.servers, cluster.port), trainers = Endpoints(cluster.trainers, cluster.port);
  const bool has_servers = !cluster.servers.empty(), has_trainers = !cluster.trainers.empty();
  const auto add = [&env](absl::string_view name, std::string value) { env.push_back({std::string(name), std::move(value)}); };
  add("TRAINER_PORTS_NUM", kTrainerPorts);
  add("PADDLE_PORT", absl::StrCat(cluster.port));
  if (has_servers) add("PADDLE_PSERVERS_IP_PORT_LIST", servers);
  if (has_trainers) {
    add("PADDLE_TRAINER_ENDPOINTS", trainers);
    add("PADDLE_TRAINERS", absl::StrJoin(cluster.trainers, ","));
    add("PADDLE_TRAINERS_NUM", absl::StrCat(cluster.trainers.size()));
  }
  if (has_servers) {
    // Without these two the launcher takes the pod for a collective one and waits for trainer 0.
    add("PADDLE_SERVERS_ENDPOINTS", servers);
    if (has_trainers) add("PADDLE_TRAINERS_ENDPOINTS", trainers);
  } else {
    // For programs started without the launcher, which sets both itself.
    add("PADDLE_CURRENT_ENDPOINT", "$(POD_IP):$(PADDLE_PORT)");
    if (!pod.accelerator) add("PADDLE_DISTRI_BACKEND", "gloo");
  }
  if (has_servers && cluster.with_gloo) {
    add("PADDLE_WITH_GLOO", "1");
    add("PADDLE_GLOO_RENDEZVOUS", "3");  // over HTTP
    add("PADDLE_GLOO_HTTP_ENDPOINT", absl::StrCat(cluster.servers[0], ":", cluster.port + kGlooOffset));
  }
}

}  // namespace

std::vector<RuntimeVariable> RuntimeEnv(const RuntimeCluster& cluster, const RuntimePod& pod) {
  std::vector<RuntimeVariable> env;
  AddIdentity(pod, env);
  AddCluster(cluster, pod, env);
  return env;
}

}  // namespace gangway::api::paddle
