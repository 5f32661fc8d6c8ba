// A Job and what belongs to it, as JSON documents that plans are carried out on: an API server with one Job, and
// without one's rules. The gang's scheduler and the pods' kubelets are the test.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "api/volcano/release.h"
#include "base/check.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"

namespace gangway::testutil {

namespace json = boost::json;

class World {
 public:
  // `job` is the Job's JSON; its metadata gets a namespace, a UID and a creation time.
  explicit World(absl::string_view job) {
    json::value document = *api::ParseJson(job);
    json::object& metadata = document.as_object()["metadata"].as_object();
    metadata["namespace"] = "default";
    metadata["uid"] = "job-uid";
    metadata["creationTimestamp"] = api::FormatTime(now_);
    Put("jobs", std::string(metadata["name"].as_string()), std::move(document));
    job_name_ = json::value_to<std::string>(Objects("jobs").begin()->second.at("metadata").at("name"));
  }

  // --- Looking.

  api::volcano::Job job() const { return *api::Decode<api::volcano::Job>(api::ToJson(Object("jobs", job_name_))); }
  std::string phase() const { return job().status.state.phase; }
  const json::value& Object(const std::string& plural, const std::string& name) const {
    return objects_.at(plural).at(name);
  }
  bool Exists(const std::string& plural, const std::string& name) const {
    auto it = objects_.find(plural);
    return it != objects_.end() && it->second.contains(name);
  }
  std::vector<std::string> Names(const std::string& plural) const {
    std::vector<std::string> names;
    if (auto it = objects_.find(plural); it != objects_.end()) {
      for (const auto& [name, object] : it->second) names.push_back(name);
    }
    return names;
  }
  // "w-0 Running v1", those being deleted with a '-'.
  std::vector<std::string> Pods() const {
    std::vector<std::string> out;
    for (const auto& [name, pod] : table()) {
      out.push_back(absl::StrCat(name.substr(job_name_.size() + 1), " ", View(pod), " v", pod.version));
    }
    return out;
  }
  static std::string View(const lifecycle::JobPod& pod) {
    return absl::StrCat(pod.deleting ? "-" : "", lifecycle::NameOf(pod.phase));
  }
  lifecycle::PodTable table() const {
    lifecycle::PodTable table;
    for (const std::string& name : Names("pods")) {
      table[name] = lifecycle::JobPodOf(*api::Decode<api::core::Pod>(api::ToJson(Object("pods", name))));
    }
    return table;
  }
  // The Job's phases, without repetitions.
  const std::vector<std::string>& phases() const { return phases_; }
  // "create pods ctr-w-0", in the order they were carried out.
  const std::vector<std::string>& writes() const { return writes_; }
  const std::vector<kube::EventNote>& events() const { return events_; }
  bool HasEvent(absl::string_view reason, absl::string_view part) const {
    return std::any_of(events_.begin(), events_.end(), [&](const kube::EventNote& e) {
      return e.reason == reason && absl::string_view(e.message).find(part) != absl::string_view::npos;
    });
  }
  absl::Time now() const { return now_; }
  absl::Time look_again() const { return look_again_; }

  // --- The controller.

  kube::Plan Decide() {
    const api::volcano::Job job = this->job();
    const lifecycle::PodTable pods = table();
    std::optional<api::volcano::PodGroup> group;
    const std::string group_name = lifecycle::PodGroupName(job);
    if (Exists("podgroups", group_name))
      group = *api::Decode<api::volcano::PodGroup>(api::ToJson(Object("podgroups", group_name)));
    std::vector<api::volcano::Command> commands;
    for (const std::string& name : Names("commands")) {
      commands.push_back(*api::Decode<api::volcano::Command>(api::ToJson(Object("commands", name))));
    }
    const std::vector<std::string> claim_names = Names("persistentvolumeclaims");
    const absl::flat_hash_set<std::string> claims(claim_names.begin(), claim_names.end());
    lifecycle::JobView view;
    view.job = &job;
    view.pods = &pods;
    view.pod_group = group ? &*group : nullptr;
    for (const api::volcano::Command& command : commands) view.commands.push_back(&command);
    view.claims = &claims;
    view.objects = PluginObjects();
    static const lifecycle::SshKeyPair key{"a private key", "a public key\n"};
    view.ssh_key = has_ssh_key ? &key : nullptr;
    view.pods_current = pods_current;
    view.seen_leaving = seen_leaving.empty() ? nullptr : &seen_leaving;
    view.released_leaving = released_leaving.empty() ? nullptr : &released_leaving;
    view.queue = queue ? &*queue : nullptr;
    view.status_written = status_written;
    view.first_status_patience = first_status_patience;
    kube::Plan plan = lifecycle::ReconcileJob(view, now_);
    look_again_ = plan.look_again;
    return plan;
  }

