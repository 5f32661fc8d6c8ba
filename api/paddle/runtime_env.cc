#include "api/paddle/runtime_env.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gangway::api::paddle {
namespace {

constexpr char kElasticTimeout[] = "60";               // seconds
constexpr char kTrainerPorts[] = "20";                 // ports a trainer may take from its own on
constexpr std::size_t kMaxVariableBytes = 128 * 1024;  // Linux: MAX_ARG_STRLEN, "NAME=value" and its end
constexpr std::size_t kMaxListBytes = 16 * 1024;       // of one pod

std::string Endpoints(const std::vector<std::string>& hosts, int port) {
  return absl::StrJoin(hosts, ",",
                       [port](std::string* out, const std::string& host) { absl::StrAppend(out, host, ":", port); });
}

const char* NameOf(Role role) {
  switch (role) {
    case Role::kServer:
      return "PSERVER";
    case Role::kTrainer:
      return "TRAINER";
    case Role::kHeter:
      return "HETER_TRAINER";
  }
  return "";
}

std::string Nodes(const Elastic& elastic) {
  return elastic.min == elastic.max ? absl::StrCat(elastic.min) : absl::StrCat(elastic.min, ":", elastic.max);
}

// Paddle 2's launcher cuts each of the letters of "etcd://" off the front, also those that a host begins with
// (python/paddle/distributed/launch/controllers/master.py: strip). It leaves capitals, which mean the same in a name.
std::string EtcdMaster(std::string etcd) {
  if (!etcd.empty() && absl::string_view("etcd").find(etcd[0]) != absl::string_view::npos)
    etcd[0] = absl::ascii_toupper(static_cast<unsigned char>(etcd[0]));
  return absl::StrCat("etcd://", etcd);
}

const char* Device(bool accelerator) { return accelerator ? "gpu" : "cpu"; }

class EnvWriter {
 public:
  EnvWriter(const RuntimeCluster& cluster, const RuntimePod& pod, EnvLists lists)
      : cluster_(cluster), pod_(pod), lists_(lists) {}

  std::vector<RuntimeVariable> Write() && {
    env_.reserve(32);  // no pod has more
    AddIdentity();
    Add("TRAINER_PORTS_NUM", kTrainerPorts);
    Add("PADDLE_PORT", absl::StrCat(port()));
    if (!without_peers()) {
      AddPeers();
      if (!cluster_.heters.empty()) AddHeter();
      if (!cluster_.servers.empty() && cluster_.with_gloo > 0) AddGloo();
    }
    if (cluster_.elastic && cluster_.elastic->legacy) AddLegacyElastic(*cluster_.elastic);
    if (without_peers()) AddElastic(*cluster_.elastic);
    return std::move(env_);
  }

 private:
  int port() const { return cluster_.ports.Of(pod_.role); }
  bool without_peers() const { return cluster_.elastic && !cluster_.elastic->legacy; }

  // Who the pod is (6.5.1).
  void AddIdentity() {
    env_.push_back({"PADDLE_POD_NAME", "metadata.name", true, true});
    if (without_peers()) {
      env_.push_back({"POD_IP", "status.podIP", true, true});
    } else {
      env_.push_back({"POD_IP", pod_.host, false, true});
      env_.push_back({"PADDLE_TRAINER_ID", "metadata.labels['volcano.sh/task-index']", true, true});
    }
    env_.push_back({"TRAINING_ROLE", NameOf(pod_.role), false, true});
    env_.push_back({"PADDLE_TRAINING_ROLE", NameOf(pod_.role), false, true});
  }

  // Who the others are (6.5.2).
  void AddPeers() {
    const bool has_servers = !cluster_.servers.empty(), has_trainers = !cluster_.trainers.empty();
    if (has_servers) AddShared("PADDLE_PSERVERS_IP_PORT_LIST", servers_);
    if (has_trainers) {
      AddShared("PADDLE_TRAINER_ENDPOINTS", trainers_);
      if (lists_ == EnvLists::kAll) AddList("PADDLE_TRAINERS", absl::StrJoin(cluster_.trainers, ","));
      Add("PADDLE_TRAINERS_NUM", absl::StrCat(cluster_.trainers.size()));
    }
    if (has_servers) {
      // Without these two the launcher takes the pod for a collective one and waits for trainer 0.
      AddShared("PADDLE_SERVERS_ENDPOINTS", servers_);
      if (has_trainers) AddShared("PADDLE_TRAINERS_ENDPOINTS", trainers_);
    } else {
      // For programs started without the launcher, which sets both itself.
      Add("PADDLE_CURRENT_ENDPOINT", absl::StrCat("$(POD_IP):", port()));
      if (!pod_.accelerator) Add("PADDLE_DISTRI_BACKEND", "gloo");
      AddPortRange();
    }
  }

  // The launcher gives its processes random ports otherwise.
  void AddPortRange() {
    if (cluster_.host_network) Add("PORT_RANGE", absl::StrCat(port(), ":", port() + kPortsOfARole - 1));
  }

