// The cases as tests of a server: `InProcess/ConformanceTest.Case/CreateConflict`. One server serves all cases of a
// process, many at a time; a test waits for the outcome of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/case.h"
#include "tests/conformance/server.h"

namespace gangway::testutil {

// Makes a server, or says why there is none.
using MakeServer = std::function<absl::StatusOr<std::unique_ptr<Server>>()>;

// All cases, read once. A file that cannot be read ends the program with its line.
const std::vector<Case>& AllCases();

// Runs the cases that were selected (--gtest_filter) as soon as one of them is asked for, and compares all that came
// with what the real API server answered.
class Judgement {
 public:
  // "InProcess"; the real one writes the recordings when GW_UPDATE_GOLDEN is set, and with GW_TEST_LONG is compared
  // with what it answered before, but for what is unsteady.
  Judgement(std::string server, MakeServer make, bool real = false);
  ~Judgement();
  // "" when the case passed.
  std::string Of(const std::string& name);
  // Rules of left_out.yaml, but those of what is unsteady, that nothing was left out for; none unless all cases were
  // selected.
  std::vector<std::string> UnusedRules();
  // Stops the server.
  void Close();

 private:
  struct State;
  void Begin();
  std::string JudgeAnswers(const Case& c, const boost::json::array& seen);

  const std::string server_;
  const MakeServer make_;
  const bool real_;
  std::unique_ptr<State> state_;
};

inline std::string CaseName(const ::testing::TestParamInfo<const Case*>& info) { return info.param->name; }
std::vector<const Case*> CasePointers();

}  // namespace gangway::testutil
