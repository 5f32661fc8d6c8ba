#include "sandbox/process/host/root_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

constexpr char kOld[] = "/.gangway-machine";  // where the machine is until everything is mounted

absl::Status MountFailed(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

absl::Status Bind(const std::string& source, const std::string& target, bool read_only) {
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return MountFailed(absl::StrCat("mount ", target), errno);
  if (read_only && mount(nullptr, target.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0 &&
      errno != EPERM)  // what was mounted for us with other flags may keep them
    return MountFailed(absl::StrCat("mount ", target, " for reading only"), errno);
  return absl::OkStatus();
}

// `lower` as seen at `target`, with changes kept in `scratch`/NAME. False: the kernel does not do that here.
bool Overlay(const std::string& lower, const std::string& scratch, const std::string& name, const std::string& target) {
  const std::string upper = absl::StrCat(scratch, "/", name), work = absl::StrCat(scratch, "/", name, "-work");
  if (mkdir(upper.c_str(), 0755) != 0 || mkdir(work.c_str(), 0755) != 0) return false;
  struct stat about{};
  if (stat(lower.c_str(), &about) == 0 && chmod(upper.c_str(), about.st_mode & 07777) != 0) return false;
  const std::string options = absl::StrCat("lowerdir=", lower, ",upperdir=", upper, ",workdir=", work);
  for (const char* const more : {",volatile", ",volatile,userxattr", ",userxattr", ""}) {
    if (mount("overlay", target.c_str(), "overlay", 0, (options + more).c_str()) == 0) return true;
  }
  return false;
}

bool Below(absl::string_view path, absl::string_view folder) {
  return path == folder || absl::StartsWith(path, absl::StrCat(folder, "/"));
}

// Of /proc/self/mountinfo: \040 for a blank.
std::string Unescaped(absl::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
      i += 3;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// What else is mounted on the machine and is no business of the kernel's or of ours, without what lies below another.
std::vector<std::string> OtherMounts(const std::string& ours) {
  std::vector<std::string> all, out;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
    if (parts.size() < 5) continue;
    const std::string path = Unescaped(parts[4]);
    const bool hidden = path == "/" || Below(path, ours) || Below(path, "/proc") || Below(path, "/sys") ||
                        Below(path, "/dev") || Below(path, "/tmp") || Below(path, "/run");
    if (!hidden) all.push_back(path);
  }
  std::sort(all.begin(), all.end());
  for (const std::string& path : all) {
    if (out.empty() || !Below(path, out.back())) out.push_back(path);
  }
  return out;
}

// Where overlays of everything are not allowed (in a user namespace: what is mounted below it may not be uncovered):
// one of each folder, and links as they are.
absl::Status OverlayEach(const std::string& root, const std::string& scratch) {
  if (mount("tmpfs", root.c_str(), "tmpfs", 0, "mode=755,size=16m") != 0)
    return MountFailed("the folder of the container", errno);
  DIR* const top = opendir("/");
  if (top == nullptr) return MountFailed("/", errno);
  while (const dirent* const entry = readdir(top)) {
    const std::string name = entry->d_name, from = absl::StrCat("/", name), to = absl::StrCat(root, "/", name);
    struct stat about{};
    if (name == "." || name == ".." || lstat(from.c_str(), &about) != 0) continue;
    if (S_ISLNK(about.st_mode)) {
      char link[4096];
      const ssize_t size = readlink(from.c_str(), link, sizeof link);
      if (size > 0 && symlink(std::string(link, static_cast<std::size_t>(size)).c_str(), to.c_str()) != 0) continue;
    } else if (S_ISDIR(about.st_mode)) {
      if (mkdir(to.c_str(), 0755) != 0) continue;
      if (name == "proc" || name == "sys" || name == "dev" || name == "tmp" || name == "run") continue;
      // A folder that we may not see into stays empty, as it would be for us.
      if (!Overlay(from, scratch, absl::StrCat("top-", name), to)) Bind(from, to, true).IgnoreError();
    }
  }
  closedir(top);
  return absl::OkStatus();
}

absl::Status MakeRoot(const StartOrder& order, const std::string& root) {
  if (order.root != "/") {
    return Overlay(order.root, order.scratch, "upper", root)
               ? absl::OkStatus()
               : MountFailed(absl::StrCat("the image's folder ", order.root), errno);
  }
  const std::vector<std::string> others = OtherMounts(order.scratch);
  if (!Overlay("/", order.scratch, "upper", root)) return OverlayEach(root, order.scratch);
  int number = 0;
  for (const std::string& path : others) {
    struct stat about{};
    if (stat(path.c_str(), &about) != 0) continue;
    const std::string target = root + path;
    if (!S_ISDIR(about.st_mode) || !Overlay(path, order.scratch, absl::StrCat("more-", ++number), target))
      Bind(path, target, true).IgnoreError();  // not seen, then
  }
  return absl::OkStatus();
}

absl::Status MountTmpfs(const char* target, const char* options) {
  GW_RETURN_IF_ERROR(MakeFolders(target));
  return mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0
             ? absl::OkStatus()
             : MountFailed(absl::StrCat("mount ", target), errno);
}

absl::Status BindDevice(const std::string& name) {
  const std::string from = absl::StrCat(kOld, "/dev/", name), to = absl::StrCat("/dev/", name);
  struct stat about{};
  if (stat(from.c_str(), &about) != 0) return absl::OkStatus();
  if (S_ISDIR(about.st_mode)) {
    GW_RETURN_IF_ERROR(MakeFolders(to));
  } else {
    const int fd = open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd >= 0) close(fd);
  }
  return Bind(from, to, false);
}

// The devices that every container has, and those of accelerators.
absl::Status MakeDevices() {
  GW_RETURN_IF_ERROR(MakeFolders("/dev"));
  if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=755,size=64k") != 0) return MountFailed("mount /dev", errno);
  for (const char* const name : {"null", "zero", "full", "random", "urandom", "tty"})
    GW_RETURN_IF_ERROR(BindDevice(name));
  if (DIR* const devices = opendir(absl::StrCat(kOld, "/dev").c_str()); devices != nullptr) {
    while (const dirent* const entry = readdir(devices)) {
      const absl::string_view name = entry->d_name;
      if (absl::StartsWith(name, "nvidia") || name == "infiniband" || name == "dri" || name == "kfd")
        BindDevice(std::string(name)).IgnoreError();  // an accelerator less
    }
    closedir(devices);
  }
  GW_RETURN_IF_ERROR(MakeFolders("/dev/pts"));
  if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") != 0)
    return MountFailed("mount /dev/pts", errno);
  for (const auto& [link, to] :
       {std::pair("/dev/ptmx", "pts/ptmx"), std::pair("/dev/fd", "/proc/self/fd"),
        std::pair("/dev/stdin", "/proc/self/fd/0"), std::pair("/dev/stdout", "/proc/self/fd/1"),
        std::pair("/dev/stderr", "/proc/self/fd/2")}) {
    if (symlink(to, link) != 0) return MountFailed(link, errno);
  }
  return MountTmpfs("/dev/shm", "mode=1777");
}

// Where the link at `path` leads, links on the way followed, also when nothing is there.
absl::StatusOr<std::string> EndOfLink(const std::string& path) {
  namespace paths = std::filesystem;
  std::error_code error;
  paths::path at = path;
  constexpr int kMaxLinks = 40;  // as many as the kernel follows
  for (int i = 0; i < kMaxLinks; ++i) {
    const paths::path next = paths::read_symlink(at, error);
    if (error) return at.lexically_normal().string();
    at = at.parent_path() / next;
  }
  return MountFailed(absl::StrCat("mount ", path), ELOOP);
}

absl::Status MountAsked(const Mount& asked) {
  const std::string from = kOld + asked.source;
  struct stat about{};
  if (stat(from.c_str(), &about) != 0) {
    // A subPath that is not there yet is a folder (pkg/volume/util/subpath).
    if (errno != ENOENT || asked.read_only) return MountFailed(absl::StrCat("mount ", asked.target), errno);
    GW_RETURN_IF_ERROR(MakeFolders(from));
    if (stat(from.c_str(), &about) != 0) return MountFailed(absl::StrCat("mount ", asked.target), errno);
  }
  if (S_ISDIR(about.st_mode)) {
    GW_RETURN_IF_ERROR(MakeFolders(asked.target));
  } else {
    GW_RETURN_IF_ERROR(MakeFolders(asked.target.substr(0, asked.target.rfind('/'))));
    struct stat there{};
    const bool is_there = lstat(asked.target.c_str(), &there) == 0;
    if (is_there && S_ISLNK(there.st_mode) && unlink(asked.target.c_str()) != 0) {
      // Not ours to replace: where it leads, then.
      GW_ASSIGN_OR_RETURN(const std::string end, EndOfLink(asked.target));
      return MountAsked({asked.source, end, asked.read_only});
    }
    if (!is_there || S_ISLNK(there.st_mode)) {  // one that is there may be another user's, and is good to mount on
      const int fd = open(asked.target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      if (fd < 0) return MountFailed(absl::StrCat("mount ", asked.target), errno);
      close(fd);
    }
  }
  return Bind(from, asked.target, asked.read_only);
}

}  // namespace

absl::Status MakeFolders(const std::string& path) {
  for (std::size_t at = 1; at != std::string::npos && !path.empty();) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (at != std::string::npos) ++at;
    struct stat about{};
    if (stat(part.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) continue;
    if (mkdir(part.c_str(), 0755) != 0) return MountFailed(absl::StrCat("mkdir ", part), errno);
  }
  return absl::OkStatus();
}

absl::Status EnterRootFolder(const StartOrder& order) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return MountFailed("a view of its own", errno);
  const std::string root = order.scratch + "/root";
  if (mkdir(root.c_str(), 0755) != 0) return MountFailed(root, errno);
  GW_RETURN_IF_ERROR(MakeRoot(order, root));
  const std::string old = root + kOld, temporary = order.scratch + "/tmp";
  if (mkdir(old.c_str(), 0700) != 0) return MountFailed(old, errno);
  if (mkdir(temporary.c_str(), 01777) != 0 || chmod(temporary.c_str(), 01777) != 0)
    return MountFailed(temporary, errno);
  if (syscall(SYS_pivot_root, root.c_str(), old.c_str()) != 0 || chdir("/") != 0)
    return MountFailed("the container's root", errno);
  GW_RETURN_IF_ERROR(MakeFolders("/proc"));
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return MountFailed("mount /proc", errno);
  GW_RETURN_IF_ERROR(MakeFolders("/sys"));
  Bind(std::string(kOld) + "/sys", "/sys", true).IgnoreError();  // without it fewer facts about the machine
  GW_RETURN_IF_ERROR(MakeDevices());
  GW_RETURN_IF_ERROR(MakeFolders("/tmp"));
  GW_RETURN_IF_ERROR(Bind(kOld + temporary, "/tmp", false));
  GW_RETURN_IF_ERROR(MountTmpfs("/run", "mode=755,size=64m"));
  for (const Mount& asked : order.mounts) GW_RETURN_IF_ERROR(MountAsked(asked));
  if (umount2(kOld, MNT_DETACH) != 0) return MountFailed("leaving the machine", errno);
  rmdir(kOld);
  return absl::OkStatus();
}

}  // namespace gangway::sandbox
