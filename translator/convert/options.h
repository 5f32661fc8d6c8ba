// For whom and for what a Paddle job is translated.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "translator/convert/gang.h"

namespace gangway::convert {

// Whose controller runs the Job: Volcano's own forgets delayed actions, so for it there are none. What is written for
// kVolcano also behaves under kGangway. For kKubernetes, a cluster without Volcano's types, there are Jobs of
// Kubernetes' own and a gang of its own (kubernetes.h).
enum class Target : std::uint8_t { kVolcano, kGangway, kKubernetes };
std::string_view TargetName(Target target);  // "volcano", "gangway", "kubernetes"

// Of kVolcano: which releases know what (docs/paddlejob.md).
struct VolcanoVersion {
  int major = 1, minor = 13;
  friend auto operator<=>(const VolcanoVersion&, const VolcanoVersion&) = default;
  friend bool operator==(const VolcanoVersion&, const VolcanoVersion&) = default;
};
// "1.13", "v1.13.0". InvalidArgument otherwise.
absl::StatusOr<VolcanoVersion> ParseVolcanoVersion(absl::string_view text);

// "etcd.infra:2379": one host and its port.
bool IsEtcdAddress(absl::string_view text);
// "cluster.local": what the names of a cluster's pods may end with.
bool IsClusterDomain(absl::string_view text);

struct TranslateOptions {
  Target target = Target::kVolcano;
  VolcanoVersion volcano = {};
  std::string scheduler_name = {};  // kKubernetes: places pods whose templates name none; "": the cluster's
  bool strict = false;              // unknown enum texts and fields are errors
  std::string cluster_domain = "cluster.local";  // of absolute names
  std::string elastic_etcd = {};                 // "etcd.infra:2379": of elastic jobs that name none
  std::string namespace_queue = {};              // of jobs that name none; "": Volcano's "default"
  std::optional<int> nodes = {};                 // how many the cluster has; absent: not known
  bool sidecars = false;                         // the job's namespace has Istio put sidecars into its pods
  std::optional<HandMadeGroup> group = {};       // a PodGroup of the job's name that came with it
  // A controller of ours keeps the job: it cleans its pods, ends it at its deadline, deletes failed workers of elastic
  // jobs, so that there is no need to warn of what a Job cannot do.
  bool kept = false;
  bool explain = false;  // fill Translation::steps, and say what is so of nearly every job
};

}  // namespace gangway::convert
