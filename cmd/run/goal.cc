#include "cmd/run/goal.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace gangway::cmd {
namespace {

struct KindWords {
  Goal::Kind kind;
  const char* word;
  std::vector<std::string> phases;
};

const std::vector<KindWords>& Words() {
  static const auto& words = *new std::vector<KindWords>{
      {Goal::Kind::kJob,
       "job",
       {"Pending", "Running", "Restarting", "Aborting", "Aborted", "Completing", "Completed", "Terminating",
        "Terminated", "Failed"}},
      {Goal::Kind::kPaddleJob,
       "pdj",
       {"Pending", "Starting", "Running", "Scaling", "Restarting", "Aborting", "Aborted", "Completing", "Completed",
        "Failed", "Terminating"}},
      {Goal::Kind::kPaddleJob,
       "paddlejob",
       {"Pending", "Starting", "Running", "Scaling", "Restarting", "Aborting", "Aborted", "Completing", "Completed",
        "Failed", "Terminating"}},
      {Goal::Kind::kKubeflowPaddleJob,
       "paddlejobs.kubeflow.org",
       {"Created", "Running", "Restarting", "Succeeded", "Failed", "Suspended"}},
      {Goal::Kind::kJobFlow, "jobflow", {"Pending", "Running", "Succeed", "Failed", "Terminating"}},
      {Goal::Kind::kPodGroup, "podgroup", {"Pending", "Inqueue", "Running", "Unknown", "Completed"}},
      {Goal::Kind::kPod, "pod", {"Pending", "Running", "Succeeded", "Failed"}}};
  return words;
}

absl::Status Wrong(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\": ", what));
}

}  // namespace

std::string Goal::ToString() const {
  const auto it = std::find_if(Words().begin(), Words().end(), [&](const KindWords& w) { return w.kind == kind; });
  return absl::StrCat(it->word, "/", key.ToString(), "=", phase);
}

absl::StatusOr<Goal> ParseGoal(absl::string_view text) {
  const std::vector<std::string> sides = absl::StrSplit(text, '=');
  if (sides.size() != 2) return Wrong(text, "write KIND/[NAMESPACE/]NAME=PHASE, such as job/ctr-volcano=Completed");
  const std::vector<std::string> parts = absl::StrSplit(sides[0], '/');
  const bool empty_part = std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
  if (parts.size() < 2 || parts.size() > 3 || empty_part)
    return Wrong(text, "left of '=' stands KIND/NAME or KIND/NAMESPACE/NAME");
  const auto words =
      std::find_if(Words().begin(), Words().end(), [&](const KindWords& w) { return w.word == parts[0]; });
  if (words == Words().end())
    return Wrong(
        text,
        absl::StrCat("the kind is job, pdj (or paddlejob), paddlejobs.kubeflow.org, jobflow, podgroup or pod, not \"",
                     parts[0], "\""));
  if (std::find(words->phases.begin(), words->phases.end(), sides[1]) == words->phases.end()) {
    return Wrong(text, absl::StrCat("\"", sides[1], "\" is no phase of a ", words->word, "; they are ",
                                    absl::StrJoin(words->phases, ", ")));
  }
  return Goal{words->kind, {parts.size() == 3 ? parts[1] : "default", parts.back()}, sides[1]};
}

}  // namespace gangway::cmd
