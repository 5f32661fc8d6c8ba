#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/core/pod_checks.h"
#include "api/name.h"

namespace gangway::api::core {
namespace {

void CheckRequirement(const Place& requirement, bool field) {
  const Place key = requirement["key"];
  if (const absl::string_view text = key.RequiredText(); !text.empty() && !field) key.Complain(CheckLabelKey(text));
  if (field && key.Text().value_or("metadata.name") != "metadata.name") key.OneOf({"metadata.name"});
  const Place op = requirement["operator"];
  const absl::string_view word = op.RequiredText();
  op.OneOf({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  const Place values = requirement["values"];
  if (values.present() && !values.IsList()) return;
  if ((word == "In" || word == "NotIn") && values.size() == 0) {
    values.Required("must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((word == "Exists" || word == "DoesNotExist") && values.size() > 0) {
    values.Forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  if (word == "Gt" || word == "Lt") {
    if (values.size() != 1) return values.Required("must be one value when `operator` is 'Lt' or 'Gt'");
    values.ForEachItem([](const Place& value, std::size_t) {
      std::int64_t number = 0;
      if (!absl::SimpleAtoi(value.Text().value_or(""), &number)) value.Invalid("must be a whole number in quotes");
    });
  }
}

void CheckTerm(const Place& term) {
  if (const Place expressions = term["matchExpressions"]; expressions.present()) {
    expressions.ForEachItem([](const Place& r, std::size_t) { CheckRequirement(r, false); });
  }
  if (const Place fields = term["matchFields"]; fields.present()) {
    fields.ForEachItem([](const Place& r, std::size_t) { CheckRequirement(r, true); });
  }
}

void CheckNodeAffinity(const Place& affinity) {
  if (const Place required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]; required.IsObject()) {
    const Place terms = required["nodeSelectorTerms"];
    if (terms.size() == 0) return terms.Required("must have at least one node selector term");
    terms.ForEachItem([](const Place& term, std::size_t) { CheckTerm(term); });
  }
  if (const Place preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"]; preferred.present()) {
    preferred.ForEachItem([](const Place& item, std::size_t) {
      item["weight"].Within(1, 100);
      if (!item["weight"].present()) item["weight"].Required();
      const Place term = item["preference"];
      CheckTerm(term);
    });
  }
}

void CheckPodTerm(const Place& term) {
  const Place key = term["topologyKey"];
  if (const absl::string_view text = key.RequiredText("can not be empty"); !text.empty())
    key.Complain(CheckLabelKey(text));
}

void CheckPodAffinity(const Place& affinity) {
  if (const Place required = affinity["requiredDuringSchedulingIgnoredDuringExecution"]; required.present()) {
    required.ForEachItem([](const Place& term, std::size_t) { CheckPodTerm(term); });
  }
  if (const Place preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"]; preferred.present()) {
    preferred.ForEachItem([](const Place& item, std::size_t) {
      if (!item["weight"].present()) item["weight"].Required();
      item["weight"].Within(1, 100);
      const Place term = item["podAffinityTerm"];
      CheckPodTerm(term);
    });
  }
}

void CheckToleration(const Place& toleration) {
  if (!toleration.present()) return toleration.Required();
  if (!toleration.IsObject()) return;
  const absl::string_view key = toleration["key"].Text().value_or("");
  const absl::string_view op = toleration["operator"].Text().value_or("");
  if (!key.empty()) toleration["key"].Complain(CheckLabelKey(key));
  toleration["operator"].OneOf({"Equal", "Exists", "Lt", "Gt"});
  if (key.empty() && op != "Exists") {
    toleration["operator"].Invalid(
        "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
  }
  if (op == "Exists" && !toleration["value"].Text().value_or("").empty()) {
    toleration["value"].Invalid("value must be empty when `operator` is 'Exists'");
  }
  toleration["effect"].OneOf({"NoSchedule", "PreferNoSchedule", "NoExecute"});
  if (toleration["tolerationSeconds"].Integer().has_value() &&
      toleration["effect"].Text().value_or("") != "NoExecute") {
    toleration["effect"].Invalid("effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
}

void CheckSpread(const Place& constraint) {
  if (!constraint["maxSkew"].present()) constraint["maxSkew"].Required();
  constraint["maxSkew"].Within(1, INT32_MAX);
  CheckPodTerm(constraint);
  constraint["whenUnsatisfiable"].RequiredText();
  constraint["whenUnsatisfiable"].OneOf({"DoNotSchedule", "ScheduleAnyway"});
}

}  // namespace

void CheckLabels(const Place& labels) {
  if (!labels.present()) return;
  labels.ForEachMember([](const Place& label, absl::string_view key) {
    for (const std::string& complaint : CheckLabelKey(key))
      label.Invalid(absl::StrCat("the key is not valid: ", complaint));
    if (!label.present()) return;
    label.Complain(CheckLabelValue(label.Text().value_or("")));
  });
}

void CheckPlacement(const Place& spec) {
  const Place node_selector = spec["nodeSelector"];
  CheckLabels(node_selector);
  if (const Place affinity = spec["affinity"]; affinity.IsObject()) {
    const Place node = affinity["nodeAffinity"];
    CheckNodeAffinity(node);
    for (const absl::string_view key : {"podAffinity", "podAntiAffinity"}) {
      const Place pod = affinity[key];
      CheckPodAffinity(pod);
    }
  }
  if (const Place tolerations = spec["tolerations"]; tolerations.present()) {
    tolerations.ForEachItem([](const Place& toleration, std::size_t) { CheckToleration(toleration); });
  }
  if (const Place spread = spec["topologySpreadConstraints"]; spread.present()) {
    spread.ForEachItem([](const Place& constraint, std::size_t) { CheckSpread(constraint); });
  }
}

}  // namespace gangway::api::core
