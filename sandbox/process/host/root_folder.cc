#include "sandbox/process/host/root_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/system_error.h"

namespace gangway::sandbox {
namespace {

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

// Where something is mounted, at `folder` and below it.
std::vector<std::string> MountsBelow(const std::string& folder) {
  std::vector<std::string> out;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
    if (parts.size() < 5) continue;
    std::string path = Unescaped(parts[4]);
    if (folder == "/" || Below(path, folder)) out.push_back(std::move(path));
  }
  return out;
}

// The mount at `target` and all below it.
bool MakeReadOnly(const std::string& target) {
  mount_attr wanted{};
  wanted.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(AT_FDCWD, target.c_str(), AT_RECURSIVE, &wanted, sizeof wanted) == 0) return true;
  // Before Linux 5.12 each for itself, with the flags that a user namespace may not take away.
  std::error_code error;
  const std::string top = std::filesystem::canonical(target, error).string();
  for (const std::string& path : MountsBelow(top)) {
    struct statvfs about{};
    if (statvfs(path.c_str(), &about) != 0) return false;
    unsigned long kept = 0;
    if ((about.f_flag & ST_NOSUID) != 0) kept |= MS_NOSUID;
    if ((about.f_flag & ST_NODEV) != 0) kept |= MS_NODEV;
    if ((about.f_flag & ST_NOEXEC) != 0) kept |= MS_NOEXEC;
    if (mount(nullptr, path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | kept, nullptr) != 0) return false;
  }
  return !error;
}

