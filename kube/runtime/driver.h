// Runs a reconciler: a queue of keys, a pure decision per key, and the writes it wants.
//
//   Driver driver(loop, client, recorder, {.name = "job"}, [&](const auto& key, absl::Time now) { return
//   ReconcileJob(...); }); driver.SetOnReply([&](const Write& w, const Response& r) { pods.ObserveReply(w, r); });
//
// One plan per key is under way at a time; a key enqueued meanwhile is decided again when it is done. What a plan began
// is never remembered: after any failure the key is decided anew from what is.
//
// clang-format off
//   reply                       what follows
//   2xx, 404 on a delete        the write is done
//   409 AlreadyExists, create   done when the existing object has the same controller owner (it is ours: the reply was
//                               lost); decided again when it is being deleted; else permanent
//   409, 404, 412               the view was stale: decided again after a back-off, or when a cache change enqueues the key
//   429                         decided again when Retry-After is over, not earlier
//   5xx, 408, transport error   it may have been carried out: decided again after a back-off, not earlier; when nobody
//                               answered the back-off stays short
//   any other                   refused for good: told to the hook; decided again when enqueued, though not within a
//                               pause that grows to `refused_pause`, and by itself after a back-off that grows to
//                               minutes: what refuses (a quota, a namespace that ends, somebody else's object) may go
//                               without our being told
// clang-format on
//
// Of writes that wait the urgent ones go first, then those of plans that were begun, so that what was begun is ended,
// then the others, each in the order in which they came.
//
// Writes that yield (kube/plan/plan.h) go when no others wait or are under way, or when they have waited for
// `yield_patience`: then one of them after seven others. They are an eighth of what may be in flight at once, so that
// others find room when they come. Until they are sent a change of their key takes them back: it is decided anew, and
// says all in one write. Those before another stage, or beside writes that do not yield, would hold these up, and yield
// to nobody. They can also be held for what others are about to do (HoldYielding).
//
// The writes of a stage go out together and all their replies are awaited; the next stage starts when all are done.
// When many of a stage were refused for good, those not yet sent are left out: a gang of a thousand pods that a quota
// stops costs tens of requests a try. The hook is told the first few of a stage. The events of a plan are recorded when
// all its writes are done. Destroying the Driver drops everything, as a crash does. Used on its loop.
#pragma once

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "base/backoff.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"
#include "kube/runtime/recorder.h"

namespace gangway::kube {

struct DriverOptions {
  std::string name = {};  // in metrics and logs: "job", "podgroup"
  double qps = 50;        // writes; zero: no limit
  int burst = 100;
  int max_in_flight = 64;                                        // writes
  Backoff backoff = {absl::Milliseconds(50), absl::Minutes(1)};  // of one key
  Backoff refused = {absl::Seconds(1), absl::Minutes(5)};        // of one key whose writes are refused for good
  absl::Duration refused_pause = absl::Seconds(5);               // the most that a change waits for it
  absl::Duration yield_patience = absl::Seconds(2);              // the most that a write yields
  absl::Duration longest_hold = absl::Seconds(30);               // and that it is held; then it is not for a second
  Metrics* metrics = nullptr;                                    // may be null; must outlive the driver
};

class Driver {
 public:
  // Pure apart from reading the owner's caches. `now` is the loop's.
  using Decide = absl::AnyInvocable<Plan(const api::NamespacedName& key, absl::Time now)>;
  // Called with every HTTP answer to a write, before the key is decided again and before the next stage; so that the
  // owner can show it to its caches. For a create that found its object there already, it is the answer to a GET of
  // that object.
  using OnReply = absl::AnyInvocable<void(const Write&, const Response&)>;
  // A write that will not succeed as long as things are as they are; `uid` is the plan's.
  using OnPermanentError = absl::AnyInvocable<void(const api::NamespacedName& key, const std::string& uid, const Write&,
                                                   const absl::Status&)>;

  Driver(Loop& loop, Client& client, Recorder& recorder, DriverOptions options, Decide decide);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void SetOnReply(OnReply on_reply);
  void SetOnPermanentError(OnPermanentError on_error);

  // The key is decided soon, in a task of its own. Cheap when it waits already.
  void Enqueue(const api::NamespacedName& key);

  // Between Sleep() and Wake() keys are not even remembered, and nothing new is decided; plans under way go on. It
  // sleeps until its owner's caches are synced, and a standby's until that leads; the owner enqueues all there is after
  // Wake().
  void Sleep();
  void Wake();

  // None of the writes that yield is sent before then, so that the API server has its time for what is more urgent.
  // What was said last holds; a time that has passed ends it.
  void HoldYielding(absl::Time until);

  // Keys waiting to be decided (timers not counted), and plans being carried out.
  std::size_t queued() const;
  std::size_t under_way() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::kube
