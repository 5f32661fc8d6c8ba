// scheduling.volcano.sh/v1beta1 PodGroup and Queue, bus.volcano.sh/v1alpha1 Command
// (Volcano: apis scheduling/v1beta1, bus/v1alpha1).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/volcano/job.h"

namespace gangway::api::volcano {

struct LabelSelector {
  std::map<std::string, std::string> match_labels;
  Document match_expressions;
  static constexpr std::string_view kName = "LabelSelector";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&LabelSelector::match_labels>("matchLabels", "all of these"),
                      MakeField<&LabelSelector::match_expressions>("matchExpressions", "and all of these"));
  }
};
struct SubGroupPolicySpec {
  std::string name;
  std::optional<std::int32_t> sub_group_size, min_sub_groups;
  std::optional<LabelSelector> label_selector;
  std::vector<std::string> match_label_keys;
  std::optional<NetworkTopologySpec> network_topology;
  static constexpr std::string_view kName = "SubGroupPolicySpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&SubGroupPolicySpec::name>("name", "the task"),
        MakeField<&SubGroupPolicySpec::sub_group_size>("subGroupSize", "pods in one sub-group"),
        MakeField<&SubGroupPolicySpec::min_sub_groups>("minSubGroups", "how many must be placed").Default(0),
        MakeField<&SubGroupPolicySpec::label_selector>("labelSelector", "the pods it speaks of"),
        MakeField<&SubGroupPolicySpec::match_label_keys>("matchLabelKeys", "labels that part them"),
        MakeField<&SubGroupPolicySpec::network_topology>("networkTopology", "where one sub-group may lie"));
  }
};

struct PodGroupSpec {
  std::int32_t min_member = 0;
  std::map<std::string, std::int32_t> min_task_member;
  std::string queue, priority_class_name;
  ResourceList min_resources;
  std::optional<NetworkTopologySpec> network_topology;
  std::vector<SubGroupPolicySpec> sub_group_policy;
  static constexpr std::string_view kName = "PodGroupSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PodGroupSpec::min_member>("minMember", "pods that start together or not at all").Minimum(0),
        MakeField<&PodGroupSpec::min_task_member>("minTaskMember", "the same, by task"),
        MakeField<&PodGroupSpec::queue>("queue", "the queue").Default("default"),
        MakeField<&PodGroupSpec::priority_class_name>("priorityClassName", "the priority class"),
        MakeField<&PodGroupSpec::min_resources>("minResources", "what the queue must have room for"),
        MakeField<&PodGroupSpec::network_topology>("networkTopology", "where the gang may lie"),
        MakeField<&PodGroupSpec::sub_group_policy>("subGroupPolicy", "gangs within the gang"));
  }
};
struct PodGroupCondition {
  std::string type, status, transition_id, reason, message;
  Time last_transition_time;
  static constexpr std::string_view kName = "PodGroupCondition";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&PodGroupCondition::type>("type", "Unschedulable or Scheduled"),
        MakeField<&PodGroupCondition::status>("status", "True False Unknown"),
        MakeField<&PodGroupCondition::transition_id>("transitionID", "the decision that wrote it"),
        MakeField<&PodGroupCondition::last_transition_time>("lastTransitionTime", "when the status changed last"),
        MakeField<&PodGroupCondition::reason>("reason", "one word"),
        MakeField<&PodGroupCondition::message>("message", "a sentence with numbers"));
  }
};
struct PodGroupStatus {
  std::string phase;
  std::vector<PodGroupCondition> conditions;
  std::int32_t running = 0, succeeded = 0, failed = 0;
  static constexpr std::string_view kName = "PodGroupStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodGroupStatus::phase>("phase", "Pending Inqueue Running Unknown Completed"),
                      MakeField<&PodGroupStatus::conditions>("conditions", "why it waits, or that it was placed"),
                      MakeField<&PodGroupStatus::running>("running", "pods"),
                      MakeField<&PodGroupStatus::succeeded>("succeeded", "pods"),
                      MakeField<&PodGroupStatus::failed>("failed", "pods"));
  }
};
struct PodGroup {
  std::string api_version, kind;
  ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;
  static constexpr std::string_view kName = "PodGroup";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodGroup::api_version>("apiVersion", ""), MakeField<&PodGroup::kind>("kind", ""),
                      MakeField<&PodGroup::metadata>("metadata", ""),
                      MakeField<&PodGroup::spec>("spec", "what is wanted"),
                      MakeField<&PodGroup::status>("status", "what is"));
  }
};

