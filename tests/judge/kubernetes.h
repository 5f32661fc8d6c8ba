// Kubernetes' own scheduler, asked through tests/e2e/tools/filter-judge, which scripts/e2e-tools builds.
#pragma once

#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/status/statusor.h"
#include "tests/judge/verdict.h"

namespace gangway::testutil {

struct Judged {
  boost::json::object stored;  // the case as an API server keeps it; empty: it takes something in it not,
  std::string invalid;         // and says this
  Verdict verdict;
};

// Whether the program is there: build/e2e/bin, or $GW_E2E_BIN.
bool JudgePresent();
// Parallel to `cases`. An error shows what the program said.
absl::StatusOr<std::vector<Judged>> AskKubernetes(const std::vector<boost::json::object>& cases);

}  // namespace gangway::testutil
