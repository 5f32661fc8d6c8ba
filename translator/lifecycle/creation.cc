#include "translator/lifecycle/creation.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "translator/convert/names.h"
#include "translator/lifecycle/record.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::volcano::PodGroup;
using convert::Code;
using convert::Finding;
using convert::Findings;
using convert::Level;

constexpr std::size_t kMaxSummary = 1024;

bool IsRepairable(Code code) {
  return code == Code::kPgClash || code == Code::kSvcClash || code == Code::kTwoControllers || code == Code::kQueue;
}

api::OwnerReference ControllerOf(const api::ObjectMeta& metadata) {
  const api::OwnerReference* controller = metadata.Controller();
  return controller != nullptr ? *controller : api::OwnerReference();
}

// A PaddleJob that had this name before.
bool IsEarlier(const api::OwnerReference& owner, const Wanted& wanted) {
  return owner.kind == wanted.resource->kind && owner.api_version == wanted.resource->ApiVersion() &&
         owner.name == wanted.name();
}

std::string OwnerText(const api::OwnerReference& owner) {
  return owner.kind.empty() ? std::string() : absl::StrCat(absl::AsciiStrToLower(owner.kind), " ", owner.name);
}

std::string TextOf(const api::Resource& resource, absl::string_view name) {
  return absl::StrCat(View(resource.singular), " ", name);
}

convert::TranslateOptions OptionsFor(const PaddleJobView& seen) {
  convert::TranslateOptions options = seen.options;
  options.kept = true;
  options.namespace_queue = seen.namespace_queue;
  if (const PodGroup* group = HandMadeGroupOf(seen)) {
    options.group = convert::HandMadeGroup{
        group->metadata.name, group->spec.min_member > 0 ? std::optional(group->spec.min_member) : std::nullopt,
        group->spec.queue == View(api::volcano::kDefaultQueue) ? "" : group->spec.queue,
        group->spec.priority_class_name, !group->spec.min_resources.empty()};
  }
  return options;
}

Findings Clashes(const PaddleJobView& seen, const Wanted& wanted, const convert::Translation& translation) {
  std::vector<convert::ForeignObject> foreign;
  for (const NearbyObject& object : seen.objects) {
    if (PartyOf(object.controller, seen, wanted) == Party::kOthers)
      foreign.push_back({object.resource, object.name, OwnerText(object.controller)});
  }
  if (const PodGroup* group = seen.same_named_group) {
    const api::OwnerReference controller = ControllerOf(group->metadata);
    if (PartyOf(controller, seen, wanted) == Party::kOthers)
      foreign.push_back({&api::kPodGroups, group->metadata.name, OwnerText(controller)});
  }
  convert::NeededObjects needed = translation.needed;
  needed.stock_volcano = seen.options.target == convert::Target::kVolcano;
  Findings findings = convert::CheckClashes(wanted.name(), translation.lineup.tasks, needed, foreign);
  if (seen.volcano_job != nullptr &&
      PartyOf(ControllerOf(seen.volcano_job->metadata), seen, wanted) == Party::kOthers) {
    const std::string owner = OwnerText(ControllerOf(seen.volcano_job->metadata));
    findings.push_back(convert::MakeFinding(
        Code::kSvcClash, "metadata.name", api::JsonString(wanted.name()),
        absl::StrCat("the job needs names that are taken: job.batch.volcano.sh ", wanted.name(),
                     owner.empty() ? " is not the PaddleJob's" : absl::StrCat(" belongs to ", owner))));
  }
  return findings;
}

std::optional<Finding> CheckQueue(const PaddleJobView& seen, const std::string& queue) {
  if (seen.queues == nullptr) return std::nullopt;
  const absl::string_view field =
      seen.job != nullptr ? "spec.schedulingPolicy.queue" : "spec.runPolicy.schedulingPolicy.queue";
  const auto state = seen.queues->find(queue);
  if (state == seen.queues->end()) {
    return convert::MakeFinding(Code::kQueue, field, api::JsonString(queue), "there is no such queue",
                                "create it, or name another");
  }
  if (state->second.empty() || state->second == "Open") return std::nullopt;
  return convert::MakeFinding(Code::kQueue, field, api::JsonString(queue),
                              absl::StrCat("the queue is ", state->second));
}

