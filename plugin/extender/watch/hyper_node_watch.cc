#include "plugin/extender/watch/hyper_node_watch.h"

#include "api/volcano/hyper_node.h"
#include "plugin/ingest/ingest.h"

namespace gangway::extender {

HyperNodeWatch::HyperNodeWatch(kube::Informers& informers)
    : Component(informers, {.event_source = "gangway-extender"}) {
  Watch<api::volcano::HyperNode>(
      api::volcano::kHyperNodes, {.keep = false, .optional = true, .unless_forbidden = true},
      [this](const auto& key, const auto&, const auto& after) {
        if (after == nullptr) {
          by_name_.erase(key.name);
        } else {
          by_name_[key.name] = ingest::HyperNodeFactsOf(*after);
        }
      },
      kube::Undecodable::kIgnored);
}

std::vector<model::HyperNodeFacts> HyperNodeWatch::HyperNodes() const {
  std::vector<model::HyperNodeFacts> out;
  for (const auto& [name, facts] : by_name_) out.push_back(facts);
  return out;
}

}  // namespace gangway::extender
