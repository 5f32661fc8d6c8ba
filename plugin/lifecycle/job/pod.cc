#include "plugin/lifecycle/job/pod.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::volcano::Job;
using api::volcano::TaskSpec;

// 12 characters of [0-9a-z], always the same for the same seed. Volcano's are random.
std::string Suffix(std::uint64_t seed) {
  constexpr char kAlphabet[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string out;
  for (int i = 0; i < 12; ++i) {
    out.push_back(kAlphabet[seed % 36]);
    seed /= 36;
  }
  return out;
}

// A text that stands nowhere in the template, to be found again in the encoded document.
std::string Unused(absl::string_view word, absl::string_view text) {
  std::string mark;
  for (int i = 0; mark.empty() || text.find(mark) != absl::string_view::npos; ++i)
    mark = absl::StrCat("@", word, "-", i, "@");
  return mark;
}

json::object& ObjectAt(json::object& parent, json::string_view key) {
  json::value& value = parent[key];
  if (!value.is_object()) value.emplace_object();
  return value.as_object();
}
void Copy(const std::map<std::string, std::string>& from, absl::string_view key, json::object& into) {
  if (auto it = from.find(std::string(key)); it != from.end()) into[api::JsonView(key)] = it->second;
}

struct Marks {
  std::string index, partition, plus;  // plus: followed by a number and '@'
};
Marks MarksFor(const Job& job, const TaskSpec& task) {
  std::string given = task.pod_template.json;
  for (const auto& [name, flags] : job.spec.plugins) {
    for (const std::string& flag : flags) absl::StrAppend(&given, " ", flag);
  }
  return {Unused("index", given), Unused("partition", given), Unused("plus", given)};
}

void SetLabels(const Job& job, const TaskSpec& task, const PodContext& context, const Marks& marks,
               json::object& labels) {
  labels[api::JsonView(kTaskIndexKey)] = marks.index;
  labels[api::JsonView(kTaskSpecKey)] = task.name;
  labels[api::JsonView(kJobNameKey)] = job.metadata.name;
  labels[api::JsonView(kJobNamespaceKey)] = job.metadata.ns;
  labels[api::JsonView(kQueueNameKey)] = job.spec.queue;
  if (task.partition_policy) labels[api::JsonView(kPartitionIdKey)] = marks.partition;
  Copy(job.metadata.labels, kPreemptableKey, labels);
  Copy(job.metadata.labels, kCooldownTimeKey, labels);
  if (context.forwarding) labels[api::JsonView(kJobForwardingKey)] = "true";
}

void SetAnnotations(const Job& job, const TaskSpec& task, const PodContext& context, const Marks& marks,
                    json::object& annotations) {
  annotations[api::JsonView(kTaskIndexKey)] = marks.index;
  annotations[api::JsonView(kTaskSpecKey)] = task.name;
  annotations[api::JsonView(kJobNameKey)] = job.metadata.name;
  annotations[api::JsonView(kJobVersionKey)] = absl::StrCat(context.version);
  annotations[api::JsonView(kJobRetryCountKey)] = absl::StrCat(context.retry_count);
  annotations[api::JsonView(kQueueNameKey)] = job.spec.queue;
  annotations[api::JsonView(kTemplateUidKey)] = absl::StrCat(job.metadata.name, "-", task.name);
  annotations[api::JsonView(kGroupNameKey)] = PodGroupName(job);
  if (!task.topology_policy.empty()) annotations[api::JsonView(kNumaPolicyKey)] = task.topology_policy;
  for (const absl::string_view key :
       {kPreemptableKey, kCooldownTimeKey, kMovableKey, kExpectedRuntimeKey, kRevocableZoneKey}) {
    Copy(job.metadata.annotations, key, annotations);
  }
  const bool has_min = job.metadata.annotations.contains(std::string(kJdbMinAvailableKey));
  Copy(job.metadata.annotations, has_min ? kJdbMinAvailableKey : kJdbMaxUnavailableKey, annotations);
  if (context.forwarding) annotations[api::JsonView(kJobForwardingKey)] = "true";
}

// Init containers get what plugins give, but not these (as in Volcano).
void AddVolumes(const Job& job, json::object& spec) {
  absl::flat_hash_set<std::string> used;
  for (std::size_t i = 0; i < job.spec.volumes.size(); ++i) {
    const std::string claim = ClaimName(job, i);
    if (!used.insert(claim).second) continue;  // a claim is mounted once
    const std::string name =
        absl::StrCat(job.metadata.name, "-", Suffix(StableHash(claim, StableHash(job.metadata.uid))));
    ListAt(spec, "volumes")
        .push_back(json::object{{"name", name}, {"persistentVolumeClaim", json::object{{"claimName", claim}}}});
    EachContainer(spec, Containers::kRegular,
                  [&](json::object& container) { AddMount(container, name, job.spec.volumes[i].mount_path); });
  }
}

void InheritFromJob(json::object& spec, json::string_view key, const std::string& value) {
  if (!value.empty()) SetIfEmpty(spec, key, value);
}

absl::StatusOr<json::object> ParseTemplate(const TaskSpec& task) {
  absl::StatusOr<json::value> parsed =
      api::ParseJson(task.pod_template.empty() ? "{}" : absl::string_view(task.pod_template.json));
  if (!parsed.ok()) return parsed.status();
  const json::object* object = parsed->if_object();
  const json::value* spec = object == nullptr ? nullptr : object->if_contains("spec");
  if (spec == nullptr || !spec->is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("task ", task.name, ": its template has no pod spec"));
  }
  return *object;
}

}  // namespace

