// What one request asks of webhooks, and how it comes to their answers although nothing in the server waits.
//
// A request is run. Where a webhook has to be asked it stops, and has changed nothing; when the answers are there it is
// run again from its beginning, with what is stored by then. A run that comes to the same question has its answer; one
// that finds another object than before asks anew, as a real server does when it lost a race. So that runs ask the
// same, they have the same time and the same random numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/api_server.h"

namespace gangway::sandbox {

// Used on one loop.
class AdmissionTalk {
 public:
  // A request may ask so many questions, and take so long: kube-apiserver's --request-timeout.
  static constexpr int kMaxQuestions = 10'000;
  static constexpr absl::Duration kMaxTime = absl::Minutes(1);

  AdmissionTalk(Loop& loop, const Caller& caller) : loop_(loop), caller_(caller), now_(loop.Now()) {}

  void BeginRun() { next_random_ = 0; }
  absl::Time now() const { return now_; }
  std::uint64_t Random() {
    if (next_random_ == random_.size()) random_.push_back(loop_.Random());
    return random_[next_random_++];
  }
  const Caller& caller() const { return caller_; }

  struct Question {
    WebhookCall call;
    std::string uid;  // of the review
    std::optional<absl::StatusOr<kube::Response>> answer;
  };
  // The question with its answer; without one it is asked when this run has ended. `rest` is the review behind its uid.
  const Question& Ask(WebhookCall call, absl::string_view rest, std::string uid);
  bool waits() const { return !open_.empty(); }
  // Of the run that has ended: to be called, and answered.
  std::vector<Question*> TakeOpen() { return std::exchange(open_, {}); }
  bool out_of_time() const { return loop_.Now() - now_ > kMaxTime || questions_.size() >= kMaxQuestions; }

 private:
  Loop& loop_;
  const Caller caller_;
  const absl::Time now_;
  std::vector<std::uint64_t> random_;
  std::size_t next_random_ = 0;
  absl::flat_hash_map<std::string, std::unique_ptr<Question>> questions_;  // by what they ask, of whom
  std::vector<Question*> open_;
};

}  // namespace gangway::sandbox
