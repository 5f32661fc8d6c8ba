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
  std::unique_ptr<Server> server;
  absl::Status status;
  std::mutex mu;
  std::deque<const Case*> waiting;                       // guarded by mu
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
    outcomes.at(c.name).set_value(RunCase(c, *server, ns));
  }
  void Join() {
    if (last.joinable()) last.join();
  }
};

Judgement::Judgement(std::string server, MakeServer make) : server_(std::move(server)), make_(std::move(make)) {}
Judgement::~Judgement() { Close(); }

void Judgement::Close() {
  if (state_ == nullptr) return;
  state_->Join();
  state_.reset();
}

void Judgement::Begin() {
  state_ = std::make_unique<State>();
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
