// Bodies of Volcano's extender plugin, through the decoders and answers that the HTTP door gives them to. An input is a
// line with a verb and the body; or any body, which is then tried as a session. A refusal names the field; what is read
// of a session is a cluster that holds together, and of its plan no node is promised more than it has.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/session/decode_session.h"
#include "plugin/extender/session/json_skip.h"
#include "plugin/extender/session/session_plan.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

constexpr extender::SessionLimits kLimits{.max_jobs = 100, .max_nodes = 100, .max_queues = 100, .max_tasks = 500};

void RequireRefusal(const absl::Status& status) {
  const absl::string_view message = status.message();
  Require(absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status), "a refusal is the caller's",
          status.ToString());
  Require(absl::StrContains(message, ": "), "a refusal names the field", message);
  Require(message.size() <= 4'000, "a refusal is short", absl::StrCat(message.size()));
}

// As slow and plain as can be.
std::size_t PlainEnd(absl::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else
        in_string = text[i] != '"';
      continue;
    }
    if (text[i] == '\\') return absl::string_view::npos;
    if (text[i] == '"') in_string = true;
    if (text[i] == '{' || text[i] == '[') ++depth;
    if ((text[i] == '}' || text[i] == ']') && --depth == 0) return i + 1;
  }
  return absl::string_view::npos;
}

void TrySession(absl::string_view body) {
  if (!body.empty() && body[0] == '{') {
    const std::size_t end = extender::EndOfValue(body, 0);
    Require(end == PlainEnd(body) || end == absl::string_view::npos, "a value ends where it ends", body);
  }
  model::Cluster cluster;
  const absl::Status read = extender::DecodeSession(body, kLimits, cluster);
  const std::vector<std::string> wrong = cluster.Audit();
  Require(wrong.empty(), "a cluster holds together", absl::StrJoin(wrong, "\n"));
  if (!read.ok()) return RequireRefusal(read);
  gang::Scratch scratch;
  const auto plan = extender::SessionPlan::Make(cluster, {}, absl::FromUnixSeconds(1'795'000'000), scratch);
  std::map<std::string, std::int64_t> taken;
  for (model::GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    int placed = 0;
    const extender::PlannedGang* const planned = plan->Find(absl::StrCat(gang.ns, "/", gang.name));
    for (const model::TaskId task : gang.tasks) {
      const std::string node(plan->NodeOf(cluster.task(task).uid.text()));
      if (node.empty() || planned == nullptr || planned->verdict != extender::PlannedGang::Verdict::kPlaced) continue;
      ++placed;
      taken[node] += cluster.shape(cluster.task(task).shape).request[model::kCpu];
    }
    Require(placed == 0 || placed + gang.ready() >= gang.min_member, "a gang is placed whole",
            absl::StrCat(gang.ns, "/", gang.name));
  }
  for (const auto& [node, cpu] : taken) {
    const model::Row row = cluster.FindNode(node);
    Require(row != model::kNone && cluster.present(row), "a node of a plan is there", node);
    Require(cpu == 0 || cpu <= cluster.free(row, model::kCpu), "no node is promised more than it has", node);
  }
  ++came_out;
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  const absl::string_view text = testutil::TextOf(data, size);
  const std::size_t line = text.find('\n');
  const auto verb = line == absl::string_view::npos ? std::nullopt : extender::VerbOfPath(text.substr(0, line));
  if (!verb.has_value() || *verb == extender::Verb::kOnSessionOpen) {
    testutil::TrySession(verb.has_value() ? text.substr(line + 1) : text);
    return 0;
  }
  const absl::StatusOr<extender::Answer> answer = extender::AnswerVerb(*verb, text.substr(line + 1), nullptr);
  if (answer.ok()) {
    testutil::Require(absl::StartsWith(answer->body, "{") && absl::EndsWith(answer->body, "}"),
                      "an answer is an object", answer->body);
    ++testutil::came_out;
  } else {
    testutil::RequireRefusal(answer.status());
  }
  return 0;
}
