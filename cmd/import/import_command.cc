#include "cmd/import/import_command.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "api/duration.h"
#include "base/log.h"
#include "cmd/import/migration_sight.h"

namespace gangway::cmd {
namespace {

using paddle_lifecycle::Migration;
using paddle_lifecycle::MigrationState;

constexpr char kImportCommand[] = "import";
constexpr absl::Duration kFirstLook = absl::Milliseconds(200),
                         kLastLook = absl::Seconds(2);  // between two looks at what goes, longer each time

std::string KeyOf(const SeenJob& job) {
  return absl::StrCat("paddlejob ", job.job.metadata.ns, "/", job.job.metadata.name);
}

std::string WordsFor(const Migration& migration) {
  switch (migration.state) {
    case MigrationState::kFinished:
      return "has ended: it stays as it is";
    case MigrationState::kRefused:
      return "cannot be taken over as it is written";
    case MigrationState::kUntranslated:
      return absl::StrCat("is gangway's already, which cannot translate it and runs nothing of it",
                          migration.refusal.empty() ? "" : ": ", migration.refusal);
    case MigrationState::kPending:
      return "no pod of it runs";
    case MigrationState::kRunning:
      return "runs under paddle-operator";
    case MigrationState::kOurs:
      return absl::StrCat(migration.has_job ? "runs under gangway already" : "is gangway's already",
                          migration.done ? "" : "; its import broke off and goes on");
    case MigrationState::kReturning:
      return "goes back to paddle-operator, but its job is still there: gangway import --rollback ends that";
  }
  return "";
}

// There is something to do, and no reason not to.
bool IsToDo(const Migration& migration) {
  switch (migration.state) {
    case MigrationState::kPending:
    case MigrationState::kRunning:
      return true;
    case MigrationState::kOurs:
      return !migration.done;
    case MigrationState::kFinished:
    case MigrationState::kRefused:
    case MigrationState::kUntranslated:
    case MigrationState::kReturning:
      return false;
  }
  return false;
}

bool IsRefused(const Migration& migration) {
  return migration.state == MigrationState::kRefused || migration.state == MigrationState::kUntranslated ||
         migration.state == MigrationState::kReturning;
}

void TellPlan(const SeenJob& job, const Migration& migration) {
  PutLine(stdout, absl::StrCat(KeyOf(job), ": ", WordsFor(migration)));
  for (const convert::Finding& finding : migration.findings) PutLine(stdout, absl::StrCat("  ", finding.ToString()));
  if (!IsToDo(migration)) return;
  if (!migration.goes.empty()) PutLine(stdout, absl::StrCat("  goes: ", absl::StrJoin(migration.goes, ", ")));
  if (!migration.taken_over.empty())
    PutLine(stdout, absl::StrCat("  taken over from podgroup ", job.job.metadata.name, ": ", migration.taken_over));
  if (migration.running_pods > 0) {
    PutLine(stdout,
            absl::StrCat("  ", migration.running_pods, " running ", migration.running_pods == 1 ? "pod is" : "pods are",
                         " stopped: the training starts again, from its last checkpoint if it writes any"));
  }
}

absl::Status StillThere(const std::string& operator_name) {
  return absl::FailedPreconditionError(absl::StrCat("E-TWO-CONTROLLERS paddle-operator runs (", operator_name,
                                                    ") and would make its pods again; stop it first, for example: ",
                                                    "kubectl scale deployment --replicas=0 -n NAMESPACE NAME"));
}

// The steps of one job, until nothing is left to do.
class Mover {
 public:
  Mover(ApiCaller& caller, const convert::TranslateOptions& options, absl::Duration patience)
      : caller_(caller), options_(options), patience_(patience) {}

  absl::Status Import(const api::NamespacedName& key) {
    return Repeat(key, [&](const SeenJob& seen, kube::Plan& next, std::string& waits) -> absl::StatusOr<bool> {
      Migration migration = paddle_lifecycle::PlanImport(seen.view, options_);
      if (!migration.done && !IsToDo(migration)) return absl::FailedPreconditionError(WordsFor(migration));
      waits = absl::StrJoin(migration.goes, ", ");
      next = std::move(migration.next);
      return migration.done;
    });
  }

