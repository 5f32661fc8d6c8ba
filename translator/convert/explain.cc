#include "translator/convert/explain.h"

#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/strings.h"

namespace gangway::convert {
namespace {

struct Way {
  std::string_view name, to, why;
};

// Of the annotations that are ours.
constexpr std::array kWays{
    Way{"max-restarts", "spec.maxRetry", "restarts of the whole job; Volcano counts runs, which is one more"},
    Way{"container-restarts", "spec.tasks[*].maxRetry", "restarts in place before the job has failed"},
    Way{"server-grace", "spec.tasks[*].policies[*].timeout",
        "how long servers may take to end by themselves; for gangway's controller alone"},
    Way{"wait-dns", "spec.tasks[*].template.spec.initContainers",
        "whether and with which image pods wait for their peers' names"},
    Way{"host-port-base", "spec.tasks[*].template.spec.containers[*].ports",
        "the first of the job's ports on the nodes"},
    Way{"elastic-etcd", "env PADDLE_MASTER", "where elastic workers find each other"},
    Way{"elastic-style", "env PADDLE_ELASTIC_SERVER", "what Paddle before 2.3 reads"},
    Way{"per-pod-services", "Services of single pods", "before the Job"},
    Way{"network-policy", "spec.plugins.svc", "whether others may reach the pods"},
    Way{"name-style", "env", "how pods are called in the lists"},
    Way{"ttl", "spec.ttlSecondsAfterFinished", "then the Job and its pods are deleted"},
    Way{"scheduler", "spec.schedulerName", "templates may name another scheduler"},
    Way{"run-entry", "spec.tasks[*].template.spec.containers[*].command",
        "what ENTRY says is run in place of paddle_k8s"},
    Way{"task-index", "spec.tasks[*].template.spec.containers[*].command",
        "a shell cuts the pod's index from its name"},
};

class Explainer {
 public:
  Explainer(const api::paddle::PaddleJob& job, const Annotations& annotations, const TranslateOptions& options,
            const Translation& done)
      : job_(job), annotations_(annotations), options_(options), done_(done) {}

  std::vector<Step> Explain() && {
    steps_ = StepsOfMetadata(job_.metadata, done_);
    ExplainWishes();
    ExplainRole("ps", job_.spec.ps);
    ExplainRole("worker", job_.spec.worker);
    ExplainRole("heter", job_.spec.heter);
    if (job_.spec.elastic.has_value()) {
      const absl::string_view to = annotations_.elastic_legacy ? "env PADDLE_ELASTIC_SERVER, PADDLE_ELASTIC_NP"
                                                               : "env PADDLE_MASTER, PADDLE_NNODES";
      Add("spec.elastic", done_.lineup.elastic ? to : "",
          done_.lineup.elastic ? "workers find each other in an etcd" : "only numbers above 0 mean yes");
    }
    if (options_.group.has_value()) {
      Add(absl::StrCat("podgroup ", options_.group->name), "",
          "the Job gets one of its own; what this one asks for counts where the job says nothing");
    }
    AddOurs();
    return std::move(steps_);
  }

 private:
  void Add(absl::string_view from, absl::string_view to, absl::string_view why) {
    steps_.push_back({std::string(from), std::string(to), std::string(why)});
  }

  void ExplainWishes() {
    const api::paddle::PaddleJobSpec& spec = job_.spec;
    const std::string& clean = api::paddle::CleanPodPolicyOf(spec);
    if (!clean.empty()) {
      Add(spec.clean_pod_policy.empty() ? "spec.cleanPolicy" : "spec.cleanPodPolicy", "",
          options_.kept ? "gangway controller removes the pods after the end" : "a Job keeps its finished pods");
    }
    if (spec.scheduling_policy.has_value()) ExplainScheduling(*spec.scheduling_policy);
    if (!spec.intranet.empty()) {
      const bool host = spec.intranet == "Host";
      Add("spec.intranet", host ? "spec.tasks[*].template.spec.hostNetwork" : "",
          host ? "each role has ports of its own, which pods declare so that no two of a role share a node"
               : "endpoints are names either way");
    }
    if (spec.with_gloo.has_value()) {
      const bool on = *spec.with_gloo > 0 && done_.mode == Mode::kServers;
      Add("spec.withGloo", on ? "env PADDLE_WITH_GLOO, PADDLE_GLOO_RENDEZVOUS, PADDLE_GLOO_HTTP_ENDPOINT" : "",
          on ? "server 0 serves it, 18 ports above its own" : "off");
    }
    if (spec.sample_set_ref.has_value()) {
      Add("spec.sampleSetRef", "spec.tasks[worker].template.spec.volumes",
          "the volume claim of its name, in the workers' first containers");
    }
  }

