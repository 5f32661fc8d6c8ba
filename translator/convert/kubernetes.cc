#include "translator/convert/kubernetes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/scheduling_resources.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "translator/convert/document.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::volcano::Job;
using api::volcano::LifecyclePolicy;
using api::volcano::TaskSpec;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
// Whose keys say nothing to anybody where Volcano is not.
constexpr std::array<absl::string_view, 2> kVolcanosPrefixes = {"volcano.sh/", "scheduling.volcano.sh/"};
// What Volcano's plugins env and svc give to pods.
constexpr std::array<absl::string_view, 4> kVolcanosWords = {"VC_", "VK_TASK_INDEX", "/etc/volcano", "volcano.sh/"};

// Whether the text has `word` as the beginning of one.
bool Names(absl::string_view text, absl::string_view word) {
  for (std::size_t at = text.find(word); at != absl::string_view::npos; at = text.find(word, at + 1)) {
    if (at == 0 || !(absl::ascii_isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_')) return true;
  }
  return false;
}

bool Restarts(const LifecyclePolicy& policy) { return policy.action == "RestartJob" || policy.action == "RestartPod"; }
bool IsFor(const LifecyclePolicy& policy, absl::string_view event) {
  return policy.event == event || std::find(policy.events.begin(), policy.events.end(), event) != policy.events.end();
}

const LifecyclePolicy* PolicyFor(const TaskSpec& task, const Job& job, absl::string_view event) {
  for (const std::vector<LifecyclePolicy>* const policies : {&task.policies, &job.spec.policies}) {
    for (const LifecyclePolicy& policy : *policies) {
      if (IsFor(policy, event)) return &policy;
    }
  }
  return nullptr;
}

std::string RestartPolicyOf(const TaskSpec& task) {
  const absl::StatusOr<json::value> document = api::ParseJson(task.pod_template.json);
  const json::object* const object = document.ok() ? document->if_object() : nullptr;
  const json::object* const spec = object == nullptr ? nullptr : FindObject(*object, "spec");
  return spec == nullptr ? "" : std::string(FindText(*spec, "restartPolicy"));
}

// ---- what becomes of pods that end

// In order: the first rule that fits counts. What none fits is counted.
void WriteFailurePolicy(const TaskSpec& task, const Job& job, api::JsonWriter& to) {
  const LifecyclePolicy* const failed = PolicyFor(task, job, "PodFailed");
  const LifecyclePolicy* const evicted = PolicyFor(task, job, "PodEvicted");
  std::map<std::string, std::vector<std::int32_t>> codes;  // sorted, as the API wants them
  for (const LifecyclePolicy& policy : task.policies) {
    if (policy.exit_code.has_value()) codes[Restarts(policy) ? "Count" : "FailJob"].push_back(*policy.exit_code);
  }
  const bool fails = failed != nullptr && failed->action == "TerminateJob";
  if (!fails && !codes.contains("FailJob")) return;
  to.Key("podFailurePolicy").BeginObject().Key("rules").BeginArray();
  if (evicted != nullptr && Restarts(*evicted)) {
    to.BeginObject().Field("action", "Count").Key("onPodConditions").BeginArray().BeginObject();
    to.Field("type", "DisruptionTarget").Field("status", "True").EndObject().EndArray().EndObject();
  }
  const auto rule = [&](absl::string_view action, absl::string_view is, const std::vector<std::int32_t>& values) {
    to.BeginObject().Field("action", action).Key("onExitCodes").BeginObject().Field("operator", is);
    to.Key("values").BeginArray();
    for (const std::int32_t value : values) to.Int(value);
    to.EndArray().EndObject().EndObject();
  };
  for (auto& [action, values] : codes) {
    std::sort(values.begin(), values.end());
    rule(action, "In", values);
  }
  if (fails) rule("FailJob", "NotIn", {0});
  to.EndArray().EndObject();
}

void WriteLimits(const TaskSpec& task, const Job& job, api::JsonWriter& to) {
  const std::int64_t restarts = std::max<std::int64_t>(job.spec.max_retry - 1, 0);  // Volcano counts runs
  if (RestartPolicyOf(task) == "OnFailure") {
    const LifecyclePolicy* const too_often = PolicyFor(task, job, "TaskFailed");
    to.Field("backoffLimit", too_often == nullptr ? kNoLimit : std::int64_t{task.max_retry});
    return;
  }
  to.Field("backoffLimitPerIndex", restarts).Field("maxFailedIndexes", 0);
  WriteFailurePolicy(task, job, to);
}

// ---- objects

class Writer {
 public:
  Writer(const Job& job, const KubernetesWishes& wishes) : job_(job), wishes_(wishes) {}

  std::vector<Companion> Write() const {
    std::vector<Companion> out{PodGroup(), Service()};
    if (wishes_.network_policy) out.push_back(NetworkPolicy());
    for (const TaskSpec& task : job_.spec.tasks) out.push_back(IndexedJob(task));
    return out;
  }

 private:
  const std::string& name() const { return job_.metadata.name; }

  // apiVersion, kind and metadata; the object stays open.
  Companion Begin(const api::Resource& resource, std::string name, std::string why, bool annotated = false) const {
    Companion out{&resource, std::move(name), {}, std::move(why)};
    api::JsonWriter to(out.json);
    to.BeginObject().Field("apiVersion", resource.ApiVersion()).Field("kind", resource.kind);
    to.Key("metadata").BeginObject().Field("name", out.name);
    if (!job_.metadata.ns.empty()) to.Field("namespace", job_.metadata.ns);
    to.Key("labels").BeginObject();
    for (const auto& [key, text] : job_.metadata.labels) {
      if (key != kJobNameLabel) to.Field(key, text);
    }
    to.Field(kJobNameLabel, this->name()).EndObject();
    if (annotated && !job_.metadata.annotations.empty()) {
      to.Key("annotations").BeginObject();
      for (const auto& [key, text] : job_.metadata.annotations) to.Field(key, text);
      to.EndObject();
    }
    to.EndObject();
    out.json.push_back(',');  // what follows is written by a writer of its own
    return out;
  }
  static Companion End(Companion begun, const std::string& members) {
    begun.json += members;
    begun.json.push_back('}');
    return begun;
  }

  std::string Selector() const { return absl::StrCat(R"({")", kJobNameLabel, R"(":)", api::JsonString(name()), "}"); }

  Companion PodGroup() const {
    std::string spec;
    api::JsonWriter to(spec);
    to.BeginObject().Key("schedulingPolicy").BeginObject().Key("gang").BeginObject();
    to.Field("minCount", job_.spec.min_available).EndObject().EndObject();
    if (!job_.spec.priority_class_name.empty()) to.Field("priorityClassName", job_.spec.priority_class_name);
    to.EndObject();
    return End(Begin(api::kKubernetesPodGroups, name(), "the gang: so many pods start together, or none does", true),
               absl::StrCat(R"("spec":)", spec));
  }

  Companion Service() const {
    return End(
        Begin(api::kServices, name(), "gives pods their names, also while they are not ready"),
        absl::StrCat(R"("spec":{"clusterIP":"None","publishNotReadyAddresses":true,"selector":)", Selector(), "}"));
  }

  Companion NetworkPolicy() const {
    const std::string own = absl::StrCat(R"({"matchLabels":)", Selector(), "}");
    return End(Begin(api::kNetworkPolicies, name(), "nobody but the job's pods reaches them"),
               absl::StrCat(R"("spec":{"podSelector":)", own, R"(,"ingress":[{"from":[{"podSelector":)", own,
                            R"(}]}],"policyTypes":["Ingress"]})"));
  }

  std::string Template(const TaskSpec& task) const {
    json::value document = api::ParseJson(task.pod_template.json).value();  // we wrote it
    json::object& root = document.get_object();
    SetText(ObjectIn(ObjectIn(root, "metadata"), "labels"), kJobNameLabel, name());
    json::object& spec = ObjectIn(root, "spec");
    SetText(spec, "subdomain", name());
    if (!wishes_.scheduler.empty()) SetText(spec, "schedulerName", wishes_.scheduler);
    if (!job_.spec.priority_class_name.empty() && FindText(spec, "priorityClassName").empty())
      SetText(spec, "priorityClassName", job_.spec.priority_class_name);
    SetText(ObjectIn(spec, "schedulingGroup"), "podGroupName", name());
    return api::ToJson(document);
  }

  Companion IndexedJob(const TaskSpec& task) const {
    std::string spec;
    api::JsonWriter to(spec);
    to.BeginObject().Field("completionMode", "Indexed");
    to.Field("completions", task.replicas).Field("parallelism", task.replicas);
    WriteLimits(task, job_, to);
    to.Field("podReplacementPolicy", "Failed");  // two pods of one name would be found in turn
    if (wishes_.deadline_seconds.has_value()) to.Field("activeDeadlineSeconds", *wishes_.deadline_seconds);
    if (job_.spec.ttl_seconds_after_finished.has_value())
      to.Field("ttlSecondsAfterFinished", *job_.spec.ttl_seconds_after_finished);
    if (wishes_.suspend) to.Field("suspend", true);
    to.RawField("template", Template(task)).EndObject();
    std::string name = IndexedJobName(job_.metadata.name, task.name);
    std::string why = absl::StrCat("its pods' host names are ", name, "-0 and on");
    return End(Begin(api::kBatchJobs, std::move(name), std::move(why), true), absl::StrCat(R"("spec":)", spec));
  }

  const Job& job_;
  const KubernetesWishes& wishes_;
};

// ---- what there is to say

class Teller {
 public:
  Teller(const Job& job, const KubernetesWishes& wishes) : job_(job), wishes_(wishes) {}

  Findings Tell() {
    TellMetadata();
    TellGang();
    TellEnds();
    for (std::size_t i = 0; i < job_.spec.tasks.size(); ++i) {
      const absl::StatusOr<json::value> document = api::ParseJson(job_.spec.tasks[i].pod_template.json);
      if (document.ok()) TellWords(*document, absl::StrCat(FieldOf(i), FieldOf(i).empty() ? "" : ".", "template"));
    }
    return std::move(findings_);
  }

 private:
  void Say(absl::string_view field, absl::string_view value, absl::string_view rule, absl::string_view fix) {
    findings_.push_back(MakeFinding(Code::kNotInJobs, field, value, rule, fix));
  }
  std::string FieldOf(std::size_t task) const {
    return task < wishes_.task_fields.size() ? wishes_.task_fields[task] : wishes_.field;
  }

  void TellMetadata() {
    for (const auto& [kind, texts] :
         {std::pair("labels", &job_.metadata.labels), std::pair("annotations", &job_.metadata.annotations)}) {
      for (const auto& [key, text] : *texts) {
        for (const absl::string_view prefix : kVolcanosPrefixes) {
          if (absl::StartsWith(key, prefix))
            Say(absl::StrCat("metadata.", kind, "[", key, "]"), api::JsonString(text),
                "is copied, and says nothing where Volcano is not", "remove it");
        }
      }
    }
  }

  void TellGang() {
    if (job_.spec.queue != View(api::volcano::kDefaultQueue))
      Say(wishes_.queue_field, api::JsonString(job_.spec.queue), "Kubernetes has no queues: it is left out",
          "limit the namespace by a ResourceQuota");
    std::int32_t pods = 0;
    for (const TaskSpec& task : job_.spec.tasks) pods += task.replicas;
    if (job_.spec.tasks.size() > 1 && job_.spec.min_available < pods)
      Say(wishes_.min_available_field, absl::StrCat(job_.spec.min_available),
          "Kubernetes' gang counts pods of any role: the job may start without one of its servers",
          "leave it out to start all pods together");
  }

  void TellEnds() {
    const std::string delete_all = absl::StrCat("kubectl delete jobs,services,podgroups.scheduling.k8s.io -l ",
                                                kJobNameLabel, "=", job_.metadata.name, " removes what is left");
    std::int32_t pods = 0;
    bool restarts = false, ends = false;
    for (const TaskSpec& task : job_.spec.tasks) {
      pods += task.replicas;
      for (const std::vector<LifecyclePolicy>* const policies : {&task.policies, &job_.spec.policies}) {
        for (const LifecyclePolicy& policy : *policies) {
          restarts = restarts || policy.action == "RestartJob";
          ends = ends || policy.action == "TerminateJob";
        }
      }
    }
    if (restarts && pods > 1)
      Say(wishes_.field, "",
          "a pod that is evicted or killed is made again alone, and the others are not restarted with it: what they "
          "return for lack of it counts as their own failure",
          "write restartPolicy: OnFailure where the program can begin again in place");
    if (ends && job_.spec.tasks.size() > 1)
      Say(wishes_.field, "", "a role that fails ends its own Job; the pods of the others run on", delete_all);
    for (std::size_t i = 0; i < job_.spec.tasks.size() && !wishes_.completing_task.empty(); ++i) {
      const std::string& task = job_.spec.tasks[i].name;
      if (task == wishes_.completing_task) continue;
      Say(FieldOf(i), "",
          absl::StrCat("Job ", IndexedJobName(job_.metadata.name, task), " does not end when Job ",
                       IndexedJobName(job_.metadata.name, wishes_.completing_task),
                       " has: pods that do not end by themselves run on"),
          delete_all);
    }
    if (job_.spec.ttl_seconds_after_finished.has_value())
      Say(wishes_.field, "", "the ttl deletes each Job that has ended, and neither the Service nor the PodGroup",
          delete_all);
  }

  // What programs read that Volcano's plugins give them.
  void TellWords(const json::value& value, const std::string& at) {
    if (const json::string* const text = value.if_string()) {
      for (const absl::string_view word : kVolcanosWords) {
        if (!Names(AbslView(*text), word)) continue;
        return Say(at, api::JsonString(AbslView(*text)),
                   absl::StrCat("names ", word, ", which Volcano gives to pods and Kubernetes does not"),
                   "take PADDLE_POD_NAME, JOB_COMPLETION_INDEX or PADDLE_TRAINER_ENDPOINTS");
      }
    } else if (const json::array* const list = value.if_array()) {
      for (std::size_t i = 0; i < list->size(); ++i) TellWords((*list)[i], absl::StrCat(at, "[", i, "]"));
    } else if (const json::object* const object = value.if_object()) {
      for (const json::key_value_pair& member : *object) {
        const absl::string_view key = AbslView(member.key());
        const std::string below = absl::StrCat(at, ".", key);
        if (absl::StrContains(key, "volcano.sh/"))
          Say(below, "", "says nothing where Volcano is not", "remove it");
        else
          TellWords(member.value(), below);
      }
    }
  }

  const Job& job_;
  const KubernetesWishes& wishes_;
  Findings findings_;
};

// ---- words

struct Reworded {
  Code code;
  const char *rule, *fix;
};
constexpr Reworded kReworded[] = {
    {Code::kMinResources, "is not used: Kubernetes' gang counts pods", "remove it"},
    {Code::kFinalizers, "nobody would take them off the pods of a Job again; they are left out", "remove them"},
    {Code::kLabel, "pods do not carry paddle-res-name: all of a role share one template",
     "select by batch.kubernetes.io/job-name and batch.kubernetes.io/job-completion-index"},
    {Code::kClean, "a Job keeps its finished pods until it is deleted, whatever is written here",
     "annotate the job with paddle.gangway.io/ttl: 0 to have it deleted at its end"},
};

struct Place {
  const char *from, *to;  // `to`: $ is the job's name
  const char* why;        // "": as it was
};
constexpr Place kPlaces[] = {
    {"spec.minAvailable", "podgroup $ spec.schedulingPolicy.gang.minCount", "the gang; it counts pods of any role"},
    {"spec.maxRetry", "jobs spec.backoffLimitPerIndex", "how often a pod is made again before its Job has failed"},
    {"spec.queue", "", "Kubernetes has no queues"},
    {"spec.priorityClassName", "podgroup $ spec.priorityClassName", "also of pods that name none"},
    {"spec.plugins.svc", "service $", ""},
    {"spec.schedulerName", "jobs spec.template.spec.schedulerName", ""},
    {"spec.ttlSecondsAfterFinished", "jobs spec.ttlSecondsAfterFinished", ""},
    {"spec.tasks[*].maxRetry", "jobs spec.backoffLimit", "restarts of containers in place, counted for each role"},
    {"spec.tasks[*].policies[*].timeout", "", "no Job ends another"},
    {"spec.tasks[*].policies", "jobs spec.podFailurePolicy", "which ends of a pod end its Job, and which are counted"},
    {"spec.tasks[*].template.spec.activeDeadlineSeconds", "jobs spec.activeDeadlineSeconds", "of each Job"},
    {"metadata.labels", "metadata.labels", "of all its objects"},
};

std::string PlaceOf(absl::string_view path, const Job& job, std::string& why) {
  for (const Place& place : kPlaces) {
    if (path != place.from) continue;
    if (place.why[0] != '\0') why = place.why;
    std::string to = place.to;
    if (const std::size_t mark = to.find('$'); mark != std::string::npos) to.replace(mark, 1, job.metadata.name);
    return to;
  }
  for (std::size_t i = 0; i < job.spec.tasks.size(); ++i) {
    const std::string& task = job.spec.tasks[i].name;
    absl::string_view rest = path;
    if (!absl::ConsumePrefix(&rest, absl::StrCat("spec.tasks[", i, "].")) &&
        !absl::ConsumePrefix(&rest, absl::StrCat("spec.tasks[", task, "].")))
      continue;
    const std::string name = absl::StrCat("job ", IndexedJobName(job.metadata.name, task));
    if (rest == "replicas") return absl::StrCat(name, " spec.completions and spec.parallelism");
    if (rest == "minAvailable") return PlaceOf("spec.minAvailable", job, why);
    if (rest == "policies") return absl::StrCat(name, " spec.podFailurePolicy");
    return absl::StrCat(name, " spec.", rest);
  }
  if (absl::ConsumePrefix(&path, "spec.tasks[*].")) return absl::StrCat("jobs spec.", path);
  return std::string(path);
}

}  // namespace

std::string IndexedJobName(absl::string_view job, absl::string_view task) { return absl::StrCat(job, "-", task); }

KubernetesObjects MakeKubernetesObjects(const Job& job, const KubernetesWishes& wishes) {
  return {Writer(job, wishes).Write(), Teller(job, wishes).Tell()};
}

void SayForKubernetes(Findings& findings) {
  for (Finding& finding : findings) {
    for (const Reworded& reworded : kReworded) {
      if (finding.code != reworded.code) continue;
      finding.error.rule = reworded.rule;
      finding.error.fix = reworded.fix;
    }
  }
}

std::vector<Step> StepsForKubernetes(const std::vector<Step>& steps, const Job& job) {
  std::vector<Step> out;
  for (const Step& step : steps) {
    Step changed = step;
    std::vector<std::string> places;
    for (const absl::string_view part : absl::StrSplit(step.to, ", ", absl::SkipEmpty())) {
      std::string place = PlaceOf(part, job, changed.why);
      if (!place.empty() && std::find(places.begin(), places.end(), place) == places.end())
        places.push_back(std::move(place));
    }
    changed.to = absl::StrJoin(places, ", ");
    if (absl::StrContains(changed.why, "Volcano copies")) changed.why = "of the Jobs and the PodGroup";
    out.push_back(std::move(changed));
  }
  return out;
}

}  // namespace gangway::convert
