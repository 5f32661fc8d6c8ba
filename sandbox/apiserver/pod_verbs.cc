// The subresources of pods: binding, eviction.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/selector.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// Sets the condition of that type, keeping when it last changed where its status stays.
void SetCondition(json::object& object, absl::string_view type, absl::string_view status, absl::string_view reason,
                  absl::string_view message, absl::Time now) {
  json::value& list = ObjectIn(object, "status")["conditions"];
  if (!list.is_array()) list.emplace_array();
  json::object* condition = nullptr;
  for (json::value& each : list.get_array()) {
    if (each.is_object() && FindText(each.get_object(), "type") == type) condition = &each.get_object();
  }
  if (condition == nullptr) {
    condition = &list.get_array().emplace_back(json::object(list.storage())).get_object();
    SetText(*condition, "type", type);
  }
  if (FindText(*condition, "status") != status) SetText(*condition, "lastTransitionTime", api::FormatTime(now));
  SetText(*condition, "status", status);
  for (const auto& [field, text] : {std::pair{absl::string_view("reason"), reason}, {"message", message}}) {
    if (text.empty()) {
      condition->erase(JsonView(field));
    } else {
      SetText(*condition, field, text);
    }
  }
}

bool IsReady(const json::object& pod) {
  const json::value* conditions = FindPath(pod, "status.conditions");
  if (conditions == nullptr || !conditions->is_array()) return false;
  return std::any_of(conditions->get_array().begin(), conditions->get_array().end(), [](const json::value& each) {
    return each.is_object() && FindText(each.get_object(), "type") == "Ready" &&
           FindText(each.get_object(), "status") == "True";
  });
}

// minAvailable or maxUnavailable: a count, or a share of `whole`, rounded up.
std::optional<std::int64_t> CountOrShare(const json::value* value, std::int64_t whole) {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (!value->is_string()) return std::nullopt;
  const absl::string_view text = AbslView(value->get_string());
  std::int64_t percent = 0;
  if (!absl::EndsWith(text, "%") || !absl::SimpleAtoi(text.substr(0, text.size() - 1), &percent)) return std::nullopt;
  return (whole * percent + 99) / 100;
}

// The pods of a budget, as they are.
struct Guarded {
  std::int64_t expected = 0, healthy = 0;
};
std::int64_t WantedHealthy(const json::object& budget, const Guarded& guarded) {
  if (const auto least = CountOrShare(FindPath(budget, "spec.minAvailable"), guarded.expected)) return *least;
  if (const auto most = CountOrShare(FindPath(budget, "spec.maxUnavailable"), guarded.expected)) {
    return std::max<std::int64_t>(0, guarded.expected - *most);
  }
  return guarded.expected - 1;  // policy/v1: maxUnavailable is 1
}

api::LabelSelector SelectorOf(const json::object& budget) {
  const json::value* selector = FindPath(budget, "spec.selector");
  if (selector == nullptr) return api::LabelSelector::Nothing();
  absl::StatusOr<api::LabelSelector> parsed = api::LabelSelector::FromJson(api::ToJson(*selector));
  return parsed.ok() ? *std::move(parsed) : api::LabelSelector::Nothing();
}

// Why the pod cannot be bound; "" when it can.
std::string WhyNotBindable(const Record& pod, const json::object& object) {
  if (pod.deleting) return absl::StrCat("pod ", pod.key.name, " is being deleted, cannot be assigned to a host");
  if (const absl::string_view node = pod.fields.Get("spec.nodeName"); !node.empty()) {
    return absl::StrCat("pod ", pod.key.name, " is already assigned to node \"", node, "\"");
  }
  const json::value* gates = FindPath(object, "spec.schedulingGates");
  if (gates != nullptr && gates->is_array() && !gates->get_array().empty()) {
    return absl::StrCat("pod ", pod.key.name, " has non-empty .spec.schedulingGates");
  }
  return {};
}

// pkg/registry/core/pod/storage: what BindingREST finds wrong it returns as it is, and so it counts as its own mistake.
Refusal BadBinding(std::string message) { return {.code = 500, .message = std::move(message)}; }

Refusal ConflictOn(absl::string_view what, absl::string_view name, absl::string_view why) {
  Refusal refusal = Conflict(api::kPods, name, why);
  refusal.kind = std::string(what);
  refusal.message = absl::StrCat("Operation cannot be fulfilled on ", what, " \"", name, "\": ", why);
  return refusal;
}

}  // namespace

