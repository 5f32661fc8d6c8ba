#include "translator/convert/policy_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "translator/convert/document.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::volcano::LifecyclePolicy;

bool NamesAnEtcd(const json::object& variable) {
  const absl::string_view name = FindText(variable, "name");
  return name == "PADDLE_ELASTIC_SERVER" ||
         (name == "PADDLE_MASTER" && absl::StartsWith(FindText(variable, "value"), "etcd://"));
}

bool IsElastic(const api::volcano::TaskSpec& task) {
  const absl::StatusOr<json::value> pod_template = api::ParseJson(task.pod_template.json);
  const json::object* const object = pod_template.ok() ? pod_template->if_object() : nullptr;
  const json::object* const spec = object == nullptr ? nullptr : FindObject(*object, "spec");
  bool found = false;
  if (spec == nullptr) return found;
  ForEachObject(FindList(*spec, "containers"), [&](const json::object& container) {
    ForEachObject(FindList(container, "env"),
                  [&](const json::object& variable) { found = found || NamesAnEtcd(variable); });
  });
  return found;
}

bool AnswersEviction(const LifecyclePolicy& policy) {
  const auto is = [](const std::string& event) { return event == "PodEvicted" || event == "*"; };
  return is(policy.event) || std::any_of(policy.events.begin(), policy.events.end(), is);
}

void Check(const std::vector<LifecyclePolicy>& policies, absl::string_view field, Findings& findings) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (!AnswersEviction(policies[i]) || !absl::EndsWith(policies[i].action, "Job") || policies[i].action == "SyncJob")
      continue;
    findings.push_back(MakeFinding(Code::kPolicy, absl::StrCat(field, "[", i, "]"), api::JsonString(policies[i].action),
                                   "workers of an elastic job come and go; one that goes, also when the job is made "
                                   "smaller, would be the end of this run of all others"));
  }
}

}  // namespace

Findings CheckPolicies(const api::volcano::Job& job) {
  Findings findings;
  bool elastic = false;
  for (std::size_t i = 0; i < job.spec.tasks.size(); ++i) {
    if (!IsElastic(job.spec.tasks[i])) continue;
    elastic = true;
    Check(job.spec.tasks[i].policies, absl::StrCat("spec.tasks[", i, "].policies"), findings);
  }
  if (elastic) Check(job.spec.policies, "spec.policies", findings);
  Arrange(findings);
  return findings;
}

}  // namespace gangway::convert
