#include "plugin/controller/queue_controller.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gangway::controller {
namespace {

// Counts change with every PodGroup; they are written together.
constexpr absl::Duration kCountDelay = absl::Milliseconds(200);

bool ForQueue(const api::volcano::Command& command) {
  return command.target && command.target->kind == api::kQueues.kind && command.target->api_version == api::kQueues.ApiVersion();
}

std::string CommandOrder(const api::volcano::Command& command) {
  return absl::StrCat(api::FormatTime(command.metadata.creation_timestamp.at), "/", command.metadata.ns, "/", command.metadata.name);
}

}  // namespace

QueueController::QueueController(Loop& loop, kube::Client& client, kube::Recorder& recorder, Caches& caches, kube::DriverOptions options)
    : loop_(loop), caches_(caches),
      driver_(loop, client, recorder, std::move(options), [this](const api::NamespacedName& key, absl::Time) { return Decide(key.name); }) {
  driver_.SetOnReply([this](const kube::Write& write, const kube::Response& response) { caches_.ObserveReply(write, response); });
}

void QueueController::Wake() {
  driver_.Wake();
  for (const char* name : {"root", "default"}) driver_.Enqueue({"", name});
  caches_.queues.ForEach([this](const api::NamespacedName& key, const auto&) { driver_.Enqueue(key); });
}

void QueueController::Count(const Group& group, int how_many) {
  counts_[group.queue].Add(group.phase, how_many);
  changed_.insert(group.queue);
  if (timer_ != 0) return;
  timer_ = loop_.PostAt(loop_.Now() + kCountDelay, owner_.token(), [this] {
    timer_ = 0;
    for (const std::string& queue : std::exchange(changed_, {})) driver_.Enqueue({"", queue});
  });
}

void QueueController::OnPodGroup(const api::NamespacedName& key, const api::volcano::PodGroup* group) {
  auto it = groups_.find(key);
  if (group == nullptr) {
    if (it == groups_.end()) return;
    Count(it->second, -1);
    groups_.erase(it);
    return;
  }
  const Group now{group->spec.queue, group->status.phase};
  if (it != groups_.end()) {
    if (it->second == now) return;
    Count(it->second, -1);
  }
  Count(now, 1);
  groups_[key] = now;
}

void QueueController::OnCommand(const CommandPtr& before, const CommandPtr& after) {
  if (before != nullptr && ForQueue(*before)) {
    auto of_queue = commands_.find(before->target->name);
    if (of_queue != commands_.end()) {
      of_queue->second.erase(CommandOrder(*before));
      if (of_queue->second.empty()) commands_.erase(of_queue);
    }
    driver_.Enqueue({"", before->target->name});
  }
  if (after == nullptr || !ForQueue(*after)) return;
  commands_[after->target->name][CommandOrder(*after)] = after;
  driver_.Enqueue({"", after->target->name});
}

kube::Plan QueueController::Decide(const std::string& name) const {
  kube::Plan plan;
  const std::shared_ptr<const api::volcano::Queue> queue = caches_.queues.Get({"", name});
  if (queue == nullptr) {
    if (name != "root" && name != "default") return plan;
    kube::Write create;
    create.resource = &api::kQueues;
    create.name = name;
    create.body = api::Encode(name == "root" ? lifecycle::RootQueue() : lifecycle::DefaultQueue());
    plan.stages.push_back({std::move(create)});
    return plan;
  }
  lifecycle::QueueView view;
  view.queue = queue.get();
  if (auto counts = counts_.find(name); counts != counts_.end()) view.groups = counts->second;
  if (auto commands = commands_.find(name); commands != commands_.end()) {
    for (const auto& [order, command] : commands->second) view.commands.push_back(command.get());
  }
  return lifecycle::ReconcileQueue(view);
}

}  // namespace gangway::controller
