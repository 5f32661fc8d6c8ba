// Who lets jobs in, places them and keeps them: by deployments, by leases, and by objects that nobody looks at.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json_path.h"
#include "api/paddle/paddle_job.h"
#include "base/counted.h"
#include "base/strings.h"
#include "cmd/doctor/checks.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;
using api::ValueAt;

constexpr absl::Duration kFresh = absl::Minutes(1);       // the age of a lease that somebody holds
constexpr absl::Duration kUnnoticed = absl::Seconds(30);  // nobody who is at work takes so long to look at an object
constexpr char kOperatorLease[] = "b2a304f2.paddlepaddle.org";
constexpr char kInstall[] =
    "kubectl apply -k deploy/volcano/overlays/standalone (docs/operations.md), or start Volcano's";

enum class Program { kPaddleOperator, kVolcanoController, kVolcanoScheduler, kOurController, kOurScheduler };

// A deployment or a lease of a program.
struct Worker {
  Program program;
  std::string name;  // "deployment gangway/gangway-scheduler", "the holder of lease gangway/gangway-scheduler"
  bool wanted = true;
  std::string idle;  // why nothing is done; "": it is at work
  std::string remedy;
  bool keeps_jobs = true, keeps_paddle_jobs = true;
};

// Whether our controller of this command line has the reconciler.
bool Keeps(absl::string_view line, absl::string_view reconciler) {
  const std::string only = FlagIn(line, "--only");
  if (only.empty()) return true;
  const std::vector<absl::string_view> names = absl::StrSplit(only, ',');
  return std::find(names.begin(), names.end(), reconciler) != names.end();
}

std::int64_t NumberAt(const json::value& value, api::JsonPath path, std::int64_t absent) {
  const json::value* const found = ValueAt(value, path);
  return found != nullptr && found->is_int64() ? found->get_int64() : absent;
}

Worker WorkerOf(const json::value& deployment, Program program) {
  Worker out{program, absl::StrCat("deployment ", KeyOf(deployment)), true, "", "", true, true};
  const std::string where =
      absl::StrCat("deployment ", Word(NameOf(deployment)), " -n ", Word(NamespaceOf(deployment)));
  if (NumberAt(deployment, {"spec", "replicas"}, 1) == 0) {
    out.wanted = false;
    out.idle = "is scaled to 0";
    out.remedy = absl::StrCat("kubectl scale ", where, " --replicas=1");
  } else if (NumberAt(deployment, {"status", "observedGeneration"}, 0) > 0 &&
             NumberAt(deployment, {"status", "readyReplicas"}, 0) == 0) {
    out.idle = "has no pod that is ready";
    out.remedy = absl::StrCat("kubectl describe ", where, "; kubectl logs ", where);
  }
  return out;
}

Worker WorkerOf(const json::value& lease, Program program, absl::Time now) {
  Worker out{program, absl::StrCat("the holder of lease ", KeyOf(lease)), true, "", "", true, true};
  const std::string renewed = TextAt(lease, {"spec", "renewTime"}), holder = TextAt(lease, {"spec", "holderIdentity"});
  if (holder.empty()) {
    out.idle = "has given it back, and nobody took it";
  } else if (const absl::Duration age = Since(renewed, now); renewed.empty() || age >= kFresh) {
    out.idle = absl::StrCat("(", holder, ") has not renewed it for ", AgeText(age));
  }
  out.wanted = out.idle.empty();
  out.remedy = "start it: it takes the lease by itself";
  return out;
}

