#include "cmd/job/queue_command.h"

#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/volcano/scheduling.h"
#include "cmd/top/look.h"
#include "cmd/vcctl/command.h"
#include "cmd/vcctl/queue_list.h"

namespace gangway::cmd {
namespace {

using api::volcano::PodGroup;
using api::volcano::Queue;

constexpr std::int64_t kMaxWeight = 65535;

absl::Status About(const std::string& name, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("queue ", name, ": ", status.message(),
                                   absl::IsNotFound(status) ? "; gangway queue list shows what is there" : ""));
}

absl::Status Print(ApiCaller& caller, const std::vector<Queue>& queues, absl::string_view output) {
  GW_ASSIGN_OR_RETURN(const std::vector<PodGroup> groups, caller.List<PodGroup>(api::kPodGroups, ""));
  std::map<std::string, QueueNow> now;
  if (!output.empty()) {
    GW_ASSIGN_OR_RETURN(const dashboard::View view, LookAtCluster(caller, ""));
    for (const dashboard::QueueRow& row : view.queues) now[row.name] = {row.share_permille, row.waiting};
    for (const std::string& line : view.not_seen) Note(absl::StrCat("not seen: ", line));
  }
  const bool printed = output == "json" ? PutExact(stdout, QueueListJson(queues, groups, now))
                                        : Put(stdout, QueueListText(queues, groups, output == "wide" ? &now : nullptr));
  return printed ? absl::OkStatus() : absl::InternalError("standard output takes nothing more");
}

absl::Status SetWeight(ApiCaller& caller, const std::string& name, std::int64_t weight) {
  return caller
      .Call("PATCH", api::PathOf(api::kQueues, "", name), absl::StrCat(R"({"spec":{"weight":)", weight, "}}"), "",
            "application/merge-patch+json")
      .status();
}

absl::Status Command(ApiCaller& caller, const std::string& name, absl::string_view action) {
  GW_ASSIGN_OR_RETURN(const Queue queue, caller.Get<Queue>(api::kQueues, "", name));
  const api::volcano::Command command = QueueCommandObject(queue, action);
  return caller.Call("POST", api::PathOf(api::kCommands, command.metadata.ns), api::Encode(command)).status();
}

}  // namespace

QueueCommand::QueueCommand(CommandLine app)
    : command_(app.Add("queue", "list, get and operate queues, as vcctl does")) {
  command_.RequireCommand();
  command_.Footer(
      "Exit code: 0 done, 1 the API server refused it or has no such queue, 2 a flag is wrong or the API server does "
      "not answer.\n\n"
      "  gangway queue list\n"
      "  gangway queue operate ads --action close           takes no new jobs; those that run go on\n"
      "  gangway queue operate ads --action update --weight 4");
  CommandLine list = command_.Add("list", "one line a queue");
  CommandLine get = command_.Add("get", "one queue");
  CommandLine operate = command_.Add("operate", "open or close a queue, or change its weight");
  for (CommandLine command : {list, get, operate}) AddServerFlags(command, flags_.server);
  for (CommandLine command : {get, operate}) command.Add("-n,--name,name", flags_.name, "of the queue");
  for (CommandLine command : {list, get}) {
    command
        .Add("-o,--output", flags_.output,
             "wide: also what its pods hold, what it deserves of what it wants more of, what it held of late, its "
             "share (its weight among those beside it), and how many gangs wait; json: all of that for a program")
        .OneOf({"wide", "json"});
  }
  operate.Add("-a,--action", flags_.action, "open, close or update");
  operate.Add("-w,--weight", flags_.weight, "of --action update: the queue's share of the cluster");
}

bool QueueCommand::chosen() const { return command_.chosen(); }

absl::Status QueueCommand::Check(absl::string_view verb) const {
  if (verb == "list") return absl::OkStatus();
  if (flags_.name.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("name is mandatory to ", verb, " a particular queue: gangway queue ", verb, " NAME"));
  if (verb == "get") return absl::OkStatus();
  const bool update = flags_.action == "update";
  if (flags_.action != "open" && flags_.action != "close" && !update) {
    return absl::InvalidArgumentError(absl::StrCat("queue ", flags_.name, ": --action ",
                                                   flags_.action.empty() ? "is missing" : flags_.action,
                                                   ": write open, close or update"));
  }
  if (update && (flags_.weight < 1 || flags_.weight > kMaxWeight)) {
    return absl::InvalidArgumentError(
        absl::StrCat("queue ", flags_.name, ": --action update needs --weight, from 1 to ", kMaxWeight));
  }
  if (!update && flags_.weight != 0)
    return absl::InvalidArgumentError(absl::StrCat("queue ", flags_.name, ": --weight goes with --action update only"));
  return absl::OkStatus();
}

absl::Status QueueCommand::List(ApiCaller& caller) const {
  GW_ASSIGN_OR_RETURN(const std::vector<Queue> queues, caller.List<Queue>(api::kQueues, ""));
  return Print(caller, queues, flags_.output);
}

absl::Status QueueCommand::Get(ApiCaller& caller) const {
  absl::StatusOr<Queue> queue = caller.Get<Queue>(api::kQueues, "", flags_.name);
  if (!queue.ok()) return About(flags_.name, queue.status());
  return About(flags_.name, Print(caller, {*std::move(queue)}, flags_.output));
}

absl::Status QueueCommand::Operate(ApiCaller& caller) const {
  if (flags_.action == "update") return About(flags_.name, SetWeight(caller, flags_.name, flags_.weight));
  return About(flags_.name, Command(caller, flags_.name, flags_.action == "open" ? "OpenQueue" : "CloseQueue"));
}

int QueueCommand::Run() {
  const std::string verb = command_.chosen_below();
  const std::string command = absl::StrCat("queue ", verb);
  if (const absl::Status wrong = Check(verb); !wrong.ok()) return Complain(command, wrong);
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server);
  if (!caller.ok()) return Complain(command, caller.status());
  const absl::Status done = verb == "list" ? List(**caller) : verb == "get" ? Get(**caller) : Operate(**caller);
  return done.ok() ? kDone : Complain(command, done);
}

}  // namespace gangway::cmd
