#include "kube/runtime/driver.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/rate_limiter.h"
#include "kube/client/status.h"
#include "kube/client/write_fence.h"
#include "kube/runtime/refusal.h"
#include "kube/runtime/write_request.h"

namespace gangway::kube {
namespace {

using api::NamespacedName;

// A plan that wants to be looked at in the past, or right now, would be decided in a circle.
constexpr absl::Duration kSoonestLook = absl::Milliseconds(100);
constexpr absl::Duration kDefaultRetryAfter = absl::Seconds(1);
// Of a stage: refusals that are told to the hook; after so many more the rest of it is not sent.
constexpr int kToldRefusals = 3;
constexpr int kManyRefusals = 8;
constexpr int kOthersBetween = 7;  // two writes that yield
constexpr absl::Duration kBetweenHolds = absl::Seconds(1);

// What a reply means, from the best to the one that decides when a stage has several.
enum class Outcome {
  kDone,
  kPermanent,  // no use trying again as it is
  kStale,      // decided on an old view
  kRetry,      // may have been carried out
  kWait,       // the server asked for time
};
constexpr std::array<const char*, 5> kOutcomeNames = {"done", "permanent", "stale", "retry", "wait"};

Outcome Judge(Verb verb, const absl::StatusOr<Response>& reply) {
  if (!reply.ok()) return Outcome::kRetry;
  if (reply->ok()) return Outcome::kDone;
  switch (reply->code) {
    case 404:
      return verb == Verb::kDelete ? Outcome::kDone : Outcome::kStale;
    case 409:
    case 412:
      return Outcome::kStale;
    case 408:
      return Outcome::kRetry;
    case 429:
      return Outcome::kWait;
    default:
      return reply->code >= 500 ? Outcome::kRetry : Outcome::kPermanent;
  }
}

struct MetadataView {
  api::ObjectMeta metadata;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Object";
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&MetadataView::metadata>("metadata", "")); }
};

std::string Whose(const api::ObjectMeta& metadata) {
  const api::OwnerReference* const controller = metadata.Controller();
  return controller == nullptr
             ? "nothing controls it"
             : absl::StrCat(controller->kind, " ", controller->name, " controls it, UID ", controller->uid);
}

std::string ControllerUid(const api::ObjectMeta& metadata) {
  const api::OwnerReference* const controller = metadata.Controller();
  return controller == nullptr ? "" : controller->uid;
}

}  // namespace

