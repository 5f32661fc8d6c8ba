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

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr char kCgroupRoot[] = "/sys/fs/cgroup";

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

}  // namespace

Cgroups::Cgroups(std::string name) : name_(std::move(name)) {
  const std::string root = kCgroupRoot;
  std::error_code error;
  unified_ = fs::exists(root + "/cgroup.controllers", error);
  if (unified_) {
    if (MakeGroup(absl::StrCat(root, "/", name_)) &&
        WriteTo(absl::StrCat(root, "/", name_, "/cgroup.subtree_control"), "+memory")) {
      memory_ = root;
      if (WriteTo(absl::StrCat(root, "/", name_, "/cgroup.subtree_control"), "+cpu")) cpu_ = root;
    }
  } else {
    if (MakeGroup(absl::StrCat(root, "/memory/", name_))) memory_ = root + "/memory";
    if (MakeGroup(absl::StrCat(root, "/cpu/", name_))) cpu_ = root + "/cpu";
  }
  if (memory_.empty() || cpu_.empty()) {
    missing_ = absl::StrCat("Limits of ",
                            memory_.empty() && cpu_.empty() ? "memory and CPU"
                            : cpu_.empty()                  ? "CPU"
                                                            : "memory",
                            " are not kept: no control group can be made below ", root, ".");
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

void Cgroups::RemoveAll(const std::string& name) {
  for (const char* const hierarchy : {"", "/memory", "/cpu"}) {
    const std::string folder = absl::StrCat(kCgroupRoot, hierarchy, "/", name);
    std::error_code error;
    for (const auto& each : fs::directory_iterator(folder, error)) {
      if (each.is_directory(error)) rmdir(each.path().c_str());
    }
    rmdir(folder.c_str());
  }
}

}  // namespace gangway::sandbox