// pkg/registry/core/pod/storage: BindingREST
Outcome<kube::Response> ServerCore::Bind(Exchange& exchange) {
  const Target& target = exchange.target;
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "CreateOptions");
  if (!options.ok()) return options.refusal();
  Outcome<Draft> binding = ReadBody(exchange, schemas_.ForKind("v1", "Binding"), options->field_validation);
  if (!binding.ok() && binding.refusal().code == 422) return BadBinding("target.name: Required value");
  if (!binding.ok()) return binding.refusal();
  if (Objection objection = CheckTypeMeta("v1", "Binding", *binding)) return *std::move(objection);
  const json::object& wanted = binding->object();
  if (const absl::string_view name = TextAt(wanted, "metadata.name"); !name.empty() && name != target.name) {
    return BadRequest("name in URL does not match name in Binding object");
  }
  if (const absl::string_view ns = TextAt(wanted, "metadata.namespace"); !ns.empty() && ns != target.ns) {
    return BadRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const absl::string_view kind = TextAt(wanted, "target.kind"), node = TextAt(wanted, "target.name");
  if (!kind.empty() && kind != "Node") {
    return BadBinding(absl::StrCat("target.kind: Unsupported value: ", api::JsonString(kind),
                                   ": supported values: \"Node\", \"<empty>\""));
  }
  if (node.empty()) {
    return BadBinding("target.name: Required value");
  }
  const RecordPtr record = store_.Find(api::kPods, target.key());
  if (record == nullptr) return NotFound(api::kPods, target.name);
  if (const absl::string_view uid = TextAt(wanted, "metadata.uid"); !uid.empty() && uid != record->uid) {
    return ConflictOn(
        "pods/binding", target.name,
        absl::StrCat("Precondition failed: UID in precondition: ", uid, ", UID in object meta: ", record->uid));
  }
  if (const absl::string_view version = TextAt(wanted, "metadata.resourceVersion");
      !version.empty() && version != absl::StrCat(record->revision)) {
    return ConflictOn("pods/binding", target.name, kModifiedMeanwhile);
  }
  Draft pod = Draft::OfStored(*record->json);
  if (const std::string why = WhyNotBindable(*record, pod.object()); !why.empty()) {
    return ConflictOn("pods/binding", target.name, why);
  }
  const Admission admission{.operation = "CREATE",
                            .resource = &api::kPods,
                            .subresource = "binding",
                            .ns = target.ns,
                            .name = target.name,
                            .dry_run = options->dry_run,
                            .other_api_version = "v1",
                            .other_kind = "Binding"};
  Outcome<bool> mutated = MutateByWebhooks(admission, &*binding, nullptr);
  if (!mutated.ok()) return mutated.refusal();
  if (Objection objection = ValidateByWebhooks(admission, &*binding, nullptr)) return *std::move(objection);
  SetText(pod.Child("spec"), "nodeName", node);
  for (const absl::string_view field : {"annotations", "labels"}) {
    const json::value* more = FindPath(wanted, absl::StrCat("metadata.", field));
    if (more == nullptr || !more->is_object()) continue;
    json::object& all = ObjectIn(pod.metadata(), field);
    for (const auto& member : more->get_object()) all[member.key()] = member.value();
  }
  SetCondition(pod.object(), "PodScheduled", "True", "", "", Now());
  const CommitNote note{exchange.caller.name, "create", "binding"};
  Outcome<Bytes> bound = Commit(api::kPods, pod, options->dry_run, note);
  if (!bound.ok()) return bound.refusal();
  return SuccessStatus(201);
}

