#include "plugin/extender/calls/following.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/extender/calls/decision_message.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/extender/calls/object_facts.h"
#include "plugin/extender/calls/typed_facts.h"
#include "plugin/gang/carry_out.h"
#include "plugin/gang/schedule.h"

namespace gangway::extender {
namespace {

constexpr int kChangesBetweenLooks = 256;  // at whether anybody still follows

std::int64_t SizeOf(const google::protobuf::Message& message) {
  return kBytesOfOne + static_cast<std::int64_t>(message.ByteSizeLong());
}

absl::Status Never() { return absl::OkStatus(); }

}  // namespace

Following::Following(std::int64_t max_bytes) : max_bytes_(max_bytes), scheduler_name_(kDefaultScheduler) {
  model::QueueFacts open;
  open.name = "default";
  cluster_.SetQueue(open);
}

std::int64_t Following::bytes() const { return BytesWith(0, 0); }

std::int64_t Following::BytesWith(int more_names, int more_rows) const {
  constexpr std::int64_t kAmountsOfNode = 2;  // free, allocatable
  constexpr std::int64_t kSpare = 2;          // a row that is too short gets twice as long
  return charged_ + static_cast<std::int64_t>(cluster_.names().bytes()) +
         std::int64_t{cluster_.rows() + more_rows} * (cluster_.dims().count() + more_names) * kAmountsOfNode * kSpare *
             static_cast<std::int64_t>(sizeof(std::int64_t));
}

template <class F>
absl::Status Following::CheckNames(const F& fact, const std::string& path) const {
  absl::flat_hash_set<absl::string_view> fresh;
  for (const model::NamedAmounts* const amounts : AmountsOf(fact)) {
    for (const auto& [name, amount] : *amounts) {
      if (cluster_.dims().Find(name) == model::kNone) fresh.insert(name);
    }
  }
  return BytesWith(static_cast<int>(fresh.size()), 1) > max_bytes_ ? OverBound(path) : absl::OkStatus();
}

absl::Status Following::OverBound(const std::string& path) const {
  return absl::ResourceExhaustedError(absl::StrCat(path, ": the cluster of this stream takes more than ", max_bytes_,
                                                   " bytes, which is this server's bound for one; begin a new stream"));
}

absl::StatusOr<std::optional<v1::FollowResponse>> Following::Take(const v1::FollowRequest& request,
                                                                  const gang::Policy& policy, absl::Time now,
                                                                  StillWanted still_wanted) {
  ++requests_;
  if (!request.scheduler_name().empty()) {
    if (requests_ > 1) return Wrong("scheduler_name", "is said by the first message of a stream");
    scheduler_name_ = request.scheduler_name();
  }
  GW_ASSIGN_OR_RETURN(now, NowOf(request, now));
  for (int i = 0; i < request.changes_size(); ++i) {
    if (i % kChangesBetweenLooks == 0) GW_RETURN_IF_ERROR(still_wanted());
    GW_RETURN_IF_ERROR(Apply(request.changes(i), At("changes", static_cast<std::size_t>(i)), now));
    if (bytes() > max_bytes_) return OverBound(At("changes", static_cast<std::size_t>(i)));
  }
  if (!request.decide()) return std::nullopt;
  GW_RETURN_IF_ERROR(CheckFits());
  GW_RETURN_IF_ERROR(still_wanted());
  return Decide(policy, now);
}

void Following::Charge(const std::string& key, std::int64_t bytes) {
  std::int64_t& charge = charges_[key];
  charged_ += bytes - charge;
  charge = bytes;
}

void Following::Uncharge(const std::string& key) {
  const auto it = charges_.find(key);
  if (it == charges_.end()) return;
  charged_ -= it->second;
  charges_.erase(it);
}

absl::Status Following::Apply(const v1::Change& change, const std::string& path, absl::Time now) {
  switch (change.what_case()) {
    case v1::Change::kNode: {
      GW_ASSIGN_OR_RETURN(const model::NodeFacts fact, NodeFactsOf(change.node(), path + ".node"));
      GW_RETURN_IF_ERROR(CheckNames(fact, path));
      Charge(KeyOf(fact), SizeOf(change));
      Tell(fact, cluster_);
      return absl::OkStatus();
    }
    case v1::Change::kQueue: {
      GW_ASSIGN_OR_RETURN(const model::QueueFacts fact, QueueFactsOf(change.queue(), path + ".queue"));
      GW_RETURN_IF_ERROR(CheckNames(fact, path));
      Charge(KeyOf(fact), SizeOf(change));
      Tell(fact, cluster_);
      return absl::OkStatus();
    }
    case v1::Change::kPod:
      return ApplyPod(change.pod(), path + ".pod");
    case v1::Change::kGang:
      return ApplyGang(change.gang(), path + ".gang", now);
    case v1::Change::kObject:
      return ApplyObject(change.object(), path + ".object");
    case v1::Change::kGone:
      return ApplyGone(change.gone(), path + ".gone");
    case v1::Change::kUndone:
      return Undo(change.undone(), path + ".undone");
    case v1::Change::WHAT_NOT_SET:
      break;
  }
  return Wrong(path, "says nothing");
}

absl::Status Following::ApplyPod(const v1::Pod& pod, const std::string& path) {
  GW_ASSIGN_OR_RETURN(const model::PodFacts facts, PodFactsOf(pod, pod.gang(), path));
  if (!pod.task().empty() && pod.gang().empty()) return Wrong(path + ".gang", "must not be empty beside task");
  GW_RETURN_IF_ERROR(CheckNames(facts, path));
  if (!pod.queue().empty()) {
    const model::GangFacts gang = GangOfQueue(facts.ns, pod.queue());
    if (!charges_.contains(KeyOf(gang))) {
      Charge(KeyOf(gang), kBytesOfOne + static_cast<std::int64_t>(pod.queue().size()));
      cluster_.SetGang(gang);
    }
  }
  Charge(KeyOf(facts), SizeOf(pod));
  cluster_.SetPod(facts);
  return absl::OkStatus();
}

absl::Status Following::ApplyGang(const v1::Gang& gang, const std::string& path, absl::Time now) {
  if (gang.name().empty()) return Wrong(path + ".name", "must not be empty");
  if (IsMemberName(gang.name()))
    return Wrong(path + ".name", absl::StrCat(Quoted(gang.name()), " must not contain a slash"));
  if (gang.tasks().empty()) return Wrong(path + ".tasks", "must not be empty");
  std::int64_t member_bytes = 0;
  GW_ASSIGN_OR_RETURN(const std::vector<model::PodFacts> members, MembersOf(gang, path, member_bytes, &Never));
  GW_ASSIGN_OR_RETURN(model::GangFacts facts, GangFactsOf(gang, nullptr, path));
  GW_RETURN_IF_ERROR(CheckNames(facts, path));
  // Who is told of first waits longest.
  if (facts.created == absl::InfinitePast()) {
    const bool known = charges_.contains(KeyOf(facts));
    facts.created = known ? cluster_.gang(cluster_.FindGang(facts.ns, facts.name)).created : now;
  }
  std::int64_t bytes = SizeOf(gang);
  absl::flat_hash_map<std::string, bool> names;
  for (const model::PodFacts& member : members) {
    names.emplace(member.name, true);
    // A claim that is made with its pod makes it one that asks for something else.
    bytes += member.wants.made_claims.empty() ? kBytesOfOne : SizeOf(gang);
  }
  Charge(KeyOf(facts), bytes);
  RemoveMembers(cluster_.SetGang(facts), names);
  for (const model::PodFacts& member : members) {
    GW_RETURN_IF_ERROR(CheckNames(member, path));
    cluster_.SetPod(member);
  }
  return absl::OkStatus();
}

// Members of messages that are not among `but`.
void Following::RemoveMembers(model::GangId gang, const absl::flat_hash_map<std::string, bool>& but) {
  std::vector<std::string> gone;
  for (const model::TaskId id : cluster_.gang(gang).tasks) {
    const std::string& name = cluster_.task(id).name;
    if (IsMemberName(name) && !but.contains(name)) gone.push_back(name);
  }
  const std::string ns = cluster_.gang(gang).ns;
  for (const std::string& name : gone) cluster_.RemovePod(ns, name);
}

void Following::RemovePodsOf(model::GangId gang) {
  model::PodFacts pod;
  pod.ns = cluster_.gang(gang).ns;
  const std::vector<model::TaskId> tasks = cluster_.gang(gang).tasks;
  for (const model::TaskId id : tasks) {
    pod.name = cluster_.task(id).name;
    Uncharge(KeyOf(pod));
    cluster_.RemovePod(pod.ns, pod.name);
  }
}

absl::Status Following::ApplyObject(const std::string& json, const std::string& path) {
  GW_ASSIGN_OR_RETURN(const Fact fact, FactOf(json, path, scheduler_name_));
  GW_RETURN_IF_ERROR(std::visit([&](const auto& of_kind) { return CheckNames(of_kind, path); }, fact));
  std::int64_t bytes = kBytesOfOne + static_cast<std::int64_t>(json.size());
  if (const auto* const hyper_node = std::get_if<model::HyperNodeFacts>(&fact); hyper_node != nullptr) {
    for (const auto& member : hyper_node->members)
      bytes += member.by == model::HyperNodeFacts::By::kName ? 0 : kBytesOfPattern;
  }
  Charge(KeyOf(fact), bytes);
  Tell(fact, cluster_);
  return absl::OkStatus();
}

absl::Status Following::ApplyGone(const v1::Gone& gone, const std::string& path) {
  if (gone.name().empty()) return Wrong(path + ".name", "must not be empty");
  const bool gang = gone.kind() == "Gang", group = gang || gone.kind() == "PodGroup";
  if (group) {
    const std::string ns = gone.namespace_().empty() ? kDefaultNamespace : gone.namespace_();
    for (const model::GangKind kind :
         {model::GangKind::kVolcano, model::GangKind::kKubernetes, model::GangKind::kCoscheduling}) {
      const model::GangId id = cluster_.FindGang(ns, gone.name(), kind);
      if (id != model::kNone) told_.erase(id);  // ids are given again; at worst one is told twice
    }
    const model::GangId id = cluster_.FindGang(ns, gone.name());
    if (gang && id != model::kNone) RemovePodsOf(id);
  }
  GW_ASSIGN_OR_RETURN(const std::string key, TellGone(gone.api_version(), gang ? "PodGroup" : gone.kind(),
                                                      gone.namespace_(), gone.name(), path, cluster_));
  Uncharge(key);
  return absl::OkStatus();
}

absl::Status Following::Undo(const v1::Undone& undone, const std::string& path) {
  const std::string ns = undone.namespace_().empty() ? kDefaultNamespace : undone.namespace_();
  if (undone.pod().empty() == undone.gang().empty()) return Wrong(path, "needs a pod or a gang, and not both");
  if (!undone.pod().empty()) return UndoTask(cluster_.FindTask(ns, undone.pod()), path + ".pod");
  if (!undone.task().empty())
    return UndoTask(cluster_.FindTask(ns, MemberName(undone.gang(), undone.task(), undone.index())), path + ".task");
  const model::GangId gang = cluster_.FindGang(ns, undone.gang());
  if (gang == model::kNone) return Wrong(path + ".gang", absl::StrCat("there is no gang ", Quoted(undone.gang())));
  const std::vector<model::TaskId> tasks = cluster_.gang(gang).tasks;
  for (const model::TaskId task : tasks) GW_RETURN_IF_ERROR(UndoTask(task, path));
  return absl::OkStatus();
}

absl::Status Following::UndoTask(model::TaskId task, const std::string& path) {
  if (task == model::kNone) return Wrong(path, "there is no such pod");
  cluster_.Forget(task);
  cluster_.SetEvicted(task, false);
  return absl::OkStatus();
}

// A decision has a number for each kind of pod that waits and each node.
absl::Status Following::CheckFits() const {
  const std::int64_t nodes = cluster_.present_nodes();
  if (cluster_.shape_slots() * nodes <= kMaxFollowedFits) return absl::OkStatus();
  absl::flat_hash_set<model::ShapeId> kinds;
  for (const model::GangId gang : cluster_.waiting()) {
    for (const model::TaskId task : cluster_.gang(gang).tasks) {
      if (cluster_.task(task).asks_for_room()) kinds.insert(cluster_.task(task).shape);
    }
  }
  const std::int64_t waiting = static_cast<std::int64_t>(kinds.size());
  if (waiting * nodes <= kMaxFollowedFits) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(waiting, " kinds of pods that wait on ", nodes,
                                                   " nodes are more than one decision takes: their product must be "
                                                   "at most ",
                                                   kMaxFollowedFits));
}

