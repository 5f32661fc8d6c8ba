// `gangway extender --mode light` beside a scheduler that does as Volcano's: what a recorded session tells of stands in
// an API server, and the scheduler's sessions are those that were recorded.
#pragma once

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "kube/client/client.h"

namespace gangway::testutil {

// One request to the API server, waited for.
using CallApi = std::function<kube::Response(const std::string& method, const std::string& path,
                                             const std::string& body, const std::string& content_type)>;

inline constexpr char kMergePatch[] = "application/merge-patch+json";

// Two gangs of four, of which one has room at a time, and one that never has: each is let in when it has, none is bound
// in part, and the last is kept out to the end. The API server has the six nodes of the recordings: node-000.. of 16
// cpu, 64Gi.
void TellOfLight(const CallApi& call, const std::string& kubeconfig);

// The nodes of a session's body.
void CreateNodes(const CallApi& call, absl::string_view body);
// HyperNodes of the first tier: the first `first` of the nodes node-000.. in one, the rest in another.
void CreateRacks(const CallApi& call, int first, int nodes);

}  // namespace gangway::testutil
