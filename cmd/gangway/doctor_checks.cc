#include "cmd/gangway/doctor_checks.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "api/json_path.h"
#include "api/paddle/paddle_job.h"
#include "api/resource.h"
#include "base/strings.h"
#include "translator/convert/annotations.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;
using api::ValueAt;

constexpr absl::Duration kFresh = absl::Minutes(1);  // the age of a lease that somebody holds
constexpr char kOperatorLease[] = "b2a304f2.paddlepaddle.org";

std::string NameOf(const json::value& object) { return TextAt(object, {"metadata", "name"}); }
std::string NamespaceOf(const json::value& object) { return TextAt(object, {"metadata", "namespace"}); }
std::string KeyOf(const json::value& object) { return absl::StrCat(NamespaceOf(object), "/", NameOf(object)); }

const json::value* ControllerOf(const json::value& object) {
  for (const json::value& owner : ListAt(object, {"metadata", "ownerReferences"})) {
    const json::value* const controls = ValueAt(owner, {"controller"});
    if (controls != nullptr && controls->is_bool() && controls->get_bool()) return &owner;
  }
  return nullptr;
}

const json::value* FindByKey(const Objects& objects, absl::string_view key) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const json::value& object) { return KeyOf(object) == key; });
  return found == objects.end() ? nullptr : &*found;
}

// Whether somebody answers for the service.
bool HasEndpoints(const Objects& endpoints, absl::string_view key) {
  const json::value* const found = FindByKey(endpoints, key);
  if (found == nullptr) return false;
  const json::array& subsets = ListAt(*found, {"subsets"});
  return std::any_of(subsets.begin(), subsets.end(), [](const json::value& subset) { return !ListAt(subset, {"addresses"}).empty(); });
}

void CheckWebhooks(const ClusterSight& sight, const Objects& configurations, const char* kind, Ailments& out) {
  for (const json::value& configuration : configurations) {
    for (const json::value& webhook : ListAt(configuration, {"webhooks"})) {
      const json::value* const service = ValueAt(webhook, {"clientConfig", "service"});
      if (service == nullptr) continue;
      const std::string key = absl::StrCat(TextAt(*service, {"namespace"}), "/", TextAt(*service, {"name"}));
      const bool there = FindByKey(sight.services, key) != nullptr;
      if (there && HasEndpoints(sight.endpoints, key)) continue;
      const bool blocks = TextAt(webhook, {"failurePolicy"}) != "Ignore";
      out.push_back({absl::StrCat(kind, " ", NameOf(configuration)),
                     absl::StrCat("webhook ", TextAt(webhook, {"name"}), " asks service ", key, ", which ", there ? "has no pod that is ready" : "is not there",
                                  blocks ? ": nothing that it judges can be created or changed" : "; what it adds and refuses is left out"),
                     there ? absl::StrCat("start what serves it, or kubectl delete ", kind, " ", NameOf(configuration)) : absl::StrCat("kubectl delete ", kind, " ", NameOf(configuration))});
    }
  }
}

// The program that a deployment's first container of that image runs: its command and arguments in one line; "" when it has no replicas.
std::string LineOf(const json::value& deployment, absl::string_view image) {
  const json::value* const replicas = ValueAt(deployment, {"spec", "replicas"});
  if (replicas != nullptr && replicas->is_int64() && replicas->get_int64() == 0) return "";
  for (const json::value& container : ListAt(deployment, {"spec", "template", "spec", "containers"})) {
    if (!absl::StrContains(TextAt(container, {"image"}), image)) continue;
    std::string line = absl::StrCat(TextAt(container, {"image"}), " ");
    for (const char* const list : {"command", "args"}) {
      for (const json::value& word : ListAt(container, {list})) {
        if (word.is_string()) absl::StrAppend(&line, View(word.get_string()), " ");
      }
    }
    return line;
  }
  return "";
}

// Whether our controller of this command line has the reconciler of Volcano's Jobs.
bool KeepsJobs(absl::string_view line) {
  const std::size_t flag = line.find("--only");
  if (flag == absl::string_view::npos) return true;
  const absl::string_view rest = line.substr(std::min(flag + 7, line.size()));  // after "=" or " "
  for (const absl::string_view name : absl::StrSplit(rest.substr(0, rest.find(' ')), ',')) {
    if (name == "job") return true;
  }
  return false;
}