v1::GangDecision Following::About(model::GangId id) const {
  const model::Gang& gang = cluster_.gang(id);
  v1::GangDecision about;
  about.set_namespace_(gang.ns);
  about.set_gang(gang.name);
  about.set_api_group(std::string(explain::GroupOf(gang.kind)));
  about.set_placed(gang.ready() >= gang.min_member);
  return about;
}

bool Following::IsTold(const model::Decision& decision) const {
  const auto told = told_.find(decision.gang);
  if (told == told_.end()) return !decision.reason.has_value();
  return decision.reason.has_value() && told->second.reason == *decision.reason;
}

// Its reason, or none, is what was told last.
void Following::Remember(model::Decision& decision, bool same_reason) {
  if (!decision.reason.has_value()) {
    told_.erase(decision.gang);
    return;
  }
  Told& told = told_[decision.gang];
  told.request = requests_;
  if (!same_reason) told.reason = *std::move(decision.reason);
}

std::optional<v1::GangDecision> Following::NewsOf(const model::Decision& decision, bool same_reason) const {
  if (!decision.admit && decision.placements.empty() && decision.evicted.empty() && !decision.nominations.has_value() &&
      same_reason)
    return std::nullopt;
  static const std::map<std::string, int>& any_order = *new std::map<std::string, int>();
  v1::GangDecision news = About(decision.gang);
  news.set_let_in(decision.admit);
  news.set_placed(!decision.short_of_minimum);
  AddPlacements(cluster_, decision.placements, any_order, *news.mutable_placements());
  if (decision.nominations.has_value())
    AddPlacements(cluster_, *decision.nominations, any_order, *news.mutable_nominations());
  AddEvictions(cluster_, decision, *news.mutable_evictions());
  if (decision.reason.has_value() && !same_reason) *news.mutable_reason() = MessageOf(*decision.reason);
  return news;
}

