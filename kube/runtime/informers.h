// The informers of one process: components ask for theirs, and those that ask for the same share it, so that nothing is
// watched or decoded twice.
//
//   Informers informers(loop, client, metrics, namespaces);
//   JobController jobs(informers, ...);   // informers.Of<StoredJob>(api::kJobs).Listen(...)
//   CronJobController cron(informers, ...);
//   informers.Start();
//
// Used on its loop. Components are destroyed before it.
#pragma once

#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "api/json.h"
#include "api/resource.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"
#include "kube/runtime/informer.h"

namespace gangway::kube {

// Which objects of a resource, and what is to be kept of them.
struct Selection {
  std::string labels = {};  // as kubectl -l takes it
  std::string fields = {};
  bool keep = true;  // false: the objects themselves may be let go once they are told; one who keeps them is enough
  bool optional = false;          // InformerOptions::optional
  bool unless_forbidden = false;  // InformerOptions::unless_forbidden
  bool everywhere = false;        // also outside of the namespaces that the process is for
};

class Informers {
 public:
  // `namespaces`: only these; empty: all. Of the kind Namespace itself only these are read, each by its name, for which
  // rights on these names are enough.
  Informers(Loop& loop, Client& client, Metrics* metrics = nullptr, std::vector<std::string> namespaces = {});
  ~Informers();
  Informers(const Informers&) = delete;
  Informers& operator=(const Informers&) = delete;

  // Before Start().
  template <class T>
  Informer<T>& Of(const api::Resource& resource, const Selection& selection = {}) {
    AnyInformer* found = Find(resource, &Informer<T>::Decode, selection);
    if (found == nullptr)
      found = &Add(std::make_unique<Informer<T>>(loop_, client_, resource, OptionsOf(resource, selection)),
                   &Informer<T>::Decode, selection);
    if (selection.keep) found->Keep();
    return static_cast<Informer<T>&>(*found);
  }
  // Whether somebody has asked for it already.
  template <class T>
  bool Has(const api::Resource& resource, const Selection& selection = {}) const {
    return Find(resource, &Informer<T>::Decode, selection) != nullptr;
  }
  // What is made of informers for more than one component: I is made with the informers when it is first asked for, and
  // lives as long as somebody holds it.
  template <class I>
  std::shared_ptr<I> Shared() {
    std::weak_ptr<void>& known = shared_[typeid(I)];
    if (auto there = known.lock(); there != nullptr) return std::static_pointer_cast<I>(there);
    auto made = std::make_shared<I>(*this);
    known = made;
    return made;
  }

  void Start();

  // The reply to a write of any component: whoever it concerns takes it, once.
  void ObserveReply(const Write& write, const Response& response);
  // A member of a JSON object for each: "pods":12
  void DumpSizes(api::JsonWriter& json) const;

  Loop& loop() const { return loop_; }
  Client& client() const { return client_; }
  Metrics* metrics() const { return metrics_; }
  const std::vector<std::string>& namespaces() const { return namespaces_; }

 private:
  struct Entry {
    std::unique_ptr<AnyInformer> informer;
    Reflector::Decode decode = nullptr;  // says which type it is
    Selection selection;
    std::string name;  // in dumps
  };

  AnyInformer* Find(const api::Resource& resource, Reflector::Decode decode, const Selection& selection) const;
  AnyInformer& Add(std::unique_ptr<AnyInformer> informer, Reflector::Decode decode, const Selection& selection);
  InformerOptions OptionsOf(const api::Resource& resource, const Selection& selection) const;
  std::string NameFor(const api::Resource& resource, const Selection& selection) const;

  Loop& loop_;
  Client& client_;
  Metrics* const metrics_;
  const std::vector<std::string> namespaces_;
  std::vector<Entry> entries_;  // in the order they were asked for
  absl::btree_map<std::type_index, std::weak_ptr<void>> shared_;
  bool started_ = false;
};

}  // namespace gangway::kube
