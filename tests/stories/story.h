// The life of one job as an observer of the API server sees it, to be held beside a recording of the real Volcano.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

// Each sequence without repetitions.
struct Story {
  std::vector<std::string> job;                          // "Pending v0 r0": phase, version and retryCount while these are exact
  std::vector<std::string> pod_group;                    // phases; "gone"
  std::map<std::string, std::vector<std::string>> pods;  // by name: "Pending", "Pending bound", "Running bound terminating", "gone"
  std::map<std::string, std::string> final_pods;         // phases of the pods that are left
};

// What a journal tells of the jobs, PodGroups and pods of one namespace.
void Tell(Story& story, const sandbox::JournalRecord& record);

// tests/golden/volcano/<folder>/timeline.jsonl. `until`: seconds since the recording began; what follows is the recorder's clean-up.
Story ReadRecording(const std::string& folder, double until);

}  // namespace gangway::testutil