  absl::Status Return(const api::NamespacedName& key) {
    return Repeat(key, [&](const SeenJob& seen, kube::Plan& next, std::string& waits) -> absl::StatusOr<bool> {
      paddle_lifecycle::Return way = paddle_lifecycle::PlanReturn(seen.view);
      if (!way.problem.empty()) return absl::FailedPreconditionError(way.problem);
      waits = way.stops_job ? absl::StrCat("job ", key.name) : "";
      next = std::move(way.next);
      return way.done;
    });
  }

 private:
  // `step` says what is to be written next, what is waited for otherwise, and whether all is done.
  template <class Step>
  absl::Status Repeat(const api::NamespacedName& key, Step step) {
    const absl::Time end = absl::Now() + patience_;
    for (absl::Duration pause = kFirstLook;; pause = std::min(2 * pause, kLastLook)) {
      const absl::StatusOr<std::vector<std::unique_ptr<SeenJob>>> seen = SeeJobs(caller_, key.ns, key.name);
      if (!seen.ok()) return seen.status();
      kube::Plan next;
      std::string waits;
      GW_ASSIGN_OR_RETURN(const bool done, step(*seen->front(), next, waits));
      if (done) return absl::OkStatus();
      if (!next.stages.empty()) {
        const absl::Status written = CarryOutPlan(caller_, next);
        // A controller wrote meanwhile: what is to be done follows from what is there then.
        if (!written.ok() && !(absl::IsAborted(written) && absl::Now() < end)) return written;
        continue;
      }
      if (absl::Now() >= end)
        return absl::CancelledError(absl::StrCat("not gone within ", absl::FormatDuration(patience_), ": ", waits,
                                                 "; the same command goes on from here"));
      caller_.loop().PostAt(absl::Now() + pause, owner_.token(), [this] { caller_.loop().Stop(); });
      caller_.loop().Run();
    }
  }

