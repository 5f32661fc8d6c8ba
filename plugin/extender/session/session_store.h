// The sessions that schedulers have open, and the plan of each.
//
// A scheduler has one session at a time and opens the next when it has closed it; but it may end without closing one,
// give up on the opening and open again while we still plan, or be two for a while. So sessions are kept by who has
// opened them, the newest is the one that is asked about, and a session that is open for longer than max_age, or one
// too many, is forgotten. One that arrived torn is open without a plan: no older one answers for it.
//
// Thread-safe. Plans are immutable and shared: who has found one works on without the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "plugin/extender/session/session_plan.h"

namespace gangway::extender {

using SessionId = std::uint64_t;  // 0 is never given out

struct SessionStoreOptions {
  absl::Duration max_age = absl::Minutes(2);                // of a session that is not closed
  std::size_t max_sessions = 4;                             // open ones of one caller; beyond: the oldest is forgotten
  std::size_t max_callers = 32;                             // beyond: the one that opened least lately is forgotten
  std::size_t max_allocated = 200'000;                      // pods of a session that are accounted for; more are not
  std::size_t max_allocated_bytes = std::size_t{32} << 20;  // of their names and their nodes'
  SessionId first = 1;                                      // the number of the first
};

// One session, for those who look from outside.
struct SessionView {
  enum class State : std::uint8_t { kPlanning, kPlanned, kWithoutPlan };
  SessionId id = 0;
  std::string caller;
  State state = State::kPlanning;
  std::string trouble;  // of one without plan
  absl::Time opened;
  std::shared_ptr<const SessionPlan> plan;  // null unless it is planned
  std::size_t allocated = 0;                // pods that the scheduler says it has placed, and not taken back
  std::size_t elsewhere = 0;                // of those the ones on another node than the plan has for them
};

class SessionStore {
 public:
  explicit SessionStore(const SessionStoreOptions& options = {}) : options_(options), next_(options.first) {}
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  // `caller`: whatever tells schedulers apart, such as an address. The session has no plan yet.
  SessionId Open(absl::string_view caller, absl::Time now);
  // False: nobody waits for the plan any more, because the session was closed or forgotten; the caller's next session
  // goes on from it all the same, unless one that was opened later is planned already.
  bool Planned(absl::string_view caller, SessionId id, std::shared_ptr<const SessionPlan> plan);
  // It gets none.
  void WithoutPlan(SessionId id, absl::string_view trouble);
  // Of a caller the one that was opened first; false: it has none open.
  bool CloseOldest(absl::string_view caller, absl::Time now);
  // What was accounted for; nullopt: it is not open.
  std::optional<SessionView> Close(SessionId id, absl::Time now);

  // The plan of the caller's newest session; null: it has none open, or that one has no plan.
  std::shared_ptr<const SessionPlan> Newest(absl::string_view caller, absl::Time now) const;
  std::shared_ptr<const SessionPlan> Find(SessionId id, absl::Time now) const;
  // The caller's newest plan of all, that of a closed session too: what the next one goes on from. Null: there is none.
  std::shared_ptr<const SessionPlan> Last(absl::string_view caller) const;

  // What the scheduler says it does with pods in its newest session: accounts and no more.
  void Allocate(absl::string_view caller, absl::string_view task_uid, absl::string_view node);
  void Deallocate(absl::string_view caller, absl::string_view task_uid);
  void Allocate(SessionId id, absl::string_view task_uid, absl::string_view node);
  void Deallocate(SessionId id, absl::string_view task_uid);

  // By id.
  std::vector<SessionView> Sessions(absl::Time now) const;

 private:
  struct Session {
    SessionView view;
    absl::flat_hash_map<std::string, std::string> node_by_task;  // by UID
    std::size_t bytes = 0;                                       // of these
  };
  struct Caller {
    std::deque<Session> open;  // oldest first
    std::shared_ptr<const SessionPlan> last;
    SessionId last_planned = 0, last_opened = 0;
  };

  bool Expired(const Session& session, absl::Time now) const { return now > session.view.opened + options_.max_age; }
  void ForgetOld(Caller& caller, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Session* FindSession(SessionId id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Session* NewestOf(absl::string_view caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Note(Session* session, absl::string_view task_uid, absl::string_view node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void Forget(Session* session, absl::string_view task_uid);
  static SessionView ViewOf(const Session& session);

  const SessionStoreOptions options_;
  mutable Mutex mu_;
  absl::btree_map<std::string, Caller> callers_ ABSL_GUARDED_BY(mu_);
  SessionId next_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gangway::extender
