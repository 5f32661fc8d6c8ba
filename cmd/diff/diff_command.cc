#include "cmd/diff/diff_command.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/objects.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/paddle_resources.h"
#include "api/volcano/defaults.h"
#include "base/log.h"
#include "base/printable.h"
#include "cmd/diff/line_diff.h"
#include "cmd/diff/object_diff.h"
#include "cmd/translate/inputs.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "translator/convert/names.h"
#include "translator/files/manifest.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::core::PartialObject;

constexpr char kDiffCommand[] = "diff";
constexpr char kDryRun[] = "dryRun=All&fieldManager=gangway-diff";

std::string TextAt(const json::value& object, const char* pointer) {
  boost::system::error_code none;
  const json::value* const at = object.find_pointer(pointer, none);
  return at != nullptr && at->is_string() ? std::string(at->get_string()) : "";
}

// Where an object lives.
struct ObjectPlace {
  std::string collection, path;  // "/api/v1/namespaces/default/configmaps", and the object's own
  std::string name;              // for messages: "ConfigMap default/settings"
};

class Differ {
 public:
  Differ(ApiCaller& caller, const std::vector<api::MixedDocument>& documents, const convert::TranslateOptions& options)
      : caller_(caller), documents_(documents), options_(options) {}

  // The exit code. Differences go to standard output, what is to say to standard error.
  int Run() {
    LookAtCluster();
    const convert::ManifestTranslation translation = Translated(/*kept=*/false), kept = Translated(/*kept=*/true);
    for (std::size_t input = 0; input < documents_.size(); ++input) {
      const convert::ManifestTranslation& source = kept_.contains(input) ? kept : translation;
      Tell(source, input);
      for (const convert::ManifestObject& object : source.objects) {
        if (object.input == input) Compare(object);
      }
    }
    return failed_ ? kNoAnswer : different_ ? kNo : kDone;
  }

 private:
  const std::string& NamespaceOf(const std::string& ns) const { return ns.empty() ? caller_.default_namespace() : ns; }