bool IsHeld(const json::value& lease, absl::Time now) {
  const absl::StatusOr<absl::Time> renewed = api::ParseTime(TextAt(lease, {"spec", "renewTime"}));
  return renewed.ok() && now - *renewed < kFresh && !TextAt(lease, {"spec", "holderIdentity"}).empty();
}

void AddTwo(Ailments& out, const std::string& one, const std::string& other, absl::string_view work, absl::string_view remedy) {
  if (!one.empty() && !other.empty()) out.push_back({one, absl::StrCat("and ", other, " both ", work), std::string(remedy)});
}

}  // namespace

Ailments MissingTypes(const ClusterSight& sight) {
  Ailments out;
  for (const char* const type : {"jobs.batch.volcano.sh", "commands.bus.volcano.sh", "podgroups.scheduling.volcano.sh", "queues.scheduling.volcano.sh", "paddlejobs.batch.paddlepaddle.org"}) {
    if (sight.served.contains(type)) continue;
    const bool paddle = absl::StrContains(type, "paddlepaddle");
    out.push_back({absl::StrCat("type ", type), paddle ? "is not served: PaddleJobs cannot be applied, only translated" : "is not served: no job can be submitted",
                   absl::StrCat("gangway crds ", type, " | kubectl apply --server-side -f -")});
  }
  return out;
}

Ailments DanglingWebhooks(const ClusterSight& sight) {
  Ailments out;
  CheckWebhooks(sight, sight.validating, "validatingwebhookconfiguration", out);
  CheckWebhooks(sight, sight.mutating, "mutatingwebhookconfiguration", out);
  return out;
}

Controllers ControllersOf(const ClusterSight& sight) {
  Controllers out;
  const auto take = [](std::string& who, const std::string& found) {
    if (who.empty()) who = found;
  };
  for (const json::value& deployment : sight.deployments) {
    const std::string name = absl::StrCat("deployment ", KeyOf(deployment));
    if (!LineOf(deployment, "paddle-operator").empty()) take(out.paddle_operator, name);
    if (!LineOf(deployment, "vc-controller-manager").empty()) take(out.volcano_controller, name);
    if (!LineOf(deployment, "vc-scheduler").empty()) take(out.volcano_scheduler, name);
    const std::string ours = LineOf(deployment, "gangway");
    if (absl::StrContains(ours, " controller ")) {
      take(out.our_controller, name);
      out.our_jobs = out.our_jobs || KeepsJobs(ours);
    }
    if (absl::StrContains(ours, " scheduler ")) take(out.our_scheduler, name);
  }
  for (const json::value& lease : sight.leases) {
    if (!IsHeld(lease, sight.now)) continue;
    const std::string holder = absl::StrCat("the holder of lease ", KeyOf(lease)), name = NameOf(lease);
    if (name == kOperatorLease) take(out.paddle_operator, holder);
    if (name == "vc-controller-manager") take(out.volcano_controller, holder);
    if (name == "vc-scheduler" || name == "volcano") take(out.volcano_scheduler, holder);
    if (name == "gangway-scheduler") take(out.our_scheduler, holder);
    if (name == "gangway-controller") take(out.our_controller, holder);
  }
  return out;
}

Ailments TwoControllers(const ClusterSight& sight) {
  Ailments out;
  const Controllers who = ControllersOf(sight);
  if (who.our_jobs) {
    AddTwo(out, who.volcano_controller, who.our_controller, "make the pods of Volcano's Jobs: jobs restart and end without a reason", "run ours with --only=paddlejob, or scale Volcano's to 0");
  }
  AddTwo(out, who.volcano_scheduler, who.our_scheduler, "place pods that name the scheduler volcano: nodes are promised twice", "scale one of them to 0, or give ours another --scheduler-name");
  AddTwo(out, who.paddle_operator, who.our_controller, "keep PaddleJobs: each makes pods for them", "gangway import shows what runs and what to move; then scale paddle-operator to 0");
  // paddle-operator owns its pods itself; ours belong to a Job.
  std::map<std::string, std::size_t> pods;
  for (const json::value& pod : sight.pods) {
    const json::value* const owner = ControllerOf(pod);
    if (owner == nullptr || TextAt(*owner, {"kind"}) != api::paddle::kPaddleJobs.kind || TextAt(*owner, {"apiVersion"}) != api::paddle::kPaddleJobs.ApiVersion()) continue;
    ++pods[absl::StrCat(NamespaceOf(pod), "/", TextAt(*owner, {"name"}))];
  }
  if (who.our_controller.empty()) return out;
  for (const auto& [job, count] : pods) {
    out.push_back({absl::StrCat("paddlejob ", job), absl::StrCat("has ", count, count == 1 ? " pod" : " pods", " of paddle-operator: our controller leaves it alone until they are gone"),
                   absl::StrCat("gangway import -n ", job.substr(0, job.find('/')), " ", job.substr(job.find('/') + 1))});
  }
  return out;
}

