#include "cmd/translate/translate_command.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "api/name.h"
#include "base/status_macros.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "cmd/translate/inputs.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "translator/files/manifest.h"

namespace gangway::cmd {
namespace {

constexpr char kTranslateCommand[] = "translate";

}  // namespace

void AddTranslateFlags(CommandLine command, TranslateFlags& flags, const std::vector<std::string>& targets) {
  const bool kubernetes = std::find(targets.begin(), targets.end(), "kubernetes") != targets.end();
  command
      .Add("--target", flags.target,
           absl::StrCat("whose controller runs the Jobs: volcano, or gangway, which also carries out delayed "
                        "actions",
                        kubernetes ? "; kubernetes: Jobs and a gang of its own, without Volcano's types" : ""))
      .OneOf(targets)
      .ShowDefault();
  command.Add("--volcano-version", flags.volcano_version, "the release that runs them, with --target=volcano")
      .ShowDefault();
  command.Add("--cluster-domain", flags.cluster_domain, "of absolute names of pods").ShowDefault();
  command.Add("--elastic-etcd", flags.elastic_etcd, "host:port, of elastic jobs that name none");
  command.Add("--queue", flags.queue, "of jobs that name none, in namespaces that name none");
  command
      .Add("--nodes", flags.nodes, "how many the cluster has: what cannot run on the nodes' network then is warned of")
      .Within(1, 1'000'000);
  command.AddSwitch("--strict", flags.strict, "fields and values that nobody knows are errors, not warnings");
}

absl::StatusOr<convert::TranslateOptions> OptionsOf(const TranslateFlags& flags) {
  convert::TranslateOptions options;
  options.target = flags.target == "gangway"      ? convert::Target::kGangway
                   : flags.target == "kubernetes" ? convert::Target::kKubernetes
                                                  : convert::Target::kVolcano;
  if (!flags.scheduler_name.empty() && options.target != convert::Target::kKubernetes)
    return absl::InvalidArgumentError(
        "--scheduler-name is for --target=kubernetes: pods of Volcano's Jobs name the Job's");
  if (!flags.scheduler_name.empty() && !api::CheckDns1123Subdomain(flags.scheduler_name).empty())
    return absl::InvalidArgumentError(
        absl::StrCat("--scheduler-name ", flags.scheduler_name, ": must be a scheduler's name, such as volcano"));
  options.scheduler_name = flags.scheduler_name;
  GW_ASSIGN_OR_RETURN(options.volcano, convert::ParseVolcanoVersion(flags.volcano_version));
  if (!convert::IsClusterDomain(flags.cluster_domain)) {
    return absl::InvalidArgumentError(absl::StrCat("--cluster-domain ", flags.cluster_domain,
                                                   ": must be the domain of a cluster, such as cluster.local"));
  }
  if (!flags.elastic_etcd.empty() && !convert::IsEtcdAddress(flags.elastic_etcd)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--elastic-etcd ", flags.elastic_etcd, ": must be HOST:PORT, such as etcd.infra:2379"));
  }
  options.cluster_domain = flags.cluster_domain;
  options.elastic_etcd = flags.elastic_etcd;
  options.namespace_queue = flags.queue;
  if (flags.nodes > 0) options.nodes = flags.nodes;
  options.strict = flags.strict;
  return options;
}

TranslateCommand::TranslateCommand(CommandLine app)
    : command_(app.Add("translate", "PaddleJobs and PaddleRec's files as Volcano Jobs, without a cluster")) {
  command_.Footer(
      "Objects go to standard output in the order to apply, what there is to say of them to standard error; other "
      "objects pass through.\n"
      "See docs/translate.md. Exit code: 0 all was translated, warnings or not; 1 a document has an error: nothing "
      "comes out of it, the others\n"
      "do; 2 a flag is wrong, or an input or a document of it cannot be read.\n\n"
      "  gangway translate -f paddlejob.yaml | kubectl apply -f -\n  gangway translate -f jobs/ --explain\n"
      "  gangway translate -f backend.yaml -f config.yaml --target=gangway\n"
      "  gangway translate -f paddlejob.yaml --target=kubernetes --scheduler-name=volcano");
  AddInputs(command_, inputs_);
  command_.Add("-o,--output", output_, "yaml, or json: one List").OneOf({"yaml", "json"}).ShowDefault();
  command_.AddSwitch("--explain", explain_, "print each field's way instead of the objects");
  AddTranslateFlags(command_, flags_, {"volcano", "gangway", "kubernetes"});
  command_.Add("--scheduler-name", flags_.scheduler_name,
               "who places the pods, with --target=kubernetes, where their templates name nobody; default: the "
               "cluster's own scheduler");
}

bool TranslateCommand::chosen() const { return command_.chosen(); }

int TranslateCommand::Run() const {
  absl::StatusOr<convert::TranslateOptions> options = OptionsOf(flags_);
  if (!options.ok()) {
    return Complain(kTranslateCommand, options.status());
  }
  options->explain = explain_;
  std::vector<std::string> unreadable;
  const std::vector<api::MixedDocument> documents = ReadInputs(inputs_, unreadable);
  const convert::ManifestTranslation translation = convert::TranslateManifest(documents, *options, CheckTypes);
  const std::string out = explain_            ? TranslationStories(translation)
                          : output_ == "json" ? TranslationJson(translation)
                                              : TranslationYaml(translation);
  const bool written = explain_ ? Put(stdout, out) : PutExact(stdout, out);
  Put(stderr, TranslationFindings(translation));
  for (const std::string& line : unreadable) Say(kTranslateCommand, line);
  if (!written) Say(kTranslateCommand, "standard output cannot be written");
  const auto cannot_be_read = [](const convert::PlacedFinding& placed) {
    return placed.finding.code == convert::Code::kYaml;
  };
  const bool all_read =
      unreadable.empty() && std::none_of(translation.findings.begin(), translation.findings.end(), cannot_be_read);
  if (!all_read || !written) return kNoAnswer;
  return translation.refused > 0 ? kNo : kDone;
}

}  // namespace gangway::cmd
