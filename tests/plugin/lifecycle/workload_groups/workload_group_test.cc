// PodGroups of pods that no Job made (Volcano: pkg/controllers/podgroup, rows K1 to K6; recording raw-podgroup).
#include "plugin/lifecycle/workload_groups/workload_group.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::PodGroup;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const absl::Time kNow = absl::FromUnixSeconds(1800000000);

struct PodText {
  std::string name = "p", uid = "u", annotations = {}, labels = {}, owners = {}, scheduler = "volcano",
              phase = "Pending", rest = {}, cpu = "2";
};
api::core::Pod Make(const PodText& text) {
  const std::string owners = text.owners.empty() ? "" : absl::StrCat(R"(,"ownerReferences":[)", text.owners, "]");
  return *api::Decode<api::core::Pod>(absl::StrCat(
      R"({"metadata":{"name":")", text.name, R"(","namespace":"ns","uid":")", text.uid,
      R"(","resourceVersion":"5","creationTimestamp":")", api::FormatTime(kNow), R"(","annotations":{)",
      text.annotations, R"(},"labels":{)", text.labels, "}", owners, text.rest, R"(},"spec":{"schedulerName":")",
      text.scheduler, R"(","containers":[{"resources":{"requests":{"cpu":")", text.cpu,
      R"(","nvidia.com/gpu":"1"}}}]},"status":{"phase":")", text.phase, R"("}})"));
}
std::string Owner(const std::string& kind, const std::string& uid, bool controller = true,
                  const std::string& version = "apps/v1") {
  return absl::StrCat(R"({"apiVersion":")", version, R"(","kind":")", kind, R"(","name":"o-)", uid, R"(","uid":")", uid,
                      R"(","blockOwnerDeletion":true,"controller":)", controller ? "true" : "false", "}");
}
OwnerFacts Facts(const api::Resource& resource, const std::string& uid, const std::string& annotations,
                 const std::string& rest = R"("spec":{"replicas":2})") {
  return FactsOf(
      resource, *api::Decode<api::core::Workload>(absl::StrCat(R"({"metadata":{"name":"o","uid":")", uid,
                                                               R"(","annotations":{)", annotations, "}},", rest, "}")));
}

// One group's view, from pods and owners.
class Seen {
 public:
  Seen& Add(const PodText& text) {
    const std::optional<GroupPod> pod = GroupPodOf(Make(text), "volcano", nullptr);
    if (pod.has_value()) {
      pods_.push_back(*pod);
      view_.name = GroupNameFor(Make(text).metadata);
    }
    return *this;
  }
  Seen& Add(OwnerFacts owner) {
    if (owners_.empty()) view_.name = "podgroup-" + owner.uid;
    owners_.push_back(std::move(owner));
    return *this;
  }
  Seen& Inherit(bool on) { return view_.inherit = on, *this; }
  Seen& NamespaceQueue(const std::string& queue) { return view_.namespace_queue = queue, *this; }
  Seen& Missing() { return view_.owner_missing = true, *this; }
  Seen& Group(const PodGroup& group) {
    group_ = group;
    group_.metadata.uid = "group-uid";
    return *this;
  }

  kube::Plan Reconcile(absl::Time now = kNow) {
    view_.ns = "ns";
    view_.pods.clear();
    view_.owners.clear();
    for (const GroupPod& pod : pods_) view_.pods.push_back(&pod);
    for (const OwnerFacts& owner : owners_) view_.owners.push_back(&owner);
    view_.controller = owners_.empty() ? nullptr : &owners_.front();
    view_.group = group_.metadata.name.empty() ? nullptr : &group_;
    return ReconcileWorkloadGroup(view_, now);
  }
  // The group that would be made.
  PodGroup Made() {
    const kube::Plan plan = Reconcile();
    if (plan.stages.empty() || plan.stages[0][0].verb != kube::Verb::kCreate) return {};
    PodGroup group = *api::Decode<PodGroup>(plan.stages[0][0].body);
    return group;
  }

 private:
  std::vector<GroupPod> pods_;
  std::vector<OwnerFacts> owners_;
  PodGroup group_;
  WorkloadGroupView view_;
};

std::string Written(const kube::Plan& plan) {
  std::string out;
  for (const auto& stage : plan.stages) {
    absl::StrAppend(&out, out.empty() ? "" : " | ");
    for (const kube::Write& write : stage) {
      const char* verb = write.verb == kube::Verb::kCreate ? "+" : write.verb == kube::Verb::kDelete ? "-" : "~";
      absl::StrAppend(&out, &write == &stage.front() ? "" : " ", verb,
                      write.resource->singular == "pod" ? "" : "group:", write.name);
    }
  }
  return out;
}

