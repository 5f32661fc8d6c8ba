#include "plugin/extender/session/decode_session.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/field_table.h"
#include "api/volcano/scheduling.h"
#include "base/status_macros.h"
#include "plugin/extender/session/amounts.h"
#include "plugin/extender/session/decode_task.h"
#include "plugin/extender/session/json_walk.h"
#include "plugin/extender/session/task_template.h"
#include "plugin/ingest/ingest.h"

namespace gangway::extender {
namespace {

template <class T>
absl::Status DecodeObject(JsonWalk& walk, T& out) {
  absl::string_view text;
  GW_RETURN_IF_ERROR(walk.Take(text));
  const api::DecodeReport report = api::DecodeInto(text, api::TypeOf<T>(), &out);
  return report.status.ok() ? absl::OkStatus() : walk.Wrong(report.status.message());
}

bool IsNull(absl::string_view text) { return text.empty() || text == "null"; }

class SessionDecoder {
 public:
  SessionDecoder(absl::string_view body, const SessionLimits& limits, RetoldCluster& cluster)
      : walk_(body), limits_(limits), cluster_(cluster) {}

  absl::Status Run() {
    const absl::Status read = walk_.Struct([&](absl::string_view key) {
      if (SameKey(key, "Jobs")) return Jobs();
      // Which of their tasks belong to no job is known after the jobs, which come first where Go writes them.
      if (SameKey(key, "Nodes")) return jobs_told_ ? Nodes(walk_) : walk_.Take(nodes_);
      if (SameKey(key, "Queues")) return Queues();
      if (SameKey(key, "NamespaceInfo")) return Namespaces();
      return absl::OkStatus();
    });
    GW_RETURN_IF_ERROR(read);
    GW_RETURN_IF_ERROR(walk_.End());
    // What a gang asks of quotas is kept where there are some, and they come after the jobs.
    for (const auto& [key, facts] : asking_) {
      if (cluster_.cluster().quotas().Of(key.first) != nullptr) cluster_.SetGang(facts);
    }
    if (IsNull(nodes_)) return absl::OkStatus();
    JsonWalk nodes(nodes_, "Nodes");
    return Nodes(nodes);
  }

 private:
  static absl::Status TooMany(const JsonWalk& walk, absl::string_view what, std::size_t most) {
    return absl::ResourceExhaustedError(absl::StrCat(walk.path(), ": more than ", most, " ", what));
  }

  absl::Status Jobs() {
    jobs_told_ = true;
    return walk_.Map([&](absl::string_view job) {
      if (!jobs_.insert(std::string(job)).second) Forget(job);
      if (jobs_.size() > limits_.max_jobs) return TooMany(walk_, "jobs", limits_.max_jobs);
      return Job();
    });
  }

  // It stands twice, and the last one counts.
  void Forget(absl::string_view job) {
    const std::size_t slash = job.find('/');
    if (slash == absl::string_view::npos) return;
    const absl::string_view ns = job.substr(0, slash), name = job.substr(slash + 1);
    const model::Cluster& now = cluster_.cluster();
    const model::GangId id = now.FindGang(ns, name);
    if (id == model::kNone) return;
    const std::vector<model::TaskId> tasks = now.gang(id).tasks;
    for (const model::TaskId task : tasks) {
      const std::string gone = now.task(task).name;
      cluster_.RemovePod(now.task(task).ns, gone);
    }
    cluster_.RemoveGang(ns, name);
    asking_.erase(std::pair(std::string(ns), std::string(name)));
  }

  absl::Status Job() {
    std::int64_t priority = 0;
    bool has_group = false;
    api::volcano::PodGroup group;
    const absl::Status read = walk_.Struct([&](absl::string_view key) {
      if (SameKey(key, "Priority")) return walk_.Int(priority);
      if (SameKey(key, "Tasks")) return Tasks();
      if (!SameKey(key, "PodGroup")) return absl::OkStatus();
      absl::string_view text;
      group = {};
      GW_RETURN_IF_ERROR(walk_.Take(text));
      has_group = !IsNull(text);
      if (!has_group) return absl::OkStatus();
      const api::DecodeReport report = api::DecodeInto(text, api::TypeOf<api::volcano::PodGroup>(), &group);
      return report.status.ok() ? absl::OkStatus() : walk_.Wrong(report.status.message());
    });
    GW_RETURN_IF_ERROR(read);
    if (!has_group) return absl::OkStatus();
    if (group.metadata.name.empty()) return walk_.Wrong("PodGroup.metadata.name is missing");
    model::GangFacts facts = ingest::GangFactsOf(group);
    facts.priority_class = ClassOf(priority);
    cluster_.SetGang(facts);
    const bool waits = facts.phase == model::GangPhase::kNone || facts.phase == model::GangPhase::kPending;
    if (waits && !facts.quota_asks.empty()) {
      asking_[std::pair(facts.ns, facts.name)] = std::move(facts);
    } else {
      asking_.erase(std::pair(facts.ns, facts.name));
    }
    return absl::OkStatus();
  }

  // Priority classes are in no session, the number of each job's is.
  std::string ClassOf(std::int64_t priority) {
    const auto value = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        priority, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
    model::PriorityClassFacts facts;
    facts.name = absl::StrCat("priority ", value);
    facts.value = value;
    if (classes_.insert(value).second) cluster_.SetPriorityClass(facts);
    return facts.name;
  }

  absl::Status Tasks() {
    templates_.Clear();
    return walk_.Map([&](absl::string_view) { return Task(walk_); });
  }

