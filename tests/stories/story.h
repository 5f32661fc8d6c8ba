// What happened in a recording of the real Volcano, as a script that any cluster can play:
// tests/stories/cases/NAME.yaml has the steps, tests/golden/volcano/NAME what was submitted and what was recorded.
// docs/testing.md says how one is written.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/json.hpp"
#include "tests/stories/world.h"

namespace gangway::testutil {

struct StoryStep {
  std::string verb;            // "create"; names and words have been checked
  boost::json::value value;    // the verb's
  boost::json::object fields;  // the others
  std::string where;           // "scale-elastic.yaml:12:3"
};

struct Story {
  std::string name;    // of the case: "scale-elastic"
  bool alone = false;  // fills the cluster, or needs it empty: runs when nothing else does
  bool holds = false;  // pods wait to be released
  std::vector<StoryStep> steps;
  boost::json::object
      expected;                // "phases", "moments", "events", "injected": recorded, and then what differs on purpose
  boost::json::object inputs;  // by "Kind/name", what was submitted
};

// All stories, those that run alone first. InvalidArgument names file and line: an unknown word, a moment that no step
// comes to, a difference that is none.
absl::StatusOr<std::vector<Story>> LoadStories();
// The same, read once; ends the program when they cannot be.
const std::vector<Story>& AllStories();
// Of a parameterized test: "scale_elastic".
std::string TestNameOf(const Story& story);

// "" when everything went as expected, else what did not, a line each. Works in namespace `ns`, which it makes.
std::string Play(const Story& story, World& world, const std::string& ns);

}  // namespace gangway::testutil
