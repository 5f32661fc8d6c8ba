// What the real scheduler asked its extender, byte by byte: tests/golden/extender.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/string_view.h"

namespace gangway::testutil {

struct Recording {
  std::string file;
  std::string verb;
  std::string path;                                          // of the request
  std::vector<std::pair<std::string, std::string>> headers;  // of the request
  std::string body;                                          // of the request
  std::string reply;                                         // what the recorder answered
};

// One call of a case, in the order in which they came. Few were kept whole; of each its case's list says what it was
// about: tests/golden/extender/sequences.
struct RecordedCall {
  int seq = 0, session = 0;
  std::string verb;
  boost::json::object about;
  std::string recording;  // "predicate-5"; "": it was not kept
};

// The text of one file there; of one that is packed, unpacked.
std::string ReadRecorded(absl::string_view file);
// "onSessionOpen-2": with or without .gz.
Recording Recorded(absl::string_view name);
// All pairs, by name.
std::vector<Recording> AllRecordings();
// "a-seed"; and its calls.
std::vector<std::string> RecordedCases();
std::vector<RecordedCall> CallsOf(absl::string_view recorded_case);

// A session in which a gang of two pods has room once two others go, put together from what was recorded of one: the
// gang that runs, the pods that wait, nodes and queues are as they came; the job of those that wait is the running
// one's with their names, queue and priority.
std::string SessionThatPreempts();  // session 5 of c-preempt-echo: by priority, in one queue
// Session 5 of d-reclaim-echo: by the shares of two queues. Nodes have 10 cpu of their 16: what nobody can use of them
// would be enough for both.
std::string SessionThatReclaims();

// The body of onSessionOpen with 100 nodes and 300 pods.
std::string LargeSession();

}  // namespace gangway::testutil
