// HyperNodes by our own watch of an API server: a session of Volcano's scheduler tells its nodes and not how they lie
// in the network.
//
// Nothing is written. Used on its loop.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/runtime/component.h"
#include "plugin/model/facts.h"

namespace gangway::extender {

class HyperNodeWatch final : public kube::Component {
 public:
  explicit HyperNodeWatch(kube::Informers& informers);

  // What has been seen so far, by name; none where the type is not served or may not be read.
  std::vector<model::HyperNodeFacts> HyperNodes() const;

 private:
  void Wake() override {}

  std::map<std::string, model::HyperNodeFacts> by_name_;
};

}  // namespace gangway::extender
