// What is worth telling the people of a job, as a webhook gets it (docs/operations.md, "Notifications"). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"

namespace gangway::notify {

enum class Event { kCompleted, kFailed, kAborted, kRestarted, kWaiting };
absl::string_view NameOf(Event event);  // "completed"
std::optional<Event> ParseEvent(absl::string_view name);
std::vector<std::string> EventNames();

struct Notice {
  Event event = Event::kCompleted;
  std::string id;                           // the same when the same is told again, by another replica perhaps
  absl::Time at;                            // when it came to pass
  std::string kind = "Job", ns, name, uid;  // PaddleJob where one made the Job; then its name and UID
  std::string queue, phase, reason;
  int restarts = 0;
  friend bool operator==(const Notice&, const Notice&) = default;
};

// Of the step from one state to the next; null is absent. Of a job that is seen for the first time: what it has come
// to.
std::vector<Notice> NoticesOf(const api::volcano::Job* before, const api::volcano::Job* after);

// Since when it has waited for its pods to run; absent when it does not.
std::optional<absl::Time> WaitsSince(const api::volcano::Job& job);
// `reason`: what its PodGroup says, or "".
Notice WaitingNotice(const api::volcano::Job& job, absl::Time since, absl::string_view reason);

// `cluster` "": not said.
std::string NoticeJson(const Notice& notice, absl::string_view cluster);

}  // namespace gangway::notify
