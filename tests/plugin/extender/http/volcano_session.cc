#include "tests/plugin/extender/http/volcano_session.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr int kWorkers = 16;  // volcano: util/predicate_helper.go
constexpr std::int64_t kPending = 1, kAllocated = 2;

std::string Str(const json::value& value, const char* key) { return std::string(value.at(key).as_string()); }
double Num(const json::value& value, const char* key) { return value.at(key).to_number<double>(); }

class Session {
 public:
  Session(VolcanoClient& client, absl::string_view body, const AskedVerbs& asked)
      : client_(client), asked_(asked), document_(json::parse({body.data(), body.size()})) {}

  SessionOutcome Run(absl::string_view body) {
    if (asked_.session) out_.extender_there = client_.OpenSession(body);
    Enqueue();
    Allocate();
    if (asked_.session) client_.CloseSession();
    return std::move(out_);
  }

 private:
  json::object& Jobs() { return document_.at("Jobs").as_object(); }
  json::object& Nodes() { return document_.at("Nodes").as_object(); }
  bool asks(bool verb) const { return verb && out_.extender_there; }

  void Enqueue() {
    for (auto& [name, job] : Jobs()) {
      json::object& status = job.at("PodGroup").at("status").as_object();
      const json::value* const phase = status.if_contains("phase");
      if (phase != nullptr && phase->as_string() != "Pending") continue;
      if (asks(asked_.enqueueable) && client_.JobEnqueueable(json::serialize(job)) < 0) continue;
      status["phase"] = "Inqueue";
      out_.let_in.emplace_back(name);
      if (asks(asked_.enqueueable)) client_.JobEnqueued(json::serialize(job));
    }
  }

  void Allocate() {
    for (auto& [name, job] : Jobs()) {
      const json::value* const phase = job.at("PodGroup").at("status").as_object().if_contains("phase");
      if (phase == nullptr || phase->as_string() == "Pending") continue;
      AllocateJob(std::string(name), job);
    }
  }

  void AllocateJob(const std::string& name, json::value& job) {
    std::vector<json::value*> placed;
    for (auto& [uid, task] : job.at("Tasks").as_object()) {
      if (task.at("Status").as_int64() != kPending) continue;
      const std::string node = Place(task);
      if (node.empty()) continue;
      Take(task, node, 1);
      task.as_object()["Status"] = kAllocated;
      task.as_object()["NodeName"] = node;
      if (asks(asked_.events) && !client_.Event("allocateFunc", json::serialize(task))) {
        Untake(task);
        continue;
      }
      placed.push_back(&task);
    }
    if (placed.empty()) return;
    if (HasMinimum(job) && (!asks(asked_.ready) || client_.JobReady(json::serialize(job)))) {
      for (json::value* task : placed) {
        out_.bound[Str(*task, "Name")] = Str(*task, "NodeName");
        ++out_.bound_by_job[name];
      }
      return;
    }
    if (HasMinimum(job)) {  // the statement is neither committed nor discarded
      for (json::value* task : placed) out_.held[Str(*task, "Name")] = Str(*task, "NodeName");
      return;
    }
    for (auto task = placed.rbegin(); task != placed.rend(); ++task) {
      Untake(**task);
      if (asks(asked_.events)) client_.Event("deallocateFunc", json::serialize(**task));
    }
  }

  bool HasMinimum(const json::value& job) const {
    std::int64_t ready = 0;
    for (const auto& [uid, task] : job.at("Tasks").as_object())
      ready += task.at("Status").as_int64() == kPending ? 0 : 1;
    return ready >= job.at("MinAvailable").as_int64();
  }

  void Untake(json::value& task) {
    Take(task, Str(task, "NodeName"), -1);
    task.as_object()["Status"] = kPending;
  }

  void Take(const json::value& task, const std::string& node, int times) {
    json::value& idle = Nodes().at(node).at("Idle");
    for (const char* what : {"MilliCPU", "Memory"})
      idle.as_object()[what] = Num(idle, what) - times * Num(task.at("Resreq"), what);
  }

