#include "kube/runtime/reflector.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "kube/client/status.h"
#include "kube/runtime/refusal.h"

namespace gangway::kube {
namespace {

using api::MakeField;
using api::MakeFields;

// A watch that ends sooner than this without a word is a failure, however orderly it ended.
constexpr absl::Duration kShortWatch = absl::Seconds(1);
// A watch that lives longer than this was not refused. When it brings nothing our own client may close it, to be sure
// that it does not hang.
constexpr absl::Duration kAcceptedWatch = absl::Seconds(5);
// After a server said that it does not have an optional resource.
constexpr absl::Duration kNotServedLook = absl::Minutes(5);

struct IdentityMeta {
  std::string ns, name, uid, resource_version;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "ObjectMeta";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&IdentityMeta::name>("name", ""), MakeField<&IdentityMeta::ns>("namespace", ""),
                      MakeField<&IdentityMeta::uid>("uid", ""),
                      MakeField<&IdentityMeta::resource_version>("resourceVersion", ""));
  }
};
struct IdentityView {
  std::string kind, api_version;
  IdentityMeta metadata;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Object";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&IdentityView::kind>("kind", ""),
                      MakeField<&IdentityView::api_version>("apiVersion", ""),
                      MakeField<&IdentityView::metadata>("metadata", ""));
  }
};

struct ListMeta {
  std::string resource_version, continue_token;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "ListMeta";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ListMeta::resource_version>("resourceVersion", ""),
                      MakeField<&ListMeta::continue_token>("continue", ""));
  }
};
struct ListPage {
  ListMeta metadata;
  std::vector<api::Document> items;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "List";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ListPage::metadata>("metadata", ""), MakeField<&ListPage::items>("items", ""));
  }
};

absl::StatusOr<std::uint64_t> ParseVersion(absl::string_view text) {
  std::uint64_t version = 0;
  if (!absl::SimpleAtoi(text, &version)) {
    return absl::InvalidArgumentError(absl::StrCat("metadata.resourceVersion: \"", text, "\" is no number"));
  }
  return version;
}

// Whether a 404 says that this very object is missing, and not its namespace or its whole API.
bool SaysObjectIsGone(const Response& response, const Write& write) {
  const auto status = api::Decode<StatusView>(*response.body);
  return status.ok() && status->reason == "NotFound" && status->details.name == write.name &&
         (status->details.kind == View(write.resource->plural) || status->details.kind == View(write.resource->kind));
}

bool IsStatusObject(absl::string_view json) {
  const auto status = api::Decode<StatusView>(json);
  return status.ok() && status->kind == "Status";
}

}  // namespace

Reflector::Reflector(Loop& loop, Client& client, const api::Resource& resource, InformerOptions options)
    : loop_(loop), client_(client), resource_(resource), options_(std::move(options)) {
  if (options_.metrics == nullptr) return;
  Metrics& metrics = *options_.metrics;
  const MetricLabels labels = {{"resource", std::string(resource_.plural)}};
  lists_ = metrics.AddCounter("gangway_cache_lists_total", "Lists begun", labels);
  watches_ = metrics.AddCounter("gangway_cache_watches_total", "Watches begun", labels);
  failures_total_ = metrics.AddCounter("gangway_cache_failures_total", "Lists and watches that failed", labels);
  decode_errors_ = metrics.AddCounter("gangway_cache_decode_errors_total", "Objects that did not decode", labels);
  objects_ = metrics.AddGauge("gangway_cache_objects", "Objects known", labels);
  unread_ = metrics.AddGauge("gangway_cache_unread_objects", "Objects there whose last version did not decode", labels);
}

Reflector::~Reflector() {
  objects_.Add(-static_cast<double>(entries_.size()));
  for (auto& [key, entry] : entries_) SetUnread(entry, false);
}

void Reflector::Start(Decode decode, OnChange on_change, OnSynced on_synced) {
  decode_ = decode;
  on_change_ = std::move(on_change);
  on_synced_ = std::move(on_synced);
  After(absl::ZeroDuration(), &Reflector::List);
}

Reflector::Object Reflector::Get(const api::NamespacedName& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : it->second.object;
}

