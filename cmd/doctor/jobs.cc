// What keeps single jobs from running: their queue, their translation, what they mount and pull, and what they wait
// for.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/field_table.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "base/strings.h"
#include "cmd/doctor/checks.h"
#include "cmd/translate/object_check.h"
#include "cmd/vcctl/job_answers.h"
#include "translator/files/manifest.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;
using api::ValueAt;

constexpr absl::Duration kLong = absl::Minutes(1);        // to wait for a place
constexpr absl::Duration kLongStart = absl::Minutes(10);  // with a place: images are large
constexpr std::size_t kMaxNamed = 5;                      // jobs in a sentence

std::string OrDefault(const std::string& queue) { return queue.empty() ? "default" : queue; }

// "a/x, a/y and 3 more"
std::string Named(const std::vector<std::string>& keys) {
  const std::size_t named = std::min(keys.size(), kMaxNamed);
  const std::string text = absl::StrJoin(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(named), ", ");
  return keys.size() > named ? absl::StrCat(text, " and ", keys.size() - named, " more") : text;
}

// The PodGroup that the job owns; nullptr.
const json::value* GroupOf(const ClusterSight& sight, const json::value& job) {
  for (const json::value& group : sight.pod_groups) {
    const json::value* const owner = ControllerOf(group);
    if (owner != nullptr && !UidOf(job).empty() && TextAt(*owner, {"uid"}) == UidOf(job)) return &group;
  }
  return nullptr;
}

// What waits to be let in, by its queue.
std::map<std::string, std::vector<std::string>> WaitingByQueue(const ClusterSight& sight) {
  std::map<std::string, std::vector<std::string>> out;
  for (const json::value& job : sight.jobs) {
    if (IsUnfinishedJob(job) && (PhaseOf(job).empty() || PhaseOf(job) == "Pending"))
      out[OrDefault(TextAt(job, {"spec", "queue"}))].push_back(absl::StrCat("job ", KeyOf(job)));
  }
  for (const json::value& group : sight.pod_groups) {
    const json::value* const owner = ControllerOf(group);
    const std::string phase = TextAt(group, {"status", "phase"});
    const bool of_a_job = owner != nullptr && absl::StartsWith(TextAt(*owner, {"apiVersion"}), "batch.volcano.sh/");
    if (!of_a_job && (phase.empty() || phase == "Pending"))
      out[OrDefault(TextAt(group, {"spec", "queue"}))].push_back(absl::StrCat("podgroup ", KeyOf(group)));
  }
  // Those that are refused for it have no Job yet.
  for (const json::value& job : sight.paddle_jobs) {
    const std::string queue = TextAt(job, {"spec", "schedulingPolicy", "queue"});
    if (!queue.empty() && IsUnfinishedPaddleJob(job) && FindByKey(sight.jobs, KeyOf(job)) == nullptr)
      out[queue].push_back(absl::StrCat("paddlejob ", KeyOf(job)));
  }
  return out;
}

const json::value* FindQueue(const ClusterSight& sight, const std::string& name) {
  const auto found = std::find_if(sight.queues.begin(), sight.queues.end(),
                                  [&](const json::value& queue) { return NameOf(queue) == name; });
  return found == sight.queues.end() ? nullptr : &*found;
}

bool IsClosed(const json::value& queue) { return absl::StartsWith(TextAt(queue, {"status", "state"}), "Clos"); }

// ---- translation

