#include "sandbox/process/host/cgroups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;

bool WriteTo(const std::string& path, absl::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The number after a word at the beginning of a line: "oom_kill 1".
std::int64_t NumberAfter(const std::string& text, absl::string_view word) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
    std::int64_t value = 0;
    if (parts.size() == 2 && parts[0] == word && absl::SimpleAtoi(parts[1], &value)) return value;
  }
  return 0;
}

bool MakeGroup(const std::string& path) { return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

bool IsUnified(const CgroupPlace& place) {
  std::error_code error;
  return fs::exists(place.root + "/cgroup.controllers", error);
}

// The folders in which our group may be, those that are tried first in front. Of version 2 a group that has processes
// gives nothing to groups below it, so ours is beside the one that we are in, or further up.
std::vector<std::string> FoldersFor(const CgroupPlace& place) {
  if (!IsUnified(place)) return {place.root + "/memory", place.root + "/cpu"};
  std::vector<std::string> out{place.root};
  for (absl::string_view line : absl::StrSplit(TextOf(place.own), '\n')) {
    if (!absl::ConsumePrefix(&line, "0::")) continue;
    for (fs::path group = fs::path(std::string(line)).parent_path(); group.has_relative_path();
         group = group.parent_path())
      out.push_back(place.root + group.string());
  }
  return out;
}

}  // namespace

Cgroups::Cgroups(std::string name, const CgroupPlace& place) : name_(std::move(name)), unified_(IsUnified(place)) {
  const std::vector<std::string> folders = FoldersFor(place);
  if (unified_) {
    for (const std::string& folder : folders) {
      const std::string group = absl::StrCat(folder, "/", name_), control = group + "/cgroup.subtree_control";
      // Who moves a process from one group to another has to be able to write where the two meet.
      if (access((folder + "/cgroup.procs").c_str(), W_OK) == 0 && MakeGroup(group)) {
        if (WriteTo(control, "+memory +cpu")) cpu_ = memory_ = folder;
        if (memory_.empty() && WriteTo(control, "+memory")) memory_ = folder;
        if (!memory_.empty()) break;
      }
      rmdir(group.c_str());
    }
  } else {
    if (MakeGroup(absl::StrCat(folders[0], "/", name_))) memory_ = folders[0];
    if (MakeGroup(absl::StrCat(folders[1], "/", name_))) cpu_ = folders[1];
  }
  if (memory_.empty() || cpu_.empty()) {
    missing_ = absl::StrCat("Limits of ",
                            memory_.empty() && cpu_.empty() ? "memory and CPU"
                            : cpu_.empty()                  ? "CPU"
                                                            : "memory",
                            " are not kept: no control group can be made below ", place.root, ".");
  }
}

std::string Cgroups::FolderOf(absl::string_view hierarchy, absl::string_view run) const {
  return absl::StrCat(hierarchy, "/", name_, "/", absl::StrReplaceAll(run, {{"/", "_"}}));
}

std::vector<std::string> Cgroups::Make(absl::string_view run, std::int64_t memory_bytes, std::int64_t milli_cpu) {
  std::vector<std::string> out;
  constexpr std::int64_t kPeriod = 100'000;  // microseconds
  if (!memory_.empty() && memory_bytes > 0 && MakeGroup(FolderOf(memory_, run))) {
    const std::string folder = FolderOf(memory_, run);
    WriteTo(folder + (unified_ ? "/memory.max" : "/memory.limit_in_bytes"), absl::StrCat(memory_bytes));
    if (unified_) {
      WriteTo(folder + "/memory.swap.max", "0");
      WriteTo(folder + "/memory.oom.group", "1");
    }
    out.push_back(folder + "/cgroup.procs");
  }
  if (!cpu_.empty() && milli_cpu > 0 && MakeGroup(FolderOf(cpu_, run))) {
    const std::string folder = FolderOf(cpu_, run);
    const std::int64_t quota = std::max<std::int64_t>(1000, milli_cpu * kPeriod / 1000);
    if (unified_) {
      WriteTo(folder + "/cpu.max", absl::StrCat(quota, " ", kPeriod));
    } else {
      WriteTo(folder + "/cpu.cfs_period_us", absl::StrCat(kPeriod));
      WriteTo(folder + "/cpu.cfs_quota_us", absl::StrCat(quota));
    }
    if (std::find(out.begin(), out.end(), folder + "/cgroup.procs") == out.end())
      out.push_back(folder + "/cgroup.procs");
  }
  return out;
}

bool Cgroups::Remove(absl::string_view run) {
  bool killed = false;
  if (!memory_.empty()) {
    const std::string folder = FolderOf(memory_, run);
    killed = NumberAfter(TextOf(folder + (unified_ ? "/memory.events" : "/memory.oom_control")), "oom_kill") > 0;
    rmdir(folder.c_str());
  }
  if (!cpu_.empty()) rmdir(FolderOf(cpu_, run).c_str());
  return killed;
}

bool Cgroups::RemoveAll(const std::string& name, const CgroupPlace& place) {
  bool gone = true;
  for (const std::string& hierarchy : FoldersFor(place)) {
    const std::string folder = absl::StrCat(hierarchy, "/", name);
    std::error_code error;
    for (const auto& each : fs::directory_iterator(folder, error)) {
      if (each.is_directory(error)) rmdir(each.path().c_str());
    }
    gone &= rmdir(folder.c_str()) == 0 || (errno != EBUSY && errno != ENOTEMPTY);
  }
  return gone;
}

}  // namespace gangway::sandbox
