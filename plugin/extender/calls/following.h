// One stream of GangScheduler.Follow: a cluster that is told of by changes, and what is decided of it.
//
// What it keeps is bounded: each thing counts kBytesOfOne and the size of the message that told of it, beside texts
// that were ever named and the nodes' table. Beyond the bound the stream ends, and its caller begins another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugin/extender/calls/still_wanted.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {

inline constexpr std::int64_t kBytesOfOne = 512;
// A pattern or selector of a HyperNode is tried on every node.
inline constexpr std::int64_t kBytesOfPattern = std::int64_t{64} << 10;
// Kinds of pods that wait, times nodes, of one decision.
inline constexpr std::int64_t kMaxFollowedFits = 10'000'000;

// Used by one call at a time.
class Following {
 public:
  explicit Following(std::int64_t max_bytes);

  // Carries out the changes of one message; nullopt: it asks for no decision. `now`: when it is, unless the message
  // says so. After an error the stream is over: InvalidArgument names the field, ResourceExhausted the bound.
  absl::StatusOr<std::optional<v1::FollowResponse>> Take(const v1::FollowRequest& request, const gang::Policy& policy,
                                                         absl::Time now, StillWanted still_wanted);
  // That it keeps, as they are counted.
  std::int64_t bytes() const;

 private:
  absl::Status Apply(const v1::Change& change, const std::string& path, absl::Time now);
  absl::Status ApplyPod(const v1::Pod& pod, const std::string& path);
  absl::Status ApplyGang(const v1::Gang& gang, const std::string& path, absl::Time now);
  absl::Status ApplyObject(const std::string& json, const std::string& path);
  absl::Status ApplyGone(const v1::Gone& gone, const std::string& path);
  absl::Status Undo(const v1::Undone& undone, const std::string& path);
  absl::Status UndoTask(model::TaskId task, const std::string& path);
  void RemoveMembers(model::GangId gang, const absl::flat_hash_map<std::string, bool>& but);
  void RemovePodsOf(model::GangId gang);
  void Charge(const std::string& key, std::int64_t bytes);
  void Uncharge(const std::string& key);
  absl::Status CheckFits() const;
  // Whether the table has room for the names of resources that come with it, and a node more.
  template <class F>
  absl::Status CheckNames(const F& fact, const std::string& path) const;
  absl::Status OverBound(const std::string& path) const;
  std::int64_t BytesWith(int more_names, int more_rows) const;
  v1::FollowResponse Decide(const gang::Policy& policy, absl::Time now);
  // Why it waits, or that it does not, was told before.
  bool IsTold(const model::Decision& decision) const;
  void Remember(model::Decision& decision, bool same_reason);
  // What is new of it.
  std::optional<v1::GangDecision> NewsOf(const model::Decision& decision, bool same_reason) const;
  v1::GangDecision About(model::GangId gang) const;

  const std::int64_t max_bytes_;
  model::Cluster cluster_;
  gang::Scratch scratch_;
  gang::Policy policy_;
  std::string scheduler_name_;
  std::int64_t requests_ = 0;
  std::int64_t charged_ = 0;
  absl::flat_hash_map<std::string, std::int64_t> charges_;  // by key of what is kept
  struct Told {
    model::Reason reason;
    std::int64_t request = 0;  // by which it was last decided
  };
  absl::flat_hash_map<model::GangId, Told> told_;  // why gangs wait
  absl::Time look_again_ = absl::InfiniteFuture();
};

}  // namespace gangway::extender
