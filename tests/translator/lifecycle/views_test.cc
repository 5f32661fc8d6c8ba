// Whatever stands in the objects around a PaddleJob: plans are made without a crash, the same view gives the same plan,
// a plan changes an object at most once, and a status that was written is not written again.
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/random_object.h"
#include "gtest/gtest.h"
#include "translator/lifecycle/reconcile_paddle_job.h"
#include "translator/lifecycle/record.h"

namespace gangway::paddle_lifecycle {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class PaddleViewsTest : public ::testing::Test {
 protected:
  bool Chance(int of) { return bits_() % static_cast<std::uint64_t>(of) == 0; }
  template <class T>
  T Any() {
    return api::RandomObject<T>([this] { return bits_(); });
  }
  template <class T>
  const T& OneOf(const std::vector<T>& of) {
    return of[bits_() % of.size()];
  }

  api::OwnerReference AnyController(const api::Resource& resource, const std::string& uid) {
    api::OwnerReference owner = Any<api::OwnerReference>();
    owner.controller = true;
    if (Chance(4)) return owner;
    const bool of_job = Chance(2);
    return {of_job ? api::kJobs.ApiVersion() : resource.ApiVersion(),
            of_job ? "Job" : "PaddleJob",
            "wd",
            Chance(3) ? "old"
            : of_job  ? "job-uid"
                      : uid,
            true,
            true};
  }

  template <class T>
  void Dress(const api::Resource& resource, T& paddle_job) {
    paddle_job.metadata.name = "wd";
    paddle_job.metadata.ns = "ns";
    paddle_job.metadata.uid = "uid";
    if (!Chance(5)) paddle_job.metadata.deletion_timestamp = {};
    if (Chance(3)) paddle_job.metadata.annotations["paddle.gangway.io/managed-by"] = "gangway";
    if (Chance(5)) paddle_job.metadata.finalizers.push_back("finalizers.paddlepaddle.org");
    resource_ = &resource;
    job_.reset();
    group_.reset();
    named_.reset();
    pods_.clear();
    view_ = {};
    view_.pods = &pods_;
    if (Chance(2)) view_.group_event = "no room";
    if (Chance(3)) view_.job_warning = {"FailedCreate", "Pod wd-worker-0: forbidden"};
    if (Chance(4)) view_.refused = "forbidden";
    if (Chance(3)) view_.jobs_current = false;
    if (Chance(2)) view_.queues = &queues_;
    if (Chance(2)) view_.options.target = convert::Target::kGangway;
    if (Chance(2)) view_.options.elastic_etcd = "etcd:2379";
    if (!Chance(4)) AddJob();
    if (Chance(3)) AddGroup(named_, view_.same_named_group);
    for (int i = static_cast<int>(bits_() % 5); i > 0; --i) AddPod(i);
    for (int i = static_cast<int>(bits_() % 4); i > 0; --i) AddObject();
    if (Chance(3)) {
      command_ = Any<api::volcano::Command>();
      if (Chance(2)) command_.action = "AbortJob";
      view_.commands.push_back(&command_);
    }
  }

  void AddJob() {
    job_ = Any<api::volcano::Job>();
    job_->metadata.name = "wd";
    job_->metadata.ns = "ns";
    job_->metadata.uid = "job-uid";
    job_->metadata.owner_references = {
        {resource_->ApiVersion(), "PaddleJob", "wd", Chance(5) ? "old" : "uid", true, true}};
    if (!Chance(5)) job_->metadata.deletion_timestamp = {};
    job_->status.state.phase =
        OneOf<std::string>({"", "Pending", "Running", "Restarting", "Completing", "Completed", "Failed", "Terminating",
                            "Terminated", "Aborting", "Aborted", "odd"});
    const auto mark = [&](absl::string_view key, const std::string& value) {
      if (Chance(2)) job_->metadata.annotations[std::string(key)] = value;
    };
    mark(kTranslationKey, "0123456789abcdef worker=2");
    mark(kRestartsKey, OneOf<std::string>({"2", "-1", "x", "2147483647", "99999999999"}));
    mark(kReplacedKey, OneOf<std::string>({"1 uid-0", "", "x y", "2147483647 uid-1 uid-2"}));
    mark(kElasticKey, "2:4");
    mark(kSuspendedKey, "true");
    mark(kPriorityKey, "high");
    mark(kPodGroupKey, "group");
    view_.volcano_job = &*job_;
    if (Chance(2)) AddGroup(group_, view_.pod_group);
  }
  void AddGroup(std::optional<api::volcano::PodGroup>& group, const api::volcano::PodGroup*& in) {
    group = Any<api::volcano::PodGroup>();
    group->metadata.ns = "ns";
    if (Chance(2)) group->metadata.owner_references = {AnyController(*resource_, "uid")};
    for (auto& condition : group->status.conditions)
      condition.type = OneOf<std::string>({"Unschedulable", "Scheduled", "odd"}), condition.status = "True";
    in = &*group;
  }
  void AddPod(int i) {
    PaddlePod& pod = pods_[absl::StrCat("wd-worker-", i)];
    pod.uid = absl::StrCat("uid-", i);
    pod.owner_uid = OneOf<std::string>({"job-uid", "job-uid", "uid", "old"});
    pod.of_operator = pod.owner_uid == "uid";
    pod.task = OneOf<std::string>({"worker", "ps", "master", "odd"});
    pod.index = i;
    pod.stage = static_cast<PodStage>(bits_() % 6);
    pod.deleting = Chance(4);
    pod.begun = Chance(2);
    pod.disrupted = Chance(2);
    if (Chance(3))
      pod.failure = std::make_shared<const api::volcano::PodFailure>(
          api::volcano::PodFailure{"c", false, 1, "Error", "a\nb", kNow});
    if (Chance(4)) pod.waiting = "ImagePullBackOff";
  }
  void AddObject() {
    NearbyObject& object = view_.objects.emplace_back();
    object.resource = Chance(2) ? &api::kServices : &api::kConfigMaps;
    object.name = OneOf<std::string>({"wd", "wd-svc", "wd-paddle-env", "wd-ps-0", "wd-other"});
    object.uid = absl::StrCat("object-", view_.objects.size());
    if (!Chance(4)) object.controller = AnyController(*resource_, "uid");
    if (Chance(2)) object.translation = "0123";
    object.deleting = Chance(4);
  }

