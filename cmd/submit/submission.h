// Creates a job and what must be there before it; used by commands that submit.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "cmd/caller/api_caller.h"
#include "translator/convert/companions.h"

namespace gangway::cmd {

struct Submission {
  std::vector<convert::Companion> before;
  const api::Resource* resource = &api::kJobs;  // of the job
  api::NamespacedName key;
  std::string json;                            // the job, with a namespace
  std::string another = "another job_name";    // what whoever may not have this name is to choose
  bool replace = false;                        // a job of this name goes first, with all that belongs to it
  absl::Duration patience = absl::Minutes(5);  // until it is gone
};

// What would be created, for --dry-run: documents in the order to apply.
absl::StatusOr<std::string> ObjectsYaml(const std::vector<convert::Companion>& before, const std::string& job);

// "corpus:/data", as --volume-claim has it.
absl::StatusOr<api::volcano::VolumeSpec> ClaimOf(const std::string& text);

// All of it or, as far as the API server lets us take it back, nothing. The objects before the job belong to it
// afterwards. Tells each object on standard output. AlreadyExists names what is in the way; Cancelled: the old job is
// not gone in time. The job's UID.
absl::StatusOr<std::string> Submit(ApiCaller& caller, const Submission& submission);

}  // namespace gangway::cmd
