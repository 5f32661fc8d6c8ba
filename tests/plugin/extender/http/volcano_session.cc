#include "tests/plugin/extender/http/volcano_session.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr int kWorkers = 16;  // volcano: util/predicate_helper.go
constexpr std::int64_t kPending = 1, kAllocated = 2, kPipelined = 4, kBound = 16, kRunning = 32, kReleasing = 64;

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
    if (asked_.preempt) MakeRoom("preemptable");
    if (asked_.reclaim) MakeRoom("reclaimable");
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
      if (!IsLetIn(job) || IsOverused(job)) continue;
      AllocateJob(std::string(name), job);
    }
  }

  static bool IsLetIn(const json::value& job) {
    const json::value* const phase = job.at("PodGroup").at("status").as_object().if_contains("phase");
    return phase != nullptr && phase->as_string() != "Pending";
  }
  bool IsOverused(const json::value& job) {
    const std::string queue = Str(job, "Queue");
    if (!asks(asked_.overused) || !client_.QueueOverused(json::serialize(document_.at("Queues").at(queue))))
      return false;
    out_.overused.insert(queue);
    return true;
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

  // ---- preempt and reclaim

  struct Victim {
    json::value* task;
    std::int64_t was;  // its status
  };

  // Whoever has not got its minimum gets the room of others, for all of its minimum or for none.
  void MakeRoom(const std::string& verb) {
    for (const auto& [name, node] : Nodes()) future_.emplace(std::string(name), Num(node.at("Idle"), "MilliCPU"));
    for (auto& [name, job] : Jobs()) {
      if (!IsLetIn(job) || HasMinimum(job) || (verb == "reclaimable" && IsOverused(job))) continue;
      const std::map<std::string, double> before = future_;
      std::vector<Victim> victims;
      std::vector<json::value*> placed;
      for (auto& [uid, task] : job.at("Tasks").as_object()) {
        if (task.at("Status").as_int64() == kPending && MakeRoomFor(verb, job, task, victims)) placed.push_back(&task);
      }
      if (HasMinimum(job)) {
        for (const Victim& victim : victims) out_.evicted[Str(*victim.task, "Name")] = Str(*victim.task, "NodeName");
        for (const json::value* task : placed) out_.pipelined[Str(*task, "Name")] = Str(*task, "NodeName");
        continue;
      }
      future_ = before;
      for (const Victim& victim : victims) TakeBack(*victim.task, victim.was, "allocateFunc");
      for (json::value* task : placed) TakeBack(*task, kPending, "deallocateFunc");
    }
  }
  void TakeBack(json::value& task, std::int64_t status, const char* event) {
    task.as_object()["Status"] = status;
    if (asks(asked_.events)) client_.Event(event, json::serialize(task));
  }

  bool MakeRoomFor(const std::string& verb, const json::value& job, json::value& task, std::vector<Victim>& victims) {
    const std::string text = json::serialize(task);
    std::vector<json::value*> nodes;
    for (auto& [name, node] : Nodes()) {
      if (!asks(asked_.predicate) || !client_.Predicate(text, json::serialize(node)).blocks_preempt())
        nodes.push_back(&node);
    }
    if (verb == "preemptable" && asks(asked_.prioritize)) {  // reclaim scores nothing
      std::vector<std::string> texts;
      for (const json::value* node : nodes) texts.push_back(json::serialize(*node));
      auto scores = client_.Prioritize(text, texts);
      if (!scores.has_value()) return false;
      std::stable_sort(nodes.begin(), nodes.end(),
                       [&](auto* a, auto* b) { return (*scores)[Str(*a, "Name")] > (*scores)[Str(*b, "Name")]; });
    }
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const json::value* node) { return MakeRoomOn(verb, *node, job, task, victims); });
  }

  bool MakeRoomOn(const std::string& verb, const json::value& node, const json::value& job, json::value& task,
                  std::vector<Victim>& victims) {
    const std::string name = Str(node, "Name");
    const std::vector<json::value*> candidates = Candidates(verb, name, job);
    if (candidates.empty() && verb == "reclaimable") return false;
    const std::vector<json::value*> offered = Agreed(verb, task, candidates);
    const double wanted = Num(task.at("Resreq"), "MilliCPU");
    double room = future_[name];
    std::size_t taken = 0;
    // preempt looks at the node anew after each
    while (room < wanted || (verb == "preemptable" && !Fits(task, node))) {
      if (taken == offered.size()) return false;
      room += Num(offered[taken++]->at("Resreq"), "MilliCPU");
    }
    for (std::size_t i = 0; i < taken; ++i) {
      victims.push_back({offered[i], offered[i]->at("Status").as_int64()});
      offered[i]->as_object()["Status"] = kReleasing;
      if (asks(asked_.events)) client_.Event("deallocateFunc", json::serialize(*offered[i]));
    }
    future_[name] = room - wanted;
    task.as_object()["Status"] = kPipelined;
    task.as_object()["NodeName"] = name;
    if (asks(asked_.events)) client_.Event("allocateFunc", json::serialize(task));
    return true;
  }
  bool Fits(const json::value& task, const json::value& node) {
    return !asks(asked_.predicate) ||
           !client_.Predicate(json::serialize(task), json::serialize(node)).blocks_allocate();
  }

  // Those that run there and that the scheduler's own plugins agree on.
  std::vector<json::value*> Candidates(const std::string& verb, const std::string& node, const json::value& job) {
    const bool reclaims = verb == "reclaimable";
    std::vector<json::value*> out;
    for (auto& [name, other] : Jobs()) {
      if ((Str(other, "Queue") == Str(job, "Queue")) == reclaims || Str(other, "UID") == Str(job, "UID")) continue;
      if (!reclaims && other.at("Priority").as_int64() >= job.at("Priority").as_int64()) continue;
      std::int64_t spare = reclaims ? Ready(other) - other.at("MinAvailable").as_int64() : Ready(other);
      for (auto& [uid, task] : other.at("Tasks").as_object()) {
        const std::int64_t status = task.at("Status").as_int64();
        const bool runs = status == kRunning || (status == kBound && !reclaims);
        if (!runs || !task.at("Preemptable").as_bool() || Str(task, "NodeName") != node || spare-- <= 0) continue;
        out.push_back(&task);
      }
    }
    return out;
  }
  // Of those the ones that the extender agrees on.
  std::vector<json::value*> Agreed(const std::string& verb, const json::value& task,
                                   const std::vector<json::value*>& candidates) {
    if (candidates.empty() || !out_.extender_there) return candidates;
    std::vector<std::string> evictees;
    for (const json::value* one : candidates) evictees.push_back(json::serialize(*one));
    const auto told = client_.Victims(verb, json::serialize(task), evictees);
    if (!told.has_value()) return candidates;
    std::vector<json::value*> out;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(out), [&](const json::value* one) {
      return std::any_of(told->begin(), told->end(),
                         [&](const json::value& victim) { return Str(victim, "UID") == Str(*one, "UID"); });
    });
    return out;
  }
  static std::int64_t Ready(const json::value& job) {
    const json::object& tasks = job.at("Tasks").as_object();
    return std::count_if(tasks.begin(), tasks.end(), [](const auto& task) {
      const std::int64_t status = task.value().at("Status").as_int64();
      return status == kRunning || status == kBound || status == kAllocated;
    });
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
  std::map<std::string, double> future_;  // milli cpu of nodes, once those that go are gone
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
