#include "translator/lifecycle/late_group.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::PodGroup;
using convert::Code;

// What the Job would have of the group, and has not: "queue ads", "minMember 3".
std::vector<std::string> Differences(const PodGroup& group, const Job& wanted, const Job& job) {
  std::vector<std::string> out;
  const bool names_queue = !group.spec.queue.empty() && group.spec.queue != View(api::volcano::kDefaultQueue);
  if (names_queue && wanted.spec.queue != job.spec.queue) out.push_back(absl::StrCat("queue ", wanted.spec.queue));
  if (group.spec.min_member > 0 && wanted.spec.min_available != job.spec.min_available)
    out.push_back(absl::StrCat("minMember ", wanted.spec.min_available));
  const bool names_class = !group.spec.priority_class_name.empty();
  if (names_class && wanted.spec.priority_class_name != job.spec.priority_class_name) {
    out.push_back(absl::StrCat("priorityClassName ", wanted.spec.priority_class_name));
  }
  return out;
}

}  // namespace

bool IsNews(const PodGroup* group, const JobRecord& record) {
  return group != nullptr && !group->metadata.deleting() && group->metadata.uid != record.group;
}

LateGroup LookAtLateGroup(const PodGroup& group, const Creation& creation, const Job& job, bool begun) {
  LateGroup late;
  const std::vector<std::string> differences =
      creation.ok() ? Differences(group, creation.translation.job, job) : std::vector<std::string>();
  const bool fits = creation.ok() && differences.empty();
  late.replaces = !fits && !begun;
  late.change = absl::StrCat("its PodGroup ", group.metadata.name, " asks for ", absl::StrJoin(differences, ", "));
  late.told = fits ? convert::MakeFinding(Code::kPgDropped, "metadata.name", api::JsonString(group.metadata.name))
                   : convert::MakeFinding(
                         Code::kPgDropped, "metadata.name", api::JsonString(group.metadata.name),
                         "it came when the job ran already: what it asks for counts when the job is made anew");
  for (const convert::Finding& finding : creation.translation.findings) {
    if (finding.code != Code::kPgDropped && finding.level() != convert::Level::kError) late.findings.push_back(finding);
  }
  late.findings.push_back(late.told);
  convert::Arrange(late.findings);
  return late;
}

}  // namespace gangway::paddle_lifecycle
