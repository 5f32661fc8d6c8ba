#include "kube/runtime/lease.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/meta.h"
#include "api/resource.h"
#include "base/log.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "kube/client/status.h"
#include "kube/runtime/refusal.h"

namespace gangway::kube {
namespace {

// client-go adds up to 120 % to every wait; this much keeps contenders apart as well and takes over sooner.
constexpr double kRetryJitter = 0.2;
constexpr double kLeastDeadline = 1.2;  // of a retry period
constexpr absl::Duration kReleasedDuration = absl::Seconds(1);
// How soon it is looked again whether the client that works was answered: answers may wait behind a loop that was busy.
constexpr absl::Duration kDoubt = absl::Milliseconds(100);
// After an expiry is due, so that the clock has certainly passed it.
constexpr absl::Duration kExpiryMargin = absl::Milliseconds(10);

// What we act on. The times in it are for people: they are another machine's.
struct LeaseSpec {
  std::string holder_identity;
  std::int32_t lease_duration_seconds = 0, lease_transitions = 0;
  std::string acquire_time, renew_time;
  friend bool operator==(const LeaseSpec&, const LeaseSpec&) = default;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "LeaseSpec";
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&LeaseSpec::holder_identity>("holderIdentity", "who holds it; empty: nobody"),
        api::MakeField<&LeaseSpec::lease_duration_seconds>("leaseDurationSeconds",
                                                           "how long others wait after a change"),
        api::MakeField<&LeaseSpec::acquire_time>("acquireTime", "by the holder's clock"),
        api::MakeField<&LeaseSpec::renew_time>("renewTime", "by the holder's clock"),
        api::MakeField<&LeaseSpec::lease_transitions>("leaseTransitions", "how often the holder changed"));
  }
};
struct LeaseView {
  api::ObjectMeta metadata;
  LeaseSpec spec;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Lease";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&LeaseView::metadata>("metadata", ""),
                           api::MakeField<&LeaseView::spec>("spec", ""));
  }
};

std::string SpecJson(const LeaseSpec& spec) {
  std::string out;
  api::JsonWriter(out)
      .BeginObject()
      .Field("holderIdentity", spec.holder_identity)
      .Field("leaseDurationSeconds", spec.lease_duration_seconds)
      .Field("acquireTime", spec.acquire_time)
      .Field("renewTime", spec.renew_time)
      .Field("leaseTransitions", spec.lease_transitions)
      .EndObject();
  return out;
}

// The object as it is with our fields of the spec; labels and whatever else others put there survive.
absl::StatusOr<std::string> WithSpec(absl::string_view object, const LeaseSpec& spec) {
  GW_ASSIGN_OR_RETURN(boost::json::value document, api::ParseJson(object));
  GW_ASSIGN_OR_RETURN(const boost::json::value fields, api::ParseJson(SpecJson(spec)));
  if (!document.is_object()) return absl::InvalidArgumentError("the Lease is no object");
  boost::json::value& target = document.as_object()["spec"];
  if (!target.is_object()) target.emplace_object();
  for (const auto& field : fields.as_object()) target.as_object()[field.key()] = field.value();
  return api::ToJson(document);
}

}  // namespace

absl::Status CheckLeaseOptions(const LeaseOptions& options) {
  const auto wrong = [](absl::string_view what) { return absl::InvalidArgumentError(what); };
  if (options.retry_period <= absl::ZeroDuration()) return wrong("retryPeriod: must be more than 0s");
  if (options.lease_duration < absl::Seconds(1) ||
      options.lease_duration != absl::Trunc(options.lease_duration, absl::Seconds(1))) {
    return wrong("leaseDuration: must be whole seconds, at least 1s");
  }
  if (options.renew_deadline <= options.retry_period * kLeastDeadline) {
    return wrong(absl::StrCat("renewDeadline: must be more than 1.2 times retryPeriod, which is ",
                              absl::FormatDuration(options.retry_period)));
  }
  if (options.lease_duration <= options.renew_deadline) {
    return wrong(absl::StrCat("leaseDuration: must be more than renewDeadline, which is ",
                              absl::FormatDuration(options.renew_deadline)));
  }
  return absl::OkStatus();
}

class Lease::Impl {
 public:
  Impl(Loop& loop, Client& client, WriteFence& fence, LeaseOptions options, Callbacks callbacks)
      : loop_(loop), client_(client), fence_(fence), options_(std::move(options)), callbacks_(std::move(callbacks)) {
    if (options_.metrics == nullptr) return;
    const auto counter = [&](const char* result) {
      return options_.metrics->AddCounter("gangway_lease_requests_total",
                                          "Tries to take or renew the lease, by what came of them",
                                          {{"result", result}});
    };
    succeeded_ = counter("ok");
    failed_ = counter("failed");
    leading_ = options_.metrics->AddGauge("gangway_leader", "1 while this process holds the lease");
  }