constexpr char kNamed[] = R"("scheduling.k8s.io/group-name":"podgroup-rs")";
constexpr char kThree[] = R"("scheduling.volcano.sh/group-min-member":"3")";

TEST(WorkloadGroupTest, K1ABarePodOwnsItsGroup) {
  Seen seen;
  const PodGroup group = seen.Add({.annotations = R"("scheduling.volcano.sh/queue-name":"q")"}).Made();
  EXPECT_EQ(group.metadata.name, "podgroup-u");
  ASSERT_EQ(group.metadata.owner_references.size(), 1u);
  EXPECT_EQ(group.metadata.owner_references[0], (api::OwnerReference{"v1", "Pod", "p", "u", true, true}));
  EXPECT_EQ(group.spec.min_member, 1);
  EXPECT_EQ(group.spec.queue, "q");
  EXPECT_EQ(group.spec.min_resources.at("requests.cpu").ToString(), "2");
  EXPECT_EQ(group.status.phase, "Pending");
  const kube::Plan plan = seen.Reconcile();
  ASSERT_EQ(Written(plan), "+group:podgroup-u | ~p");
  EXPECT_EQ(plan.stages[1][0].body, R"({"metadata":{"annotations":{"scheduling.k8s.io/group-name":"podgroup-u"}}})");
  EXPECT_EQ(plan.stages[1][0].uid, "u");
  EXPECT_EQ(plan.stages[1][0].resource_version, "5");
}

TEST(WorkloadGroupTest, K1PodsOfOneReplicaSetShareItsGroup) {
  Seen seen;
  seen.Add({.name = "a", .owners = Owner("ReplicaSet", "rs")})
      .Add({.name = "b", .uid = "u2", .owners = Owner("ReplicaSet", "rs")})
      .Add(Facts(api::kReplicaSets, "rs", ""));
  EXPECT_EQ(Written(seen.Reconcile()), "+group:podgroup-rs | ~a ~b");
  const PodGroup group = seen.Made();
  EXPECT_EQ(group.metadata.owner_references[0].kind, "ReplicaSet");
  EXPECT_FALSE(group.metadata.owner_references[0].block_owner_deletion.has_value());
  EXPECT_EQ(Written(seen.Group(group).Reconcile()), "~a ~b") << "the group is there";
}

TEST(WorkloadGroupTest, K2MinMemberOfTheOwnerTimesWhatAPodAsksFor) {
  const PodGroup group = Seen()
                             .Add({.owners = Owner("ReplicaSet", "rs")})
                             .Add(Facts(api::kReplicaSets, "rs", R"("scheduling.volcano.sh/group-min-member":"2")"))
                             .Made();
  EXPECT_EQ(group.spec.min_member, 2);
  EXPECT_EQ(group.spec.min_resources.at("nvidia.com/gpu").ToString(), "2");
  EXPECT_EQ(group.spec.min_resources.at("pods").ToString(), "2");
  EXPECT_THAT(group.metadata.annotations, IsEmpty()) << "group-min-member is not volcano.sh/...";
}

TEST(WorkloadGroupTest, K2AMinMemberThatDoesNotReadIsOneAndZeroIsZero) {
  for (const auto& [text, members] :
       {std::pair("two", 1), {"-1", 1}, {"99999999999", 1}, {"", 1}, {"0", 0}, {"7", 7}}) {
    const PodGroup group = Seen()
                               .Add({.owners = Owner("StatefulSet", "s")})
                               .Add(Facts(api::kStatefulSets, "s",
                                          absl::StrCat(R"("scheduling.volcano.sh/group-min-member":")", text, "\"")))
                               .Made();
    EXPECT_EQ(group.spec.min_member, members) << text;
  }
}

TEST(WorkloadGroupTest, K3WithoutInheritanceOnlyThePodSpeaks) {
  const PodGroup group =
      Seen()
          .Inherit(false)
          .Add({.annotations = R"("scheduling.volcano.sh/queue-name":"q","volcano.sh/preemptable":"true","mine":"x")",
                .labels = R"("volcano.sh/cooldown-time":"1h","app":"a")",
                .owners = Owner("ReplicaSet", "rs")})
          .Add(Facts(api::kReplicaSets, "rs", absl::StrCat(kThree, R"(,"volcano.sh/custom-key":"c")")))
          .Made();
  EXPECT_EQ(group.spec.min_member, 1);
  EXPECT_EQ(group.spec.queue, "q");
  EXPECT_THAT(group.metadata.annotations, ElementsAre(Pair("volcano.sh/preemptable", "true")));
  EXPECT_THAT(group.metadata.labels, ElementsAre(Pair("volcano.sh/cooldown-time", "1h")));
}

