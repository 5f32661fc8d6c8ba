#include "translator/lifecycle/wanted.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "base/hash.h"
#include "base/strings.h"
#include "translator/convert/annotations.h"
#include "translator/convert/mode.h"

namespace gangway::paddle_lifecycle {
namespace {

namespace paddle = api::paddle;
namespace kubeflow = api::paddle::kubeflow;
using Annotations = std::map<std::string, std::string>;

constexpr absl::string_view kOurKubeflowManager = "kubeflow.org/training-operator";

// A running Job follows these, or they are about nothing that is translated.
constexpr absl::string_view kNotTranslated[] = {"scale", "ttl", "managed-by"};

// --- The dialects.

void ReadPaddle(const paddle::PaddleJob& job, const convert::Annotations& annotations, Wanted& wanted) {
  const paddle::PaddleJobSpec& spec = job.spec;
  const auto add = [&](const char* name, const std::optional<paddle::RoleSpec>& role) {
    if (role.has_value()) wanted.roles.push_back({name, name, role->replicas});
  };
  add("ps", spec.ps);
  add("worker", spec.worker);
  add("heter", spec.heter);
  wanted.elastic = spec.elastic.value_or(0) > 0;
  const std::int32_t workers = spec.worker.has_value() ? spec.worker->replicas : 0;
  const bool servers = spec.ps.has_value() && spec.ps->replicas > 0;
  const convert::Mode mode = servers                         ? convert::Mode::kServers
                             : workers > 1 || wanted.elastic ? convert::Mode::kCollective
                                                             : convert::Mode::kSingle;
  wanted.mode = std::string(convert::ModeName(mode));
  if (spec.scheduling_policy.has_value()) wanted.priority_class = spec.scheduling_policy->priority_class;
  const std::string& clean = paddle::CleanPodPolicyOf(spec);
  wanted.clean_completed = clean.empty() || clean == "Always" || clean == "OnCompletion";
  wanted.clean_failed = clean == "Always" || clean == "OnFailure";
  wanted.ttl_seconds = annotations.ttl_seconds;
}

void ReadKubeflow(const kubeflow::PaddleJob& job, const convert::Annotations& annotations, Wanted& wanted) {
  const kubeflow::PaddleJobSpec& spec = job.spec;
  const auto add = [&](const char* task, std::string_view role) {
    const kubeflow::ReplicaSpec* replicas = kubeflow::FindReplicas(spec, role);
    if (replicas != nullptr) wanted.roles.push_back({task, std::string(role), replicas->replicas.value_or(1)});
  };
  add("master", kubeflow::kMaster);
  add("worker", kubeflow::kWorker);
  wanted.elastic = spec.elastic_policy.has_value();
  const kubeflow::RunPolicy& run = spec.run_policy;
  if (run.scheduling_policy.has_value()) wanted.priority_class = run.scheduling_policy->priority_class;
  wanted.suspended = run.suspend.value_or(false);
  wanted.clean_completed = wanted.clean_failed = run.clean_pod_policy == "All";
  wanted.deadline_seconds = run.active_deadline_seconds;
  wanted.ttl_seconds =
      run.ttl_seconds_after_finished.has_value() ? run.ttl_seconds_after_finished : annotations.ttl_seconds;
  wanted.ttl_takes_job = run.ttl_seconds_after_finished.has_value();
  if (!run.managed_by.empty() && View(run.managed_by) != kOurKubeflowManager) wanted.left_alone = true;
}

// --- Hashes.

std::uint64_t Hash(const boost::json::value& value) {
  if (const boost::json::object* object = value.if_object()) {
    std::uint64_t sum = 1;  // the same whatever their order
    for (const auto& [key, member] : *object)
      sum += StableHash(absl::string_view(key.data(), key.size()), Hash(member));
    return StableHash("object", sum);
  }
  if (const boost::json::array* array = value.if_array()) {
    std::uint64_t chain = 2;
    for (const boost::json::value& element : *array) chain = StableHash("element", chain * 31 + Hash(element));
    return chain;
  }
  return StableHash(api::ToJson(value), 3);
}

std::string Hex(std::uint64_t hash) { return absl::StrCat(absl::Hex(hash, absl::kZeroPad16)); }

// An empty policy is none: a running Job follows its priority class.
template <class Policy>
void ForgetPriority(std::optional<Policy>& policy) {
  if (!policy.has_value()) return;
  policy->priority_class.clear();
  if (api::Encode(*policy) == "{}") policy.reset();
}

std::string SpecOf(const paddle::PaddleJob& job, const std::optional<convert::ElasticBounds>& bounds) {
  paddle::PaddleJobSpec spec = job.spec;
  spec.clean_pod_policy.clear();
  spec.clean_policy.clear();
  ForgetPriority(spec.scheduling_policy);
  if (bounds.has_value() && spec.worker.has_value()) {
    spec.worker->requests = spec.worker->requests.value_or(bounds->min);
    spec.worker->limits = spec.worker->limits.value_or(bounds->max);
  }
  for (std::optional<paddle::RoleSpec>* role : {&spec.ps, &spec.worker, &spec.heter}) {
    if (role->has_value()) (*role)->replicas = 0;
  }
  return api::Encode(spec);
}

std::string SpecOf(const kubeflow::PaddleJob& job, const std::optional<convert::ElasticBounds>& bounds) {
  kubeflow::PaddleJobSpec spec = job.spec;
  kubeflow::RunPolicy& run = spec.run_policy;
  run.clean_pod_policy.clear();
  run.ttl_seconds_after_finished.reset();
  run.active_deadline_seconds.reset();
  run.suspend.reset();
  run.managed_by.clear();
  ForgetPriority(run.scheduling_policy);
  if (bounds.has_value() && spec.elastic_policy.has_value()) {
    const auto min = spec.elastic_policy->min_replicas, max = spec.elastic_policy->max_replicas;
    spec.elastic_policy->min_replicas = min.value_or(max.value_or(bounds->min));
    spec.elastic_policy->max_replicas = max.value_or(min.value_or(bounds->max));
  }
  for (auto& [role, replicas] : spec.replica_specs) replicas.replicas.reset();
  return api::Encode(spec);
}

bool IsTranslated(absl::string_view key) {
  return absl::ConsumePrefix(&key, View(convert::kAnnotationPrefix)) &&
         std::ranges::find(kNotTranslated, key) == std::end(kNotTranslated);
}

}  // namespace

Wanted WantedOf(const PaddleJobView& seen) {
  Wanted wanted;
  wanted.resource = seen.job != nullptr ? &paddle::kPaddleJobs : &kubeflow::kPaddleJobs;
  wanted.metadata = seen.job != nullptr ? &seen.job->metadata : &seen.kubeflow_job->metadata;
  convert::Findings ignored;  // they are told with the translation
  const convert::Annotations annotations = convert::ReadAnnotations(wanted.metadata->annotations, false, ignored);
  wanted.chosen = View(annotations.managed_by) == View(convert::kManagedByUs);
  wanted.left_alone = !annotations.managed_by.empty() && !wanted.chosen;
  wanted.scale_forbidden = annotations.scale_forbidden;
  if (seen.job != nullptr) {
    ReadPaddle(*seen.job, annotations, wanted);
  } else {
    ReadKubeflow(*seen.kubeflow_job, annotations, wanted);
  }
  return wanted;
}

std::string TranslationMark(const PaddleJobView& seen, const std::optional<convert::ElasticBounds>& bounds) {
  const Wanted wanted = WantedOf(seen);
  std::string mark = HashJson(seen.job != nullptr ? SpecOf(*seen.job, bounds) : SpecOf(*seen.kubeflow_job, bounds));
  std::uint64_t annotations = 0;
  for (const auto& [key, value] : wanted.metadata->annotations) {
    if (IsTranslated(key)) annotations = StableHash(value, StableHash(key, annotations));
  }
  if (annotations != 0) mark = Hex(StableHash(mark, annotations));
  if (bounds.has_value()) return mark;
  return absl::StrCat(mark, " ", absl::StrJoin(wanted.roles, ",", [](std::string* out, const WantedRole& role) {
                        absl::StrAppend(out, role.task, "=", role.replicas);
                      }));
}

absl::string_view HashOf(absl::string_view mark) { return mark.substr(0, mark.find(' ')); }

absl::string_view SizesOf(absl::string_view mark) {
  const std::size_t space = mark.find(' ');
  return space == absl::string_view::npos ? absl::string_view() : mark.substr(space + 1);
}

std::string HashJson(absl::string_view json) {
  const absl::StatusOr<boost::json::value> value = api::ParseJson(json);
  return Hex(value.ok() ? Hash(*value) : StableHash(json));
}

}  // namespace gangway::paddle_lifecycle