  void Start() { After(absl::ZeroDuration()); }

  void Release(absl::Duration patience, absl::AnyInvocable<void()> done) {
    const bool was_held = state_ == State::kHeld;
    End();
    released_ = std::move(done);
    if (!was_held) return Released();
    GiveBack(patience, &Impl::Released);
  }

  bool held() const { return state_ == State::kHeld && !suspended_; }
  const std::string& holder() const { return holder_; }

 private:
  enum class State {
    kContending,
    kHeld,
    kOver,  // lost or released
  };
  using Step = void (Impl::*)();

  std::string Name() const { return absl::StrCat(options_.ns, "/", options_.name); }

  void After(absl::Duration delay) {
    loop_.Cancel(timer_);
    timer_ = loop_.PostAt(loop_.Now() + delay, owner_.token(), [this] {
      timer_ = 0;
      Try();
    });
  }

  // Posted, so that nobody is called from within a call of theirs.
  void Released() {
    owner_.Reset();
    if (released_ == nullptr) return;
    loop_.Post(owner_.token(), [done = std::exchange(released_, nullptr)]() mutable { done(); });
  }

  // Writes that nobody holds it. `then` is done with the answer, or after `patience`; it drops the other of the two.
  void GiveBack(absl::Duration patience, Step then) {
    loop_.PostAt(loop_.Now() + patience, owner_.token(), [this, then] {
      log::Warning("lease not released: no answer", {{"lease", Name()}});
      (this->*then)();
    });
    WriteNobody(then);
  }

  void WriteNobody(Step then) {
    LeaseSpec spec = seen_.spec;
    spec.holder_identity.clear();
    spec.lease_duration_seconds = static_cast<std::int32_t>(absl::ToInt64Seconds(kReleasedDuration));
    spec.acquire_time = spec.renew_time = api::FormatMicroTime(loop_.Now());
    absl::StatusOr<std::string> body = WithSpec(*seen_object_, spec);
    if (!body.ok()) return (this->*then)();
    client_.Send(Put(*std::move(body)), owner_.token(), [this, then](const absl::StatusOr<Response>& reply) {
      const absl::Status status = StatusOf(reply);
      if (absl::IsAborted(status)) return LookAgain(then);
      if (status.ok()) {
        log::Info("lease released", {{"lease", Name()}});
      } else {
        log::Warning("lease not released", {{"lease", Name()}, {"error", status}});
      }
      (this->*then)();
    });
  }

  // A renewal that was on its way may have changed it after we last saw it.
  void LookAgain(Step then) {
    client_.Send(Get(), owner_.token(), [this, then](const absl::StatusOr<Response>& reply) {
      if (StatusOf(reply).ok() && See(reply->body).ok() && holder_ == options_.identity) return WriteNobody(then);
      log::Warning("lease not released: it was changed", {{"lease", Name()}, {"holder", holder_}});
      (this->*then)();
    });
  }

  // --- one try: as its holder, change what we know; else look, and take it if it is free.

  // Whoever comes back after an outage has as long again to be answered.
  bool CanWork() const {
    return options_.answered_at == nullptr ||
           loop_.Now() - std::max(options_.answered_at(), recovered_) <= options_.renew_deadline;
  }

  void Try() {
    const bool doubted = std::exchange(doubted_, !CanWork());
    if (state_ != State::kHeld) return doubted_ ? After(kDoubt) : Look();
    if (!suspended_ && !fence_.open()) return Lose("its time ran out before it was renewed");
    // Where renewals fail as well it is not the work alone that gets no answer.
    if (doubted_ && !failing_) return doubted ? Resign() : After(kDoubt);
    if (deadline_ == 0 && !suspended_)
      deadline_ = loop_.PostAt(renewed_ + options_.renew_deadline, owner_.token(), [this] { Suspend(); });
    Write(seen_.spec.lease_transitions, seen_.spec.acquire_time);
  }

  // Nobody answers: from here on nothing is written. But the record says that it is ours for as long as nobody else has
  // written it, and nobody who has not written it writes anything else.
  void Suspend() {
    deadline_ = 0;
    suspended_ = true;
    fence_.Close();
    leading_.Set(0);
    log::Error("lease not renewed: nothing is written until it is",
               {{"lease", Name()}, {"within", options_.renew_deadline}});
  }

