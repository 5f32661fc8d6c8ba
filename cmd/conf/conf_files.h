// Volcano's configuration files, as the flags --scheduler-conf and --controller-conf name them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugin/conf/scheduler_conf.h"
#include "plugin/lifecycle/hyper_nodes/label_source.h"

namespace gangway::cmd {

// Errors name the file. Of one that is larger than a configuration may be, the beginning, which no reader takes.
absl::StatusOr<std::string> ReadConfText(const std::string& path);
absl::StatusOr<conf::SchedulerConf> ReadPolicyFile(const std::string& path);
// Logs what is decided by now, and each line that is not followed.
void LogPolicyFile(const std::string& path, const conf::SchedulerConf& conf);

// The same of the labels that make HyperNodes.
absl::StatusOr<lifecycle::LabelSourceFile> ReadLabelSourceFile(const std::string& path);
void LogLabelSourceFile(const std::string& path, const lifecycle::LabelSourceFile& file);

// Changes whenever the file does, also through a symbolic link (a mounted ConfigMap); "" when there is none.
std::string FileVersion(const std::string& path);

// How often a process looks at its files.
inline constexpr absl::Duration kFileLook = absl::Seconds(10);

// Such a file of a process that goes on while it changes.
class ConfFile {
 public:
  // Reads the file and goes by it from then on; an error leaves things as they are.
  using Take = std::function<absl::Status(const std::string& path)>;
  // `path` "": there is none. `what`, in logs: "scheduler configuration".
  ConfFile(std::string path, std::string what, Take take)
      : path_(std::move(path)), what_(std::move(what)), take_(std::move(take)) {}

  bool set() const { return !path_.empty(); }
  absl::Status Start();
  // Takes it again when it has changed since; what cannot be used is logged.
  void Look();
  // The same, changed or not.
  void TakeAgain();

 private:
  const std::string path_, what_;
  const Take take_;
  std::string version_;
};

}  // namespace gangway::cmd
