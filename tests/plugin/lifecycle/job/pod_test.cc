// Pods of a task: rows C1 to C13 of tests/spec/volcano-job.rows, and the recorded pods themselves.
#include "plugin/lifecycle/job/pod.h"

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/roster.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::volcano::Job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Job MakeJob(const std::string& name, const std::string& task) {
  Job job;
  job.metadata.name = name;
  job.metadata.ns = "default";
  job.metadata.uid = "uid-1";
  job.spec.scheduler_name = "volcano";
  job.spec.queue = "default";
  job.spec.tasks.emplace_back().name = task;
  job.spec.tasks[0].replicas = 1;
  job.spec.tasks[0].pod_template.json = R"({"spec":{"containers":[{"name":"c"}],"initContainers":[{"name":"i"}]}})";
  return job;
}
json::value Build(const Job& job, int index = 0, PodContext context = {}) {
  const absl::StatusOr<PluginEffects> plugins = EffectsOfPlugins(job);
  GW_EXPECT_OK(plugins);
  const auto document = PodDocument::Make(job, job.spec.tasks[0], *plugins, context);
  GW_EXPECT_OK(document);
  return *api::ParseJson(document->ForIndex(index));
}
std::string Text(const json::value& value, std::initializer_list<const char*> path) {
  const json::value* at = &value;
  for (const char* key : path) {
    if (!at->is_object() || !at->as_object().contains(key)) return "(absent)";
    at = &at->at(key);
  }
  return at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
}

TEST(PodTest, C1NameIsJobTaskIndex) {
  EXPECT_EQ(Text(Build(MakeJob("job1", "task1"), 1), {"metadata", "name"}), "job1-task1-1");
}

TEST(PodTest, C2Identity) {
  const json::value pod = Build(MakeJob("test-job", "test-task"), 0, {.version = 1, .retry_count = 2});
  EXPECT_EQ(Text(pod, {"metadata", "name"}), "test-job-test-task-0");
  EXPECT_EQ(Text(pod, {"spec", "schedulerName"}), "volcano");
  EXPECT_EQ(Text(pod, {"metadata", "labels", "volcano.sh/job-name"}), "test-job");
  EXPECT_EQ(Text(pod, {"metadata", "labels", "volcano.sh/task-index"}), "0");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/job-version"}), "1");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/job-retry-count"}), "2");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"}), "test-job-uid-1");
}

TEST(PodTest, C3TheTemplatesSchedulerWins) {
  Job job = MakeJob("j", "t");
  job.spec.scheduler_name = "job-scheduler";
  job.spec.tasks[0].pod_template.json = R"({"spec":{"schedulerName":"template-scheduler","containers":[]}})";
  EXPECT_EQ(Text(Build(job), {"spec", "schedulerName"}), "template-scheduler");
}

TEST(PodTest, C4C5PriorityClass) {
  Job job = MakeJob("j", "t");
  job.spec.priority_class_name = "high-priority";
  EXPECT_EQ(Text(Build(job), {"spec", "priorityClassName"}), "high-priority");
  job.spec.tasks[0].pod_template.json = R"({"spec":{"priorityClassName":"highest-priority","containers":[]}})";
  EXPECT_EQ(Text(Build(job), {"spec", "priorityClassName"}), "highest-priority");
}

// "path claim" of each mount of the first container.
std::vector<std::string> Mounted(const json::value& pod) {
  std::vector<std::string> out;
  for (const json::value& mount : pod.at("spec").at("containers").at(0).at("volumeMounts").as_array()) {
    std::string claim = "(no such volume)";
    for (const json::value& volume : pod.at("spec").at("volumes").as_array()) {
      if (volume.at("name") == mount.at("name")) claim = Text(volume, {"persistentVolumeClaim", "claimName"});
    }
    out.push_back(absl::StrCat(Text(mount, {"mountPath"}), " ", claim));
  }
  return out;
}

TEST(PodTest, C6C7Volumes) {
  Job job = MakeJob("j", "t");
  job.spec.volumes = {{"/data1", "pvc-1", {}}, {"/data2", "pvc-2", {}}};
  const json::value pod = Build(job);
  EXPECT_EQ(pod.at("spec").at("volumes").as_array().size(), 2u);
  EXPECT_THAT(Mounted(pod), ElementsAre("/data1 pvc-1", "/data2 pvc-2"));
  EXPECT_FALSE(pod.at("spec").at("initContainers").at(0).as_object().contains("volumeMounts"));
  job.spec.volumes = {{"/data1", "pvc-1", {}}, {"/data2", "pvc-1", {}}};
  const json::value once = Build(job);
  EXPECT_EQ(once.at("spec").at("volumes").as_array().size(), 1u);
  EXPECT_THAT(Mounted(once), ElementsAre("/data1 pvc-1"));
}

