// Bodies of Volcano's extender plugin, through the decoders, planner and answers that the HTTP door gives them to, in
// their order. Each part of an input is a line with a verb and the body; or any body, which is then tried as a session.
// A refusal names the field; what is read of a session is a cluster that holds together, and the same whatever the
// session before has told; by its plan no node is promised more than it has; and an answer by that plan names nobody
// who was not asked about.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/session/decode_questions.h"
#include "plugin/extender/session/decode_session.h"
#include "plugin/extender/session/json_skip.h"
#include "plugin/extender/session/retold_cluster.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/extender/session/session_planner.h"
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

using Verdict = extender::PlannedGang::Verdict;

// What a plan promises is there, and no gang has a part of what it needs.
void RequireGood(const extender::SessionPlan& plan, const model::Cluster& cluster) {
  std::map<std::string, std::int64_t> taken;
  for (model::GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    int placed = 0;
    const extender::PlannedGang* const planned = plan.Find(absl::StrCat(gang.ns, "/", gang.name));
    for (const model::TaskId task : gang.tasks) {
      const std::string node(plan.NodeOf(cluster.task(task).uid.text()));
      if (node.empty() || !cluster.task(task).asks_for_room() || planned == nullptr ||
          planned->verdict != Verdict::kPlaced)
        continue;
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
}

// What of a cluster a plan is made of, in words.
std::string Shown(const model::Cluster& cluster) {
  std::map<std::string, std::string> lines;
  for (model::Row row = 0; row < cluster.rows(); ++row) {
    if (!cluster.present(row)) continue;
    lines[absl::StrCat("node ", cluster.node_name(row))] =
        absl::StrCat(cluster.free(row, model::kCpu), " ", cluster.free(row, model::kMemory));
  }
  for (model::GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    if (gang.known)
      lines[absl::StrCat("gang ", gang.ns, "/", gang.name)] =
          absl::StrCat(gang.tasks.size(), " ", gang.min_member, " ", gang.ready(), " ", gang.admitted);
  }
  std::string out;
  for (const auto& [what, how] : lines) absl::StrAppend(&out, what, ": ", how, "\n");
  return out;
}

// One scheduler, from its first session on.
class Scheduler {
 public:
  void TrySession(absl::string_view body) {
    if (!body.empty() && body[0] == '{') {
      const std::size_t end = extender::EndOfValue(body, 0);
      Require(end == PlainEnd(body) || end == absl::string_view::npos, "a value ends where it ends", body);
    }
    model::Cluster cluster;
    const absl::Status read = extender::DecodeSession(body, kLimits, cluster);
    RequireOrder(cluster);
    const auto planned = planner_.Plan(body, kLimits, {}, {}, absl::FromUnixSeconds(1'795'000'000 + told_++));
    Require(planned.ok() == read.ok(), "a session is refused whatever was told before", read.ToString());
    TryRetold(body, read, cluster);
    if (!read.ok()) {
      plan_ = nullptr;
      return RequireRefusal(read);
    }
    plan_ = planned->plan;
    RequireGood(*plan_, cluster);
    ++came_out;
  }

  void TryQuestion(extender::Verb verb, absl::string_view body) const {
    const absl::StatusOr<extender::Answer> answer = extender::AnswerVerb(verb, body, plan_.get());
    if (!answer.ok()) return RequireRefusal(answer.status());
    Require(absl::StartsWith(answer->body, "{") && absl::EndsWith(answer->body, "}"), "an answer is an object",
            answer->body);
    RequireOfThoseAsked(verb, body, *answer);
    ++came_out;
  }

 private:
  static void RequireOrder(const model::Cluster& cluster) {
    const std::vector<std::string> wrong = cluster.Audit();
    Require(wrong.empty(), "a cluster holds together", absl::StrJoin(wrong, "\n"));
  }

  // The same told to a cluster that knows the session before.
  void TryRetold(absl::string_view body, const absl::Status& read, const model::Cluster& cluster) {
    if (retold_ == nullptr) retold_ = std::make_unique<Retold>();
    retold_->telling.Begin(nullptr);
    const absl::Status again = extender::DecodeSession(body, kLimits, retold_->telling);
    Require(again == read, "a session is read alike whatever was told before", again.ToString());
    if (!read.ok()) return retold_.reset();
    retold_->telling.End();
    RequireOrder(retold_->cluster);
    const std::string fresh = Shown(cluster), retold = Shown(retold_->cluster);
    Require(fresh == retold, "of a session before nothing is left",
            absl::StrCat("told once:\n", fresh, "told again:\n", retold));
  }

  static void RequireOfThoseAsked(extender::Verb verb, absl::string_view body, const extender::Answer& answer) {
    if (verb == extender::Verb::kPrioritize && answer.result == "scored") {
      const auto question = extender::DecodePrioritize(body);
      Require(std::any_of(question->nodes.begin(), question->nodes.end(),
                          [&](const auto& node) { return absl::StrContains(answer.body, node); }),
              "a node that scores was asked about", answer.body);
    }
    if ((verb == extender::Verb::kPreemptable || verb == extender::Verb::kReclaimable) && answer.result == "permit") {
      const auto question = extender::DecodeVictims(body);
      Require(std::any_of(question->bodies.begin(), question->bodies.end(),
                          [&](const auto& victim) { return absl::StrContains(answer.body, victim); }),
              "who goes was offered, byte by byte", answer.body);
    }
  }

  struct Retold {
    model::Cluster cluster;
    extender::RetoldCluster telling{cluster};
  };
  int told_ = 0;
  std::unique_ptr<Retold> retold_;
  extender::SessionPlanner planner_;
  std::shared_ptr<const extender::SessionPlan> plan_;
};

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  testutil::Scheduler scheduler;
  for (const absl::string_view text : testutil::PartsOf(testutil::TextOf(data, size))) {
    const std::size_t line = text.find('\n');
    const auto verb = line == absl::string_view::npos ? std::nullopt : extender::VerbOfPath(text.substr(0, line));
    if (!verb.has_value() || *verb == extender::Verb::kOnSessionOpen) {
      scheduler.TrySession(verb.has_value() ? text.substr(line + 1) : text);
    } else {
      scheduler.TryQuestion(*verb, text.substr(line + 1));
    }
  }
  return 0;
}
