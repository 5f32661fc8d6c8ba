// PaddleRec's backend.yaml and config.yaml as a Volcano Job (docs/paddlerec.md): what its cluster.sh made, with names
// in the place of addresses that pods looked up, so that no pod needs a right to list pods, and nothing shared between
// two jobs of a namespace.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/volcano/job.h"
#include "translator/convert/codes.h"
#include "translator/convert/options.h"
#include "translator/convert/translate.h"

namespace gangway::convert {

struct RecSource {
  std::string backend_json, config_json;  // as api::ReadDocuments gives them
  std::string config_text;                // the config's own bytes: the pods get them as they are, comments and all
  std::string ns;                         // "" is left to whoever creates the Job
  std::vector<api::volcano::VolumeSpec> volumes =
      {};  // claims that every pod mounts: code and data that are not in the image
};

struct RecTranslation {
  api::FieldErrors backend_errors, backend_warnings, config_errors;  // with the fields of each file
  Findings findings;  // of the Job as a whole: E-VOLCANO-OLD. Their fields are none of the files'
  std::vector<Companion>
      before;  // J-modelconfig, which the pods mount; J-paddle-env where lists are too long for a pod
  api::volcano::Job job;
  std::vector<Companion> objects;  // as in Translation
  bool ok() const { return backend_errors.empty() && config_errors.empty() && !HasErrors(findings); }
};

inline constexpr char kRecMountPath[] = "/usr/paddlerec";
// "k8s-ctr-dnn-modelconfig"
std::string RecConfigMapName(absl::string_view job);

// Pure and deterministic; with an error there is no Job. The queue is options.namespace_queue.
RecTranslation TranslateRec(const RecSource& source, const TranslateOptions& options);

}  // namespace gangway::convert