Ailments HandMadeGroups(const ClusterSight& sight) {
  Ailments out;
  const bool stock = !ControllersOf(sight).volcano_controller.empty();
  for (const json::value& group : sight.pod_groups) {
    const json::value* const job = FindByKey(sight.paddle_jobs, KeyOf(group));
    if (job == nullptr || ControllerOf(group) != nullptr) continue;
    out.push_back({absl::StrCat("podgroup ", KeyOf(group)),
                   stock ? "has the name of a PaddleJob: Volcano takes it for the job's own, and no pod runs (E-PG-CLASH)"
                         : "has the name of a PaddleJob: what it asks for is taken over, the group itself does nothing (W-PG-DROPPED)",
                   absl::StrCat("write its queue, minMember and priorityClassName as schedulingPolicy of the PaddleJob, then kubectl delete podgroup ", NameOf(group), " -n ", NamespaceOf(group))});
  }
  return out;
}

Ailments QueuesWithoutPods(const ClusterSight& sight) {
  Ailments out;
  for (const json::value& queue : sight.queues) {
    const json::value* const capability = ValueAt(queue, {"spec", "capability"});
    if (capability == nullptr || !capability->is_object() || capability->get_object().contains("pods")) continue;
    for (const auto& [name, amount] : capability->get_object()) {
      if (!absl::StrContains(View(name), "/")) continue;
      out.push_back({absl::StrCat("queue ", NameOf(queue)),
                     absl::StrCat("its capability lists ", View(name), " and no pods: some releases of Volcano then let no job in, since a gang asks for pods too (volcano 3426)"),
                     absl::StrCat("kubectl patch queue ", NameOf(queue), R"( --type merge -p '{"spec":{"capability":{"pods":"10000"}}}')")});
      break;
    }
  }
  return out;
}

std::vector<convert::PodLister> ListersIn(const ClusterSight& sight) {
  std::vector<convert::PodLister> out;
  for (const json::value& job : sight.jobs) {
    const std::string phase = TextAt(job, {"status", "state", "phase"});
    if (phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted") continue;
    for (convert::PodLister& lister : convert::PodListersOf(job, "default")) out.push_back(std::move(lister));
  }
  return out;
}

Ailments ListersWithoutRight(const ClusterSight& sight) {
  Ailments out;
  for (const json::value& job : sight.jobs) {
    ClusterSight alone;
    alone.jobs.push_back(job);
    std::set<std::string> told;  // once for each account
    for (const convert::PodLister& lister : ListersIn(alone)) {
      const auto known = std::find_if(sight.access.begin(), sight.access.end(), [&](const ServiceAccess& one) { return one.ns == lister.ns && one.service_account == lister.service_account; });
      if (known == sight.access.end() || known->may_list_pods || !told.insert(lister.service_account).second) continue;
      out.push_back({absl::StrCat("job ", lister.ns, "/", NameOf(job)), absl::StrCat("service account ", lister.service_account, " of its pods may not list pods"), convert::AdviceFor(lister, NameOf(job))});
    }
  }
  return out;
}

Ailments Examine(const ClusterSight& sight) {
  Ailments out;
  for (const auto check : {MissingTypes, DanglingWebhooks, TwoControllers, HandMadeGroups, QueuesWithoutPods, ListersWithoutRight}) {
    for (Ailment& ailment : check(sight)) out.push_back(std::move(ailment));
  }
  return out;
}

std::string AilmentsText(const Ailments& ailments) {
  std::string out;
  for (const Ailment& ailment : ailments) absl::StrAppend(&out, ailment.subject, ": ", ailment.what, "\n    ", ailment.remedy, "\n");
  return out;
}

}  // namespace gangway::cmd
