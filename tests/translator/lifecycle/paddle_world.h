// A PaddleJob, what it becomes and what that makes, as JSON documents that the plans of both controllers are carried
// out on: an API server with one namespace, its garbage collector, and without its rules. The gang's scheduler and the
// pods' kubelets are the test.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/json_value.h"
#include "base/check.h"
#include "plugin/lifecycle/job/job_pod.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"
#include "translator/lifecycle/reconcile_paddle_job.h"

namespace gangway::testutil {

namespace json = boost::json;

class PaddleWorld {
 public:
  // The PaddleJob's JSON, of either dialect.
  explicit PaddleWorld(absl::string_view job) {
    options.target = convert::Target::kGangway;
    options.elastic_etcd = "etcd.infra:2379";
    queues["default"] = "Open";
    Apply(job);
  }

  // --- Looking.

  bool Exists(const std::string& plural, const std::string& name) const {
    const auto it = objects_.find(plural);
    return it != objects_.end() && it->second.contains(name);
  }
  const json::value& Object(const std::string& plural, const std::string& name) const {
    return objects_.at(plural).at(name);
  }
  std::vector<std::string> Names(const std::string& plural) const {
    std::vector<std::string> names;
    if (const auto it = objects_.find(plural); it != objects_.end()) {
      for (const auto& [name, object] : it->second) names.push_back(name);
    }
    return names;
  }
  template <class T>
  T Read(const std::string& plural, const std::string& name) const {
    return *api::Decode<T>(api::ToJson(Object(plural, name)));
  }
  bool kubeflow() const { return Object("paddlejobs", name_).at("apiVersion") == "kubeflow.org/v1"; }
  api::paddle::PaddleJob paddle() const { return Read<api::paddle::PaddleJob>("paddlejobs", name_); }
  api::paddle::PaddleJobStatus status() const { return paddle().status; }
  std::string phase() const { return status().phase; }
  const std::vector<std::string>& phases() const { return phases_; }  // without repetitions
  api::paddle::kubeflow::JobStatus kubeflow_status() const {
    return Read<api::paddle::kubeflow::PaddleJob>("paddlejobs", name_).status;
  }
  // "Running True PaddleJobRunning"; "" when there is none.
  std::string Condition(const std::string& type) const {
    const auto is = kubeflow_status();
    for (const auto& condition : is.conditions) {
      if (condition.type == type) return absl::StrCat(condition.type, " ", condition.status, " ", condition.reason);
    }
    return {};
  }
  std::string LastCondition() const {
    const auto conditions = kubeflow_status().conditions;
    return conditions.empty() ? "" : conditions.back().type;
  }
  api::paddle::PaddleJobCondition Told(const std::string& type) const {
    const auto is = status();
    for (const auto& condition : is.conditions) {
      if (condition.type == type) return condition;
    }
    return {};
  }
  api::volcano::Job job() const { return Read<api::volcano::Job>("jobs", name_); }
  std::string JobPhase() const { return Exists("jobs", name_) ? job().status.state.phase : "none"; }
  // "ps-0 Running", those being deleted with a '-'.
  std::vector<std::string> Pods() const {
    std::vector<std::string> out;
    for (const std::string& name : Names("pods")) {
      const json::object& pod = Object("pods", name).as_object();
      const bool deleting = pod.at("metadata").as_object().contains("deletionTimestamp");
      out.push_back(absl::StrCat(name.substr(name_.size() + 1), " ", deleting ? "-" : "",
                                 std::string(pod.at("status").at("phase").as_string())));
    }
    return out;
  }
  std::string PodUid(const std::string& name) const {
    return json::value_to<std::string>(Object("pods", name).at("metadata").at("uid"));
  }
  const std::vector<std::string>& writes() const { return writes_; }  // of the PaddleJob's controller: "create jobs wd"
  bool Wrote(absl::string_view what) const { return std::ranges::find(writes_, what) != writes_.end(); }
  void ForgetWrites() { writes_.clear(); }
  const std::vector<kube::EventNote>& events() const { return events_; }
  int CountEvents(absl::string_view reason, absl::string_view part = {}) const {
    return static_cast<int>(std::ranges::count_if(events_, [&](const kube::EventNote& e) {
      return e.reason == reason && absl::string_view(e.message).find(part) != absl::string_view::npos;
    }));
  }
  absl::Time now() const { return now_; }
  absl::Time look_again() const { return look_again_; }

