// A task's pod template: what the user wrote, and what Paddle and the gang need besides (docs/paddlejob.md). For both
// dialects: what differs between them and between roles are the facts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/paddle/runtime_env.h"
#include "boost/json/fwd.hpp"
#include "translator/convert/codes.h"

namespace gangway::convert {

struct TemplatePort {
  int number = 0;
  std::string name = {};  // "": without
  friend bool operator==(const TemplatePort&, const TemplatePort&) = default;
};

// A claim that the program reads from.
struct TemplateVolume {
  std::string claim, mount_path;
};

// What a task's pods need that their template does not say.
struct TemplateFacts {
  std::string field = {};  // of the template, where findings are: "spec.ps.template"
  // The container that trains, by name; "": the first.
  std::string main_container = {};
  // Over the user's own.
  std::map<std::string, std::string> labels = {}, annotations = {};
  // Env of every regular container, in front of the user's; `accelerator`: whether the container asks for one. Asked at
  // most once for each.
  std::function<std::vector<api::paddle::RuntimeVariable>(bool accelerator)> env = {};
  // A config map with more of it, weaker than all env; "": none.
  std::string env_source = {};
  // Those of the main container.
  std::vector<TemplatePort> ports = {};
  // On the host network: from the first of `ports`, one more port for each accelerator of the main container after its
  // first.
  bool port_per_accelerator = false;
  bool host_network = false;                     // asked for by the job; a template may ask for itself
  bool absolute_names = false;                   // of the endpoints, which then need no search list
  bool short_names_needed = true;                // the pods resolve each other's names at all
  std::string restart_policy = {};               // over the template's own; "": the template's
  std::string default_restart_policy = "Never";  // where neither says one
  // Names that must resolve before the program starts; may refer to $(PADDLE_POD_NAME). Empty: no wait.
  std::vector<std::string> wait_for = {};
  std::string wait_image = {};                          // "": the main container's
  std::optional<TemplateVolume> volume = std::nullopt;  // mounted into the main container
  bool shares_memory =
      false;  // processes of a pod exchange tensors: W-SHM where a pod with accelerators has no /dev/shm of its own
  bool any_scheduler = false;  // templates may name a scheduler: see TaskTemplate::scheduler
  bool no_sidecars = false;    // their namespace injects sidecars, which pods of a job must not have
  // The pods are those of an Indexed Job of Kubernetes' own, of this name; "": of a Volcano Job's. Any scheduler may
  // place them.
  std::string indexed_job = {};
  bool index_from_name = false;  // PADDLE_TRAINER_ID is cut from the pod's name by a shell around the command
};

struct TaskTemplate {
  std::string json;                   // a core/v1 PodTemplateSpec
  std::string restart_policy;         // its: "Never", "OnFailure"
  std::string scheduler;              // that the user's named, and the template does not any more
  std::set<std::string> config_maps;  // to which the user's refers
  bool host_network = false;
};

// What of the user's template decides about more than its own pods; reads only, and takes any JSON.
struct TemplateTraits {
  bool accelerator = false, host_network = false;
};
TemplateTraits TraitsOf(const boost::json::value& pod_template);

// Makes the task's template of the user's, in place (its storage is used for what is added). Findings have the paths of
// the user's template. With an error the result says nothing. Pure.
//   E-NO-CONTAINER, E-REFUSED, E-SCHEDULER, E-DNS, E-ENV-TOO-LARGE, W-FINALIZERS, W-HOSTNAME, W-RESTART-ALWAYS, W-DNS,
//   W-ENV-RESERVED, W-ISTIO, W-LABEL, W-SHM, W-POD-IP, I-ENV-USER
TaskTemplate MakeTaskTemplate(boost::json::value& pod_template, const TemplateFacts& facts, Findings& findings);

}  // namespace gangway::convert