std::vector<Worker> WorkersOf(const ClusterSight& sight) {
  std::vector<Worker> out;
  bool our_deployment = false, our_jobs = false, our_paddle_jobs = false;
  for (const json::value& deployment : sight.deployments) {
    if (HasImage(deployment, "paddle-operator")) out.push_back(WorkerOf(deployment, Program::kPaddleOperator));
    if (HasImage(deployment, "vc-controller-manager")) out.push_back(WorkerOf(deployment, Program::kVolcanoController));
    if (HasImage(deployment, "vc-scheduler")) out.push_back(WorkerOf(deployment, Program::kVolcanoScheduler));
    const std::string ours = LineOf(deployment, "gangway");
    if (absl::StrContains(ours, " controller ")) {
      Worker& worker = out.emplace_back(WorkerOf(deployment, Program::kOurController));
      worker.keeps_jobs = Keeps(ours, "job");
      worker.keeps_paddle_jobs = Keeps(ours, "paddlejob");
      our_deployment = true;
      our_jobs = our_jobs || worker.keeps_jobs;
      our_paddle_jobs = our_paddle_jobs || worker.keeps_paddle_jobs;
    }
    if (absl::StrContains(ours, " scheduler ")) out.push_back(WorkerOf(deployment, Program::kOurScheduler));
  }
  constexpr std::array kLeases{std::pair{kOperatorLease, Program::kPaddleOperator},
                               std::pair{"vc-controller-manager", Program::kVolcanoController},
                               std::pair{"vc-scheduler", Program::kVolcanoScheduler},
                               std::pair{"volcano", Program::kVolcanoScheduler},
                               std::pair{"gangway-scheduler", Program::kOurScheduler},
                               std::pair{"gangway-controller", Program::kOurController}};
  for (const json::value& lease : sight.leases) {
    const std::string name = NameOf(lease);
    for (const auto& [known, program] : kLeases) {
      if (name != known) continue;
      Worker& worker = out.emplace_back(WorkerOf(lease, program, sight.now));
      if (program != Program::kOurController || !our_deployment) continue;
      worker.keeps_jobs = our_jobs;  // a lease does not say what its holder does
      worker.keeps_paddle_jobs = our_paddle_jobs;
    }
  }
  return out;
}

void AddTwo(Ailments& out, const std::string& one, const std::string& other, absl::string_view work,
            absl::string_view remedy) {
  if (!one.empty() && !other.empty())
    out.push_back({"D-TWO-CONTROLLERS", one, absl::StrCat("and ", other, " both ", work), std::string(remedy)});
}

// "podgroup a/x, and 2 more"
std::string FirstOf(absl::string_view kind, const std::vector<std::string>& keys) {
  return absl::StrCat(kind, " ", keys.front(), keys.size() == 1 ? "" : absl::StrCat(" and ", keys.size() - 1, " more"));
}

// One of the three kinds of work that must be done for a job to run.
struct Work {
  const char* code;
  const char* who;    // "a scheduler"
  const char* leads;  // to what, when nobody does it
  bool (*does)(const Worker&);
  bool needed = true;
  bool done_before = false;    // traces of somebody who is not seen: a process outside of the cluster without a lease
  std::string unnoticed = {};  // what nobody has looked at; ""
};

void Judge(const ClusterSight& sight, const std::vector<Worker>& workers, const Work& work, Ailments& out) {
  std::vector<const Worker*> idle, busy;
  for (const Worker& worker : workers) {
    if (work.does(worker)) (worker.idle.empty() ? busy : idle).push_back(&worker);
  }
  if (!busy.empty()) {
    if (work.unnoticed.empty()) return;
    out.push_back({work.code, busy.front()->name, absl::StrCat("is there, but ", work.unnoticed, ": ", work.leads),
                   "look at its log and its page /readyz, and restart it"});
  } else if (!idle.empty() && (work.needed || !work.unnoticed.empty())) {
    const std::string others =
        idle.size() == 1 ? ""
                         : absl::StrCat("; ", absl::StrJoin(idle.begin() + 1, idle.end(), "; ",
                                                            [](std::string* text, const Worker* one) {
                                                              absl::StrAppend(text, one->name, " ", one->idle);
                                                            }));
    out.push_back({work.code, idle.front()->name,
                   absl::StrCat(idle.front()->idle, others,
                                work.unnoticed.empty() ? "" : absl::StrCat("; ", work.unnoticed), ": ", work.leads),
                   idle.front()->remedy});
  } else if (!work.unnoticed.empty()) {
    out.push_back({work.code, "the cluster",
                   absl::StrCat("has no ", work.who, " at work: ", work.unnoticed, ": ", work.leads),
                   absl::StrCat("start one: ", kInstall)});
  } else if (work.needed && !work.done_before && !sight.embedded && sight.Saw("deployments") && sight.Saw("leases")) {
    out.push_back(
        {work.code, "the cluster",
         absl::StrCat("has no ", work.who, ", neither a deployment nor a lease: ", work.leads),
         absl::StrCat("start one: ", kInstall, "; one that runs outside of the cluster is seen with --leader-elect")});
  }
}

