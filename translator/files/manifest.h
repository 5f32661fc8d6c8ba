// Whole inputs, as users keep them in files: PaddleJobs of both dialects, the PodGroups that paddle-operator's guide
// tells people to write beside them, PaddleRec's two files, and anything else (docs/translate.md). Out come the objects
// to apply, in their order.
//
//   PaddleJob                      its Job, and before it what the Job needs
//   PodGroup of a PaddleJob's name nothing: the job takes over what it asks for, W-PG-DROPPED
//   backend.yaml and config.yaml   the Job of PaddleRec, in the place of backend.yaml
//   Volcano Job, run-entry: on     the same Job without `paddle_k8s`
//   any other object               itself, untouched and in its place
//
// Of what is translated, fields that its type does not have are left out, as an API server drops them
// (W-UNKNOWN-FIELD). All or nothing for each document: of one with an error nothing comes out, the others do.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "api/manifest/manifest.h"
#include "api/manifest/yaml_writer.h"
#include "api/resource.h"
#include "boost/json/fwd.hpp"
#include "translator/convert/codes.h"
#include "translator/convert/options.h"
#include "translator/convert/translate.h"

namespace gangway::convert {

// What the types of Kubernetes and Paddle say of an object: fields that do not exist, values of another type, required
// fields. Which types there are is not the translator's to know.
struct TypeComplaints {
  api::FieldErrors unknown, errors;
  std::string known;  // the object without its unknown fields, as an API server stores it; "" when it has none
};
using TypeCheck = std::function<TypeComplaints(const api::Resource& resource, const boost::json::value& object)>;

struct ManifestObject {
  std::string json;
  std::vector<api::YamlComment> comments;  // why it is as it is, for readers
  bool made = false;                       // ours; else it is as it was in the input
  std::size_t input = 0;                   // the document it comes from
};

// A finding where it is in the inputs.
struct PlacedFinding {
  std::string object;  // "PaddleJob default/wd"
  std::string source;  // "wd.yaml"
  api::TextPosition at;
  Finding finding;
  std::size_t input = 0;  // the document it was found with; `source` may be another's
  // `wd.yaml:12:5: E-REPLICAS spec.worker.replicas: ...`, fit to be shown (base/printable.h)
  std::string ToString() const;
};

// How one job was translated.
struct ManifestStory {
  std::string object, source;
  api::TextPosition at;
  std::vector<Step> steps;
};

struct ManifestTranslation {
  std::vector<ManifestObject> objects;  // in the order to apply
  std::vector<PlacedFinding> findings;  // documents in their order, within one by line, then errors first
  std::vector<ManifestStory> stories;   // with options.explain
  std::size_t jobs = 0, refused = 0;    // jobs that were to be translated; documents with errors
};

// Whether TranslateManifest would make something else of a document, or refuse it; others it passes on.
bool IsForTranslator(const api::ManifestDocument& document);

// Pure and deterministic. options.group, options.namespace_queue and options.sidecars are found in the documents: a
// PodGroup of the job's name, annotation and labels of its Namespace; the given queue is that of jobs in other
// namespaces.
ManifestTranslation TranslateManifest(absl::Span<const api::MixedDocument> documents, const TranslateOptions& options,
                                      const TypeCheck& check);

}  // namespace gangway::convert