// --- The objects.

api::OwnerReference OwnedBy(const Wanted& wanted) {
  return {wanted.resource->ApiVersion(),
          std::string(wanted.resource->kind),
          wanted.name(),
          wanted.metadata->uid,
          true,
          true};
}

kube::Write CreationOf(const api::Resource& resource, const std::string& ns, std::string name, std::string body) {
  kube::Write write;
  write.resource = &resource;
  write.ns = ns;
  write.name = std::move(name);
  write.body = std::move(body);
  return write;
}

std::string Owned(const convert::Companion& companion, const Wanted& wanted) {
  absl::StatusOr<boost::json::value> object = api::ParseJson(companion.json);
  if (!object.ok() || !object->is_object()) return companion.json;  // it was written by us
  boost::json::value& metadata = object->get_object()["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  metadata.get_object()["name"] = companion.name;
  metadata.get_object()["namespace"] = wanted.metadata->ns;
  boost::json::value& annotations = metadata.get_object()["annotations"];
  if (!annotations.is_object()) annotations.emplace_object();
  annotations.get_object()[boost::json::string_view(kTranslationKey.data(), kTranslationKey.size())] =
      HashJson(companion.json);
  const absl::StatusOr<boost::json::value> owner = api::ParseJson(api::Encode(OwnedBy(wanted)));
  if (owner.ok()) metadata.get_object()["ownerReferences"] = boost::json::array{*owner};
  return api::ToJson(*object);
}

const NearbyObject* FindNearby(const PaddleJobView& seen, const api::Resource& resource, absl::string_view name) {
  const auto it = std::ranges::find_if(
      seen.objects, [&](const NearbyObject& object) { return object.resource == &resource && object.name == name; });
  return it == seen.objects.end() ? nullptr : &*it;
}

convert::ElasticBounds BoundsOf(const Creation& creation) {
  return creation.translation.gang.bounds.value_or(convert::ElasticBounds());
}

api::volcano::Job JobOf(const PaddleJobView& seen, const Wanted& wanted, const Creation& creation,
                        std::int32_t restarts) {
  api::volcano::Job job = creation.translation.job;
  job.metadata.ns = wanted.metadata->ns;
  job.metadata.owner_references = {OwnedBy(wanted)};
  auto& annotations = job.metadata.annotations;
  const auto mark = [&](absl::string_view key, std::string value) {
    annotations.insert_or_assign(std::string(key), std::move(value));
  };
  mark(kTranslationKey, creation.mark);
  mark(kPriorityKey, wanted.priority_class);
  for (const absl::string_view key :
       {kRestartsKey, kReplacedKey, kElasticKey, kSuspendedKey, kCompanionsKey, kPodGroupKey})
    annotations.erase(std::string(key));
  if (!creation.translation.before.empty()) mark(kCompanionsKey, absl::StrCat(creation.translation.before.size()));
  if (const PodGroup* group = HandMadeGroupOf(seen)) mark(kPodGroupKey, group->metadata.uid);
  if (restarts > 0) mark(kRestartsKey, absl::StrCat(restarts));
  if (creation.translation.lineup.elastic) {
    const convert::ElasticBounds bounds = BoundsOf(creation);
    mark(kElasticKey, absl::StrCat(bounds.min, ":", bounds.max));
  }
  job.spec.ttl_seconds_after_finished.reset();  // an edit of it counts until the end
  job.spec.max_retry =
      static_cast<std::int32_t>(std::max(std::int64_t{job.spec.max_retry} - std::max(restarts, 0), std::int64_t{1}));
  return job;
}

// Notes what is waited for; the first counts.
void WaitFor(std::string what, Obstacles& obstacles) {
  if (obstacles.waits_for.empty()) obstacles.waits_for = std::move(what);
}

void FindPods(const PaddleJobView& seen, const Wanted& wanted, Obstacles& obstacles) {
  if (seen.pods == nullptr) return;
  for (const auto& [name, pod] : *seen.pods) {
    const bool of_operator = pod.of_operator && pod.owner_uid == wanted.metadata->uid;
    WaitFor(absl::StrCat("pod ", name, of_operator ? " of another controller" : " of an earlier job"), obstacles);
    return;
  }
}

// An object that is ours, or was: it stays only where a companion looks just so.
void FindObject(const NearbyObject& object, const PaddleJobView& seen, const Wanted& wanted, const Creation& creation,
                Obstacles& obstacles) {
  const Party party = PartyOf(object.controller, seen, wanted);
  if (party == Party::kOthers) return;
  const auto& companions = creation.translation.before;
  const auto companion = std::ranges::find_if(
      companions, [&](const auto& c) { return c.resource == object.resource && c.name == object.name; });
  const bool needed = companion != companions.end();
  if (party == Party::kUs) {
    if (needed && !object.deleting && object.translation == HashJson(companion->json)) return;
    if (!needed && object.translation.empty()) return;  // another controller's, and not in the way
    if (!object.deleting)
      obstacles.removals.push_back(DeletionByUid(*object.resource, wanted.metadata->ns, object.name, object.uid));
  }
  WaitFor(absl::StrCat(TextOf(*object.resource, object.name),
                       party == Party::kUs ? " as it was before" : " of an earlier job"),
          obstacles);
}

void FindGroup(const PaddleJobView& seen, const Wanted& wanted, Obstacles& obstacles) {
  const PodGroup* group = seen.same_named_group;
  if (group == nullptr || group->metadata.Controller() == nullptr) return;
  const Party party = PartyOf(*group->metadata.Controller(), seen, wanted);
  if (party == Party::kOthers) return;
  if (party == Party::kUs && !group->metadata.deleting())
    obstacles.removals.push_back(kube::DeletionOf(api::kPodGroups, group->metadata));
  WaitFor(absl::StrCat(TextOf(api::kPodGroups, group->metadata.name),
                       party == Party::kUs ? " of another controller" : " of an earlier job"),
          obstacles);
}

}  // namespace

