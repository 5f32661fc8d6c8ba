#include "cmd/process/policy_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/log.h"

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

}  // namespace

absl::StatusOr<conf::SchedulerConf> ReadPolicyFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::string text(conf::kMaxBytes + 1, '\0');  // no more: it may be any file
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return conf::ReadSchedulerConf(text, path);
}

void LogPolicyFile(const std::string& path, const conf::SchedulerConf& conf) {
  log::Info("scheduler configuration", {{"file", path}, {"policy", conf::PolicyText(conf.policy)}});
  for (const conf::Note& note : conf.notes) LogNote(path, note);
}

}  // namespace gangway::cmd
