// PaddleJobs that paddle-operator made pods for become ours, and go back (docs/paddlejob-lifecycle.md).
//
// By level, as everything here: what is to be done next follows from what is there, so a migration that broke off goes
// on when it is asked for again. Before the first change a config map, the record, keeps what was: it is what a way
// back is made of, and it goes with the PaddleJob.
//
//   record -> the PodGroup's wishes into the PaddleJob, the operator's finalizer off it -> the operator's objects go ->
//   managed-by: gangway managed-by: paddle-operator, old wishes -> the Job and what it needed go -> the hand-made
//   PodGroup is made again -> the record goes
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/paddle/paddle_job.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"
#include "translator/convert/codes.h"
#include "translator/convert/options.h"

namespace gangway::paddle_lifecycle {

inline constexpr char kOperatorName[] = "paddle-operator";  // value of managed-by
// "gangway-import-wd"
std::string ImportRecordName(absl::string_view job);

// A pod, Service or ConfigMap whose controller is the PaddleJob. The operator made it, unless it has annotation
// kTranslationKey (record.h): our pods belong to a Job, what a Job needs beside it is marked.
struct OperatorObject {
  const api::Resource* resource = nullptr;
  api::ObjectMeta metadata;
  std::string phase = {};  // of pods
};

// Borrows everything; lives for one decision.
struct MigrationView {
  const api::paddle::PaddleJob* job = nullptr;
  std::string job_json;  // as the API server has it: the record keeps fields that no table knows
  std::vector<OperatorObject> objects;
  const api::volcano::PodGroup* group = nullptr;  // of the job's name; null: none
  std::string group_json = {};
  const api::volcano::Job* volcano_job = nullptr;  // of the job's name
  const api::ObjectMeta* record = nullptr;         // the config map; null: there is none
  std::map<std::string, std::string> record_data = {};
  std::string namespace_queue = {};  // the namespace's annotation api::volcano::kQueueNameAnnotation; "": none
  bool sidecars = false;             // Istio puts sidecars into the namespace's pods
};

// What our controller has in hand is never written to, but to end an import that broke off.
enum class MigrationState {
  kFinished,      // it has ended, under whomever, and stays as it is
  kRefused,       // it does not translate
  kUntranslated,  // our controller has it, could not translate it, and says so in its status; nothing of it has run
                  // since
  kPending,       // no pod of it runs
  kRunning,       // under paddle-operator
  kOurs,          // our controller has it
  kReturning,     // given back to paddle-operator, but our Job of it is still there
};

struct Migration {
  MigrationState state = MigrationState::kPending;
  int running_pods = 0;           // of paddle-operator
  bool has_job = false;           // a Volcano Job that is the PaddleJob's
  std::string refusal;            // kUntranslated: what our controller said
  std::vector<std::string> goes;  // "pod wd-ps-0", in the order of their names
  std::string taken_over;         // "queue ads, minMember 4"; "": nothing
  convert::Findings findings;     // of the translation
  kube::Plan next;                // what is to be written now; empty: nothing, or what goes is not gone yet
  bool done = false;              // ours, and nothing is left to do
};
// Pure. `options` as the controller that will keep the job has them; the namespace's queue and sidecars are taken from
// `seen`.
Migration PlanImport(const MigrationView& seen, const convert::TranslateOptions& options);

struct Return {
  std::string problem;  // why there is no way back; "": there is one
  bool stops_job = false;
  kube::Plan next;
  bool done = false;
};
// Pure. The way back of an import that its record tells of.
Return PlanReturn(const MigrationView& seen);

}  // namespace gangway::paddle_lifecycle
