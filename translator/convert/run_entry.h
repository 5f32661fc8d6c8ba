// Jobs that start their program through `paddle_k8s`: a script in old images that lists the pods of its job until all
// servers run, writes what it found into the environment and runs $ENTRY (docs/paddlerec.md). It needs a right that
// service accounts do not have, and counts that are not taken from replicas. With the annotation
// paddle.gangway.io/run-entry: on the command becomes `sh -c "$ENTRY"` and the pods are told what the script would have
// found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "boost/json/fwd.hpp"
#include "translator/convert/annotations.h"
#include "translator/convert/codes.h"
#include "translator/convert/options.h"
#include "translator/convert/translate.h"

namespace gangway::convert {

// A container's command that runs what its variable ENTRY says.
boost::json::array RunEntryCommand();

// What the container asks the script to do: "start_fluid"; nullopt: it does not run it. `paddle_k8s`, and
// set_k8s_env.sh, which is PaddleRec's copy of it; also within a shell's command.
std::optional<std::string> PaddleK8sVerb(const boost::json::object& container);

// In a pod template, for each container that runs `paddle_k8s start_fluid`: the command is replaced. For templates
// whose environment is otherwise complete, those of PaddleJobs. `field`: the template's. E-NO-CONTAINER: there is no
// ENTRY. Returns whether there was such a one.
bool ReplacePaddleK8s(boost::json::value& pod_template, absl::string_view field, Findings& findings);

struct EntryRewrite {
  Findings findings;              // arranged; with an error there is no Job
  bool changed = false;           // false: no container runs the script, W-UNUSED
  std::vector<Companion> before;  // J-paddle-env, where lists are too long for a pod
  std::string json;               // the Job without the annotation, other fields as they were
  bool ok() const { return !HasErrors(findings); }
};
// A Volcano Job that passes admission, of `annotations.run_entry`. Its tasks that run the script are servers and
// trainers by their TRAINING_ROLE, else by their names; they keep their port. Counts and lists come from replicas.
// Errors: names that do not fit, two tasks of one role, no role, no ENTRY.
EntryRewrite RewriteRunEntry(const boost::json::value& job, const Annotations& annotations,
                             const TranslateOptions& options);

// Pods that ask the API server for their peers: their service account needs to `list` pods.
struct PodLister {
  std::string ns, service_account;
  std::string field;  // of the container: "spec.tasks[0].template.spec.containers[0]"
  std::string task;
  friend bool operator==(const PodLister&, const PodLister&) = default;
};
// Of a Volcano Job; none when its annotation says that the script is replaced. An absent namespace is `default_ns`.
std::vector<PodLister> PodListersOf(const boost::json::value& job, absl::string_view default_ns);
// "pods of task trainer run paddle_k8s, ...": what is needed, and both ways to have it.
std::string AdviceFor(const PodLister& lister, absl::string_view job);

}  // namespace gangway::convert
