#include "cmd/job/job_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "base/log.h"
#include "cmd/job/job_verbs.h"

namespace gangway::cmd {
namespace {

constexpr std::array kVerbs{JobVerb::kSuspend, JobVerb::kResume, JobVerb::kDelete};

// Which jobs the flags name.
absl::StatusOr<std::vector<std::string>> NamesOf(const JobFlags& flags, absl::string_view verb) {
  std::vector<std::string> names = flags.names;
  if (!flags.name.empty()) names.insert(names.begin(), flags.name);
  if (names.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("job name is mandatory to ", verb, " a particular job: gangway job ", verb, " NAME"));
  for (const std::string& name : names) {
    if (name.empty()) return absl::InvalidArgumentError("a job's name is empty");
  }
  return names;
}

absl::StatusOr<std::optional<absl::Duration>> PatienceOf(const JobFlags& flags) {
  const absl::StatusOr<absl::Duration> timeout = api::ParseGoDuration(flags.timeout);
  if (!timeout.ok() || *timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeout ", flags.timeout, ": write a number and a unit, such as 30s or 5m"));
  }
  return flags.wait ? std::optional<absl::Duration>(*timeout) : std::nullopt;
}

int ExitCode(absl::string_view command, const absl::Status& status) {
  return status.ok() ? kDone : Complain(command, status);
}

int Look(ApiCaller& caller, const std::string& ns, const std::vector<std::string>& names) {
  int code = kDone;
  for (const std::string& name : names) code = std::max(code, ExitCode("job view", ViewJob(caller, {ns, name})));
  return code;
}

// One after the other; what fails does not hinder the rest.
int Act(ApiCaller& caller, JobVerb verb, const std::string& ns, const std::vector<std::string>& names,
        std::optional<absl::Duration> patience) {
  int code = kDone;
  for (const std::string& name : names) {
    code = std::max(code, ExitCode(absl::StrCat("job ", NameOf(verb)), CarryOut(caller, verb, {ns, name}, patience)));
  }
  return code;
}

}  // namespace

JobCommand::JobCommand(CommandLine app)
    : command_(app.Add("job", "list, view, suspend, resume and delete jobs, as vcctl does")) {
  command_.RequireCommand();
  command_.Footer(
      "Exit code: 0 done, 1 the API server refused it or has no such job, 2 a flag is wrong or the API server does not "
      "answer, 3 what --wait waits for\n"
      "did not come.\n\n"
      "  gangway job list --all-namespaces\n"
      "  gangway job view ctr-volcano                       ends with why it restarted and what it waits for\n"
      "  gangway job suspend ctr-volcano --wait");
  AddList();
  AddView();
  AddVerb(JobVerb::kSuspend, "stop its pods and keep the job (AbortJob)");
  AddVerb(JobVerb::kResume, "start a suspended job again (ResumeJob)");
  AddVerb(JobVerb::kDelete, "delete the job and what belongs to it");
}

void JobCommand::AddList() {
  CommandLine list = command_.Add("list", "one line a job");
  AddServerFlags(list, flags_.server);
  list.Add("-n,--namespace", flags_.ns, "of the jobs; default: the context's");
  list.AddSwitch("-A,--all-namespaces", flags_.list.all_namespaces, "jobs of all namespaces");
  list.Add("-S,--scheduler", flags_.list.scheduler, "only jobs of this scheduler");
  list.Add("--queue", flags_.list.queue, "only jobs of this queue");
  list.Add("--selector", flags_.list.name_part, "only jobs with this text in their name");
}

void JobCommand::AddView() {
  CommandLine view = command_.Add("view", "a job, its events, why it restarted and what it waits for");
  AddServerFlags(view, flags_.server);
  view.Add("-n,--namespace", flags_.ns, "of the job; default: the context's");
  view.Add("-N,--name", flags_.name, "of the job");
  view.Add("names", flags_.names, "of jobs");
}

void JobCommand::AddVerb(JobVerb verb, const char* about) {
  CommandLine command = command_.Add(NameOf(verb), about);
  AddServerFlags(command, flags_.server);
  command.Add("-n,--namespace", flags_.ns, "of the job; default: the context's");
  command.Add("-N,--name", flags_.name, "of the job");
  command.Add("names", flags_.names, "of jobs");
  command.AddSwitch("--wait", flags_.wait, "until it has come true; tells what happens on standard error");
  command.Add("--timeout", flags_.timeout, "of --wait, for each job").ShowDefault();
}

bool JobCommand::chosen() const { return command_.chosen(); }

int JobCommand::Run() {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const std::string verb = command_.chosen_below();
  const std::string command = absl::StrCat("job ", verb);
  const absl::StatusOr<std::vector<std::string>> names =
      verb == "list" ? std::vector<std::string>() : NamesOf(flags_, verb);
  if (!names.ok()) return Complain(command, names.status());
  const absl::StatusOr<std::optional<absl::Duration>> patience = PatienceOf(flags_);
  if (!patience.ok()) return Complain(command, patience.status());
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server);
  if (!caller.ok()) return Complain(command, caller.status());
  const std::string ns = flags_.ns.empty() ? (*caller)->default_namespace() : flags_.ns;
  if (verb == "list") return ExitCode(command, ListJobs(**caller, flags_.list.all_namespaces ? "" : ns, flags_.list));
  if (verb == "view") return Look(**caller, ns, *names);
  for (const JobVerb each : kVerbs) {
    if (verb == NameOf(each)) return Act(**caller, each, ns, *names, *patience);
  }
  return kNoAnswer;
}

}  // namespace gangway::cmd
