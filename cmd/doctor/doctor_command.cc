#include "cmd/doctor/doctor_command.h"

#include <cstdio>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/cluster_resources.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/paddle/paddle_job.h"
#include "api/paddle_resources.h"
#include "api/resource.h"
#include "api/scheduling_resources.h"
#include "api/volcano/hyper_node.h"
#include "base/log.h"
#include "cmd/conf/conf_files.h"
#include "cmd/doctor/checks.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;

constexpr char kDoctorCommand[] = "doctor";
constexpr api::Resource kValidating{"admissionregistration.k8s.io",    "v1",
                                    "validatingwebhookconfigurations", "validatingwebhookconfiguration",
                                    "ValidatingWebhookConfiguration",  false};
constexpr api::Resource kMutating{"admissionregistration.k8s.io",  "v1",
                                  "mutatingwebhookconfigurations", "mutatingwebhookconfiguration",
                                  "MutatingWebhookConfiguration",  false};

// Looks at one thing after the other; what it may not see is told and left out.
class Look {
 public:
  explicit Look(ApiCaller& caller) : caller_(caller) {}

  // Unavailable when nobody answers at all.
  absl::StatusOr<ClusterSight> Take() {
    sight_.now = absl::Now();
    GW_ASSIGN_OR_RETURN(const Bytes version, caller_.Call("GET", "/version"));
    const absl::StatusOr<json::value> versions = api::ParseJson(*version);
    sight_.embedded = versions.ok() && absl::EndsWith(api::TextAt(*versions, {"gitVersion"}), "+gangway");
    std::set<std::string> groups;
    for (const api::KindRow* const needed : NeededKinds()) {
      if (groups.insert(needed->resource->ApiVersion()).second) Discover(*needed->resource);
    }
    sight_.validating = All(kValidating);
    sight_.mutating = All(kMutating);
    if (!sight_.validating.empty() || !sight_.mutating.empty()) {
      sight_.services = All(api::kServices);
      sight_.endpoints = All(api::kEndpoints);
    }
    sight_.deployments = All(api::kDeployments);
    for (const MountedConf& mount : SchedulerConfMounts(sight_)) ReadConf(mount);
    sight_.leases = All(api::kLeases);
    sight_.pods = All(api::kPods);
    sight_.queues = All(api::kQueues);
    sight_.jobs = All(api::kJobs);
    sight_.paddle_jobs = All(api::paddle::kPaddleJobs);
    sight_.kubeflow_jobs = All(api::paddle::kubeflow::kPaddleJobs);
    sight_.pod_groups = All(api::kPodGroups);
    sight_.hyper_nodes = All(api::volcano::kHyperNodes);
    sight_.kubernetes_pod_groups = All(api::kKubernetesPodGroups);
    sight_.claims = All(api::kPersistentVolumeClaims);
    std::set<std::pair<std::string, std::string>> accounts;
    for (const convert::PodLister& lister : ListersIn(sight_)) accounts.insert({lister.ns, lister.service_account});
    for (const auto& [ns, account] : accounts) Ask(ns, account);
    return std::move(sight_);
  }

 private:
  void Missed(absl::string_view what, const absl::Status& status) {
    Say(kDoctorCommand, absl::StrCat("not looked at: ", what, ": ", status.message()));
  }

  // Which types of the resource's group are served.
  void Discover(const api::Resource& resource) {
    const std::string group = absl::StrCat(View(resource.group), "/", View(resource.version));
    const absl::StatusOr<Bytes> body = caller_.Call("GET", absl::StrCat("/apis/", group));
    if (absl::IsNotFound(body.status())) return;
    const absl::StatusOr<json::value> list = body.ok() ? api::ParseJson(**body) : body.status();
    if (!list.ok()) return Missed(group, list.status());
    boost::system::error_code none;
    const json::value* const resources = list->find_pointer("/resources", none);
    if (resources == nullptr || !resources->is_array()) return;
    for (const json::value& one : resources->get_array()) {
      const json::value* const name = one.find_pointer("/name", none);
      if (name != nullptr && name->is_string())
        sight_.served.insert(absl::StrCat(View(name->get_string()), ".", View(resource.group)));
    }
  }

  Objects All(const api::Resource& resource) {
    Objects out;
    const absl::StatusOr<std::vector<std::string>> items = caller_.ListJson(resource, "");
    if (!items.ok()) {
      if (absl::IsNotFound(items.status())) return out;  // a type that is not served has no objects
      // By their names, which those of Kubernetes' own gangs share with Volcano's.
      const bool is_kubernetes = &resource == &api::kKubernetesPodGroups;
      const std::string name = absl::StrCat(View(resource.plural), is_kubernetes ? ".scheduling.k8s.io" : "");
      sight_.not_seen.insert(name);
      Missed(name, items.status());
      return out;
    }
    for (const std::string& item : *items) {
      absl::StatusOr<json::value> object = api::ParseJson(item);
      if (object.ok()) out.push_back(*std::move(object));
    }
    return out;
  }

