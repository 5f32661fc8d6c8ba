// The job plugins (Volcano: pkg/controllers/job/plugins), one file each. Each reads its flags, says in `effects` what
// it does to the pods and what it makes beside them, and refuses a Job that it cannot serve.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"

namespace gangway::lifecycle {

using PluginFlags = std::vector<std::string>;

absl::Status AddEnv(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
absl::Status AddHcclrank(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
absl::Status AddMpi(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
absl::Status AddPaddle(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
absl::Status AddPytorch(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
absl::Status AddRay(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
// `key` may be null, as EffectsOfPlugins says.
absl::Status AddSsh(const api::volcano::Job& job, const PluginFlags& flags, const SshKeyPair* key,
                    PluginEffects& effects);
absl::Status AddSvc(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);
absl::Status AddTensorflow(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects);

// Notes what is wrong with a plugin's flags, if anything is.
void Complain(absl::string_view plugin, const std::string& complaint, PluginEffects& effects);

}  // namespace gangway::lifecycle
