#include "sandbox/apiserver/server_defaults.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/quantity.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/definitions.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// Of one container: 0 asks for nothing, 2 has limits for cpu and memory that equal its requests, 1 anything between.
int Guarantee(const json::object& container) {
  static constexpr absl::string_view kCounted[] = {"cpu", "memory"};
  const json::value* requests = FindPath(container, "resources.requests");
  const json::value* limits = FindPath(container, "resources.limits");
  bool any = false, all = true;
  for (const absl::string_view name : kCounted) {
    const json::value* request =
        requests != nullptr && requests->is_object() ? requests->get_object().if_contains(JsonView(name)) : nullptr;
    const json::value* limit =
        limits != nullptr && limits->is_object() ? limits->get_object().if_contains(JsonView(name)) : nullptr;
    any = any || request != nullptr || limit != nullptr;
    if (limit == nullptr) {
      all = false;
    } else if (request != nullptr && *request != *limit) {
      const auto a = request->is_string() ? api::Quantity::Parse(AbslView(request->get_string()))
                                          : absl::StatusOr<api::Quantity>(absl::InvalidArgumentError(""));
      const auto b = limit->is_string() ? api::Quantity::Parse(AbslView(limit->get_string()))
                                        : absl::StatusOr<api::Quantity>(absl::InvalidArgumentError(""));
      all = all && a.ok() && b.ok() && !(*a < *b) && !(*b < *a);
    }
  }
  return !any ? 0 : all ? 2 : 1;
}

// The tolerations that DefaultTolerationSeconds adds.
void AddNodeLossTolerations(json::object& spec) {
  json::value& list = spec["tolerations"];
  if (!list.is_array()) list.emplace_array();
  for (const absl::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const bool there = std::any_of(list.get_array().begin(), list.get_array().end(), [&](const json::value& each) {
      if (!each.is_object()) return false;
      const absl::string_view effect = FindText(each.get_object(), "effect");
      const absl::string_view k = FindText(each.get_object(), "key");
      return (k == key || k.empty()) && (effect == "NoExecute" || effect.empty());
    });
    if (there) continue;
    json::object toleration(list.get_array().storage());
    SetText(toleration, "effect", "NoExecute");
    SetText(toleration, "key", key);
    SetText(toleration, "operator", "Exists");
    toleration["tolerationSeconds"] = 300;
    list.get_array().push_back(std::move(toleration));
  }
}

// The class that is the default for pods that name none; null: there is none.
RecordPtr GlobalDefaultClass(const Store& store) {
  RecordPtr found;
  store.Scan(api::kPriorityClasses, {}, nullptr, [&](const RecordPtr& record) {
    if (record->json->find("\"globalDefault\":true") != std::string::npos) found = record;
    return found == nullptr;
  });
  return found;
}

// admission: plugin/pkg/admission/priority
Objection ResolvePriority(const Store& store, absl::string_view pod_name, json::object& spec) {
  const std::string class_name(FindText(spec, "priorityClassName"));
  RecordPtr record;
  if (class_name.empty()) {
    record = GlobalDefaultClass(store);
  } else {
    record = store.Find(api::kPriorityClasses, {"", class_name});
    if (record == nullptr) {
      return Forbidden(api::kPods, pod_name, absl::StrCat("no PriorityClass with name ", class_name, " was found"));
    }
  }
  std::int64_t priority = 0;
  std::string preemption = "PreemptLowerPriority";
  if (record != nullptr) {
    const absl::StatusOr<Draft> found = Draft::Parse(*record->json);
    if (found.ok()) {
      priority = IntAt(found->object(), "value", 0);
      if (const absl::string_view p = FindText(found->object(), "preemptionPolicy"); !p.empty())
        preemption = std::string(p);
      if (class_name.empty()) SetText(spec, "priorityClassName", record->key.name);
    }
  }
  if (const json::value* given = spec.if_contains("priority");
      given != nullptr && given->is_int64() && given->get_int64() != priority) {
    return Forbidden(api::kPods, pod_name,
                     absl::StrCat("the integer value of priority (", given->get_int64(),
                                  ") must not be provided in pod spec; priority admission controller computed ",
                                  priority, " from the given PriorityClass name"));
  }
  spec["priority"] = priority;
  SetTextIfAbsent(spec, "preemptionPolicy", preemption);
  return std::nullopt;
}

