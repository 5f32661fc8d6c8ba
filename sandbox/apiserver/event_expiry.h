// Events do not stay: each goes some time after it was last written, and the oldest when there are too many.
#pragma once

#include <cstddef>
#include <deque>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "base/loop.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

class EventExpiry {
 public:
  // `remove` deletes an event; called from tasks of the loop.
  EventExpiry(Loop& loop, const Store& store, absl::Duration ttl, std::size_t max_events,
              absl::AnyInvocable<void(const Record&)> remove);

  // Within each commit.
  void OnCommit(const Change& change);

 private:
  struct Written {
    absl::Time at;
    api::NamespacedName key;
    Revision revision;
  };
  bool Stale(const Written& written) const;
  void ForgetStale();
  void Arm();
  void Expire();

  Loop& loop_;
  const Store& store_;
  const absl::Duration ttl_;
  const std::size_t max_events_;
  absl::AnyInvocable<void(const Record&)> remove_;
  std::deque<Written> written_;  // oldest first
  bool armed_ = false, crowded_ = false;
  Owner owner_;
};

}  // namespace gangway::sandbox
