#include "tests/conformance/suite.h"

#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/recordings.h"
#include "tests/conformance/runner.h"

namespace gangway::testutil {
namespace {

constexpr int kAtOnce = 8;

bool Selected(const std::string& server, const std::string& name) {
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const auto& suite = *unit.GetTestSuite(i);
    if (suite.name() != absl::StrCat(server, "/ConformanceTest")) continue;
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const auto& test = *suite.GetTestInfo(k);
      if (test.should_run() && test.name() == absl::StrCat("Case/", name)) return true;
    }
  }
  return false;
}

const std::vector<LeftOut>& Rules() {
  static const auto* const kRules = new std::vector<LeftOut>([] {
    absl::StatusOr<std::vector<LeftOut>> rules =
        LoadLeftOut(std::string(GW_SOURCE_DIR) + "/tests/conformance/left_out.yaml");
    if (rules.ok()) return *std::move(rules);
    std::cerr << rules.status().message() << "\n";
    std::exit(1);
  }());
  return *kRules;
}

bool Writes() { return std::getenv("GW_UPDATE_GOLDEN") != nullptr; }

}  // namespace

const std::vector<Case>& AllCases() {
  static const auto* const kCases = new std::vector<Case>([] {
    absl::StatusOr<std::vector<Case>> cases = LoadCases(std::string(GW_SOURCE_DIR) + "/tests/conformance/cases");
    if (cases.ok()) return *std::move(cases);
    std::cerr << cases.status().message() << "\n";
    std::exit(1);
  }());
  return *kCases;
}

std::vector<const Case*> CasePointers() {
  std::vector<const Case*> out;
  for (const Case& each : AllCases()) out.push_back(&each);
  return out;
}

struct Judgement::State {
  explicit State(Judgement& of) : judgement(of) {}

  Judgement& judgement;
  Recordings recordings{std::string(GW_SOURCE_DIR) + "/tests/golden/conformance"};
  std::mutex rules_mu;
  std::set<std::string> used_rules;  // guarded by rules_mu
  std::unique_ptr<Server> server;
  absl::Status status;
  std::mutex mu;
  std::deque<const Case*> waiting;  // guarded by mu
  std::map<std::string, std::promise<std::string>> outcomes;
  std::map<std::string, std::future<std::string>> futures;
  std::deque<const Case*> alone;
  std::vector<std::thread> threads;
  std::thread last;

  const Case* Next() {
    const std::lock_guard<std::mutex> lock(mu);
    if (waiting.empty()) return nullptr;
    const Case* next = waiting.front();
    waiting.pop_front();
    return next;
  }
  void Run(const Case& c) {
    // A name for the namespace: short enough for names that add to it.
    const std::string ns = absl::StrCat("t-", absl::AsciiStrToLower(c.name.substr(0, 40)));
    CaseOutcome outcome = RunCase(c, *server, ns);
    if (outcome.wrong.empty()) outcome.wrong = judgement.JudgeAnswers(c, outcome.seen);
    outcomes.at(c.name).set_value(std::move(outcome.wrong));
  }
  void Join() {
    if (last.joinable()) last.join();
  }
};

Judgement::Judgement(std::string server, MakeServer make, bool real)
    : server_(std::move(server)), make_(std::move(make)), real_(real) {}
Judgement::~Judgement() { Close(); }

void Judgement::Close() {
  if (state_ == nullptr) return;
  state_->Join();
  if (real_ && Writes()) state_->recordings.Write(AllCases());
  state_.reset();
}

std::string Judgement::JudgeAnswers(const Case& c, const boost::json::array& seen) {
  if (real_ && Writes()) {
    state_->recordings.Keep(c, seen);
    return "recorded anew, nothing was compared: read the difference, then run without GW_UPDATE_GOLDEN";
  }
  // Controllers are at work beside it: what it answers twice is the same only on a machine that has time.
  if (real_ && std::getenv("GW_TEST_LONG") == nullptr) return "";
  const boost::json::array* const recorded = state_->recordings.Find(c);
  if (recorded == nullptr)
    return "the real API server's answers are not recorded: GW_UPDATE_GOLDEN=1 real_conformance_test "
           "--gtest_filter='*/" +
           c.name + "'";
  static const auto* const kUnsteady = new std::vector<LeftOut>([] {
    std::vector<LeftOut> rules = Rules();
    std::erase_if(rules, [](const LeftOut& rule) { return !rule.unsteady; });
    return rules;
  }());
  std::set<std::string> used;
  const std::string differs = Compare(*recorded, seen, c.name, real_ ? *kUnsteady : Rules(), used);
  const std::lock_guard<std::mutex> lock(state_->rules_mu);
  state_->used_rules.insert(used.begin(), used.end());
  return differs.empty() ? "" : absl::StrCat("differs from what the real API server answered:\n", differs);
}

std::vector<std::string> Judgement::UnusedRules() {
  if (state_ == nullptr || state_->futures.size() != AllCases().size()) return {};
  state_->Join();
  std::vector<std::string> unused;
  for (const LeftOut& rule : Rules()) {
    if (!rule.unsteady && !state_->used_rules.contains(rule.where)) unused.push_back(rule.where);
  }
  return unused;
}

void Judgement::Begin() {
  state_ = std::make_unique<State>(*this);
  State& state = *state_;
  auto server = make_();
  if (!server.ok()) {
    state.status = server.status();
    return;
  }
  state.server = *std::move(server);
  for (const Case& each : AllCases()) {
    if (!Selected(server_, each.name)) continue;
    state.futures[each.name] = state.outcomes[each.name].get_future();
    (each.alone ? state.alone : state.waiting).push_back(&each);
  }
  for (int i = 0; i < kAtOnce; ++i) {
    state.threads.emplace_back([&state] {
      while (const Case* next = state.Next()) state.Run(*next);
    });
  }
  state.last = std::thread([&state] {
    for (std::thread& thread : state.threads) thread.join();
    for (const Case* each : state.alone) state.Run(*each);
  });
}

std::string Judgement::Of(const std::string& name) {
  if (state_ == nullptr) Begin();
  if (!state_->status.ok()) return state_->status.ToString();
  const auto it = state_->futures.find(name);
  if (it == state_->futures.end()) return "was not selected";
  return it->second.get();
}

}  // namespace gangway::testutil
