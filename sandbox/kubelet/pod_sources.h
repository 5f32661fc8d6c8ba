// What a pod's containers need of other objects and does not find, in a kubelet's words. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/meta.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

// A config map or a secret: its keys.
struct SourceObject {
  api::ObjectMeta metadata;
  std::map<std::string, api::Document> data, binary_data;
  static constexpr std::string_view kName = "SourceObject";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&SourceObject::metadata>("metadata", ""),
                           api::MakeField<&SourceObject::data>("data", ""),
                           api::MakeField<&SourceObject::binary_data>("binaryData", ""));
  }
  bool Has(const std::string& key) const { return data.contains(key) || binary_data.contains(key); }
};

// The objects of the pod's namespace, by name; nullptr: it is not there.
struct SourceLookup {
  std::function<const SourceObject*(const std::string& name)> config_map, secret;
  // "Pending", "Bound"; nullptr: it is not there.
  std::function<const std::string*(const std::string& name)> claim_phase;
  // As claim_phase; may be empty where nobody asks.
  std::function<const std::string*(const std::string& name)> claim_uid = {};
};

struct MissingSources {
  std::vector<std::string> mounts;                // FailedMount: nothing of the pod starts
  std::map<std::string, std::string> containers;  // CreateContainerConfigError, by container: that one does not start
  std::vector<std::string> pull_secrets;          // a warning only
};
MissingSources FindMissingSources(const HostedPod& pod, const SourceLookup& lookup);

}  // namespace gangway::sandbox