  // Decides and carries out; with a limit, the process dies after so many writes (the rest of the plan is lost).
  // Returns how many writes were carried out.
  int Step(int most_writes = 1'000'000) {
    const kube::Plan plan = Decide();
    int done = 0;
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (done == most_writes) return done;
        CarryOut(write);
        ++done;
      }
    }
    for (const kube::EventNote& note : plan.events) events_.push_back(note);
    return done;
  }
  // Until nothing is left to do. False when it does not get there.
  bool Settle(int most_steps = 50) {
    for (int i = 0; i < most_steps; ++i) {
      if (Step() == 0) return true;
    }
    return false;
  }

  // --- The others.

  void Pass(absl::Duration time) { now_ += time; }
  // The scheduler lets the gang in (or says anything else).
  void SetGroupPhase(const std::string& phase) {
    json::object status{{"phase", phase}};
    Edit("podgroups", lifecycle::PodGroupName(job()), [&](json::object& group) { group["status"] = status; });
  }
  void Condition(const std::string& type, const std::string& message) {
    Edit("podgroups", lifecycle::PodGroupName(job()), [&](json::object& group) {
      json::array& conditions = group["status"].as_object()["conditions"].is_array()
                                    ? group["status"].as_object()["conditions"].as_array()
                                    : group["status"].as_object()["conditions"].emplace_array();
      conditions.push_back(json::object{
          {"type", type}, {"status", "True"}, {"message", message}, {"lastTransitionTime", api::FormatTime(now_)}});
    });
  }
  void SetPod(const std::string& name, const std::string& phase, int exit_code = 0) {
    Edit("pods", name, [&](json::object& pod) {
      json::object container{{"name", "c"}, {"ready", phase == "Running"}, {"restartCount", 0}};
      if (phase == "Failed" || phase == "Succeeded") {
        container["state"] =
            json::object{{"terminated", json::object{{"exitCode", exit_code}, {"finishedAt", api::FormatTime(now_)}}}};
      }
      pod["status"] = json::object{{"phase", phase}, {"containerStatuses", json::array{container}}};
    });
  }
  // As the scheduler marks a pod of a gang that it releases, before it deletes it.
  void MarkReleased(const std::string& name) {
    Edit("pods", name, [](json::object& pod) {
      pod["status"].as_object()["conditions"] = json::array{json::object{
          {"type", "DisruptionTarget"}, {"status", "True"}, {"reason", std::string(api::volcano::kGangReleased)}}};
    });
  }
  void RestartContainer(const std::string& name, int times) {
    Edit("pods", name, [&](json::object& pod) {
      pod["status"].as_object()["containerStatuses"].as_array()[0].as_object()["restartCount"] = times;
    });
  }
  void RunAll() {
    for (const auto& [name, pod] : table()) {
      if (pod.phase == lifecycle::PodPhase::kPending && !pod.deleting) SetPod(name, "Running");
    }
  }
  // As the controller made it, for a Job found in the middle of its life: "w-0" Running, or "-Running" while it is
  // being deleted.
  void AddPod(absl::string_view place, absl::string_view view, int version = 0) {
    const api::volcano::Job job = this->job();
    for (const api::volcano::TaskSpec& task : job.spec.tasks) {
      const std::string prefix = absl::StrCat(task.name, "-");
      std::int32_t index = 0;
      if (!absl::StartsWith(place, prefix) || !absl::SimpleAtoi(place.substr(prefix.size()), &index)) continue;
      const std::string name = absl::StrCat(job_name_, "-", place);
      json::value pod = *api::ParseJson(lifecycle::PodDocument::Make(job, task, {}, {version, 0})->ForIndex(index));
      pod.as_object()["metadata"].as_object()["uid"] = absl::StrCat("uid-", name);
      Put("pods", name, std::move(pod));
      SetPod(name, std::string(absl::StripPrefix(view, "-")), view == "Failed" ? 1 : 0);
      if (view[0] == '-') DeletePod(name);
      return;
    }
    GW_CHECK(false);
  }
  // One that is like another but for its name and UID.
  void CopyPod(const std::string& from, const std::string& name) {
    json::value pod = Object("pods", from);
    pod.as_object()["metadata"].as_object()["name"] = name;
    pod.as_object()["metadata"].as_object()["uid"] = absl::StrCat("uid-", name);
    Put("pods", name, std::move(pod));
  }
  // Somebody asks for the pod's deletion; it is there until it is gone.
  void DeletePod(const std::string& name) { MarkDeleted("pods", name); }
  void PodGone(const std::string& name) {
    objects_["pods"].erase(name);
    seen_leaving.insert(name);
  }
  void AllDeletedGone() {
    for (const auto& [name, pod] : table()) {
      if (pod.deleting) PodGone(name);
    }
  }
  void Command(const std::string& name, const std::string& action, const std::string& uid = "job-uid") {
    Put("commands", name,
        json::object{
            {"metadata",
             json::object{{"name", name}, {"namespace", "default"}, {"uid", absl::StrCat("command-", name)}}},
            {"action", action},
            {"target",
             json::object{
                 {"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}, {"name", job_name_}, {"uid", uid}}}});
  }
  void Annotate(const std::string& plural, const std::string& name, const std::string& key, const std::string& value) {
    Edit(plural, name, [&](json::object& object) {
      json::value& annotations = object["metadata"].as_object()["annotations"];
      if (!annotations.is_object()) annotations.emplace_object();
      annotations.as_object()[key] = value;
    });
  }
  void PatchJob(absl::string_view patch) { Merge("jobs", job_name_, patch); }
  void AddClaim(const std::string& name) {
    Put("persistentvolumeclaims", name, json::object{{"metadata", json::object{{"name", name}}}});
  }

  // From creation to every pod Running.
  bool Start() {
    if (!Settle()) return false;
    SetGroupPhase("Inqueue");
    if (!Settle()) return false;
    RunAll();
    return Settle();
  }
  // After a restart: what is being deleted goes, the new gang is let in and runs.
  bool ComeBack() {
    AllDeletedGone();
    return Settle() && (SetGroupPhase("Inqueue"), Settle()) && (RunAll(), Settle());
  }

  bool pods_current = true, has_ssh_key = true;
  absl::Time status_written = absl::InfinitePast();  // as the controller remembers it
  absl::Duration first_status_patience = absl::ZeroDuration();
  absl::flat_hash_set<std::string> seen_leaving, released_leaving;
  std::optional<api::volcano::Queue> queue;

 private:
  std::map<std::string, json::value>& Objects(const std::string& plural) { return objects_[plural]; }

  void Put(const std::string& plural, const std::string& name, json::value object) {
    object.as_object()["metadata"].as_object()["resourceVersion"] = absl::StrCat(++version_);
    objects_[plural][name] = std::move(object);
  }
  template <class F>
  void Edit(const std::string& plural, const std::string& name, F f) {
    json::value object = Object(plural, name);
    f(object.as_object());
    Put(plural, name, std::move(object));
  }
  void Merge(const std::string& plural, const std::string& name, absl::string_view patch) {
    json::value object = Object(plural, name);
    api::ApplyMergePatch(object, *api::ParseJson(patch));
    Put(plural, name, std::move(object));
    const std::string phase = this->phase();
    if (phases_.empty() || phases_.back() != phase) phases_.push_back(phase);
  }
  // A pod that has ended, or was never bound, goes at once; the others have their grace.
  void MarkDeleted(const std::string& plural, const std::string& name) {
    if (plural == "pods") {
      const lifecycle::JobPod pod = table().at(name);
      if (!pod.ended()) {
        Edit(plural, name, [&](json::object& object) {
          object["metadata"].as_object()["deletionTimestamp"] = api::FormatTime(now_);
          object["metadata"].as_object()["deletionGracePeriodSeconds"] = 30;
        });
        return;
      }
      seen_leaving.insert(name);
    }
    objects_[plural].erase(name);
  }

  void CarryOut(const kube::Write& write) {
    const std::string plural(write.resource->plural);
    switch (write.verb) {
      case kube::Verb::kCreate: {
        writes_.push_back(absl::StrCat("create ", plural, " ", write.name));
        if (Exists(plural, write.name)) return;
        json::value object = *api::ParseJson(write.body);
        json::object& metadata = object.as_object()["metadata"].as_object();
        GW_CHECK(json::value_to<std::string>(metadata["name"]) == write.name);
        metadata["uid"] = absl::StrCat("uid-", ++version_);
        if (plural == "podgroups") {
          object.as_object()["status"] = json::object{};
          metadata["creationTimestamp"] = api::FormatTime(now_);
        }
        if (plural == "pods") object.as_object()["status"] = json::object{{"phase", "Pending"}};
        if (plural == "pods") seen_leaving.erase(write.name), released_leaving.erase(write.name);
        Put(plural, write.name, std::move(object));
        return;
      }
      case kube::Verb::kMergePatch:
        writes_.push_back(
            absl::StrCat("patch ", plural, write.subresource.empty() ? "" : "/", write.subresource, " ", write.name));
        GW_CHECK(json::value_to<std::string>(Object(plural, write.name).at("metadata").at("uid")) == write.uid);
        if (write.resource != &api::kSecrets) {  // whose version nobody watches
          GW_CHECK(json::value_to<std::string>(Object(plural, write.name).at("metadata").at("resourceVersion")) ==
                   write.resource_version);
        }
        return Merge(plural, write.name, write.body);
      case kube::Verb::kDelete:
        writes_.push_back(absl::StrCat("delete ", plural, " ", write.name));
        if (!Exists(plural, write.name)) return;
        GW_CHECK(json::value_to<std::string>(Object(plural, write.name).at("metadata").at("uid")) == write.uid);
        return MarkDeleted(plural, write.name);
      default:
        GW_CHECK(false);
    }
  }

  std::vector<lifecycle::OwnedObject> PluginObjects() const {
    std::vector<lifecycle::OwnedObject> out;
    for (const api::Resource* resource : {&api::kConfigMaps, &api::kNetworkPolicies, &api::kSecrets, &api::kServices}) {
      for (const std::string& name : Names(std::string(resource->plural))) {
        const json::object& object = Object(std::string(resource->plural), name).as_object();
        lifecycle::OwnedObject& owned = out.emplace_back();
        owned.resource = resource;
        owned.name = name;
        owned.uid = json::value_to<std::string>(object.at("metadata").at("uid"));
        owned.resource_version = json::value_to<std::string>(object.at("metadata").at("resourceVersion"));
        if (resource == &api::kSecrets) {
          owned.revision =
              json::value_to<std::string>(object.at("metadata").at("annotations").at(lifecycle::kSshConfigKey));
        } else if (const json::value* data = object.if_contains("data")) {
          owned.data = json::value_to<std::map<std::string, std::string>>(*data);
        }
      }
    }
    return out;
  }

  std::string job_name_;
  absl::Time now_ = absl::FromUnixSeconds(1'767'225'600);
  absl::Time look_again_ = absl::InfiniteFuture();
  int version_ = 100;
  std::map<std::string, std::map<std::string, json::value>> objects_;
  std::vector<std::string> phases_, writes_;
  std::vector<kube::EventNote> events_;
};

// A Job of one task per (name, replicas), each container asking for one cpu.
struct TaskText {
  std::string name;
  int replicas = 1;
  std::string extra = {};  // `"minAvailable":1,"policies":[...]`
};
inline std::string JobText(const std::string& name, int min_available, const std::vector<TaskText>& tasks,
                           const std::string& extra = "") {
  std::string text =
      absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                   R"("},"spec":{"schedulerName":"volcano","queue":"default","minAvailable":)", min_available, ",");
  if (extra.find("maxRetry") == std::string::npos) absl::StrAppend(&text, R"("maxRetry":3,)");
  if (!extra.empty()) absl::StrAppend(&text, extra, ",");
  absl::StrAppend(&text, R"("tasks":[)");
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", R"({"name":")", tasks[i].name, R"(","replicas":)", tasks[i].replicas,
                    ",");
    if (!tasks[i].extra.empty()) absl::StrAppend(&text, tasks[i].extra, ",");
    absl::StrAppend(
        &text,
        R"("template":{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}})");
  }
  return absl::StrCat(text, "]}}");
}

}  // namespace gangway::testutil
