#include "sandbox/kubelet/rule_use.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest.h"
#include "sandbox/kubelet/behaviour.h"

namespace gangway::sandbox {
namespace {

constexpr std::size_t kMaxTold = 5;  // names in a sentence

}  // namespace

void RuleUse::Add(absl::string_view flag, const std::vector<std::string>& rules) {
  for (const std::string& rule : rules) rules_.push_back({std::string(flag), rule});
}

void RuleUse::See(const api::ObjectMeta& pod) {
  for (Rule& rule : rules_) rule.used = rule.used || Behaviour::Names(rule.name(), pod);
  if (const std::string task = Behaviour::TaskOf(pod); !task.empty()) tasks_.insert(task);
  pods_.insert(pod.name);
}

std::vector<std::string> RuleUse::Unused() const {
  std::vector<std::string> out;
  if (pods_.empty()) return out;
  for (const Rule& rule : rules_) {
    if (rule.used) continue;
    std::vector<std::string> known(tasks_.begin(), tasks_.end());
    known.insert(known.end(), pods_.begin(), pods_.end());
    const std::string near = Nearest(rule.name(), known);
    if (known.size() > kMaxTold) known.resize(kMaxTold);
    out.push_back(absl::StrCat(rule.flag, " ", rule.text, ": no pod has been of that name or task; ",
                               near.empty() ? absl::StrCat("there have been ", absl::StrJoin(known, ", "))
                                            : absl::StrCat("did you mean ", near, "?")));
  }
  return out;
}

}  // namespace gangway::sandbox
