#include "cmd/conf/conf_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace gangway::cmd {
namespace {

void LogNote(const std::string& path, const conf::Note& note) {
  const std::string text = conf::NoteText(path, note);
  switch (note.kind) {
    case conf::Note::Kind::kAnyhow:
      return log::Info("scheduler configuration: so anyhow", {{"line", text}});
    case conf::Note::Kind::kOtherwise:
      return log::Warning("scheduler configuration: done otherwise", {{"line", text}});
    case conf::Note::Kind::kMistake:
      return log::Warning("scheduler configuration: a mistake", {{"line", text}});
  }
}

// One byte more than `most` at the most: it may be any file.
absl::StatusOr<std::string> ReadBeginning(const std::string& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::string text(most + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadConfText(const std::string& path) { return ReadBeginning(path, conf::kMaxBytes); }

absl::StatusOr<conf::SchedulerConf> ReadPolicyFile(const std::string& path) {
  GW_ASSIGN_OR_RETURN(const std::string text, ReadConfText(path));
  return conf::ReadSchedulerConf(text, path);
}

void LogPolicyFile(const std::string& path, const conf::SchedulerConf& conf) {
  log::Info("scheduler configuration", {{"file", path}, {"policy", conf::PolicyText(conf.policy)}});
  for (const conf::Note& note : conf.notes) LogNote(path, note);
}

absl::StatusOr<lifecycle::LabelSourceFile> ReadLabelSourceFile(const std::string& path) {
  GW_ASSIGN_OR_RETURN(const std::string text, ReadBeginning(path, lifecycle::kMaxControllerConfBytes));
  return lifecycle::ReadLabelSource(text, path);
}

void LogLabelSourceFile(const std::string& path, const lifecycle::LabelSourceFile& file) {
  std::vector<std::string> types;
  for (const lifecycle::TopologyType& type : file.source.types)
    types.push_back(absl::StrCat(type.name, " (", absl::StrJoin(type.labels, " "), ")"));
  log::Info("labels of nodes that make HyperNodes",
            {{"file", path}, {"enabled", file.source.enabled}, {"types", absl::StrJoin(types, ", ")}});
  for (const std::string& note : file.notes) log::Warning("controller configuration: done otherwise", {{"line", note}});
}

std::string FileVersion(const std::string& path) {
  struct stat now{};
  if (path.empty() || stat(path.c_str(), &now) != 0) return "";
  return absl::StrCat(now.st_ino, ":", now.st_size, ":", now.st_mtim.tv_sec, ".", now.st_mtim.tv_nsec);
}

absl::Status ConfFile::Start() {
  if (!set()) return absl::OkStatus();
  version_ = FileVersion(path_);
  return take_(path_);
}

void ConfFile::Look() {
  if (set() && FileVersion(path_) != version_) TakeAgain();
}

void ConfFile::TakeAgain() {
  if (!set()) return;
  version_ = FileVersion(path_);
  if (const absl::Status taken = take_(path_); !taken.ok())
    log::Warning(absl::StrCat("the ", what_, " changed and cannot be used; the last one goes on"),
                 {{"error", taken.message()}});
}

}  // namespace gangway::cmd
