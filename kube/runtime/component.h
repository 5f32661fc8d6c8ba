// What every component of ours has in common: informers it listens to, drivers that carry out what it decides, a time
// as standby, a time in which it leads, and an end.
//
//   class QueueController final : public kube::Component {
//    public:
//     QueueController(kube::Informers& informers, kube::ComponentOptions options) : Component(informers,
//     std::move(options)),
//         queues_(Watch<Queue>(api::kQueues, {}, [this](const auto& key, const auto& before, const auto& after) { ...
//         })), driver_(Drive("queue", [this](const auto& key, absl::Time now) { return Decide(key, now); })) {}
//    private:
//     void Wake() override { queues_.ForEach(...driver_.Enqueue...); }
//
// It decides from when all that it watches is listed, and it leads, until it is stopped. Destroyed = crashed: what was
// under way is found again by the next one. Used on its loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/runtime/driver.h"
#include "kube/runtime/informers.h"
#include "kube/runtime/recorder.h"
#include "kube/runtime/unreadable.h"

namespace gangway::kube {

struct ComponentOptions {
  std::string event_source = {};  // source.component of its events
  bool standby = false;           // nothing is decided until Lead()
  double qps = 0;                 // writes a second, for each of its drivers; 0: no limit
  int burst = 100;
  int max_in_flight = 64;
  double events_qps = RecorderOptions().qps;  // 0: no limit
  bool events_yield = false;                  // they wait until the plans under way are carried out
};

// Who tells the user of an object that it cannot be read.
enum class Undecodable {
  kTold,     // this component, by an event
  kIgnored,  // others, who keep such objects
};

class Component {
 public:
  virtual ~Component();
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;

  // Ends the standby.
  void Lead();
  // Decides nothing more; what was decided is still carried out. For good.
  void Stop();
  // After Stop(): whether everything that was decided is written, or refused.
  bool stopped() const;

  // Whether everything it watches is listed; nothing is decided before.
  bool synced() const;
  // What keeps it from being up to date, in one line for a user; "" when nothing does.
  std::string problem() const;
  // Events not written yet.
  std::size_t events_waiting() const { return recorder_.waiting(); }
  // Members of a JSON object: a driver each, with what is queued and under way.
  void DumpDrivers(api::JsonWriter& json) const;
  // Members of a JSON object: what else there is to say.
  virtual void DumpMore(api::JsonWriter&) const {}
  // What it watches, in the order it asked for them.
  const std::vector<AnyInformer*>& watched() const { return watched_; }

 protected:
  Component(Informers& informers, ComponentOptions options);

  // In the constructor. `on_change` may be null: the objects are only looked up.
  template <class T>
  Informer<T>& Watch(const api::Resource& resource, const Selection& selection,
                     typename Informer<T>::OnChange on_change, Undecodable unread = Undecodable::kTold) {
    Informer<T>& informer = informers_.Of<T>(resource, selection);
    informer.Listen(owner_.token(), std::move(on_change), [this] { Begin(); }, OnUnreadable(unread));
    watched_.push_back(&informer);
    return informer;
  }
  // In the constructor: another's informers, without which it cannot decide.
  void WaitFor(AnyInformer& informer);
  // In the constructor.
  Driver& Drive(std::string name, Driver::Decide decide);

  // Everything is known and may be decided on: look at all there is. The drivers are awake.
  virtual void Wake() = 0;
  // Every HTTP answer to a write of its drivers. The informers of the process take it; who overrides this calls it
  // before all else.
  virtual void OnReply(const Write& write, const Response& response) { informers_.ObserveReply(write, response); }

  bool deciding() const { return deciding_; }
  std::size_t under_way() const;
  Loop& loop() const { return informers_.loop(); }
  Client& client() const { return informers_.client(); }
  Informers& informers() const { return informers_; }
  Recorder& recorder() { return recorder_; }
  Token token() const { return owner_.token(); }

 private:
  struct Driven {
    std::string name;
    std::unique_ptr<Driver> driver;
  };

  AnyInformer::OnDecodeError OnUnreadable(Undecodable unread);
  RecorderOptions RecorderFor();
  void Begin();

  Informers& informers_;
  const ComponentOptions options_;
  bool leads_, deciding_ = false, stopped_ = false;
  std::vector<AnyInformer*> watched_;
  Recorder recorder_;
  Unreadable unreadable_{recorder_};
  std::vector<Driven> drivers_;
  Owner owner_;
};

}  // namespace gangway::kube
