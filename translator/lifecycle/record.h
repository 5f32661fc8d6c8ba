// What we must remember of a Job stands in annotations of the Job itself, and of what was made for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "translator/convert/gang.h"

namespace gangway::paddle_lifecycle {

// Of which spec it was made: "<hash> ps=2,worker=2", see Wanted::translation. Also on companions.
inline constexpr absl::string_view kTranslationKey = "paddle.gangway.io/translation";
// Restarts of the PaddleJob before this Job was made; absent: 0.
inline constexpr absl::string_view kRestartsKey = "paddle.gangway.io/restarts";
// Failed pods of an elastic job that were deleted so that new ones come: how many in all, and the UIDs of the last
// ones: "3 <uid> <uid>".
inline constexpr absl::string_view kReplacedKey = "paddle.gangway.io/replaced";
// The priority class that the PaddleJob asked for when it was last carried over.
inline constexpr absl::string_view kPriorityKey = "paddle.gangway.io/priority-class";
// "2:4": the workers of an elastic job, at least and at most.
inline constexpr absl::string_view kElasticKey = "paddle.gangway.io/elastic";
// "true": it is aborted because the PaddleJob is suspended, and goes on with it.
inline constexpr absl::string_view kSuspendedKey = "paddle.gangway.io/suspended";
// How many config maps and Services were made before it; absent: none.
inline constexpr absl::string_view kCompanionsKey = "paddle.gangway.io/companions";
// The UID of the PodGroup written by hand that was looked at for it, and taken over or told of.
inline constexpr absl::string_view kPodGroupKey = "paddle.gangway.io/pod-group";

struct Replaced {
  std::int32_t count = 0;
  std::vector<std::string> pods;  // UIDs
  std::string ToString() const;
  bool Contains(absl::string_view uid) const;
};

struct JobRecord {
  std::string translation;  // "": none
  std::int32_t restarts = 0;
  Replaced replaced;
  std::optional<std::string> priority_class;
  std::optional<convert::ElasticBounds> bounds;  // of an elastic job
  bool suspended = false;
  std::int32_t companions = 0;
  std::string group;  // "": none
  bool elastic() const { return bounds.has_value(); }
};
// What cannot be read counts as absent.
JobRecord ReadRecord(const api::ObjectMeta& job);

}  // namespace gangway::paddle_lifecycle
