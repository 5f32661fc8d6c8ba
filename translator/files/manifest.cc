#include "translator/files/manifest.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/core/sidecars.h"
#include "api/field_rules.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/paddle_resources.h"
#include "api/volcano/admission.h"
#include "api/volcano/defaults.h"
#include "api/volcano/scheduling.h"
#include "base/printable.h"
#include "base/strings.h"
#include "translator/convert/annotations.h"
#include "translator/convert/names.h"
#include "translator/convert/paddle_rec.h"
#include "translator/convert/policy_check.h"
#include "translator/convert/run_entry.h"
#include "translator/files/comments.h"
#include "translator/files/document_kind.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;
using api::ManifestDocument;
using api::MixedDocument;
using Name = std::pair<std::string, std::string>;  // namespace, name

constexpr char kKubeflowManager[] = "kubeflow.org/training-operator";

// Who says no namespace means the one of the context, which is this for most.
constexpr char kContextNamespace[] = "default";
Name NameOf(const ManifestDocument& document) {
  return {document.ns.empty() ? kContextNamespace : document.ns, document.name};
}

std::string Label(const ManifestDocument& document) {
  if (document.kind.empty()) return document.source;
  return absl::StrCat(document.kind, " ", document.ns, document.ns.empty() ? "" : "/",
                      document.name.empty() ? "(without a name)" : document.name);
}

bool IsPaddle(DocumentKind kind) { return kind == DocumentKind::kPaddleJob || kind == DocumentKind::kKubeflowJob; }

