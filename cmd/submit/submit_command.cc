#include "cmd/submit/submit_command.h"

#include <cstdio>
#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/duration.h"
#include "api/manifest/manifest.h"
#include "api/manifest/yaml_writer.h"
#include "api/paddle/paddle_rec.h"
#include "base/counted.h"
#include "base/log.h"
#include "base/printable.h"
#include "cmd/submit/submission.h"
#include "cmd/translate/inputs.h"
#include "translator/convert/paddle_rec.h"

namespace gangway::cmd {
namespace {

constexpr char kSubmitCommand[] = "submit";

// One of PaddleRec's files.
absl::StatusOr<api::MixedDocument> ReadOne(const std::string& path, const char* flag) {
  if (std::error_code ignored; absl::StartsWith(path, "paddlerec.") && !std::filesystem::exists(path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat(
        flag, " ", path, ": a model of the package is not looked up here: give the path of its config.yaml"));
  }
  std::vector<std::string> unreadable;
  std::vector<api::MixedDocument> documents = ReadInputs({path}, unreadable);
  if (!unreadable.empty()) return absl::InvalidArgumentError(unreadable.front());
  if (documents.size() != 1)
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", documents.size(), " documents, must have one"));
  if (const api::ManifestDocument& only = documents.front().document; !only.refusal.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(only.Where(""), ": ", only.refusal));
  }
  return std::move(documents.front());
}

// Each complaint with the place in its file; whether there was an error.
bool TellErrors(const api::ManifestDocument& document, const api::FieldErrors& errors, const char* level) {
  for (const api::FieldError& error : errors)
    Note(absl::StrCat(document.Where(error.field), ": ", level, error.ToString()));
  return !errors.empty();
}

bool TellAll(const api::ManifestDocument& backend, const api::ManifestDocument& config,
             const convert::RecTranslation& made) {
  TellErrors(backend, made.backend_warnings, "warning: ");
  const bool wrong = TellErrors(backend, made.backend_errors, "");
  const bool also = TellErrors(config, made.config_errors, "");
  for (const convert::Finding& finding : made.findings)
    Note(absl::StrCat(backend.Where(finding.error.field), ": ", finding.ToString()));
  return wrong || also || convert::HasErrors(made.findings);
}

int Print(const convert::RecTranslation& made) {
  const absl::StatusOr<std::string> yaml = ObjectsYaml(made.before, api::Encode(made.job));
  if (!yaml.ok()) return Complain(kSubmitCommand, yaml.status());
  return PutExact(stdout, *yaml) ? kDone : kNoAnswer;
}

// Where to look, and what PaddleRec's guide does not say.
void SayWhatNext(const api::volcano::Job& job, const std::string& image, bool has_claims) {
  const std::string where = OneLine(absl::StrCat(job.metadata.name, " -n ", job.metadata.ns));
  Put(stdout,
      absl::StrCat("\n", Counted(job.spec.tasks[0].replicas, "server"), " and ",
                   Counted(job.spec.tasks[1].replicas, "trainer"), " start together, or none does; they wait in queue ",
                   OneLine(job.spec.queue), ".\n", "  kubectl get vcjob ", where, "\n  gangway job view ", where,
                   "      what it waits for, why it restarted\n  gangway logs -f ", where, "\n",
                   "The pods find the config as ", convert::kRecMountPath,
                   "/config.yaml; the code it names must be in the image ", OneLine(image),
                   has_claims ? " or in the claims" : ", or in a claim that --volume-claim NAME:/PATH mounts", ".\n"));
}

std::string ImageOf(const api::ManifestDocument& backend) {
  return api::paddle::ReadRecBackend(backend.json).backend.image;
}

}  // namespace

