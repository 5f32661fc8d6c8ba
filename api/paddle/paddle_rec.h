// PaddleRec's two files: backend.yaml, which says what a training needs of a cluster, and config.yaml, which says what
// is trained (docs/paddlerec.md). Not objects of an API: they have neither apiVersion nor kind.
//
// Read as api::ReadDocuments gives them. Complaints have the fields of the file they are about, so that whoever has the
// document adds the line: ManifestDocument::Where(error.field).
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/quantity.h"

namespace gangway::api::paddle {

enum class RecFile : std::uint8_t { kNeither, kBackend, kConfig };
// By the keys: `engine.backend` or `backend`; `train.engine` or `runner`.
RecFile RecFileOf(absl::string_view json);

// Of each role at most: env variables that list so many pods are longer than Linux passes to a program, whatever their
// names.
inline constexpr std::int32_t kMostRecPods = 10'000;

struct RecBackend {
  std::string job_name, job_name_field;  // the field it stands in
  std::string image;
  std::int32_t servers = 0, trainers = 0;
  std::int32_t log_level = 0;
  Quantity memory, storage;  // the limits of each pod
};

// `engine.submit...` as PaddleRec had it first, or without `engine.` as it had it later; server_num and the like also
// as texts. With an error `backend` says nothing. Hosted services (PaddleCloud) and MPI are errors that say what to
// write instead; a key that is missing is one that names what stands there in its place (worker_num, mermory). What
// nothing reads is a warning.
struct RecBackendReading {
  RecBackend backend;
  FieldErrors errors, warnings;  // in the order in which keys are read
  bool ok() const { return errors.empty(); }
};
RecBackendReading ReadRecBackend(absl::string_view json);

struct RecConfig {
  std::int32_t threads = 2;  // of each pod, and its cores
  bool late = false;  // `runner`, not `train`: its paddlerec.run learns from its environment that it is a worker, the
                      // earlier from -r
};

// Errors: a training that is no cluster's (nothing to submit), one of MPI, gpu with parameter servers (as PaddleRec),
// collective.
struct RecConfigReading {
  RecConfig config;
  FieldErrors errors;
  bool ok() const { return errors.empty(); }
};
RecConfigReading ReadRecConfig(absl::string_view json);

}  // namespace gangway::api::paddle