const json::value* MemberAt(const json::value& object, std::initializer_list<absl::string_view> path) {
  const json::value* at = &object;
  for (const absl::string_view key : path) {
    const json::object* const map = at->if_object();
    at = map == nullptr ? nullptr : map->if_contains({key.data(), key.size()});
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string TextAt(const json::value& object, std::initializer_list<absl::string_view> path) {
  const json::value* const at = MemberAt(object, path);
  const json::string* const text = at == nullptr ? nullptr : at->if_string();
  return text == nullptr ? "" : std::string(text->data(), text->size());
}

// Errors of schemas and admission in our codes.
Finding Refusal(const FieldError& error) {
  return {error.type == FieldError::Type::kTypeInvalid ? Code::kType : Code::kRefused, error};
}

// A PodGroup of the inputs, whose job is there too.
struct OwnedGroup {
  std::size_t input = 0;  // of the first
  HandMadeGroup group;
  std::string spec;  // as JSON, to compare
  bool contradicted = false;
};

class ManifestTranslator {
 public:
  ManifestTranslator(absl::Span<const MixedDocument> documents, const TranslateOptions& options, const TypeCheck& check)
      : documents_(documents), options_(options), check_(check) {}

  ManifestTranslation Run() {
    for (const MixedDocument& input : documents_) kinds_.push_back(KindOf(input.document));
    LookAround();
    for (at_ = 0; at_ < documents_.size(); ++at_) {
      Take();
      Tell();
    }
    return std::move(out_);
  }

 private:
  const ManifestDocument& document() const { return documents_[at_].document; }

  // What documents say that others depend on: their places do not matter.
  void LookAround() {
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      const ManifestDocument& document = documents_[i].document;
      switch (kinds_[i]) {
        case DocumentKind::kPaddleJob:
        case DocumentKind::kKubeflowJob:
        case DocumentKind::kVolcanoJob:
          jobs_.try_emplace(NameOf(document), i);
          break;
        case DocumentKind::kNamespace:
          LookAtNamespace(document);
          break;
        case DocumentKind::kRecBackend:
          backends_.push_back(i);
          break;
        case DocumentKind::kRecConfig:
          configs_.push_back(i);
          break;
        default:
          break;
      }
    }
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      if (IsPaddle(kinds_[i])) paddle_jobs_.try_emplace(NameOf(documents_[i].document), i);
    }
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      at_ = i;
      if (kinds_[i] == DocumentKind::kPodGroup && OwnJob() != nullptr) LookAtGroup();
      if (kinds_[i] == DocumentKind::kService || kinds_[i] == DocumentKind::kConfigMap) {
        const api::Resource* const resource = kinds_[i] == DocumentKind::kService ? &api::kServices : &api::kConfigMaps;
        foreign_[NameOf(document()).first].push_back({resource, document().name, ""});
      }
    }
  }

  void LookAtNamespace(const ManifestDocument& document) {
    const absl::StatusOr<json::value> object = api::ParseJson(document.json);
    if (!object.ok()) return;
    std::string queue = TextAt(*object, {"metadata", "annotations", View(api::volcano::kQueueNameAnnotation)});
    if (!queue.empty()) queues_.try_emplace(document.name, std::move(queue));
    std::map<std::string, std::string> labels;
    for (const std::string_view key : api::core::kSidecarLabels)
      labels.emplace(key, TextAt(*object, {"metadata", "labels", View(key)}));
    if (api::core::InjectsSidecars(labels)) injecting_.insert(document.name);
  }

  // The PaddleJob whose name the PodGroup has; nullptr when there is none.
  const std::size_t* OwnJob() const {
    const auto at = paddle_jobs_.find(NameOf(document()));
    return at == paddle_jobs_.end() ? nullptr : &at->second;
  }

  void LookAtGroup() {
    OwnedGroup found{.input = at_, .group = {}, .spec = {}};
    const absl::StatusOr<api::volcano::PodGroup> group = api::Decode<api::volcano::PodGroup>(document().json);
    if (group.ok()) {
      const api::volcano::PodGroupSpec& spec = group->spec;
      found.group = {.name = document().name,
                     .min_member = std::nullopt,
                     .queue = spec.queue == View(api::volcano::kDefaultQueue) ? "" : spec.queue,
                     .priority_class = spec.priority_class_name,
                     .min_resources = !spec.min_resources.empty()};
      if (spec.min_member > 0) found.group.min_member = spec.min_member;  // an empty one asks for nothing
      found.spec = api::Encode(spec);
    }
    const auto [at, fresh] = groups_.try_emplace(NameOf(document()), found);
    if (!fresh && at->second.spec != found.spec) at->second.contradicted = true;
  }

  void Take() {
    switch (kinds_[at_]) {
      case DocumentKind::kPaddleJob:
        return TakeJob<api::paddle::PaddleJob>(api::paddle::kPaddleJobs);
      case DocumentKind::kKubeflowJob:
        return TakeKubeflowJob();
      case DocumentKind::kPodGroup:
        return TakeGroup();
      case DocumentKind::kVolcanoJob:
        return TakeVolcanoJob();
      case DocumentKind::kService:
        return TakeService();
      case DocumentKind::kRecBackend:
        return TakeBackend();
      case DocumentKind::kRecConfig:
        return TakeConfig();
      case DocumentKind::kNone:
        ++out_.jobs;
        return Say(RefusalOf(document()));
      case DocumentKind::kNamespace:
      case DocumentKind::kConfigMap:
      case DocumentKind::kOther:
        break;
    }
    if (const std::optional<Finding> note = NoteOn(document())) Say(*note);
    PassOn();
  }

  bool kubernetes() const { return options_.target == Target::kKubernetes; }
  // What is passed on to a cluster that does not know its type.
  void SayForeign() {
    if (kubernetes())
      Say(MakeFinding(Code::kNotInJobs, "kind", api::JsonString(document().kind),
                      "is passed on as it is: it is of a type that only clusters with Volcano's definitions have",
                      "translate it without --target=kubernetes"));
  }

  void PassOn() { out_.objects.push_back({.json = document().json, .comments = {}, .made = false, .input = at_}); }

  void Say(Finding finding) {
    said_.push_back(
        {Label(document()), document().source, document().Find(finding.error.field), std::move(finding), at_});
  }
  void SayAll(Findings findings) {
    for (Finding& finding : findings) Say(std::move(finding));
  }

  // What was said of a document, by line.
  void Tell() {
    std::stable_sort(said_.begin(), said_.end(), [](const PlacedFinding& a, const PlacedFinding& b) {
      return std::tuple(View(a.source), a.at.line, a.at.column, a.finding.level()) <
             std::tuple(View(b.source), b.at.line, b.at.column, b.finding.level());
    });
    const bool refused = std::any_of(said_.begin(), said_.end(),
                                     [](const PlacedFinding& f) { return f.finding.level() == Level::kError; });
    if (refused) ++out_.refused;
    std::move(said_.begin(), said_.end(), std::back_inserter(out_.findings));
    said_.clear();
  }

  // False when the document cannot be read as what it says it is. Otherwise `known_` is what its type knows of it.
  bool PassesTypes(const api::Resource& resource, const api::Type& table) {
    json::monotonic_resource memory;
    const absl::StatusOr<json::value> object = api::ParseJson(document().json, &memory);
    if (!object.ok()) {
      Say(MakeFinding(Code::kType, "", "", std::string(object.status().message())));
      return false;
    }
    TypeComplaints complaints = check_(resource, *object);
    for (FieldError& error : complaints.unknown) {
      if (!options_.strict) absl::StrAppend(&error.rule, ": it is left out");
      Say({options_.strict ? Code::kUnknown : Code::kUnknownField, std::move(error)});
    }
    if (complaints.known.empty()) {
      known_ = document().json;
    } else {
      known_ = std::move(complaints.known);
    }
    FieldErrors rules = std::move(complaints.errors);
    api::CheckRules(table, *object, "", rules);
    for (const FieldError& error : rules) Say(Refusal(error));
    return rules.empty() && (!options_.strict || complaints.unknown.empty());
  }

  bool IsFirstOfItsName() {
    const std::size_t first = jobs_.at(NameOf(document()));
    if (first == at_) return true;
    Say(MakeFinding(Code::kDuplicate, "metadata.name", api::JsonString(document().name),
                    absl::StrCat(Label(documents_[first].document), " at ", documents_[first].document.Where(""),
                                 " becomes the same Job")));
    return false;
  }

  std::string QueueOf(const std::string& ns) const {
    const auto at = queues_.find(ns.empty() ? kContextNamespace : ns);
    return at == queues_.end() ? options_.namespace_queue : at->second;
  }

  void TakeKubeflowJob() {
    const absl::StatusOr<api::paddle::kubeflow::PaddleJob> job =
        api::Decode<api::paddle::kubeflow::PaddleJob>(document().json);
    const std::string managed_by = job.ok() ? job->spec.run_policy.managed_by : "";
    if (managed_by.empty() || managed_by == kKubeflowManager) {
      if (job.ok() && job->spec.run_policy.suspend.value_or(false) && !options_.kept && !kubernetes()) {
        Say(MakeFinding(Code::kUnused, "spec.runPolicy.suspend", "true",
                        "a Job cannot be made suspended: this one starts as soon as it is applied",
                        "apply the PaddleJob, with gangway controller"));
      }
      return TakeJob<api::paddle::kubeflow::PaddleJob>(api::paddle::kubeflow::kPaddleJobs);
    }
    Say(MakeFinding(Code::kUnused, "spec.runPolicy.managedBy", api::JsonString(managed_by),
                    "another controller runs this job; it is left as it is",
                    "leave it out to have the job translated"));
    PassOn();
  }

  template <class PaddleJob>
  void TakeJob(const api::Resource& resource) {
    ++out_.jobs;
    const bool first = IsFirstOfItsName();
    if (!PassesTypes(resource, api::TypeOf<PaddleJob>()) || !first) return;
    const absl::StatusOr<PaddleJob> job = api::Decode<PaddleJob>(known_);
    if (!job.ok()) return Say(MakeFinding(Code::kType, "", "", std::string(job.status().message())));
    TranslateOptions options = options_;
    options.namespace_queue = QueueOf(document().ns);
    options.sidecars = injecting_.contains(document().ns.empty() ? kContextNamespace : document().ns);
    const auto group = groups_.find(NameOf(document()));
    if (group != groups_.end()) options.group = group->second.group;
    Translation translation = Translate(*job, options);
    if (group != groups_.end() && group->second.contradicted) {
      translation.findings.push_back(MakeFinding(Code::kPgClash, "metadata.name", api::JsonString(document().name),
                                                 "the PodGroups of its name ask for different things",
                                                 "keep one of them, or none"));
    }
    if (options_.explain)
      out_.stories.push_back({Label(document()), document().source, document().Find(""), std::move(translation.steps)});
    Finish(translation);
  }

  // What the Job needs must not be somebody else's, and Volcano must take it.
  void Finish(Translation& translation) {
    const auto dropped = std::stable_partition(translation.findings.begin(), translation.findings.end(),
                                               [](const Finding& f) { return f.code != Code::kPgDropped; });
    translation.findings.erase(dropped,
                               translation.findings.end());  // told with the PodGroup, which may be in another file
    Findings findings = translation.findings;
    if (!HasErrors(findings)) {
      for (Finding& clash : Clashes(translation)) findings.push_back(std::move(clash));
    }
    std::string text = HasErrors(findings) ? "" : api::Encode(translation.job);
    if (!text.empty()) {
      for (Finding& refusal : Refusals(text, translation)) findings.push_back(std::move(refusal));
    }
    if (!HasErrors(findings) && kubernetes()) {
      MakeObjects(std::move(translation.before), std::move(translation.objects),
                  CommentsOn(translation.job, Label(document()), findings));
    } else if (!HasErrors(findings)) {
      Make(std::move(translation.before), std::move(text), CommentsOn(translation.job, Label(document()), findings));
    }
    SayAll(std::move(findings));
  }

  Findings Clashes(const Translation& translation) const {
    const auto there = foreign_.find(NameOf(document()).first);
    if (there == foreign_.end()) return {};
    return CheckClashes(document().name, translation.lineup.tasks, translation.needed, there->second);
  }

  // Where the user wrote what stands in the Job at `path`.
  std::string WrittenAt(const std::string& path, const Translation& translation) const {
    for (std::size_t i = 0; i < translation.lineup.tasks.size(); ++i) {
      absl::string_view rest = path;
      if (!absl::ConsumePrefix(&rest, absl::StrCat("spec.tasks[", i, "]"))) continue;
      const std::string& task = translation.lineup.tasks[i].name;
      const std::string role = kinds_[at_] == DocumentKind::kPaddleJob
                                   ? absl::StrCat("spec.", task)
                                   : absl::StrCat("spec.paddleReplicaSpecs.", KubeflowKey(task));
      return absl::StartsWith(rest, ".template") ? absl::StrCat(role, rest) : role;
    }
    return absl::StartsWith(path, "metadata") ? path : "spec";
  }

  std::string KubeflowKey(const std::string& task) const {
    const absl::StatusOr<json::value> object = api::ParseJson(document().json);
    const json::value* const roles = object.ok() ? MemberAt(*object, {"spec", "paddleReplicaSpecs"}) : nullptr;
    if (roles == nullptr || !roles->is_object()) return task;
    for (const json::key_value_pair& role : roles->get_object()) {
      if (absl::EqualsIgnoreCase(absl::string_view(role.key().data(), role.key().size()), task))
        return std::string(role.key());
    }
    return task;
  }

  Findings Refusals(absl::string_view text, const Translation& translation) const {
    json::monotonic_resource memory;
    absl::StatusOr<json::value> job = api::ParseJson(text, &memory);
    if (!job.ok()) return {MakeFinding(Code::kRefused, "", "", std::string(job.status().message()))};
    const api::volcano::AdmissionRequest request{.resource = &api::kJobs, .ns = document().ns, .name = document().name};
    Findings out;
    for (FieldError error : api::volcano::Admit(request, &*job, nullptr).errors) {
      error.field = WrittenAt(error.field, translation);
      out.push_back({Code::kRefused, std::move(error)});
    }
    return out;
  }

  void Make(std::vector<Companion> before, std::string job, std::vector<api::YamlComment> comments) {
    for (Companion& companion : before) {
      out_.objects.push_back(
          {.json = std::move(companion.json), .comments = {{"", companion.why}}, .made = true, .input = at_});
    }
    out_.objects.push_back({.json = std::move(job), .comments = std::move(comments), .made = true, .input = at_});
  }

  // The head of the comments stands above the first of the objects.
  void MakeObjects(std::vector<Companion> before, std::vector<Companion> objects,
                   std::vector<api::YamlComment> comments) {
    if (!objects.empty() && !comments.empty()) objects[0].why = absl::StrCat(comments[0].text, "\n", objects[0].why);
    std::move(objects.begin(), objects.end(), std::back_inserter(before));
    for (Companion& companion : before) {
      out_.objects.push_back(
          {.json = std::move(companion.json), .comments = {{"", companion.why}}, .made = true, .input = at_});
    }
  }

  void TakeGroup() {
    const std::size_t* const job = OwnJob();
    if (job == nullptr) {
      SayForeign();
      return PassOn();
    }
    if (!PassesTypes(api::kPodGroups, api::TypeOf<api::volcano::PodGroup>())) return;
    const OwnedGroup& owned = groups_.at(NameOf(document()));
    if (owned.contradicted && owned.input != at_) {
      return Say(MakeFinding(
          Code::kPgClash, "metadata.name", api::JsonString(document().name),
          absl::StrCat("asks for something else than the one at ", documents_[owned.input].document.Where("")),
          "keep one of them, or none"));
    }
    GangWish wish;
    Say(TakeOver(owned.group, wish));
  }

  void TakeVolcanoJob() {
    const absl::StatusOr<json::value> object = api::ParseJson(document().json);
    const std::string flag =
        object.ok() ? TextAt(*object, {"metadata", "annotations", absl::StrCat(View(kAnnotationPrefix), "run-entry")})
                    : "";
    const bool made_of_two = kinds_[jobs_.at(NameOf(document()))] !=
                             DocumentKind::kVolcanoJob;  // two that are as they were are not ours to judge
    if ((made_of_two || !flag.empty()) && !IsFirstOfItsName()) return;
    SayForeign();
    if (flag.empty()) {
      const absl::StatusOr<api::volcano::Job> written = api::Decode<api::volcano::Job>(document().json);
      if (written.ok()) SayAll(CheckPolicies(*written));
      return PassOn();
    }
    ++out_.jobs;
    if (!PassesTypes(api::kJobs, api::TypeOf<api::volcano::Job>())) return;
    Findings findings;
    const absl::StatusOr<api::volcano::Job> job = api::Decode<api::volcano::Job>(known_);
    const absl::StatusOr<json::value> known = api::ParseJson(known_);
    if (!job.ok() || !known.ok())
      return Say(MakeFinding(Code::kType, "", "", std::string((job.ok() ? known.status() : job.status()).message())));
    const Annotations annotations = ReadAnnotations(job->metadata.annotations, options_.strict, findings);
    if (!annotations.run_entry) {
      SayAll(std::move(findings));
      return PassOn();
    }
    json::value admitted = *known;
    const api::volcano::AdmissionRequest request{.resource = &api::kJobs, .ns = document().ns, .name = document().name};
    const FieldErrors refusals = api::volcano::Admit(request, &admitted, nullptr).errors;
    for (const FieldError& error : refusals) Say(Refusal(error));
    if (!refusals.empty()) return;
    EntryRewrite rewrite = RewriteRunEntry(*known, annotations, options_);
    for (Finding& finding : rewrite.findings) findings.push_back(std::move(finding));
    if (!HasErrors(findings) && !rewrite.changed) PassOn();
    if (!HasErrors(findings) && rewrite.changed) {
      Make(std::move(rewrite.before), std::move(rewrite.json),
           {{"", absl::StrCat("Made of ", Label(document()), ": what paddle_k8s looked up is written out.")}});
    }
    SayAll(std::move(findings));
  }

  // Services for paddle-operator's pods, each of which had a label with its name.
  void TakeService() {
    const absl::StatusOr<json::value> object = api::ParseJson(document().json);
    const bool jobs_here = std::any_of(paddle_jobs_.begin(), paddle_jobs_.end(),
                                       [&](const auto& job) { return job.first.first == NameOf(document()).first; });
    if (object.ok() && jobs_here && MemberAt(*object, {"spec", "selector", "paddle-res-name"}) != nullptr) {
      Say(MakeFinding(Code::kLabel, "spec.selector.paddle-res-name"));
    }
    PassOn();
  }

  // The config that belongs to a backend: the only one, else the one of the same rank. nullptr: there is none.
  const MixedDocument* ConfigOf(std::size_t backend) const {
    if (configs_.size() == 1) return &documents_[configs_[0]];
    const std::size_t rank =
        static_cast<std::size_t>(std::find(backends_.begin(), backends_.end(), backend) - backends_.begin());
    return configs_.size() == backends_.size() ? &documents_[configs_[rank]] : nullptr;
  }

  void TakeBackend() {
    ++out_.jobs;
    const MixedDocument* const config = ConfigOf(at_);
    if (config == nullptr) {
      return Say(
          MakeFinding(Code::kKind, "", "",
                      configs_.empty()
                          ? "backend.yaml says where, and config.yaml, which says what is trained, is missing"
                          : absl::StrCat("there are ", backends_.size(), " backends and ", configs_.size(), " configs"),
                      "give one config for all, or one for each, in the same order"));
    }
    RecSource source{
        .backend_json = document().json, .config_json = config->document.json, .config_text = config->text, .ns = {}};
    if (source.config_text.empty())
      source.config_text = api::YamlOf(source.config_json, api::KeyOrder::kAsWritten).value_or(source.config_json);
    TranslateOptions options = options_;
    options.namespace_queue = QueueOf("");
    RecTranslation rec = TranslateRec(source, options);
    const std::string name = rec.job.metadata.name;
    for (const FieldError& error : rec.backend_errors) Say(Refusal(error));
    for (FieldError& error : rec.backend_warnings)
      Say({options_.strict ? Code::kUnknown : Code::kUnknownField, std::move(error)});
    SayAll(rec.findings);
    for (FieldError& error : rec.config_errors) {
      said_.push_back(
          {Label(config->document), config->document.source, config->document.Find(error.field), Refusal(error), at_});
    }
    const bool strict_refusal = options_.strict && !rec.backend_warnings.empty();
    if (!rec.ok() || strict_refusal) return;
    const auto [job, fresh] = jobs_.try_emplace({kContextNamespace, name}, at_);
    if (!fresh && job->second != at_) {
      return Say(MakeFinding(Code::kDuplicate, "", api::JsonString(name),
                             absl::StrCat(documents_[job->second].document.Where(""), " becomes the same Job")));
    }
    std::vector<api::YamlComment> comments = CommentsOn(rec.job, document().source, rec.findings);
    if (kubernetes()) return MakeObjects(std::move(rec.before), std::move(rec.objects), std::move(comments));
    Make(std::move(rec.before), api::Encode(rec.job), std::move(comments));
  }

  void TakeConfig() {
    if (backends_.empty()) {
      ++out_.jobs;
      Say(MakeFinding(Code::kKind, "", "",
                      "config.yaml says what is trained, and backend.yaml, which says where, is missing",
                      "give both with -f"));
    }
  }

  const absl::Span<const MixedDocument> documents_;
  const TranslateOptions& options_;
  const TypeCheck& check_;
  std::vector<DocumentKind> kinds_;                 // of the documents
  std::map<Name, std::size_t> jobs_, paddle_jobs_;  // the first of each name; jobs_ also Volcano's
  std::map<Name, OwnedGroup> groups_;
  std::map<std::string, std::string> queues_;                  // of namespaces
  std::set<std::string> injecting_;                            // namespaces whose pods get sidecars
  std::map<std::string, std::vector<ForeignObject>> foreign_;  // by namespace
  std::vector<std::size_t> backends_, configs_;
  std::size_t at_ = 0;
  std::string known_;                // of the document at hand
  std::vector<PlacedFinding> said_;  // of the document at hand
  ManifestTranslation out_;
};

}  // namespace

std::string PlacedFinding::ToString() const {
  return OneLine(absl::StrCat(source, ":", at.line, ":", at.column, ": ", finding.ToString()));
}

bool IsForTranslator(const ManifestDocument& document) {
  const DocumentKind kind = KindOf(document);
  return IsPaddle(kind) || kind == DocumentKind::kNone || kind == DocumentKind::kRecBackend ||
         kind == DocumentKind::kRecConfig;
}

ManifestTranslation TranslateManifest(absl::Span<const MixedDocument> documents, const TranslateOptions& options,
                                      const TypeCheck& check) {
  return ManifestTranslator(documents, options, check).Run();
}

}  // namespace gangway::convert
