// What `gangway doctor` knows to look for: each check is a function from what was seen of a cluster to what is wrong
// with it, and what to do (docs/commands.md).
//
// Pure. The same sight gives the same findings in the same order.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/kind.h"
#include "cmd/doctor/sight.h"
#include "translator/convert/run_entry.h"

namespace gangway::cmd {

// The kinds of the catalogue that users miss where they are not served.
std::vector<const api::KindRow*> NeededKinds();
// Those of them that the API server does not serve.
Ailments MissingTypes(const ClusterSight& sight);
// Webhooks whose service is gone or has nobody behind it: with failurePolicy Fail nothing of their kinds can be written
// any more.
Ailments DanglingWebhooks(const ClusterSight& sight);

// Who runs here, by deployments and by leases that were renewed within the last minute.
struct Controllers {
  std::string paddle_operator, volcano_controller, volcano_scheduler, our_controller,
      our_scheduler;      // "deployment paddle-system/x"; "": nobody
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

// work.cc: nobody who lets in, places, or keeps jobs: deployments without a ready pod, leases that are not renewed,
// objects that nobody looks at although they are old enough. One finding for each of the three kinds of work.
Ailments NobodyAtWork(const ClusterSight& sight);

// jobs.cc: queues that take no jobs or are not there, though jobs name them.
Ailments QueuesThatTakeNoJobs(const ClusterSight& sight);
// Jobs, and PodGroups of others, that have waited for long, with what they wait for.
Ailments JobsThatWait(const ClusterSight& sight);
// PaddleJobs of both dialects that our controller could not translate or, where nobody has tried, cannot be.
Ailments JobsThatAreNotTranslated(const ClusterSight& sight);
// Images that nodes cannot pull, and containers that cannot be made.
Ailments ContainersThatCannotStart(const ClusterSight& sight);
// Volume claims that jobs mount and nobody has made, or whose volume is lost.
Ailments MissingClaims(const ClusterSight& sight);

// fields.cc: fields of jobs that wait, of PodGroups of others and of queues that our scheduler does not know. Nothing
// where Volcano's is at work: it knows them.
Ailments FieldsThatWaitForEver(const ClusterSight& sight);
// HyperNodes with members that select nothing as they are written, and HyperNodes that are members of each other.
Ailments HyperNodesThatSelectNothing(const ClusterSight& sight);

// volcano_conf.cc: ConfigMaps that Deployments of Volcano's scheduler mount, "namespace/name", each once.
struct MountedConf {
  std::string deployment, config_map;
};
std::vector<MountedConf> SchedulerConfMounts(const ClusterSight& sight);
// What in Volcano's scheduler configuration is no such word, and what is wrong with the place of its extender plugin;
// a `gangway extender` in the scheduler's pod that the configuration does not name.
Ailments ExtendersOutOfPlace(const ClusterSight& sight);
// The same of a file, where no extender at all is an ailment, too. An error names the file.
absl::StatusOr<Ailments> ExamineSchedulerConf(absl::string_view text, absl::string_view source);

// All of them, in this order.
Ailments Examine(const ClusterSight& sight);
// A paragraph each.
std::string AilmentsText(const Ailments& ailments);

}  // namespace gangway::cmd
