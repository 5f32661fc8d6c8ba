#include "translator/files/document_kind.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/paddle/paddle_rec.h"
#include "api/paddle_resources.h"
#include "api/resource.h"
#include "base/strings.h"

namespace gangway::convert {
namespace {

using api::ManifestDocument;

struct KnownKind {
  const api::Resource* resource;
  DocumentKind kind;
};
constexpr KnownKind kKinds[] = {
    {&api::paddle::kPaddleJobs, DocumentKind::kPaddleJob},
    {&api::paddle::kubeflow::kPaddleJobs, DocumentKind::kKubeflowJob},
    {&api::kPodGroups, DocumentKind::kPodGroup},
    {&api::kJobs, DocumentKind::kVolcanoJob},
    {&api::kNamespaces, DocumentKind::kNamespace},
    {&api::kServices, DocumentKind::kService},
    {&api::kConfigMaps, DocumentKind::kConfigMap},
};

std::string GroupOf(const ManifestDocument& document) {
  const std::size_t slash = document.api_version.find('/');
  return slash == std::string::npos ? "" : document.api_version.substr(0, slash);
}

// paddle-operator's and PaddleCloud's, and that of paddle-on-k8s-operator before them.
bool IsPaddleGroup(absl::string_view group) {
  return group == View(api::paddle::kPaddleJobs.group) || group == "paddlepaddle.org";
}

bool IsDataSet(const ManifestDocument& document) {
  return GroupOf(document) == View(api::paddle::kPaddleJobs.group) &&
         (document.kind == "SampleSet" || document.kind == "SampleJob");
}

}  // namespace

DocumentKind KindOf(const ManifestDocument& document) {
  if (!document.refusal.empty()) return DocumentKind::kNone;
  if (document.kind.empty()) {
    switch (api::paddle::RecFileOf(document.json)) {
      case api::paddle::RecFile::kBackend:
        return DocumentKind::kRecBackend;
      case api::paddle::RecFile::kConfig:
        return DocumentKind::kRecConfig;
      case api::paddle::RecFile::kNeither:
        return DocumentKind::kNone;
    }
  }
  for (const KnownKind& known : kKinds) {
    if (document.kind == View(known.resource->kind) && document.api_version == known.resource->ApiVersion())
      return known.kind;
  }
  if (IsDataSet(document)) return DocumentKind::kOther;
  return document.kind == "PaddleJob" || IsPaddleGroup(GroupOf(document)) ? DocumentKind::kNone : DocumentKind::kOther;
}

Finding RefusalOf(const ManifestDocument& document) {
  if (!document.refusal.empty()) {
    Finding finding = MakeFinding(Code::kYaml, "", "", document.refusal);
    finding.error.fix.clear();  // the refusal says it
    return finding;
  }
  if (document.kind.empty()) {
    return MakeFinding(Code::kKind, "", "",
                       "this is neither an object nor a file of PaddleRec's: apiVersion and kind are missing",
                       "say what the document is");
  }
  const std::string group = GroupOf(document), version = api::JsonString(document.api_version),
                    kind = api::JsonString(document.kind);
  if (document.kind == "PaddleJob") {
    const api::Resource& meant =
        absl::StrContains(group, "kubeflow") ? api::paddle::kubeflow::kPaddleJobs : api::paddle::kPaddleJobs;
    return MakeFinding(Code::kKind, "apiVersion", version, "no PaddleJob has this version",
                       absl::StrCat("write ", meant.ApiVersion()));
  }
  if (document.kind == "TrainingJob") {
    return MakeFinding(
        Code::kKind, "kind", kind, "this is the API of paddle-on-k8s-operator, which ended in 2020",
        "write a PaddleJob: pserver becomes ps, trainer becomes worker, entrypoint the container's command");
  }
  return MakeFinding(Code::kKind, "kind", kind, absl::StrCat("paddle-operator has no such kind in ", group),
                     "write a PaddleJob or a Volcano Job");
}

std::optional<Finding> NoteOn(const ManifestDocument& document) {
  if (!IsDataSet(document)) return std::nullopt;
  return MakeFinding(Code::kSampleSet, "kind", api::JsonString(document.kind),
                     "data caches are PaddleCloud's: nothing here fills one, and jobs mount its claim as it is",
                     "run PaddleCloud's controller for it");
}

}  // namespace gangway::convert