TEST(PodTest, C8Forwarding) {
  const json::value pod = Build(MakeJob("j", "t"), 0, {.forwarding = true});
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/job-forwarding"}), "true");
  EXPECT_EQ(Text(pod, {"metadata", "labels", "volcano.sh/job-forwarding"}), "true");
}

TEST(PodTest, C9C10C11C12Partitions) {
  Job job = MakeJob("j", "t");
  EXPECT_EQ(Text(Build(job, 3), {"metadata", "labels", "volcano.sh/partition-id"}), "(absent)");
  job.spec.tasks[0].partition_policy.emplace();
  const auto partition = [&](int size, int index) {
    job.spec.tasks[0].partition_policy->partition_size = size;
    return Text(Build(job, index), {"metadata", "labels", "volcano.sh/partition-id"});
  };
  EXPECT_EQ(partition(2, 0), "0");
  EXPECT_EQ(partition(2, 1), "0");
  EXPECT_EQ(partition(2, 2), "1");
  EXPECT_EQ(partition(2, 3), "1");
  EXPECT_EQ(partition(5, 10), "2");
  EXPECT_EQ(partition(1, 0), "0");
  EXPECT_EQ(partition(0, 5), "0");
  EXPECT_EQ(partition(3, -2), "0");
}

// Volcano reads a pod's index from its label and answers -1 where it does not read. Here the name says it: what is
// wrong with the label does not matter, and a name that ends in no index has no place (docs/differences.md).
TEST(PodTest, C13TheIndexOfAPodIsInItsName) {
  Job job = MakeJob("j", "t");
  job.spec.tasks[0].replicas = 2;
  const auto pod = [](const std::string& labels) {
    return JobPodOf(*api::Decode<api::core::Pod>(absl::StrCat(
        R"({"metadata":{"labels":{)", labels, R"(},"annotations":{"volcano.sh/task-spec":"t"},)",
        R"("ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":"uid-1","controller":true}]}})")));
  };
  for (const std::string labels : {"", R"("volcano.sh/task-index":"one")", R"("volcano.sh/task-index":"-1")"}) {
    const PodTable pods = {{"j-t-1", pod(labels)},
                           {"j-t-", pod(labels)},
                           {"j-t-one", pod(labels)},
                           {"j-t--1", pod(labels)},
                           {"j-t-01", pod(labels)}};
    JobView view;
    view.job = &job;
    view.pods = &pods;
    const Roster roster = MakeRoster(view);
    EXPECT_EQ(roster.tasks[0].slots[0].pod, nullptr) << labels;
    EXPECT_EQ(roster.tasks[0].slots[1].pod, &pods.at("j-t-1")) << labels;
    EXPECT_EQ(roster.unwanted.size(), 4u) << labels;
  }
}

TEST(PodTest, KeepsWhatTheTemplateSaysAndDropsOnlyItsOtherMetadata) {
  Job job = MakeJob("j", "t");
  job.spec.tasks[0].topology_policy = "restricted";
  job.metadata.annotations = {{"volcano.sh/preemptable", "true"},
                              {"volcano.sh/jdb-max-unavailable", "1"},
                              {"gangway.io/movable", "true"},
                              {"gangway.io/expected-runtime", "2h"},
                              {"other", "x"}};
  job.metadata.labels = {{"volcano.sh/cooldown-time", "10s"}};
  job.spec.tasks[0].pod_template.json =
      R"({"metadata":{"labels":{"a":"b","volcano.sh/job-name":"lie"},"annotations":{"c":"d"},"finalizers":["f"],"name":"n"},)"
      R"("spec":{"containers":[{"name":"c","env":[{"name":"TOPOLOGY","value":""},{"name":"X"}],"unknownField":1.50}]}})";
  const json::value pod = Build(job);
  EXPECT_EQ(Text(pod, {"metadata", "labels", "a"}), "b");
  EXPECT_EQ(Text(pod, {"metadata", "labels", "volcano.sh/job-name"}), "j");
  EXPECT_EQ(Text(pod, {"metadata", "labels", "volcano.sh/cooldown-time"}), "10s");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "c"}), "d");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/preemptable"}), "true");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "gangway.io/movable"}), "true");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "gangway.io/expected-runtime"}), "2h");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/jdb-max-unavailable"}), "1");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/numa-topology-policy"}), "restricted");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "other"}), "(absent)");
  EXPECT_EQ(Text(pod, {"metadata", "finalizers"}), "(absent)");
  EXPECT_EQ(Text(pod.at("spec").at("containers").at(0), {"env"}), R"([{"name":"TOPOLOGY","value":""},{"name":"X"}])");
}