  void ExplainScheduling(const api::paddle::SchedulingPolicy& policy) {
    const std::string at = "spec.schedulingPolicy.";
    if (policy.min_available.has_value())
      Add(at + "minAvailable", "spec.minAvailable", "the PodGroup's minMember; workers yield first");
    if (!policy.queue.empty()) Add(at + "queue", "spec.queue", "");
    if (!policy.priority_class.empty())
      Add(at + "priorityClass", "spec.priorityClassName", "also of pods that name none");
    if (!policy.min_resources.empty()) Add(at + "minResources", "", "the Job controller counts what the pods request");
  }

  std::size_t IndexOf(absl::string_view role) const {
    std::size_t i = 0;
    while (i < done_.lineup.tasks.size() && done_.lineup.tasks[i].name != role) ++i;
    return i;
  }

  void ExplainRole(absl::string_view role, const std::optional<api::paddle::RoleSpec>& spec) {
    if (!spec.has_value()) return;
    const std::size_t i = IndexOf(role);
    const std::string from = absl::StrCat("spec.", role, "."), to = absl::StrCat("spec.tasks[", i, "].");
    if (i == done_.lineup.tasks.size()) return Add(from + "replicas", "", "a role of 0 pods is left out");
    Add(from + "replicas", to + "replicas",
        absl::StrCat("pods ", job_.metadata.name, "-", role, "-0 and on, ", done_.gang.task_minimums[i],
                     " of which start together or not at all"));
    if (spec->requests.has_value())
      Add(from + "requests", done_.lineup.elastic ? absl::string_view(to + "minAvailable") : "", "of elastic jobs");
    if (spec->limits.has_value())
      Add(from + "limits", done_.lineup.elastic ? "env PADDLE_NNODES" : "", "of elastic jobs");
    Add(from + "template", to + "template", "with env, ports and requests written out");
  }

  void AddOurs() {
    Add("", "spec.plugins.svc", "a Service, so that pods have names before they run");
    Add("", "spec.tasks[*].template.spec.containers[*].env",
        "who the pod is, then who the others are, then the user's own");
    Add("", "spec.tasks[*].policies",
        absl::StrCat("what becomes of the job when a pod ends, for ", View(TargetName(options_.target)),
                     "'s controller"));
    Add("", "spec.maxRetry", "runs before the job has failed");
    if (annotations_.wait_dns && !done_.lineup.elastic) steps_.push_back(StepOfWaitDns());
    for (const Companion& one : done_.before)
      Add("", absl::StrCat(View(one.resource->singular), " ", one.name), one.why);
  }

  const api::paddle::PaddleJob& job_;
  const Annotations& annotations_;
  const TranslateOptions& options_;
  const Translation& done_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> StepsOfMetadata(const api::ObjectMeta& metadata, const Translation& done) {
  std::vector<Step> steps{
      {"metadata.name", "metadata.name", "the Job's, and with it that of its Service and the beginning of its pods'"}};
  if (!metadata.labels.empty())
    steps.push_back({"metadata.labels", "metadata.labels", "Volcano copies them on to the PodGroup"});
  for (const auto& [key, text] : metadata.annotations) {
    const std::string from = absl::StrCat("metadata.annotations[", key, "]");
    absl::string_view name = key;
    if (!absl::ConsumePrefix(&name, View(kAnnotationPrefix))) {
      const bool kept = done.job.metadata.annotations.contains(key);
      steps.push_back(
          {from, kept ? from : "", kept ? "Volcano copies it on to the PodGroup" : "it is about the PaddleJob"});
      continue;
    }
    for (const Way& way : kWays) {
      if (name == View(way.name)) steps.push_back({from, std::string(way.to), std::string(way.why)});
    }
  }
  return steps;
}

Step StepOfWaitDns() {
  return {"", "spec.tasks[*].template.spec.initContainers",
          "the names of the pods that a program needs resolve before it starts"};
}

std::vector<Step> StepsOf(const api::paddle::PaddleJob& job, const Annotations& annotations,
                          const TranslateOptions& options, const Translation& done) {
  return Explainer(job, annotations, options, done).Explain();
}

}  // namespace gangway::convert
