#include "sandbox/apiserver/event_expiry.h"

#include <utility>

namespace gangway::sandbox {

EventExpiry::EventExpiry(Loop& loop, const Store& store, absl::Duration ttl, std::size_t max_events,
                         absl::AnyInvocable<void(const Record&)> remove)
    : loop_(loop), store_(store), ttl_(ttl), max_events_(max_events), remove_(std::move(remove)) {}

void EventExpiry::OnCommit(const Change& change) {
  if (change.after->resource != &api::kEvents || change.deleted) return;
  written_.push_back({loop_.Now(), change.after->key, change.revision});
  if (written_.size() > 4 * max_events_) ForgetStale();  // events that are written again and again
  if (store_.Count(api::kEvents) > max_events_ && !crowded_) {
    crowded_ = true;
    loop_.Post(owner_.token(), [this] { Expire(); });
  }
  Arm();
}

bool EventExpiry::Stale(const Written& written) const {
  const RecordPtr record = store_.Find(api::kEvents, written.key);
  return record == nullptr || record->revision != written.revision;  // gone, or written again since
}

void EventExpiry::ForgetStale() {
  std::deque<Written> kept;
  for (Written& written : written_) {
    if (!Stale(written)) kept.push_back(std::move(written));
  }
  written_ = std::move(kept);
}

void EventExpiry::Arm() {
  if (armed_ || written_.empty()) return;
  armed_ = true;
  loop_.PostAt(written_.front().at + ttl_, owner_.token(), [this] {
    armed_ = false;
    Expire();
  });
}

void EventExpiry::Expire() {
  crowded_ = false;
  while (!written_.empty()) {
    const Written& oldest = written_.front();
    if (!Stale(oldest)) {
      if (oldest.at + ttl_ > loop_.Now() && store_.Count(api::kEvents) <= max_events_) break;
      remove_(*store_.Find(api::kEvents, oldest.key));
    }
    written_.pop_front();
  }
  Arm();
}

}  // namespace gangway::sandbox