void Reflector::ForEach(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const {
  for (const auto& [key, entry] : entries_) {
    if (entry.told) f(key, entry.object);
  }
}

void Reflector::After(absl::Duration delay, void (Reflector::*step)()) {
  loop_.Cancel(step_);
  step_ = loop_.PostAt(loop_.Now() + delay, owner_.token(), [this, step] {
    step_ = 0;
    (this->*step)();
  });
}

absl::Duration Reflector::NextDelay(const absl::Status& status) {
  failures_total_.Add();
  if (IsUnreached(status)) return std::min(options_.backoff.Next(unanswered_++, loop_.Random()), kUnreachedPause);
  return options_.backoff.Next(failures_++, loop_.Random());
}

std::string Reflector::Query(absl::string_view first) const {
  std::string query(first);
  if (!options_.label_selector.empty())
    absl::StrAppend(&query, "&labelSelector=", PercentEncode(options_.label_selector));
  if (!options_.field_selector.empty())
    absl::StrAppend(&query, "&fieldSelector=", PercentEncode(options_.field_selector));
  return query;
}

void Reflector::List() {
  watching_ = false;
  watch_.reset();
  ++list_;
  list_version_ = 0;
  continue_.clear();
  lists_.Add();
  AskPage();
}

void Reflector::AskPage() {
  Request request;
  request.method = "GET";
  request.path = api::PathOf(resource_, options_.ns);
  request.query = Query(whole_list_ ? "limit=0" : absl::StrCat("limit=", options_.page_size));
  if (!continue_.empty()) absl::StrAppend(&request.query, "&continue=", PercentEncode(continue_));
  client_.Send(std::move(request), owner_.token(), [this](const absl::StatusOr<Response>& reply) { OnPage(reply); });
}

void Reflector::OnPage(const absl::StatusOr<Response>& reply) {
  if (reply.ok() && reply->ok()) {
    const absl::Status taken = TakePage(*reply->body);
    if (taken.ok() && continue_.empty()) return FinishList();
    if (taken.ok()) return;
    Report(absl::StrCat("list of ", FullName(resource_), " cannot be used: ", taken.message()));
    return After(NextDelay(taken), &Reflector::List);
  }
  const absl::Status status = reply.ok() ? StatusFromResponse(*reply) : reply.status();
  if (absl::IsOutOfRange(status)) {
    // The pages took longer than the server keeps its history: ask for all at once.
    whole_list_ = true;
    return After(NextDelay(status), &Reflector::List);
  }
  if (options_.optional && absl::IsNotFound(status)) {
    failures_ = unanswered_ = 0;
    return GoOnWithout(kNotServedLook);
  }
  if (options_.unless_forbidden && absl::IsPermissionDenied(status)) {
    if (!synced_ || !entries_.empty())
      log::Warning(absl::StrCat(ExplainRefusal(resource_, "list", options_.ns, status), "; going on without"));
    return GoOnWithout(NextDelay(status));
  }
  Refused("list", status);
  const absl::Duration asked = reply.ok() ? reply->retry_after.value_or(absl::ZeroDuration()) : absl::ZeroDuration();
  After(std::max(NextDelay(status), asked), &Reflector::AskPage);
}

absl::Status Reflector::TakePage(absl::string_view body) {
  GW_ASSIGN_OR_RETURN(ListPage page, api::Decode<ListPage>(body));
  GW_ASSIGN_OR_RETURN(const std::uint64_t version, ParseVersion(page.metadata.resource_version));
  if (version < version_) {
    return absl::UnavailableError(
        absl::StrCat("list is of resourceVersion ", version, ", ", version_, " was seen already"));
  }
  if (list_version_ == 0) list_version_ = version;
  continue_ = std::move(page.metadata.continue_token);
  if (!continue_.empty()) AskPage();  // the server makes it ready while we read this one
  for (const api::Document& item : page.items) {
    const absl::StatusOr<Identity> id = Identify(item.json);
    if (id.ok()) {
      TakeObject(*id, item.json, Source::kList);
    } else {
      ReportDecodeError({}, id.status());
    }
  }
  return absl::OkStatus();
}

// --- what stands in its way

// A resource that is not found may be missing with its whole API group, or be served in other versions: the group says.
void Reflector::Refused(absl::string_view verb, const absl::Status& status) {
  if (IsUnreached(status)) {
    problem_ = absl::StrCat("the API server does not answer: ", WhyUnreached(status));
    return log::Warning("API server not reached", {{"error", WhyUnreached(status)}});
  }
  if (!absl::IsNotFound(status) || resource_.group.empty()) {
    return Report(absl::IsNotFound(status) ? ExplainNotFound(resource_, {})
                                           : ExplainRefusal(resource_, verb, options_.ns, status));
  }
  Request request;
  request.method = "GET";
  request.path = absl::StrCat("/apis/", View(resource_.group));
  client_.Send(std::move(request), owner_.token(), [this](const absl::StatusOr<Response>& reply) {
    if (reply.ok()) Report(ExplainNotFound(resource_, reply->ok() ? VersionsFrom(*reply->body) : std::nullopt));
  });
}

void Reflector::Report(std::string problem) {
  problem_ = std::move(problem);
  log::Warning(problem_, {{"resource", FullName(resource_)}});
}

void Reflector::Recovered() {
  if (problem_.empty()) return;
  problem_.clear();
  log::Info("read again", {{"resource", FullName(resource_)}});
}

std::string Reflector::problem() const {
  if (!problem_.empty() && watching_ && loop_.Now() - watch_started_ > kAcceptedWatch) return "";
  return problem_;
}

void Reflector::FinishList() {
  Recovered();
  std::vector<api::NamespacedName> gone;
  for (const auto& [key, entry] : entries_) {
    // What is newer than the list came as the reply to a write of ours.
    if (entry.list != list_ && entry.version <= list_version_) gone.push_back(key);
  }
  for (const api::NamespacedName& key : gone) Remove(key);
  // A list asked for after a deletion we were told of does not hold the object any more.
  for (auto it = tombstones_.begin(); it != tombstones_.end();)
    it = it->second < list_ ? tombstones_.erase(it) : std::next(it);
  version_ = list_version_;
  whole_list_ = false;
  StartWatch();
  if (!synced_) {
    synced_ = true;
    if (on_synced_) on_synced_();
  }
}

void Reflector::GoOnWithout(absl::Duration look_again) {
  Recovered();
  std::vector<api::NamespacedName> gone;  // it was served before
  for (const auto& [key, entry] : entries_) gone.push_back(key);
  for (const api::NamespacedName& key : gone) Remove(key);
  After(look_again, &Reflector::List);
  if (synced_) return;
  synced_ = true;
  if (on_synced_) on_synced_();
}

void Reflector::StartWatch() {
  std::string query = absl::StrCat("watch=true&allowWatchBookmarks=true&resourceVersion=", version_);
  if (options_.watch_timeout > absl::ZeroDuration()) {
    const absl::Duration timeout = options_.watch_timeout * (1.0 + UnitInterval(loop_.Random()));
    absl::StrAppend(&query, "&timeoutSeconds=", std::max<std::int64_t>(1, absl::ToInt64Seconds(timeout)));
  }
  Request request;
  request.method = "GET";
  request.path = api::PathOf(resource_, options_.ns);
  request.query = Query(query);
  watches_.Add();
  watch_.reset();
  watching_ = true;
  watch_started_ = loop_.Now();
  watch_ = client_.StartWatch(
      std::move(request), owner_.token(), [this](const std::vector<Frame>& frames) { OnFrames(frames); },
      [this](const absl::Status& status) { OnWatchEnd(status); });
}

void Reflector::OnFrames(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (!watching_) return;
    OnFrame(frame);
  }
}