  ApiCaller& caller_;
  const convert::TranslateOptions& options_;
  const absl::Duration patience_;
  Owner owner_;
};

int TellAndCode(const std::string& key, const absl::Status& status) {
  return status.ok() ? kDone
                     : Complain(kImportCommand, absl::Status(status.code(), absl::StrCat(key, ": ", status.message())));
}

// The plan of one job, and with --apply what it says. `named`: somebody asked for this very job.
int ImportOne(ApiCaller& caller, const SeenJob& seen, const ImportFlags& flags,
              const convert::TranslateOptions& options, absl::Duration patience, bool named) {
  const Migration migration = paddle_lifecycle::PlanImport(seen.view, options);
  TellPlan(seen, migration);
  if (IsRefused(migration)) return kNo;
  if (!flags.apply || !IsToDo(migration)) return kDone;
  if (migration.state == MigrationState::kRunning && !named && !flags.include_running) {
    PutLine(stdout, "  left alone: it runs; name it, or say --include-running");
    return kDone;
  }
  const absl::Status moved = Mover(caller, options, patience).Import({seen.job.metadata.ns, seen.job.metadata.name});
  if (moved.ok())
    PutLine(stdout,
            absl::StrCat("  done; what was is kept in config map ",
                         paddle_lifecycle::ImportRecordName(seen.job.metadata.name), ": gangway import --rollback"));
  return TellAndCode(KeyOf(seen), moved);
}

int ReturnOne(ApiCaller& caller, const SeenJob& seen, const ImportFlags& flags,
              const convert::TranslateOptions& options, absl::Duration patience, bool named) {
  const paddle_lifecycle::Return way = paddle_lifecycle::PlanReturn(seen.view);
  if (!way.problem.empty()) {
    if (named) return TellAndCode(KeyOf(seen), absl::FailedPreconditionError(way.problem));
    return kDone;
  }
  if (way.done) return kDone;
  if (way.stops_job && !named && !flags.include_running) {
    PutLine(stdout,
            absl::StrCat(KeyOf(seen), ": left alone: its job would be stopped; name it, or say --include-running"));
    return kDone;
  }
  const absl::Status moved = Mover(caller, options, patience).Return({seen.job.metadata.ns, seen.job.metadata.name});
  if (moved.ok())
    PutLine(stdout,
            absl::StrCat(
                KeyOf(seen),
                ": is paddle-operator's again; start it: kubectl scale deployment --replicas=1 -n NAMESPACE NAME"));
  return TellAndCode(KeyOf(seen), moved);
}

}  // namespace

ImportCommand::ImportCommand(CommandLine app)
    : command_(app.Add("import", "take PaddleJobs over from paddle-operator, and give them back")) {
  command_.Footer(
      "Without --apply and --rollback it prints what would happen: which objects go, what is taken over from "
      "PodGroups, what the translation says.\n"
      "Jobs that run are stopped only when they are named, or with --include-running. See docs/commands.md.\n"
      "Exit code: 0 printed or done; 1 the API server refused something, a job cannot be taken over or brought back, "
      "or paddle-operator still runs;\n"
      "2 a flag is wrong or the API server does not answer; 3 what was to go was not gone in time (the same command "
      "goes on from there).\n\n"
      "  gangway import -A\n  gangway import --apply wide-deep\n  gangway import --rollback wide-deep");
  AddServerFlags(command_, flags_.server);
  Flag names = command_.Add("names", flags_.names, "of PaddleJobs; default: all of the namespace");
  command_.Add("-n,--namespace", flags_.ns, "of the jobs; default: the context's");
  const Flag all = command_.AddSwitch("-A,--all-namespaces", flags_.all_namespaces, "jobs of all namespaces");
  names.Excludes(all);
  const Flag apply = command_.AddSwitch("--apply", flags_.apply, "do it");
  command_.AddSwitch("--rollback", flags_.rollback, "undo it").Excludes(apply);
  command_.AddSwitch("--include-running", flags_.include_running,
                     "jobs that are not named too, although their pods are stopped");
  AddTranslateFlags(command_, flags_.translate);
  command_.Add("--timeout", flags_.timeout, "how long to wait for each job's objects to go").ShowDefault();
}

bool ImportCommand::chosen() const { return command_.chosen(); }

int ImportCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<absl::Duration> patience = api::ParseGoDuration(flags_.timeout);
  if (!patience.ok() || *patience <= absl::ZeroDuration()) {
    return Complain(kImportCommand,
                    absl::InvalidArgumentError(
                        absl::StrCat("--timeout ", flags_.timeout, ": write a number and a unit, such as 30s or 5m")));
  }
  absl::StatusOr<convert::TranslateOptions> options = OptionsOf(flags_.translate);
  if (!options.ok()) return Complain(kImportCommand, options.status());
  options->kept = true;
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server);
  if (!caller.ok()) return Complain(kImportCommand, caller.status());
  const std::string ns = flags_.all_namespaces ? "" : flags_.ns.empty() ? (*caller)->default_namespace() : flags_.ns;
  const absl::StatusOr<std::vector<std::unique_ptr<SeenJob>>> jobs = SeeJobs(**caller, ns);
  if (!jobs.ok()) return Complain(kImportCommand, jobs.status());
  int code = kDone;
  for (const std::string& name : flags_.names) {
    const auto is = [&](const auto& job) { return job->job.metadata.name == name; };
    if (std::none_of(jobs->begin(), jobs->end(), is))
      code = std::max(
          code, TellAndCode(absl::StrCat("paddlejob ", ns, "/", name), absl::NotFoundError("there is no such job")));
  }
  const absl::StatusOr<std::string> operator_name = FindOperator(**caller);
  if (!operator_name.ok()) return Complain(kImportCommand, operator_name.status());
  if (flags_.apply && !operator_name->empty()) return Complain(kImportCommand, StillThere(*operator_name));
  for (const std::unique_ptr<SeenJob>& job : *jobs) {
    const bool named = std::count(flags_.names.begin(), flags_.names.end(), job->job.metadata.name) > 0;
    if (!flags_.names.empty() && !named) continue;
    code = std::max(code, flags_.rollback ? ReturnOne(**caller, *job, flags_, *options, *patience, named)
                                          : ImportOne(**caller, *job, flags_, *options, *patience, named));
  }
  if (jobs->empty()) PutLine(stdout, "No PaddleJobs found");
  if (!flags_.apply && !flags_.rollback && !operator_name->empty())
    PutLine(stdout, absl::StrCat("paddle-operator runs (", *operator_name, "): stop it before --apply"));
  return code;
}

}  // namespace gangway::cmd
