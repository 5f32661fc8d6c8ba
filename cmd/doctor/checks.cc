#include "cmd/doctor/checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_path.h"
#include "api/kinds/kinds.h"
#include "base/printable.h"
#include "base/strings.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;
using api::ValueAt;

// Whether somebody answers for the service.
bool HasEndpoints(const Objects& endpoints, absl::string_view key) {
  const json::value* const found = FindByKey(endpoints, key);
  if (found == nullptr) return false;
  const json::array& subsets = ListAt(*found, {"subsets"});
  return std::any_of(subsets.begin(), subsets.end(),
                     [](const json::value& subset) { return !ListAt(subset, {"addresses"}).empty(); });
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
      out.push_back(
          {"D-WEBHOOK", absl::StrCat(kind, " ", NameOf(configuration)),
           absl::StrCat("webhook ", TextAt(webhook, {"name"}), " asks service ", key, ", which ",
                        there ? "has no pod that is ready" : "is not there",
                        blocks ? ": nothing that it judges can be created or changed"
                               : "; what it adds and refuses is left out"),
           there ? absl::StrCat("start what serves it, or kubectl delete ", kind, " ", Word(NameOf(configuration)))
                 : absl::StrCat("kubectl delete ", kind, " ", Word(NameOf(configuration)))});
    }
  }
}

}  // namespace

std::vector<const api::KindRow*> NeededKinds() {
  std::vector<const api::KindRow*> out;
  for (const api::KindRow& row : api::Kinds()) {
    if (!row.unserved.empty()) out.push_back(&row);
  }
  return out;
}

Ailments MissingTypes(const ClusterSight& sight) {
  Ailments out;
  for (const api::KindRow* const needed : NeededKinds()) {
    const std::string type = absl::StrCat(View(needed->resource->plural), ".", View(needed->resource->group));
    if (sight.served.contains(type)) continue;
    out.push_back({"D-TYPE", absl::StrCat("type ", type), absl::StrCat("is not served: ", View(needed->unserved)),
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

Ailments HandMadeGroups(const ClusterSight& sight) {
  Ailments out;
  const bool stock = !ControllersOf(sight).volcano_controller.empty();
  for (const json::value& group : sight.pod_groups) {
    const json::value* const job = FindByKey(sight.paddle_jobs, KeyOf(group));
    if (job == nullptr || ControllerOf(group) != nullptr) continue;
    out.push_back({"D-HAND-MADE-GROUP", absl::StrCat("podgroup ", KeyOf(group)),
                   stock
                       ? "has the name of a PaddleJob: Volcano takes it for the job's own, and no pod runs (E-PG-CLASH)"
                       : "has the name of a PaddleJob: what it asks for is taken over, the group itself does nothing "
                         "(W-PG-DROPPED)",
                   absl::StrCat("write its queue, minMember and priorityClassName as schedulingPolicy of the "
                                "PaddleJob, then kubectl delete podgroup ",
                                Word(NameOf(group)), " -n ", Word(NamespaceOf(group)))});
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
      out.push_back({"D-QUEUE-PODS", absl::StrCat("queue ", NameOf(queue)),
                     absl::StrCat("its capability lists ", View(name),
                                  " and no pods: some releases of Volcano then let no job in, since a gang asks for "
                                  "pods too (volcano 3426)"),
                     absl::StrCat("kubectl patch queue ", Word(NameOf(queue)),
                                  R"( --type merge -p '{"spec":{"capability":{"pods":"10000"}}}')")});
      break;
    }
  }
  return out;
}

std::vector<convert::PodLister> ListersIn(const ClusterSight& sight) {
  std::vector<convert::PodLister> out;
  for (const json::value& job : sight.jobs) {
    if (!IsUnfinishedJob(job)) continue;
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
      const auto known = std::find_if(sight.access.begin(), sight.access.end(), [&](const ServiceAccess& one) {
        return one.ns == lister.ns && one.service_account == lister.service_account;
      });
      if (known == sight.access.end() || known->may_list_pods || !told.insert(lister.service_account).second) continue;
      out.push_back({"D-LIST-RIGHT", absl::StrCat("job ", lister.ns, "/", NameOf(job)),
                     absl::StrCat("service account ", lister.service_account, " of its pods may not list pods"),
                     convert::AdviceFor(lister, NameOf(job))});
    }
  }
  return out;
}

Ailments Examine(const ClusterSight& sight) {
  Ailments out;
  for (const auto check :
       {MissingTypes, DanglingWebhooks, NobodyAtWork, TwoControllers, HandMadeGroups, QueuesThatTakeNoJobs,
        QueuesWithoutPods, JobsThatAreNotTranslated, FieldsThatWaitForEver, HyperNodesThatSelectNothing, MissingClaims,
        ContainersThatCannotStart, JobsThatWait, ListersWithoutRight, ExtendersOutOfPlace}) {
    for (Ailment& ailment : check(sight)) out.push_back(std::move(ailment));
  }
  return out;
}

std::string AilmentsText(const Ailments& ailments) {
  std::string out;
  for (const Ailment& ailment : ailments)
    absl::StrAppend(&out, OneLine(absl::StrCat(ailment.code, " ", ailment.subject, ": ", ailment.what)), "\n    ",
                    OneLine(ailment.remedy), "\n");
  return out;
}

}  // namespace gangway::cmd
