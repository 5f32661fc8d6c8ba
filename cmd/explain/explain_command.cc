#include "cmd/explain/explain_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "cmd/conf/conf_files.h"
#include "cmd/explain/explain_text.h"
#include "cmd/explain/language.h"
#include "cmd/explain/sight.h"
#include "plugin/explain/suggest.h"

namespace gangway::cmd {
namespace {

constexpr char kExplainCommand[] = "explain";

struct Named {
  TargetKind kind = TargetKind::kJob;
  std::optional<model::GangKind> group;  // of a PodGroup, where it is said
  std::string name;
};

// "podgroups.scheduling.k8s.io", as kubectl takes it: the group is taken off.
std::optional<model::GangKind> TakeGroupOff(std::string& word) {
  const std::size_t dot = word.find('.');
  if (dot == std::string::npos) return std::nullopt;
  for (const model::GangKind kind :
       {model::GangKind::kVolcano, model::GangKind::kKubernetes, model::GangKind::kCoscheduling}) {
    if (word.substr(dot + 1) != explain::GroupOf(kind)) continue;
    const std::string resource = word.substr(0, dot);
    if (resource != "podgroup" && resource != "podgroups") return std::nullopt;
    word = resource;
    return kind;
  }
  return std::nullopt;
}

absl::StatusOr<Named> WhoIsMeant(const std::vector<std::string>& words) {
  static constexpr std::array<std::pair<absl::string_view, TargetKind>, 15> kKinds{
      {{"job", TargetKind::kJob},
       {"jobs", TargetKind::kJob},
       {"vcjob", TargetKind::kJob},
       {"vj", TargetKind::kJob},
       {"paddlejob", TargetKind::kJob},
       {"pdj", TargetKind::kJob},
       {"podgroup", TargetKind::kPodGroup},
       {"podgroups", TargetKind::kPodGroup},
       {"pg", TargetKind::kPodGroup},
       {"pod", TargetKind::kPod},
       {"pods", TargetKind::kPod},
       {"po", TargetKind::kPod},
       {"queue", TargetKind::kQueue},
       {"queues", TargetKind::kQueue},
       {"q", TargetKind::kQueue}}};
  std::vector<std::string> parts = words;
  if (words.size() == 1) parts = absl::StrSplit(words.front(), absl::MaxSplits('/', 1));
  if (parts.size() != 2 || parts[1].empty())
    return absl::InvalidArgumentError(
        "write what to explain: gangway explain job NAME, or podgroup, pod or queue NAME");
  std::string meant = parts[0];
  const std::optional<model::GangKind> group = TakeGroupOff(meant);
  for (const auto& [word, kind] : kKinds) {
    if (meant == word) return Named{kind, group, parts[1]};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", parts[0], "\" cannot be explained: write job, podgroup, pod or queue, and a name"));
}

absl::StatusOr<std::vector<explain::Change>> ChangesOf(const std::vector<std::string>& words) {
  std::vector<explain::Change> out;
  for (const std::string& word : words) {
    GW_ASSIGN_OR_RETURN(explain::Change change, explain::ParseChange(word));
    out.push_back(std::move(change));
  }
  return out;
}

// Which PodGroup has the name: Volcano's, else Kubernetes' own, else coscheduling's. The others of that name, for whom
// it should be said, are told.
void ChooseKind(const explain::ClusterFacts& facts, Target& target) {
  std::vector<model::GangKind> there;
  for (const model::GangFacts& gang : facts.gangs) {
    if (gang.ns == target.gang.ns && gang.name == target.gang.name) there.push_back(gang.kind);
  }
  std::sort(there.begin(), there.end());
  if (there.empty()) return;
  target.gang.kind = there.front();
  target.subject = absl::StrCat("podgroup ", target.gang.ToString());
  for (std::size_t i = 1; i < there.size(); ++i)
    Say(kExplainCommand,
        absl::StrCat("there is a podgroup.", explain::GroupOf(there[i]), " ", target.gang.name, " too; write podgroup.",
                     explain::GroupOf(there[i]), "/", target.gang.name, " to have it explained"));
}

// The PodGroup of that name; else the one of the Job of that name. Of several it is not known which is meant.
absl::StatusOr<explain::GangKey> PodGroupNamed(const explain::ClusterFacts& facts, const explain::GangKey& key) {
  constexpr std::size_t kUid = 36;
  explain::GangKey out = key;
  int of_the_name = 0;
  for (const model::GangFacts& gang : facts.gangs) {
    if (gang.ns != key.ns || gang.kind != key.kind) continue;
    if (gang.name == key.name) return key;
    if (gang.name.size() != key.name.size() + 1 + kUid || !absl::StartsWith(gang.name, absl::StrCat(key.name, "-")))
      continue;
    out.name = gang.name;
    ++of_the_name;
  }
  if (of_the_name <= 1) return out;
  return absl::InvalidArgumentError(absl::StrCat("--what-if without=", key.ToString(), ": ", of_the_name,
                                                 " PodGroups are called so and their UID; write the whole name, which ",
                                                 "kubectl get podgroups.scheduling.volcano.sh -n ", key.ns, " shows"));
}

// What the words left open.
absl::Status FillIn(explain::Trial& trial, const explain::GangKey& gang, std::vector<explain::Change>& changes) {
  for (explain::Change& change : changes) {
    if (explain::GangEnds* const ends = std::get_if<explain::GangEnds>(&change); ends != nullptr) {
      GW_ASSIGN_OR_RETURN(ends->gang, PodGroupNamed(trial.index().facts(), ends->gang));
    }
    explain::MoreNodes* const nodes = std::get_if<explain::MoreNodes>(&change);
    if (nodes == nullptr || !nodes->like.empty()) continue;
    nodes->like = explain::NodeToCopy(trial, gang);
    if (nodes->like.empty())
      return absl::FailedPreconditionError(
          "--what-if nodes: no node of this cluster would take one of its pods even when empty; --what-if "
          "nodes=+1:NODE adds nodes like that one all the same");
  }
  return absl::OkStatus();
}

void AddDeserved(const ExplainSight& sight, gang::Sharing sharing, explain::QueueAccount& queue) {
  const auto deserved = sight.deserved.find(queue.name);
  if (deserved == sight.deserved.end()) return;
  for (const auto& [dim, amount] : deserved->second) {
    for (explain::QueueAmount& known : queue.amounts) {
      if (known.dim != dim) continue;
      known.deserved = amount;
      known.deserved_counts = sharing == gang::Sharing::kAsWritten;
    }
  }
}

// Pods of it wait for a scheduler of another name, which are nobody's business here.
bool WaitsForAnother(const explain::ClusterFacts& facts, const explain::GangKey& gang) {
  return std::any_of(facts.pods.begin(), facts.pods.end(), [&](const model::PodFacts& pod) {
    return pod.ns == gang.ns && pod.gang == gang.name && pod.gang_kind == gang.kind && pod.node.empty() &&
           pod.phase == model::PodPhase::kPending && !pod.ours;
  });
}

// PodGroups that are not Volcano's do not say whose they are.
bool IsLookedAt(const explain::ClusterFacts& facts, const explain::GangKey& gang) {
  return gang.kind == model::GangKind::kVolcano ||
         std::any_of(facts.pods.begin(), facts.pods.end(), [&](const model::PodFacts& pod) {
           return pod.ns == gang.ns && pod.gang == gang.name && pod.gang_kind == gang.kind && pod.ours;
         });
}

bool Print(absl::string_view output, const std::string& text, const std::string& json) {
  return output == "json" ? PutExact(stdout, json) : Put(stdout, text);
}

// A program that reads JSON is not to depend on who runs it.
Language ChosenLanguage(absl::string_view flag, absl::string_view output) {
  if (!flag.empty() || output == "json") return flag == "zh" ? Language::kChinese : Language::kEnglish;
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return absl::string_view(value == nullptr ? "" : value);
  };
  return LanguageOf(variable("LC_ALL"), variable("LC_MESSAGES"), variable("LANG"));
}