TEST(WorkloadGroupTest, K4ThePodsOwnAnnotationsGoBeforeTheOwners) {
  const PodGroup group =
      Seen()
          .Add({.annotations = R"("volcano.sh/jdb-min-available":"1")", .owners = Owner("Job", "j", true, "batch/v1")})
          .Add(Facts(
              api::kBatchJobs, "j",
              absl::StrCat(kThree, R"(,"volcano.sh/custom-key":"c","volcano.sh/jdb-min-available":"2","other":"o")")))
          .Made();
  EXPECT_EQ(group.spec.min_member, 3);
  EXPECT_THAT(group.metadata.annotations,
              ElementsAre(Pair("volcano.sh/custom-key", "c"), Pair("volcano.sh/jdb-min-available", "1")));
}

TEST(WorkloadGroupTest, K4OfSeveralOwnersTheFirstCounts) {
  const PodGroup group =
      Seen()
          .Add({.owners = absl::StrCat(Owner("DaemonSet", "d"), ",", Owner("ReplicaSet", "rs", false))})
          .Add(Facts(api::kDaemonSets, "d", R"("volcano.sh/a":"1")"))
          .Add(Facts(api::kReplicaSets, "rs", absl::StrCat(kThree, R"(,"volcano.sh/a":"2","volcano.sh/b":"2")")))
          .Made();
  EXPECT_EQ(group.spec.min_member, 3);
  EXPECT_THAT(group.metadata.annotations, ElementsAre(Pair("volcano.sh/a", "1"), Pair("volcano.sh/b", "2")));
}

TEST(WorkloadGroupTest, K5NetworkTopologyOfThePodsAnnotations) {
  struct Row {
    std::string annotations, wanted;
  };
  for (const Row& row :
       {Row{R"("volcano.sh/network-topology-mode":"Hard","volcano.sh/network-topology-highest-tier":"2")", "hard 2"},
        Row{R"("volcano.sh/network-topology-mode":"soft")", "soft -"},
        Row{R"("volcano.sh/network-topology-highest-tier":"1")", "hard 1"},
        Row{R"("volcano.sh/network-topology-mode":"odd","volcano.sh/network-topology-highest-tier":"3")", "hard 3"},
        Row{R"("volcano.sh/network-topology-mode":"soft","volcano.sh/network-topology-highest-tier":"x")", "soft -"},
        Row{"", "none"}}) {
    const PodGroup group = Seen().Add({.annotations = row.annotations}).Made();
    const auto& topology = group.spec.network_topology;
    const std::string tier =
        topology && topology->highest_tier_allowed ? absl::StrCat(*topology->highest_tier_allowed) : "-";
    EXPECT_EQ(topology ? absl::StrCat(topology->mode, " ", tier) : "none", row.wanted) << row.annotations;
  }
}

