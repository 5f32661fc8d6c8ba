// Objects of a namespace, told as tests/golden/volcano/condense.py tells those of a recording: the same line for the
// same state, so that ours can be held beside what the real Volcano did.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/resource.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

// What is looked at, Jobs first: whoever compares finds out soonest by them.
inline constexpr std::array kObserved{&api::kJobs,    &api::kPodGroups,  &api::kPods,
                                      &api::kQueues,  &api::kServices,   &api::kNetworkPolicies,
                                      &api::kSecrets, &api::kConfigMaps, &api::kPersistentVolumeClaims};

// A name without a UID or the twelve characters at the end of a claim's or volume's.
std::string PlainName(const std::string& name);

// By "Kind/name": phase, counters, what is bound, the newest condition. "Waiting/TASK" counts the reasons of a task's
// pods that have no node; of a Job there are also "Status/", "Tasks/" and "Nodes/", of a PodGroup "Counts/"
// (condense.py). `items` are all of a list's.
using Lines = std::map<std::string, std::string>;
Lines LinesOf(const api::Resource& resource, const boost::json::array& items);

// "Job/ctr Normal ExecuteAction" of each event that a controller or scheduler told.
std::set<std::string> EventsOf(const boost::json::array& items);

// What was filled in, by "Kind/name"; objects that are there already keep what they were first told with. Later
// incarnations of pods, and what is being removed, are passed over.
void AddInjected(const api::Resource& resource, const boost::json::array& items, boost::json::object& injected);

// The phases of each Job, PodGroup and Queue without repetitions, "gone" when removed; by "Kind/name".
class Phases {
 public:
  void Tell(const sandbox::JournalRecord& record);
  // Of PodGroups those that last (condense.py).
  std::map<std::string, std::vector<std::string>> lasting() const;

 private:
  std::map<std::string, std::vector<std::string>> seen_;
};

}  // namespace gangway::testutil
