#include "sandbox/apiserver/watch_hub.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/kind.h"
#include "sandbox/apiserver/facts.h"
#include "sandbox/apiserver/shown.h"

namespace gangway::sandbox {

struct WatchHub::Watcher {
  Id id = 0;
  WatchSpec spec;
  kube::Client::OnFrames on_frames;
  kube::Client::OnEnd on_end;
  std::vector<kube::Frame> waiting;
  Revision told = 0;  // everything up to here is in `waiting` or delivered
  std::optional<absl::Status> end;
  bool awake = false, columns_sent = false;
  Loop::TimerId timer = 0;

  bool Wants(const Record& record) const {
    return (spec.ns.empty() || spec.ns == record.key.ns) && Selects(spec.labels, spec.fields, record);
  }
};

class WatchHub::Handle final : public kube::Watch {
 public:
  Handle(std::weak_ptr<WatchHub*> hub, Id id) : hub_(std::move(hub)), id_(id) {}
  ~Handle() override {
    if (const auto hub = hub_.lock()) (*hub)->Remove(id_);
  }

 private:
  const std::weak_ptr<WatchHub*> hub_;
  const Id id_;
};

WatchHub::WatchHub(Loop& loop, const Store& store, absl::Duration bookmark_interval)
    : loop_(loop), store_(store), bookmark_interval_(bookmark_interval), self_(std::make_shared<WatchHub*>(this)) {}
WatchHub::~WatchHub() = default;

std::unique_ptr<kube::Watch> WatchHub::Start(WatchSpec spec, kube::Client::OnFrames on_frames,
                                             kube::Client::OnEnd on_end) {
  auto watcher = std::make_shared<Watcher>();
  watcher->id = ++last_id_;
  watcher->spec = std::move(spec);
  watcher->on_frames = std::move(on_frames);
  watcher->on_end = std::move(on_end);
  watchers_.emplace(watcher->id, watcher);
  Enter(*watcher);
  if (watcher->spec.error.has_value()) {
    watcher->waiting.push_back({kube::FrameType::kError, MakeBytes(*watcher->spec.error)});
    watcher->end = absl::OkStatus();
    Wake(*watcher);
  } else if (watcher->spec.from.has_value()) {
    store_.ChangesSince(*watcher->spec.resource, *watcher->spec.from,
                        [&](const Change& change) { Offer(*watcher, change); });
    watcher->told = std::max(watcher->told, *watcher->spec.from);
  } else {
    AddInitial(*watcher);
  }
  if (watcher->spec.timeout.has_value()) {
    watcher->timer = loop_.PostAt(loop_.Now() + *watcher->spec.timeout, owner_.token(), [this, id = watcher->id] {
      const auto it = watchers_.find(id);
      if (it == watchers_.end()) return;
      it->second->timer = 0;
      if (it->second->spec.bookmarks && it->second->told < store_.revision()) AddBookmark(*it->second, false);
      it->second->end = absl::OkStatus();
      Wake(*it->second);
    });
  }
  if (watcher->spec.bookmarks && watcher->told < store_.revision()) ArmBookmarks();
  return std::make_unique<Handle>(self_, watcher->id);
}

void WatchHub::Enter(Watcher& watcher) {
  Audience& audience = audiences_[&api::StoredAs(*watcher.spec.resource)];
  const std::string* node = watcher.spec.fields.RequiredValue("spec.nodeName");
  (node == nullptr ? audience.general : audience.by_node[*node]).emplace(watcher.id, &watcher);
}

void WatchHub::Leave(const Watcher& watcher) {
  Audience& audience = audiences_[&api::StoredAs(*watcher.spec.resource)];
  const std::string* node = watcher.spec.fields.RequiredValue("spec.nodeName");
  if (node == nullptr) {
    audience.general.erase(watcher.id);
    return;
  }
  const auto it = audience.by_node.find(*node);
  it->second.erase(watcher.id);
  if (it->second.empty()) audience.by_node.erase(it);
}

void WatchHub::Remove(Id id) {
  const auto it = watchers_.find(id);
  if (it == watchers_.end()) return;
  const std::shared_ptr<Watcher> watcher = it->second;  // its callbacks may own what calls us
  Leave(*watcher);
  if (watcher->timer != 0) loop_.Cancel(watcher->timer);
  watchers_.erase(it);
}

void WatchHub::AddInitial(Watcher& watcher) {
  store_.Scan(*watcher.spec.resource, watcher.spec.ns, nullptr, [&](const RecordPtr& record) {
    if (watcher.Wants(*record))
      watcher.waiting.push_back(
          {kube::FrameType::kAdded, AsVersion(Shown(*record, watcher.spec.managed_fields), *watcher.spec.resource)});
    return true;
  });
  watcher.told = store_.revision();
  if (watcher.spec.mark_initial_end) AddBookmark(watcher, true);
  if (!watcher.waiting.empty()) Wake(watcher);
}

void WatchHub::Offer(Watcher& watcher, const Change& change) {
  if (watcher.end.has_value() || (watcher.spec.from.has_value() && change.revision <= *watcher.spec.from)) return;
  const bool wanted = change.before != nullptr && watcher.Wants(*change.before);
  const bool wants = !change.deleted && watcher.Wants(*change.after);
  if (!wanted && !wants) return;
  watcher.told = change.revision;
  if (wants) {
    watcher.waiting.push_back({wanted ? kube::FrameType::kModified : kube::FrameType::kAdded,
                               AsVersion(Shown(*change.after, watcher.spec.managed_fields), *watcher.spec.resource)});
  } else {
    // kube-apiserver, cacher: the last state that matched, at the revision of the change.
    watcher.waiting.push_back(
        {kube::FrameType::kDeleted,
         AsVersion(change.deleted ? Shown(*change.after, watcher.spec.managed_fields)
                                  : ShownAtRevision(*change.before, change.revision, watcher.spec.managed_fields),
                   *watcher.spec.resource)});
  }
  Wake(watcher);
}

void WatchHub::OfferAll(const absl::btree_map<Id, Watcher*>& watchers, const Change& change) {
  for (const auto& [id, watcher] : watchers) Offer(*watcher, change);
}

void WatchHub::OnCommit(const Change& change) {
  const auto it = audiences_.find(change.after->resource);
  if (it != audiences_.end()) {
    const Audience& audience = it->second;
    OfferAll(audience.general, change);
    if (!audience.by_node.empty()) {
      const absl::string_view now = change.after->fields.Get("spec.nodeName");
      const absl::string_view then = change.before == nullptr ? now : change.before->fields.Get("spec.nodeName");
      if (const auto at = audience.by_node.find(now); at != audience.by_node.end()) OfferAll(at->second, change);
      if (then != now) {
        if (const auto at = audience.by_node.find(then); at != audience.by_node.end()) OfferAll(at->second, change);
      }
    }
  }
  ArmBookmarks();
}

void WatchHub::Wake(Watcher& watcher) {
  if (!watcher.awake) {
    watcher.awake = true;
    awake_.push_back(watcher.id);
  }
  if (flush_posted_) return;
  flush_posted_ = true;
  loop_.Post(owner_.token(), [this] { Flush(); });
}

std::vector<kube::Frame> WatchHub::TakeFrames(Watcher& watcher) {
  std::vector<kube::Frame> frames = std::exchange(watcher.waiting, {});
  if (watcher.spec.representation == schemas::Representation::kObject) return frames;
  for (kube::Frame& frame : frames) {
    if (frame.type == kube::FrameType::kError) continue;
    if (watcher.spec.representation == schemas::Representation::kPartialMetadata) {
      frame.object = MakeBytes(schemas::RenderPartialMetadata(*frame.object));
      continue;
    }
    if (frame.type == kube::FrameType::kBookmark) continue;
    schemas::TableOptions options;
    options.include = watcher.spec.include;
    options.no_columns = std::exchange(watcher.columns_sent, true);
    options.resource_version = std::string(TextAt(Draft::OfStored(*frame.object).object(), "metadata.resourceVersion"));
    frame.object = MakeBytes(
        schemas::RenderTable(*watcher.spec.resource, absl::MakeConstSpan(&frame.object, 1), loop_.Now(), options));
  }
  return frames;
}

void WatchHub::Flush() {
  flush_posted_ = false;
  for (const Id id : std::exchange(awake_, {})) {
    const auto it = watchers_.find(id);
    if (it == watchers_.end()) continue;
    const std::shared_ptr<Watcher> watcher = it->second;  // a callback may destroy the watch
    watcher->awake = false;
    if (!watcher->waiting.empty()) watcher->on_frames(TakeFrames(*watcher));
    if (!watcher->end.has_value() || !watchers_.contains(id)) continue;
    if (!watcher->waiting.empty()) {  // its own callback committed something
      Wake(*watcher);
      continue;
    }
    Remove(id);
    watcher->on_end(*watcher->end);
  }
}

void WatchHub::EndAll(const absl::Status& status) {
  for (auto& [id, watcher] : watchers_) {
    watcher->end = status;
    Wake(*watcher);
  }
}

void WatchHub::EndAllOf(const api::Resource& resource) {
  for (auto& [id, watcher] : watchers_) {
    if (&api::StoredAs(*watcher->spec.resource) != &resource) continue;
    watcher->end = absl::OkStatus();
    Wake(*watcher);
  }
}

void WatchHub::AddBookmark(Watcher& watcher, bool initial_end) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("kind", watcher.spec.resource->kind)
      .Field("apiVersion", watcher.spec.resource->ApiVersion());
  json.Key("metadata").BeginObject().Field("resourceVersion", absl::StrCat(store_.revision()));
  if (initial_end) json.Key("annotations").BeginObject().Field("k8s.io/initial-events-end", "true").EndObject();
  json.EndObject();
  out += watcher.spec.bookmark_rest;
  out += '}';
  watcher.waiting.push_back({kube::FrameType::kBookmark, MakeBytes(std::move(out))});
  watcher.told = store_.revision();
}

// Armed only while a watcher is behind, so that a quiet cluster has no timers.
void WatchHub::ArmBookmarks() {
  if (bookmarks_armed_ || watchers_.empty()) return;
  bookmarks_armed_ = true;
  loop_.PostAt(loop_.Now() + bookmark_interval_, owner_.token(), [this] { SendBookmarks(); });
}

void WatchHub::SendBookmarks() {
  bookmarks_armed_ = false;
  for (auto& [id, watcher] : watchers_) {
    if (!watcher->spec.bookmarks || watcher->told >= store_.revision()) continue;
    AddBookmark(*watcher, false);
    Wake(*watcher);
  }
}

}  // namespace gangway::sandbox