// Spec 4.2: of the two disruption budgets the minimum goes first.
TEST(PodTest, OneDisruptionBudgetIsCopied) {
  Job job = MakeJob("j", "t");
  job.metadata.annotations = {{"volcano.sh/jdb-min-available", "2"},
                              {"volcano.sh/jdb-max-unavailable", "1"},
                              {"volcano.sh/revocable-zone", "*"}};
  const json::value pod = Build(job);
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/jdb-min-available"}), "2");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/jdb-max-unavailable"}), "(absent)");
  EXPECT_EQ(Text(pod, {"metadata", "annotations", "volcano.sh/revocable-zone"}), "*");
}

TEST(PodTest, WhatLooksLikeOurMarksStaysAsItIs) {
  Job job = MakeJob("j", "t");
  job.spec.tasks[0].pod_template.json =
      R"({"spec":{"containers":[{"name":"c","args":["@index-0@","@partition-0@"]}]}})";
  const json::value pod = Build(job, 7);
  EXPECT_EQ(Text(pod.at("spec").at("containers").at(0), {"args"}), R"(["@index-0@","@partition-0@"])");
  EXPECT_EQ(Text(pod, {"metadata", "name"}), "j-t-7");
}

TEST(PodTest, ATemplateWithoutAPodIsAnError) {
  Job job = MakeJob("j", "t");
  for (const char* text : {"{}", "[]", R"({"spec":[]})", ""}) {
    job.spec.tasks[0].pod_template.json = text;
    EXPECT_THAT(PodDocument::Make(job, job.spec.tasks[0], {}, {}).status(),
                testutil::StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("task t")));
  }
}

TEST(PluginPodTest, EnvAndSvcInFixedOrder) {
  Job job = MakeJob("plug", "ps");
  job.spec.tasks.emplace_back(job.spec.tasks[0]).name = "my-worker";
  job.spec.plugins = {{"svc", {}}, {"env", {}}};
  const json::value pod = Build(job, 3);
  std::vector<std::string> names;
  for (const char* list : {"containers", "initContainers"}) {
    const json::value& container = pod.at("spec").at(list).at(0);
    names.clear();
    for (const json::value& env : container.at("env").as_array())
      names.push_back(std::string(env.at("name").as_string()));
    EXPECT_THAT(names, ElementsAre("VK_TASK_INDEX", "VC_TASK_INDEX", "VC_PS_HOSTS", "VC_PS_NUM", "VC_MY_WORKER_HOSTS",
                                   "VC_MY_WORKER_NUM"));
    EXPECT_EQ(Text(container, {"volumeMounts"}), R"([{"mountPath":"/etc/volcano","name":"plug-svc"}])");
  }
  const json::value& env = pod.at("spec").at("containers").at(0).at("env");
  EXPECT_EQ(Text(env.at(0), {"value"}), "3");
  EXPECT_EQ(Text(env.at(2), {"valueFrom"}), R"({"configMapKeyRef":{"key":"VC_PS_HOSTS","name":"plug-svc"}})");
  EXPECT_EQ(Text(pod, {"spec", "hostname"}), "plug-ps-3");
  EXPECT_EQ(Text(pod, {"spec", "subdomain"}), "plug");
  EXPECT_EQ(Text(pod, {"spec", "volumes"}), R"([{"name":"plug-svc","configMap":{"name":"plug-svc"}}])");
}

TEST(PluginPodTest, SvcLeavesTheTemplatesNamesAndMayInjectNothing) {
  Job job = MakeJob("plug", "ps");
  job.spec.tasks[0].replicas = 3;
  job.spec.tasks[0].pod_template.json = R"({"spec":{"hostname":"h","subdomain":"d","containers":[{"name":"c"}]}})";
  job.spec.plugins = {{"svc", {"--inject-hosts-env=false"}}};
  const json::value pod = Build(job);
  EXPECT_EQ(Text(pod, {"spec", "hostname"}), "h");
  EXPECT_EQ(Text(pod, {"spec", "subdomain"}), "d");
  EXPECT_EQ(Text(pod.at("spec").at("containers").at(0), {"env"}), "(absent)");
  EXPECT_EQ(HostLists(job).at("VC_PS_HOSTS"), "h.d") << "one address for all";
}

TEST(SvcTest, HostLists) {
  Job job = MakeJob("plug", "ps");
  job.spec.tasks[0].replicas = 2;
  EXPECT_EQ(HostLists(job), (std::map<std::string, std::string>{{"VC_PS_HOSTS", "plug-ps-0.plug,plug-ps-1.plug"},
                                                                {"VC_PS_NUM", "2"},
                                                                {"ps.host", "plug-ps-0.plug\nplug-ps-1.plug"}}));
  job.spec.tasks[0].replicas = 0;
  EXPECT_EQ(HostLists(job).at("VC_PS_NUM"), "0");
}