bool TakesJobs(const ClusterSight& sight, const std::string& name) {
  return std::any_of(sight.queues.begin(), sight.queues.end(), [&](const json::value& queue) {
    return NameOf(queue) == (name.empty() ? "default" : name) &&
           !absl::StartsWith(TextAt(queue, {"status", "state"}), "Clos");
  });
}

// PodGroups without a phase or a word of a scheduler's, and their pods that are neither placed nor told why.
std::string UnnoticedByAScheduler(const ClusterSight& sight) {
  std::vector<std::string> groups, pods;
  absl::Duration longest;
  for (const json::value& group : sight.pod_groups) {
    const absl::Duration age = AgeOf(group, sight.now);
    const bool noticed =
        !TextAt(group, {"status", "phase"}).empty() || !ListAt(group, {"status", "conditions"}).empty();
    // Volcano passes over those whose queue is not there, without a word.
    if (noticed || age < kUnnoticed || !TakesJobs(sight, TextAt(group, {"spec", "queue"}))) continue;
    groups.push_back(KeyOf(group));
    longest = std::max(longest, age);
  }
  if (!groups.empty())
    return absl::StrCat("nobody has looked at ", FirstOf("podgroup", groups), " for ", AgeText(longest));
  for (const json::value& pod : sight.pods) {
    const bool member = !TextAt(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"}).empty();
    const bool due = TextAt(pod, {"spec", "nodeName"}).empty() && TextAt(pod, {"status", "phase"}) != "Failed" &&
                     ValueAt(pod, {"metadata", "deletionTimestamp"}) == nullptr;
    const absl::Duration age = AgeOf(pod, sight.now);
    if (!member || !due || !ListAt(pod, {"status", "conditions"}).empty() || age < kUnnoticed) continue;
    pods.push_back(KeyOf(pod));
    longest = std::max(longest, age);
  }
  return pods.empty()
             ? ""
             : absl::StrCat("nobody has placed ", FirstOf("pod", pods), " or said why not for ", AgeText(longest));
}

Work Scheduling(const ClusterSight& sight) {
  Work out{"D-NO-SCHEDULER", "scheduler", "no job is let in or placed", [](const Worker& one) {
             return one.program == Program::kVolcanoScheduler || one.program == Program::kOurScheduler;
           }};
  out.needed = sight.served.contains("podgroups.scheduling.volcano.sh");
  out.done_before =
      !sight.Saw("podgroups") ||
      std::any_of(sight.pod_groups.begin(), sight.pod_groups.end(), [](const json::value& group) {
        return !TextAt(group, {"status", "phase"}).empty() || !ListAt(group, {"status", "conditions"}).empty();
      });
  out.unnoticed = UnnoticedByAScheduler(sight);
  return out;
}

Work KeepingJobs(const ClusterSight& sight) {
  Work out{"D-NO-CONTROLLER", "controller of Jobs", "no job gets pods, restarts or ends", [](const Worker& one) {
             return one.program == Program::kVolcanoController ||
                    (one.program == Program::kOurController && one.keeps_jobs);
           }};
  out.needed = sight.served.contains("jobs.batch.volcano.sh");
  std::vector<std::string> unnoticed;
  absl::Duration longest;
  for (const json::value& job : sight.jobs) {
    out.done_before = out.done_before || !PhaseOf(job).empty();
    if (!PhaseOf(job).empty() || AgeOf(job, sight.now) < kUnnoticed) continue;
    unnoticed.push_back(KeyOf(job));
    longest = std::max(longest, AgeOf(job, sight.now));
  }
  for (const json::value& queue : sight.queues)
    out.done_before = out.done_before || !TextAt(queue, {"status", "state"}).empty();
  out.done_before = out.done_before || !sight.Saw("jobs") || !sight.Saw("queues");
  if (!unnoticed.empty())
    out.unnoticed = absl::StrCat("nobody has given ", FirstOf("job", unnoticed), " a status for ", AgeText(longest));
  return out;
}

// Only jobs of paddle-operator's own type tell by their status that nobody cares: those of kubeflow have another
// controller as a rule.
Work KeepingPaddleJobs(const ClusterSight& sight) {
  Work out{"D-NO-CONTROLLER", "controller of PaddleJobs", "no PaddleJob becomes a job", [](const Worker& one) {
             return one.program == Program::kPaddleOperator ||
                    (one.program == Program::kOurController && one.keeps_paddle_jobs);
           }};
  out.needed = false;      // who has no PaddleJobs needs nobody
  out.done_before = true;  // and who has some sees by their status
  std::vector<std::string> unnoticed;
  absl::Duration longest;
  for (const json::value& job : sight.paddle_jobs) {
    out.needed = out.needed || IsUnfinishedPaddleJob(job);
    if (!TextAt(job, {"status", "phase"}).empty() || !ListAt(job, {"status", "conditions"}).empty() ||
        AgeOf(job, sight.now) < kUnnoticed)
      continue;
    unnoticed.push_back(KeyOf(job));
    longest = std::max(longest, AgeOf(job, sight.now));
  }
  if (!unnoticed.empty())
    out.unnoticed =
        absl::StrCat("nobody has given ", FirstOf("paddlejob", unnoticed), " a status for ", AgeText(longest));
  return out;
}

}  // namespace

