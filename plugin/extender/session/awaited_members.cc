#include "plugin/extender/session/awaited_members.h"

#include "absl/strings/str_cat.h"

namespace gangway::extender {
namespace {

bool IsTried(const model::Gang& gang) {
  return gang.known && gang.kind == model::GangKind::kVolcano && !gang.admitted && gang.tasks.empty() &&
         gang.min_member > 0 && gang.has_min_resources && gang.min_task_member.size() == 1 && gang.not_modelled.empty();
}

}  // namespace

AwaitedMembers::AwaitedMembers(model::Cluster& cluster) : cluster_(cluster) {
  const std::vector<model::GangId> waiting(cluster.waiting().begin(), cluster.waiting().end());
  for (const model::GangId id : waiting) {
    const model::Gang& gang = cluster.gang(id);
    if (IsTried(gang) && gang.min_member <= kMaxMembers - static_cast<int>(pods_.size())) Add(gang);
  }
}

AwaitedMembers::~AwaitedMembers() {
  for (const auto& [ns, name] : pods_) cluster_.RemovePod(ns, name);
}

void AwaitedMembers::Add(const model::Gang& gang) {
  model::PodFacts pod;
  pod.ns = gang.ns;
  pod.gang = gang.name;
  pod.role = std::string(cluster_.names().Text(gang.min_task_member.front().first));
  for (model::Dim dim = 0; dim < gang.min_resources.size(); ++dim) {
    const std::int64_t part = gang.min_resources[dim] / gang.min_member;
    if (dim != model::kPods && part > 0) pod.wants.requests.emplace_back(cluster_.dims().Name(dim), part);
  }
  pod.wants.requests.emplace_back("pods", 1);
  pod.wants.tolerations.push_back({.key = "", .value = "", .effect = "", .exists = true});
  const int members = gang.min_member;  // its slot may move when it gets pods
  for (int i = 0; i < members; ++i) {
    pod.index = i;
    pod.name = absl::StrCat(pod.gang, " member ", i);  // no pod has such a name
    pods_.emplace_back(pod.ns, pod.name);
    cluster_.SetPod(pod);
  }
}

}  // namespace gangway::extender
