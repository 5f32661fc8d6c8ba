#include "tests/judge/production.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/storage.h"
#include "api/field_table.h"
#include "base/check.h"
#include "base/random.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/room_of_others.h"
#include "plugin/gang/schedule.h"
#include "plugin/ingest/ingest.h"
#include "plugin/model/cluster.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using model::Cluster;

template <class T>
T Decoded(const json::value& object) {
  absl::StatusOr<T> decoded = api::Decode<T>(json::serialize(object));
  GW_CHECK(decoded.ok());
  return *std::move(decoded);
}

model::PodFacts FactsOf(const json::value& pod, const Falsify& falsify, const std::string& gang = {}) {
  api::core::Pod decoded = Decoded<api::core::Pod>(pod);
  if (!gang.empty()) {
    decoded.spec.scheduler_name = "volcano";
    decoded.metadata.annotations[std::string(ingest::kGroupNameAnnotation)] = gang;
  }
  model::PodFacts facts = ingest::PodFactsOf(decoded, "volcano");
  if (falsify.pod) falsify.pod(facts);
  return facts;
}

using Event = std::function<void(Cluster&)>;

// None where there are none.
json::array ObjectsOf(const json::object& stored, const char* list) {
  const json::value* const objects = stored.if_contains(list);
  return objects == nullptr || !objects->is_array() ? json::array() : objects->as_array();
}

template <class F>  // Event(const json::value& object)
void AddEvents(const json::object& stored, const char* list, std::vector<Event>& events, F event_of) {
  for (const json::value& object : ObjectsOf(stored, list)) events.push_back(event_of(object));
}

std::vector<Event> EventsOf(const json::object& stored, const Falsify& falsify) {
  std::vector<Event> events;
  AddEvents(stored, "nodes", events, [&](const json::value& object) {
    model::NodeFacts facts = ingest::NodeFactsOf(Decoded<api::core::Node>(object));
    if (falsify.node) falsify.node(facts);
    return [facts](Cluster& cluster) { cluster.SetNode(facts); };
  });
  AddEvents(stored, "pods", events, [&](const json::value& object) {
    return [facts = FactsOf(object, falsify)](Cluster& cluster) { cluster.SetPod(facts); };
  });
  AddEvents(stored, "namespaces", events, [](const json::value& object) {
    return [facts = ingest::NamespaceFactsOf(Decoded<api::core::PartialObject>(object))](Cluster& cluster) {
      cluster.SetNamespace(facts);
    };
  });
  AddEvents(stored, "volumes", events, [&](const json::value& object) {
    model::VolumeFacts facts = ingest::VolumeFactsOf(Decoded<api::core::PersistentVolume>(object));
    if (falsify.volume) falsify.volume(facts);
    return [facts](Cluster& cluster) { cluster.SetVolume(facts); };
  });
  AddEvents(stored, "claims", events, [](const json::value& object) {
    return [facts = ingest::ClaimFactsOf(Decoded<api::core::PersistentVolumeClaim>(object))](Cluster& cluster) {
      cluster.SetClaim(facts);
    };
  });
  AddEvents(stored, "classes", events, [](const json::value& object) {
    return [facts = ingest::StorageClassFactsOf(Decoded<api::core::StorageClass>(object))](Cluster& cluster) {
      cluster.SetStorageClass(facts);
    };
  });
  AddEvents(stored, "csiNodes", events, [&](const json::value& object) {
    model::CsiNodeFacts facts = ingest::CsiNodeFactsOf(Decoded<api::core::CsiNode>(object));
    if (falsify.csi_node) falsify.csi_node(facts);
    return [facts](Cluster& cluster) { cluster.SetCsiNode(facts); };
  });
  AddEvents(stored, "csiDrivers", events, [](const json::value& object) {
    return [facts = ingest::CsiDriverFactsOf(Decoded<api::core::CsiDriver>(object))](Cluster& cluster) {
      cluster.SetCsiDriver(facts);
    };
  });
  AddEvents(stored, "csiCapacities", events, [&](const json::value& object) {
    model::StorageCapacityFacts facts = ingest::StorageCapacityFactsOf(Decoded<api::core::CsiStorageCapacity>(object));
    if (falsify.capacity) falsify.capacity(facts);
    return [facts](Cluster& cluster) { cluster.SetStorageCapacity(facts); };
  });
  AddEvents(stored, "attachments", events, [&](const json::value& object) {
    model::VolumeAttachmentFacts facts = ingest::VolumeAttachmentFactsOf(Decoded<api::core::VolumeAttachment>(object));
    if (falsify.attachment) falsify.attachment(facts);
    return [facts](Cluster& cluster) { cluster.SetVolumeAttachment(facts); };
  });
  return events;
}