Controllers ControllersOf(const ClusterSight& sight) {
  Controllers out;
  for (const Worker& worker : WorkersOf(sight)) {
    if (!worker.wanted) continue;
    std::string* who = nullptr;
    switch (worker.program) {
      case Program::kPaddleOperator:
        who = &out.paddle_operator;
        break;
      case Program::kVolcanoController:
        who = &out.volcano_controller;
        break;
      case Program::kVolcanoScheduler:
        who = &out.volcano_scheduler;
        break;
      case Program::kOurController:
        who = &out.our_controller;
        break;
      case Program::kOurScheduler:
        who = &out.our_scheduler;
        break;
    }
    if (who->empty()) *who = worker.name;
    // Of a lease alone nobody knows.
    out.our_jobs = out.our_jobs || (worker.program == Program::kOurController && worker.keeps_jobs &&
                                    absl::StartsWith(worker.name, "deployment "));
  }
  return out;
}

Ailments TwoControllers(const ClusterSight& sight) {
  Ailments out;
  const Controllers who = ControllersOf(sight);
  if (who.our_jobs) {
    AddTwo(out, who.volcano_controller, who.our_controller,
           "make the pods of Volcano's Jobs: jobs restart and end without a reason",
           "run ours with --only=paddlejob, or scale Volcano's to 0");
  }
  AddTwo(out, who.volcano_scheduler, who.our_scheduler,
         "place pods that name the scheduler volcano: nodes are promised twice",
         "scale one of them to 0, or give ours another --scheduler-name");
  AddTwo(out, who.paddle_operator, who.our_controller, "keep PaddleJobs: each makes pods for them",
         "gangway import shows what runs and what to move; then scale paddle-operator to 0");
  // paddle-operator owns its pods itself; ours belong to a Job.
  std::map<std::string, std::size_t> pods;
  for (const json::value& pod : sight.pods) {
    const json::value* const owner = ControllerOf(pod);
    if (owner == nullptr || TextAt(*owner, {"kind"}) != api::paddle::kPaddleJobs.kind ||
        TextAt(*owner, {"apiVersion"}) != api::paddle::kPaddleJobs.ApiVersion())
      continue;
    ++pods[absl::StrCat(NamespaceOf(pod), "/", TextAt(*owner, {"name"}))];
  }
  if (who.our_controller.empty()) return out;
  for (const auto& [job, count] : pods) {
    out.push_back({"D-TWO-CONTROLLERS", absl::StrCat("paddlejob ", job),
                   absl::StrCat("has ", Counted(count, "pod"),
                                " of paddle-operator: our controller leaves it alone until they are gone"),
                   absl::StrCat("gangway import -n ", Word(job.substr(0, job.find('/'))), " ",
                                Word(job.substr(job.find('/') + 1)))});
  }
  return out;
}

Ailments NobodyAtWork(const ClusterSight& sight) {
  Ailments out;
  const std::vector<Worker> workers = WorkersOf(sight);
  for (const Work& work : {Scheduling(sight), KeepingJobs(sight), KeepingPaddleJobs(sight)})
    Judge(sight, workers, work, out);
  return out;
}

}  // namespace gangway::cmd