SubmitCommand::SubmitCommand(CommandLine app)
    : command_(
          app.Add("submit", "run a training of PaddleRec, from its config.yaml and backend.yaml, as a Volcano Job")) {
  command_.Footer(
      "Creates the config map JOB-modelconfig and the Job. Trainings of PaddleCloud and MPI, and those of one machine, "
      "are refused. See docs/paddlerec.md.\n"
      "Exit code: 0 submitted, or printed with --dry-run; 1 the files have an error, or the API server refused the job "
      "or has it already;\n"
      "2 a flag is wrong, a file cannot be read, or the API server does not answer; 3 the job that --replace deletes "
      "was not gone in time.\n\n"
      "  gangway submit -m config.yaml -b backend.yaml\n"
      "  gangway submit -m config.yaml -b backend.yaml --dry-run | kubectl diff -f -");
  command_.Add("-m,--model", flags_.model, "PaddleRec's config.yaml: what is trained").Required();
  command_.Add("-b,--backend", flags_.backend, "PaddleRec's backend.yaml: what it needs of the cluster").Required();
  AddServerFlags(command_, flags_.server);
  command_.Add("-n,--namespace", flags_.ns, "of the job; default: the context's");
  command_.Add("--queue", flags_.queue, "that the job waits in; default: default");
  command_.Add("--volume-claim", flags_.claims,
               "NAME:/PATH: a claim that every pod mounts, with data or code (repeatable)");
  command_.Add("--target", flags_.target, "whose controller runs the job: volcano or gangway")
      .OneOf({"volcano", "gangway"})
      .ShowDefault();
  command_.Add("--volcano-version", flags_.volcano_version, "the release that runs it, with --target=volcano")
      .ShowDefault();
  command_.AddSwitch("--replace", flags_.replace, "stop and delete a job of the same name first, with its pods");
  command_.Add("--timeout", flags_.timeout, "how long --replace waits until it is gone").ShowDefault();
  command_.AddSwitch("--dry-run", flags_.dry_run, "print the objects, ask no server");
}

bool SubmitCommand::chosen() const { return command_.chosen(); }

int SubmitCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  convert::TranslateOptions options;
  options.target = flags_.target == "gangway" ? convert::Target::kGangway : convert::Target::kVolcano;
  options.namespace_queue = flags_.queue;
  const absl::StatusOr<convert::VolcanoVersion> version = convert::ParseVolcanoVersion(flags_.volcano_version);
  if (!version.ok()) return Complain(kSubmitCommand, version.status());
  options.volcano = *version;
  const absl::StatusOr<absl::Duration> patience = api::ParseGoDuration(flags_.timeout);
  if (!patience.ok() || *patience <= absl::ZeroDuration()) {
    return Complain(kSubmitCommand,
                    absl::InvalidArgumentError(
                        absl::StrCat("--timeout ", flags_.timeout, ": write a number and a unit, such as 30s or 5m")));
  }
  convert::RecSource source;
  for (const std::string& claim : flags_.claims) {
    absl::StatusOr<api::volcano::VolumeSpec> volume = ClaimOf(claim);
    if (!volume.ok()) return Complain(kSubmitCommand, volume.status());
    source.volumes.push_back(*std::move(volume));
  }
  const absl::StatusOr<api::MixedDocument> backend = ReadOne(flags_.backend, "-b");
  if (!backend.ok()) return Complain(kSubmitCommand, backend.status());
  const absl::StatusOr<api::MixedDocument> config = ReadOne(flags_.model, "-m");
  if (!config.ok()) return Complain(kSubmitCommand, config.status());
  source.backend_json = backend->document.json;
  source.config_json = config->document.json;
  source.config_text = config->text;
  source.ns = flags_.ns;
  convert::RecTranslation made = convert::TranslateRec(source, options);
  if (TellAll(backend->document, config->document, made)) return kNo;
  if (flags_.dry_run) return Print(made);
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(flags_.server);
  if (!caller.ok()) return Complain(kSubmitCommand, caller.status());
  if (source.ns.empty()) {
    source.ns = (*caller)->default_namespace();
    made = convert::TranslateRec(source, options);
  }
  Submission submission;
  submission.before = made.before;
  submission.key = {made.job.metadata.ns, made.job.metadata.name};
  submission.json = api::Encode(made.job);
  submission.replace = flags_.replace;
  submission.patience = *patience;
  const absl::StatusOr<std::string> submitted = Submit(**caller, submission);
  if (!submitted.ok()) return Complain(kSubmitCommand, submitted.status());
  SayWhatNext(made.job, ImageOf(backend->document), !source.volumes.empty());
  return kDone;
}

}  // namespace gangway::cmd
