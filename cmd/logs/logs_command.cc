#include "cmd/logs/logs_command.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/core/pod.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "api/volcano/job.h"
#include "base/log.h"
#include "cmd/logs/log_follower.h"
#include "cmd/logs/log_printer.h"
#include "cmd/run/account.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

using api::core::Pod;
using api::volcano::Job;

// Of a stream that comes faster than it is printed.
constexpr std::size_t kMaxUnprinted = 1u << 20;

LogOutput Standard() {
  LogOutput output;
  output.print = [](absl::string_view lines) { PutExact(stdout, lines); };
  output.tell = [](absl::string_view note) { Note(note); };
  return output;
}

absl::StatusOr<std::vector<Pod>> WantedPods(ApiCaller& caller, const Job& job, const LogChoice& choice) {
  const std::string query =
      absl::StrCat("labelSelector=", PercentEncode(absl::StrCat(lifecycle::kJobNameKey, "=", job.metadata.name)));
  GW_ASSIGN_OR_RETURN(std::vector<Pod> pods, caller.List<Pod>(api::kPods, job.metadata.ns, query));
  std::erase_if(pods, [&](const Pod& pod) { return !IsWanted(pod, job, choice); });
  SortPods(job, pods);
  return pods;
}

}  // namespace

LogsCommand::LogsCommand(CommandLine app)
    : command_(app.Add("logs", "the logs of all pods of a job, with -f until it has ended")) {
  command_.Footer(
      "Each line is headed by the task and index of its pod. With -f pods that are not there yet are waited for, and "
      "those that a restart makes\n"
      "anew are followed too. Exit code: 0 printed, or with -f the job is Completed; 1 the API server refused it or "
      "has no such job; 2 a flag is\n"
      "wrong or the API server does not answer; 3 with -f: the job ended otherwise.\n\n"
      "  gangway logs -f ctr-volcano\n"
      "  gangway logs ctr-volcano --task trainer --tail 20\n"
      "  gangway logs ctr-volcano --previous                what containers wrote before they were restarted in their "
      "pods");
  AddServerFlags(command_, flags_.server);
  command_.Add("job", flags_.job, "of which job").Required();
  command_.Add("-n,--namespace", flags_.ns, "of the job; default: the context's");
  command_.AddSwitch("-f,--follow", flags_.follow, "go on until the job has ended");
  command_.Add("--task", flags_.tasks, "only pods of this task (repeatable)").OneEach();
  command_.Add("-c,--container", flags_.containers, "only containers of this name (repeatable)").OneEach();
  command_.AddSwitch("--all-containers", flags_.all_containers, "=false: of each pod only its default container")
      .ShowDefault();
  command_.AddSwitch("-p,--previous", flags_.previous, "the run before the last restart of each container");
  command_.Add("--tail", flags_.tail, "only so many last lines of each container; -1: all").ShowDefault();
  command_.Add("--since", flags_.since, "only lines younger than this, such as 5s, 2m or 3h");
  command_.Add("--since-time", flags_.since_time, "only lines from then on, such as 2026-11-21T05:11:53Z");
  command_.AddSwitch("--timestamps", flags_.timestamps, "with the time of each line");
  command_.AddSwitch("--prefix", flags_.prefix, "=false: lines as they were written").ShowDefault();
  command_.Add("--max-log-requests", flags_.max_log_requests, "with -f: at most so many containers at once")
      .Within(1, 10000)
      .ShowDefault();
}

bool LogsCommand::chosen() const { return command_.chosen(); }

