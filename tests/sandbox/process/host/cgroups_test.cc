// Trees of files as both versions of control groups show them. The kernel puts the files of a group into its folder;
// here a test does, so a group that it did not prepare takes no settings. What the real ones do process_sandbox_test
// shows.
#include "sandbox/process/host/cgroups.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CgroupsTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& below) const { return absl::StrCat(temporary_.path(), "/", below); }
  void Have(const std::vector<std::string>& files, const std::string& text = "") {
    for (const std::string& file : files) {
      fs::create_directories(fs::path(Path(file)).parent_path());
      testutil::WriteFile(Path(file), text);
    }
  }
  std::string Text(const std::string& file) const { return testutil::ReadFile(Path(file)); }
  // Version 2, with what a run of a prepared group has.
  void HaveUnified(const std::string& group) {
    Have({"cgroup.controllers", "cgroup.procs", group + "/cgroup.subtree_control", group + "/uid_main/memory.max",
          group + "/uid_main/memory.swap.max", group + "/uid_main/memory.oom.group", group + "/uid_main/cpu.max"});
  }
  void WeAreIn(const std::string& group) { Have({"own"}, absl::StrCat("0::", group, "\n")); }

  const testutil::TemporaryFolder temporary_{"cgroups"};
  const CgroupPlace place_{temporary_.path(), temporary_.path() + "/own"};
  static constexpr std::int64_t kMemory = 64 << 20;
};

TEST_F(CgroupsTest, OfVersionTwoAreAtTheRoot) {
  HaveUnified("box");
  Cgroups groups("box", place_);
  EXPECT_EQ(groups.missing(), "");
  EXPECT_EQ(Text("box/cgroup.subtree_control"), "+memory +cpu");
  EXPECT_THAT(groups.Make("uid/main", kMemory, 200), ElementsAre(Path("box/uid_main/cgroup.procs")));
  EXPECT_EQ(Text("box/uid_main/memory.max"), "67108864");
  EXPECT_EQ(Text("box/uid_main/memory.swap.max"), "0");
  EXPECT_EQ(Text("box/uid_main/memory.oom.group"), "1");
  EXPECT_EQ(Text("box/uid_main/cpu.max"), "20000 100000");
}

TEST_F(CgroupsTest, OfVersionTwoTellWhoWasKilled) {
  HaveUnified("box");
  Cgroups groups("box", place_);
  groups.Make("uid/main", kMemory, 0);
  Have({"box/uid_main/memory.events"}, "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\noom_group_kill 0\n");
  EXPECT_FALSE(groups.Remove("uid/main"));
  Have({"box/uid_main/memory.events"}, "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 1\n");
  EXPECT_TRUE(groups.Remove("uid/main"));
}

TEST_F(CgroupsTest, WithoutALimitThereIsNoGroup) {
  HaveUnified("box");
  Cgroups groups("box", place_);
  EXPECT_THAT(groups.Make("uid/other", 0, 0), IsEmpty());
  EXPECT_FALSE(fs::exists(Path("box/uid_other")));
}

// The root is not ours: what a login of systemd may do is further down, beside the group that we are in.
TEST_F(CgroupsTest, OfVersionTwoAreWhereAUserMay) {
  HaveUnified("user.slice/user@1000.service/app.slice/box");
  Have({"user.slice/user@1000.service/app.slice/cgroup.procs"});
  WeAreIn("/user.slice/user@1000.service/app.slice/run-1.scope");
  Cgroups groups("box", place_);
  EXPECT_EQ(groups.missing(), "");
  EXPECT_THAT(groups.Make("uid/main", kMemory, 0),
              ElementsAre(Path("user.slice/user@1000.service/app.slice/box/uid_main/cgroup.procs")));
  EXPECT_FALSE(fs::exists(Path("box"))) << "nothing stays where it was tried in vain";
}