  // Which jobs a controller of ours keeps, for whom it writes them, and the queues of namespaces.
  void LookAtCluster() {
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      const api::ManifestDocument& document = documents_[i].document;
      if (document.kind != "PaddleJob" || document.name.empty()) continue;
      const std::string ns = NamespaceOf(document.ns);
      LookAtNamespace(ns);
      const absl::StatusOr<Bytes> job = caller_.Call("GET", api::PathOf(api::kJobs, ns, document.name));
      if (!job.ok()) continue;  // told when it is compared
      const absl::StatusOr<PartialObject> seen = api::Decode<PartialObject>(**job);
      if (!seen.ok() || seen->metadata.Controller() == nullptr || seen->metadata.Controller()->kind != "PaddleJob")
        continue;
      kept_.insert(i);
      LookAtGroup(ns, document.name);
      kept_delays_ = kept_delays_ || absl::StrContains(**job, "\"timeout\":");
    }
  }

  void LookAtNamespace(const std::string& ns) {
    if (!namespaces_.insert(ns).second) return;
    const absl::StatusOr<PartialObject> found = caller_.Get<PartialObject>(api::kNamespaces, "", ns);
    const std::string key(api::volcano::kQueueNameAnnotation);
    if (!found.ok() || !found->metadata.annotations.contains(key)) return;
    std::set<std::string> names{ns};
    if (ns == caller_.default_namespace()) names.insert("default");  // as documents without a namespace are read
    for (const std::string& name : names) {
      AddSeen(api::ToJson(
          json::object{{"apiVersion", "v1"},
                       {"kind", "Namespace"},
                       {"metadata", {{"name", name}, {"annotations", {{key, found->metadata.annotations.at(key)}}}}}}));
    }
  }

  // The controller takes over what a PodGroup of the job's name asks for that somebody made.
  void LookAtGroup(const std::string& ns, const std::string& name) {
    for (const api::MixedDocument& input : documents_) {
      if (input.document.kind == "PodGroup" && input.document.name == name && NamespaceOf(input.document.ns) == ns)
        return;
    }
    const absl::StatusOr<Bytes> group = caller_.Call("GET", api::PathOf(api::kPodGroups, ns, name));
    const absl::StatusOr<PartialObject> seen = group.ok() ? api::Decode<PartialObject>(**group) : group.status();
    if (seen.ok() && seen->metadata.Controller() == nullptr) AddSeen(**group);
  }

  void AddSeen(absl::string_view object) {
    absl::StatusOr<std::vector<api::MixedDocument>> read = api::ReadMixedManifest(object, "cluster");
    if (read.ok() && read->size() == 1 && read->front().document.refusal.empty())
      seen_.push_back(std::move(read->front()));
  }

  convert::ManifestTranslation Translated(bool kept) const {
    convert::TranslateOptions options = options_;
    options.kept = kept;
    if (kept && kept_delays_) options.target = convert::Target::kGangway;  // so its controller does
    std::vector<api::MixedDocument> all = documents_;
    all.insert(all.end(), seen_.begin(), seen_.end());
    return convert::TranslateManifest(all, options, check_);
  }

  void Tell(const convert::ManifestTranslation& translation, std::size_t input) {
    for (const convert::PlacedFinding& placed : translation.findings) {
      if (placed.input != input) continue;
      failed_ = failed_ || placed.finding.level() == convert::Level::kError;
      if (placed.finding.level() != convert::Level::kInfo) Note(placed.ToString());
    }
  }

  void Fail(const std::string& name, const absl::Status& status) {
    failed_ = true;
    Say(kDiffCommand, absl::StrCat(name, ": ", status.message()));
  }

  // By the resources we know, else by what the server says of the group.
  absl::StatusOr<ObjectPlace> PlaceOf(const json::value& object) {
    const std::string api_version = TextAt(object, "/apiVersion"), kind = TextAt(object, "/kind"),
                      name = TextAt(object, "/metadata/name");
    if (name.empty()) return absl::InvalidArgumentError("has no name, so there is nothing to compare it with");
    const std::string ns = NamespaceOf(TextAt(object, "/metadata/namespace"));
    if (const api::Resource* const known = api::FindKind(api_version, kind)) {
      const std::string where = known->namespaced ? ns : "";
      return ObjectPlace{api::PathOf(*known, where), api::PathOf(*known, where, name),
                         absl::StrCat(kind, " ", where, where.empty() ? "" : "/", name)};
    }
    const std::string group = absl::StrCat(absl::StrContains(api_version, '/') ? "/apis/" : "/api/", api_version);
    GW_ASSIGN_OR_RETURN(const Bytes body, caller_.Call("GET", group));
    GW_ASSIGN_OR_RETURN(const json::value list, api::ParseJson(*body));
    boost::system::error_code none;
    const json::value* const resources = list.find_pointer("/resources", none);
    if (resources != nullptr && resources->is_array()) {
      for (const json::value& resource : resources->get_array()) {
        const std::string plural = TextAt(resource, "/name");
        if (TextAt(resource, "/kind") != kind || absl::StrContains(plural, '/')) continue;
        const json::value* const namespaced = resource.find_pointer("/namespaced", none);
        const bool has_namespace = namespaced != nullptr && namespaced->is_bool() && namespaced->get_bool();
        const std::string collection = has_namespace
                                           ? absl::StrCat(group, "/namespaces/", PercentEncode(ns), "/", plural)
                                           : absl::StrCat(group, "/", plural);
        return ObjectPlace{collection, absl::StrCat(collection, "/", PercentEncode(name)),
                           absl::StrCat(kind, " ", has_namespace ? absl::StrCat(ns, "/") : "", name)};
      }
    }
    return absl::NotFoundError(absl::StrCat("the cluster has no ", kind, " of ", api_version));
  }

  void Compare(const convert::ManifestObject& object) {
    absl::StatusOr<json::value> ours = api::ParseJson(object.json);
    if (!ours.ok()) return Fail("object", ours.status());
    const absl::StatusOr<ObjectPlace> place = PlaceOf(*ours);
    if (!place.ok())
      return Fail(absl::StrCat(TextAt(*ours, "/kind"), " ", TextAt(*ours, "/metadata/name")), place.status());
    const absl::StatusOr<Bytes> there = caller_.Call("GET", place->path);
    if (!there.ok() && !absl::IsNotFound(there.status())) return Fail(place->name, there.status());
    if (!there.ok() && object.made && TextAt(*ours, "/kind") == "Job") TellClashes(*place, *ours);
    if (!there.ok())
      return Print(*place, nullptr, *ours, caller_.Call("POST", place->collection, object.json, kDryRun));
    const absl::StatusOr<json::value> live = api::ParseJson(**there);
    if (!live.ok()) return Fail(place->name, live.status());
    if (object.made) {
      const json::value wanted = Replaced(*live, *ours);
      const absl::StatusOr<Bytes> result = caller_.Call("PUT", place->path, api::ToJson(wanted), kDryRun);
      return Print(*place, *live, result.ok() ? wanted : Replaced(*live, WithDefaults(*place, *ours)), result);
    }
    // Of what passed through, the cluster may know more than the file.
    Print(*place, *live, *ours,
          caller_.Call("PATCH", place->path, object.json, absl::StrCat(kDryRun, "&force=true"),
                       "application/apply-patch+yaml"));
  }

  // `object` with what the server adds to a new one of its kind. The dry run is of a short name that nobody has.
  json::value WithDefaults(const ObjectPlace& place, json::value object) {
    json::object& metadata = object.as_object()["metadata"].as_object();
    metadata.erase("name");
    metadata["generateName"] = "diff-";
    const absl::StatusOr<Bytes> made = caller_.Call("POST", place.collection, api::ToJson(object), kDryRun);
    absl::StatusOr<json::value> defaulted = made.ok() ? api::ParseJson(**made) : made.status();
    return defaulted.ok() ? *std::move(defaulted) : std::move(object);
  }

  // Objects of the cluster that stand in the way of a Job that is not there yet.
  void TellClashes(const ObjectPlace& place, const json::value& job) {
    const std::string name = TextAt(job, "/metadata/name"), ns = NamespaceOf(TextAt(job, "/metadata/namespace"));
    std::vector<convert::ForeignObject> foreign;
    for (const api::Resource* resource : {&api::kServices, &api::kPodGroups}) {
      const absl::StatusOr<PartialObject> found = caller_.Get<PartialObject>(*resource, ns, name);
      if (!found.ok()) continue;  // it is not there, or is not ours to see
      const api::OwnerReference* const owner = found->metadata.Controller();
      foreign.push_back({resource, name, owner == nullptr ? "" : absl::StrCat(owner->kind, " ", owner->name)});
    }
    convert::NeededObjects needed;
    needed.stock_volcano = options_.target == convert::Target::kVolcano;
    for (const convert::Finding& clash : convert::CheckClashes(name, {}, needed, foreign)) {
      failed_ = true;
      Say(kDiffCommand, absl::StrCat(place.name, ": ", clash.ToString()));
    }
  }

  // `wanted` stands for the result where the server refuses it.
  void Print(const ObjectPlace& place, const json::value& live, const json::value& wanted,
             const absl::StatusOr<Bytes>& result) {
    if (absl::IsUnavailable(result.status()) || absl::IsPermissionDenied(result.status()) ||
        absl::IsNotFound(result.status()) || absl::IsUnauthenticated(result.status())) {
      return Fail(place.name, result.status());
    }
    std::string after = ShownAs(wanted);
    if (result.ok()) {
      const absl::StatusOr<json::value> made = api::ParseJson(**result);
      if (!made.ok()) return Fail(place.name, made.status());
      after = ShownAs(*made);
    }
    const std::string diff = UnifiedDiff(ShownAs(live), after, absl::StrCat("live/", OneLine(place.name)),
                                         absl::StrCat("translated/", OneLine(place.name)));
    if (diff.empty()) return;
    different_ = true;
    if (!Put(stdout, diff)) failed_ = true;
    if (!result.ok()) {
      Say(kDiffCommand,
          absl::StrCat(place.name, ": the API server would refuse this: ", result.status().message(),
                       live.is_null()
                           ? ""
                           : "; delete the object first, or apply the PaddleJob with gangway controller, which does"));
    }
  }

  ApiCaller& caller_;
  const std::vector<api::MixedDocument>& documents_;
  const convert::TranslateOptions& options_;
  const convert::TypeCheck check_ = CheckTypes;
  std::set<std::size_t> kept_;        // inputs whose Job the cluster's controller made of a PaddleJob
  bool kept_delays_ = false;          // for a controller that carries out delayed actions
  std::set<std::string> namespaces_;  // that were looked at
  std::vector<api::MixedDocument>
      seen_;  // objects of the cluster that jobs depend on, as if they stood in a file behind the others
  bool different_ = false, failed_ = false;
};

}  // namespace

