// Which nodes a pod may go to, as one of the two says, and where they differ.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <boost/json.hpp>

namespace gangway::testutil {

struct Verdict {
  std::map<std::string, std::string> against;  // every node: what stands against the pod there, "" = nothing
  std::string contradiction;                   // ours alone: what was decided against what is said here
  std::string not_modelled;  // ours alone: what of the pod our scheduler does not know, so that it waits and says so
};

struct Difference {
  std::string node;
  std::string kind;  // "TaintToleration / nothing": theirs, ours
  // Of the same kind when nodes and numbers are others.
  friend bool operator==(const Difference& a, const Difference& b) { return a.kind == b.kind; }
};

// A contradiction in ours; else the first node that one of them takes and the other refuses. What stands against it
// need not be the same: several things may.
std::optional<Difference> FirstDifference(const Verdict& theirs, const Verdict& ours);

// Both verdicts, a node a line.
std::string Render(const Verdict& theirs, const Verdict& ours);

}  // namespace gangway::testutil