  // --- The controllers.

  kube::Plan Decide() {
    std::optional<api::paddle::PaddleJob> paddle;
    std::optional<api::paddle::kubeflow::PaddleJob> kubeflow_job;
    paddle_lifecycle::PaddleJobView view;
    if (kubeflow()) {
      view.kubeflow_job = &kubeflow_job.emplace(Read<api::paddle::kubeflow::PaddleJob>("paddlejobs", name_));
    } else {
      view.job = &paddle.emplace(this->paddle());
    }
    std::optional<api::volcano::Job> volcano_job;
    std::optional<api::volcano::PodGroup> group, same_named;
    if (Exists("jobs", name_)) {
      view.volcano_job = &volcano_job.emplace(job());
      const std::string name = lifecycle::PodGroupName(*volcano_job);
      if (Exists("podgroups", name)) view.pod_group = &group.emplace(Read<api::volcano::PodGroup>("podgroups", name));
    }
    if (Exists("podgroups", name_))
      view.same_named_group = &same_named.emplace(Read<api::volcano::PodGroup>("podgroups", name_));
    paddle_lifecycle::PodTable pods;
    for (const std::string& name : Names("pods")) {
      const auto pod = Read<api::core::Pod>("pods", name);
      if (paddle_lifecycle::JobOf(pod) == name_) pods[name] = paddle_lifecycle::PaddlePodOf(pod);
    }
    view.pods = &pods;
    const std::vector<api::volcano::Command> commands = Commands();
    for (const api::volcano::Command& command : commands) view.commands.push_back(&command);
    for (const api::Resource* resource : {&api::kServices, &api::kConfigMaps}) {
      for (const std::string& name : Names(std::string(resource->plural))) {
        view.objects.push_back(paddle_lifecycle::NearbyOf(*resource, MetaOf(std::string(resource->plural), name)));
      }
    }
    view.queues = &queues;
    view.namespace_queue = namespace_queue;
    view.group_event = group_event;
    view.job_warning = job_warning;
    view.refused = refused;
    view.status_written = status_written;
    view.jobs_current = jobs_current;
    view.options = options;
    return paddle_lifecycle::ReconcilePaddleJob(view, now_);
  }