TEST(WorkloadGroupTest, K6WhoGetsNoGroup) {
  EXPECT_EQ(Written(Seen().Add(Facts(api::kStatefulSets, "s", kThree)).Reconcile()), "")
      << "a StatefulSet without pods";
  EXPECT_EQ(GroupPodOf(Make({.scheduler = "default-scheduler"}), "volcano", nullptr), std::nullopt);
  EXPECT_EQ(GroupPodOf(Make({.annotations = R"("scheduling.k8s.io/group-name":"g")"}), "volcano", nullptr),
            std::nullopt);
  EXPECT_EQ(GroupPodOf(Make({.labels = R"("scheduling.x-k8s.io/pod-group":"g")"}), "volcano", nullptr), std::nullopt)
      << "a gang that is not Volcano's";
  EXPECT_NE(GroupPodOf(Make({.annotations = R"("scheduling.k8s.io/group-name":"")"}), "volcano", nullptr),
            std::nullopt);
  EXPECT_EQ(GroupPodOf(Make({.phase = "Succeeded"}), "volcano", nullptr), std::nullopt);
  EXPECT_EQ(GroupPodOf(Make({.rest = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"}), "volcano", nullptr),
            std::nullopt);
}

TEST(WorkloadGroupTest, FourKindsOfOwnersAreWatched) {
  const auto workload = [](const char* version, const char* kind) {
    api::OwnerReference owner;
    owner.api_version = version;
    owner.kind = kind;
    return WorkloadOf(owner);
  };
  EXPECT_EQ(workload("apps/v1", "ReplicaSet"), &api::kReplicaSets);
  EXPECT_EQ(workload("apps/v1", "StatefulSet"), &api::kStatefulSets);
  EXPECT_EQ(workload("apps/v1", "DaemonSet"), &api::kDaemonSets);
  EXPECT_EQ(workload("batch/v1", "Job"), &api::kBatchJobs);
  EXPECT_EQ(workload("batch.volcano.sh/v1alpha1", "Job"), nullptr);
  EXPECT_EQ(workload("apps/v1", "Deployment"), nullptr);
}

TEST(WorkloadGroupTest, ScaledToNothingTheGroupGoesWithTheLastPod) {
  const OwnerFacts none = Facts(api::kReplicaSets, "rs", "", R"("spec":{"replicas":0})");
  const PodGroup group =
      Seen().Add({.owners = Owner("ReplicaSet", "rs")}).Add(Facts(api::kReplicaSets, "rs", "")).Made();
  EXPECT_EQ(Written(Seen().Add(none).Group(group).Reconcile()), "-group:podgroup-rs");
  EXPECT_EQ(
      Written(
          Seen().Add({.annotations = kNamed, .owners = Owner("ReplicaSet", "rs")}).Add(none).Group(group).Reconcile()),
      "");
  PodGroup strange = group;
  strange.metadata.owner_references[0].uid = "somebody";
  EXPECT_EQ(Written(Seen().Add(none).Group(strange).Reconcile()), "") << "it is not ours";
}

TEST(WorkloadGroupTest, TheGroupFollowsItsReplicaSet) {
  Seen seen;
  seen.Add({.annotations = kNamed, .owners = Owner("ReplicaSet", "rs")}).Add(Facts(api::kReplicaSets, "rs", kThree));
  PodGroup group = seen.Made();
  group.spec.queue = "default";  // as the API server fills it in
  group.metadata.annotations["else"] = "stays";
  group.metadata.annotations["volcano.sh/old"] = "goes";
  group.spec.min_member = 1;
  const kube::Plan plan = seen.Group(group).Reconcile();
  ASSERT_EQ(Written(plan), "~group:podgroup-rs");
  EXPECT_EQ(plan.stages[0][0].body, R"({"metadata":{"annotations":{"volcano.sh/old":null}},"spec":{"minMember":3}})");
  EXPECT_EQ(plan.stages[0][0].uid, "group-uid");
  group.metadata.annotations.erase("volcano.sh/old");
  group.spec.min_member = 3;
  EXPECT_TRUE(seen.Group(group).Reconcile().empty()) << "nothing is written when nothing changed";
}

// Volcano: pkg/webhooks/admission/podgroups/mutate
TEST(WorkloadGroupTest, TheNamespaceGivesAQueueOnce) {
  const OwnerFacts owner = Facts(api::kReplicaSets, "rs", "");
  const auto seen = [&](const std::string& queue, const std::string& namespace_queue) {
    const std::string asked =
        queue.empty() ? "" : absl::StrCat(R"(,"scheduling.volcano.sh/queue-name":")", queue, "\"");
    return Seen()
        .Add({.annotations = absl::StrCat(kNamed, asked), .owners = Owner("ReplicaSet", "rs")})
        .Add(owner)
        .NamespaceQueue(namespace_queue);
  };
  EXPECT_EQ(seen("", "").Made().spec.queue, "") << "the API server fills it in";
  EXPECT_EQ(seen("", "team").Made().spec.queue, "team");
  EXPECT_EQ(seen("default", "team").Made().spec.queue, "team");
  EXPECT_EQ(seen("ads", "team").Made().spec.queue, "ads");
  for (const char* asked : {"", "default"}) {
    const PodGroup group = seen(asked, "team").Made();
    EXPECT_EQ(Written(seen(asked, "team").Group(group).Reconcile()), "") << asked;
    EXPECT_EQ(Written(seen(asked, "other").Group(group).Reconcile()), "")
        << "what the namespace says later moves no group: " << asked;
  }
  const PodGroup group = seen("", "team").Made();
  EXPECT_EQ(Written(seen("ads", "team").Group(group).Reconcile()), "~group:podgroup-rs") << "the pods name another";
}

TEST(WorkloadGroupTest, OtherGroupsStayAsTheyWereMade) {
  Seen seen;
  seen.Add({.annotations = R"("scheduling.k8s.io/group-name":"podgroup-d")", .owners = Owner("DaemonSet", "d")})
      .Add(Facts(api::kDaemonSets, "d", ""));
  PodGroup group = seen.Made();
  group.spec.min_member = 5;
  EXPECT_TRUE(seen.Group(group).Reconcile().empty());
}

TEST(WorkloadGroupTest, AStatefulSetsNewRevisionDecides) {
  const OwnerFacts owner =
      Facts(api::kStatefulSets, "s", "", R"("spec":{"replicas":2},"status":{"updateRevision":"new"})");
  const auto pod = [](const std::string& name, const std::string& revision, const std::string& mark) {
    return PodText{.name = name,
                   .uid = name,
                   .annotations = absl::StrCat(R"("scheduling.k8s.io/group-name":"podgroup-s")", mark),
                   .labels = absl::StrCat(R"("controller-revision-hash":")", revision, "\""),
                   .owners = Owner("StatefulSet", "s")};
  };
  PodGroup group = Seen().Add(pod("s-0", "old", "")).Add(owner).Made();
  EXPECT_EQ(group.metadata.name, "podgroup-s") << "made from whatever pod there is";
  EXPECT_TRUE(
      Seen().Add(pod("s-0", "old", R"(,"volcano.sh/preemptable":"true")")).Add(owner).Group(group).Reconcile().empty());
  const kube::Plan plan = Seen()
                              .Add(pod("s-0", "old", ""))
                              .Add(pod("s-1", "new", R"(,"volcano.sh/preemptable":"true")"))
                              .Add(owner)
                              .Group(group)
                              .Reconcile();
  ASSERT_EQ(Written(plan), "~group:podgroup-s");
  EXPECT_THAT(plan.stages[0][0].body, HasSubstr(R"("volcano.sh/preemptable":"true")"));
}

TEST(WorkloadGroupTest, AnOwnerNotSeenYetIsWaitedForAWhile) {
  Seen seen;
  seen.Add({.owners = Owner("ReplicaSet", "rs")}).Missing();
  const kube::Plan plan = seen.Reconcile(kNow + absl::Seconds(1));
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.look_again, kNow + kOwnerPatience);
  EXPECT_EQ(Written(seen.Reconcile(kNow + kOwnerPatience)), "+group:podgroup-rs | ~p");
}

