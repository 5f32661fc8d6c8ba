#include "kube/runtime/recorder.h"

#include <algorithm>
#include <deque>
#include <list>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/resource.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/rate_limiter.h"
#include "kube/client/status.h"
#include "kube/runtime/write_request.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMaxMessage = 1024;                      // Kubernetes refuses longer ones
constexpr absl::Duration kLookAgain = absl::Milliseconds(20);  // whether others are still busy
constexpr std::size_t kMaxNamePrefix = 236;                    // 253 less a dot and 16 digits
constexpr absl::string_view kBetween("\0", 1);                 // parts of a packed note

struct EventView {
  std::int32_t count = 0;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Event";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EventView::count>("count", "how often it happened"));
  }
};

// At most `max` bytes, no character cut in two.
std::string Shortened(absl::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  std::size_t end = max - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), "...");
}

const char* TypeName(EventNote::Type type) { return type == EventNote::Type::kNormal ? "Normal" : "Warning"; }

// A note in one string, and back: thousands may wait, and one is nine of them. Only the message, which is the last and
// is shortened, may hold a NUL.
std::string Packed(const EventNote& note) {
  const api::ObjectReference& object = note.regarding;
  return absl::StrJoin(std::make_tuple(TypeName(note.type), note.reason, object.kind, object.ns, object.name,
                                       object.uid, object.api_version, object.resource_version, object.field_path,
                                       Shortened(note.message, kMaxMessage)),
                       kBetween);
}

EventNote Unpacked(absl::string_view packed) {
  const std::vector<std::string> parts = absl::StrSplit(packed, absl::MaxSplits(kBetween, 9));
  EventNote note;
  note.type = parts[0] == TypeName(EventNote::Type::kNormal) ? EventNote::Type::kNormal : EventNote::Type::kWarning;
  note.reason = parts[1];
  api::ObjectReference& object = note.regarding;
  object.kind = parts[2];
  object.ns = parts[3];
  object.name = parts[4];
  object.uid = parts[5];
  object.api_version = parts[6];
  object.resource_version = parts[7];
  object.field_path = parts[8];
  note.message = parts[9];
  return note;
}

std::string EventName(absl::string_view component, const EventNote& note) {
  std::uint64_t hash = StableHash(component);
  for (const absl::string_view part :
       {absl::string_view(note.regarding.kind), absl::string_view(note.regarding.ns),
        absl::string_view(note.regarding.name), absl::string_view(note.regarding.uid),
        absl::string_view(note.regarding.field_path), absl::string_view(TypeName(note.type)),
        absl::string_view(note.reason), absl::string_view(note.message)}) {
    hash = StableHash(part, hash);
  }
  std::string prefix = note.regarding.name.substr(0, kMaxNamePrefix);
  while (!prefix.empty() && !absl::ascii_isalnum(static_cast<unsigned char>(prefix.back()))) prefix.pop_back();
  return absl::StrFormat("%s.%016x", prefix.empty() ? "unknown" : prefix, hash);
}

}  // namespace

class Recorder::Impl {
 public:
  Impl(Loop& loop, Client& client, RecorderOptions options)
      : loop_(loop), client_(client), options_(std::move(options)), limiter_(options_.qps, options_.burst) {
    if (options_.metrics == nullptr) return;
    const auto counter = [&](const char* result) {
      return options_.metrics->AddCounter("gangway_events_total", "Notes for events, by what became of them",
                                          {{"component", options_.component}, {"result", result}});
    };
    created_ = counter("created");
    counted_ = counter("counted");
    dropped_ = counter("dropped");
  }

  void Record(const EventNote& note) {
    const SeriesPtr series = SeriesOf(note);
    if (series->waiting() == 0) {
      if (waiting_ >= options_.max_waiting) return dropped_.Add();
      ++waiting_;
      series->note = Packed(note);
    }
    ++series->unsent;
    series->last = loop_.Now();
    Schedule(series);
  }

  std::size_t waiting() const { return waiting_; }

