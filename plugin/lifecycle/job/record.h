// What we keep in a Job's status.controlledResources, under keys of our own: the facts that a restart of ours must not
// lose.
//
//   gangway.io/created           "1 pserver:0-1 trainer:0,2"   pods seen to exist, for version 1 of the Job
//   gangway.io/restarting        "trainer:1"                    pods that a targeted restart removes; they are no
//   evictions gangway.io/keep-from         "1"                            pods of older versions go even when they have
//   ended gangway.io/killed-pod-group  "<uid>"                        the PodGroup that went with the last kill
//   gangway.io/command           "<uid>"                        the last command carried out
//   gangway.io/unknown           "<uid>"                        the PodGroup whose Unknown was answered
//   gangway.io/release           "<hash>"                       the release of leftovers that was answered
//   (api/volcano/release.h) gangway.io/last-failure      {"event":"PodFailed",...}      what the last kill was about
//   (last_failure.h); nothing is decided by it gangway.io/delayed
//   "PodFailed/ctr-w-0/AbortJob=2026-11-21T05:11:53.000000Z ..."  when each delayed action began
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::lifecycle {

// A set of small numbers, as ranges: "0-3,7".
class Indices {
 public:
  bool Contains(std::int32_t index) const;
  // In rising order.
  void Append(std::int32_t index);
  bool empty() const { return ranges_.empty(); }
  std::string ToString() const;
  // What does not read is left out.
  static Indices Parse(absl::string_view text);
  friend bool operator==(const Indices&, const Indices&) = default;

 private:
  std::vector<std::pair<std::int32_t, std::int32_t>> ranges_;  // both ends included, rising, never touching
};

using IndicesByTask = absl::btree_map<std::string, Indices>;

// One delayed action that is under way.
struct DelayKey {
  std::string event, target, action;  // target: the pod's name, "" for events of a task or the job
  friend auto operator<=>(const DelayKey&, const DelayKey&) = default;
};

struct Record {
  std::int32_t version = 0;  // that `created` speaks of; of another version it says nothing
  IndicesByTask created;
  IndicesByTask restarting;
  std::int32_t keep_from = 0;
  std::string killed_pod_group;
  std::string last_command;
  std::string unknown_answered;
  std::string release_answered;
  absl::btree_map<DelayKey, absl::Time> delayed;
  friend bool operator==(const Record&, const Record&) = default;
};

using ControlledResources = std::map<std::string, std::string>;

Record ReadRecord(const ControlledResources& from);
// Sets our keys and removes those with nothing to say; leaves every other key alone.
void WriteRecord(const Record& record, ControlledResources& into);

}  // namespace gangway::lifecycle