bool Creation::repairable() const {
  return std::ranges::all_of(translation.findings,
                             [](const Finding& f) { return f.level() != Level::kError || IsRepairable(f.code); });
}

Creation Prepare(const PaddleJobView& seen, const Wanted& wanted) {
  Creation creation;
  const convert::TranslateOptions options = OptionsFor(seen);
  creation.translation =
      seen.job != nullptr ? convert::Translate(*seen.job, options) : convert::Translate(*seen.kubeflow_job, options);
  if (!creation.translation.ok()) return creation;
  Findings clashes = Clashes(seen, wanted, creation.translation);
  Findings& findings = creation.translation.findings;
  findings.insert(findings.end(), clashes.begin(), clashes.end());
  if (std::optional<Finding> queue = CheckQueue(seen, creation.translation.job.spec.queue))
    findings.push_back(*std::move(queue));
  convert::Arrange(findings);
  creation.mark =
      TranslationMark(seen, creation.translation.lineup.elastic ? std::optional(BoundsOf(creation)) : std::nullopt);
  return creation;
}

const PodGroup* HandMadeGroupOf(const PaddleJobView& seen) {
  const PodGroup* group = seen.same_named_group;
  return group != nullptr && group->metadata.Controller() == nullptr ? group : nullptr;
}

std::string Summary(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.level() == Level::kInfo) continue;
    const std::string one = finding.ToString();
    if (text.size() + one.size() > kMaxSummary)
      return absl::StrCat(text.empty() ? one.substr(0, kMaxSummary) : text, " ...");
    absl::StrAppend(&text, text.empty() ? "" : "; ", one);
  }
  return text;
}