absl::Status About(absl::string_view subject, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(subject, ": ", status.message()));
}

}  // namespace

ExplainCommand::ExplainCommand(CommandLine app)
    : command_(app.Add(kExplainCommand, "say why a job waits or where it runs, and what would help, by trying it")) {
  command_.Footer(
      "Reads what the scheduler reads and decides as it does; changes nothing. What would help was tried on a copy: "
      "each suggestion alone makes the gang\n"
      "start. --what-if tries other changes, also several together. See docs/commands.md.\n"
      "Exit code: 0 explained, and with --what-if it would start, at once or when pods have gone for it; 1 it would "
      "not, is not there or may not be read; 2 a "
      "flag is wrong or the API server\n"
      "does not answer.\n\n"
      "  gangway explain job ctr-volcano\n"
      "  gangway explain job ctr-volcano --lang zh\n"
      "  gangway explain job ctr-volcano --what-if nodes=+2,min=3\n"
      "  gangway explain pod ctr-volcano-trainer-1 -n ads -o wide\n"
      "  gangway explain podgroup.scheduling.k8s.io/train   Kubernetes' own, or coscheduling's scheduling.x-k8s.io\n"
      "  gangway explain queue default                      who holds what, and who waits");
  AddServerFlags(command_, server_);
  command_.Add("what", what_, "job, podgroup, pod or queue, and its name; also as job/NAME").Values(1, 2).Required();
  command_.Add("-n,--namespace", ns_, "of the job, PodGroup or pod; default: the context's");
  command_
      .Add("-o,--output", output_,
           "wide: every node, gang and place by name; json: docs/commands.md says what is in it")
      .OneOf({"wide", "json"});
  command_
      .Add("--lang", lang_,
           "en or zh; default: as LC_ALL, LC_MESSAGES or LANG say, which kubectl reads too, and English with -o json")
      .OneOf({"en", "zh"});
  command_
      .Add("--what-if", what_if_,
           "whether it would start with nodes=+2 (like one that suits it) or nodes=+2:NODE, queue=NAME, min=3, "
           "priority=CLASS or priority=100,\n"
           "uncordon=NODE, without=NAMESPACE/PODGROUP; several by commas, all together")
      .SplitAt(',')
      .OneEach();
  command_.Add("--scheduler-name", scheduler_name_,
               "whose pods are placed; default: what the job or the pod says, else volcano");
  command_
      .Add("--scheduler-conf", scheduler_conf_,
           "how that scheduler decides: its file of that flag; default: as without one")
      .FromEnvironment("GANGWAY_SCHEDULER_CONF");
}

