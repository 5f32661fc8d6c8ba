#include "cmd/launch/template.h"

#include <boost/json.hpp>

#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using ::testing::HasSubstr;

Wish Simple() {
  Wish wish;
  wish.name = "train";
  wish.image = "paddle:2.6";
  wish.command = {"python", "train.py", "--lr", "0.1"};
  return wish;
}

boost::json::value PodOf(const std::optional<api::paddle::RoleSpec>& role) {
  const absl::StatusOr<boost::json::value> pod = api::ParseJson(role->pod_template.json);
  return pod.ok() ? *pod : boost::json::value();
}

TEST(LaunchTemplateTest, GpusAreOfWorkersAndTheRestIsOfEveryPod) {
  Wish wish = Simple();
  wish.workers = 4;
  wish.servers = 2;
  wish.gpus = 8;
  wish.cpu = "4";
  wish.env = {"FLAGS_v=1", "EMPTY=", "TWO=a=b"};
  wish.claims = {"corpus:/data", "corpus:/again"};
  wish.shared_memory = "8Gi";
  wish.queue = "ads";
  const absl::StatusOr<api::paddle::PaddleJob> job = JobOf(wish);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->spec.worker->replicas, 4);
  EXPECT_EQ(job->spec.ps->replicas, 2);
  EXPECT_EQ(job->spec.scheduling_policy->queue, "ads");
  const boost::json::value worker = boost::json::parse(R"({"spec":{"containers":[{
    "name":"paddle","image":"paddle:2.6","command":["python","train.py","--lr","0.1"],
    "env":[{"name":"FLAGS_v","value":"1"},{"name":"EMPTY","value":""},{"name":"TWO","value":"a=b"}],
    "resources":{"limits":{"cpu":"4","nvidia.com/gpu":"8"},"requests":{"cpu":"4","nvidia.com/gpu":"8"}},
    "volumeMounts":[{"name":"corpus","mountPath":"/data"},{"name":"corpus","mountPath":"/again"},
                    {"name":"shm","mountPath":"/dev/shm"}]}],
    "volumes":[{"name":"corpus","persistentVolumeClaim":{"claimName":"corpus"}},
               {"name":"shm","emptyDir":{"medium":"Memory","sizeLimit":"8Gi"}}]}})");
  EXPECT_EQ(PodOf(job->spec.worker), worker);
  const boost::json::value server = PodOf(job->spec.ps);
  EXPECT_EQ(server.at_pointer("/spec/containers/0/resources/limits"), boost::json::parse(R"({"cpu":"4"})"));
}

TEST(LaunchTemplateTest, NothingIsSaidThatNobodyAskedFor) {
  const absl::StatusOr<api::paddle::PaddleJob> job = JobOf(Simple());
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE(job->spec.ps.has_value());
  EXPECT_FALSE(job->spec.scheduling_policy.has_value());
  EXPECT_EQ(PodOf(job->spec.worker), boost::json::parse(R"({"spec":{"containers":[{"name":"paddle",
    "image":"paddle:2.6","command":["python","train.py","--lr","0.1"]}]}})"));
}

TEST(LaunchTemplateTest, WhatCannotBeMeantNamesItsFlag) {
  const auto refused = [](void (*spoil)(Wish&)) {
    Wish wish = Simple();
    spoil(wish);
    return std::string(JobOf(wish).status().message());
  };
  EXPECT_THAT(refused([](Wish& w) { w.command.clear(); }), HasSubstr("write it after --"));
  EXPECT_THAT(refused([](Wish& w) { w.workers = 0; }), HasSubstr("--workers 0"));
  EXPECT_THAT(refused([](Wish& w) { w.workers = 1LL << 40; }), HasSubstr("--workers 1099511627776"));
  EXPECT_THAT(refused([](Wish& w) { w.servers = -1; }), HasSubstr("--ps -1"));
  EXPECT_THAT(refused([](Wish& w) { w.gpus = -8; }), HasSubstr("--gpus -8"));
  EXPECT_THAT(refused([](Wish& w) { w.memory = "16GB"; }), HasSubstr("--memory 16GB: write a quantity"));
  EXPECT_THAT(refused([](Wish& w) { w.cpu = "0"; }), HasSubstr("--cpu 0"));
  EXPECT_THAT(refused([](Wish& w) { w.shared_memory = "-1Gi"; }), HasSubstr("--shm -1Gi"));
  EXPECT_THAT(refused([](Wish& w) { w.env = {"NAME"}; }), HasSubstr("--env NAME: write NAME=VALUE"));
  EXPECT_THAT(refused([](Wish& w) { w.env = {"A=1", "A=2"}; }), HasSubstr("--env A: is given twice"));
  EXPECT_THAT(refused([](Wish& w) { w.claims = {"data"}; }), HasSubstr("--volume-claim data"));
}

TEST(LaunchTemplateTest, AJobIsCalledAfterItsScript) {
  EXPECT_EQ(NameOfCommand({"python", "-u", "/code/Train_CTR.py", "--out", "x.sh"}, "x7k2p"), "train-ctr-x7k2p");
  EXPECT_EQ(NameOfCommand({"/usr/bin/trainer"}, "x7k2p"), "trainer-x7k2p");
  EXPECT_EQ(NameOfCommand({"2048.py"}, "x7k2p"), "job-2048-x7k2p") << "a Service's name begins with a letter";
  EXPECT_EQ(NameOfCommand({"..."}, "x7k2p"), "job-x7k2p");
  EXPECT_LE(NameOfCommand({std::string(200, 'a')}, "x7k2p").size(), 46u);
}

}  // namespace
}  // namespace gangway::cmd