const json::value* ConditionOf(const json::value& object, absl::string_view type) {
  for (const json::value& condition : ListAt(object, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

// Errors of the document as far as it alone decides: whether elastic jobs have an etcd is the controller's to know.
std::string ErrorsOf(const json::value& job, const convert::TypeCheck& check) {
  const absl::StatusOr<std::vector<api::MixedDocument>> documents = api::ReadMixedManifest(api::ToJson(job), "cluster");
  if (!documents.ok()) return std::string(documents.status().message());
  const convert::ManifestTranslation translation =
      convert::TranslateManifest(*documents, convert::TranslateOptions{}, check);
  std::vector<std::string> errors;
  for (const convert::PlacedFinding& placed : translation.findings) {
    if (placed.finding.level() == convert::Level::kError && placed.finding.code != convert::Code::kElastic)
      errors.push_back(placed.finding.ToString());
  }
  return absl::StrJoin(errors, "; ");
}

void CheckTranslation(const json::value& job, const char* kind, bool ours, const convert::TypeCheck& check,
                      Ailments& out) {
  const json::value* const translated = ConditionOf(job, "Translated");
  const std::string remedy = absl::StrCat("kubectl get ", kind, " ", Word(NameOf(job)), " -n ", Word(NamespaceOf(job)),
                                          " -o yaml | gangway validate -f -");
  if (translated != nullptr) {
    if (TextAt(*translated, {"status"}) != "False") return;
    out.push_back({"D-NOT-TRANSLATED", absl::StrCat(kind, " ", KeyOf(job)),
                   absl::StrCat("cannot become a job as it stands: ", TextAt(*translated, {"message"})), remedy});
    return;
  }
  if (!ours) return;  // another's controller runs it
  const std::string errors = ErrorsOf(job, check);
  if (!errors.empty())
    out.push_back({"D-NOT-TRANSLATED", absl::StrCat(kind, " ", KeyOf(job)),
                   absl::StrCat("cannot become a job as it stands: ", errors), remedy});
}

// ---- containers

constexpr std::array kImageReasons{"ErrImagePull",      "ImagePullBackOff",  "InvalidImageName",
                                   "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"};
constexpr std::array kConfigReasons{"CreateContainerConfigError", "CreateContainerError"};

template <std::size_t N>
bool IsOneOf(const std::array<const char*, N>& words, const std::string& text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// "job a/x", "paddlejob a/x", "podgroup a/x"; "" of pods that are none of ours.
std::string JobOf(const json::value& pod) {
  const std::string ns = NamespaceOf(pod);
  for (const char* const place : {"labels", "annotations"}) {
    if (const std::string job = TextAt(pod, {"metadata", place, "volcano.sh/job-name"}); !job.empty())
      return absl::StrCat("job ", ns, "/", job);
  }
  const json::value* const owner = ControllerOf(pod);
  if (owner != nullptr && TextAt(*owner, {"kind"}) == "PaddleJob")
    return absl::StrCat("paddlejob ", ns, "/", TextAt(*owner, {"name"}));
  const std::string group = TextAt(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"});
  return group.empty() ? "" : absl::StrCat("podgroup ", ns, "/", group);
}

std::string ImageOf(const json::value& pod, const std::string& container) {
  for (const char* const list : {"containers", "initContainers"}) {
    for (const json::value& one : ListAt(pod, {"spec", list})) {
      if (TextAt(one, {"name"}) == container) return TextAt(one, {"image"});
    }
  }
  return "";
}

// A container that does not start, and in how many pods of one job.
struct Stuck {
  std::string pod;  // the first: "a/x-w-0"
  std::string reason, message;
  int pods = 0;
};

// ---- claims

// Where an object mounts which claim: "spec.tasks[0].template.spec.volumes[1]".
struct ClaimUse {
  std::string field, claim;
};

void AddClaimsOfPod(const json::value& pod_template, const std::string& field, std::vector<ClaimUse>& out) {
  const json::array& volumes = ListAt(pod_template, {"spec", "volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string claim = TextAt(volumes[i], {"persistentVolumeClaim", "claimName"});
    if (!claim.empty()) out.push_back({absl::StrCat(field, ".spec.volumes[", i, "]"), claim});
  }
}

std::vector<ClaimUse> ClaimsOfJob(const json::value& job) {
  std::vector<ClaimUse> out;
  const json::array& tasks = ListAt(job, {"spec", "tasks"});
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (const json::value* const pod = ValueAt(tasks[i], {"template"}))
      AddClaimsOfPod(*pod, absl::StrCat("spec.tasks[", i, "].template"), out);
  }
  const json::array& volumes = ListAt(job, {"spec", "volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string claim = TextAt(volumes[i], {"volumeClaimName"});
    // With a volumeClaim of its own the controller makes it.
    if (!claim.empty() && ValueAt(volumes[i], {"volumeClaim"}) == nullptr)
      out.push_back({absl::StrCat("spec.volumes[", i, "]"), claim});
  }
  return out;
}

std::vector<ClaimUse> ClaimsOfPaddleJob(const json::value& job) {
  std::vector<ClaimUse> out;
  for (const char* const role : {"ps", "worker", "heter"}) {
    if (const json::value* const pod = ValueAt(job, {"spec", role, "template"}))
      AddClaimsOfPod(*pod, absl::StrCat("spec.", role, ".template"), out);
  }
  if (const std::string claim = TextAt(job, {"spec", "sampleSetRef", "name"}); !claim.empty())
    out.push_back({"spec.sampleSetRef", claim});
  return out;
}

std::vector<ClaimUse> ClaimsOfKubeflowJob(const json::value& job) {
  std::vector<ClaimUse> out;
  const json::value* const roles = ValueAt(job, {"spec", "paddleReplicaSpecs"});
  if (roles == nullptr || !roles->is_object()) return out;
  for (const auto& [role, spec] : roles->get_object()) {
    if (const json::value* const pod = ValueAt(spec, {"template"}))
      AddClaimsOfPod(*pod, absl::StrCat("spec.paddleReplicaSpecs.", View(role), ".template"), out);
  }
  return out;
}

}  // namespace

Ailments QueuesThatTakeNoJobs(const ClusterSight& sight) {
  Ailments out;
  if (!sight.served.contains("queues.scheduling.volcano.sh") || !sight.Saw("queues")) return out;
  const std::map<std::string, std::vector<std::string>> waiting = WaitingByQueue(sight);
  if (FindQueue(sight, "default") == nullptr && !waiting.contains("default")) {
    out.push_back({"D-QUEUE-MISSING", "queue default", "is not there: jobs that name no queue wait for ever",
                   "a controller of Jobs and a scheduler of ours make it when they start: is one at work?"});
  }
  for (const auto& [name, jobs] : waiting) {
    if (FindQueue(sight, name) != nullptr) continue;
    out.push_back({"D-QUEUE-MISSING", absl::StrCat("queue ", name),
                   absl::StrCat("is not there, and ", Named(jobs), jobs.size() == 1 ? " waits" : " wait", " in it"),
                   name == "default"
                       ? "a controller of Jobs and a scheduler of ours make it when they start: is one at work?"
                       : "make it (kind Queue of scheduling.volcano.sh/v1beta1), or name another in the job: gangway "
                         "queue list shows what is there"});
  }
  for (const json::value& queue : sight.queues) {
    if (!IsClosed(queue)) continue;
    const std::string name = NameOf(queue);
    const auto jobs = waiting.find(name);
    out.push_back({"D-QUEUE-CLOSED", absl::StrCat("queue ", name),
                   absl::StrCat("is ", TextAt(queue, {"status", "state"}), " and takes no new jobs",
                                jobs == waiting.end() ? ""
                                                      : absl::StrCat(": ", Named(jobs->second),
                                                                     jobs->second.size() == 1 ? " waits" : " wait")),
                   absl::StrCat("gangway queue operate ", Word(name), " --action open")});
  }
  return out;
}

Ailments JobsThatWait(const ClusterSight& sight) {
  Ailments out;
  const auto queue_is_told = [&](const json::value& object) {
    const json::value* const queue = FindQueue(sight, OrDefault(TextAt(object, {"spec", "queue"})));
    return sight.Saw("queues") && (queue == nullptr || IsClosed(*queue));
  };
  for (const json::value& job : sight.jobs) {
    if (!IsUnfinishedJob(job) || PhaseOf(job) != "Pending" || queue_is_told(job)) continue;
    const json::value* const group = GroupOf(sight, job);
    const std::string since = TextAt(job, {"status", "state", "lastTransitionTime"});
    const absl::Duration waited = since.empty() ? AgeOf(job, sight.now) : Since(since, sight.now);
    const bool placed = group != nullptr && TextAt(*group, {"status", "phase"}) == "Running";
    if (waited < (placed ? kLongStart : kLong)) continue;
    const absl::StatusOr<api::volcano::Job> typed = api::Decode<api::volcano::Job>(api::ToJson(job));
    const absl::StatusOr<api::volcano::PodGroup> typed_group =
        api::Decode<api::volcano::PodGroup>(group == nullptr ? "{}" : api::ToJson(*group));
    if (!typed.ok() || !typed_group.ok()) continue;
    out.push_back({"D-PENDING", absl::StrCat("job ", KeyOf(job)),
                   absl::StrCat("is Pending for ", AgeText(waited), ": ",
                                WhyItWaits(*typed, group == nullptr ? nullptr : &*typed_group)),
                   absl::StrCat("gangway job view -n ", Word(NamespaceOf(job)), " ", Word(NameOf(job)), " says more")});
  }
  for (const json::value& group : sight.pod_groups) {
    const json::value* const owner = ControllerOf(group);
    if ((owner != nullptr && absl::StartsWith(TextAt(*owner, {"apiVersion"}), "batch.volcano.sh/")) ||
        queue_is_told(group))
      continue;
    const json::value* const unschedulable = ConditionOf(group, "Unschedulable");
    if (unschedulable == nullptr || TextAt(*unschedulable, {"status"}) != "True" ||
        TextAt(group, {"status", "phase"}) == "Running" || AgeOf(group, sight.now) < kLong)
      continue;
    out.push_back(
        {"D-PENDING", absl::StrCat("podgroup ", KeyOf(group)),
         absl::StrCat("has waited for ", AgeText(AgeOf(group, sight.now)), ": ", TextAt(*unschedulable, {"message"})),
         absl::StrCat("kubectl describe podgroup ", Word(NameOf(group)), " -n ", Word(NamespaceOf(group)))});
  }
  return out;
}

Ailments JobsThatAreNotTranslated(const ClusterSight& sight) {
  Ailments out;
  const Controllers who = ControllersOf(sight);
  const bool ours = who.paddle_operator.empty() || !who.our_controller.empty();
  const convert::TypeCheck check = CheckTypes;
  for (const json::value& job : sight.paddle_jobs) {
    const bool told = ConditionOf(job, "Translated") != nullptr;  // then also of those that Failed for it
    if (told || IsUnfinishedPaddleJob(job)) CheckTranslation(job, "paddlejob", ours, check, out);
  }
  for (const json::value& job : sight.kubeflow_jobs)
    CheckTranslation(job, "paddlejobs.kubeflow.org", /*ours=*/false, check, out);
  return out;
}

Ailments ContainersThatCannotStart(const ClusterSight& sight) {
  std::map<std::pair<std::string, std::string>, Stuck> images, others;  // by job and image, by job and reason
  for (const json::value& pod : sight.pods) {
    const std::string job = JobOf(pod);
    if (job.empty() || ValueAt(pod, {"metadata", "deletionTimestamp"}) != nullptr) continue;
    for (const char* const list : {"initContainerStatuses", "containerStatuses"}) {
      for (const json::value& status : ListAt(pod, {"status", list})) {
        const std::string reason = TextAt(status, {"state", "waiting", "reason"});
        const bool image = IsOneOf(kImageReasons, reason);
        if (!image && !IsOneOf(kConfigReasons, reason)) continue;
        const std::string message = TextAt(status, {"state", "waiting", "message"});
        Stuck& stuck = image ? images[{job, ImageOf(pod, TextAt(status, {"name"}))}] : others[{job, message}];
        if (stuck.pods++ == 0) stuck = {KeyOf(pod), reason, message, 1};
      }
    }
  }
  Ailments out;
  const auto told = [](const Stuck& stuck) {
    return absl::StrCat(stuck.reason, stuck.message.empty() ? "" : ": ", stuck.message);
  };
  const auto look = [](const Stuck& stuck) {
    const std::size_t slash = stuck.pod.find('/');
    return absl::StrCat("kubectl describe pod ", Word(stuck.pod.substr(slash + 1)), " -n ",
                        Word(stuck.pod.substr(0, slash)));
  };
  const auto containers = [](const Stuck& stuck) {
    return stuck.pods == 1 ? std::string("a container") : absl::StrCat(stuck.pods, " containers");
  };
  for (const auto& [key, stuck] : images) {
    out.push_back(
        {"D-IMAGE", key.first,
         absl::StrCat("nodes cannot pull image ", key.second, " of ", containers(stuck), " (", told(stuck), ")"),
         absl::StrCat("correct the image, or give the pods' service account an imagePullSecret; ", look(stuck))});
  }
  for (const auto& [key, stuck] : others) {
    out.push_back({"D-CONTAINER", key.first, absl::StrCat(containers(stuck), " cannot be started (", told(stuck), ")"),
                   absl::StrCat("make what is missing, or correct the template; ", look(stuck))});
  }
  return out;
}

Ailments MissingClaims(const ClusterSight& sight) {
  Ailments out;
  if (!sight.Saw("persistentvolumeclaims")) return out;
  struct User {
    std::string job, field;
  };
  std::map<std::string, std::vector<User>> users;  // by the claim's key
  const auto add = [&](const json::value& job, absl::string_view kind, const std::vector<ClaimUse>& uses) {
    for (const ClaimUse& use : uses)
      users[absl::StrCat(NamespaceOf(job), "/", use.claim)].push_back({absl::StrCat(kind, " ", KeyOf(job)), use.field});
  };
  for (const json::value& job : sight.jobs) {
    if (IsUnfinishedJob(job)) add(job, "job", ClaimsOfJob(job));
  }
  // What a Job was made of is told of the Job.
  for (const json::value& job : sight.paddle_jobs) {
    if (IsUnfinishedPaddleJob(job) && FindByKey(sight.jobs, KeyOf(job)) == nullptr)
      add(job, "paddlejob", ClaimsOfPaddleJob(job));
  }
  for (const json::value& job : sight.kubeflow_jobs) {
    if (IsUnfinishedKubeflowJob(job) && FindByKey(sight.jobs, KeyOf(job)) == nullptr)
      add(job, "paddlejobs.kubeflow.org", ClaimsOfKubeflowJob(job));
  }
  for (const auto& [key, mounted] : users) {
    const json::value* const claim = FindByKey(sight.claims, key);
    const std::string phase = claim == nullptr ? "" : TextAt(*claim, {"status", "phase"});
    if (claim != nullptr && phase != "Lost") continue;
    std::vector<std::string> jobs;
    for (const User& user : mounted) {
      if (std::find(jobs.begin(), jobs.end(), user.job) == jobs.end()) jobs.push_back(user.job);
    }
    const std::string ns = key.substr(0, key.find('/'));
    out.push_back({"D-CLAIM", absl::StrCat("persistentvolumeclaim ", key),
                   absl::StrCat(claim == nullptr ? "is not there" : "has lost its volume", ": pods of ", Named(jobs),
                                " that mount it (", mounted.front().field, ") do not start"),
                   absl::StrCat(claim == nullptr ? "make it, or correct its name in the job; kubectl get pvc -n "
                                                 : "give it a volume again, or mount another; kubectl get pv,pvc -n ",
                                Word(ns))});
  }
  return out;
}

}  // namespace gangway::cmd
