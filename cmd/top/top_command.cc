#include "cmd/top/top_command.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/duration.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/top/look.h"
#include "cmd/top/top_text.h"

namespace gangway::cmd {
namespace {

constexpr char kTopCommand[] = "top";
constexpr char kClear[] = "\033[H\033[2J";

}  // namespace

TopCommand::TopCommand(CommandLine app)
    : command_(app.Add(kTopCommand, "queues, who waits and why, and who holds which node")) {
  command_.Footer(
      "Exit code: 0 printed, 2 a flag is wrong or the API server does not answer.\n\n"
      "  gangway top\n"
      "  gangway top --every 2s -n ads      again and again, until Ctrl-C");
  AddServerFlags(command_, server_);
  command_.Add("-n,--namespace", ns_, "only PodGroups and pods of it; default: all");
  command_.Add("--every", every_, "again and again, so often: 2s; default: once");
}

bool TopCommand::chosen() const { return command_.chosen(); }

absl::StatusOr<int> TopCommand::Print() const {
  absl::Duration every = absl::ZeroDuration();
  if (!every_.empty()) {
    const auto parsed = api::ParseGoDuration(every_);
    if (!parsed.ok() || *parsed < absl::Milliseconds(100))
      return absl::InvalidArgumentError(
          absl::StrCat("--every ", every_, ": write a number and a unit, such as 2s; at least 100ms"));
    every = *parsed;
  }
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<ApiCaller> caller, ApiCaller::Make(server_));
  const bool terminal = IsTerminal(stdout);
  while (true) {
    GW_ASSIGN_OR_RETURN(const dashboard::View view, LookAtCluster(*caller, ns_));
    const std::string text = TopText(view, absl::Now());
    if (!every_.empty() && terminal) PutExact(stdout, kClear);
    if (!Put(stdout, text)) return kNoAnswer;
    if (every_.empty()) return kDone;
    if (!terminal) Put(stdout, "\n");
    Owner owner;
    caller->loop().PostAt(caller->loop().Now() + every, owner.token(), [&] { caller->loop().Stop(); });
    caller->loop().Run();
  }
}

int TopCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<int> code = Print();
  return code.ok() ? *code : Complain(kTopCommand, code.status());
}

}  // namespace gangway::cmd
