// Claims and volumes: a pod of one gang that asks for some, and two nodes in two zones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::testutil {

inline model::ClaimFacts BoundTo(const std::string& name, const std::string& volume) {
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = name;
  claim.phase = model::ClaimPhase::kBound;
  claim.volume = volume;
  return claim;
}
inline model::VolumeFacts Volume(const std::string& name, const std::string& not_modelled = "") {
  model::VolumeFacts volume;
  volume.name = name;
  volume.not_modelled = not_modelled;
  return volume;
}
inline model::VolumeFacts VolumeIn(const std::string& name, const std::string& zone) {
  model::VolumeFacts volume;
  volume.name = name;
  volume.selectors = {{{{"zone", model::Op::kIn, {zone}}}}};
  return volume;
}

struct ClaimTest : ::testing::Test {
  ClaimTest() {
    w.cluster.SetNode(NodeIn("n1", "a"));
    w.cluster.SetNode(NodeIn("n2", "b"));
    w.cluster.SetGang(Gang("g", 1));
    w.cluster.SetPod(PodWith({"default/data"}));
  }
  static model::PodFacts PodWith(std::vector<std::string> claims, int index = 0) {
    model::PodFacts pod = Pod("g", "w", index, Cpu(1000));
    pod.wants.claims = std::move(claims);
    return pod;
  }
  std::string Reason() {
    const model::Decision decision = w.Of("g");
    return decision.reason.has_value() ? model::Render(*decision.reason) : "";
  }
  World w;
};

struct OpenClaimTest : ClaimTest {
  OpenClaimTest() {
    w.cluster.SetStorageClass(Class());
    w.cluster.SetClaim(Open("data"));
  }
  static model::StorageClassFacts Class(bool makes_volumes = false) { return {"disk", true, makes_volumes, {}}; }
  static model::ClaimFacts Open(const std::string& name, std::int64_t bytes = 10) {
    model::ClaimFacts claim;
    claim.ns = "default";
    claim.name = claim.uid = name;
    claim.storage_class = "disk";
    claim.bytes = bytes;
    claim.access_modes = {"ReadWriteOnce"};
    return claim;
  }
  static model::VolumeFacts Free(const std::string& name, const std::string& zone, std::int64_t bytes = 10) {
    model::VolumeFacts volume = VolumeIn(name, zone);
    volume.storage_class = "disk";
    volume.available = true;
    volume.bytes = bytes;
    volume.access_modes = {"ReadOnlyMany", "ReadWriteOnce"};
    return volume;
  }
  std::string PromisedTo(const std::string& pod) {
    const model::Task& task = w.cluster.task(w.cluster.FindTask("default", pod));
    const auto promised = w.cluster.volumes().PromisedTo(w.cluster.shape(task.shape).claims.front());
    return !promised.has_value() ? "nothing"
           : promised->lost      ? "lost"
           : promised->made      ? "made on " + promised->node
                                 : promised->volume;
  }
  void Assume(const std::string& pod, const std::string& node) {
    w.cluster.Assume(w.cluster.FindTask("default", pod), w.cluster.FindNode(node));
  }
};

}  // namespace gangway::testutil
