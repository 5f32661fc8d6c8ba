// Which tasks play which role: the flags --server, --worker and --heter of the job plugin paddle.
#include "api/paddle/job_roles.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api::paddle {
namespace {

using ::testing::HasSubstr;

std::string Roles(const RoleFlags& flags, const std::vector<std::string>& tasks) {
  const auto roles = FindRoles(flags, tasks);
  return roles.ok() ? roles->server + "/" + roles->worker + "/" + roles->heter : std::string(roles.status().message());
}

TEST(FindRolesTest, NamedOnesAndTheUsualNames) {
  EXPECT_EQ(Roles({}, {"ps", "worker"}), "ps/worker/");
  EXPECT_EQ(Roles({}, {"worker", "evaluator"}), "/worker/");
  EXPECT_EQ(Roles({}, {"ps", "worker", "heter"}), "ps/worker/heter");
  EXPECT_EQ(Roles({}, {"ps"}), "ps//") << "servers alone end when they end";
  EXPECT_EQ(Roles({.server = "pserver", .worker = "trainer", .heter = std::nullopt}, {"pserver", "trainer"}),
            "pserver/trainer/");
  EXPECT_EQ(Roles({.server = std::nullopt, .worker = "ps", .heter = std::nullopt}, {"ps", "worker"}),
            "task ps cannot be both --server and --worker");
}

TEST(FindRolesTest, WhatIsWrongIsSaidWithTheTasksThereAre) {
  EXPECT_EQ(Roles({.server = "pserver", .worker = "trainer", .heter = std::nullopt}, {"server", "trainer"}),
            "--server=pserver: there is no such task; the tasks are server, trainer");
  EXPECT_THAT(
      Roles({}, {"a", "b"}),
      HasSubstr(
          "no task is a server or a worker; name them with --server=<task> and --worker=<task>; the tasks are a, b"));
  EXPECT_THAT(Roles({}, {}), HasSubstr("there is no task at all"));
  EXPECT_THAT(Roles({}, {"worker", "heter"}),
              HasSubstr("task heter, the heter trainers, needs servers and workers beside it"));
}

TEST(CheckPortTest, WithWhatIsCountedFromIt) {
  EXPECT_TRUE(CheckPort(1, 0).ok());
  EXPECT_TRUE(CheckPort(65535, 0).ok());
  EXPECT_EQ(CheckPort(0, 0).message(), "--port=0: must be from 1 to 65535");
  EXPECT_EQ(CheckPort(65520, 18).message(), "--port=65520: must be from 1 to 65517");
}

}  // namespace
}  // namespace gangway::api::paddle
