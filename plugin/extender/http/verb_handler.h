// Volcano's extender plugin asks here: every verb over HTTP/1.1, as its client sends it. volcano: plugins/extender
//
//   POST <any prefix>/<verb>   200 and the verb's JSON; 400 with the path of what is wrong in the body; 404 no such
//   verb;
//                              405 another method. The front says 413, 408 and 431.
//
// A session is planned once, when it is opened, on a thread of its own; all other verbs are look-ups in its plan, and
// small ones are answered where they were read. A
// verb that the mode does not serve, and one for which there is no plan, is answered so that Volcano does what it would
// do without us (answer.h). When planning takes longer than the budget, the opening is answered before: until the plan
// is there, the session's verbs are answered as without one. In mode light no session is sent: a verb waits for the
// plan of our own watch, and no longer than the budget.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/serve/http_front.h"
#include "plugin/extender/session/decode_session.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/extender/session/session_store.h"
#include "plugin/extender/verbs/verb.h"
#include "plugin/model/facts.h"

namespace gangway::extender {

// The plan of our own watch, in mode light. Called on the loop.
struct LivePlan {
  // Calls back once, on the loop: at once, or when a plan is made. `late`: that takes longer than the budget, and
  // `plan` is one of before. `plan` null: as without one.
  using Then = absl::AnyInvocable<void(std::shared_ptr<const SessionPlan> plan, bool late)>;
  std::function<void(Then then)> ask;
  std::function<std::shared_ptr<const SessionPlan>()> last;  // null: none was made yet
  std::function<bool()> up_to_date;                          // nothing keeps the watch from showing what is new
};

struct VerbOptions {
  Mode mode = Mode::kLight;
  SessionPlanOptions plan;
  SessionLimits limits;
  SessionStoreOptions store;
  absl::Duration budget = absl::Milliseconds(700);  // Volcano's client gives up after a second, unless told otherwise
  int max_planning = 2;                             // sessions that are planned or wait for it; one more has no plan
  LivePlan live;                                    // in mode light, and only there
  // What no session tells, in the other modes: how nodes lie in the network. Called on the loop; may be null.
  std::function<std::vector<model::HyperNodeFacts>()> hyper_nodes;
  // Called on the thread that plans, before it begins. For tests.
  std::function<void()> before_plan;
};

// Used on its loop, but for AnswerAtOnce; the loop and the metrics outlive it.
class VerbHandler final : public kube::HttpHandler {
 public:
  VerbHandler(Loop& loop, VerbOptions options, Metrics& metrics);
  ~VerbHandler() override;

  bool IsWatch(const kube::Request&) override { return false; }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override;
  std::optional<Reply> AnswerAtOnce(const kube::Request& request, const kube::HttpCaller& caller) override;
  WatchAnswer StartWatch(kube::Request, kube::HttpCaller, kube::Client::OnFrames, kube::Client::OnEnd) override {
    return {};
  }

  // From the next session on.
  void SetPolicy(gang::Policy policy);
  // Good for longer than this. Any thread.
  std::shared_ptr<const SessionStore> sessions() const;
  // The sessions that are open, their plans, and the gangs that wait in them: JSON.
  std::string DebugSessions() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::extender
