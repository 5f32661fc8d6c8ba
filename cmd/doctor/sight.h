// What `gangway doctor` sees of a cluster, and how its checks look into it. Objects are JSON as the API server gave
// them; what has another shape than expected is nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::cmd {

struct Ailment {
  std::string code;     // "D-QUEUE-CLOSED", for scripts
  std::string subject;  // "queue ads", "podgroup default/wd"
  std::string what;     // is so, and what it leads to
  std::string remedy;   // what to do: commands where there are such
  friend bool operator==(const Ailment&, const Ailment&) = default;
};
using Ailments = std::vector<Ailment>;

// Objects of a kind, in the API server's order.
using Objects = std::vector<boost::json::value>;

struct ServiceAccess {
  std::string ns, service_account;
  bool may_list_pods = true;
};

// Volcano's scheduler configuration, as a ConfigMap that a Deployment of its scheduler mounts holds it.
struct SchedulerConfSeen {
  std::string deployment;  // "volcano-system/volcano-scheduler"
  std::string config_map;  // "volcano-system/volcano-scheduler-configmap"
  std::string key, text;   // of its data
};

struct ClusterSight {
  std::set<std::string> served;    // "jobs.batch.volcano.sh"
  std::set<std::string> not_seen;  // plural names of what could not be looked at, which doctor tells elsewhere: what is
                                   // missing in it is not missing
  bool embedded = false;         // the controllers and the scheduler are in the API server's process: nobody shows them
  Objects validating, mutating;  // webhook configurations
  Objects services, endpoints, deployments, leases, pods, pod_groups, queues, jobs, paddle_jobs, kubeflow_jobs, claims,
      hyper_nodes, kubernetes_pod_groups;
  std::vector<ServiceAccess> access;
  std::vector<SchedulerConfSeen> scheduler_confs;
  absl::Time now;
  bool Saw(absl::string_view plural) const { return !not_seen.contains(std::string(plural)); }
};

std::string NameOf(const boost::json::value& object);
std::string NamespaceOf(const boost::json::value& object);
std::string KeyOf(const boost::json::value& object);  // "ads/ctr"
std::string UidOf(const boost::json::value& object);
// Its controlling owner; nullptr: it has none.
const boost::json::value* ControllerOf(const boost::json::value& object);
const boost::json::value* FindByKey(const Objects& objects, absl::string_view key);
// From that time until now; zero when it says none.
absl::Duration AgeOf(const boost::json::value& object, absl::Time now);
absl::Duration Since(const std::string& time, absl::Time now);
std::string AgeText(absl::Duration age);  // "5m"
// The phase of a Job; the newest condition of a kubeflow job is its caller's to find.
std::string PhaseOf(const boost::json::value& job);
// Jobs that have not ended, and are not being deleted.
bool IsUnfinishedJob(const boost::json::value& job);
bool IsUnfinishedPaddleJob(const boost::json::value& job);
bool IsUnfinishedKubeflowJob(const boost::json::value& job);

// Whether a container of the deployment is of an image with this in its name.
bool HasImage(const boost::json::value& deployment, absl::string_view image);
// What a deployment's first container of that image runs: its image, command and arguments in one line, with a space
// at the end; "".
std::string LineOf(const boost::json::value& deployment, absl::string_view image);
// What follows a flag in such a line, "--only=x " or "--only x "; "": it is not given.
std::string FlagIn(absl::string_view line, absl::string_view flag);

// A name for a command that people copy: in quotes unless a shell takes it as one plain word.
std::string Word(absl::string_view name);

}  // namespace gangway::cmd
