#include "cmd/dashboard/dashboard_command.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/dashboard/dashboard_server.h"

namespace gangway::cmd {
namespace {

constexpr char kDashboardCommand[] = "dashboard";

}  // namespace

DashboardCommand::DashboardCommand(CommandLine app)
    : command_(app.Add(kDashboardCommand, "a page of queues, gangs, nodes and jobs in your browser, as they change")) {
  command_.Footer(
      "Only reads, with your own rights, and serves this machine alone: docs/dashboard.md. Ctrl-C ends it.\n"
      "Exit code: 0 ended, 2 a flag is wrong or the address cannot be had.\n\n"
      "  gangway dashboard\n"
      "  gangway dashboard --listen 127.0.0.1:0 -n ads      any free port; one namespace");
  AddServerFlags(command_, server_);
  command_.Add("--listen", listen_, "HOST:PORT, a loopback address; port 0: any that is free").ShowDefault();
  command_.Add("-n,--namespace", namespaces_, "only these (repeatable); default: all").OneEach();
}

bool DashboardCommand::chosen() const { return command_.chosen(); }

absl::Status DashboardCommand::Serve() const {
  kube::HttpClientOptions options;
  options.user_agent = "gangway-dashboard";
  options.connect_timeout = absl::Seconds(5);
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<ApiCaller> caller, ApiCaller::Make(server_, options));
  GW_ASSIGN_OR_RETURN(
      const std::unique_ptr<DashboardServer> server,
      DashboardServer::Start(caller->loop(), caller->client(), "--listen", listen_, {caller->server(), namespaces_}));
  server->page().Start();
  Owner owner;  // whoever reads the line may end it
  caller->loop().OnSignals({SIGHUP, SIGINT, SIGTERM}, owner.token(), [&](int) { caller->loop().Stop(); });
  Put(stdout, absl::StrCat("dashboard at ", server->url(), "\n"));
  caller->loop().Run();
  return absl::OkStatus();
}

int DashboardCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what cannot be read stands on the page
  log::Configure(std::move(logs));
  const absl::Status status = Serve();
  return status.ok() ? kDone : Complain(kDashboardCommand, status);
}

}  // namespace gangway::cmd
