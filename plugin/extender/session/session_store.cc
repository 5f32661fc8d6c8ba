#include "plugin/extender/session/session_store.h"

#include <algorithm>
#include <utility>

namespace gangway::extender {

SessionId SessionStore::Open(absl::string_view caller, absl::Time now) {
  const MutexLock lock(mu_);
  Caller& of = callers_[std::string(caller)];
  ForgetOld(of, now);
  Session& session = of.open.emplace_back();
  session.view.id = next_++;
  session.view.caller = std::string(caller);
  session.view.opened = now;
  of.last_opened = session.view.id;
  while (of.open.size() > options_.max_sessions) of.open.pop_front();
  if (callers_.size() > options_.max_callers) {
    callers_.erase(std::min_element(callers_.begin(), callers_.end(), [](const auto& a, const auto& b) {
      return a.second.last_opened < b.second.last_opened;
    }));
  }
  return next_ - 1;
}

void SessionStore::ForgetOld(Caller& caller, absl::Time now) {
  while (!caller.open.empty() && Expired(caller.open.front(), now)) caller.open.pop_front();
}

SessionStore::Session* SessionStore::FindSession(SessionId id) {
  for (auto& [name, caller] : callers_) {
    for (Session& session : caller.open) {
      if (session.view.id == id) return &session;
    }
  }
  return nullptr;
}

SessionStore::Session* SessionStore::NewestOf(absl::string_view caller) {
  const auto at = callers_.find(caller);
  return at == callers_.end() || at->second.open.empty() ? nullptr : &at->second.open.back();
}

bool SessionStore::Planned(absl::string_view caller, SessionId id, std::shared_ptr<const SessionPlan> plan) {
  const MutexLock lock(mu_);
  if (const auto of = callers_.find(caller); of != callers_.end() && of->second.last_planned < id) {
    of->second.last = plan;
    of->second.last_planned = id;
  }
  Session* const session = FindSession(id);
  if (session == nullptr) return false;
  session->view.state = SessionView::State::kPlanned;
  session->view.plan = std::move(plan);
  return true;
}

void SessionStore::WithoutPlan(SessionId id, absl::string_view trouble) {
  const MutexLock lock(mu_);
  Session* const session = FindSession(id);
  if (session == nullptr) return;
  session->view.state = SessionView::State::kWithoutPlan;
  session->view.trouble = std::string(trouble);
}

bool SessionStore::CloseOldest(absl::string_view caller, absl::Time now) {
  const MutexLock lock(mu_);
  const auto at = callers_.find(caller);
  if (at == callers_.end()) return false;
  ForgetOld(at->second, now);
  if (at->second.open.empty()) return false;
  at->second.open.pop_front();
  return true;
}

std::optional<SessionView> SessionStore::Close(SessionId id, absl::Time now) {
  const MutexLock lock(mu_);
  for (auto& [name, caller] : callers_) {
    const auto at = std::find_if(caller.open.begin(), caller.open.end(),
                                 [&](const Session& session) { return session.view.id == id; });
    if (at == caller.open.end()) continue;
    std::optional<SessionView> view;
    if (!Expired(*at, now)) view = ViewOf(*at);
    caller.open.erase(at);
    return view;
  }
  return std::nullopt;
}

SessionView SessionStore::ViewOf(const Session& session) {
  SessionView view = session.view;
  view.allocated = session.node_by_task.size();
  if (view.plan == nullptr) return view;
  for (const auto& [uid, node] : session.node_by_task) {
    const absl::string_view planned = view.plan->NodeOf(uid);
    view.elsewhere += !planned.empty() && planned != node ? 1 : 0;
  }
  return view;
}

std::shared_ptr<const SessionPlan> SessionStore::Newest(absl::string_view caller, absl::Time now) const {
  const MutexLock lock(mu_);
  const auto at = callers_.find(caller);
  if (at == callers_.end() || at->second.open.empty() || Expired(at->second.open.back(), now)) return nullptr;
  return at->second.open.back().view.plan;
}

std::shared_ptr<const SessionPlan> SessionStore::Find(SessionId id, absl::Time now) const {
  const MutexLock lock(mu_);
  for (const auto& [name, caller] : callers_) {
    for (const Session& session : caller.open) {
      if (session.view.id == id) return Expired(session, now) ? nullptr : session.view.plan;
    }
  }
  return nullptr;
}

std::shared_ptr<const SessionPlan> SessionStore::Last(absl::string_view caller) const {
  const MutexLock lock(mu_);
  const auto at = callers_.find(caller);
  return at == callers_.end() ? nullptr : at->second.last;
}

void SessionStore::Note(Session* session, absl::string_view task_uid, absl::string_view node) {
  if (session == nullptr) return;
  Forget(session, task_uid);
  const std::size_t bytes = task_uid.size() + node.size();
  if (session->node_by_task.size() >= options_.max_allocated || session->bytes + bytes > options_.max_allocated_bytes)
    return;
  session->node_by_task.emplace(task_uid, node);
  session->bytes += bytes;
}

void SessionStore::Forget(Session* session, absl::string_view task_uid) {
  if (session == nullptr) return;
  const auto at = session->node_by_task.find(task_uid);
  if (at == session->node_by_task.end()) return;
  session->bytes -= at->first.size() + at->second.size();
  session->node_by_task.erase(at);
}

void SessionStore::Allocate(absl::string_view caller, absl::string_view task_uid, absl::string_view node) {
  const MutexLock lock(mu_);
  Note(NewestOf(caller), task_uid, node);
}

void SessionStore::Deallocate(absl::string_view caller, absl::string_view task_uid) {
  const MutexLock lock(mu_);
  Forget(NewestOf(caller), task_uid);
}

void SessionStore::Allocate(SessionId id, absl::string_view task_uid, absl::string_view node) {
  const MutexLock lock(mu_);
  Note(FindSession(id), task_uid, node);
}

void SessionStore::Deallocate(SessionId id, absl::string_view task_uid) {
  const MutexLock lock(mu_);
  Forget(FindSession(id), task_uid);
}

std::vector<SessionView> SessionStore::Sessions(absl::Time now) const {
  std::vector<SessionView> views;
  {
    const MutexLock lock(mu_);
    for (const auto& [name, caller] : callers_) {
      for (const Session& session : caller.open) {
        if (!Expired(session, now)) views.push_back(ViewOf(session));
      }
    }
  }
  std::sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return views;
}

}  // namespace gangway::extender
