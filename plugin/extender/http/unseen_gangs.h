// Gangs that a scheduler asks about and our watch has not shown: most are too new, and some never come, because their
// PodGroup cannot be read or is in a namespace that we may not look into.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::extender {

// Used on one loop.
class UnseenGangs {
 public:
  // For so long after the first question a gang is taken to be too new.
  static constexpr absl::Duration kTooNew = absl::Seconds(10);
  static constexpr std::size_t kMaxKept = 10'000;  // beyond, all count anew

  // The scheduler asks about `job` ("namespace/podgroup") now. kTooNew: the watch shows it in a moment. kFirstUnseen:
  // it has had the time, and this is the first time to say so; kUnseen: said before. A gang that is not asked about for
  // kTooNew counts anew.
  enum class Answer { kTooNew, kFirstUnseen, kUnseen };
  Answer Ask(absl::string_view job, absl::Time now);
  // Those that have had the time, by name.
  std::vector<std::string> Unseen(absl::Time now) const;

 private:
  struct Asked {
    absl::Time first, last;
    bool told = false;
  };
  absl::btree_map<std::string, Asked> asked_;  // by job
};

}  // namespace gangway::extender
