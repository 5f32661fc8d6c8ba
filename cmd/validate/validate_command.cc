#include "cmd/validate/validate_command.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "cmd/translate/inputs.h"
#include "cmd/validate/validate.h"

namespace gangway::cmd {
namespace {

constexpr char kValidateCommand[] = "validate";

}  // namespace

ValidateCommand::ValidateCommand(CommandLine app)
    : command_(app.Add("validate",
                       "say whether Volcano would take the objects of job files and Paddle jobs can be "
                       "translated, without a cluster")) {
  command_.Footer(
      "Judges Jobs, CronJobs, JobFlows, JobTemplates, PodGroups, Queues and Commands, PaddleJobs of both dialects and "
      "PaddleRec's two files; other\n"
      "objects are passed over with a note. See docs/validate.md.\n"
      "Exit code: 0 every object would be taken, 1 one would be refused, 2 a flag is wrong, or an input or a document "
      "of it cannot be read.\n\n"
      "  gangway validate -f job.yaml -f more/\n  kubectl get vcjob ctr -o yaml | gangway validate -f - -o json");
  AddInputs(command_, inputs_);
  command_.Add("-o,--output", output_, "text or json").OneOf({"text", "json"}).ShowDefault();
  AddTranslateFlags(command_, flags_);
}

bool ValidateCommand::chosen() const { return command_.chosen(); }

int ValidateCommand::Run() const {
  const absl::StatusOr<convert::TranslateOptions> options = OptionsOf(flags_);
  if (!options.ok()) {
    return Complain(kValidateCommand, options.status());
  }
  std::vector<std::string> unreadable;
  const std::vector<api::MixedDocument> documents = ReadInputs(inputs_, unreadable);
  Validation validation = Validate(documents, *options);
  validation.unreadable = std::move(unreadable);
  const bool written =
      output_ == "json" ? PutExact(stdout, ValidationJson(validation)) : Put(stdout, ValidationText(validation));
  for (const std::string& line : validation.unreadable) Say(kValidateCommand, line);
  const auto cannot_be_read = [](const Finding& finding) { return finding.code == convert::Code::kYaml; };
  const bool all_read = validation.unreadable.empty() &&
                        std::none_of(validation.findings.begin(), validation.findings.end(), cannot_be_read);
  if (!all_read || !written) return kNoAnswer;
  return validation.refused > 0 ? kNo : kDone;
}

}  // namespace gangway::cmd