DiffCommand::DiffCommand(CommandLine app)
    : command_(app.Add("diff", "what applying the translation of job files would change in a cluster")) {
  command_.Footer(
      "Asks the API server what it would make of each object (dry run) and prints the differences as diff -u does; "
      "nothing is changed. Jobs that\n"
      "gangway controller made of PaddleJobs are compared with what it would make of the file's. See "
      "docs/translate.md.\n"
      "Exit code: 0 nothing would change, 1 something would, 2 a flag, an input or a job is wrong, or the API server "
      "does not answer.\n\n"
      "  gangway diff -f paddlejob.yaml");
  AddInputs(command_, inputs_);
  AddServerFlags(command_, server_);
  AddTranslateFlags(command_, flags_);
}

bool DiffCommand::chosen() const { return command_.chosen(); }

int DiffCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<convert::TranslateOptions> options = OptionsOf(flags_);
  if (!options.ok()) {
    Complain(kDiffCommand, options.status());
    return kNoAnswer;
  }
  std::vector<std::string> unreadable;
  const std::vector<api::MixedDocument> documents = ReadInputs(inputs_, unreadable);
  for (const std::string& line : unreadable) Say(kDiffCommand, line);
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(server_);
  if (!caller.ok()) {
    Complain(kDiffCommand, caller.status());
    return kNoAnswer;
  }
  const int code = Differ(**caller, documents, *options).Run();
  return unreadable.empty() ? code : kNoAnswer;
}

}  // namespace gangway::cmd
