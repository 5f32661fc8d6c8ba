// What the Paddle runtime reads from its environment: the launcher, fleet's role maker, Gloo (docs/paddlejob.md;
// Paddle: python/paddle/distributed/launch, fleet/base/role_maker.py).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api::paddle {

// kServer keeps parameters; kTrainer computes; kHeter computes the second stage of a model on other devices. A job
// without servers is a collective one.
enum class Role { kServer, kTrainer, kHeter };

struct RolePorts {
  int server = 36000, trainer = 36000, heter = 36000;
  int Of(Role role) const { return role == Role::kServer ? server : role == Role::kTrainer ? trainer : heter; }
};
inline constexpr int kDefaultPort = 36000;
inline constexpr int kGlooOffset = 18;  // from the servers' port: where server 0 serves Gloo
inline constexpr int kPortsOfARole = 20;
// Pods on the host network share the node's ports, so each role has a block of its own: servers from `base`, trainers
// from base + 20, heter trainers from base + 40.
RolePorts HostPorts(int base);
// A base that depends on the job alone: 20000 to 28940, outside of NodePorts and of the ports that a kernel gives out.
// Two jobs may have the same; then their pods, which declare the ports, never share a node.
int HostPortBase(absl::string_view ns, absl::string_view job);

// Paddle's own elastic training: trainers find each other in an etcd. No servers.
struct Elastic {
  std::string etcd;  // "etcd.infra:2379"
  int min = 1, max = 1;
  std::string job_id;   // "<namespace>-<job>"
  bool legacy = false;  // for Paddle before 2.3, which wants to know its peers besides
};

// Who takes part. Hosts are names that resolve in every pod and hold a dot: the launcher takes no other for its own.
struct RuntimeCluster {
  std::vector<std::string> servers, trainers;
  std::vector<std::string> heters = {};  // only with servers and trainers
  RolePorts ports = {};
  int with_gloo = 0;  // greater than 0: barriers and trainer-to-trainer messages, served by server 0; needs servers
  bool host_network = false;       // the ports are the nodes'
  bool heter_accelerator = false;  // what the heter trainers compute on
  std::optional<Elastic> elastic = std::nullopt;
};

// One pod of it. The text of its host must equal the one in the lists: peers and the pod find each other by comparing.
struct RuntimePod {
  Role role = Role::kTrainer;
  std::string host;          // may refer to $(PADDLE_POD_NAME)
  bool accelerator = false;  // its container asks for one
};

struct RuntimeVariable {
  std::string name, value;
  bool from_field = false;  // the value is a field of the pod: "metadata.name"
  bool identity = false;    // a user's own is removed; of others a user's own wins
  bool list = false;        // grows with the number of pods
  friend bool operator==(const RuntimeVariable&, const RuntimeVariable&) = default;
};

// Whether a variable says who the pod is.
bool IsIdentity(absl::string_view name);

// kOwn: without the lists that are the same for all roles, when those stand elsewhere; they are not even made.
enum class EnvLists { kAll, kOwn };

// In the order in which they belong before the user's: those that refer to others come after them.
std::vector<RuntimeVariable> RuntimeEnv(const RuntimeCluster& cluster, const RuntimePod& pod,
                                        EnvLists lists = EnvLists::kAll);

// The env as it fits into a pod (6.5.4): lists of more than 16 KiB in all move into a config map that the containers
// take their env from.
struct FittedEnv {
  std::vector<RuntimeVariable> env;
  std::map<std::string, std::string> config_map;  // empty: none is needed
};
// InvalidArgument when a variable is longer than Linux passes to a program.
absl::StatusOr<FittedEnv> FitEnv(std::vector<RuntimeVariable> env);

}  // namespace gangway::api::paddle
