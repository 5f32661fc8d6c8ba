#include "plugin/extender/session/decode_task.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/core/pod.h"
#include "api/field_table.h"
#include "base/status_macros.h"
#include "plugin/extender/session/amounts.h"
#include "plugin/ingest/ingest.h"

namespace gangway::extender {

using model::PodFacts;
using model::PodPhase;

namespace {

// What of a TaskInfo stands beside its Pod.
struct TaskMembers {
  std::string uid, job, name, ns, role, node;
  WireStatus status = WireStatus::kPending;
  std::int64_t priority = 1;
  bool preemptable = true, gated = false;
  model::NamedAmounts requests;
  absl::string_view pod;
};

absl::Status DecodeMembers(JsonWalk& walk, TaskMembers& out) {
  return walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "UID")) return walk.String(out.uid);
    if (SameKey(key, "Job")) return walk.String(out.job);
    if (SameKey(key, "Name")) return walk.String(out.name);
    if (SameKey(key, "Namespace")) return walk.String(out.ns);
    if (SameKey(key, "TaskRole")) return walk.String(out.role);
    if (SameKey(key, "Resreq")) return DecodeResource(walk, Rounding::kUp, out.requests);
    if (SameKey(key, "NodeName")) return walk.String(out.node);
    if (SameKey(key, "Status")) return DecodeStatus(walk, out.status);
    if (SameKey(key, "Priority")) return walk.Int(out.priority);
    if (SameKey(key, "Preemptable")) return walk.Bool(out.preemptable);
    if (SameKey(key, "SchGated")) return walk.Bool(out.gated);
    if (SameKey(key, "Pod")) return walk.Take(out.pod);
    return absl::OkStatus();
  });
}

bool HoldsNode(WireStatus status) {
  switch (status) {
    case WireStatus::kAllocated:
    case WireStatus::kBinding:
    case WireStatus::kBound:
    case WireStatus::kRunning:
    case WireStatus::kReleasing:
    case WireStatus::kSucceeded:
    case WireStatus::kFailed:
    case WireStatus::kUnknown:
      return true;
    case WireStatus::kPending:
    case WireStatus::kPipelined:
      return false;
  }
  return false;
}

PodPhase PhaseOf(WireStatus status, PodPhase of_pod) {
  switch (status) {
    case WireStatus::kRunning:
      return PodPhase::kRunning;
    case WireStatus::kSucceeded:
      return PodPhase::kSucceeded;
    case WireStatus::kFailed:
      return PodPhase::kFailed;
    case WireStatus::kUnknown:
      return PodPhase::kUnknown;
    case WireStatus::kReleasing:
      return of_pod;
    case WireStatus::kPending:
    case WireStatus::kAllocated:
    case WireStatus::kPipelined:
    case WireStatus::kBinding:
    case WireStatus::kBound:
      return PodPhase::kPending;
  }
  return of_pod;
}

void Overrule(TaskMembers& members, DecodedTask& out) {
  PodFacts& facts = out.facts;
  if (!members.uid.empty()) facts.uid = std::move(members.uid);
  if (!members.role.empty()) facts.role = std::move(members.role);
  facts.node = HoldsNode(members.status) ? std::move(members.node) : std::string();
  facts.phase = PhaseOf(members.status, facts.phase);
  facts.terminating = facts.terminating || members.status == WireStatus::kReleasing;
  facts.gated = facts.gated || members.gated;
  facts.evictable = facts.evictable && members.preemptable;
  facts.priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      members.priority, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  // Volcano's request has what is attached of CSI drivers beside what the pod says.
  if (!members.requests.empty()) facts.wants.requests = std::move(members.requests);
  // The scheduler is asked for it, whatever it is called.
  facts.ours = !members.job.empty();
  facts.gang = std::string(absl::StripPrefix(members.job, absl::StrCat(facts.ns, "/")));
  facts.gang_kind = model::GangKind::kVolcano;
  out.job = std::move(members.job);
}

}  // namespace

absl::Status DecodeStatus(JsonWalk& walk, WireStatus& out) {
  auto number = static_cast<std::int64_t>(out);
  GW_RETURN_IF_ERROR(walk.Int(number));
  if (number < 1 || number > kWireStatuses || (number & (number - 1)) != 0)
    return walk.Wrong(absl::StrCat(number, " is no task status; one of 1, 2, 4 up to 512"));
  out = static_cast<WireStatus>(number);
  return absl::OkStatus();
}

absl::Status DecodeTaskKey(JsonWalk& walk, TaskKey& out) {
  WantedMembers wanted(walk, 5);
  return walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "UID")) return wanted.Take(0, walk.String(out.uid));
    if (SameKey(key, "Job")) return wanted.Take(1, walk.String(out.job));
    if (SameKey(key, "Name")) return wanted.Take(2, walk.String(out.name));
    if (SameKey(key, "NodeName")) return wanted.Take(3, walk.String(out.node));
    if (SameKey(key, "Status")) return wanted.Take(4, DecodeStatus(walk, out.status));
    return absl::OkStatus();
  });
}

absl::Status DecodeTask(JsonWalk& walk, DecodedTask& out) {
  TaskMembers members;
  GW_RETURN_IF_ERROR(DecodeMembers(walk, members));
  if (members.pod.empty() || members.pod == "null") return walk.Wrong("Pod is missing");
  api::core::Pod pod;
  const api::DecodeReport report = api::DecodeInto(members.pod, api::TypeOf<api::core::Pod>(), &pod);
  if (!report.status.ok())
    return absl::InvalidArgumentError(absl::StrCat(walk.path(), ".Pod: ", report.status.message()));
  if (!members.name.empty()) pod.metadata.name = members.name;
  if (!members.ns.empty()) pod.metadata.ns = members.ns;
  if (pod.spec.node_name.empty() && HoldsNode(members.status)) pod.spec.node_name = members.node;
  if (pod.metadata.name.empty()) return walk.Wrong("Name is missing");
  out.facts = ingest::PodFactsOf(pod, pod.spec.scheduler_name);
  Overrule(members, out);
  return absl::OkStatus();
}

}  // namespace gangway::extender