v1::FollowResponse Following::Decide(const gang::Policy& policy, absl::Time now) {
  v1::FollowResponse response;
  response.set_request(requests_);
  if (policy != policy_) {
    policy_ = policy;
    scratch_ = gang::Scratch();
  }
  if (!gang::StandsStill(cluster_, policy_, now, scratch_)) {
    model::Decisions decisions = gang::Schedule(cluster_, policy_, now, scratch_);
    look_again_ = absl::InfiniteFuture();
    for (model::Decision& decision : decisions) {
      const bool same_reason = IsTold(decision);
      if (std::optional<v1::GangDecision> news = NewsOf(decision, same_reason))
        *response.add_decisions() = *std::move(news);
      look_again_ = std::min(look_again_, decision.look_again);
      Remember(decision, same_reason);
      gang::CarryOut(decision, cluster_);
    }
    gang::EndRound(decisions, policy_.victims_take, now, cluster_);
    std::vector<model::GangId> quiet;  // waited, and do no more, without a decision
    for (const auto& [gang, told] : told_) {
      if (told.request != requests_) quiet.push_back(gang);
    }
    std::sort(quiet.begin(), quiet.end());
    for (const model::GangId gang : quiet) {
      *response.add_decisions() = About(gang);
      told_.erase(gang);
    }
  }
  response.set_waiting(static_cast<int>(told_.size()));
  if (look_again_ != absl::InfiniteFuture()) {
    const std::int64_t seconds = absl::ToUnixSeconds(look_again_);
    response.mutable_look_again()->set_seconds(seconds);
    response.mutable_look_again()->set_nanos(
        static_cast<int>(absl::ToInt64Nanoseconds(look_again_ - absl::FromUnixSeconds(seconds))));
  }
  return response;
}

}  // namespace gangway::extender
