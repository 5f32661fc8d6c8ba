// All components of ours, in one table: what makes each, in which process it runs, and what it writes. What a component
// watches it says itself (kube::Component::watched()). `gangway controller` and `gangway scheduler`, the embedded
// cluster, the simulation, --only and the check of the shipped roles read this table and nothing else.
//
// A new controller is its folder and its row.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/resource.h"
#include "assembly/processes.h"
#include "kube/runtime/components.h"
#include "plugin/controller/admission_facts.h"
#include "plugin/controller/job_controller.h"
#include "plugin/controller/live_label_source.h"
#include "plugin/notify/notifier.h"
#include "plugin/scheduler/scheduler.h"
#include "translator/convert/options.h"

namespace gangway::assembly {

// What components are made with; each takes what it needs.
struct Options {
  std::string scheduler_name =
      "volcano";  // of the pods that the scheduler places, and of pods without a group that get one
  std::vector<std::string> namespaces;    // only these are watched, read and written; empty: all. Queues have none.
  std::vector<std::string> only;          // reconcilers by the name they have in --only; empty: all
  bool standby = false;                   // caches fill and nothing is decided until Lead()
  bool inherit_owner_annotations = true;  // PodGroups of pods without one take annotations from the pods' owners
  controller::SshKeyMakers ssh;
  std::shared_ptr<controller::LiveLabelSource> label_source;    // which labels of nodes make HyperNodes; null: none do
  std::shared_ptr<controller::AdmissionFacts> admission_facts;  // told of every queue and namespace; null: nobody asks
  convert::TranslateOptions translate;                          // PaddleJobs
  scheduler::Options scheduler;                                 // but its name
  bool shadow = false;  // the scheduler writes nothing and compares what it would do with what another does
  // Who is told of jobs, and what; null: nobody.
  struct Notifications {
    notify::NotifierOptions about;
    notify::Notifier::Deliver deliver;
  };
  std::shared_ptr<const Notifications> notifications;
  Metrics* metrics = nullptr;  // may be null; must outlive the components
};

// What a component writes besides events.
struct Writes {
  const api::Resource* resource;
  const char* subresource;  // "" for the object itself
  const char* verbs;        // of RBAC: "create delete patch update"
};

struct ComponentRow {
  const char* name;
  absl::string_view process;  // the name of its ProcessRow
  const char* reconciler;     // in --only; "": it always runs
  // Null: these options do not want it.
  std::unique_ptr<kube::Component> (*make)(kube::Informers& informers, const Options& options);
  std::vector<Writes> writes;
};

// In the order in which they are told of changes.
absl::Span<const ComponentRow> AllComponents();
// The names that --only takes, sorted.
std::vector<std::string> Reconcilers();
bool Runs(const Options& options, absl::string_view reconciler);

// What all components together read of a resource.
struct Reads {
  const api::Resource* resource;
  struct Selection {
    std::string labels, fields;  // as kubectl takes them
    friend bool operator==(const Selection&, const Selection&) = default;
  };
  std::vector<Selection> selections;  // which objects: those of any of these; empty: all
};
// In the order in which components ask; whatever these options would leave out included. The client is not asked.
std::vector<Reads> AllReads(Loop& loop, kube::Client& client, Options options);

// The components of these processes as one, before their Start().
std::unique_ptr<kube::Components> MakeComponents(Loop& loop, kube::Client& client,
                                                 absl::Span<const absl::string_view> processes, const Options& options);

}  // namespace gangway::assembly