  void Look() {
    client_.Send(Get(), owner_.token(), [this](const absl::StatusOr<Response>& reply) {
      const absl::Status status = StatusOf(reply);
      if (absl::IsNotFound(status)) return Create();
      if (!status.ok()) return Fail("look at", status);
      if (const absl::Status seen = See(reply->body); !seen.ok()) return Fail("look at", seen);
      Judge();
    });
  }

  // What an API server answered: the record, and since when it stands as it does.
  absl::Status See(const Bytes& object) {
    GW_ASSIGN_OR_RETURN(LeaseView view, api::Decode<LeaseView>(*object));
    if (seen_object_ == nullptr || !(view.spec == seen_.spec)) changed_ = loop_.Now();
    seen_ = std::move(view);
    seen_object_ = object;
    if (!told_holder_ || holder_ != seen_.spec.holder_identity) {
      told_holder_ = true;
      holder_ = seen_.spec.holder_identity;
      log::Info(holder_.empty() ? "nobody leads" : "leader",
                {{"lease", Name()}, {"holder", holder_}, {"self", options_.identity}});
      if (callbacks_.on_new_holder) callbacks_.on_new_holder(holder_);
    }
    return absl::OkStatus();
  }

  void Judge() {
    const LeaseSpec& spec = seen_.spec;
    const bool ours = spec.holder_identity == options_.identity;
    if (state_ == State::kHeld && !ours) return Lose(absl::StrCat("taken by ", holder_.empty() ? "nobody" : holder_));
    const absl::Time expires = changed_ + absl::Seconds(spec.lease_duration_seconds);
    if (!ours && !spec.holder_identity.empty() && loop_.Now() < expires)
      return Again(expires - loop_.Now() + kExpiryMargin);
    if (ours) return Write(spec.lease_transitions, spec.acquire_time);
    Write(spec.lease_transitions + 1, api::FormatMicroTime(loop_.Now()));
  }

  void Create() {
    if (state_ == State::kHeld) return Lose("deleted");
    LeaseSpec spec = OurSpec(0, api::FormatMicroTime(loop_.Now()));
    Request request;
    request.method = "POST";
    request.path = api::PathOf(api::kLeases, options_.ns);
    api::JsonWriter json(request.body);
    json.BeginObject()
        .Field("apiVersion", api::kLeases.ApiVersion())
        .Field("kind", "Lease")
        .Key("metadata")
        .BeginObject();
    json.Field("name", options_.name).Field("namespace", options_.ns).EndObject();
    json.RawField("spec", SpecJson(spec)).EndObject();
    Send(std::move(request), "create");
  }

  void Write(std::int32_t transitions, std::string acquired) {
    absl::StatusOr<std::string> body = WithSpec(*seen_object_, OurSpec(transitions, std::move(acquired)));
    if (!body.ok()) return Fail("change", body.status());
    Send(Put(*std::move(body)), state_ == State::kHeld ? "renew" : "take");
  }

  LeaseSpec OurSpec(std::int32_t transitions, std::string acquired) const {
    LeaseSpec spec;
    spec.holder_identity = options_.identity;
    spec.lease_duration_seconds = static_cast<std::int32_t>(absl::ToInt64Seconds(options_.lease_duration));
    spec.acquire_time = acquired.empty() ? api::FormatMicroTime(loop_.Now()) : std::move(acquired);
    spec.renew_time = api::FormatMicroTime(loop_.Now());
    spec.lease_transitions = transitions;
    return spec;
  }

  Request Get() const {
    Request request;
    request.method = "GET";
    request.path = api::PathOf(api::kLeases, options_.ns, options_.name);
    return request;
  }

  Request Put(std::string body) const {
    Request request;
    request.method = "PUT";
    request.path = api::PathOf(api::kLeases, options_.ns, options_.name);
    request.body = std::move(body);
    return request;
  }

  void Send(Request request, absl::string_view what) {
    const absl::Time sent = fence_.Now();
    client_.Send(std::move(request), owner_.token(),
                 [this, what, sent, asked = loop_.Now()](const absl::StatusOr<Response>& reply) {
                   if (const absl::Status status = StatusOf(reply); !status.ok()) return Refused(what, status);
                   // Others count from when they see this version, which is later than when we sent it.
                   const absl::Time until = sent + options_.lease_duration;
                   if (fence_.Now() >= until)
                     return held() ? Lose("the answer to its renewal came too late")
                                   : Fail(what, absl::DeadlineExceededError("the answer came too late"));
                   if (const absl::Status seen = See(reply->body); !seen.ok()) return Fail(what, seen);
                   fence_.OpenUntil(until);
                   Held(asked);
                 });
  }

