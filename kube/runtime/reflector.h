// The list, the watch and the rules beneath Informer<T> (informer.h), knowing nothing of types. Used on its loop.
//
// List in pages at one resourceVersion, then watch from there with bookmarks. A watch that ends is resumed at the last
// resourceVersion seen; 410 lists again. Errors wait with a jittered back-off, which stays short when it is that nobody
// answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/resource.h"
#include "base/backoff.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"

namespace gangway::kube {

struct InformerOptions {
  std::string ns = {};  // "" = all
  // Informers only: when not empty, these instead of `ns`, each with a list and a watch of its own. Ignored for kinds
  // without namespace.
  std::vector<std::string> namespaces = {};
  std::vector<std::string> names =
      {};  // the same of a kind without namespace: objects with these names, instead of `field_selector`
  std::string label_selector = {};  // as kubectl -l takes it
  std::string field_selector = {};
  int page_size = 500;
  bool keep_objects = true;  // false: only key, UID and resourceVersion are kept
  bool optional =
      false;  // a server that does not serve the resource has none of it: synced and empty, asked again now and then
  bool unless_forbidden = false;  // the same of a server that does not let us read it; the log says so once
  // The server ends a watch after a time between this and twice this; the cache resumes. Zero: the server's own limit.
  absl::Duration watch_timeout = absl::Minutes(5);
  Backoff backoff = {absl::Milliseconds(200), absl::Seconds(30)};
  Metrics* metrics = nullptr;  // may be null; must outlive the cache
};

class Reflector {
 public:
  using Object = std::shared_ptr<const void>;
  using Decode = absl::StatusOr<Object> (*)(absl::string_view json);
  using OnChange = absl::AnyInvocable<void(const api::NamespacedName&, const Object& before, const Object& after)>;
  using OnSynced = absl::AnyInvocable<void()>;
  // `regarding` names the object (kind, namespace, name, UID, resourceVersion), ready for an event. Its name is empty
  // when not even the metadata could be read.
  using OnDecodeError = absl::AnyInvocable<void(const api::ObjectReference& regarding, const absl::Status&)>;

  Reflector(Loop& loop, Client& client, const api::Resource& resource, InformerOptions options);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void SetOnDecodeError(OnDecodeError on_error) { on_decode_error_ = std::move(on_error); }
  void Keep() { options_.keep_objects = true; }  // before Start()
  void Start(Decode decode, OnChange on_change, OnSynced on_synced);

  bool synced() const { return synced_; }
  // What keeps it from being up to date, in one line for a user (refusal.h); "" when nothing does.
  std::string problem() const;
  std::uint64_t seen_up_to() const { return version_; }
  Object Get(const api::NamespacedName& key) const;
  void ForEach(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const;
  std::size_t size() const { return entries_.size(); }

  void ObserveReply(const Write& write, const Response& response);
  void Observe(const Bytes& object);
  void ObserveDeleted(const api::NamespacedName& key, absl::string_view uid);

 private:
  struct Entry {
    std::string uid;
    std::uint64_t version = 0;  // the resourceVersion known
    std::uint64_t list = 0;     // the last list it was in
    Object object;              // null: not kept, or never decoded
    bool told = false;          // on_change_ was told that it is there
    bool unread = false;        // this version did not decode
  };
  struct Identity {  // what an object says of itself
    api::NamespacedName key;
    std::string uid;
    std::uint64_t version = 0;
  };
  enum class Source { kList, kWatch, kReply };

  // The list.
  void List();
  void AskPage();
  void OnPage(const absl::StatusOr<Response>& reply);
  absl::Status TakePage(absl::string_view body);
  void FinishList();
  void GoOnWithout(absl::Duration look_again);
  // The watch.
  void StartWatch();
  void OnFrames(const std::vector<Frame>& frames);
  void OnFrame(const Frame& frame);
  void OnWatchEnd(const absl::Status& status);
  void After(absl::Duration delay, void (Reflector::*step)());
  absl::Duration NextDelay(const absl::Status& status);  // counts a failure
  void Refused(absl::string_view verb, const absl::Status& status);
  void Report(std::string problem);
  void Recovered();
  // The rules.
  absl::StatusOr<Identity> Identify(absl::string_view json) const;
  void TakeObject(const Identity& id, absl::string_view json, Source source);
  void TakeDeletion(const Identity& id);
  void Put(const Identity& id, absl::string_view json, Source source);
  void Remove(const api::NamespacedName& key);
  void SetUnread(Entry& entry, bool unread);
  void ReportDecodeError(const Identity& id, const absl::Status& status);
  std::string Query(absl::string_view first) const;
  bool selective() const { return !options_.label_selector.empty() || !options_.field_selector.empty(); }

  Loop& loop_;
  Client& client_;
  const api::Resource& resource_;
  InformerOptions options_;
  Decode decode_ = nullptr;
  OnChange on_change_;
  OnSynced on_synced_;
  OnDecodeError on_decode_error_;

  absl::btree_map<api::NamespacedName, Entry> entries_;
  std::uint64_t version_ = 0;  // everything up to here has been seen; 0 before the first list
  std::string problem_;
  bool synced_ = false;
  // UIDs we were told are gone before the watch said so, with the number of the list that was under way, or the last.
  absl::btree_map<std::string, std::uint64_t> tombstones_;

  // Of the list under way.
  std::uint64_t list_ = 0;  // counts lists
  std::uint64_t list_version_ = 0;
  std::string continue_;
  bool whole_list_ = false;  // ask for one page: a continue token expired on us

  // In a row: refusals, and times that nobody answered. A server that comes back refuses at first, and is not waited
  // for as if it had refused all the time that it was away.
  int failures_ = 0, unanswered_ = 0;
  std::unique_ptr<Watch> watch_;
  bool watching_ = false;  // false: what the watch still says is not wanted
  absl::Time watch_started_ = absl::InfinitePast();
  Loop::TimerId step_ = 0;
  Counter lists_, watches_, failures_total_, decode_errors_;
  Gauge objects_, unread_;
  Owner owner_;
};

}  // namespace gangway::kube