  void AddHeter() {
    AddShared("PADDLE_HETER_ENDPOINTS", heters_);
    AddShared("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", heters_);
    AddShared("PADDLE_HETER_TRAINER_IP_PORT_LIST", heters_);
    if (pod_.role != Role::kServer) {  // a pipeline of two stages
      const bool heter = pod_.role == Role::kHeter;
      AddList("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST", heter ? "" : heters_.Text());
      AddList("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", heter ? trainers_.Text() : "");
      Add("STAGE_ID", heter ? "2" : "1");
    }
    Add("STAGE_NUM", "2");
    Add("PADDLE_STAGE_TRAINERS_NUM", absl::StrCat("[", cluster_.trainers.size(), ", ", cluster_.heters.size(), "]"));
    Add("HETER_DEVICE_TYPE", Device(pod_.accelerator));
    Add("PADDLE_HETER_TRAINER_DEVICE", Device(cluster_.heter_accelerator));
  }

  void AddGloo() {
    Add("PADDLE_WITH_GLOO", absl::StrCat(cluster_.with_gloo));
    Add("PADDLE_GLOO_RENDEZVOUS", "3");  // over HTTP
    Add("PADDLE_GLOO_HTTP_ENDPOINT", absl::StrCat(cluster_.servers[0], ":", cluster_.ports.server + kGlooOffset));
  }

  // 6.6.1: neither an index nor endpoints, which change.
  void AddElastic(const Elastic& elastic) {
    Add("PADDLE_MASTER", EtcdMaster(elastic.etcd));
    Add("PADDLE_NNODES", Nodes(elastic));
    Add("PADDLE_JOB_ID", elastic.job_id);
    Add("PADDLE_ELASTIC_LEVEL", "1");
    Add("PADDLE_ELASTIC_TIMEOUT", kElasticTimeout);
    AddPortRange();
  }

  void AddLegacyElastic(const Elastic& elastic) {
    Add("PADDLE_ELASTIC_SERVER", elastic.etcd);
    Add("PADDLE_ELASTIC_JOB_ID", elastic.job_id);
    Add("PADDLE_ELASTIC_NP", Nodes(elastic));
    Add("PADDLE_ELASTIC_TIMEOUT", kElasticTimeout);
  }

  void Add(absl::string_view name, std::string value) { env_.push_back({std::string(name), std::move(value)}); }
  // A list of endpoints, made when it is first asked for.
  struct List {
    const std::vector<std::string>& hosts;
    int port = 0;
    std::string text = {};
    const std::string& Text() {
      if (text.empty()) text = Endpoints(hosts, port);
      return text;
    }
  };
  void AddShared(absl::string_view name, List& list) {
    if (lists_ == EnvLists::kAll) AddList(name, list.Text());
  }
  void AddList(absl::string_view name, std::string value) {
    env_.push_back({std::string(name), std::move(value), false, false, true});
  }

  const RuntimeCluster& cluster_;
  const RuntimePod& pod_;
  const EnvLists lists_;
  List servers_{cluster_.servers, cluster_.ports.server}, trainers_{cluster_.trainers, cluster_.ports.trainer},
      heters_{cluster_.heters, cluster_.ports.heter};
  std::vector<RuntimeVariable> env_;
};

}  // namespace

bool IsIdentity(absl::string_view name) {
  for (const char* const one :
       {"PADDLE_POD_NAME", "POD_IP", "PADDLE_TRAINER_ID", "TRAINING_ROLE", "PADDLE_TRAINING_ROLE"}) {
    if (name == one) return true;
  }
  return false;
}

RolePorts HostPorts(int base) { return {base, base + kPortsOfARole, base + 2 * kPortsOfARole}; }

int HostPortBase(absl::string_view ns, absl::string_view job) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : absl::StrCat(ns, "/", job)) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return 20000 + 3 * kPortsOfARole * static_cast<int>(hash % 150);
}

std::vector<RuntimeVariable> RuntimeEnv(const RuntimeCluster& cluster, const RuntimePod& pod, EnvLists lists) {
  return EnvWriter(cluster, pod, lists).Write();
}

absl::StatusOr<FittedEnv> FitEnv(std::vector<RuntimeVariable> env) {
  std::size_t lists = 0;
  for (const RuntimeVariable& one : env) {
    const std::size_t bytes = one.name.size() + 1 + one.value.size() + 1;
    if (bytes > kMaxVariableBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(one.name, " would have ", bytes, " bytes, and Linux passes at most ", kMaxVariableBytes,
                       " in one variable: the job has too many pods for their names; give it a shorter name"));
    }
    if (one.list) lists += one.value.size();
  }
  FittedEnv fitted;
  for (RuntimeVariable& one : env) {
    if (one.list && lists > kMaxListBytes) {
      fitted.config_map[one.name] = std::move(one.value);
    } else {
      fitted.env.push_back(std::move(one));
    }
  }
  return fitted;
}

}  // namespace gangway::api::paddle