// admission: plugin/pkg/admission/serviceaccount, without the token
Objection AdmitServiceAccount(const Store& store, const json::object& pod, json::object& spec) {
  if (FindText(spec, "serviceAccountName").empty()) {
    const std::string old_name(FindText(spec, "serviceAccount"));
    SetText(spec, "serviceAccountName", old_name.empty() ? "default" : old_name);
  }
  const std::string ns(TextAt(pod, "metadata.namespace")), name(FindText(spec, "serviceAccountName"));
  SetText(spec, "serviceAccount", name);
  if (store.Find(api::kServiceAccounts, {ns, name}) != nullptr) return std::nullopt;
  return Forbidden(
      api::kPods, TextAt(pod, "metadata.name"),
      absl::StrCat("error looking up service account ", ns, "/", name, ": serviceaccount \"", name, "\" not found"));
}

// admission: plugin/pkg/admission/storage/storageclass/setdefault
void SetDefaultStorageClass(const Store& store, json::object& claim) {
  json::object& spec = ObjectIn(claim, "spec");
  if (spec.contains("storageClassName")) return;
  std::string name, created;
  store.Scan(api::kStorageClasses, {}, nullptr, [&](const RecordPtr& record) {
    const Draft draft = Draft::OfStored(*record->json);
    const json::value* const annotations = FindPath(draft.object(), "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object() ||
        FindText(annotations->get_object(), kDefaultClassAnnotation) != "true")
      return true;
    const absl::string_view at = TextAt(draft.object(), "metadata.creationTimestamp");
    if (name.empty() || at > created) name = record->key.name, created = std::string(at);  // the newest
    return true;
  });
  if (!name.empty()) SetText(spec, "storageClassName", name);
}

void SetPhase(json::object& object, absl::string_view phase) {
  SetText(object["status"].emplace_object(), "phase", phase);
}

}  // namespace

Objection FillInPod(const Store& store, absl::Time now, json::object& object) {
  json::object& spec = ObjectIn(object, "spec");
  if (Objection objection = AdmitServiceAccount(store, object, spec)) return objection;
  if (Objection objection = ResolvePriority(store, TextAt(object, "metadata.name"), spec)) return objection;
  AddNodeLossTolerations(spec);
  json::object& status = object["status"].emplace_object();
  SetText(status, "phase", "Pending");
  SetText(status, "qosClass", QosClassOf(spec));
  if (const json::array* gates = FindArray(spec, "schedulingGates"); gates != nullptr && !gates->empty()) {
    json::object& gated =
        status["conditions"].emplace_array().emplace_back(json::object(status.storage())).get_object();
    SetText(gated, "type", "PodScheduled");
    SetText(gated, "status", "False");
    SetText(gated, "lastTransitionTime", api::FormatTime(now));
    SetText(gated, "reason", "SchedulingGated");
    SetText(gated, "message", "Scheduling is blocked due to non-empty scheduling gates");
  }
  return std::nullopt;
}

Objection FillInNamespace(const Store&, absl::Time, json::object& object) {
  LabelNamespace(object);
  json::array& finalizers = ObjectIn(object, "spec")["finalizers"].emplace_array();
  finalizers.emplace_back("kubernetes");
  SetPhase(object, "Active");
  return std::nullopt;
}

