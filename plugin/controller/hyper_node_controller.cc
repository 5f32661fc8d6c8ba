#include "plugin/controller/hyper_node_controller.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::controller {
namespace {

// Nodes come and go by dozens; each look goes over all of them.
constexpr absl::Duration kLookDelay = absl::Milliseconds(200);

}  // namespace

HyperNodeController::HyperNodeController(kube::Informers& informers, kube::ComponentOptions options,
                                         std::shared_ptr<LiveLabelSource> source)
    : Component(informers, std::move(options)),
      source_(std::move(source)),
      nodes_(Watch<api::core::PartialObject>(
          api::kNodes, {}, [this](const auto& key, const auto&, const auto& after) { OnNode(key.name, after.get()); })),
      hyper_nodes_(Watch<api::volcano::HyperNode>(
          api::volcano::kHyperNodes, {},
          [this](const auto& key, const auto&, const auto& after) { OnHyperNode(key.name, after.get()); })),
      driver_(Drive("hypernode",
                    [this](const api::NamespacedName& key, absl::Time now) { return Decide(key.name, now); })) {
  driver_.SetOnPermanentError(
      [this](const auto& key, const auto&, const auto&, const auto& status) { Explain(key.name, status); });
  source_->OnChange(token(), [this] { OnSource(); });
}

void HyperNodeController::OnNode(const std::string& name, const api::core::PartialObject* node) {
  lifecycle::Labels labels;
  if (node != nullptr) labels = lifecycle::TopologyLabels(source_->value().types, node->metadata.labels);
  const auto at = labelled_.find(name);
  if (labels.empty() && at == labelled_.end()) return;
  if (labels.empty()) {
    labelled_.erase(at);
  } else if (at == labelled_.end() || at->second != labels) {
    labelled_[name] = std::move(labels);
  } else {
    return;
  }
  LookSoon();
}

void HyperNodeController::OnHyperNode(const std::string& name, const api::volcano::HyperNode* hyper_node) {
  const bool ours = hyper_node != nullptr && lifecycle::IsFromLabels(hyper_node->metadata.labels);
  const auto at = made_.find(name);
  const bool same = ours ? at != made_.end() && at->second == hyper_node->metadata.labels : at == made_.end();
  if (ours) {
    made_[name] = hyper_node->metadata.labels;
  } else if (at != made_.end()) {
    made_.erase(at);
  }
  if (!same && !wanted_.contains(name)) LookSoon();  // its name may be the one that is kept
  if (wanted_.contains(name)) driver_.Enqueue({"", name});
}

void HyperNodeController::OnSource() {
  labelled_.clear();
  nodes_.ForEach([this](const api::NamespacedName& key, const auto& node) { OnNode(key.name, node.get()); });
  LookSoon();
}

void HyperNodeController::Wake() { Look(); }

void HyperNodeController::LookSoon() {
  if (timer_ != 0 || !deciding()) return;
  timer_ = loop().PostAt(loop().Now() + kLookDelay, token(), [this] {
    timer_ = 0;
    Look();
  });
}

void HyperNodeController::Look() {
  if (!source_->value().enabled) return wanted_.clear();
  auto wanted = lifecycle::WantedHyperNodes(source_->value().types, labelled_, made_);
  for (const auto& [name, one] : wanted) {
    const auto before = wanted_.find(name);
    if (before == wanted_.end() || !(before->second == one)) driver_.Enqueue({"", name});
  }
  wanted_ = std::move(wanted);
  for (const auto& [name, labels] : made_) {
    if (!wanted_.contains(name)) driver_.Enqueue({"", name});
  }
}

kube::Plan HyperNodeController::Decide(const std::string& name, absl::Time now) const {
  kube::Plan plan;
  if (!source_->value().enabled) return plan;
  if (timer_ != 0) {  // what is wanted is about to be looked at
    plan.look_again = now + kLookDelay;
    return plan;
  }
  const auto is = hyper_nodes_.Get({"", name});
  const auto wanted = wanted_.find(name);
  return lifecycle::ReconcileHyperNode(name, is.get(), wanted == wanted_.end() ? nullptr : &wanted->second);
}

// On the HyperNode, which need not be there.
void HyperNodeController::Explain(const std::string& name, const absl::Status& status) {
  const auto is = hyper_nodes_.Get({"", name});
  api::ObjectReference regarding{api::volcano::kHyperNodes.ApiVersion(),
                                 std::string(api::volcano::kHyperNodes.kind),
                                 "",
                                 name,
                                 is == nullptr ? "" : is->metadata.uid,
                                 {},
                                 {}};
  recorder().Record({kube::EventNote::Type::kWarning, "HyperNodeError",
                     absl::StrCat("the HyperNode that labels of nodes ask for is refused: ", status.message()),
                     std::move(regarding)});
}

}  // namespace gangway::controller