  static bool HasRoom(const json::value& task, const json::value& node) {
    return Num(task.at("Resreq"), "MilliCPU") <= Num(node.at("Idle"), "MilliCPU") &&
           Num(task.at("Resreq"), "Memory") <= Num(node.at("Idle"), "Memory");
  }

  // "": nowhere.
  std::string Place(const json::value& task) {
    std::vector<json::value*> feasible = Feasible(task);
    if (feasible.empty()) return "";
    std::map<std::string, double> scores;
    if (feasible.size() > 1 && asks(asked_.prioritize)) {
      std::vector<std::string> nodes;
      for (const json::value* node : feasible) nodes.push_back(json::serialize(*node));
      const auto told = client_.Prioritize(json::serialize(task), nodes);
      if (!told.has_value()) {
        out_.skipped.insert(Str(task, "Name"));
        return "";
      }
      scores = *told;
    }
    const auto score = [&](const json::value* node) {  // binpack: the fullest
      return scores[Str(*node, "Name")] - Num(node->at("Idle"), "MilliCPU") / Num(node->at("Allocatable"), "MilliCPU");
    };
    return Str(
        **std::max_element(feasible.begin(), feasible.end(), [&](auto* a, auto* b) { return score(a) < score(b); }),
        "Name");
  }

  std::vector<json::value*> Feasible(const json::value& task) {
    std::vector<json::value*> with_room, feasible;
    for (auto& [name, node] : Nodes()) {
      if (HasRoom(task, node)) with_room.push_back(&node);
    }
    if (!asks(asked_.predicate)) return with_room;
    std::vector<char> fits(with_room.size(), 0);
    std::atomic<std::size_t> next = 0;
    const std::string text = json::serialize(task);
    std::vector<std::thread> workers;
    for (int i = 0; i < kWorkers; ++i) {
      workers.emplace_back([&] {
        for (std::size_t at; (at = next.fetch_add(1)) < with_room.size();)
          fits[at] = client_.Predicate(text, json::serialize(*with_room[at])).blocks_allocate() ? 0 : 1;
      });
    }
    for (std::thread& worker : workers) worker.join();
    for (std::size_t i = 0; i < with_room.size(); ++i) {
      if (fits[i] != 0) feasible.push_back(with_room[i]);
    }
    return feasible;
  }

  VolcanoClient& client_;
  const AskedVerbs asked_;
  json::value document_;
  SessionOutcome out_;
};

}  // namespace

SessionOutcome RunSession(VolcanoClient& client, absl::string_view body, const AskedVerbs& asked) {
  return Session(client, body, asked).Run(body);
}

std::string TaskIn(absl::string_view body, absl::string_view pod) {
  const json::value document = json::parse({body.data(), body.size()});
  for (const auto& [name, job] : document.at("Jobs").as_object()) {
    for (const auto& [uid, task] : job.at("Tasks").as_object()) {
      if (Str(task, "Name") == pod) return json::serialize(task);
    }
  }
  return "null";
}

std::vector<std::string> BrokenPromises(absl::string_view body, const SessionOutcome& outcome) {
  const json::value document = json::parse({body.data(), body.size()});
  std::vector<std::string> broken;
  std::map<std::string, double> taken;
  for (const auto& [name, job] : document.at("Jobs").as_object()) {
    int had = 0;
    for (const auto& [uid, task] : job.at("Tasks").as_object()) {
      had += task.at("Status").as_int64() == kPending ? 0 : 1;
      const auto bound = outcome.bound.find(Str(task, "Name"));
      if (bound != outcome.bound.end()) taken[bound->second] += Num(task.at("Resreq"), "MilliCPU");
    }
    const auto count = outcome.bound_by_job.find(std::string(name));
    if (count != outcome.bound_by_job.end() && count->second + had < job.at("MinAvailable").as_int64())
      broken.push_back(absl::StrCat(std::string(name), ": ", count->second + had, " of ",
                                    job.at("MinAvailable").as_int64(), " are bound"));
  }
  for (const auto& [name, node] : document.at("Nodes").as_object()) {
    if (taken[std::string(name)] > Num(node.at("Idle"), "MilliCPU"))
      broken.push_back(absl::StrCat(std::string(name), ": is overcommitted"));
  }
  return broken;
}

}  // namespace gangway::testutil