 private:
  // One Event and the repeats that it counts.
  struct Series {
    std::string key;   // of the Event: its namespace, a slash and its name
    std::string note;  // packed, while it may have to be written: a cluster has thousands that rest
    absl::Time first, last;
    std::int32_t written = 0;  // the count in the Event; 0: it is not there
    std::int32_t unsent = 0, sending = 0;
    int attempts = 0;
    bool look_up = false;  // it is there already: ask for its count
    bool scheduled = false;
    absl::Time not_before = absl::InfinitePast();
    std::int32_t waiting() const { return unsent + sending; }
    absl::string_view ns() const { return absl::string_view(key).substr(0, key.find('/')); }
    absl::string_view name() const { return absl::string_view(key).substr(key.find('/') + 1); }
  };
  using SeriesPtr = std::shared_ptr<Series>;
  using Recent = std::list<SeriesPtr>;

  SeriesPtr SeriesOf(const EventNote& note) {
    const absl::string_view ns = note.regarding.ns.empty() ? "default" : absl::string_view(note.regarding.ns);
    std::string key = absl::StrCat(ns, "/", EventName(options_.component, note));
    if (const auto it = by_key_.find(key); it != by_key_.end()) {
      recent_.splice(recent_.begin(), recent_, it->second);
      return *it->second;
    }
    auto series = std::make_shared<Series>();
    series->key = std::move(key);
    series->first = loop_.Now();
    recent_.push_front(series);
    by_key_.emplace(series->key, recent_.begin());
    if (recent_.size() > options_.remembered) {  // one that is being written goes on being so
      by_key_.erase(recent_.back()->key);
      recent_.pop_back();
    }
    return series;
  }

  void Schedule(const SeriesPtr& series) {
    if (series->scheduled || series->sending > 0 || series->unsent == 0) return;
    series->scheduled = true;
    if (series->not_before <= loop_.Now()) return Enter(series);
    loop_.PostAt(series->not_before, owner_.token(), [this, series] { Enter(series); });
  }

  void Enter(const SeriesPtr& series) {
    if (ready_.empty()) in_line_since_ = loop_.Now();
    ready_.push_back(series);
    Pump();
  }

  void PumpAt(absl::Time when) {
    if (pump_ != 0) return;
    pump_ = loop_.PostAt(when, owner_.token(), [this] {
      pump_ = 0;
      Pump();
    });
  }

  void Pump() {
    while (!ready_.empty() && in_flight_ < options_.max_in_flight) {
      const absl::Time now = loop_.Now();
      if (options_.busy && now < in_line_since_ + options_.patience && options_.busy()) return PumpAt(now + kLookAgain);
      if (!limiter_.TryTake(now)) return PumpAt(limiter_.NextAt());
      const SeriesPtr series = std::move(ready_.front());
      ready_.pop_front();
      series->scheduled = false;
      in_line_since_ = now;  // of those behind it
      Send(series);
    }
  }

  void Send(const SeriesPtr& series) {
    series->sending = std::exchange(series->unsent, 0);
    ++in_flight_;
    Request request;
    request.query = series->look_up ? "" : kNoFieldValidation;
    if (series->look_up) {
      request.method = "GET";
      request.path = api::PathOf(api::kEvents, series->ns(), series->name());
    } else if (series->written == 0) {
      request.method = "POST";
      request.path = api::PathOf(api::kEvents, series->ns());
      request.body = NewEvent(*series);
    } else {
      request.method = "PATCH";
      request.path = api::PathOf(api::kEvents, series->ns(), series->name());
      request.content_type = "application/merge-patch+json";
      api::JsonWriter(request.body)
          .BeginObject()
          .Field("count", static_cast<int>(series->written + series->sending))
          .Field("lastTimestamp", api::FormatTime(series->last))
          .EndObject();
    }
    client_.Send(std::move(request), owner_.token(),
                 [this, series](const absl::StatusOr<Response>& reply) { OnReply(series, reply); });
  }

