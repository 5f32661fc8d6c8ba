#include "sandbox/process/pod_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

class PodFoldersTest : public ::testing::Test {
 protected:
  const testutil::TemporaryFolder temporary_{"pod-folders"};
  const PodFolders folders_{temporary_.path(), temporary_.path() + "/claims"};
};

TEST_F(PodFoldersTest, HostsAreNeverEmptyWhileTheyAreWrittenAnew) {
  const std::string first = "127.0.0.1\tlocalhost\n";
  GW_ASSERT_OK(folders_.WriteHosts("u1", first));
  std::atomic<bool> stop = false;
  std::atomic<int> reads = 0, empty = 0;
  std::thread reader([&] {
    while (!stop) {
      const bool there = absl::StartsWith(testutil::ReadFile(folders_.Hosts("u1")), first);
      ++reads;
      if (!there) ++empty;
    }
  });
  for (int i = 0; i < 2000 || reads < 1000; ++i)
    GW_EXPECT_OK(
        folders_.WriteHosts("u1", absl::StrCat(first, std::string(static_cast<std::size_t>(i % 7 * 100), 'x'), "\n")));
  stop = true;
  reader.join();
  EXPECT_EQ(empty, 0) << "of " << reads;
  GW_ASSERT_OK(folders_.WriteHosts("u1", first));
  EXPECT_EQ(testutil::ReadFile(folders_.Hosts("u1")), first) << "nothing stays of a longer one";
}

TEST_F(PodFoldersTest, AMessageThatIsNoFileHoldsNobodyUp) {
  GW_ASSERT_OK(folders_.MakeRun("u1", "c", 0));
  const std::string path = folders_.Message("u1", "c", 0);
  testutil::WriteFile(path, std::string(5000, 'm'));
  EXPECT_EQ(folders_.ReadMessage("u1", "c", 0), std::string(4096, 'm'));
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int writer =
      open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);  // without it a plain open would hang the test
  ASSERT_GE(writer, 0);
  ASSERT_EQ(write(writer, "pipe", 4), 4);
  EXPECT_EQ(folders_.ReadMessage("u1", "c", 0), "");
  close(writer);
  std::filesystem::remove(path);
  testutil::WriteFile(temporary_.path() + "/other", "of another");
  std::filesystem::create_symlink(temporary_.path() + "/other", path);
  EXPECT_EQ(folders_.ReadMessage("u1", "c", 0), "");
}

TEST_F(PodFoldersTest, AnyKeyOfAConfigMapIsAFile) {
  PodVolume volume;
  volume.name = "v";
  volume.kind = PodVolume::Kind::kFiles;
  volume.folder = folders_.Of("u1").pod + "/v";
  volume.files = {{"a.new", "1", 0644}, {"a", "2", 0400}};
  GW_ASSERT_OK(folders_.MakeVolume("u1", volume));
  EXPECT_EQ(testutil::ReadFile(volume.folder + "/a.new"), "1");
  EXPECT_EQ(testutil::ReadFile(volume.folder + "/a"), "2");
}

// Its mount would fail in the host, which has one group alone then, and say nothing of why.
TEST_F(PodFoldersTest, MemoryForAGroupIsRefusedWithoutRoot) {
  PodVolume volume;
  volume.name = "shm";
  volume.kind = PodVolume::Kind::kMemory;
  volume.folder = folders_.Of("u1").pod + "/shm";
  constexpr uid_t kNobody = 65534;
  const uid_t before = geteuid();
  ASSERT_TRUE(before != 0 || seteuid(kNobody) == 0);
  const absl::Status status = folders_.MakeVolume("u1", volume, 2000);
  ASSERT_EQ(seteuid(before), 0);
  EXPECT_EQ(status, absl::PermissionDeniedError(
                        absl::StrCat("MountVolume.SetUp failed for volume \"shm\" : fsGroup 2000: ", volume.folder,
                                     ": only a sandbox that root starts gives folders to groups")));
  GW_EXPECT_OK(folders_.MakeVolume("u1", volume)) << "for nobody in particular";
}

}  // namespace
}  // namespace gangway::sandbox
