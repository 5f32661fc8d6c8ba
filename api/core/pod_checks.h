// The parts of pod_validation.h.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "api/core/json_place.h"

namespace gangway::api::core {

using Names = absl::btree_set<std::string>;

// The names of the volumes, after checking them.
Names CheckVolumes(const Place& volumes);

// What the containers of one pod share.
struct PodContext {
  Names volumes;
  bool host_network = false;
  Names container_names;  // of all kinds so far
  Names host_ports;       // "TCP/127.0.0.1/80", of containers so far
};
void CheckContainers(const Place& containers, bool init, PodContext& pod);

// limits and requests. `pod_level`: of the whole pod, where only cpu, memory and huge pages may stand.
void CheckResources(const Place& resources, bool pod_level);

// nodeSelector, nodeAffinity, pod (anti-)affinity's required fields, tolerations, spread constraints.
void CheckPlacement(const Place& spec);

void CheckLabels(const Place& labels);

// "http", at most 15 letters, digits and '-' with a letter among them.
bool IsPortName(absl::string_view text);

}  // namespace gangway::api::core
