// Our own answer: objects as an API server shows them, as facts, in the table, and what the constraints say of each
// node for the pod, a gang of one.
#pragma once

#include <cstdint>
#include <functional>

#include <boost/json.hpp>

#include "plugin/model/facts.h"
#include "tests/judge/verdict.h"

namespace gangway::testutil {

// What a test changes of the facts before the table gets them, to be wrong on purpose.
struct Falsify {
  std::function<void(model::PodFacts&)> pod = nullptr;
  std::function<void(model::NodeFacts&)> node = nullptr;
  std::function<void(model::VolumeFacts&)> volume = nullptr;
  std::function<void(model::CsiNodeFacts&)> csi_node = nullptr;
  std::function<void(model::StorageCapacityFacts&)> capacity = nullptr;
  std::function<void(model::VolumeAttachmentFacts&)> attachment = nullptr;
};

// Events come in an order drawn from `seed`. Ends the program when an object does not decode.
Verdict AskProduction(const boost::json::object& stored, std::uint64_t seed, const Falsify& falsify = {});

}  // namespace gangway::testutil
