// svc: the pods of a Job find each other by name.
//
//   flag                             default  |  ConfigMap <job>-svc: per task, its addresses and their number
//   --publish-not-ready-addresses    false    |  headless Service <job>: names of pods that are not ready too
//   --disable-network-policy         false    |  NetworkPolicy <job>: nobody but the Job's pods reaches them, unless
//   disabled
//   --inject-hosts-env               true     |  env VC_<TASK>_HOSTS and VC_<TASK>_NUM of all tasks, in all containers
//
// Pods get hostname and subdomain where the template has none, and the ConfigMap at /etc/volcano.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {
namespace {

using api::JsonWriter;
using api::volcano::Job;
using api::volcano::TaskSpec;

std::string Underscored(const std::string& task) { return absl::StrReplaceAll(task, {{"-", "_"}}); }
std::string HostsKey(const std::string& task) {
  return absl::StrCat("VC_", absl::AsciiStrToUpper(Underscored(task)), "_HOSTS");
}
std::string NumKey(const std::string& task) {
  return absl::StrCat("VC_", absl::AsciiStrToUpper(Underscored(task)), "_NUM");
}

std::string ConfigMapName(const Job& job) { return absl::StrCat(job.metadata.name, "-svc"); }

WantedObject HeadlessService(const Job& job, const SvcFlags& flags) {
  WantedObject wanted;
  wanted.resource = &api::kServices;
  wanted.name = job.metadata.name;
  JsonWriter json(wanted.body);
  BeginOwned(job, *wanted.resource, wanted.name, json).Key("spec").BeginObject().Field("clusterIP", "None");
  if (flags.publish_not_ready_addresses) json.Field("publishNotReadyAddresses", true);
  json.Key("selector");
  WritePodSelector(job, json);
  json.EndObject().EndObject();
  return wanted;
}

WantedObject OwnPodsOnly(const Job& job) {
  WantedObject wanted;
  wanted.resource = &api::kNetworkPolicies;
  wanted.name = job.metadata.name;
  JsonWriter json(wanted.body);
  BeginOwned(job, *wanted.resource, wanted.name, json).Key("spec").BeginObject();
  json.Key("podSelector").BeginObject().Key("matchLabels");
  WritePodSelector(job, json);
  json.EndObject().Key("ingress").BeginArray().BeginObject().Key("from").BeginArray().BeginObject();
  json.Key("podSelector").BeginObject().Key("matchLabels");
  WritePodSelector(job, json);
  json.EndObject().EndObject().EndArray().EndObject().EndArray();
  json.Key("policyTypes").BeginArray().String("Ingress").EndArray().EndObject().EndObject();
  return wanted;
}

void AddHostEnv(const Job& job, boost::json::object& container) {
  const std::string config_map = ConfigMapName(job);
  for (const TaskSpec& task : job.spec.tasks) {
    for (const std::string& key : {HostsKey(task.name), NumKey(task.name)}) {
      ListAt(container, "env")
          .push_back(boost::json::object{
              {"name", key},
              {"valueFrom",
               boost::json::object{{"configMapKeyRef", boost::json::object{{"key", key}, {"name", config_map}}}}}});
    }
  }
}

absl::Status AddToPod(const Job& job, const SvcFlags& flags, const TaskSpec& task, PodDraft& draft) {
  SetIfEmpty(draft.spec, "hostname", absl::StrCat(job.metadata.name, "-", task.name, "-", draft.index));
  SetIfEmpty(draft.spec, "subdomain", job.metadata.name);
  const std::string config_map = ConfigMapName(job);
  EachContainer(draft.spec, Containers::kAll, [&](boost::json::object& container) {
    if (flags.inject_hosts_env) AddHostEnv(job, container);
    AddMount(container, config_map, "/etc/volcano");
  });
  ListAt(draft.spec, "volumes")
      .push_back(boost::json::object{{"name", config_map}, {"configMap", boost::json::object{{"name", config_map}}}});
  return absl::OkStatus();
}

}  // namespace

SvcFlags ParseSvcFlags(const PluginFlags& flags, std::string* complaint) {
  SvcFlags out;
  std::string wrong = ReadFlags(flags, {{"publish-not-ready-addresses", &out.publish_not_ready_addresses},
                                        {"disable-network-policy", &out.disable_network_policy},
                                        {"inject-hosts-env", &out.inject_hosts_env}});
  if (complaint != nullptr) *complaint = std::move(wrong);
  return out;
}

absl::Status AddSvc(const Job& job, const PluginFlags& texts, PluginEffects& effects) {
  std::string complaint;
  const SvcFlags flags = ParseSvcFlags(texts, &complaint);
  Complain("svc", complaint, effects);
  effects.objects.push_back(OwnedConfigMap(job, ConfigMapName(job), HostLists(job)));
  effects.objects.push_back(HeadlessService(job, flags));
  if (!flags.disable_network_policy) effects.objects.push_back(OwnPodsOnly(job));
  effects.steps.push_back(
      [&job, flags](const TaskSpec& task, PodDraft& draft) { return AddToPod(job, flags, task, draft); });
  return absl::OkStatus();
}

std::map<std::string, std::string> HostLists(const Job& job) {
  std::map<std::string, std::string> lists;
  for (const TaskSpec& task : job.spec.tasks) {
    const std::vector<std::string> hosts = AddressesOf(job, task);
    lists[absl::StrCat(Underscored(task.name), ".host")] = absl::StrJoin(hosts, "\n");
    lists[HostsKey(task.name)] = absl::StrJoin(hosts, ",");
    lists[NumKey(task.name)] = absl::StrCat(hosts.size());
  }
  return lists;
}

}  // namespace gangway::lifecycle