// What is to be for reading only is not there at all when it cannot be.
absl::Status Bind(const std::string& source, const std::string& target, bool read_only) {
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return SystemError(absl::StrCat("mount ", target), errno);
  if (!read_only || MakeReadOnly(target)) return absl::OkStatus();
  const int error = errno;
  umount2(target.c_str(), MNT_DETACH);
  return SystemError(absl::StrCat("mount ", target, " for reading only"), error);
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

// What else is mounted on the machine and is no business of the kernel's or of ours, without what lies below another.
std::vector<std::string> OtherMounts(const std::string& ours) {
  std::vector<std::string> all, out;
  for (const std::string& path : MountsBelow("/")) {
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
    return SystemError("the folder of the container", errno);
  DIR* const top = opendir("/");
  if (top == nullptr) return SystemError("/", errno);
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
               : SystemError(absl::StrCat("the image's folder ", order.root), errno);
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
             : SystemError(absl::StrCat("mount ", target), errno);
}

absl::Status BindDevice(const std::string& machine, const std::string& name) {
  const std::string from = absl::StrCat(machine, "/dev/", name), to = absl::StrCat("/dev/", name);
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
absl::Status MakeDevices(const std::string& machine) {
  GW_RETURN_IF_ERROR(MakeFolders("/dev"));
  if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, "mode=755,size=64k") != 0) return SystemError("mount /dev", errno);
  for (const char* const name : {"null", "zero", "full", "random", "urandom", "tty"})
    GW_RETURN_IF_ERROR(BindDevice(machine, name));
  if (DIR* const devices = opendir(absl::StrCat(machine, "/dev").c_str()); devices != nullptr) {
    while (const dirent* const entry = readdir(devices)) {
      const absl::string_view name = entry->d_name;
      if (absl::StartsWith(name, "nvidia") || name == "infiniband" || name == "dri" || name == "kfd")
        BindDevice(machine, std::string(name)).IgnoreError();  // an accelerator less
    }
    closedir(devices);
  }
  GW_RETURN_IF_ERROR(MakeFolders("/dev/pts"));
  if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") != 0)
    return SystemError("mount /dev/pts", errno);
  for (const auto& [link, to] :
       {std::pair("/dev/ptmx", "pts/ptmx"), std::pair("/dev/fd", "/proc/self/fd"),
        std::pair("/dev/stdin", "/proc/self/fd/0"), std::pair("/dev/stdout", "/proc/self/fd/1"),
        std::pair("/dev/stderr", "/proc/self/fd/2")}) {
    if (symlink(to, link) != 0) return SystemError(link, errno);
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
  return SystemError(absl::StrCat("mount ", path), ELOOP);
}

int OpenBelow(int folder, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

// pkg/volume/util/subpath: links are followed within the volume; what is not there yet is a folder with its mode.
absl::StatusOr<int> OpenSubPath(const Mount& asked, int volume) {
  const auto failed = [&](int error) {
    const std::string what = absl::StrCat("mount ", asked.target, ": subPath ", asked.sub_path);
    return error == EXDEV ? absl::InvalidArgumentError(what + " leaves the volume") : SystemError(what, error);
  };
  struct stat about{};
  if (fstat(volume, &about) != 0) return failed(errno);
  int at = fcntl(volume, F_DUPFD_CLOEXEC, 0);
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = asked.sub_path.find('/', begin);
    const std::string whole = asked.sub_path.substr(0, end), part = asked.sub_path.substr(begin, end - begin);
    int next = OpenBelow(volume, whole);
    if (next < 0 && errno == ENOENT && asked.make_sub_path) {
      const mode_t mode = about.st_mode & 0777;
      if (mkdirat(at, part.c_str(), mode) == 0) {
        if (fchmodat(at, part.c_str(), mode, 0) != 0) return failed(errno);
      } else if (errno != EEXIST) {  // another container may need it, too
        return failed(errno);
      }
      next = OpenBelow(volume, whole);
    }
    if (next < 0) return failed(errno);
    close(at);
    at = next;
  }
  return at;
}

// What is to be mounted, as the machine has it, before the container has a root of its own: a link leads where it does
// on the machine. Closed by the program's start.
absl::StatusOr<int> OpenSource(const Mount& asked) {
  const int source = open(asked.source.c_str(), O_PATH | O_CLOEXEC);
  if (source < 0) return SystemError(absl::StrCat("mount ", asked.target), errno);
  if (asked.sub_path.empty()) return source;
  auto part = OpenSubPath(asked, source);
  close(source);
  return part;
}

absl::Status MountAsked(int source, const std::string& target, bool read_only) {
  if (Below(target, "/proc"))  // runc: checkProcMount
    return absl::InvalidArgumentError(absl::StrCat("mount ", target, ": cannot be mounted because it is inside /proc"));
  struct stat about{};
  if (fstat(source, &about) != 0) return SystemError(absl::StrCat("mount ", target), errno);
  if (S_ISDIR(about.st_mode)) {
    GW_RETURN_IF_ERROR(MakeFolders(target));
  } else {
    GW_RETURN_IF_ERROR(MakeFolders(target.substr(0, target.rfind('/'))));
    struct stat there{};
    const bool is_there = lstat(target.c_str(), &there) == 0;
    if (is_there && S_ISLNK(there.st_mode) && unlink(target.c_str()) != 0) {
      // Not ours to replace: where it leads, then.
      GW_ASSIGN_OR_RETURN(const std::string end, EndOfLink(target));
      return MountAsked(source, end, read_only);
    }
    if (!is_there || S_ISLNK(there.st_mode)) {  // one that is there may be another user's, and is good to mount on
      const int fd = open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
      if (fd < 0) return SystemError(absl::StrCat("mount ", target), errno);
      close(fd);
    }
  }
  return Bind(absl::StrCat("/proc/self/fd/", source), target, read_only);
}

}  // namespace

absl::Status MakeFolders(const std::string& path) {
  for (std::size_t at = 1; at != std::string::npos && !path.empty();) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (at != std::string::npos) ++at;
    struct stat about{};
    if (stat(part.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) continue;
    if (mkdir(part.c_str(), 0755) != 0) return SystemError(absl::StrCat("mkdir ", part), errno);
  }
  return absl::OkStatus();
}

absl::Status EnterRootFolder(const StartOrder& order) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return SystemError("a view of its own", errno);
  std::vector<int> sources;
  for (const Mount& asked : order.mounts) {
    GW_ASSIGN_OR_RETURN(const int source, OpenSource(asked));
    sources.push_back(source);
  }
  const std::string root = order.scratch + "/root";
  if (mkdir(root.c_str(), 0755) != 0) return SystemError(root, errno);
  GW_RETURN_IF_ERROR(MakeRoot(order, root));
  // Where the machine is until everything is mounted; nobody's mount can name it.
  std::string old = root + "/.gangway-XXXXXX";
  if (mkdtemp(old.data()) == nullptr) return SystemError(old, errno);
  const std::string machine = old.substr(root.size()), temporary = order.scratch + "/tmp";
  if (mkdir(temporary.c_str(), 01777) != 0 || chmod(temporary.c_str(), 01777) != 0)
    return SystemError(temporary, errno);
  if (syscall(SYS_pivot_root, root.c_str(), old.c_str()) != 0 || chdir("/") != 0)
    return SystemError("the container's root", errno);
  GW_RETURN_IF_ERROR(MakeFolders("/proc"));
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return SystemError("mount /proc", errno);
  GW_RETURN_IF_ERROR(MakeFolders("/sys"));
  Bind(machine + "/sys", "/sys", true).IgnoreError();  // without it fewer facts about the machine
  GW_RETURN_IF_ERROR(MakeDevices(machine));
  GW_RETURN_IF_ERROR(MakeFolders("/tmp"));
  GW_RETURN_IF_ERROR(Bind(machine + temporary, "/tmp", false));
  GW_RETURN_IF_ERROR(MountTmpfs("/run", "mode=755,size=64m"));
  for (std::size_t i = 0; i < sources.size(); ++i)
    GW_RETURN_IF_ERROR(MountAsked(sources[i], order.mounts[i].target, order.mounts[i].read_only));
  if (umount2(machine.c_str(), MNT_DETACH) != 0) return SystemError("leaving the machine", errno);
  rmdir(machine.c_str());
  return absl::OkStatus();
}

}  // namespace gangway::sandbox
