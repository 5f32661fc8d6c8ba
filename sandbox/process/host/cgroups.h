// Limits of containers by control groups, where the machine lets us have some (cgroups(7), of both versions).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// Where the machine shows its control groups.
struct CgroupPlace {
  std::string root = "/sys/fs/cgroup";
  std::string own = "/proc/self/cgroup";  // which of them we are in
};

// One group for all of the sandbox, and below it one for each run. `name` is that of the one. It is at the root; of
// version 2 also near the group that we are in, where that part is ours: what a login or a container of systemd is
// given (Delegate=yes).
class Cgroups {
 public:
  explicit Cgroups(std::string name, const CgroupPlace& place = {});

  // Why there are no limits; "" when there are.
  const std::string& missing() const { return missing_; }
  // The files to write "0" into for joining the group of a run, which is made; empty without limits.
  std::vector<std::string> Make(absl::string_view run, std::int64_t memory_bytes, std::int64_t milli_cpu);
  // Whether a process of the run was killed for want of memory; then the group goes.
  bool Remove(absl::string_view run);
  // Everything of the sandbox that has no process any more. Whether nothing is left.
  static bool RemoveAll(const std::string& name, const CgroupPlace& place = {});

 private:
  std::string FolderOf(absl::string_view hierarchy, absl::string_view run) const;

  const std::string name_;
  bool unified_ = false;      // version 2
  std::string memory_, cpu_;  // the folders that ours is in; "" where we may not make groups
  std::string missing_;
};

}  // namespace gangway::sandbox