absl::StatusOr<LogChoice> LogsCommand::Choice() const {
  LogChoice choice;
  choice.tasks = flags_.tasks;
  choice.containers = flags_.containers;
  choice.all_containers = flags_.all_containers;
  choice.previous = flags_.previous;
  choice.timestamps = flags_.timestamps;
  choice.prefix = flags_.prefix;
  choice.tail = flags_.tail;
  if (flags_.tail < -1)
    return absl::InvalidArgumentError(absl::StrCat("--tail ", flags_.tail, ": must be -1 (all) or a number of lines"));
  if (flags_.previous && flags_.follow)
    return absl::InvalidArgumentError("--previous and --follow: a run that is over cannot be followed; leave one out");
  if (!flags_.since.empty() && !flags_.since_time.empty())
    return absl::InvalidArgumentError("--since and --since-time: leave one out");
  if (!flags_.since.empty()) {
    const absl::StatusOr<absl::Duration> since = api::ParseGoDuration(flags_.since);
    if (!since.ok() || *since <= absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--since ", flags_.since, ": write a number and a unit, such as 30s or 5m"));
    }
    choice.since = *since;
  }
  if (!flags_.since_time.empty()) {
    const absl::StatusOr<absl::Time> since = api::ParseTime(flags_.since_time);
    if (!since.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("--since-time ", flags_.since_time, ": write it as 2026-11-21T05:11:53Z"));
    choice.since_time = *since;
  }
  return choice;
}

absl::Status LogsCommand::Print(ApiCaller& caller, const Job& job, LogChoice choice) {
  GW_ASSIGN_OR_RETURN(std::vector<Pod> pods, WantedPods(caller, job, choice));
  if (pods.empty())
    Note(
        absl::StrCat("job ", job.metadata.name, " has no pods now; gangway job view ", job.metadata.name, " says why"));
  std::optional<absl::Status> end;
  LogPrinter printer(caller.loop(), caller.texts(), std::move(pods), std::move(choice), Standard(),
                     [&](absl::Status status) {
                       end = std::move(status);
                       caller.loop().Stop();
                     });
  printer.Start();
  while (!end.has_value()) caller.loop().Run();
  return *std::move(end);
}

absl::Status LogsCommand::Follow(ApiCaller& caller, const Job& job, LogChoice choice) {
  FollowOptions options;
  options.choice = std::move(choice);
  options.max_streams = flags_.max_log_requests;
  const auto tell = [](const Job* before, const Job* after) {
    if (before == nullptr) return;  // the phase it has when we come is no news
    for (const AccountLine& line : Tell(before, after)) Note(absl::StrCat(line.subject, ": ", line.text));
  };
  std::optional<absl::Status> end;
  LogFollower follower(caller.loop(), caller.client(), caller.texts(), job, std::move(options), Standard(), tell,
                       [&](absl::Status status) {
                         end = std::move(status);
                         caller.loop().Stop();
                       });
  follower.Start();
  while (!end.has_value()) caller.loop().Run();
  return *std::move(end);
}

int LogsCommand::Run() {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  absl::StatusOr<LogChoice> choice = Choice();
  if (!choice.ok()) return Complain("logs", choice.status());
  kube::HttpClientOptions options;
  options.max_undelivered_bytes = kMaxUnprinted;
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server, std::move(options));
  if (!caller.ok()) return Complain("logs", caller.status());
  const std::string ns = flags_.ns.empty() ? (*caller)->default_namespace() : flags_.ns;
  std::string name = flags_.job;
  for (const absl::string_view kind : {"job/", "vcjob/"}) name = std::string(absl::StripPrefix(name, kind));
  const absl::StatusOr<Job> job = (*caller)->Get<Job>(api::kJobs, ns, name);
  if (!job.ok()) {
    const std::string fix = absl::IsNotFound(job.status())
                                ? absl::StrCat("; gangway job list -n ", ns, " shows what is there")
                                : std::string();
    return Complain("logs", absl::Status(job.status().code(),
                                         absl::StrCat("job ", ns, "/", name, ": ", job.status().message(), fix)));
  }
  if (const absl::Status tasks = CheckTasks(*job, *choice); !tasks.ok()) return Complain("logs", tasks);
  const absl::Status end =
      flags_.follow ? Follow(**caller, *job, *std::move(choice)) : Print(**caller, *job, *std::move(choice));
  return end.ok() ? kDone : Complain("logs", end);
}

}  // namespace gangway::cmd