  // What of a ConfigMap is a scheduler's configuration.
  void ReadConf(const MountedConf& mount) {
    const auto [ns, name] = std::pair<std::string, std::string>(absl::StrSplit(mount.config_map, '/'));
    const absl::StatusOr<Bytes> body = caller_.Call("GET", api::PathOf(api::kConfigMaps, ns, name));
    if (absl::IsNotFound(body.status())) return;
    const absl::StatusOr<json::value> object = body.ok() ? api::ParseJson(**body) : body.status();
    if (!object.ok()) return Missed(absl::StrCat("configmap ", mount.config_map), object.status());
    const json::value* const entries = api::ValueAt(*object, {"data"});
    if (entries == nullptr || !entries->is_object()) return;
    for (const auto& [key, text] : entries->get_object()) {
      if (absl::EndsWith(View(key), ".conf") && text.is_string())
        sight_.scheduler_confs.push_back(
            {mount.deployment, mount.config_map, std::string(key), std::string(text.get_string())});
    }
  }

  // A review is an answer, nothing is stored.
  void Ask(const std::string& ns, const std::string& account) {
    const json::object review{
        {"apiVersion", "authorization.k8s.io/v1"},
        {"kind", "SubjectAccessReview"},
        {"spec",
         json::object{{"user", absl::StrCat("system:serviceaccount:", ns, ":", account)},
                      {"groups", json::array{"system:serviceaccounts", absl::StrCat("system:serviceaccounts:", ns),
                                             "system:authenticated"}},
                      {"resourceAttributes",
                       json::object{{"namespace", ns}, {"verb", "list"}, {"version", "v1"}, {"resource", "pods"}}}}}};
    const absl::StatusOr<Bytes> answer =
        caller_.Call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", api::ToJson(review));
    const absl::StatusOr<json::value> body = answer.ok() ? api::ParseJson(**answer) : answer.status();
    if (!body.ok())
      return Missed(absl::StrCat("whether service account ", ns, "/", account, " may list pods, which its jobs need"),
                    body.status());
    boost::system::error_code none;
    const json::value* const allowed = body->find_pointer("/status/allowed", none);
    sight_.access.push_back({ns, account, allowed != nullptr && allowed->is_bool() && allowed->get_bool()});
  }

  ApiCaller& caller_;
  ClusterSight sight_;
};

}  // namespace

DoctorCommand::DoctorCommand(CommandLine app)
    : command_(app.Add("doctor", "look for what keeps jobs of this cluster from running, and say what to do")) {
  command_.Footer(
      "Looks for missing types, webhooks without a service, nobody who schedules or keeps jobs, two who do, "
      "paddle-operator beside us, PodGroups of a\n"
      "PaddleJob's name, queues that are closed or not there or list devices and no pods, jobs that cannot be "
      "translated, claims and images that are not\n"
      "there, fields that our scheduler does not know, jobs that wait for long, jobs of paddle_k8s that may not "
      "list pods, and an extender that\n"
      "Volcano's scheduler configuration does not ask as it is meant. Changes nothing. See docs/commands.md.\n"
      "Exit code: 0 nothing was found, 1 something was, 2 a flag is wrong or the cluster cannot be looked at.");
  AddServerFlags(command_, server_);
  command_.Add(
      "--scheduler-conf", scheduler_conf_,
      "look at this volcano-scheduler.conf alone, and at no cluster: what is no word of Volcano's, and what is "
      "wrong with the place of its extender plugin");
}

bool DoctorCommand::chosen() const { return command_.chosen(); }

int DoctorCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  if (!scheduler_conf_.empty()) {
    if (server_.given())
      return Tell(absl::InvalidArgumentError(
          "--scheduler-conf reads a file and asks no server: leave out the one that is named"));
    return Tell(ExamineFile());
  }
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(server_);
  const absl::StatusOr<ClusterSight> sight = caller.ok() ? Look(**caller).Take() : caller.status();
  return Tell(sight.ok() ? absl::StatusOr<Ailments>(Examine(*sight)) : sight.status());
}

absl::StatusOr<Ailments> DoctorCommand::ExamineFile() const {
  GW_ASSIGN_OR_RETURN(const std::string text, ReadConfText(scheduler_conf_));
  return ExamineSchedulerConf(text, scheduler_conf_);
}

int DoctorCommand::Tell(const absl::StatusOr<Ailments>& found) {
  if (!found.ok()) {
    Complain(kDoctorCommand, found.status());
    return kNoAnswer;
  }
  if (!Put(stdout, found->empty() ? "nothing was found\n" : AilmentsText(*found))) return kNoAnswer;
  return found->empty() ? kDone : kNo;
}

}  // namespace gangway::cmd