  void OnReply(const SeriesPtr& series, const absl::StatusOr<Response>& reply) {
    --in_flight_;
    const std::int32_t sent = std::exchange(series->sending, 0);
    const bool posted = !series->look_up && series->written == 0;
    const int code = reply.ok() ? reply->code : 0;
    if (reply.ok() && reply->ok()) {
      series->look_up ? TakeCount(*series, sent, *reply->body) : TakeWritten(*series, sent);
    } else if (posted && code == 409) {  // of an earlier life of ours, or our reply was lost
      series->look_up = true;
      TryAgain(*series, sent, absl::ZeroDuration());
    } else if (!posted && code == 404) {  // it expired
      series->look_up = false;
      series->written = 0;
      series->first = series->last;
      TryAgain(*series, sent, absl::ZeroDuration());
    } else if (!reply.ok() || code == 408 || code == 429 || code >= 500) {
      const absl::Duration asked =
          reply.ok() ? reply->retry_after.value_or(absl::ZeroDuration()) : absl::ZeroDuration();
      TryAgain(*series, sent, std::max(asked, options_.backoff.Next(series->attempts, loop_.Random())));
    } else {
      log::Warning("event refused", {{"namespace", series->ns()}, {"error", StatusFromResponse(*reply).message()}});
      Drop(*series, sent);
    }
    Schedule(series);
    Pump();
  }

  void TakeCount(Series& series, std::int32_t sent, absl::string_view body) {
    series.look_up = false;
    const auto event = api::Decode<EventView>(body);
    series.written = event.ok() ? std::max(event->count, 1) : 1;
    series.unsent += sent;  // a PATCH adds them
  }

  void TakeWritten(Series& series, std::int32_t sent) {
    (series.written == 0 ? created_ : counted_).Add();
    series.written += sent;
    series.attempts = 0;
    series.not_before = loop_.Now() + options_.repeat_interval;
    if (series.unsent == 0) Rest(series);
  }

  void Rest(Series& series) {
    --waiting_;
    std::string().swap(series.note);  // assigned to, it would keep its room
  }

  void TryAgain(Series& series, std::int32_t sent, absl::Duration delay) {
    if (++series.attempts >= options_.attempts) return Drop(series, sent);
    series.unsent += sent;
    series.not_before = loop_.Now() + delay;
  }

  void Drop(Series& series, std::int32_t sent) {
    dropped_.Add(sent + series.unsent);
    series.unsent = 0;
    series.attempts = 0;
    Rest(series);
  }

  std::string NewEvent(const Series& series) const {
    const EventNote note = Unpacked(series.note);
    const api::ObjectReference& object = note.regarding;
    std::string body;
    api::JsonWriter json(body);
    const auto optional = [&json](const char* key, const std::string& value) {
      if (!value.empty()) json.Field(key, value);
    };
    json.BeginObject().Field("kind", "Event").Field("apiVersion", "v1");
    json.Key("metadata").BeginObject().Field("name", series.name()).Field("namespace", series.ns()).EndObject();
    json.Key("involvedObject").BeginObject();
    optional("kind", object.kind);
    optional("namespace", object.ns);
    optional("name", object.name);
    optional("uid", object.uid);
    optional("apiVersion", object.api_version);
    optional("resourceVersion", object.resource_version);
    optional("fieldPath", object.field_path);
    json.EndObject();
    json.Field("reason", note.reason).Field("message", note.message);
    json.Key("source").BeginObject().Field("component", options_.component);
    optional("host", options_.host);
    json.EndObject();
    json.Field("firstTimestamp", api::FormatTime(series.first)).Field("lastTimestamp", api::FormatTime(series.last));
    json.Field("count", static_cast<int>(series.sending)).Field("type", TypeName(note.type));
    json.Key("eventTime").Null();
    json.Field("reportingComponent", options_.component).Field("reportingInstance", options_.host).EndObject();
    return body;
  }

  Loop& loop_;
  Client& client_;
  RecorderOptions options_;
  RateLimiter limiter_;
  Recent recent_;                                                    // the latest first
  absl::flat_hash_map<absl::string_view, Recent::iterator> by_key_;  // keys are those of the series
  std::deque<SeriesPtr> ready_;
  absl::Time in_line_since_ = absl::InfinitePast();  // the first in line
  std::size_t waiting_ = 0;                          // series with something not yet written
  int in_flight_ = 0;
  Loop::TimerId pump_ = 0;
  Counter created_, counted_, dropped_;
  Owner owner_;
};

Recorder::Recorder(Loop& loop, Client& client, RecorderOptions options)
    : impl_(std::make_unique<Impl>(loop, client, std::move(options))) {}
Recorder::~Recorder() = default;
void Recorder::Record(const EventNote& note) { impl_->Record(note); }
std::size_t Recorder::waiting() const { return impl_->waiting(); }

}  // namespace gangway::kube