std::string FirstError(const Findings& findings) {
  const auto error = std::ranges::find(findings, Level::kError, &Finding::level);
  return error == findings.end() ? std::string() : error->ToString();
}

Party PartyOf(const api::OwnerReference& controller, const PaddleJobView& seen, const Wanted& wanted) {
  if (controller.uid.empty()) return Party::kOthers;
  if (controller.uid == wanted.metadata->uid) return Party::kUs;
  const bool job = controller.kind == api::kJobs.kind && controller.api_version == api::kJobs.ApiVersion();
  if (job && seen.volcano_job != nullptr && controller.uid == seen.volcano_job->metadata.uid) {
    const api::OwnerReference owner = ControllerOf(seen.volcano_job->metadata);
    if (owner.uid == wanted.metadata->uid) return Party::kJob;
    return IsEarlier(owner, wanted) ? Party::kEarlier : Party::kOthers;
  }
  return (job && controller.name == wanted.name()) || IsEarlier(controller, wanted) ? Party::kEarlier : Party::kOthers;
}

Obstacles FindObstacles(const PaddleJobView& seen, const Wanted& wanted, const Creation& creation) {
  Obstacles obstacles;
  if (seen.volcano_job != nullptr)
    WaitFor(absl::StrCat("job.batch.volcano.sh ", wanted.name(), " of an earlier job"), obstacles);
  FindPods(seen, wanted, obstacles);
  for (const NearbyObject& object : seen.objects) FindObject(object, seen, wanted, creation, obstacles);
  FindGroup(seen, wanted, obstacles);
  return obstacles;
}

std::vector<kube::Write> CompanionsMissing(const PaddleJobView& seen, const Wanted& wanted, const Creation& creation) {
  std::vector<kube::Write> missing;
  for (const convert::Companion& companion : creation.translation.before) {
    if (FindNearby(seen, *companion.resource, companion.name) != nullptr) continue;
    missing.push_back(CreationOf(*companion.resource, wanted.metadata->ns, companion.name, Owned(companion, wanted)));
  }
  return missing;
}

std::int32_t CompanionsSeen(const PaddleJobView& seen, const Wanted& wanted) {
  return static_cast<std::int32_t>(std::ranges::count_if(seen.objects, [&](const NearbyObject& object) {
    return object.controller.uid == wanted.metadata->uid && !object.translation.empty();
  }));
}

std::vector<std::vector<kube::Write>> WritesOf(const PaddleJobView& seen, const Wanted& wanted,
                                               const Creation& creation, std::int32_t restarts) {
  std::vector<std::vector<kube::Write>> stages;
  std::vector<kube::Write> companions = CompanionsMissing(seen, wanted, creation);
  if (!companions.empty()) stages.push_back(std::move(companions));
  stages.push_back({CreationOf(api::kJobs, wanted.metadata->ns, wanted.name(),
                               api::Encode(JobOf(seen, wanted, creation, restarts)))});
  return stages;
}

kube::Write DeletionByUid(const api::Resource& resource, std::string ns, std::string name, std::string uid) {
  kube::Write write;
  write.verb = kube::Verb::kDelete;
  write.resource = &resource;
  write.ns = std::move(ns);
  write.name = std::move(name);
  write.uid = std::move(uid);
  return write;
}

NearbyObject NearbyOf(const api::Resource& resource, const api::ObjectMeta& metadata) {
  NearbyObject object{
      &resource, metadata.name, metadata.uid, metadata.resource_version, metadata.deleting(), ControllerOf(metadata),
      {}};
  const auto translation = metadata.annotations.find(std::string(kTranslationKey));
  if (translation != metadata.annotations.end()) object.translation = translation->second;
  return object;
}

}  // namespace gangway::paddle_lifecycle