  // Of the PaddleJob's controller; returns how many writes there were. With a limit its process dies after so many, and
  // the rest is lost.
  int Step(int most_writes = 1'000'000) {
    if (!Exists("paddlejobs", name_)) return 0;
    const kube::Plan plan = Decide();
    look_again_ = plan.look_again;
    int done = 0;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (done == most_writes) return done;
        writes_.push_back(CarryOut(write));
        ++done;
      }
    }
    events_.insert(events_.end(), plan.events.begin(), plan.events.end());
    return done;
  }

  // Of the Job's controller.
  int StepJob() {
    if (!has_job_controller || !Exists("jobs", name_)) return 0;
    const kube::Plan plan = DecideJob();
    int done = 0;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        CarryOut(write);
        ++done;
      }
    }
    return done;
  }

  // Until nobody has anything to do. False when it does not get there.
  bool Settle(int most_steps = 60) {
    for (int i = 0; i < most_steps; ++i) {
      const int writes = Step() + StepJob() + CollectGarbage();
      if (writes == 0) return true;
    }
    return false;
  }

  // --- The others.

  void Pass(absl::Duration time) { now_ += time; }
  // As `kubectl apply`: a new object, or a new spec and metadata of the one that is there.
  void Apply(absl::string_view text) {
    json::value object = *api::ParseJson(text);
    json::object& metadata = object.as_object()["metadata"].as_object();
    name_ = json::value_to<std::string>(metadata["name"]);
    metadata["namespace"] = "default";
    if (Exists("paddlejobs", name_)) {
      const json::object& was = Object("paddlejobs", name_).as_object();
      for (const char* key : {"uid", "creationTimestamp", "generation"}) metadata[key] = was.at("metadata").at(key);
      if (was.at("spec") != object.at("spec"))
        metadata["generation"] = was.at("metadata").at("generation").as_int64() + 1;
      if (was.contains("status")) object.as_object()["status"] = was.at("status");
    } else {
      metadata["uid"] = absl::StrCat("paddle-", ++version_);
      metadata["creationTimestamp"] = api::FormatTime(now_);
      metadata["generation"] = 1;
    }
    Put("paddlejobs", name_, std::move(object));
  }
  // A change of the PaddleJob by its user.
  void Edit(absl::string_view patch) {
    json::value object = Object("paddlejobs", name_);
    const json::value was = object.at("spec");
    api::ApplyMergePatch(object, *api::ParseJson(patch));
    if (object.at("spec") != was) {
      json::value& generation = object.as_object()["metadata"].as_object()["generation"];
      generation = generation.as_int64() + 1;
    }
    Put("paddlejobs", name_, std::move(object));
  }
  void DeletePaddleJob() { Mark("paddlejobs", name_); }
  void ForgetPaddleJob() { objects_["paddlejobs"].erase(name_); }  // it goes at once
  void Add(const std::string& plural, const std::string& name, json::value object) {
    json::value& metadata = object.as_object()["metadata"];
    if (!metadata.is_object()) metadata.emplace_object();
    metadata.as_object()["name"] = name;
    metadata.as_object()["namespace"] = "default";
    if (!metadata.as_object().contains("uid")) metadata.as_object()["uid"] = absl::StrCat("uid-", ++version_);
    Put(plural, name, std::move(object));
  }
  void Annotate(const std::string& plural, const std::string& name, const std::string& key, const std::string& value) {
    Change(plural, name, [&](json::object& object) {
      json::value& annotations = object["metadata"].as_object()["annotations"];
      if (!annotations.is_object()) annotations.emplace_object();
      annotations.as_object()[key] = value;
    });
  }
  void Remove(const std::string& plural, const std::string& name) { objects_[plural].erase(name); }
  void PatchJob(absl::string_view patch) { Merge("jobs", name_, patch); }
  // A user deletes the Job, in the background.
  void DeleteJob() { objects_["jobs"].erase(name_); }
  void SetJobPhase(const std::string& phase) {
    PatchJob(absl::StrCat(R"({"status":{"state":{"phase":")", phase, R"(","lastTransitionTime":")",
                          api::FormatTime(now_), R"("}}})"));
  }

  std::string GroupName() const { return lifecycle::PodGroupName(job()); }
  void SetGroupPhase(const std::string& phase) {
    Change("podgroups", GroupName(), [&](json::object& group) { group["status"] = json::object{{"phase", phase}}; });
  }
  void GroupCondition(const std::string& type, const std::string& reason, const std::string& message) {
    Change("podgroups", GroupName(), [&](json::object& group) {
      group["status"].as_object()["conditions"] =
          json::array{json::object{{"type", type},
                                   {"status", "True"},
                                   {"reason", reason},
                                   {"message", message},
                                   {"lastTransitionTime", api::FormatTime(now_)}}};
    });
  }
  // Started, and in the phase; Failed and Succeeded with an exit code.
  void SetPod(const std::string& name, const std::string& phase, int exit_code = 0, const std::string& reason = "") {
    Change("pods", name, [&](json::object& pod) {
      json::object container{{"name", "paddle"}, {"ready", phase == "Running"}, {"restartCount", 0}};
      if (phase == "Running")
        container["state"] = json::object{{"running", json::object{{"startedAt", api::FormatTime(now_)}}}};
      if (phase == "Failed" || phase == "Succeeded") {
        container["state"] = json::object{
            {"terminated",
             json::object{{"exitCode", exit_code}, {"reason", reason}, {"finishedAt", api::FormatTime(now_)}}}};
      }
      json::object status{
          {"phase", phase}, {"startTime", api::FormatTime(now_)}, {"containerStatuses", json::array{container}}};
      if (pod.contains("status") && pod["status"].as_object().contains("startTime"))
        status["startTime"] = pod["status"].at("startTime");
      pod["status"] = status;
    });
  }
  void SetPodStatus(const std::string& name, absl::string_view status) {
    Change("pods", name, [&](json::object& pod) { pod["status"] = *api::ParseJson(status); });
  }
  void Disrupt(const std::string& name, const std::string& reason = "EvictionByEvictionAPI") {
    Change("pods", name, [&](json::object& pod) {
      pod["status"].as_object()["conditions"] =
          json::array{json::object{{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", reason}}};
    });
  }
  void SetAll(const std::string& phase) {
    for (const std::string& name : Names("pods")) {
      if (!IsDeleting("pods", name)) SetPod(name, phase);
    }
  }
  void DeletePod(const std::string& name) { Mark("pods", name); }
  void PodGone(const std::string& name) {
    objects_["pods"].erase(name);
    seen_leaving_.insert(name);
  }
  void DeletedPodsGo() {
    for (const std::string& name : Names("pods")) {
      if (IsDeleting("pods", name)) PodGone(name);
    }
  }

  // From creation to every pod Running.
  bool Start() {
    if (!Settle()) return false;
    SetGroupPhase("Inqueue");
    if (!Settle()) return false;
    SetAll("Running");
    return Settle() && (SetGroupPhase("Running"), Settle());
  }
  // What is being deleted goes, the next gang is let in and runs.
  bool ComeBack() { return DeletedPodsGo(), Settle() && Start(); }

  convert::TranslateOptions options;
  paddle_lifecycle::QueueStates queues;
  std::string namespace_queue, group_event, refused;
  paddle_lifecycle::EventText job_warning;
  absl::Time status_written = absl::InfinitePast();
  bool jobs_current = true;
  bool has_job_controller = true;

 private:
  void Put(const std::string& plural, const std::string& name, json::value object) {
    object.as_object()["metadata"].as_object()["resourceVersion"] = absl::StrCat(++version_);
    objects_[plural][name] = std::move(object);
    if (plural != "paddlejobs" || kubeflow()) return;
    const std::string phase = this->phase();
    if (!phase.empty() && (phases_.empty() || phases_.back() != phase)) phases_.push_back(phase);
  }
  template <class F>
  void Change(const std::string& plural, const std::string& name, F f) {
    json::value object = Object(plural, name);
    f(object.as_object());
    Put(plural, name, std::move(object));
  }
  void Merge(const std::string& plural, const std::string& name, absl::string_view patch) {
    json::value object = Object(plural, name);
    api::ApplyMergePatch(object, *api::ParseJson(patch));
    Put(plural, name, std::move(object));
  }
  api::ObjectMeta MetaOf(const std::string& plural, const std::string& name) const {
    return *api::Decode<api::ObjectMeta>(api::ToJson(Object(plural, name).at("metadata")));
  }
  bool IsDeleting(const std::string& plural, const std::string& name) const {
    return Object(plural, name).at("metadata").as_object().contains("deletionTimestamp");
  }
  std::vector<api::volcano::Command> Commands() const {
    std::vector<api::volcano::Command> commands;
    for (const std::string& name : Names("commands")) commands.push_back(Read<api::volcano::Command>("commands", name));
    return commands;
  }

  // A pod that runs has its grace; a Job that goes in the foreground waits for what it owns; others go at once.
  void Mark(const std::string& plural, const std::string& name, bool foreground = true) {
    const bool ended = plural == "pods" && (Object(plural, name).at("status").at("phase") == "Succeeded" ||
                                            Object(plural, name).at("status").at("phase") == "Failed");
    const bool stays = (plural == "pods" && !ended) || ((plural == "jobs" || plural == "paddlejobs") && foreground);
    if (stays) {
      if (IsDeleting(plural, name)) return;
      return Change(plural, name, [&](json::object& object) {
        object["metadata"].as_object()["deletionTimestamp"] = api::FormatTime(now_);
        if (plural == "pods") object["metadata"].as_object()["deletionGracePeriodSeconds"] = 30;
      });
    }
    if (plural == "pods") seen_leaving_.insert(name);
    objects_[plural].erase(name);
  }

  static std::string Text(const json::value& value) { return json::value_to<std::string>(value); }

  bool UidExists(const std::string& uid, bool* deleting) const {
    for (const auto& [plural, objects] : objects_) {
      for (const auto& [name, object] : objects) {
        if (Text(object.at("metadata").at("uid")) != uid) continue;
        *deleting = IsDeleting(plural, name);
        return true;
      }
    }
    return false;
  }
  // What has lost its owner, or has one that goes in the foreground, goes; an owner goes when nothing is left.
  int CollectGarbage() {
    int changes = 0;
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [plural, objects] : objects_) {
      for (const auto& [name, object] : objects) all.push_back({plural, name});
    }
    std::map<std::string, int> owned;
    for (const auto& [plural, name] : all) {
      const api::ObjectMeta metadata = MetaOf(plural, name);
      bool lost = !metadata.owner_references.empty();
      for (const api::OwnerReference& owner : metadata.owner_references) {
        bool deleting = false;
        ++owned[owner.uid];
        if (UidExists(owner.uid, &deleting) && !deleting) lost = false;
      }
      if (!lost || metadata.deleting()) continue;
      Mark(plural, name);
      ++changes;
    }
    for (const std::string plural : {"jobs", "paddlejobs"}) {
      for (const std::string& name : Names(plural)) {
        const api::ObjectMeta metadata = MetaOf(plural, name);
        if (!metadata.deleting() || owned[metadata.uid] > 0 || !metadata.finalizers.empty()) continue;
        objects_[plural].erase(name);
        ++changes;
      }
    }
    return changes;
  }

  std::string CarryOut(const kube::Write& write) {
    const std::string plural(write.resource->plural);
    const std::string what =
        absl::StrCat(plural, write.subresource.empty() ? "" : "/", write.subresource, " ", write.name);
    const auto check = [&] { GW_CHECK(Text(Object(plural, write.name).at("metadata").at("uid")) == write.uid); };
    switch (write.verb) {
      case kube::Verb::kCreate: {
        if (Exists(plural, write.name)) return absl::StrCat("create ", what);
        json::value object = *api::ParseJson(write.body);
        json::object& metadata = object.as_object()["metadata"].as_object();
        GW_CHECK(json::value_to<std::string>(metadata["name"]) == write.name);
        metadata["uid"] = absl::StrCat("uid-", ++version_);
        metadata["creationTimestamp"] = api::FormatTime(now_);
        if (plural == "podgroups") object.as_object()["status"] = json::object{};
        if (plural == "pods") {
          object.as_object()["status"] = json::object{{"phase", "Pending"}};
          seen_leaving_.erase(write.name);
        }
        Put(plural, write.name, std::move(object));
        return absl::StrCat("create ", what);
      }
      case kube::Verb::kMergePatch:
        check();
        GW_CHECK(Text(Object(plural, write.name).at("metadata").at("resourceVersion")) == write.resource_version);
        Merge(plural, write.name, write.body);
        return absl::StrCat("patch ", what);
      case kube::Verb::kDelete:
        if (Exists(plural, write.name)) {
          check();
          Mark(plural, write.name, write.propagation == kube::Propagation::kForeground);
        }
        return absl::StrCat("delete ", what);
      default:
        GW_CHECK(false);
    }
    return {};
  }

  kube::Plan DecideJob() {
    const api::volcano::Job job = this->job();
    lifecycle::PodTable pods;
    for (const std::string& name : Names("pods")) {
      const auto pod = Read<api::core::Pod>("pods", name);
      if (lifecycle::JobOf(pod) == name_) pods[name] = lifecycle::JobPodOf(pod);
    }
    lifecycle::JobView view;
    view.job = &job;
    view.pods = &pods;
    std::optional<api::volcano::PodGroup> group;
    if (const std::string name = lifecycle::PodGroupName(job); Exists("podgroups", name)) {
      view.pod_group = &group.emplace(Read<api::volcano::PodGroup>("podgroups", name));
    }
    const std::vector<api::volcano::Command> commands = Commands();
    for (const api::volcano::Command& command : commands) view.commands.push_back(&command);
    for (const api::Resource* resource : {&api::kServices, &api::kConfigMaps}) {
      const std::string plural(resource->plural);
      for (const std::string& name : Names(plural)) {
        const api::ObjectMeta metadata = MetaOf(plural, name);
        if (metadata.Controller() == nullptr || metadata.Controller()->uid != job.metadata.uid) continue;
        lifecycle::OwnedObject& owned = view.objects.emplace_back();
        owned = {resource, name, metadata.uid, metadata.resource_version, metadata.deleting(), {}, {}};
        if (const json::value* data = Object(plural, name).as_object().if_contains("data"))
          owned.data = json::value_to<std::map<std::string, std::string>>(*data);
      }
    }
    static const absl::flat_hash_set<std::string> kNoClaims;
    view.claims = &kNoClaims;
    view.seen_leaving = seen_leaving_.empty() ? nullptr : &seen_leaving_;
    return lifecycle::ReconcileJob(view, now_);
  }

  std::string name_;
  absl::Time now_ = absl::FromUnixSeconds(1'767'225'600);
  absl::Time look_again_ = absl::InfiniteFuture();
  int version_ = 100;
  std::map<std::string, std::map<std::string, json::value>> objects_;
  absl::flat_hash_set<std::string> seen_leaving_;
  std::vector<std::string> phases_, writes_;
  std::vector<kube::EventNote> events_;
};

// One container that asks for one cpu.
inline std::string RoleText(int replicas, const std::string& extra_spec = "") {
  return absl::StrCat(
      R"({"replicas":)", replicas, R"(,"template":{"spec":{)", extra_spec, extra_spec.empty() ? "" : ",",
      R"("containers":[{"name":"paddle","image":"i","command":["python","train.py"],"resources":{"requests":{"cpu":"1"}}}]}}})");
}
// `extra` is more of the spec, `annotations` those of the job: "\"a\":\"b\"".
inline std::string PaddleJobText(const std::string& name, const std::vector<std::pair<std::string, std::string>>& roles,
                                 const std::string& extra = "", const std::string& annotations = "") {
  std::string text =
      absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                   R"(","annotations":{)", annotations, R"(}},"spec":{)", extra);
  for (const auto& [role, spec] : roles)
    absl::StrAppend(&text, text.back() == '{' || text.back() == ',' ? "" : ",", "\"", role, "\":", spec);
  return absl::StrCat(text, "}}");
}
// `policy` is the runPolicy.
inline std::string KubeflowJobText(const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& roles,
                                   const std::string& policy = "", const std::string& annotations = "") {
  std::string text = absl::StrCat(R"({"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                                  R"(","annotations":{)", annotations, R"(}},"spec":{"runPolicy":{)", policy,
                                  R"(},"paddleReplicaSpecs":{)");
  for (const auto& [role, spec] : roles) absl::StrAppend(&text, text.back() == '{' ? "" : ",", "\"", role, "\":", spec);
  return absl::StrCat(text, "}}}");
}

}  // namespace gangway::testutil
