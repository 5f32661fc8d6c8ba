// The job plugins: what a Job may name in spec.plugins. One table, which admission reads here and which the lifecycle
// hangs their effects on (plugin/lifecycle/job_plugins/job_plugin.cc). Volcano's, and paddle, which Volcano lacks;
// docs/job-plugins.md describes them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/volcano/job.h"

namespace gangway::api::volcano {

// A plugin that another brings along where the Job does not name it.
struct BroughtPlugin {
  std::string_view name;
  std::string_view flag = {};  // that it is brought with; "": none
};

struct JobPlugin {
  std::string_view name;
  std::string_view flags = {};  // that it knows, without their dashes, comma separated
  std::span<const BroughtPlugin> brings = {};
  // What it needs of the tasks; null: nothing.
  void (*check)(const JobSpec& spec, const std::vector<std::string>& flags, FieldErrors& errors) = nullptr;
  // Whether it makes something that has to be taken down again, so that the Job's status names it.
  bool leaves_objects = true;
};

void CheckMpiPlugin(const JobSpec& spec, const std::vector<std::string>& flags, FieldErrors& errors);
void CheckPaddlePlugin(const JobSpec& spec, const std::vector<std::string>& flags, FieldErrors& errors);

inline constexpr BroughtPlugin kSvcAlong[] = {{"svc"}};
inline constexpr BroughtPlugin kSvcAndSshAlong[] = {{"svc"}, {"ssh"}};
// Its programs look up names before the pods are ready.
inline constexpr BroughtPlugin kEarlySvcAlong[] = {{"svc", "--publish-not-ready-addresses=true"}};

// By name.
inline constexpr JobPlugin kJobPlugins[] = {
    {.name = "env"},
    {.name = "hcclrank", .flags = "master,worker", .leaves_objects = false},
    {.name = "mpi", .flags = "master,worker,port", .brings = kSvcAndSshAlong, .check = CheckMpiPlugin},
    {.name = "paddle",
     .flags = "server,worker,heter,port,with-gloo",
     .brings = kEarlySvcAlong,
     .check = CheckPaddlePlugin},
    {.name = "pytorch",
     .flags = "master,worker,port,wait-master-enabled,wait-master-timeout,wait-master-image",
     .brings = kSvcAlong},
    {.name = "ray",
     .flags = "head,headContainer,worker,workerContainer,port,dashboardPort,clientPort",
     .brings = kSvcAlong},
    {.name = "ssh", .flags = "ssh-key-file-path,ssh-private-key,ssh-public-key,ssh-port"},
    {.name = "svc", .flags = "publish-not-ready-addresses,disable-network-policy,inject-hosts-env"},
    {.name = "tensorflow", .flags = "ps,worker,chief,evaluator,port", .brings = kSvcAlong},
};

// nullptr: there is no such plugin.
const JobPlugin* FindJobPlugin(absl::string_view name);

}  // namespace gangway::api::volcano