bool ExplainCommand::chosen() const { return command_.chosen(); }

absl::StatusOr<int> ExplainCommand::Explain() const {
  GW_ASSIGN_OR_RETURN(const Named named, WhoIsMeant(what_));
  GW_ASSIGN_OR_RETURN(std::vector<explain::Change> changes, ChangesOf(what_if_));
  if (named.kind == TargetKind::kQueue && !changes.empty())
    return absl::InvalidArgumentError("--what-if is about a job, a PodGroup or a pod; a queue has no start");
  const Language language = ChosenLanguage(lang_, output_);
  gang::Policy policy;
  if (!scheduler_conf_.empty()) {
    const absl::StatusOr<conf::SchedulerConf> conf = ReadPolicyFile(scheduler_conf_);
    if (!conf.ok()) return About("--scheduler-conf", conf.status());
    policy = conf->policy;
  }
  GW_ASSIGN_OR_RETURN(const std::unique_ptr<ApiCaller> caller, ApiCaller::Make(server_));
  const std::string ns = ns_.empty() ? caller->default_namespace() : ns_;
  GW_ASSIGN_OR_RETURN(Target target, FindTarget(*caller, named.kind, named.group, ns, named.name, scheduler_name_));
  const std::string scheduler = !scheduler_name_.empty()         ? scheduler_name_
                                : !target.scheduler_name.empty() ? target.scheduler_name
                                                                 : "volcano";
  GW_ASSIGN_OR_RETURN(
      ExplainSight sight,
      ReadCluster([&](const api::Resource& resource) { return caller->ListJson(resource, ""); }, scheduler));
  for (const std::string& line : sight.not_seen) Say(kExplainCommand, absl::StrCat("not looked at: ", line));
  sight.facts.to_come = NotMadeYet(target.wanted_pods, sight.facts);
  if (target.any_kind) ChooseKind(sight.facts, target);
  explain::Trial trial(sight.facts, policy, absl::Now());

  if (named.kind == TargetKind::kQueue) {
    absl::StatusOr<explain::QueueExplanation> queue = trial.ExplainQueue(named.name);
    if (!queue.ok())
      return absl::NotFoundError(absl::StrCat(
          "queue ", named.name, ": is not there, and nobody asks for it; gangway queue list shows what is"));
    AddDeserved(sight, policy.sharing, queue->queue);
    return Print(output_, QueueExplainText(*queue, output_ == "wide", language), QueueExplainJson(*queue, language))
               ? kDone
               : kNoAnswer;
  }

  if (!trial.Has(target.gang)) {
    return absl::NotFoundError(absl::StrCat(target.subject, ": is not there",
                                            named.kind == TargetKind::kPod ? ", although its pod names it" : "",
                                            "; kubectl get podgroups -n ", ns, " shows what is"));
  }
  if (!IsLookedAt(sight.facts, target.gang))
    return absl::FailedPreconditionError(
        absl::StrCat(target.subject, ": none of its pods names scheduler ", scheduler,
                     ", so that it is left alone; --scheduler-name says which is meant"));
  if (WaitsForAnother(sight.facts, target.gang))
    Say(kExplainCommand, absl::StrCat(target.subject, ": pods of it name another scheduler than ", scheduler,
                                      " and are not placed; --scheduler-name says which is meant"));
  ExplainAnswer answer{target.subject, target.prelude, {}, {}};
  GW_ASSIGN_OR_RETURN(answer.explanation, trial.Explain(target.gang));
  AddDeserved(sight, policy.sharing, answer.explanation.queue);
  if (changes.empty()) {
    answer.explanation.suggestions = explain::Suggest(trial, answer.explanation);
  } else {
    WhatIf what_if;
    if (const absl::Status filled = FillIn(trial, target.gang, changes); !filled.ok())
      return About(target.subject, filled);
    const absl::StatusOr<explain::Outcome> outcome = trial.Try(target.gang, changes);
    if (!outcome.ok()) return About("--what-if", outcome.status());
    what_if.starts = outcome->starts;
    for (const explain::Change& change : changes) {
      what_if.words.push_back(explain::WhatIfOf(change));
      what_if.texts.push_back(explain::TextOf(change));
    }
    GW_ASSIGN_OR_RETURN(what_if.then, trial.ExplainWith(target.gang, changes));
    answer.what_if = std::move(what_if);
  }
  if (!Print(output_, ExplainText(answer, output_ == "wide", language), ExplainJson(answer, language)))
    return kNoAnswer;
  return answer.what_if.has_value() && !answer.what_if->starts ? kNo : kDone;
}

int ExplainCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<int> code = Explain();
  return code.ok() ? *code : Complain(kExplainCommand, code.status());
}

}  // namespace gangway::cmd
