// Creates a Job and what must be there before it; used by commands that submit.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "cmd/caller/api_caller.h"
#include "translator/convert/companions.h"

namespace gangway::cmd {

struct Submission {
  std::vector<convert::Companion> before;
  api::volcano::Job job;                       // with a namespace
  bool replace = false;                        // a job of this name goes first, with all that belongs to it
  absl::Duration patience = absl::Minutes(5);  // until it is gone
};

// All of it or, as far as the API server lets us take it back, nothing. The objects before the Job belong to it
// afterwards. Tells each object on standard output. AlreadyExists names what is in the way; Cancelled: the old job is
// not gone in time.
absl::Status Submit(ApiCaller& caller, const Submission& submission);

}  // namespace gangway::cmd
