// `gangway translate`: Paddle jobs as Volcano Jobs (docs/translate.md).
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/terminal/command_line.h"
#include "translator/convert/options.h"

namespace gangway::cmd {

// For whom to translate, as flags of the commands that do.
struct TranslateFlags {
  std::string target = "volcano", volcano_version = "1.13", cluster_domain = "cluster.local", elastic_etcd, queue;
  std::string scheduler_name;  // of translate's target kubernetes
  int nodes = 0;               // 0: not known
  bool strict = false;
};
// `targets`: the names that --target takes.
void AddTranslateFlags(CommandLine command, TranslateFlags& flags,
                       const std::vector<std::string>& targets = {"volcano", "gangway"});
absl::StatusOr<convert::TranslateOptions> OptionsOf(const TranslateFlags& flags);

class TranslateCommand {
 public:
  // Adds the subcommand; its flags are written into this object, which must outlive the parse.
  explicit TranslateCommand(CommandLine app);
  TranslateCommand(const TranslateCommand&) = delete;
  TranslateCommand& operator=(const TranslateCommand&) = delete;

  bool chosen() const;
  int Run() const;  // the exit code

 private:
  CommandLine command_;
  TranslateFlags flags_;
  std::vector<std::string> inputs_;
  std::string output_ = "yaml";
  bool explain_ = false;
};

}  // namespace gangway::cmd
