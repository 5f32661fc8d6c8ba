// What the real scheduler asked its extender, byte by byte: tests/golden/extender.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::testutil {

struct Recording {
  std::string file;
  std::string verb;
  std::string body;   // of the request
  std::string reply;  // what the recorder answered
};

// The text of one file there; of one that is packed, unpacked.
std::string ReadRecorded(absl::string_view file);
// "onSessionOpen-2": with or without .gz.
Recording Recorded(absl::string_view name);
// All pairs, by name.
std::vector<Recording> AllRecordings();
// The body of onSessionOpen with 100 nodes and 300 pods.
std::string LargeSession();

}  // namespace gangway::testutil
