#include "plugin/controller/queue_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/volcano/own_queues.h"
#include "plugin/controller/late_commands.h"

namespace gangway::controller {
namespace {

// Counts change with every PodGroup; they are written together.
constexpr absl::Duration kCountDelay = absl::Milliseconds(200);

// Which queue the command is for; "": none.
std::string QueueOf(const QueueController::CommandPtr& command) {
  if (command == nullptr || !command->target) return "";
  const auto& target = *command->target;
  return target.kind == api::kQueues.kind && target.api_version == api::kQueues.ApiVersion() ? target.name : "";
}

std::string CommandOrder(const api::volcano::Command& command) {
  return absl::StrCat(api::FormatTime(command.metadata.creation_timestamp.at), "/", command.metadata.ns, "/",
                      command.metadata.name);
}

}  // namespace

QueueController::QueueController(kube::Informers& informers, kube::ComponentOptions options)
    : Component(informers, std::move(options)),
      queues_(Watch<api::volcano::Queue>(api::kQueues, {},
                                         [this](const auto& key, const auto& before, const auto& after) {
                                           OnQueue(key.name, before.get(), after.get());
                                         })),
      driver_(
          Drive("queue", [this](const api::NamespacedName& key, absl::Time now) { return Decide(key.name, now); })) {
  Watch<api::volcano::PodGroup>(api::kPodGroups, {}, [this](const auto&, const auto& before, const auto& after) {
    OnPodGroup(before.get(), after.get());
  });
  Watch<api::volcano::Command>(
      api::kCommands, {}, [this](const auto&, const auto& before, const auto& after) { OnCommand(before, after); });
}

void QueueController::Wake() {
  for (const std::string_view name : api::volcano::kOwnQueues) driver_.Enqueue({"", std::string(name)});
  queues_.ForEach([this](const api::NamespacedName& key, const auto&) { driver_.Enqueue(key); });
  for (const auto& [queue, commands] : commands_) driver_.Enqueue({"", queue});
}

// The queues below look at the state of this one.
void QueueController::OnQueue(const std::string& name, const api::volcano::Queue* before,
                              const api::volcano::Queue* after) {
  const std::string was(before == nullptr ? "" : lifecycle::ParentOf(*before)),
      is(after == nullptr ? "" : lifecycle::ParentOf(*after));
  if (was != is) {
    if (auto it = children_.find(was); it != children_.end() && it->second.erase(name) > 0 && it->second.empty())
      children_.erase(it);
    if (!is.empty()) children_[is].insert(name);
  }
  driver_.Enqueue({"", name});
  const bool same_state = before != nullptr && after != nullptr && before->status.state == after->status.state;
  auto children = children_.find(name);
  if (same_state || children == children_.end()) return;
  for (const std::string& child : children->second) driver_.Enqueue({"", child});
}

// volcano: pkg/controllers/metrics/queue.go
void QueueController::Measure(const std::string& queue, const lifecycle::PodGroupCounts& counts) {
  if (informers().metrics() == nullptr) return;
  const std::pair<const char*, std::int32_t> phases[] = {{"inqueue", counts.inqueue},
                                                         {"pending", counts.pending},
                                                         {"running", counts.running},
                                                         {"unknown", counts.unknown},
                                                         {"completed", counts.completed}};
  for (const auto& [phase, count] : phases) {
    informers()
        .metrics()
        ->AddGauge(absl::StrCat("volcano_queue_pod_group_", phase, "_count"),
                   absl::StrCat("PodGroups of a queue that are ", phase), {{"queue_name", queue}})
        .Set(count);
  }
}

void QueueController::Count(const Group& group, int how_many) {
  counts_[group.queue].Add(group.phase, how_many);
  changed_.insert(group.queue);
  if (timer_ != 0) return;
  timer_ = loop().PostAt(loop().Now() + kCountDelay, token(), [this] {
    timer_ = 0;
    for (const std::string& queue : std::exchange(changed_, {})) {
      Measure(queue, counts_[queue]);
      driver_.Enqueue({"", queue});
    }
  });
}

void QueueController::OnPodGroup(const api::volcano::PodGroup* before, const api::volcano::PodGroup* after) {
  const auto group = [](const api::volcano::PodGroup& of) {
    return Group{of.spec.queue.empty() ? "default" : of.spec.queue, of.status.phase};
  };
  if (before != nullptr && after != nullptr && group(*before) == group(*after)) return;
  if (before != nullptr) Count(group(*before), -1);
  if (after != nullptr) Count(group(*after), 1);
}

void QueueController::OnCommand(const CommandPtr& before, const CommandPtr& after) {
  if (const std::string queue = QueueOf(before); !queue.empty()) {
    auto of_queue = commands_.find(queue);
    if (of_queue != commands_.end()) {
      of_queue->second.erase(CommandOrder(*before));
      if (of_queue->second.empty()) commands_.erase(of_queue);
    }
    driver_.Enqueue({"", queue});
  }
  if (const std::string queue = QueueOf(after); !queue.empty()) {
    commands_[queue][CommandOrder(*after)] = after;
    driver_.Enqueue({"", queue});
  }
}

kube::Plan QueueController::Decide(const std::string& name, absl::Time now) const {
  const std::shared_ptr<const api::volcano::Queue> queue = queues_.Get({"", name});
  if (queue == nullptr) return WithoutQueue(name, now);
  const auto parent = queues_.Get({"", std::string(lifecycle::ParentOf(*queue))});
  lifecycle::QueueView view;
  view.queue = queue.get();
  view.parent = parent.get();
  if (auto counts = counts_.find(name); counts != counts_.end()) view.groups = counts->second;
  if (auto commands = commands_.find(name); commands != commands_.end()) {
    for (const auto& [order, command] : commands->second) view.commands.push_back(command.get());
  }
  return lifecycle::ReconcileQueue(view);
}

// The queues that every cluster has are made; commands for others may have come before their queue, or too late.
kube::Plan QueueController::WithoutQueue(const std::string& name, absl::Time now) const {
  kube::Plan plan;
  const auto& own = api::volcano::kOwnQueues;
  if (std::find(own.begin(), own.end(), name) != own.end()) {
    kube::Write create;
    create.resource = &api::kQueues;
    create.name = name;
    create.body = api::Encode(api::volcano::OwnQueue(name));
    plan.stages.push_back({std::move(create)});
    return plan;
  }
  auto commands = commands_.find(name);
  if (commands == commands_.end()) return plan;
  std::vector<const api::volcano::Command*> waiting;
  for (const auto& [order, command] : commands->second) waiting.push_back(command.get());
  return RemoveLateCommands(waiting, now);
}

}  // namespace gangway::controller
