// Rules of JobFlows (Volcano: pkg/controllers/jobflow).
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "api/json.h"
#include "api/volcano/admission_rules.h"

namespace gangway::api::volcano {
namespace {

// Takes away what depends on nothing that is left, until there is no such flow: what remains stands in circles, or
// behind one. Names are those of flows, each once.
std::set<std::string> Stuck(const JobFlowSpec& spec) {
  std::map<absl::string_view, std::vector<std::size_t>> waiting;  // flows by what they wait for
  std::vector<std::size_t> left(spec.flows.size());               // how many it waits for, by flow
  std::vector<std::size_t> free;
  const std::vector<std::string> nothing;
  for (std::size_t i = 0; i < spec.flows.size(); ++i) {
    const std::vector<std::string>& targets =
        spec.flows[i].depends_on.has_value() ? spec.flows[i].depends_on->targets : nothing;
    for (const std::string& target : targets) waiting[target].push_back(i);
    left[i] = targets.size();
    if (targets.empty()) free.push_back(i);
  }
  while (!free.empty()) {
    const std::size_t gone = free.back();
    free.pop_back();
    for (const std::size_t flow : waiting[spec.flows[gone].name]) {
      if (--left[flow] == 0) free.push_back(flow);
    }
  }
  std::set<std::string> stuck;
  for (std::size_t i = 0; i < spec.flows.size(); ++i) {
    if (left[i] > 0) stuck.insert(spec.flows[i].name);
  }
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
  const std::string known = absl::StrCat("known: ", absl::StrJoin(names, ", "));
  for (std::size_t i = 0; i < spec.flows.size(); ++i) {
    if (!spec.flows[i].depends_on.has_value()) continue;
    const std::vector<std::string>& targets = spec.flows[i].depends_on->targets;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (Full(errors)) return;
      if (names.contains(targets[k])) continue;
      AddInvalid(errors, absl::StrCat("spec.flows[", i, "].dependsOn.targets[", k, "]"), JsonString(targets[k]),
                 "no flow has this name", known);
    }
  }
  if (errors.size() != before) return;
  if (const std::set<std::string> stuck = Stuck(spec); !stuck.empty()) {
    AddInvalid(errors, "spec.flows", "",
               absl::StrCat("these wait for each other in a circle: ", absl::StrJoin(stuck, ", ")));
  }
}

}  // namespace gangway::api::volcano
