// Objects that must exist before a Job (docs/paddlejob.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/resource.h"
#include "translator/convert/names.h"

namespace gangway::convert {

// One such object, "" in its namespace's place: the job's own.
struct Companion {
  const api::Resource* resource = nullptr;
  std::string name;
  std::string json;  // the whole object
  std::string why;   // one line for a reader: "lists that are too long for a pod's env"
  friend bool operator==(const Companion&, const Companion&) = default;
};

// `ns`: as the job has it; "": it says none.
struct CompanionOwner {
  absl::string_view job, ns;
  bool indexed_jobs = false;  // the pods are those of Kubernetes' Jobs, one for each task (kubernetes.h)
};

Companion ConfigMapOf(const CompanionOwner& owner, absl::string_view name,
                      const std::map<std::string, std::string>& data, absl::string_view why);

// A headless Service for each pod of a task, of its name, with `ports` ports from `first_port` on: what paddle-operator
// gave every pod.
std::vector<Companion> PodServices(const CompanionOwner& owner, const TaskSize& task, int first_port, int ports);

}  // namespace gangway::convert