TEST_F(CgroupsTest, OfVersionTwoAreFurtherUpWhereTheNextGivesNothing) {
  HaveUnified("user.slice/user@1000.service/box");
  Have({"user.slice/user@1000.service/cgroup.procs", "user.slice/user@1000.service/app.slice/cgroup.procs"});
  WeAreIn("/user.slice/user@1000.service/app.slice/run-1.scope");
  Cgroups groups("box", place_);
  EXPECT_THAT(groups.Make("uid/main", 0, 500),
              ElementsAre(Path("user.slice/user@1000.service/box/uid_main/cgroup.procs")));
  EXPECT_EQ(Text("user.slice/user@1000.service/box/uid_main/cpu.max"), "50000 100000");
  EXPECT_FALSE(fs::exists(Path("user.slice/user@1000.service/app.slice/box")));
}

// A group may be made, and no process may be brought there.
TEST_F(CgroupsTest, OfVersionTwoAreNotWhereNoProcessMayBeMoved) {
  HaveUnified("box");
  fs::remove(Path("cgroup.procs"));
  EXPECT_EQ(Cgroups("box", place_).missing(),
            absl::StrCat("Limits of memory and CPU are not kept: no control group can be made below ",
                         temporary_.path(), "."));
}

TEST_F(CgroupsTest, OfVersionOneAreTwo) {
  Have({"memory/box/uid_main/memory.limit_in_bytes", "cpu/box/uid_main/cpu.cfs_period_us",
        "cpu/box/uid_main/cpu.cfs_quota_us"});
  Cgroups groups("box", place_);
  EXPECT_EQ(groups.missing(), "");
  EXPECT_THAT(groups.Make("uid/main", kMemory, 200),
              ElementsAre(Path("memory/box/uid_main/cgroup.procs"), Path("cpu/box/uid_main/cgroup.procs")));
  EXPECT_EQ(Text("memory/box/uid_main/memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(Text("cpu/box/uid_main/cpu.cfs_period_us"), "100000");
  EXPECT_EQ(Text("cpu/box/uid_main/cpu.cfs_quota_us"), "20000");
  Have({"memory/box/uid_main/memory.oom_control"}, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_TRUE(groups.Remove("uid/main"));
}

TEST_F(CgroupsTest, OneThatCannotBeHadIsSaid) {
  fs::create_directories(Path("memory"));
  EXPECT_EQ(Cgroups("box", place_).missing(),
            absl::StrCat("Limits of CPU are not kept: no control group can be made below ", temporary_.path(), "."));
  EXPECT_THAT(Cgroups("box", place_).Make("uid/main", 0, 200), IsEmpty());
}

TEST_F(CgroupsTest, ARunThatEndsTakesItsGroupAlong) {
  fs::create_directories(Path("memory"));
  fs::create_directories(Path("cpu"));
  Cgroups groups("box", place_);
  groups.Make("uid/main", kMemory, 200);
  ASSERT_TRUE(fs::exists(Path("memory/box/uid_main")) && fs::exists(Path("cpu/box/uid_main")));
  groups.Remove("uid/main");
  EXPECT_FALSE(fs::exists(Path("memory/box/uid_main")) || fs::exists(Path("cpu/box/uid_main")));
}

// What has processes yet cannot be removed, as here what has files.
TEST_F(CgroupsTest, TheLastToGoIsWaitedForWhereverItIs) {
  for (const std::string group : {"memory/box", "cpu/box"}) {
    fs::create_directories(Path("memory/box/uid_main"));
    fs::create_directories(Path("cpu/box/uid_main"));
    Have({group + "/uid_main/held"});
    EXPECT_FALSE(Cgroups::RemoveAll("box", place_)) << group;
    fs::remove(Path(group + "/uid_main/held"));
    EXPECT_TRUE(Cgroups::RemoveAll("box", place_)) << group;
    EXPECT_FALSE(fs::exists(Path("memory/box")) || fs::exists(Path("cpu/box")));
  }
}

TEST_F(CgroupsTest, OfAUserGoAsWell) {
  Have({"cgroup.controllers", "user.slice/app.slice/box/uid_main/held"});
  WeAreIn("/user.slice/app.slice/run-1.scope");
  EXPECT_FALSE(Cgroups::RemoveAll("box", place_));
  fs::remove(Path("user.slice/app.slice/box/uid_main/held"));
  EXPECT_TRUE(Cgroups::RemoveAll("box", place_));
  EXPECT_FALSE(fs::exists(Path("user.slice/app.slice/box")));
}

}  // namespace
}  // namespace gangway::sandbox
