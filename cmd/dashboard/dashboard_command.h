// `gangway dashboard`: a page of the cluster in a browser, as live as a watch. Only reads, with the caller's own
// rights.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/terminal/command_line.h"

namespace gangway::cmd {

// Lives from before the flags are parsed until the command has run.
class DashboardCommand {
 public:
  explicit DashboardCommand(CommandLine app);
  DashboardCommand(const DashboardCommand&) = delete;
  DashboardCommand& operator=(const DashboardCommand&) = delete;
  bool chosen() const;
  // The exit code: 0 ended by a signal; 2 a flag is wrong, or the address cannot be had.
  int Run() const;

 private:
  absl::Status Serve() const;

  CommandLine command_;
  ServerFlags server_;
  std::string listen_ = "127.0.0.1:9080";
  std::vector<std::string> namespaces_;
};

}  // namespace gangway::cmd