  // Returns the body of the status write; "" when there is none, or a Job comes or goes with it.
  std::string Check() {
    const kube::Plan plan = ReconcilePaddleJob(view_, kNow);
    EXPECT_EQ(Text(plan), Text(ReconcilePaddleJob(view_, kNow)));
    std::string status;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (write.resource == &api::kJobs) return "";
        if (write.resource == resource_ && write.subresource == "status") status = write.body;
      }
    }
    return status;
  }

  static std::string Text(const kube::Plan& plan) {
    std::string out = absl::FormatTime(plan.look_again);
    std::set<std::tuple<const api::Resource*, std::string>> changed;
    for (const auto& stage : plan.stages) {
      EXPECT_FALSE(stage.empty());
      for (const kube::Write& write : stage) {
        const bool first = changed.insert({write.resource, write.name}).second;
        EXPECT_TRUE(first || write.resource == &api::kServices || write.resource == &api::kConfigMaps)
            << write.name << " is changed twice";  // two of one name cannot be
        absl::StrAppend(&out, " ", static_cast<int>(write.verb), write.ns, "/", write.name, write.subresource,
                        write.uid, write.body);
      }
      out += '|';
    }
    for (const kube::EventNote& note : plan.events) absl::StrAppend(&out, note.reason, note.message);
    return out;
  }

  template <class T>
  static T Patched(const T& object, const std::string& patch) {
    boost::json::value document = *api::ParseJson(api::Encode(object));
    api::ApplyMergePatch(document, *api::ParseJson(patch));
    return *api::Decode<T>(api::ToJson(document));
  }

  // A second status may follow from the first: that a Job is lost, then that there is no other.
  template <class T>
  void ComeToRest(T& job, int round) {
    std::string status = Check();
    for (int i = 0; i < 2 && !status.empty(); ++i) {
      job = Patched(job, status);
      status = Check();
    }
    EXPECT_EQ(status, "") << "round " << round;
  }

  std::mt19937_64 bits_{23};
  const api::Resource* resource_ = nullptr;
  std::optional<api::volcano::Job> job_;
  std::optional<api::volcano::PodGroup> group_, named_;
  api::volcano::Command command_;
  PodTable pods_;
  QueueStates queues_{{"default", "Open"}};
  PaddleJobView view_;
};

TEST_F(PaddleViewsTest, OfPaddleOperator) {
  for (int round = 0; round < 1500; ++round) {
    auto job = Any<api::paddle::PaddleJob>();
    Dress(api::paddle::kPaddleJobs, job);
    if (!Chance(3)) job.status.conditions.clear();
    job.status.phase =
        OneOf<std::string>({"", "Pending", "Running", "Restarting", "Completed", "Failed", "Aborted", "odd"});
    for (std::optional<api::paddle::RoleSpec>* role : {&job.spec.ps, &job.spec.worker, &job.spec.heter}) {
      if (!role->has_value()) continue;
      (*role)->replicas = static_cast<std::int32_t>(bits_() % 4);
      if (Chance(2)) (*role)->pod_template.json = R"({"spec":{"containers":[{"name":"paddle","image":"i"}]}})";
    }
    if (Chance(2))
      job.status.conditions.push_back(
          {"Translated", "True", OneOf<std::string>({"JobCreated", "Recreating"}), "", 1, {kNow}});
    view_.job = &job;
    ComeToRest(job, round);
  }
}

TEST_F(PaddleViewsTest, OfKubeflow) {
  for (int round = 0; round < 1500; ++round) {
    auto job = Any<api::paddle::kubeflow::PaddleJob>();
    Dress(api::paddle::kubeflow::kPaddleJobs, job);
    job.spec.run_policy.managed_by.clear();
    for (auto& condition : job.status.conditions) {
      condition.type = OneOf<std::string>(
          {"Created", "Running", "Restarting", "Succeeded", "Failed", "Suspended", "Translated", "Scheduled"});
      condition.status = OneOf<std::string>({"True", "False"});
    }
    job.spec.replica_specs.clear();
    for (const char* role : {"Master", "Worker"}) {
      if (Chance(3)) continue;
      auto& replicas = job.spec.replica_specs[role];
      if (Chance(2)) replicas.replicas = static_cast<std::int32_t>(bits_() % 4);
      replicas.pod_template.json = R"({"spec":{"containers":[{"name":"paddle","image":"i"}]}})";
    }
    view_.kubeflow_job = &job;
    ComeToRest(job, round);
  }
}

}  // namespace
}  // namespace gangway::paddle_lifecycle
