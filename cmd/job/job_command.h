// The flags of `gangway job list|view|suspend|resume|delete`: vcctl's, and names as kubectl takes them.
#pragma once

#include <string>
#include <vector>

#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"
#include "cmd/vcctl/job_list.h"
#include "cmd/vcctl/job_wait.h"

namespace gangway::cmd {

struct JobFlags {
  ServerFlags server;
  std::string ns, name;            // --namespace, --name
  std::vector<std::string> names;  // positional
  JobListOptions list;
  bool wait = false;
  std::string timeout = "5m";  // of --wait
};

// Lives from before the flags are parsed until it has run.
class JobCommand {
 public:
  explicit JobCommand(CommandLine app);
  bool chosen() const;
  // The exit code (api_caller.h).
  int Run();

 private:
  void AddList();
  void AddView();
  void AddVerb(JobVerb verb, const char* about);

  CommandLine command_;
  JobFlags flags_;
};

}  // namespace gangway::cmd
