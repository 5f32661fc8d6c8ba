#include "sandbox/process/host/container_user.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gangway::sandbox {
namespace {

// Of the columns of /etc/passwd and /etc/group; a line with fewer is passed over.
template <class Each>
void ForEachLine(const char* path, std::size_t columns, Each each) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, ':');
    if (parts.size() >= columns) each(parts);
  }
}

}  // namespace

absl::Status BecomeUser(const UserOrder& user) {
  const auto uid = static_cast<uid_t>(user.uid);
  std::string name;
  gid_t gid = user.gid ? static_cast<gid_t>(*user.gid) : 0;
  ForEachLine("/etc/passwd", 4, [&](const std::vector<std::string>& parts) {
    uid_t id = 0;
    if (!name.empty() || !absl::SimpleAtoi(parts[2], &id) || id != uid) return;
    name = parts[0];
    gid_t group = 0;
    if (!user.gid && absl::SimpleAtoi(parts[3], &group)) gid = group;
  });
  std::vector<gid_t> groups{gid};
  for (const std::int64_t group : user.groups) groups.push_back(static_cast<gid_t>(group));
  ForEachLine("/etc/group", 4, [&](const std::vector<std::string>& parts) {
    gid_t id = 0;
    const std::vector<std::string> members = absl::StrSplit(parts[3], ',');
    if (!name.empty() && std::find(members.begin(), members.end(), name) != members.end() &&
        absl::SimpleAtoi(parts[2], &id))
      groups.push_back(id);
  });
  // runc: fixStdioPermissions, so that /dev/stdout may be opened.
  for (const int fd : {0, 1, 2}) {
    struct stat about{};
    if (fstat(fd, &about) == 0 && (!S_ISCHR(about.st_mode) || isatty(fd) != 0) &&
        fchown(fd, uid, static_cast<gid_t>(-1)) != 0)
      break;
  }
  const bool other = uid != 0 || gid != 0 || !user.groups.empty();
  if (other && (setgroups(groups.size(), groups.data()) != 0 || setresgid(gid, gid, gid) != 0 ||
                setresuid(uid, uid, uid) != 0)) {
    return absl::PermissionDeniedError(absl::StrCat("securityContext: user ", uid, ", group ", gid, ": ",
                                                    std::strerror(errno),
                                                    "; only a sandbox that root starts runs containers as others"));
  }
  if (user.no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return absl::UnavailableError(absl::StrCat("securityContext: no new privileges: ", std::strerror(errno)));
  return absl::OkStatus();
}

}  // namespace gangway::sandbox
