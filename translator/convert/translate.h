// What a PaddleJob means in Volcano's words: the Job it becomes, what must be there before it, and what there is to say
// about it (docs/paddlejob.md).
//
//   roles, names, gang (mode.h, names.h, gang.h) -> pod templates with env, ports, wait for DNS -> policies
//   (policies.h) -> Job
//
// Everything is known when a job is translated: pods have names that resolve, so no object has to wait for addresses.
#pragma once

#include <string>
#include <vector>

#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "translator/convert/codes.h"
#include "translator/convert/companions.h"
#include "translator/convert/gang.h"
#include "translator/convert/mode.h"
#include "translator/convert/names.h"
#include "translator/convert/options.h"

namespace gangway::convert {

// The way of one field: for `--explain`. `to` is "" when nothing became of it, `from` when it is ours.
struct Step {
  std::string from, to, why;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Translation {
  Findings findings;  // arranged; with an error the rest says nothing
  Mode mode = Mode::kSingle;
  Lineup lineup;  // which tasks
  Gang gang;
  std::vector<Companion> before;   // in the order to apply
  NeededObjects needed;            // for CheckClashes; who runs the Job is the caller's to say
  api::volcano::Job job;           // apiVersion and kind included; no status, no owner
  std::vector<Companion> objects;  // Target::kKubernetes: what stands in the place of the job (kubernetes.h)
  std::vector<Step> steps;
  bool ok() const { return !HasErrors(findings); }
};

// Pure and deterministic. The finding's fields are those of the PaddleJob. Nothing of the cluster is looked at: clashes
// are CheckClashes'.
Translation Translate(const api::paddle::PaddleJob& job, const TranslateOptions& options);
Translation Translate(const api::paddle::kubeflow::PaddleJob& job, const TranslateOptions& options);

}  // namespace gangway::convert
