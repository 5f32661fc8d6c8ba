// Makes the HyperNodes that labels of nodes ask for, keeps them so, and removes those that nothing asks for any more
// (plugin/lifecycle/hyper_nodes). Nodes that change together are looked at together. One key is one HyperNode. Used on
// its loop.
#pragma once

#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "api/core/objects.h"
#include "api/volcano/hyper_node.h"
#include "kube/runtime/component.h"
#include "plugin/controller/live_label_source.h"
#include "plugin/lifecycle/hyper_nodes/hyper_nodes.h"

namespace gangway::controller {

class HyperNodeController final : public kube::Component {
 public:
  HyperNodeController(kube::Informers& informers, kube::ComponentOptions options,
                      std::shared_ptr<LiveLabelSource> source);

 private:
  // Null is absent.
  void OnNode(const std::string& name, const api::core::PartialObject* node);
  void OnHyperNode(const std::string& name, const api::volcano::HyperNode* hyper_node);
  void OnSource();

  void Wake() override;
  void LookSoon();
  void Look();
  kube::Plan Decide(const std::string& name, absl::Time now) const;
  void Explain(const std::string& name, const absl::Status& status);

  const std::shared_ptr<LiveLabelSource> source_;
  kube::Informer<api::core::PartialObject>& nodes_;
  kube::Informer<api::volcano::HyperNode>& hyper_nodes_;
  lifecycle::NodesByName labelled_, made_;  // nodes with the labels that count; HyperNodes that labels made
  absl::btree_map<std::string, lifecycle::WantedHyperNode> wanted_;
  Loop::TimerId timer_ = 0;
  kube::Driver& driver_;
};

}  // namespace gangway::controller
