// Tells a webhook when jobs complete, fail, are stopped, restart, or wait for long. Writes nothing to the API server.
// Of what came to pass while nobody led it tells what is younger than `catch_up`; whoever hears something twice knows
// by its id. Used on its loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/component.h"
#include "plugin/controller/stored_job.h"
#include "plugin/notify/notice.h"

namespace gangway::notify {

struct NotifierOptions {
  std::set<Event> events;        // which are told
  std::set<std::string> queues;  // of which queues; empty: of all
  absl::Duration waiting = absl::Minutes(30);
  absl::Duration catch_up = absl::Minutes(1);
  std::string cluster;  // its name, in each notice
};

class Notifier final : public kube::Component {
 public:
  // Takes a notice's JSON; must not block.
  using Deliver = std::function<void(std::string json)>;
  Notifier(kube::Informers& informers, kube::ComponentOptions options, NotifierOptions about, Deliver deliver);

 private:
  using JobPtr = std::shared_ptr<const controller::StoredJob>;
  void Wake() override;
  void OnJob(const api::NamespacedName& key, const JobPtr& before, const JobPtr& after);
  void LookAtWait(const api::NamespacedName& key, const api::volcano::Job* job);
  void OnWaited(const api::NamespacedName& key, const std::string& uid, absl::Time since);
  std::string ReasonOf(const api::volcano::Job& job) const;
  void Tell(const Notice& notice);

  const NotifierOptions about_;
  const Deliver deliver_;
  struct Waiting {
    absl::Time since;
    std::optional<Loop::TimerId> timer;  // absent: it was told
  };
  absl::flat_hash_map<api::NamespacedName, Waiting> waits_;
  kube::Informer<controller::StoredJob>& jobs_;
  kube::Informer<api::volcano::PodGroup>& groups_;
};

}  // namespace gangway::notify
