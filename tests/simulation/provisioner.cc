#include "tests/simulation/provisioner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/core/storage.h"
#include "api/field_table.h"
#include "api/resource.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";
constexpr absl::Duration kSoon = absl::Seconds(5), kTooLate = absl::Minutes(11);
constexpr int kGivesBack = 2;  // times at most

}  // namespace

Provisioner::Provisioner(Loop& loop, const std::vector<sandbox::SimulatedNode>& nodes, std::uint64_t seed, Send send)
    : loop_(loop), random_(seed), send_(std::move(send)) {
  for (const sandbox::SimulatedNode& node : nodes)
    zones_[node.name] = node.shape.labels.contains("zone") ? node.shape.labels.at("zone") : "";
}

void Provisioner::OnRecord(const sandbox::JournalRecord& record) {
  if (record.resource != &api::kPersistentVolumeClaims) return;
  if (record.after == nullptr) {
    claims_.erase(record.key.name);
    return;
  }
  const auto object = api::Decode<api::core::PersistentVolumeClaim>(*record.after);
  GW_CHECK(object.ok());
  if (object->spec.storage_class_name != kSlowClass) return;
  Claim& claim = claims_[record.key.name];
  if (claim.uid != record.uid) claim = {record.key.name, record.uid, "", 0, false};
  const auto selected = object->metadata.annotations.find(kSelectedNode);
  const std::string node = selected == object->metadata.annotations.end() ? "" : selected->second;
  const bool answers = !node.empty() && node != claim.node && !claim.made;
  claim.node = node;
  if (answers) Answer(claim);
}

absl::Duration Provisioner::Upto(absl::Duration most) {
  return absl::Milliseconds(
      static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(absl::ToInt64Milliseconds(most)))));
}

void Provisioner::Answer(Claim& claim) {
  const std::uint64_t what = random_.Below(100);
  const bool gives_back = what < 35 && claim.given_back < kGivesBack;
  const absl::Duration takes = what >= 92 ? kTooLate : Upto(kSoon);
  if (gives_back) ++claim.given_back;
  answers_until_ = std::max(answers_until_, loop_.Now() + takes);
  loop_.PostAt(loop_.Now() + takes, owner_.token(),
               [this, gives_back, name = claim.name] { gives_back ? GiveBack(name) : Make(name); });
}

void Provisioner::GiveBack(const std::string& name) {
  send_({"PATCH", &api::kPersistentVolumeClaims, name, "",
         absl::StrCat(R"({"metadata":{"annotations":{")", kSelectedNode, R"(":null}}})")});
}

// For the node that is selected by now.
void Provisioner::Make(const std::string& name) {
  const auto it = claims_.find(name);
  if (it == claims_.end() || it->second.made || it->second.node.empty()) return;
  Claim& claim = it->second;
  claim.made = true;
  send_(
      {"POST", &api::kPersistentVolumes, "", "",
       absl::StrCat(
           R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pvc-)", claim.uid,
           R"("},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany"],)", R"("storageClassName":")",
           kSlowClass, R"(","persistentVolumeReclaimPolicy":"Delete","hostPath":{"path":"/data"},)",
           R"("claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"default","name":")", claim.name,
           R"(","uid":")", claim.uid,
           R"("},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":[")",
           zones_[claim.node], R"("]}]}]}}}})")});
}

}  // namespace gangway::testutil
