// The names that a PaddleJob gives its Job, pods and Service, and whether they fit (docs/paddlejob.md).
//
// A Job makes a Service of its own name and pods called <job>-<task>-<index>, which are host names and label values: at
// most 63 characters with the largest index. Volcano's admission looks at one index only, so that too long ones fail
// pod by pod.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/resource.h"
#include "translator/convert/codes.h"

namespace gangway::convert {

struct TaskSize {
  std::string name;  // "ps", "worker", "heter"
  std::int32_t replicas = 0;
  friend bool operator==(const TaskSize&, const TaskSize&) = default;
};

// How pods are called in endpoints. Short names resolve only in pods that search their namespace's domain.
struct NameStyle {
  bool absolute = false;
  std::string ns = {}, cluster_domain = {};  // of absolute names: "default", "cluster.local"
};

std::string PodName(absl::string_view job, absl::string_view task, std::int32_t index);
// "wd-ps-0.wd", "wd-ps-0.wd.default.svc.cluster.local"
std::string HostName(absl::string_view job, absl::string_view task, std::int32_t index, const NameStyle& style);
// All of a task, by index.
std::vector<std::string> HostNames(absl::string_view job, const TaskSize& task, const NameStyle& style);
// The config map with the lists that are too long for a pod.
std::string EnvConfigMapName(absl::string_view job);

// How many characters a job's name may have, so that all names made from it fit; may be 0 with a long cluster domain.
int MaxJobName(absl::Span<const TaskSize> tasks, const NameStyle& style);

// A good name of at most `max` characters like `name`, which may be any text; equal names for equal names, and, where
// it had to be cut, different ones for different ones. "" when `max` is less than 8.
std::string SuggestName(absl::string_view name, int max);

// E-NAME, also of the style's namespace, and E-NAME-LENGTH, with the name to take instead.
Findings CheckName(absl::string_view job, absl::Span<const TaskSize> tasks, const NameStyle& style);

// An object in the job's namespace that neither the job nor its Job made.
struct ForeignObject {
  const api::Resource* resource = nullptr;
  std::string name;
  std::string owner;  // "deployment web"; "" when it has none
};

// What the job needs beside its Service and the config map of its host list.
struct NeededObjects {
  bool env_config_map = false;     // EnvConfigMapName
  bool paddle_config_map = false;  // one of the job's name, which a template refers to
  bool pod_services = false;       // a Service for each pod, of its name
  bool stock_volcano =
      false;  // the controller of Volcano itself runs the Job: it takes a PodGroup of the Job's name for its own
};

// E-SVC-CLASH and E-PG-CLASH: whose objects have a name that the job needs.
Findings CheckClashes(absl::string_view job, absl::Span<const TaskSize> tasks, const NeededObjects& needed,
                      absl::Span<const ForeignObject> foreign);

}  // namespace gangway::convert
