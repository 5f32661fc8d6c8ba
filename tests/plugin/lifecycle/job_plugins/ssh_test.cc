// The job plugin ssh: row L11 of tests/spec/volcano-job.rows, and the recordings
// plugins-env-svc-ssh and plugins-svc-defaults, which show the length of what is in the Secrets.
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"
#include "tests/plugin/lifecycle/job/world.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::volcano::Job;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::JobText;
using testutil::World;

const SshKeyPair kMade = {"made private\n", "made public\n"};

Job MakeJob(const std::string& name, const std::vector<std::pair<std::string, int>>& tasks,
            std::vector<std::string> flags) {
  Job job;
  job.metadata.name = name;
  job.metadata.ns = "default";
  job.metadata.uid = "uid-1";
  for (const auto& [task, replicas] : tasks) {
    job.spec.tasks.emplace_back().name = task;
    job.spec.tasks.back().replicas = replicas;
    job.spec.tasks.back().pod_template.json =
        R"({"spec":{"containers":[{"name":"c"}],"initContainers":[{"name":"i"}]}})";
  }
  job.spec.plugins = {{"ssh", std::move(flags)}};
  return job;
}
PluginEffects Effects(const Job& job, const SshKeyPair* key = &kMade) {
  auto effects = EffectsOfPlugins(job, key);
  GW_EXPECT_OK(effects);
  return *std::move(effects);
}
// What a container finds in its file.
std::string FileIn(const WantedObject& secret, const char* name) {
  std::string out;
  EXPECT_TRUE(
      absl::Base64Unescape(json::value_to<std::string>(api::ParseJson(secret.body)->at("data").at(name)), &out));
  return out;
}

TEST(SshPluginTest, L11Flags) {
  const auto path_and_port = [](std::vector<std::string> flags) {
    const Job job = MakeJob("j", {{"t", 1}}, std::move(flags));
    const PluginEffects effects = Effects(job);
    const json::value pod = *api::ParseJson(PodDocument::Make(job, job.spec.tasks[0], effects, {})->ForIndex(0));
    const std::string config = FileIn(effects.objects.at(0), "config");
    return absl::StrCat(
        json::value_to<std::string>(pod.at("spec").at("containers").at(0).at("volumeMounts").at(0).at("mountPath")),
        " ", config.substr(config.find("Port ") + 5));
  };
  EXPECT_EQ(path_and_port({}), "/root/.ssh 22\n");
  EXPECT_EQ(path_and_port({"--ssh-key-file-path=/a/b"}), "/a/b 22\n");
  EXPECT_EQ(path_and_port({"--ssh-port=2026"}), "/root/.ssh 2026\n");
  EXPECT_EQ(path_and_port({"--ssh-port=-10"}), "/root/.ssh 22\n");
  EXPECT_EQ(path_and_port({"--ssh-port=0"}), "/root/.ssh 22\n");
  EXPECT_EQ(path_and_port({"--ssh-port=1"}), "/root/.ssh 1\n");
  EXPECT_EQ(path_and_port({"--ssh-port=65535"}), "/root/.ssh 65535\n");
  EXPECT_EQ(path_and_port({"--ssh-port=65536"}), "/root/.ssh 22\n");
}

TEST(SshPluginTest, TheSecretHoldsTheKeysAndEveryHost) {
  const Job job = MakeJob("plug", {{"ps", 2}, {"worker", 3}}, {});
  const WantedObject secret = Effects(job).objects.at(0);
  EXPECT_EQ(secret.name, "plug-ssh");
  EXPECT_EQ(FileIn(secret, "id_rsa"), kMade.private_key);
  EXPECT_EQ(FileIn(secret, "id_rsa.pub"), kMade.public_key);
  EXPECT_EQ(FileIn(secret, "authorized_keys"), kMade.public_key);
  EXPECT_THAT(FileIn(secret, "config"),
              ::testing::StartsWith("StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
                                    "Host plug-ps-0\n  HostName plug-ps-0.plug\n  Port 22\nHost plug-ps-1\n"));
  const json::value body = *api::ParseJson(secret.body);
  EXPECT_EQ(body.at("metadata").at("annotations").at(kSshConfigKey).as_string(), secret.revision);
  EXPECT_EQ(body.at("metadata").at("ownerReferences").at(0).at("uid").as_string(), "uid-1");
  // Recorded: 444 bytes in base64 for this Job, 296 for the one with mpi.
  EXPECT_EQ(absl::Base64Escape(FileIn(secret, "config")).size(), 444u);
  EXPECT_EQ(
      absl::Base64Escape(FileIn(Effects(MakeJob("mpi", {{"master", 1}, {"worker", 2}}, {})).objects.at(0), "config"))
          .size(),
      296u);
}

TEST(SshPluginTest, GivenKeysAreUsedAsTheyAre) {
  const Job job = MakeJob("j", {{"t", 1}}, {"--ssh-private-key=mine\n", "--ssh-public-key", "my public"});
  EXPECT_FALSE(WantsSshKey(job));
  const PluginEffects effects = Effects(job, nullptr);
  EXPECT_EQ(FileIn(effects.objects.at(0), "id_rsa"), "mine\n");
  EXPECT_EQ(FileIn(effects.objects.at(0), "authorized_keys"), "my public");
  EXPECT_THAT(effects.complaints, IsEmpty());
  EXPECT_THAT(Effects(MakeJob("j", {{"t", 1}}, {"--ssh-private-key=mine"})).complaints,
              ElementsAre(HasSubstr("without --ssh-public-key")));
  EXPECT_THAT(Effects(MakeJob("j", {{"t", 1}}, {"--ssh-public-key=mine"})).complaints,
              ElementsAre(HasSubstr("a pair of keys is made instead")));
}

