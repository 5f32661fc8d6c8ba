// Names of a cluster under other names that say nothing of it, and that go together as they did: a pod `ctr-worker-0`
// of the Job `ctr` is `cb-cc-0`, of the Job `cb`.
//
// A text is cut into words of letters and digits. The same word always becomes the same other one, given out in the
// order in which words come; what stands between words stays. So do small numbers, alone or with a unit (`0`, `8Gi`,
// `2h`), and words of Kubernetes' and Volcano's own (`default`, `volcano`, `true`). Addresses like `10-1-2-3` do not.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace gangway::snapshot {

class Pseudonyms {
 public:
  std::string Of(absl::string_view text);
  // The same of what may be somebody's well-known key: `nvidia.com/gpu` stays, `acme.com/gpu` does not.
  std::string OfKey(absl::string_view key);

 private:
  const std::string& OfWord(absl::string_view word);

  absl::flat_hash_map<std::string, std::string> given_;
  std::size_t next_ = 0;
};

// Whether it begins with a domain of Kubernetes, Volcano, Paddle, ourselves or a maker of devices:
// "volcano.sh/task-spec".
bool IsWellKnownKey(absl::string_view key);

}  // namespace gangway::snapshot
