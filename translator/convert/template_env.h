// Env of a template's containers (docs/paddlejob.md; Paddle: python/paddle/distributed/launch,
// fleet/base/role_maker.py): who the pod is before the user's own and over it, who the others are before it and under
// it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/paddle/runtime_env.h"
#include "boost/json/fwd.hpp"
#include "translator/convert/codes.h"

namespace gangway::convert {

// The same env for pods of an Indexed Job of Kubernetes' own: `job` and their index are what they are called, since
// their own names end in chance; the index stands in JOB_COMPLETION_INDEX, the first of them (kubernetes:
// pkg/controller/job, addCompletionIndexEnvVariable, which leaves one alone that is there).
std::vector<api::paddle::RuntimeVariable> ForIndexedJob(std::vector<api::paddle::RuntimeVariable> env,
                                                        absl::string_view job);

// Leaves of the container's env what is the user's to say, and returns the JSON of the entries that come before it,
// with commas between: text, since nobody reads them again before they are written. `field`: of the container,
// "spec.ps.template.spec.containers[0]". `left_out`: a variable that is not set after all, though a user's own still
// goes; "": none. W-ENV-RESERVED, I-ENV-USER.
std::string TakeEnv(const std::vector<api::paddle::RuntimeVariable>& env, absl::string_view left_out,
                    absl::string_view field, boost::json::object& container, Findings& findings);

// Before the user's sources, of which the last one wins.
// Says where the container's command or arguments bind or listen to POD_IP, which is the name of the pod unless `env`
// takes it from the pod's status: W-POD-IP.
void CheckBinding(const std::vector<api::paddle::RuntimeVariable>& env, absl::string_view field,
                  const boost::json::object& container, Findings& findings);

void PutEnvSource(absl::string_view config_map, boost::json::object& container);

// Has a shell cut the pod's index from its name. False: the container names no command, so there is nothing to wrap.
bool WrapCommand(boost::json::object& container);

}  // namespace gangway::convert
