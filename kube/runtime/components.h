// The components of one process, and the informers they share. Used on its loop.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/runtime/component.h"
#include "kube/runtime/informers.h"

namespace gangway::kube {

class Components {
 public:
  // As of Informers.
  Components(Loop& loop, Client& client, Metrics* metrics = nullptr, std::vector<std::string> namespaces = {})
      : informers_(loop, client, metrics, std::move(namespaces)) {}

  Informers& informers() { return informers_; }
  // Before Start(). On the informers of this.
  void Add(std::unique_ptr<Component> component) { components_.push_back(std::move(component)); }

  void Start() { informers_.Start(); }
  // Of each of them: component.h.
  void Lead();
  void Stop();
  bool stopped() const;
  bool synced() const;
  std::string problem() const;
  std::size_t events_waiting() const;
  // JSON: sizes of the caches, what is queued and under way, and what each adds.
  std::string Dump() const;

 private:
  Informers informers_;
  std::vector<std::unique_ptr<Component>> components_;
};

}  // namespace gangway::kube