// Its priority is the pod's.
void AddGang(const std::string& ns, std::int32_t priority, Cluster& cluster) {
  cluster.SetPriorityClass({"of-the-pod", priority, false, true});
  model::QueueFacts queue;
  queue.name = "default";
  cluster.SetQueue(queue);
  model::GangFacts gang;
  gang.ns = ns;
  gang.name = "g";
  gang.uid = "u-g";
  gang.min_member = 1;
  gang.phase = model::GangPhase::kInqueue;
  gang.priority_class = "of-the-pod";
  cluster.SetGang(gang);
}

std::string WordFor(model::ClaimTrouble trouble) {
  static constexpr const char* kWords[] = {"fine",
                                           "missing",
                                           "unreadable",
                                           "unbound",
                                           "lost",
                                           "being deleted",
                                           "another's",
                                           "in use",
                                           "without its volume",
                                           "with a volume not modelled"};
  return absl::StrCat("a claim is ", kWords[static_cast<std::size_t>(trouble)]);
}

// What is decided for the gang is what the constraints say: it goes to a node they allow, or to none when there is
// none.
std::string Contradiction(const Cluster& cluster, const Verdict& verdict) {
  gang::Scratch scratch;
  std::string node;
  for (const model::Decision& decision : gang::Schedule(cluster, gang::Policy(), absl::UnixEpoch(), scratch)) {
    for (const model::Placement& placement : decision.placements) node = std::string(cluster.node_name(placement.row));
  }
  if (!node.empty()) return verdict.against.at(node).empty() ? "" : absl::StrCat("it is placed on ", node);
  const auto possible = std::find_if(verdict.against.begin(), verdict.against.end(),
                                     [](const auto& each) { return each.second.empty(); });
  return possible == verdict.against.end() ? ""
                                           : absl::StrCat("it is not placed, though ", possible->first, " takes it");
}

}  // namespace

Verdict AskProduction(const json::object& stored, std::uint64_t seed, const Falsify& falsify) {
  Cluster cluster;
  const model::PodFacts pod = FactsOf(stored.at("pod"), falsify, "g");
  AddGang(pod.ns, pod.priority, cluster);
  std::vector<Event> events = EventsOf(stored, falsify);
  events.emplace_back([&](Cluster& told) { told.SetPod(pod); });
  RandomStream random(seed);
  for (std::size_t i = events.size(); i > 1; --i) std::swap(events[i - 1], events[random.Below(i)]);
  for (const Event& event : events) event(cluster);

  Verdict verdict;
  const model::ShapeId shape = cluster.task(cluster.FindTask(pod.ns, pod.name)).shape;
  verdict.not_modelled = cluster.shape(shape).not_modelled;
  gang::Overlay overlay(cluster);
  gang::Scratch scratch;
  gang::RoomOfOthers(overlay, scratch).KeepFrom(pod.priority);
  const constraint::Asks& asks = overlay.AsksOf(shape);
  std::string nowhere;
  if (!verdict.not_modelled.empty()) {
    nowhere = "not modelled";
  } else if (const std::optional<constraint::Blocked> blocked = asks.BlockedByFacts()) {
    nowhere = WordFor(blocked->trouble);
    if (blocked->trouble == model::ClaimTrouble::kVolumeNotModelled) verdict.not_modelled = "fields of volumes";
  }
  for (const json::value& node : ObjectsOf(stored, "nodes")) {
    const std::string name(node.at("metadata").at("name").as_string());
    const model::Row row = cluster.FindNode(name);
    GW_CHECK(row != model::kNone && cluster.present(row));
    verdict.against[name] = nowhere.empty() ? std::string(asks.ObstacleAt(row)) : nowhere;
  }
  verdict.contradiction = Contradiction(cluster, verdict);
  return verdict;
}

}  // namespace gangway::testutil
