// The file of `gangway snapshot`: a List, as kubectl takes it, an object a line, with the time it was taken at in
// annotation `gangway.io/snapshot` and, where names are pseudonyms, `gangway.io/anonymised`.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "cmd/snapshot/file/pseudonyms.h"

namespace gangway::snapshot {

inline constexpr absl::string_view kSnapshotAnnotation = "gangway.io/snapshot";
inline constexpr absl::string_view kAnonymisedAnnotation = "gangway.io/anonymised";

struct SnapshotLimits {
  std::size_t max_bytes = std::size_t{512} << 20;  // of the file
  std::size_t max_objects = 1'000'000;
};

// Whether a snapshot has objects of the kind: those by whose fields is decided. Never Secrets and ConfigMaps, for what
// they hold, Events, which are no state, and workloads like Deployments, whose pods are there.
bool IsKept(const api::Resource& resource);

class SnapshotWriter {
 public:
  SnapshotWriter(absl::Time taken, bool anonymised, SnapshotLimits limits = {});

  // An object, as an API server lists it, of a kind that is kept. Without pseudonyms it is whole, but for managedFields
  // and kubectl's copy of it. ResourceExhausted: beyond the limits.
  absl::Status Add(const api::Resource& resource, absl::string_view object);
  std::size_t objects() const { return objects_; }
  // The file; nothing is added afterwards.
  std::string Finish() &&;

 private:
  const bool anonymised_;
  const SnapshotLimits limits_;
  Pseudonyms pseudonyms_;
  std::string text_;
  std::size_t objects_ = 0;
};

struct SnapshotObject {
  const api::Resource* resource;  // null: a kind that the catalogue does not have
  std::string json;
};
struct Snapshot {
  absl::Time taken;
  bool anonymised = false;
  std::vector<SnapshotObject> objects;
};

// Whether a file says that it is one. Looks at its beginning alone.
bool IsSnapshot(absl::string_view text);
// InvalidArgument names the source, the place and what to do.
absl::StatusOr<Snapshot> ReadSnapshot(absl::string_view text, absl::string_view source, SnapshotLimits limits = {});

// What to create in an empty cluster so that it becomes like this one: what nobody there would make by itself. Left out
// are objects that a controller makes of others in the file, jobs and pods that have ended, and what every cluster has;
// UIDs, owners, and of all but nodes status go.
std::vector<api::ManifestDocument> ToCreate(const Snapshot& snapshot, absl::string_view source);

}  // namespace gangway::snapshot
