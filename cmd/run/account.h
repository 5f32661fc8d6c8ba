// The account of a run: what happened to jobs, gangs and pods, a line each, as it happened. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"

namespace gangway::cmd {

struct AccountLine {
  enum class Tone { kPlain, kGood, kWaiting, kBad };
  std::string subject;  // "job default/ctr-volcano"
  std::string text;
  Tone tone = Tone::kPlain;
  friend bool operator==(const AccountLine&, const AccountLine&) = default;
};

// What is worth saying about the step from one state to the next; null is absent.
std::vector<AccountLine> Tell(const api::volcano::Job* before, const api::volcano::Job* after);
std::vector<AccountLine> Tell(const api::paddle::PaddleJob* before, const api::paddle::PaddleJob* after);
std::vector<AccountLine> Tell(const api::paddle::kubeflow::PaddleJob* before,
                              const api::paddle::kubeflow::PaddleJob* after);
std::vector<AccountLine> Tell(const api::volcano::JobFlow* before, const api::volcano::JobFlow* after);
std::vector<AccountLine> Tell(const api::volcano::PodGroup* before, const api::volcano::PodGroup* after);
std::vector<AccountLine> Tell(const api::core::Pod* before, const api::core::Pod* after);
// Why a job does what it does, and what is wrong with it: the events of Jobs and PaddleJobs, and warnings about
// JobFlows. Those of others are told by their states.
std::vector<AccountLine> Tell(const api::core::Event* before, const api::core::Event* after);

// "   0.42s  pod default/ctr-volcano-trainer-0   -> node-001"; with colours for a terminal.
std::string Render(const AccountLine& line, absl::Duration since_start, bool colours);

// What `kubectl get` shows of it: the type of its newest condition; "" when it has none.
std::string StateOf(const api::paddle::kubeflow::PaddleJob& job);

// A phase of a Job or PaddleJob that never changes again by itself.
bool IsFinalPhase(absl::string_view phase);

}  // namespace gangway::cmd
