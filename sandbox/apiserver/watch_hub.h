// Hands every commit to the watchers it concerns, in batches.
//
// Used on one loop. Frames wait per watcher and go out from a task of their own, never from within a commit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/resource.h"
#include "api/schemas/table.h"
#include "api/selector.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

struct WatchSpec {
  const api::Resource* resource = nullptr;
  std::string ns;  // "" = all
  api::LabelSelector labels;
  api::FieldSelector fields;
  bool bookmarks = false;
  std::optional<absl::Duration> timeout;
  schemas::Representation representation = schemas::Representation::kObject;
  schemas::IncludeObject include = schemas::IncludeObject::kMetadata;
  bool managed_fields = false;
  // Start: the changes after this revision; unset: what is there now, as additions, and the changes after that.
  std::optional<Revision> from;
  std::optional<std::string> error;  // a Status: the watch tells it and ends
  std::string bookmark_rest;         // what stands in a bookmark beside its metadata: `,"spec":{}`
  bool mark_initial_end = false;     // a bookmark that says where the initial additions end
};

class WatchHub {
 public:
  WatchHub(Loop& loop, const Store& store, absl::Duration bookmark_interval);
  ~WatchHub();

  // spec.from is not below store.compacted_revision(), unless there is an error. From a revision to come, nothing is
  // told before it.
  std::unique_ptr<kube::Watch> Start(WatchSpec spec, kube::Client::OnFrames on_frames, kube::Client::OnEnd on_end);
  // Within each commit.
  void OnCommit(const Change& change);
  // Ends every watch after the frames it still has to get.
  void EndAll(const absl::Status& status);
  // The same of those of one kind, which is no longer served: the resource that stands for all its versions.
  void EndAllOf(const api::Resource& resource);
  std::size_t size() const { return watchers_.size(); }

 private:
  struct Watcher;
  class Handle;
  using Id = std::uint64_t;
  // Watchers of one resource: those that ask for the pods of one node are found by the node.
  struct Audience {
    absl::btree_map<Id, Watcher*> general;
    absl::flat_hash_map<std::string, absl::btree_map<Id, Watcher*>> by_node;
  };

  void Enter(Watcher& watcher);
  void Leave(const Watcher& watcher);
  void Offer(Watcher& watcher, const Change& change);
  void OfferAll(const absl::btree_map<Id, Watcher*>& watchers, const Change& change);
  void AddInitial(Watcher& watcher);
  void AddBookmark(Watcher& watcher, bool initial_end);
  void Wake(Watcher& watcher);
  void Flush();
  std::vector<kube::Frame> TakeFrames(Watcher& watcher);
  void Remove(Id id);
  void ArmBookmarks();
  void SendBookmarks();

  Loop& loop_;
  const Store& store_;
  const absl::Duration bookmark_interval_;
  Id last_id_ = 0;
  absl::btree_map<Id, std::shared_ptr<Watcher>> watchers_;
  absl::flat_hash_map<const api::Resource*, Audience> audiences_;
  std::vector<Id> awake_;  // with frames or an end to deliver
  bool flush_posted_ = false, bookmarks_armed_ = false;
  std::shared_ptr<WatchHub*> self_;  // for handles; null when the hub is gone
  Owner owner_;
};

}  // namespace gangway::sandbox