struct QueueGuarantee {
  ResourceList resource;
  static constexpr std::string_view kName = "Guarantee";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&QueueGuarantee::resource>("resource", "never lent out"));
  }
};
struct QueueSpec {
  std::int32_t weight = 0;
  ResourceList capability, deserved;
  std::optional<QueueGuarantee> guarantee;
  std::optional<bool> reclaimable;
  std::string parent;
  std::int32_t priority = 0;
  std::string dequeue_strategy, type;
  Document affinity, extend_clusters;
  static constexpr std::string_view kName = "QueueSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&QueueSpec::weight>("weight", "its share of the cluster").Default(1).Minimum(1).Maximum(65535),
        MakeField<&QueueSpec::capability>("capability", "the most it may use"),
        MakeField<&QueueSpec::deserved>("deserved", "what others may not keep from it"),
        MakeField<&QueueSpec::guarantee>("guarantee", "what is reserved for it"),
        MakeField<&QueueSpec::reclaimable>("reclaimable", "whether others may take back"),
        MakeField<&QueueSpec::parent>("parent", "the queue above; absent: root"),
        MakeField<&QueueSpec::priority>("priority", "higher goes first").Minimum(0),
        MakeField<&QueueSpec::dequeue_strategy>("dequeueStrategy",
                                                "fifo: a head that waits blocks; traverse: it does not")
            .OneOf("fifo,traverse"),
        MakeField<&QueueSpec::type>("type", "stored only"), MakeField<&QueueSpec::affinity>("affinity", "node groups"),
        MakeField<&QueueSpec::extend_clusters>("extendClusters", "stored only"));
  }
};
struct QueueStatus {
  std::string state;
  std::int32_t unknown = 0, pending = 0, running = 0, inqueue = 0, completed = 0;
  ResourceList allocated;
  Document reservation;
  static constexpr std::string_view kName = "QueueStatus";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&QueueStatus::state>("state", "Open Closed Closing Unknown"),
                      MakeField<&QueueStatus::unknown>("unknown", "pod groups"),
                      MakeField<&QueueStatus::pending>("pending", "pod groups"),
                      MakeField<&QueueStatus::running>("running", "pod groups"),
                      MakeField<&QueueStatus::inqueue>("inqueue", "pod groups"),
                      MakeField<&QueueStatus::completed>("completed", "pod groups"),
                      MakeField<&QueueStatus::reservation>("reservation", "reserved nodes"),
                      MakeField<&QueueStatus::allocated>("allocated", "what its pods use"));
  }
};
struct Queue {
  std::string api_version, kind;
  ObjectMeta metadata;
  QueueSpec spec;
  QueueStatus status;
  static constexpr std::string_view kName = "Queue";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Queue::api_version>("apiVersion", ""), MakeField<&Queue::kind>("kind", ""),
                      MakeField<&Queue::metadata>("metadata", ""), MakeField<&Queue::spec>("spec", "what is wanted"),
                      MakeField<&Queue::status>("status", "what is"));
  }
};

struct Command {
  std::string api_version, kind;
  ObjectMeta metadata;
  std::string action, reason, message;
  std::optional<OwnerReference> target;
  static constexpr std::string_view kName = "Command";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Command::api_version>("apiVersion", ""), MakeField<&Command::kind>("kind", ""),
                      MakeField<&Command::metadata>("metadata", ""),
                      MakeField<&Command::action>("action", "AbortJob, ResumeJob, ..."),
                      MakeField<&Command::target>("target", "the job or queue"),
                      MakeField<&Command::reason>("reason", "one word"),
                      MakeField<&Command::message>("message", "a sentence"));
  }
};

}  // namespace gangway::api::volcano

extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::PodGroup>;
extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::Queue>;
extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::Command>;