Objection ServerCore::CheckDisruptionBudget(const Record& pod, const json::object& object) {
  std::vector<RecordPtr> budgets;
  store_.Scan(api::kPodDisruptionBudgets, pod.key.ns, nullptr, [&](const RecordPtr& record) {
    const Draft budget = Draft::OfStored(*record->json);
    if (Selects(SelectorOf(budget.object()), {}, pod)) budgets.push_back(record);
    return true;
  });
  if (budgets.empty()) return std::nullopt;
  if (budgets.size() > 1) {
    return Refusal{
        .code = 500,
        .message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."};
  }
  const Draft budget = Draft::OfStored(*budgets[0]->json);
  const api::LabelSelector selector = SelectorOf(budget.object());
  Guarded guarded;
  store_.Scan(api::kPods, pod.key.ns, nullptr, [&](const RecordPtr& record) {
    const absl::string_view phase = record->fields.Get("status.phase");
    if (phase == "Succeeded" || phase == "Failed" || !Selects(selector, {}, *record)) return true;
    ++guarded.expected;
    if (!record->deleting && IsReady(Draft::OfStored(*record->json).object())) ++guarded.healthy;
    return true;
  });
  const std::int64_t wanted = WantedHealthy(budget.object(), guarded);
  if (!IsReady(object) && (TextAt(budget.object(), "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow" ||
                           (guarded.healthy >= wanted && wanted > 0))) {
    return std::nullopt;
  }
  if (guarded.healthy - wanted > 0) return std::nullopt;
  return Refusal{.code = 429,
                 .reason = "TooManyRequests",
                 .message = "Cannot evict pod as it would violate the pod's disruption budget.",
                 .causes = {{"DisruptionBudget",
                             absl::StrCat("The disruption budget ", budgets[0]->key.name, " needs ", wanted,
                                          " healthy pods and has ", guarded.healthy, " currently"),
                             ""}}};
}

// pkg/registry/core/pod/storage: EvictionREST
Outcome<kube::Response> ServerCore::Evict(Exchange& exchange) {
  const Target& target = exchange.target;
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "CreateOptions");
  if (!options.ok()) return options.refusal();
  Outcome<Draft> eviction = ReadBody(exchange, schemas_.ForKind("policy/v1", "Eviction"), options->field_validation);
  if (!eviction.ok()) return eviction.refusal();
  if (Objection objection = CheckTypeMeta("policy/v1", "Eviction", *eviction)) return *std::move(objection);
  if (const absl::string_view name = TextAt(eviction->object(), "metadata.name");
      !name.empty() && name != target.name) {
    return BadRequest("name in URL does not match name in Eviction object");
  }
  const json::value* given = eviction->object().if_contains("deleteOptions");
  Outcome<DeleteOptions> deletion =
      ParseDeleteOptions({}, given == nullptr || given->is_null() ? "" : api::ToJson(*given));
  if (!deletion.ok()) return deletion.refusal();
  deletion->dry_run = deletion->dry_run || options->dry_run;
  RecordPtr record = store_.Find(api::kPods, target.key());
  if (record == nullptr) return NotFound(api::kPods, target.name);
  const absl::string_view phase = record->fields.Get("status.phase");
  Draft pod = Draft::OfStored(*record->json);
  const bool counts = phase != "Succeeded" && phase != "Failed" && phase != "Pending" && !record->deleting;
  if (counts) {
    if (Objection objection = CheckDisruptionBudget(*record, pod.object())) return *std::move(objection);
  }
  const Admission admission{.operation = "CREATE",
                            .resource = &api::kPods,
                            .subresource = "eviction",
                            .ns = target.ns,
                            .name = target.name,
                            .dry_run = deletion->dry_run,
                            .other_api_version = "policy/v1",
                            .other_kind = "Eviction"};
  Outcome<bool> mutated = MutateByWebhooks(admission, &*eviction, nullptr);
  if (!mutated.ok()) return mutated.refusal();
  if (Objection objection = ValidateByWebhooks(admission, &*eviction, nullptr)) return *std::move(objection);
  const CommitNote note{exchange.caller.name, "create", "eviction"};
  const bool current =
      (!deletion->uid.has_value() || *deletion->uid == record->uid) &&
      (!deletion->resource_version.has_value() || *deletion->resource_version == absl::StrCat(record->revision));
  if (current && !record->deleting && !deletion->dry_run) {
    SetCondition(pod.object(), "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting", Now());
    Outcome<Bytes> marked = Commit(api::kPods, pod, false, note);
    if (!marked.ok()) return marked.refusal();
    record = store_.Find(api::kPods, target.key());
    deletion->resource_version.reset();  // it was our own write
  }
  // The eviction was asked about, its deletion is not.
  Outcome<Removal> removal = Remove(target, *record, *deletion, note, /*past_admission=*/true);
  if (!removal.ok()) return removal.refusal();
  return SuccessStatus(201);
}

}  // namespace gangway::sandbox
