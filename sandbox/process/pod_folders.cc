#include "sandbox/process/pod_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/system_error.h"

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxMessage = 4096;

absl::Status Failed(absl::string_view doing, absl::string_view path, int error) {
  return SystemError(absl::StrCat(doing, " ", path), error);
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Failed("mkdir", path, error.value());
  return absl::OkStatus();
}

// Who reads meanwhile finds the old text or the new one (or, while it becomes shorter, lines of the old one at the
// end), but never none.
absl::Status WriteFile(const std::string& path, absl::string_view text, int mode) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, static_cast<mode_t>(mode));
  if (fd < 0) return Failed("open", path, errno);
  int error = fchmod(fd, static_cast<mode_t>(mode)) == 0 ? 0 : errno;
  const auto size = static_cast<off_t>(text.size());
  while (!text.empty() && error == 0) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) error = errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (error == 0 && ftruncate(fd, size) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? absl::OkStatus() : Failed("write", path, error);
}

absl::Status WriteFiles(const PodVolume& volume) {
  for (const VolumeFile& file : volume.files) {
    const std::string path = absl::StrCat(volume.folder, "/", file.path);
    GW_RETURN_IF_ERROR(MakeFolder(fs::path(path).parent_path()));
    unlink(path.c_str());  // of an earlier try, and not for writing by its mode
    GW_RETURN_IF_ERROR(WriteFile(path, file.content, file.mode));
  }
  return absl::OkStatus();
}

constexpr absl::string_view kOnlyRoot = "only a sandbox that root starts gives folders to groups";

// pkg/volume: SetVolumeOwnership. Links stay as they are, and are not followed.
absl::Status GiveTo(std::int64_t group, const PodVolume& volume) {
  if (volume.kind == PodVolume::Kind::kClaim && volume.read_only) return absl::OkStatus();
  const mode_t access = volume.kind == PodVolume::Kind::kFiles ? 0440 : 0660;
  std::vector<std::string> paths{volume.folder};
  std::error_code error;
  for (fs::recursive_directory_iterator it(volume.folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error))
    paths.push_back(it->path());
  for (const std::string& path : paths) {
    const int fd = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) continue;  // another pod's program has taken it away
    struct stat about{};
    int failed = fd < 0 || fstat(fd, &about) != 0 ||
                         fchownat(fd, "", static_cast<uid_t>(-1), static_cast<gid_t>(group), AT_EMPTY_PATH) != 0
                     ? errno
                     : 0;
    if (failed == 0 && !S_ISLNK(about.st_mode)) {
      const mode_t more = access | (S_ISDIR(about.st_mode) ? S_ISGID | 0110 : 0);
      if (chmod(absl::StrCat("/proc/self/fd/", fd).c_str(), (about.st_mode & 07777) | more) != 0) failed = errno;
    }
    if (fd >= 0) close(fd);
    if (failed != 0) {
      return absl::PermissionDeniedError(absl::StrCat("fsGroup ", group, ": ", path, ": ", std::strerror(failed),
                                                      failed == EPERM ? "; " : "", failed == EPERM ? kOnlyRoot : ""));
    }
  }
  return absl::OkStatus();
}

// pkg/volume/hostpath: what the type asks of the path.
absl::Status CheckHostPath(const std::string& path, const std::string& type) {
  struct stat about{};
  const bool there = stat(path.c_str(), &about) == 0;
  const auto wrong = [&](absl::string_view what) {
    return absl::FailedPreconditionError(absl::StrCat("hostPath type check failed: ", path, " is not a ", what));
  };
  if (type == "DirectoryOrCreate") {
    if (!there) return MakeFolder(path);
    return S_ISDIR(about.st_mode) ? absl::OkStatus() : wrong("directory");
  }
  if (type == "FileOrCreate") {
    if (!there) return WriteFile(path, "", 0644);
    return S_ISREG(about.st_mode) ? absl::OkStatus() : wrong("file");
  }
  if (type == "Directory" && !(there && S_ISDIR(about.st_mode))) return wrong("directory");
  if (type == "File" && !(there && S_ISREG(about.st_mode))) return wrong("file");
  if (type == "Socket" && !(there && S_ISSOCK(about.st_mode))) return wrong("socket file");
  if (type == "CharDevice" && !(there && S_ISCHR(about.st_mode))) return wrong("character device");
  if (type == "BlockDevice" && !(there && S_ISBLK(about.st_mode))) return wrong("block device");
  return absl::OkStatus();
}

}  // namespace