std::string PodGroupName(const std::string& job, const std::string& uid) { return absl::StrCat(job, "-", uid); }
std::string PodGroupName(const Job& job) { return PodGroupName(job.metadata.name, job.metadata.uid); }

std::string ClaimName(const Job& job, std::size_t index) {
  const std::string& given = job.spec.volumes[index].volume_claim_name;
  if (!given.empty()) return given;
  return absl::StrCat(job.metadata.name, "-pvc-",
                      Suffix(StableHash(absl::StrCat("volume ", index), StableHash(job.metadata.uid))));
}

absl::StatusOr<PodDocument> PodDocument::Make(const Job& job, const TaskSpec& task, const PluginEffects& plugins,
                                              const PodContext& context) {
  GW_ASSIGN_OR_RETURN(json::object pod_template, ParseTemplate(task));
  const Marks marks = MarksFor(job, task);
  const std::string name = absl::StrCat(job.metadata.name, "-", task.name, "-", marks.index);

  json::object metadata{{"name", name}, {"namespace", job.metadata.ns}};
  json::object template_metadata;
  if (json::value* own = pod_template.if_contains("metadata"); own != nullptr && own->is_object()) {
    template_metadata = std::move(own->as_object());
  }
  metadata["labels"] = std::move(ObjectAt(template_metadata, "labels"));
  metadata["annotations"] = std::move(ObjectAt(template_metadata, "annotations"));
  SetLabels(job, task, context, marks, metadata["labels"].as_object());
  SetAnnotations(job, task, context, marks, metadata["annotations"].as_object());
  GW_ASSIGN_OR_RETURN(json::value owner, api::ParseJson(api::Encode(OwnerReferenceTo(job))));
  metadata["ownerReferences"] = json::array{std::move(owner)};

  json::object spec = std::move(pod_template["spec"].as_object());
  InheritFromJob(spec, "schedulerName", job.spec.scheduler_name);
  InheritFromJob(spec, "priorityClassName", job.spec.priority_class_name);
  AddVolumes(job, spec);
  PodDraft draft{metadata["annotations"].as_object(), spec, marks.index, marks.plus};
  for (const PodStep& step : plugins.steps) GW_RETURN_IF_ERROR(step(task, draft));

  const std::string text = api::ToJson(json::object{
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
  PodDocument document;
  document.partition_size_ = task.partition_policy ? task.partition_policy->partition_size : 0;
  for (std::size_t from = 0;;) {
    const std::size_t index = text.find(marks.index, from), partition = text.find(marks.partition, from),
                      plus = text.find(marks.plus, from);
    const std::size_t hole = std::min({index, partition, plus});
    document.texts_.push_back(text.substr(from, hole == std::string::npos ? hole : hole - from));
    if (hole == std::string::npos) break;
    if (hole == plus) {
      const std::size_t number = hole + marks.plus.size(), end = text.find('@', number);
      std::int32_t value = 0;
      GW_CHECK(end != std::string::npos &&
               absl::SimpleAtoi(absl::string_view(text).substr(number, end - number), &value));
      document.holes_.push_back({Hole::Kind::kIndex, value});
      from = end + 1;
    } else {
      document.holes_.push_back({hole == index ? Hole::Kind::kIndex : Hole::Kind::kPartition, 0});
      from = hole + (hole == index ? marks.index : marks.partition).size();
    }
  }
  return document;
}

std::string PodDocument::ForIndex(std::int32_t index) const {
  const std::int32_t partition = partition_size_ > 0 ? index / partition_size_ : 0;
  std::string out = texts_.front();
  for (std::size_t i = 0; i < holes_.size(); ++i) {
    absl::StrAppend(&out, holes_[i].kind == Hole::Kind::kIndex ? index + holes_[i].plus : partition, texts_[i + 1]);
  }
  return out;
}

}  // namespace gangway::lifecycle