TEST(WorkloadGroupTest, WhileTheOldGroupGoesNothingIsWritten) {
  Seen seen;
  PodGroup group = seen.Add(PodText{}).Made();
  group.metadata.deletion_timestamp.at = kNow;
  EXPECT_TRUE(seen.Group(group).Reconcile().empty());
}

TEST(WorkloadGroupTest, EqualPodsShareWhatTheySay) {
  const std::optional<GroupPod> first =
      GroupPodOf(Make({.name = "a", .owners = Owner("ReplicaSet", "rs")}), "volcano", nullptr);
  const std::optional<GroupPod> second =
      GroupPodOf(Make({.name = "b", .owners = Owner("ReplicaSet", "rs")}), "volcano", first->source);
  EXPECT_EQ(first->source, second->source);
}

// One that says something else speaks for itself, or the group of a new revision would be that of the old one.
TEST(WorkloadGroupTest, PodsThatDifferShareNothing) {
  const PodText like{.name = "a", .owners = Owner("ReplicaSet", "rs")};
  const std::optional<GroupPod> first = GroupPodOf(Make(like), "volcano", nullptr);
  PodText queue = like, preemptable = like, cooldown = like, owner = like, topology = like;
  queue.annotations = R"("scheduling.volcano.sh/queue-name":"q")";
  preemptable.annotations = R"("volcano.sh/preemptable":"true")";
  cooldown.labels = R"("volcano.sh/cooldown-time":"1h")";
  owner.owners = Owner("ReplicaSet", "other");
  topology.annotations = R"("volcano.sh/network-topology-mode":"soft")";
  for (const PodText& text : {queue, preemptable, cooldown, owner, topology}) {
    EXPECT_NE(GroupPodOf(Make(text), "volcano", first->source)->source, first->source)
        << text.annotations << text.labels << text.owners;
  }
}

// Pods that named a group that is not there would wait for it for ever.
TEST(WorkloadGroupTest, AGroupThatCannotBeIsSaidAndNobodyIsNamedOnIt) {
  const kube::Plan plan =
      Seen()
          .Add({.owners = Owner("ReplicaSet", "rs"), .cpu = "9E"})
          .Add(Facts(api::kReplicaSets, "rs", R"("scheduling.volcano.sh/group-min-member":"2000000000")"))
          .Reconcile();
  EXPECT_EQ(Written(plan), "");
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_EQ(plan.events[0].reason, "PodGroupError");
  EXPECT_THAT(plan.events[0].message, HasSubstr("the pod has no PodGroup: "));
  EXPECT_EQ(plan.events[0].regarding.name, "p");
}

}  // namespace
}  // namespace gangway::lifecycle