std::string PodFolders::Pod(const std::string& uid) const { return absl::StrCat(folder_, "/pods/", uid); }
VolumeFolders PodFolders::Of(const std::string& uid) const {
  return {absl::StrCat(Pod(uid), "/volumes"), claims_, claims_by_name_};
}
std::string PodFolders::Hosts(const std::string& uid) const { return absl::StrCat(Pod(uid), "/hosts"); }
std::string PodFolders::Run(const std::string& uid, absl::string_view container, int number) const {
  return absl::StrCat(Pod(uid), "/runs/", container, "/", number);
}
std::string PodFolders::Message(const std::string& uid, absl::string_view container, int number) const {
  return absl::StrCat(Run(uid, container, number), "/message");
}

absl::Status PodFolders::MakeVolume(const std::string& uid, PodVolume& volume,
                                    std::optional<std::int64_t> group) const {
  absl::Status status;
  if (volume.kind == PodVolume::Kind::kMemory && group && geteuid() != 0) {
    // The host has one group alone then (warden.h), and mounts for no other.
    status = absl::PermissionDeniedError(absl::StrCat("fsGroup ", *group, ": ", volume.folder, ": ", kOnlyRoot));
  } else if (volume.kind == PodVolume::Kind::kHost) {
    status = CheckHostPath(volume.folder, volume.host_type);
    std::error_code error;
    if (status.ok() && volume.host_type.empty() && !fs::exists(volume.folder, error)) {
      volume.folder = absl::StrCat(Of(uid).pod, "/", volume.name);
      status = MakeFolder(volume.folder);
    }
  } else {
    status = MakeFolder(volume.folder);
    if (status.ok() && (volume.kind == PodVolume::Kind::kEmpty || volume.kind == PodVolume::Kind::kClaim) &&
        chmod(volume.folder.c_str(), 0777) != 0 && errno != EPERM)
      status = Failed("chmod", volume.folder, errno);
    if (status.ok()) status = WriteFiles(volume);
    if (status.ok() && group && volume.kind != PodVolume::Kind::kMemory) status = GiveTo(*group, volume);
  }
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("MountVolume.SetUp failed for volume \"", volume.name, "\" : ", status.message()));
}

absl::Status PodFolders::RewriteFile(const PodVolume& volume, const VolumeFile& file) const {
  const std::string path = absl::StrCat(volume.folder, "/", file.path);
  struct stat about{};
  if (stat(path.c_str(), &about) != 0) return Failed("stat", path, errno);
  return WriteFile(path, file.content, static_cast<int>(about.st_mode & 07777));  // an fsGroup may have changed it
}

absl::Status PodFolders::WriteHosts(const std::string& uid, absl::string_view text) const {
  GW_RETURN_IF_ERROR(MakeFolder(Pod(uid)));
  return WriteFile(Hosts(uid), text, 0644);
}

absl::StatusOr<std::string> PodFolders::MakeResolver() const {
  std::string path = folder_ + "/resolv.conf";
  GW_RETURN_IF_ERROR(
      WriteFile(path, "# Names are in /etc/hosts.\nnameserver 127.0.0.1\noptions timeout:1 attempts:1\n", 0644));
  return path;
}

absl::Status PodFolders::MakeRun(const std::string& uid, absl::string_view container, int number) const {
  GW_RETURN_IF_ERROR(MakeFolder(Run(uid, container, number) + "/scratch"));
  return WriteFile(Message(uid, container, number), "", 0666);
}

std::string PodFolders::ReadMessage(const std::string& uid, absl::string_view container, int number) const {
  // A container that sees this folder by a hostPath can put a pipe or a link in its place: neither holds the loop nor
  // is followed.
  const int fd = open(Message(uid, container, number).c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return "";
  std::string out;
  struct stat about{};
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
    out.resize(kMaxMessage);
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(fd, out.data(), out.size(), 0))));
  }
  close(fd);
  return out;
}

}  // namespace gangway::sandbox
