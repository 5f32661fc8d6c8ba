// The cases as tests of a server: `InProcess/ConformanceTest.Case/CreateConflict`. One server serves all cases of a process, many
// at a time; a test waits for the outcome of its own.
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

// Runs the cases that were selected (--gtest_filter) as soon as one of them is asked for.
class Judgement {
 public:
  Judgement(std::string server, MakeServer make);  // "InProcess"
  ~Judgement();
  // "" when the case passed.
  std::string Of(const std::string& name);
  // Stops the server.
  void Close();

 private:
  struct State;
  void Begin();
  const std::string server_;
  const MakeServer make_;
  std::unique_ptr<State> state_;
};

inline std::string CaseName(const ::testing::TestParamInfo<const Case*>& info) { return info.param->name; }
std::vector<const Case*> CasePointers();

}  // namespace gangway::testutil
