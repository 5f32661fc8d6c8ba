// Leader election on a coordination.k8s.io Lease, as client-go does it, so that either kind of program can contend for
// the same one.
//
//  * Whoever finds the Lease missing, released, or unchanged for its leaseDurationSeconds takes it. "Unchanged" is
//  measured with our
//    own clock from the moment we saw the record change; no clock is compared with another machine's.
//  * The holder renews it every `retry_period`. Without a successful renewal for `renew_deadline` it writes nothing any
//  more, and tries on:
//    with the first renewal that succeeds it goes on, since nobody else has held the lease meanwhile (an API server
//    that was away costs no restart, and nobody waits for an expiry). As soon as it sees that somebody else has taken
//    it, it is lost.
//  * Changes are PUT with the resourceVersion they were decided on, so of two that take it one is refused.
//  * Release writes an empty holder with a duration of one second; whoever asks next has it.
//  * Who cannot work does not hold it: a lease that is renewed over one connection while the work hangs on another
//  would keep everybody
//    from working. So the client that works must have been answered within `renew_deadline` (`answered_at`): before
//    that the lease is not contended for, and without that it is given back, which is a loss like any other.
//
// The fence is opened until `lease_duration` after the last renewal that succeeded was sent: nobody else can think the
// lease expired before. A lease once lost is not taken again by this object: what was decided under it may still be on
// its way inside the process, so the process is expected to end and a fresh one to contend. Used on its loop.
//
// The client given must not be behind the fence itself, and should be one of its own: renewals then wait behind
// nobody's writes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/client/write_fence.h"

namespace gangway::kube {

struct LeaseOptions {
  std::string ns, name;
  std::string identity;  // unique among those who contend: "<host>_<something random>"
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  // When the client that works was last answered, by the loop's clock (Pulse, pulse.h). Null: it is taken to work.
  std::function<absl::Time()> answered_at = nullptr;
  Metrics* metrics = nullptr;  // may be null; must outlive the lease
};

// client-go's rules: lease_duration (whole seconds, as the API has it) > renew_deadline > 1.2 * retry_period > 0. The
// message names the field as "leaseDuration", "renewDeadline" or "retryPeriod".
absl::Status CheckLeaseOptions(const LeaseOptions& options);

class Lease {
 public:
  // None is called from within a call of ours.
  struct Callbacks {
    absl::AnyInvocable<void()> on_acquired;                             // once
    absl::AnyInvocable<void(const std::string& why)> on_lost;           // once, after on_acquired
    absl::AnyInvocable<void(const std::string& holder)> on_new_holder;  // whoever it is, we included; "" for nobody
  };

  Lease(Loop& loop, Client& client, WriteFence& fence, LeaseOptions options, Callbacks callbacks);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  void Start();
  // Gives it up, when we hold it, and contends no more. The fence is closed from here on. `done` is called when the API
  // server has answered, or has not within `patience`.
  void Release(absl::Duration patience, absl::AnyInvocable<void()> done);

  bool held() const;  // and renewed in time
  // As last seen.
  const std::string& holder() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::kube