  absl::Status Task(JsonWalk& walk) {
    if (++task_count_ > limits_.max_tasks) return TooMany(walk, "tasks", limits_.max_tasks);
    const absl::string_view ahead = walk.ahead();
    std::size_t length = 0;
    if (const model::PodFacts* const facts = templates_.Match(ahead, length); facts != nullptr) {
      walk.StepOver(length);
      cluster_.SetPod(*facts);
      return absl::OkStatus();
    }
    DecodedTask task;
    GW_RETURN_IF_ERROR(DecodeTask(walk, task));
    cluster_.SetPod(task.facts);
    templates_.Add(ahead.substr(0, ahead.size() - walk.ahead().size()), task.facts);
    return absl::OkStatus();
  }

  absl::Status Queues() {
    std::size_t count = 0;
    return walk_.Map([&](absl::string_view name) {
      if (++count > limits_.max_queues) return TooMany(walk_, "queues", limits_.max_queues);
      api::volcano::Queue queue;
      const absl::Status read = walk_.Struct([&](absl::string_view key) {
        if (!SameKey(key, "Queue")) return absl::OkStatus();
        queue = {};
        return DecodeObject(walk_, queue);
      });
      GW_RETURN_IF_ERROR(read);
      if (queue.metadata.name.empty()) queue.metadata.name = std::string(name);
      cluster_.SetQueue(ingest::QueueFactsOf(queue));
      return absl::OkStatus();
    });
  }

  // A session does not tell which pods a quota is about: all, as for Volcano's own plugin resourcequota.
  absl::Status Namespaces() {
    return walk_.Map([&](absl::string_view ns) {
      return walk_.Struct([&, ns = std::string(ns)](absl::string_view key) {
        return SameKey(key, "QuotaStatus") ? Quotas(ns) : absl::OkStatus();
      });
    });
  }

  absl::Status Quotas(const std::string& ns) {
    return walk_.Map([&](absl::string_view name) {
      if (++quota_count_ > limits_.max_quotas) return TooMany(walk_, "quotas", limits_.max_quotas);
      api::core::ResourceQuota quota;
      quota.metadata.ns = ns;
      quota.metadata.name = std::string(name);
      GW_RETURN_IF_ERROR(DecodeObject(walk_, quota.status));
      if (const auto facts = ingest::QuotaFactsOf(quota); facts.has_value()) cluster_.SetQuota(*facts);
      return absl::OkStatus();
    });
  }

  absl::Status Nodes(JsonWalk& walk) {
    return walk.Map([&](absl::string_view name) {
      if (++node_count_ > limits_.max_nodes) return TooMany(walk, "nodes", limits_.max_nodes);
      return Node(walk, name);
    });
  }

  absl::Status Node(JsonWalk& walk, absl::string_view name) {
    bool known = false;
    api::core::Node node;
    std::optional<model::NamedAmounts> allocatable;
    const absl::Status read = walk.Struct([&](absl::string_view key) {
      if (SameKey(key, "Node")) {
        node = {};
        absl::string_view text;
        GW_RETURN_IF_ERROR(walk.Take(text));
        known = !IsNull(text);
        if (!known) return absl::OkStatus();
        const api::DecodeReport report = api::DecodeInto(text, api::TypeOf<api::core::Node>(), &node);
        return report.status.ok() ? absl::OkStatus() : walk.Wrong(report.status.message());
      }
      if (SameKey(key, "Allocatable")) return DecodeResource(walk, Rounding::kDown, allocatable.emplace());
      if (SameKey(key, "Tasks")) return TasksOfNoJob(walk);
      return absl::OkStatus();
    });
    GW_RETURN_IF_ERROR(read);
    if (!known) return absl::OkStatus();
    node.metadata.name = std::string(name);
    model::NodeFacts facts = ingest::NodeFactsOf(node);
    // What is oversubscribed, and what CSI drivers attach, is only in Volcano's own.
    if (allocatable.has_value() && !allocatable->empty()) facts.allocatable = *std::move(allocatable);
    cluster_.SetNode(facts);
    return absl::OkStatus();
  }

  // Their keys are "namespace/pod". What its job has told already is stepped over.
  absl::Status TasksOfNoJob(JsonWalk& walk) {
    return walk.Map([&](absl::string_view pod) {
      const std::size_t slash = pod.find('/');
      const bool told = slash != absl::string_view::npos && cluster_.Told(pod.substr(0, slash), pod.substr(slash + 1));
      return told ? absl::OkStatus() : Task(walk);
    });
  }

  JsonWalk walk_;
  const SessionLimits& limits_;
  RetoldCluster& cluster_;
  bool jobs_told_ = false;
  absl::string_view nodes_;  // when they came first
  TaskTemplates templates_;
  absl::flat_hash_set<std::string> jobs_;
  absl::flat_hash_set<std::int32_t> classes_;
  std::map<std::pair<std::string, std::string>, model::GangFacts> asking_;  // not let in yet; by namespace and name
  std::size_t task_count_ = 0, node_count_ = 0, quota_count_ = 0;
};

}  // namespace

absl::Status DecodeSession(absl::string_view body, const SessionLimits& limits, RetoldCluster& cluster) {
  return SessionDecoder(body, limits, cluster).Run();
}

absl::Status DecodeSession(absl::string_view body, const SessionLimits& limits, model::Cluster& cluster) {
  RetoldCluster once(cluster);
  once.Begin(nullptr);
  return DecodeSession(body, limits, once);
}

}  // namespace gangway::extender
