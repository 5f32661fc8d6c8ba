// Which logs of a Job are wanted, and what the pods say about them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/volcano/job.h"
#include "kube/client/client.h"

namespace gangway::cmd {

struct LogChoice {
  std::vector<std::string> tasks;       // none: all
  std::vector<std::string> containers;  // none: all, or the pod's default one
  bool all_containers = true;
  bool previous = false;
  bool timestamps = false;
  bool prefix = true;
  std::int64_t tail = -1;  // lines of each container; negative: all
  std::optional<absl::Duration> since;
  std::optional<absl::Time> since_time;
};

// InvalidArgument names a task that the job does not have and those that it has.
absl::Status CheckTasks(const api::volcano::Job& job, const LogChoice& choice);

// Controlled by the Job, this very one, and of a task that is wanted.
bool IsWanted(const api::core::Pod& pod, const api::volcano::Job& job, const LogChoice& choice);

// By the order of the job's tasks, then by index.
void SortPods(const api::volcano::Job& job, std::vector<api::core::Pod>& pods);

// The containers of the pod that are wanted, init containers first. Without a choice of containers and with
// all_containers false it is the one of annotation kubectl.kubernetes.io/default-container, else the first.
std::vector<std::string> ContainersOf(const api::core::Pod& pod, const LogChoice& choice);

// What a container has done so far. Its runs are counted from 0.
struct ContainerRun {
  bool started = false;  // there is a log
  int run = 0;           // the one that runs, or ran last
  bool ended = false;    // that one has
  bool had_previous = false;
  std::string waits;  // why it has not started: "ContainerCreating"
};
ContainerRun RunOf(const api::core::Pod& pod, absl::string_view container);

// "[trainer-0] ", and "[trainer-0/init] " where the pod has several containers; "" without prefixes.
std::string PrefixOf(const api::core::Pod& pod, absl::string_view container, const LogChoice& choice);
// "trainer-0"; the pod's name when it does not say its task.
std::string ShortName(const api::core::Pod& pod);

// GET pods/log with stamps. `from`: go on from there (LineCutter), else as the choice says when `first`, else all.
struct LogPlace {
  bool follow = false, previous = false, first = true;
  std::optional<absl::Time> from;
};
kube::Request LogRequest(const api::core::Pod& pod, absl::string_view container, const LogChoice& choice,
                         const LogPlace& place);

}  // namespace gangway::cmd