// pkg/registry/batch/job: generateSelector
Objection FillInBatchJob(const Store&, absl::Time, json::object& object) {
  json::object& spec = ObjectIn(object, "spec");
  if (BoolAt(spec, "manualSelector")) return std::nullopt;
  const std::string uid(TextAt(object, "metadata.uid")), name(TextAt(object, "metadata.name"));
  json::object& labels = ObjectIn(ObjectIn(ObjectIn(spec, "template"), "metadata"), "labels");
  for (const absl::string_view prefix : {"", "batch.kubernetes.io/"}) {
    SetText(labels, absl::StrCat(prefix, "controller-uid"), uid);
    SetText(labels, absl::StrCat(prefix, "job-name"), name);
  }
  SetText(ObjectIn(ObjectIn(spec, "selector"), "matchLabels"), "batch.kubernetes.io/controller-uid", uid);
  // pkg/apis/batch/v1, SetDefaults_Job: a Job without labels has its template's.
  json::object& metadata = ObjectIn(object, "metadata");
  if (const json::object* own = FindObject(metadata, "labels"); own == nullptr || own->empty())
    metadata["labels"] = labels;
  return std::nullopt;
}

Objection FillInClaim(const Store& store, absl::Time, json::object& object) {
  SetDefaultStorageClass(store, object);
  SetPhase(object, "Pending");
  return std::nullopt;
}

Objection FillInVolume(const Store&, absl::Time, json::object& object) {
  SetPhase(object, "Available");
  return std::nullopt;
}

Objection FillInDefinitionStatus(const Store&, absl::Time, json::object& object) {
  BeginDefinition(object);
  return std::nullopt;
}

absl::string_view QosClassOf(const json::object& spec) {
  bool any = false, all = true;
  for (const absl::string_view list : {"containers", "initContainers"}) {
    const json::array* containers = FindArray(spec, list);
    if (containers == nullptr) continue;
    for (const json::value& container : *containers) {
      if (!container.is_object()) continue;
      const int guarantee = Guarantee(container.get_object());
      any = any || guarantee > 0;
      all = all && guarantee == 2;
    }
  }
  return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

void FoldStringData(json::object& secret) {
  const json::object* plain = FindObject(secret, "stringData");
  if (plain == nullptr) return;
  const json::object copy = *plain;  // "data" may move the members
  json::object& data = ObjectIn(secret, "data");
  for (const auto& member : copy) {
    if (!member.value().is_string()) continue;
    SetText(data, AbslView(member.key()), absl::Base64Escape(AbslView(member.value().get_string())));
  }
  secret.erase("stringData");
}

void KeepQosClass(absl::string_view subresource, const json::object& before, json::object& after) {
  const absl::string_view qos = subresource == "status" ? TextAt(before, "status.qosClass") : absl::string_view();
  if (!qos.empty()) SetTextIfAbsent(ObjectIn(after, "status"), "qosClass", qos);
}

void KeepNamespaceLabel(absl::string_view subresource, const json::object&, json::object& after) {
  if (subresource.empty()) LabelNamespace(after);
}

void KeepTemplateCount(absl::string_view, const json::object& before, json::object& after) {
  CountTemplate(&before, after);
}

void CountTemplate(const json::object* before, json::object& daemon_set) {
  constexpr absl::string_view kCount = "deprecated.daemonset.template.generation";
  std::int64_t count = 1;
  if (before != nullptr) {
    const json::value* const then = FindPath(*before, "spec.template");
    const json::value* const now = FindPath(daemon_set, "spec.template");
    const json::value* const annotations = FindPath(*before, "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object() ||
        !absl::SimpleAtoi(FindText(annotations->get_object(), kCount), &count))
      count = 1;
    if (then != nullptr && now != nullptr && !Equal(*then, *now)) ++count;
  }
  SetText(ObjectIn(ObjectIn(daemon_set, "metadata"), "annotations"), kCount, absl::StrCat(count));
}

void LabelNamespace(json::object& object) {
  json::object& metadata = ObjectIn(object, "metadata");
  const std::string name(FindText(metadata, "name"));
  SetText(ObjectIn(metadata, "labels"), "kubernetes.io/metadata.name", name);
}

}  // namespace gangway::sandbox