void Reflector::OnFrame(const Frame& frame) {
  if (frame.type == FrameType::kError) {
    absl::Status status = StatusFromObject(*frame.object);
    return OnWatchEnd(status.ok() ? absl::UnknownError("an error frame without an error") : status);
  }
  failures_ = unanswered_ = 0;
  Recovered();
  const absl::StatusOr<Identity> id = Identify(*frame.object);
  if (!id.ok()) return ReportDecodeError({}, id.status());
  switch (frame.type) {
    case FrameType::kAdded:
    case FrameType::kModified:
      TakeObject(*id, *frame.object, Source::kWatch);
      break;
    case FrameType::kDeleted:
      TakeDeletion(*id);
      break;
    case FrameType::kBookmark:
    case FrameType::kError:
      break;
  }
  version_ = std::max(version_, id->version);
}

void Reflector::OnWatchEnd(const absl::Status& status) {
  if (!watching_) return;
  watching_ = false;  // the watch itself is destroyed by the next step, not within its own callback
  const absl::Duration lived = loop_.Now() - watch_started_;
  if (absl::IsOutOfRange(status)) {
    log::Debug("watch too old, listing again", {{"resource", resource_.plural}, {"resource_version", version_}});
    const bool first = failures_ == 0;
    const absl::Duration delay = NextDelay(status);
    return After(first ? absl::ZeroDuration() : delay, &Reflector::List);
  }
  const bool quiet = absl::IsDeadlineExceeded(status) && lived >= kAcceptedWatch;
  if ((status.ok() && lived >= kShortWatch) || quiet) return After(absl::ZeroDuration(), &Reflector::StartWatch);
  log::Debug("watch ended", {{"resource", resource_.plural}, {"error", status}, {"lived", lived}});
  if (!status.ok()) Refused("watch", status);
  After(NextDelay(status), &Reflector::StartWatch);
}

