// What `gangway validate` says of manifests: whether an API server with Volcano's types and webhooks would take each of
// its objects, and whether Paddle jobs can be translated.
//
// Of Volcano's objects are judged fields that do not exist or have another type, also in pod templates (the schemas of
// the embedded API server), and the rules of api/volcano/admission.h for a create. Rules about other queues are not:
// there is no cluster to ask. PaddleJobs and PaddleRec's files are translated (translator/files/manifest.h), and what
// comes out is thrown away.
//
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "api/field_error.h"
#include "api/manifest/manifest.h"
#include "translator/convert/codes.h"
#include "translator/convert/options.h"

namespace gangway::cmd {

// One thing that is wrong with one object, or good to know of it.
struct Finding {
  std::string object;  // "job default/ctr"
  std::string source;  // "job.yaml"
  api::TextPosition at;
  api::FieldError error;
  std::optional<convert::Code> code = {};  // of translations; else it is an error
  convert::Level level() const { return code.has_value() ? convert::EntryOf(*code).level() : convert::Level::kError; }
};

// An object that is neither Volcano's nor Paddle's.
struct PassedOver {
  std::string object;  // "Service default/web"
  std::string source;
  api::TextPosition at;
};

// Good to know of an object that would be taken.
struct ValidationNote {
  std::string object, source;
  api::TextPosition at;
  std::string text;
};

struct Validation {
  std::size_t checked = 0, refused = 0;  // objects
  std::vector<Finding> findings;         // documents in their order, within one by line, then as admission lists them
  std::vector<PassedOver> passed_over;
  std::vector<ValidationNote>
      notes;  // pods that need a right that service accounts do not have by themselves; what would wait for good
  std::vector<std::string> unreadable;  // inputs that could not be read, one line each; the caller's to fill
};

Validation Validate(absl::Span<const api::MixedDocument> documents, const convert::TranslateOptions& options = {});

// Lines for people: findings, notes, a sum. `unreadable` is left out.
std::string ValidationText(const Validation& validation);
// One JSON object for programs (docs/validate.md).
std::string ValidationJson(const Validation& validation);

}  // namespace gangway::cmd