class Driver::Impl {
 public:
  Impl(Loop& loop, Client& client, Recorder& recorder, DriverOptions options, Decide decide)
      : loop_(loop),
        client_(client),
        recorder_(recorder),
        options_(std::move(options)),
        decide_(std::move(decide)),
        limiter_(options_.qps, options_.burst) {
    if (options_.metrics == nullptr) return;
    Metrics& metrics = *options_.metrics;
    for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
      const MetricLabels labels = {{"driver", options_.name}, {"result", kOutcomeNames[i]}};
      plans_total_[i] = metrics.AddCounter("gangway_plans_total", "Plans, by how carrying them out ended", labels);
      writes_total_[i] = metrics.AddCounter("gangway_writes_total", "Writes, by what the reply meant", labels);
    }
    const MetricLabels labels = {{"driver", options_.name}};
    write_seconds_ = metrics.AddHistogram("gangway_write_duration_seconds", "From sending a write to its reply",
                                          DurationBounds(), labels);
    queued_ = metrics.AddGauge("gangway_queued_keys", "Keys waiting to be decided", labels);
  }

  void SetOnReply(OnReply on_reply) { on_reply_ = std::move(on_reply); }
  void SetOnPermanentError(OnPermanentError on_error) { on_permanent_error_ = std::move(on_error); }

  void Enqueue(const NamespacedName& key) {
    if (asleep_) return;
    std::unique_ptr<State>& state = states_[key];
    if (state == nullptr) state = std::make_unique<State>();
    if (state->under_way && OnlyYields(*state)) TakeBack(*state);
    if (state->under_way) {
      state->dirty = true;
    } else if (!state->queued) {
      QueueOrWait(key, *state);
    }
  }

  void Sleep() {
    asleep_ = true;
    held_until_ = absl::InfinitePast();  // what is under way is ended
    for (const NamespacedName& key : queue_) {
      State& state = *states_.at(key);
      state.queued = false;
      if (state.idle()) states_.erase(key);
    }
    queue_.clear();
    queued_.Set(0);
    Pump();
  }
  void Wake() { asleep_ = false; }

  void HoldYielding(absl::Time until) {
    if (asleep_) return;
    const absl::Time now = loop_.Now();
    if (now >= held_until_ + kBetweenHolds) held_since_ = now;
    held_until_ = until > now ? std::min(until, held_since_ + options_.longest_hold) : std::min(held_until_, now);
    Pump();
  }

  std::size_t queued() const { return queue_.size(); }
  std::size_t under_way() const { return under_way_; }

 private:
  // Of a write that yields: since when its key wants to tell, which key was first, which of its writes.
  using Turn = std::tuple<absl::Time, std::uint64_t, std::size_t>;
  struct State {
    bool queued = false;
    bool under_way = false;
    bool dirty = false;                // enqueued while under way
    int failures = 0, unanswered = 0;  // in a row, each by itself: see Reflector
    absl::Time not_before = absl::InfinitePast();
    Loop::TimerId retry = 0, look_again = 0;
    absl::Time retry_at;  // when there is a timer
    // Of the plan under way.
    Plan plan;
    std::size_t stage = 0;
    std::size_t awaited = 0;  // replies
    int refused = 0;          // for good, of the stage
    Outcome worst = Outcome::kDone;
    absl::Duration wait = absl::ZeroDuration();  // as the server asked
    bool unreached = true;       // every failure of the stage was that nobody answered, or that nothing may be sent
    std::vector<Turn> yielding;  // its writes that others go before
    std::optional<std::pair<absl::Time, std::uint64_t>> turn;  // the same over plans that are taken back

    bool idle() const { return !queued && !under_way && retry == 0 && look_again == 0; }
  };
  struct QueuedWrite {
    NamespacedName key;
    std::size_t index;  // within the stage
    bool yields = false;
  };

  // Deciding.

  void Queue(const NamespacedName& key, State& state) {
    state.queued = true;
    queue_.push_back(key);
    queued_.Set(static_cast<double>(queue_.size()));
    PostDecideNext();
  }

  // Something changed. Within the pause after a failure the key waits for its end.
  void QueueOrWait(const NamespacedName& key, State& state) {
    if (loop_.Now() >= state.not_before) {
      Queue(key, state);
    } else if (state.retry_at > state.not_before) {
      SetRetry(key, state, state.not_before);
    }
  }

  void PostDecideNext() {
    loop_.Post(owner_.token(), [this] { DecideNext(); });
  }

  void DecideNext() {
    if (queue_.empty()) return;
    const NamespacedName key = std::move(queue_.front());
    queue_.pop_front();
    queued_.Set(static_cast<double>(queue_.size()));
    State& state = *states_.at(key);
    state.queued = false;
    CancelTimer(state.retry);
    Plan plan = decide_(key, loop_.Now());
    LookAgain(key, state, plan.look_again);
    state.plan = std::move(plan);
    state.under_way = true;
    state.dirty = false;
    state.stage = 0;
    ++under_way_;
    StartStage(key, state);
  }

  void LookAgain(const NamespacedName& key, State& state, absl::Time when) {
    CancelTimer(state.look_again);
    if (when == absl::InfiniteFuture()) return;
    state.look_again = loop_.PostAt(std::max(when, loop_.Now() + kSoonestLook), owner_.token(),
                                    [this, key] { TimerRan(key, &State::look_again); });
  }

  void TimerRan(const NamespacedName& key, Loop::TimerId State::* timer) {
    State& due = *states_.at(key);
    due.*timer = 0;
    Enqueue(key);
    if (due.idle()) states_.erase(key);  // asleep
  }

  void CancelTimer(Loop::TimerId& timer) {
    if (timer != 0) loop_.Cancel(std::exchange(timer, 0));
  }

  // Carrying out.

  // The next stage with a write, or the end of the plan.
  void StartStage(const NamespacedName& key, State& state) {
    const auto& stages = state.plan.stages;
    while (state.stage < stages.size() && stages[state.stage].empty()) ++state.stage;
    if (state.stage == stages.size()) return Finish(key, state, Outcome::kDone);
    state.awaited = stages[state.stage].size();
    state.worst = Outcome::kDone;
    state.refused = 0;
    state.wait = absl::ZeroDuration();
    state.unreached = true;
    const std::vector<Write>& stage = stages[state.stage];
    const bool yields = state.stage + 1 == stages.size() &&
                        std::all_of(stage.begin(), stage.end(), [](const Write& write) { return write.yields; });
    if (yields && !state.turn.has_value()) state.turn.emplace(loop_.Now(), next_turn_++);
    for (std::size_t i = 0; i < state.awaited; ++i) {
      if (yields) {
        state.yielding.emplace_back(state.turn->first, state.turn->second, i);
        yielding_.emplace(state.yielding.back(), QueuedWrite{key, i, true});
      } else {
        LineOf(stage[i], state.stage).push_back({key, i, false});
      }
    }
    Pump();
  }

  // Nothing of its plan is sent, and all of it yields.
  bool OnlyYields(const State& state) const {
    return !state.yielding.empty() && state.yielding.size() == state.plan.stages[state.stage].size() &&
           state.stage == 0;
  }

  void TakeBack(State& state) {
    for (const Turn& turn : std::exchange(state.yielding, {})) yielding_.erase(turn);
    state.plan = {};
    state.under_way = false;
    --under_way_;
  }

  // ZeroDuration: the first write that yields may go now. Infinite: an answer comes first.
  absl::Duration YieldsFor() {
    if (yielding_.empty() || yielding_in_flight_ >= std::max(1, options_.max_in_flight / 8))
      return absl::InfiniteDuration();
    if (loop_.Now() < held_until_) return held_until_ - loop_.Now();
    const bool nothing_else = FirstLine() == nullptr;
    if (nothing_else && in_flight_ == yielding_in_flight_) return absl::ZeroDuration();
    const absl::Time since = std::get<absl::Time>(yielding_.begin()->first);
    const absl::Duration patience = since + options_.yield_patience - loop_.Now();
    if (patience > absl::ZeroDuration()) return patience;
    // Where a rate is what there is little of, an eighth of that, too.
    return nothing_else || sent_since_ >= kOthersBetween ? absl::ZeroDuration() : absl::InfiniteDuration();
  }

  std::deque<QueuedWrite>& LineOf(const Write& write, std::size_t stage) {
    return lines_[write.urgent ? 0 : stage > 0 ? 1 : 2];
  }
  // Null: no write waits that does not yield.
  std::deque<QueuedWrite>* FirstLine() {
    for (std::deque<QueuedWrite>& line : lines_) {
      if (!line.empty()) return &line;
    }
    return nullptr;
  }

  QueuedWrite TakeNext(bool yields) {
    QueuedWrite write;
    if (yields) {
      write = std::move(yielding_.begin()->second);
      yielding_.erase(yielding_.begin());
      std::vector<Turn>& turns = states_.at(write.key)->yielding;
      turns.erase(turns.begin());  // they go in this order
    } else {
      std::deque<QueuedWrite>& line = *FirstLine();
      write = std::move(line.front());
      line.pop_front();
    }
    return write;
  }

  void Pump() {
    while (in_flight_ < options_.max_in_flight) {
      const absl::Duration yields_for = YieldsFor();
      const bool yields = yields_for == absl::ZeroDuration();
      const std::deque<QueuedWrite>* const line = FirstLine();
      if (!yields && line == nullptr) return PumpAt(loop_.Now() + yields_for);
      const NamespacedName& next = yields ? yielding_.begin()->second.key : line->front().key;
      if (states_.at(next)->refused >= kManyRefusals) {
        const NamespacedName key = TakeNext(yields).key;
        EndAwaited(key, *states_.at(key));
        continue;
      }
      if (!limiter_.TryTake(loop_.Now())) return PumpAt(limiter_.NextAt());
      Send(TakeNext(yields));
    }
  }

  void PumpAt(absl::Time when) {
    if (pump_ != 0) loop_.Cancel(std::exchange(pump_, 0));
    if (when == absl::InfiniteFuture()) return;
    pump_ = loop_.PostAt(when, owner_.token(), [this] {
      pump_ = 0;
      Pump();
    });
  }

  const Write& WriteOf(const QueuedWrite& w) const {
    const State& state = *states_.at(w.key);
    return state.plan.stages[state.stage][w.index];
  }

  void Count(const QueuedWrite& write, int change) {
    in_flight_ += change;
    if (write.yields) yielding_in_flight_ += change;
  }

  void Send(const QueuedWrite& w) {
    sent_since_ = w.yields ? 0 : std::min(sent_since_ + 1, kOthersBetween);
    absl::StatusOr<Request> request = RequestFor(WriteOf(w));
    Count(w, 1);
    if (!request.ok()) {  // answered by posting, as any other write
      loop_.Post(owner_.token(), [this, w, status = request.status()] {
        Count(w, -1);
        EndWrite(w, Outcome::kPermanent, status, absl::ZeroDuration());
      });
      return;
    }
    client_.Send(*std::move(request), owner_.token(),
                 [this, w, sent = loop_.Now()](const absl::StatusOr<Response>& reply) {
                   write_seconds_.Observe(absl::ToDoubleSeconds(loop_.Now() - sent));
                   TakeReply(w, reply);
                 });
  }

  void TakeReply(const QueuedWrite& w, const absl::StatusOr<Response>& reply) {
    const Write& write = WriteOf(w);
    const absl::Status status = StatusOf(reply);
    if (write.verb == Verb::kCreate && write.subresource.empty() && absl::IsAlreadyExists(status))
      return LookAtExisting(w, status);
    Count(w, -1);
    if (reply.ok() && on_reply_) on_reply_(write, *reply);
    EndWrite(w, Judge(write.verb, reply), status, RetryAfter(reply));
  }

  // A create whose object is there already: ours by a reply that was lost, or somebody else's?
  void LookAtExisting(const QueuedWrite& w, const absl::Status& refused) {
    const Write& write = WriteOf(w);
    Request request;
    request.method = "GET";
    request.path = api::PathOf(*write.resource, write.ns, write.name);
    request.accept = std::string(AcceptFor(*write.resource));
    client_.Send(std::move(request), owner_.token(), [this, w, refused](const absl::StatusOr<Response>& reply) {
      const Write& wanted = WriteOf(w);
      Count(w, -1);
      if (reply.ok() && on_reply_) on_reply_(wanted, *reply);
      if (!reply.ok() || !reply->ok())
        return EndWrite(w, Judge(wanted.verb, reply), StatusOf(reply), RetryAfter(reply));
      absl::Status why = refused;
      const Outcome outcome = JudgeExisting(wanted, *reply->body, why);
      EndWrite(w, outcome, why, absl::ZeroDuration());
    });
  }

  // `why`: of the refusal, made more precise.
  static Outcome JudgeExisting(const Write& write, absl::string_view existing, absl::Status& why) {
    const auto ours = api::Decode<MetadataView>(write.body);
    const auto theirs = api::Decode<MetadataView>(existing);
    if (!ours.ok() || !theirs.ok()) return Outcome::kPermanent;
    if (theirs->metadata.deleting())
      return Outcome::kStale;  // it must go before its successor can come, whosever it is
    if (ControllerUid(ours->metadata) == ControllerUid(theirs->metadata)) return Outcome::kDone;
    why = absl::Status(why.code(), absl::StrCat(why.message(), " and is not ours: ", Whose(theirs->metadata),
                                                "; it is left alone, and tried again"));
    return Outcome::kPermanent;
  }

  static absl::Duration RetryAfter(const absl::StatusOr<Response>& reply) {
    if (!reply.ok()) return absl::ZeroDuration();
    return reply->retry_after.value_or(reply->code == 429 ? kDefaultRetryAfter : absl::ZeroDuration());
  }

  void EndWrite(const QueuedWrite& w, Outcome outcome, const absl::Status& status, absl::Duration wait) {
    writes_total_[static_cast<std::size_t>(outcome)].Add();
    State& state = *states_.at(w.key);
    if (outcome == Outcome::kPermanent) ++state.refused;
    if (outcome != Outcome::kDone) Report(w, outcome, status, state.refused <= kToldRefusals);
    if (outcome != Outcome::kDone) state.unreached = state.unreached && (IsUnreached(status) || IsFencedOff(status));
    state.worst = std::max(state.worst, outcome);
    state.wait = std::max(state.wait, wait);
    EndAwaited(w.key, state);
    Pump();
  }

  void EndAwaited(const NamespacedName& key, State& state) {
    if (--state.awaited > 0) return;
    if (state.worst == Outcome::kDone) {
      ++state.stage;
      StartStage(key, state);
    } else {
      Finish(key, state, state.worst);
    }
  }

  void Report(const QueuedWrite& w, Outcome outcome, const absl::Status& status, bool tell) {
    const Write& write = WriteOf(w);
    const std::string key = w.key.ToString();
    const std::string error = status.ToString();
    const log::Fields fields = {{"driver", options_.name},      {"key", key},
                                {"verb", VerbName(write.verb)}, {"resource", write.resource->plural},
                                {"name", write.name},           {"error", error}};
    switch (outcome) {
      case Outcome::kDone:
        break;
      case Outcome::kStale:
        log::Debug("write decided on an old view", fields);
        break;
      case Outcome::kRetry:
      case Outcome::kWait:
        log::Warning("write failed", fields);
        break;
      case Outcome::kPermanent:
        if (!tell) break;
        log::Error("write refused", fields);
        if (on_permanent_error_) on_permanent_error_(w.key, states_.at(w.key)->plan.uid, write, status);
        break;
    }
  }

  void Finish(const NamespacedName& key, State& state, Outcome outcome) {
    plans_total_[static_cast<std::size_t>(outcome)].Add();
    --under_way_;
    state.under_way = false;
    state.turn.reset();
    const Plan plan = std::exchange(state.plan, {});
    const bool dirty = std::exchange(state.dirty, false);
    if (outcome == Outcome::kDone) {
      state.failures = state.unanswered = 0;
      state.not_before = absl::InfinitePast();
      for (const EventNote& note : plan.events) recorder_.Record(note);
    } else {
      Retry(key, state, outcome);
    }
    if (dirty && !asleep_) QueueOrWait(key, state);
    if (state.idle()) states_.erase(key);
  }

  void Retry(const NamespacedName& key, State& state, Outcome outcome) {
    const Backoff& backoff = outcome == Outcome::kPermanent ? options_.refused : options_.backoff;
    absl::Duration delay = state.unreached ? std::min(backoff.Next(state.unanswered++, loop_.Random()), kUnreachedPause)
                                           : backoff.Next(state.failures++, loop_.Random());
    delay = std::max(delay, state.wait);
    const absl::Time now = loop_.Now();
    state.not_before = outcome >= Outcome::kRetry       ? now + delay
                       : outcome == Outcome::kPermanent ? now + std::min(delay, options_.refused_pause)
                                                        : absl::InfinitePast();
    SetRetry(key, state, now + delay);
  }

  void SetRetry(const NamespacedName& key, State& state, absl::Time when) {
    CancelTimer(state.retry);
    state.retry_at = when;
    state.retry = loop_.PostAt(when, owner_.token(), [this, key] { TimerRan(key, &State::retry); });
  }

  Loop& loop_;
  Client& client_;
  Recorder& recorder_;
  const DriverOptions options_;
  Decide decide_;
  OnReply on_reply_;
  OnPermanentError on_permanent_error_;
  RateLimiter limiter_;

  absl::flat_hash_map<NamespacedName, std::unique_ptr<State>> states_;
  std::deque<NamespacedName> queue_;  // keys to decide
  bool asleep_ = false;
  std::size_t under_way_ = 0;
  std::array<std::deque<QueuedWrite>, 3> lines_;  // not yet sent: urgent, of plans that were begun, and others
  absl::btree_map<Turn, QueuedWrite> yielding_;   // nor these
  std::uint64_t next_turn_ = 0;
  int in_flight_ = 0, yielding_in_flight_ = 0;  // the latter are among the former
  int sent_since_ = kOthersBetween;             // one that yields
  // Those that yield are held.
  absl::Time held_since_ = absl::InfinitePast(), held_until_ = absl::InfinitePast();
  Loop::TimerId pump_ = 0;

  std::array<Counter, kOutcomeNames.size()> plans_total_, writes_total_;
  Histogram write_seconds_;
  Gauge queued_;
  Owner owner_;
};

Driver::Driver(Loop& loop, Client& client, Recorder& recorder, DriverOptions options, Decide decide)
    : impl_(std::make_unique<Impl>(loop, client, recorder, std::move(options), std::move(decide))) {}
Driver::~Driver() = default;
void Driver::SetOnReply(OnReply on_reply) { impl_->SetOnReply(std::move(on_reply)); }
void Driver::SetOnPermanentError(OnPermanentError on_error) { impl_->SetOnPermanentError(std::move(on_error)); }
void Driver::Enqueue(const NamespacedName& key) { impl_->Enqueue(key); }
void Driver::Sleep() { impl_->Sleep(); }
void Driver::Wake() { impl_->Wake(); }
void Driver::HoldYielding(absl::Time until) { impl_->HoldYielding(until); }
std::size_t Driver::queued() const { return impl_->queued(); }
std::size_t Driver::under_way() const { return impl_->under_way(); }

}  // namespace gangway::kube
