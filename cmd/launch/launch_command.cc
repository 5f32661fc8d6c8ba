#include "cmd/launch/launch_command.h"

#include <cstdio>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "api/json_value.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/launch/follow.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "translator/convert/translate.h"

namespace gangway::cmd {
namespace {

constexpr char kRunCommand[] = "run";

// Such as generateName gives: no vowels, so that no words come out.
std::string Suffix() {
  static constexpr absl::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> which(0, kLetters.size() - 1);
  std::string out;
  for (int i = 0; i < 5; ++i) out += kLetters[which(random)];
  return out;
}

absl::StatusOr<absl::Duration> PatienceOf(const std::string& timeout) {
  if (timeout.empty()) return absl::InfiniteDuration();
  const absl::StatusOr<absl::Duration> patience = api::ParseGoDuration(timeout);
  if (patience.ok() && *patience > absl::ZeroDuration()) return *patience;
  return absl::InvalidArgumentError(
      absl::StrCat("--timeout ", timeout, ": write a number and a unit, such as 90m or 8h"));
}

// "job default/train-x7k2p"
std::string SubjectOf(const Submission& submission) {
  return absl::StrCat(View(submission.resource->singular), " ", submission.key.ToString());
}

void SayWhere(const Submission& submission) {
  const std::string where = absl::StrCat(submission.key.name, " -n ", submission.key.ns);
  Put(stdout, absl::StrCat("  gangway logs -f ", where, "\n  gangway job view ", where,
                           "      what it waits for, why it restarted\n  kubectl delete ",
                           submission.resource->plural == "jobs" ? "vcjob" : "pdj", " ", where, "\n"));
}

}  // namespace

LaunchCommand::LaunchCommand(CommandLine app)
    : command_(app.Add("run", "run a training from an image and a command, and wait for its end")) {
  command_.Footer(
      "Makes the PaddleJob that the flags describe, and of it the Volcano Job; all pods start together or none does. "
      "In "
      "a terminal it tells what happens. See docs/commands.md.\n"
      "Exit code: 0 the job completed, or was created with --wait=false, or printed with --dry-run; 1 the job has an "
      "error, or the API server refused it or has it already;\n"
      "2 a flag is wrong, or the API server does not answer; 3 the job did not complete, or was not waited for to its "
      "end.\n\n"
      "  gangway run --image registry.example/paddle:2.6 --gpus 8 --workers 4 -- python -m paddle.distributed.launch "
      "train.py\n"
      "  gangway run --image registry.example/ctr --ps 2 --workers 4 --cpu 4 --memory 8Gi --wait=false -- python "
      "train.py\n"
      "  gangway run --image registry.example/paddle:2.6 --gpus 1 --dry-run -o yaml -- python train.py > job.yaml");
  Wish& wish = flags_.wish;
  command_.Add("--image", wish.image, "that the pods run").Required();
  command_.Add("--workers", wish.workers, "how many pods train").ShowDefault();
  command_.Add("--ps", wish.servers, "how many parameter servers there are").ShowDefault();
  command_.Add("--gpus", wish.gpus, "of each worker").ShowDefault();
  command_.Add("--gpu-resource", wish.gpu_resource, "what the cluster calls them").ShowDefault();
  command_.Add("--cpu", wish.cpu, "of each pod: 4, 500m");
  command_.Add("--memory", wish.memory, "of each pod: 32Gi");
  command_.Add("--shm", wish.shared_memory, "size of /dev/shm in each pod: 8Gi; it counts as the pod's memory");
  command_.Add("--env", wish.env, "NAME=VALUE, of each pod (repeatable)").OneEach();
  command_.Add("--volume-claim", wish.claims, "NAME:/PATH: a claim that every pod mounts (repeatable)").OneEach();
  command_.Add("--name", wish.name, "of the job; default: the script's name and five characters");
  command_.Add("-n,--namespace", wish.ns, "of the job; default: the context's");
  command_.Add("--queue", wish.queue, "that the job waits in; default: the namespace's, or default");
  command_.Add("--priority-class", wish.priority_class, "of the gang");
  command_
      .Add("--kind", flags_.kind,
           "what is created: job, a Volcano Job, or paddlejob, of which gangway controller makes one")
      .OneOf({"job", "paddlejob"})
      .ShowDefault();
  command_.Add("--target", flags_.target, "whose controller runs a Volcano Job: volcano or gangway")
      .OneOf({"volcano", "gangway"})
      .ShowDefault();
  command_.Add("--volcano-version", flags_.volcano_version, "the release that runs it, with --target=volcano")
      .ShowDefault();
  AddServerFlags(command_, flags_.server);
  command_.AddSwitch("--wait", flags_.wait, "=false: return once the job is created").ShowDefault();
  command_.Add("--timeout", flags_.timeout, "wait at most so long, such as 8h; the job goes on; default: to its end");
  command_.AddSwitch("--replace", flags_.replace, "stop and delete a job of the same name first, with its pods");
  command_.AddSwitch("--dry-run", flags_.dry_run, "print the objects, ask no server");
  command_.Add("-o,--output", flags_.output, "of --dry-run: yaml or json").OneOf({"yaml", "json"}).ShowDefault();
  command_.Add("command", wish.command, "behind --: what every pod runs");
}

bool LaunchCommand::chosen() const { return command_.chosen(); }

absl::StatusOr<Submission> LaunchCommand::Make(const Wish& wish) const {
  GW_ASSIGN_OR_RETURN(const api::paddle::PaddleJob job, JobOf(wish));
  convert::TranslateOptions options;
  options.target = flags_.target == "gangway" ? convert::Target::kGangway : convert::Target::kVolcano;
  GW_ASSIGN_OR_RETURN(options.volcano, convert::ParseVolcanoVersion(flags_.volcano_version));
  // Also of a PaddleJob: its controller would say the same, later.
  convert::Translation made = convert::Translate(job, options);
  std::string errors;
  for (const convert::Finding& finding : made.findings) {
    if (finding.level() == convert::Level::kError)
      absl::StrAppend(&errors, errors.empty() ? "" : "\n", finding.ToString());
    if (finding.level() == convert::Level::kWarning) Note(finding.ToString());
  }
  if (!errors.empty()) return absl::FailedPreconditionError(errors);
  Submission out;
  out.key = {wish.ns, wish.name};
  out.another = "another --name";
  out.replace = flags_.replace;
  if (flags_.kind == "paddlejob") {
    out.resource = &api::paddle::kPaddleJobs;
    out.json = api::Encode(job);
  } else {
    out.before = std::move(made.before);
    out.json = api::Encode(made.job);
  }
  return out;
}

absl::Status LaunchCommand::Print(const Submission& submission) const {
  std::string text;
  if (flags_.output == "yaml") {
    GW_ASSIGN_OR_RETURN(text, ObjectsYaml(submission.before, submission.json));
  } else {
    for (const convert::Companion& companion : submission.before) absl::StrAppend(&text, companion.json, "\n");
    absl::StrAppend(&text, submission.json, "\n");
  }
  return PutExact(stdout, text) ? absl::OkStatus() : absl::UnavailableError("standard output cannot be written");
}

absl::Status LaunchCommand::Wait(ApiCaller& caller, const Submission& submission, const std::string& uid,
                                 absl::Duration patience) const {
  FollowWish wish;
  wish.resource = submission.resource;
  wish.key = submission.key;
  wish.uid = uid;
  wish.patience = patience;
  if (IsTerminal(stderr)) {
    wish.tell = [colours = TakesColours(stderr)](const AccountLine& line, absl::Duration since_start) {
      PutExact(stderr, absl::StrCat(Render(line, since_start, colours), "\n"));
    };
  }
  Follow follow(caller, std::move(wish));
  const absl::Status end = follow.Run();
  const std::string subject = SubjectOf(submission);
  if (end.ok()) {
    PutLine(stdout, absl::StrCat(subject, ": ", follow.last_words()));
    return end;
  }
  return absl::Status(end.code(), absl::StrCat(subject, ": ", end.message(), "; gangway job view -n ",
                                               submission.key.ns, " ", submission.key.name, " says more"));
}

int LaunchCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<absl::Duration> patience = PatienceOf(flags_.timeout);
  if (!patience.ok()) return Complain(kRunCommand, patience.status());
  Wish wish = flags_.wish;
  if (wish.name.empty()) wish.name = NameOfCommand(wish.command, Suffix());
  if (flags_.dry_run) {
    const absl::StatusOr<Submission> submission = Make(wish);
    const absl::Status printed = submission.ok() ? Print(*submission) : submission.status();
    return printed.ok() ? kDone : Complain(kRunCommand, printed);
  }
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server);
  if (!caller.ok()) return Complain(kRunCommand, caller.status());
  if (wish.ns.empty()) wish.ns = (*caller)->default_namespace();
  const absl::StatusOr<Submission> submission = Make(wish);
  if (!submission.ok()) return Complain(kRunCommand, submission.status());
  const absl::StatusOr<std::string> uid = Submit(**caller, *submission);
  if (!uid.ok()) return Complain(kRunCommand, uid.status());
  SayWhere(*submission);
  if (!flags_.wait) return kDone;
  const absl::Status end = Wait(**caller, *submission, *uid, *patience);
  return end.ok() ? kDone : Complain(kRunCommand, end);
}

}  // namespace gangway::cmd
