// Rules of JobFlows (spec: volcano-job 7.4).
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/volcano/admission_rules.h"

namespace gangway::api::volcano {
namespace {

// Takes away, again and again, what depends on nothing that is left: what remains stands in circles, or behind one.
std::set<std::string> Stuck(const JobFlowSpec& spec) {
  std::map<std::string, std::set<std::string>> waits;
  for (const Flow& flow : spec.flows) {
    std::set<std::string>& targets = waits[flow.name];
    if (flow.depends_on.has_value()) targets.insert(flow.depends_on->targets.begin(), flow.depends_on->targets.end());
  }
  for (bool took = true; took;) {
    took = false;
    for (auto it = waits.begin(); it != waits.end();) {
      if (!it->second.empty()) {
        ++it;
        continue;
      }
      for (auto& [name, targets] : waits) targets.erase(it->first);
      it = waits.erase(it);
      took = true;
    }
  }
  std::set<std::string> stuck;
  for (const auto& [name, targets] : waits) stuck.insert(name);
  return stuck;
}

}  // namespace

void CheckFlows(const JobFlowSpec& spec, FieldErrors& errors) {
  std::set<std::string> names;
  const std::size_t before = errors.size();
  for (std::size_t i = 0; i < spec.flows.size(); ++i) {
    const std::string& name = spec.flows[i].name;
    const std::optional<FlowPatch>& patch = spec.flows[i].patch;
    if (patch.has_value() && !patch->job_spec.empty() && patch->job_spec.json.front() != '{') {
      AddInvalid(errors, absl::StrCat("spec.flows[", i, "].patch.jobSpec"), patch->job_spec.json, "must be an object");
    }
    if (names.insert(name).second) continue;
    AddError(errors, FieldError::Type::kDuplicate, absl::StrCat("spec.flows[", i, "].name"), JsonString(name),
             "another flow has this name, and its job would be the same");
  }
  for (std::size_t i = 0; i < spec.flows.size(); ++i) {
    if (!spec.flows[i].depends_on.has_value()) continue;
    const std::vector<std::string>& targets = spec.flows[i].depends_on->targets;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (names.contains(targets[k])) continue;
      AddInvalid(errors, absl::StrCat("spec.flows[", i, "].dependsOn.targets[", k, "]"), JsonString(targets[k]),
                 "no flow has this name", absl::StrCat("known: ", absl::StrJoin(names, ", ")));
    }
  }
  if (errors.size() != before) return;
  if (const std::set<std::string> stuck = Stuck(spec); !stuck.empty()) {
    AddInvalid(errors, "spec.flows", "", absl::StrCat("these wait for each other in a circle: ", absl::StrJoin(stuck, ", ")));
  }
}

}  // namespace gangway::api::volcano