absl::StatusOr<Reflector::Identity> Reflector::Identify(absl::string_view json) const {
  GW_ASSIGN_OR_RETURN(IdentityView view, api::Decode<IdentityView>(json));
  // Items of a list and bookmarks may leave out their kind.
  if (!view.kind.empty() && view.kind != View(resource_.kind)) {
    return absl::InvalidArgumentError(absl::StrCat("kind ", view.kind, " is not ", View(resource_.kind)));
  }
  Identity id;
  GW_ASSIGN_OR_RETURN(id.version, ParseVersion(view.metadata.resource_version));
  id.key = {std::move(view.metadata.ns), std::move(view.metadata.name)};
  id.uid = std::move(view.metadata.uid);
  return id;
}

void Reflector::TakeObject(const Identity& id, absl::string_view json, Source source) {
  if (tombstones_.contains(id.uid)) return;
  const auto it = entries_.find(id.key);
  const bool known = it != entries_.end() && it->second.uid == id.uid;
  if (it != entries_.end()) {
    if (source == Source::kList) it->second.list = list_;
    if (id.version <= it->second.version) return;
  }
  if (source == Source::kReply && !known) {
    // The watch is past this version and does not know the object: it is gone again.
    if (id.version <= version_) return;
    if (selective()) return;
  }
  Put(id, json, source);
}

void Reflector::TakeDeletion(const Identity& id) {
  tombstones_.erase(id.uid);
  const auto it = entries_.find(id.key);
  if (it == entries_.end()) return;
  if (it->second.uid == id.uid || id.version > it->second.version) Remove(id.key);
}

void Reflector::Put(const Identity& id, absl::string_view json, Source source) {
  if (const auto it = entries_.find(id.key); it != entries_.end() && it->second.uid != id.uid) Remove(id.key);
  const auto [it, added] = entries_.try_emplace(id.key);
  Entry& entry = it->second;
  if (added) objects_.Add(1);
  entry.uid = id.uid;
  entry.version = id.version;
  if (source == Source::kList) entry.list = list_;
  absl::StatusOr<Object> object = decode_(json);
  SetUnread(entry, !object.ok());
  if (!object.ok()) return ReportDecodeError(id, object.status());
  entry.told = true;
  const Object before = options_.keep_objects ? std::exchange(entry.object, *object) : nullptr;
  on_change_(id.key, before, *object);
}

void Reflector::Remove(const api::NamespacedName& key) {
  const auto it = entries_.find(key);
  SetUnread(it->second, false);
  const Entry entry = std::move(it->second);
  entries_.erase(it);
  objects_.Add(-1);
  if (entry.told) on_change_(key, entry.object, nullptr);
}

void Reflector::SetUnread(Entry& entry, bool unread) {
  if (entry.unread == unread) return;
  entry.unread = unread;
  unread_.Add(unread ? 1 : -1);
}

void Reflector::ReportDecodeError(const Identity& id, const absl::Status& status) {
  decode_errors_.Add();
  log::Warning("object does not decode",
               {{"resource", resource_.plural}, {"object", id.key.ToString()}, {"error", status}});
  if (!on_decode_error_) return;
  api::ObjectReference regarding;
  regarding.api_version = resource_.ApiVersion();
  regarding.kind = std::string(resource_.kind);
  regarding.ns = id.key.ns;
  regarding.name = id.key.name;
  regarding.uid = id.uid;
  if (id.version != 0) regarding.resource_version = absl::StrCat(id.version);
  on_decode_error_(regarding, status);
}

void Reflector::Observe(const Bytes& object) {
  if (decode_ == nullptr) return;  // not started: the first list will tell
  const absl::StatusOr<Identity> id = Identify(*object);
  if (!id.ok() || id->uid.empty()) return;  // a Status, a Scale: no object of ours
  if (!options_.ns.empty() && id->key.ns != options_.ns) return;
  TakeObject(*id, *object, Source::kReply);
}

void Reflector::ObserveDeleted(const api::NamespacedName& key, absl::string_view uid) {
  const auto it = entries_.find(key);
  if (uid.empty() || it == entries_.end() || it->second.uid != uid) return;
  tombstones_.emplace(it->second.uid, list_);
  Remove(key);
}

void Reflector::ObserveReply(const Write& write, const Response& response) {
  if (write.resource != &resource_) return;
  const api::NamespacedName key{write.ns, write.name};
  if (response.ok()) {
    if (write.verb == Verb::kDelete && IsStatusObject(*response.body)) return ObserveDeleted(key, write.uid);
    return Observe(response.body);
  }
  if (response.code == 404 && SaysObjectIsGone(response, write)) ObserveDeleted(key, write.uid);
}

}  // namespace gangway::kube
