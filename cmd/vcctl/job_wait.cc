#include "cmd/vcctl/job_wait.h"

#include "absl/strings/str_cat.h"

namespace gangway::cmd {
namespace {

using Kind = WaitVerdict::Kind;

WaitVerdict Never(absl::string_view phase) { return {Kind::kNever, absl::StrCat("it is ", phase)}; }

WaitVerdict JudgeSuspend(const std::string& phase) {
  if (phase == "Aborted") return {Kind::kReached, ""};
  return phase == "Completed" || phase == "Failed" || phase == "Terminated" ? Never(phase) : WaitVerdict{};
}

WaitVerdict JudgeResume(const std::string& phase) {
  if (phase == "Running" || phase == "Completing" || phase == "Completed") return {Kind::kReached, ""};
  return phase == "Failed" || phase == "Terminated" ? Never(phase) : WaitVerdict{};
}

}  // namespace

const char* NameOf(JobVerb verb) {
  switch (verb) {
    case JobVerb::kSuspend:
      return "suspend";
    case JobVerb::kResume:
      return "resume";
    case JobVerb::kDelete:
      return "delete";
  }
  return "";
}

WaitVerdict JudgeWait(JobVerb verb, const api::volcano::Job* now, const std::string& uid) {
  const bool gone = now == nullptr || now->metadata.uid != uid;
  if (verb == JobVerb::kDelete) return {gone ? Kind::kReached : Kind::kWaits, ""};
  if (gone) return {Kind::kNever, "it was deleted"};
  return verb == JobVerb::kSuspend ? JudgeSuspend(now->status.state.phase) : JudgeResume(now->status.state.phase);
}

}  // namespace gangway::cmd
