#include "plugin/extender/http/unseen_gangs.h"

namespace gangway::extender {

UnseenGangs::Answer UnseenGangs::Ask(absl::string_view job, absl::Time now) {
  if (asked_.size() >= kMaxKept && !asked_.contains(job)) asked_.clear();
  Asked& asked = asked_.try_emplace(std::string(job), Asked{now, now}).first->second;
  if (now - asked.last > kTooNew) asked = {now, now};
  asked.last = now;
  if (now - asked.first < kTooNew) return Answer::kTooNew;
  const Answer answer = asked.told ? Answer::kUnseen : Answer::kFirstUnseen;
  asked.told = true;
  return answer;
}

std::vector<std::string> UnseenGangs::Unseen(absl::Time now) const {
  std::vector<std::string> jobs;
  for (const auto& [job, asked] : asked_) {
    if (asked.told && now - asked.last <= kTooNew) jobs.push_back(job);
  }
  return jobs;
}

}  // namespace gangway::extender