TEST(SvcTest, Objects) {
  Job job = MakeJob("plug", "ps");
  job.spec.plugins = {{"svc", {"--publish-not-ready-addresses"}}};
  const auto effects = EffectsOfPlugins(job);
  GW_ASSERT_OK(effects);
  ASSERT_EQ(effects->objects.size(), 3u);
  const json::value map = *api::ParseJson(effects->objects[0].body),
                    service = *api::ParseJson(effects->objects[1].body),
                    policy = *api::ParseJson(effects->objects[2].body);
  EXPECT_EQ(Text(map, {"metadata", "name"}), "plug-svc");
  EXPECT_EQ(
      Text(map, {"metadata", "ownerReferences"}),
      R"([{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"plug","uid":"uid-1","controller":true,"blockOwnerDeletion":true}])");
  EXPECT_EQ(Text(map, {"data", "VC_PS_NUM"}), "1");
  const std::string labels = R"({"volcano.sh/job-name":"plug","volcano.sh/job-namespace":"default"})";
  EXPECT_EQ(Text(service, {"spec"}),
            absl::StrCat(R"({"clusterIP":"None","publishNotReadyAddresses":true,"selector":)", labels, "}"));
  EXPECT_EQ(Text(policy, {"spec"}), absl::StrCat(R"({"podSelector":{"matchLabels":)", labels,
                                                 R"(},"ingress":[{"from":[{"podSelector":{"matchLabels":)", labels,
                                                 R"(}}]}],"policyTypes":["Ingress"]})"));
}

TEST(SvcTest, FlagsAsGoReadsThem) {
  EXPECT_FALSE(ParseSvcFlags({}).publish_not_ready_addresses);
  EXPECT_TRUE(ParseSvcFlags({}).inject_hosts_env);
  EXPECT_TRUE(ParseSvcFlags({"-publish-not-ready-addresses"}).publish_not_ready_addresses);
  EXPECT_TRUE(ParseSvcFlags({"--disable-network-policy=T"}).disable_network_policy);
  EXPECT_FALSE(ParseSvcFlags({"--inject-hosts-env=0"}).inject_hosts_env);
  const SvcFlags broken =
      ParseSvcFlags({"--disable-network-policy=true", "--nonsense", "--publish-not-ready-addresses"});
  EXPECT_TRUE(broken.disable_network_policy);
  EXPECT_FALSE(broken.publish_not_ready_addresses) << "what comes after a bad flag is not read";
}

TEST(PluginTest, Y23AnUnknownOneIsAnError) {
  Job job = MakeJob("j", "t");
  job.spec.plugins = {{"new", {}}};
  EXPECT_THAT(EffectsOfPlugins(job).status(),
              testutil::StatusIs(absl::StatusCode::kNotFound, "failed to get plugin new"));
}

// The pods that Volcano made of the seed job, without what the API server, the scheduler and the kubelet add.
std::string ReadGolden(const std::string& name) {
  std::ifstream in(absl::StrCat(GW_SOURCE_DIR, "/tests/golden/volcano/", name));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
TEST(GoldenPodTest, SeedJob) {
  const std::string text = ReadGolden("seed-ctr-volcano/03-running.json");
  ASSERT_FALSE(text.empty());
  const json::value golden = *api::ParseJson(text);
  const Job job = *api::Decode<Job>(api::ToJson(golden.at("Job").at(0)));
  int compared = 0;
  for (const api::volcano::TaskSpec& task : job.spec.tasks) {
    const auto document = PodDocument::Make(job, task, {}, {});
    GW_ASSERT_OK(document);
    for (int i = 0; i < task.replicas; ++i) {
      const json::value ours = *api::ParseJson(document->ForIndex(i));
      for (const json::value& theirs : golden.at("Pod").as_array()) {
        if (Text(theirs, {"metadata", "name"}) != Text(ours, {"metadata", "name"})) continue;
        ++compared;
        for (const char* key : {"labels", "annotations", "namespace"})
          EXPECT_EQ(ours.at("metadata").at(key), theirs.at("metadata").at(key));
        EXPECT_EQ(ours.at("metadata").at("ownerReferences"), theirs.at("metadata").at("ownerReferences"));
        for (const auto& [key, value] : ours.at("spec").as_object()) {
          if (key == "containers") continue;
          EXPECT_EQ(value, theirs.at("spec").at(key)) << std::string(key);
        }
        const json::object& container = ours.at("spec").at("containers").at(0).as_object();
        for (const auto& [key, value] : container)
          EXPECT_EQ(value, theirs.at("spec").at("containers").at(0).at(key)) << std::string(key);
      }
    }
  }
  EXPECT_EQ(compared, 4);
}

}  // namespace
}  // namespace gangway::lifecycle
