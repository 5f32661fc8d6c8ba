// What the Paddle runtime reads from its environment: the launcher, fleet's role maker, Gloo (spec: paddle 6.5).
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::api::paddle {

// kServer keeps parameters; kTrainer computes. A job without servers is a collective one.
enum class Role { kServer, kTrainer };

// Who takes part. Hosts are names that resolve in every pod and hold a dot: the launcher takes no other for its own.
struct RuntimeCluster {
  std::vector<std::string> servers, trainers;
  int port = 36000;        // of every server and trainer
  bool with_gloo = false;  // barriers and trainer-to-trainer messages: served by server 0 at port + 18; needs servers
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
  friend bool operator==(const RuntimeVariable&, const RuntimeVariable&) = default;
};

// In the order in which they belong before the user's: those that refer to others come after them.
std::vector<RuntimeVariable> RuntimeEnv(const RuntimeCluster& cluster, const RuntimePod& pod);

}  // namespace gangway::api::paddle
