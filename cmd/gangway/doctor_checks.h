// What `gangway doctor` knows to look for: each check is a function from what was seen of a cluster to what is wrong with it, and what to do
// (spec: paddle 2.10, 5.3, 6.9, 6.16, 7).
//
// Pure. Objects are JSON as the API server gave them; what has another shape than expected is no finding.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "translator/convert/run_entry.h"

namespace gangway::cmd {

struct Ailment {
  std::string subject;  // "queue ads", "podgroup default/wd"
  std::string what;     // is so, and what it leads to
  std::string remedy;   // what to do: commands where there are such
  friend bool operator==(const Ailment&, const Ailment&) = default;
};
using Ailments = std::vector<Ailment>;

// Objects of a kind. Absent: they could not be looked at, which doctor tells elsewhere; their checks find nothing.
using Objects = std::vector<boost::json::value>;

struct ServiceAccess {
  std::string ns, service_account;
  bool may_list_pods = true;
};

struct ClusterSight {
  std::set<std::string> served;  // "jobs.batch.volcano.sh"
  Objects validating, mutating;  // webhook configurations
  Objects services, endpoints, deployments, leases, pods, pod_groups, queues, jobs, paddle_jobs;
  std::vector<ServiceAccess> access;
  absl::Time now;
};

// Types that jobs need and the API server does not serve.
Ailments MissingTypes(const ClusterSight& sight);
// Webhooks whose service is gone or has nobody behind it: with failurePolicy Fail nothing of their kinds can be written any more.
Ailments DanglingWebhooks(const ClusterSight& sight);

// Who runs here, by deployments and by leases that were renewed within the last minute.
struct Controllers {
  std::string paddle_operator, volcano_controller, volcano_scheduler, our_controller, our_scheduler;  // "deployment paddle-system/x"; "": nobody
  bool our_jobs = false;  // our controller is not only for PaddleJobs
};
Controllers ControllersOf(const ClusterSight& sight);
// Two that would do the same work: controllers of Jobs, schedulers of one name, controllers of PaddleJobs.
Ailments TwoControllers(const ClusterSight& sight);
// PodGroups of a PaddleJob's name that no controller made.
Ailments HandMadeGroups(const ClusterSight& sight);
// Queues whose capability lists a device but no pods: volcano 3426.
Ailments QueuesWithoutPods(const ClusterSight& sight);
// Whose unfinished jobs run paddle_k8s.
std::vector<convert::PodLister> ListersIn(const ClusterSight& sight);
// Those that may not list pods; accounts that `access` does not know are not judged.
Ailments ListersWithoutRight(const ClusterSight& sight);

// All of them, in this order.
Ailments Examine(const ClusterSight& sight);
// A paragraph each.
std::string AilmentsText(const Ailments& ailments);

}  // namespace gangway::cmd
