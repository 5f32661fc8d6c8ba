#include "tests/judge/kubernetes.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/process/process.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

std::string Program() {
  const char* const folder = std::getenv("GW_E2E_BIN");
  return absl::StrCat(folder != nullptr ? folder : GW_SOURCE_DIR "/build/e2e/bin", "/filter-judge");
}

std::string Text(const json::value& value) { return std::string(value.as_string()); }

Judged Read(const std::string& line) {
  Judged judged;
  json::object answer = json::parse(line).as_object();
  if (const json::value* const invalid = answer.if_contains("invalid")) {
    judged.invalid = Text(invalid->as_array().front());
    return judged;
  }
  for (const json::value& node : answer["feasible"].as_array()) judged.verdict.against[Text(node)];
  for (const auto& [node, refusal] : answer["refused"].as_object()) {
    std::string& against = judged.verdict.against[std::string(node)];
    against = Text(refusal.at("plugin"));
    if (!refusal.at("reasons").is_array()) continue;
    for (const json::value& reason : refusal.at("reasons").as_array()) absl::StrAppend(&against, ": ", Text(reason));
  }
  judged.stored = std::move(answer["case"].as_object());
  return judged;
}

}  // namespace

bool JudgePresent() { return std::filesystem::exists(Program()); }

absl::StatusOr<std::vector<Judged>> AskKubernetes(const std::vector<json::object>& cases) {
  std::string input;
  for (const json::object& each : cases) absl::StrAppend(&input, json::serialize(each), "\n");
  const Outcome outcome = RunProgram({Program()}, {}, input);
  if (outcome.exit_code != 0)
    return absl::InternalError(absl::StrCat("filter-judge ended with ", outcome.exit_code, ": ", outcome.err));
  std::vector<Judged> judged;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) judged.push_back(Read(line));
  if (judged.size() != cases.size())
    return absl::InternalError(
        absl::StrCat("filter-judge gave ", judged.size(), " answers to ", cases.size(), " cases"));
  return judged;
}

}  // namespace gangway::testutil