  // A holder whose change was refused looks what is there now, as client-go does; a contender's turn is over.
  void Refused(absl::string_view what, const absl::Status& status) {
    if (state_ == State::kHeld && (absl::IsAborted(status) || absl::IsNotFound(status))) return Look();
    Fail(what, status);
  }

  void Held(absl::Time renewed) {
    succeeded_.Add();
    renewed_ = renewed;
    loop_.Cancel(std::exchange(deadline_, 0));
    After(options_.retry_period);
    if (std::exchange(failing_, false)) recovered_ = loop_.Now();
    leading_.Set(1);
    if (std::exchange(suspended_, false))
      log::Info("lease renewed: nobody has taken it meanwhile", {{"lease", Name()}});
    if (std::exchange(state_, State::kHeld) == State::kHeld) return;
    log::Info("lease acquired", {{"lease", Name()}, {"identity", options_.identity}});
    if (callbacks_.on_acquired) callbacks_.on_acquired();
  }

  void Fail(absl::string_view what, const absl::Status& status) {
    failed_.Add();
    failing_ = true;
    if (state_ == State::kContending && (absl::IsAborted(status) || absl::IsAlreadyExists(status))) {
      log::Debug("another contender was first", {{"lease", Name()}});
    } else {
      log::Warning("lease request failed", {{"lease", Name()}, {"to", what}, {"error", Explained(status)}});
    }
    Again(absl::InfiniteDuration());
  }

  std::string Explained(const absl::Status& status) const {
    if (IsUnreached(status)) return absl::StrCat("the API server does not answer: ", WhyUnreached(status));
    if (!absl::IsPermissionDenied(status)) return std::string(status.ToString());
    return absl::StrCat(status.message(), "; grant create, get and update on leases.coordination.k8s.io in namespace ",
                        options_.ns);
  }

  void Again(absl::Duration at_most) {
    const absl::Duration wait =
        options_.retry_period * (state_ == State::kHeld ? 1.0 : 1.0 + kRetryJitter * UnitInterval(loop_.Random()));
    After(std::min(wait, at_most));
  }

  void Lose(const std::string& why) {
    End();
    log::Error("lease lost", {{"lease", Name()}, {"why", why}});
    TellLost(why);
  }

  // Who holds it and cannot work.
  void Resign() {
    End();
    log::Error("lease given back", {{"lease", Name()}, {"why", Unanswered()}});
    GiveBack(options_.retry_period, &Impl::Resigned);
  }
  void Resigned() {
    owner_.Reset();
    TellLost(absl::StrCat("given back: ", Unanswered()));
  }
  std::string Unanswered() const {
    return absl::StrCat("no request of the client that works was answered within ",
                        absl::FormatDuration(options_.renew_deadline));
  }

  void End() {
    owner_.Reset();  // whatever is under way
    timer_ = deadline_ = 0;
    state_ = State::kOver;
    suspended_ = false;
    fence_.Close();
    leading_.Set(0);
  }
  void TellLost(const std::string& why) {
    if (callbacks_.on_lost) loop_.Post(owner_.token(), [this, why] { callbacks_.on_lost(why); });
  }

  Loop& loop_;
  Client& client_;
  WriteFence& fence_;
  const LeaseOptions options_;
  Callbacks callbacks_;
  State state_ = State::kContending;

  // As last seen.
  LeaseView seen_;
  Bytes seen_object_;
  absl::Time changed_;  // when we first saw it so
  std::string holder_;
  bool told_holder_ = false;

  absl::Time renewed_;      // when the last renewal that succeeded was sent
  bool doubted_ = false;    // at the last look the client that works had not been answered for long
  bool failing_ = false;    // the last try failed
  bool suspended_ = false;  // held by the record, and not renewed in time
  absl::Time recovered_ = absl::InfinitePast();  // when a try succeeded after one that failed
  Loop::TimerId timer_ = 0, deadline_ = 0;
  absl::AnyInvocable<void()> released_;
  Counter succeeded_, failed_;
  Gauge leading_;
  Owner owner_;
};

Lease::Lease(Loop& loop, Client& client, WriteFence& fence, LeaseOptions options, Callbacks callbacks)
    : impl_(std::make_unique<Impl>(loop, client, fence, std::move(options), std::move(callbacks))) {}
Lease::~Lease() = default;
void Lease::Start() { impl_->Start(); }
void Lease::Release(absl::Duration patience, absl::AnyInvocable<void()> done) {
  impl_->Release(patience, std::move(done));
}
bool Lease::held() const { return impl_->held(); }
const std::string& Lease::holder() const { return impl_->holder(); }

}  // namespace gangway::kube
