// Requests of many people to an API server with RBAC, and what is told of the answers: put to the sandbox, and to the
// real one, whose answers are recorded (tests/golden/rbac/answers.txt).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/client/client.h"

namespace gangway::testutil {

struct Ask {
  std::string as;  // "": the administrator; else whom the administrator acts as
  std::vector<std::string> groups;
  std::string method, path, body;
  std::string content_type = "application/json";
};

// In their order: later ones rely on what earlier ones have made.
const std::vector<Ask>& Asks();

// Puts them all; a paragraph of text for each.
std::string AnswersOf(const std::function<kube::Response(const Ask& ask)>& send);

// Recorded from the real API server.
std::string RecordedAnswersFile();

}  // namespace gangway::testutil