TEST(SshPluginTest, WithoutAKeyThereIsNothingToMakeYet) {
  const Job job = MakeJob("j", {{"t", 1}}, {});
  EXPECT_TRUE(WantsSshKey(job));
  EXPECT_EQ(Effects(job, nullptr).objects.at(0).body, "");
  EXPECT_EQ(Effects(job, nullptr).objects.at(0).revision, Effects(job).objects.at(0).revision);
}

TEST(SshPluginTest, MountedInEveryContainerAsRecorded) {
  Job job = MakeJob("plug", {{"ps", 2}}, {});
  job.spec.plugins["svc"];
  job.spec.plugins["env"];
  const json::value pod = *api::ParseJson(PodDocument::Make(job, job.spec.tasks[0], Effects(job), {})->ForIndex(1));
  for (const char* const list : {"containers", "initContainers"}) {
    EXPECT_EQ(
        api::ToJson(pod.at("spec").at(list).at(0).at("volumeMounts")),
        R"([{"mountPath":"/root/.ssh","name":"plug-ssh","subPath":".ssh"},{"mountPath":"/etc/volcano","name":"plug-svc"}])");
  }
  EXPECT_EQ(api::ToJson(pod.at("spec").at("volumes").at(0)),
            R"({"name":"plug-ssh","secret":{"secretName":"plug-ssh","items":[{"key":"id_rsa","path":".ssh/id_rsa"},)"
            R"({"key":"id_rsa.pub","path":".ssh/id_rsa.pub"},{"key":"authorized_keys","path":".ssh/authorized_keys"},)"
            R"({"key":"config","path":".ssh/config"}],"defaultMode":384}})");
  const Job elsewhere = MakeJob("plug", {{"ps", 1}}, {"--ssh-key-file-path=/keys"});
  const json::value other =
      *api::ParseJson(PodDocument::Make(elsewhere, elsewhere.spec.tasks[0], Effects(elsewhere), {})->ForIndex(0));
  EXPECT_EQ(other.at("spec").at("volumes").at(0).at("secret").at("defaultMode").as_int64(), 0644);
}

TEST(SshPluginTest, WhatIsSaidAboutAFlagShowsNoKey) {
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--ssh-privat-key=-----BEGIN RSA KEY"},
                                             {"--ssh-port=KEY"},
                                             {"--ssh-port", "KEY"},
                                             {"-----BEGIN RSA KEY"},
                                             {"-KEY"}}) {
    const std::vector<std::string> complaints = Effects(MakeJob("j", {{"t", 1}}, flags)).complaints;
    ASSERT_EQ(complaints.size(), 1u);
    EXPECT_THAT(complaints[0], Not(HasSubstr("KEY")));
    EXPECT_THAT(complaints[0], HasSubstr("the flags are --ssh-key-file-path"));
  }
}

// --- A Job's life with it.

const char kPlugins[] = R"("plugins":{"ssh":[],"svc":[]},"policies":[{"event":"PodFailed","action":"RestartJob"}])";

TEST(SshPluginTest, KeysStayThroughARestartAndGoWithTheEnd) {
  World world(JobText("plug", 2, {{"ps", 1}, {"worker", 1}}, kPlugins));
  ASSERT_TRUE(world.Start());
  const json::value keys = world.Object("secrets", "plug-ssh").at("data");
  EXPECT_EQ(world.job().status.controlled_resources.at("plugin-ssh"), "ssh");
  world.SetPod("plug-ps-0", "Failed", 1);
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.Object("secrets", "plug-ssh").at("data"), keys);
  EXPECT_THAT(world.writes(), Not(Contains("patch secrets plug-ssh")));
  world.Command("end", "CompleteJob");
  ASSERT_TRUE(world.Settle());
  EXPECT_FALSE(world.Exists("secrets", "plug-ssh"));
  EXPECT_FALSE(world.job().status.controlled_resources.contains("plugin-ssh"));
}

TEST(SshPluginTest, OnlyTheHostsAreWrittenAnewWhenTheScaleChanges) {
  World world(JobText("plug", 1, {{"w", 1}}, kPlugins));
  ASSERT_TRUE(world.Start());
  const json::value before = world.Object("secrets", "plug-ssh").at("data");
  api::volcano::Job job = world.job();
  job.spec.tasks[0].replicas = 2;
  world.PatchJob(absl::StrCat(R"({"spec":{"tasks":[)", api::Encode(job.spec.tasks[0]), "]}}"));
  ASSERT_TRUE(world.Settle());
  const json::value after = world.Object("secrets", "plug-ssh").at("data");
  EXPECT_EQ(after.at("id_rsa"), before.at("id_rsa"));
  std::string config;
  ASSERT_TRUE(absl::Base64Unescape(json::value_to<std::string>(after.at("config")), &config));
  EXPECT_THAT(config, HasSubstr("Host plug-w-1\n"));
}

TEST(SshPluginTest, TheGangWaitsForTheSecret) {
  World world(JobText("plug", 1, {{"w", 1}}, kPlugins));
  world.has_ssh_key = false;
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.Exists("services", "plug"));
  EXPECT_THAT(world.Names("secrets"), IsEmpty());
  EXPECT_THAT(world.Names("podgroups"), IsEmpty());
  world.has_ssh_key = true;
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
}

}  // namespace
}  // namespace gangway::lifecycle
