// The embedded cluster with processes for containers, on this machine: what they see, how they end, and that nothing is
// left behind. A user's commands alone, through `gangway sandbox --run=process`.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/sandbox/process/process_cluster.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::Eventually;

// The names of sandboxes that have TMPDIR there; other sandboxes of this machine are no business of a test.
std::set<std::string> SandboxesIn(const std::string& folder) {
  std::set<std::string> out;
  std::error_code error;
  for (const auto& each : fs::directory_iterator(folder, error))
    if (absl::StartsWith(each.path().filename().string(), "gangway-process-")) out.insert(each.path().filename());
  return out;
}

// The namespaces of a process, "net:[4026531840]", or what of it holds some.
std::set<std::string> SpacesOf(const fs::path& process, const char* which) {
  std::set<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(process / which, error), end; !error && it != end; it.increment(error))
    out.insert(fs::read_symlink(it->path(), error));
  return out;
}

// What they could leave on the machine; `spaces`: namespaces that were theirs.
std::set<std::string> Traces(const std::set<std::string>& sandboxes, const std::string& folder,
                             const std::set<std::string>& spaces) {
  std::set<std::string> out;
  std::error_code error;
  for (const std::string& below :
       {folder, std::string("/sys/fs/cgroup"), std::string("/sys/fs/cgroup/memory"), std::string("/sys/fs/cgroup/cpu")})
    for (const std::string& name : sandboxes)
      if (fs::exists(absl::StrCat(below, "/", name), error)) out.insert(absl::StrCat(below, "/", name));
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    const std::string command = testutil::ReadFile(process.path().string() + "/cmdline");
    if (absl::StrContains(command, folder)) out.insert(command);
    for (const char* const which : {"ns", "fd"})
      for (const std::string& space : SpacesOf(process.path(), which))
        if (spaces.contains(space)) out.insert(absl::StrCat(process.path().string(), "/", which, " ", space));
  }
  return out;
}

// A machine that lacks something is no reason for that.
constexpr char kSaysNothing[] = "ended at once";

constexpr char kPython[] = "/usr/bin/python3";
#define PYTHON_OR_SKIP() \
  if (!fs::exists(kPython)) GTEST_SKIP() << kPython << " is not there"

class ProcessSandboxTest : public ProcessCluster {};

#define START_OR_SKIP(...) \
  if (!Start(__VA_ARGS__)) GTEST_SKIP() << why_

TEST_F(ProcessSandboxTest, WhatAContainerSees) {
  START_OR_SKIP();
  Make(api::PathOf(api::kConfigMaps, "default"),
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"conf"},"data":{"a":"of the map"}})");
  RunShell(
      "sees",
      "echo host $(hostname); echo pid $$$$; echo ip $IP; cat /conf/a; echo; echo x > /conf/a; echo keep > /scratch/f;"
      "cat /proc/net/dev | grep -c eth0; touch /here && ls /here; ls / | grep machine; echo out; echo err >&2;"
      "ls /proc | grep -c '^[0-9]'; echo said > /dev/termination-log; df -P /memory | tail -1 | cut -d' ' -f1; exit 3",
      R"(,"env":[{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}],"volumeMounts":[
             {"name":"conf","mountPath":"/conf"},{"name":"scratch","mountPath":"/scratch"},{"name":"memory","mountPath":"/memory"}])",
      R"(,"volumes":[{"name":"conf","configMap":{"name":"conf"}},{"name":"scratch","emptyDir":{}},{"name":"memory","emptyDir":{"medium":"Memory"}}])");
  ASSERT_EQ(End("sees"), "Failed");
  EXPECT_THAT(Log("sees"), AllOf(HasSubstr("host sees\n"), HasSubstr("pid 1\n"), HasSubstr("ip 10.1.0.1\n"),
                                 HasSubstr("of the map\n"), HasSubstr("Read-only file system"), HasSubstr("/here\n"),
                                 HasSubstr("out\nerr\n"), HasSubstr("tmpfs\n"), Not(HasSubstr("gangway-machine"))));
  EXPECT_FALSE(fs::exists("/here")) << "what it writes is its own";
  EXPECT_EQ(Terminated("sees").at("exitCode").as_int64(), 3);
  EXPECT_EQ(Terminated("sees").at("message").as_string(), "said\n");
  EXPECT_EQ(PodOf("sees").at("status").at("podIP").as_string(), "10.1.0.1");
}

TEST_F(ProcessSandboxTest, PodsReachEachOtherByName) {
  PYTHON_OR_SKIP();
  START_OR_SKIP();
  Make(
      api::PathOf(api::kServices, "default"),
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"job"},"spec":{"clusterIP":"None","publishNotReadyAddresses":true,"selector":{"app":"x"}}})");
  const std::string server =
      "import socket; s=socket.create_server(('',7000)); c,a=s.accept(); c.sendall(b'hello '+a[0].encode()); c.close()";
  const std::string client =
      "import socket,time\n"
      "for i in range(1000):\n"
      "  try:\n"
      "    print(socket.create_connection(('server.job',7000)).recv(99).decode()); break\n"
      "  except OSError: time.sleep(0.02)\n";
  const auto python = [](const std::string& code) {
    return absl::StrCat(R"(,"containers":[{"name":"main","image":"x","command":["/usr/bin/python3","-c",)",
                        api::JsonString(code), "]}]");
  };
  MakePod("client", python(client) + R"(,"hostname":"client","subdomain":"job")");
  MakePod("server", python(server) + R"(,"hostname":"server","subdomain":"job")");
  // On the same port, and never met.
  MakePod("another", python(server) + R"(,"hostname":"another","subdomain":"job")");
  EXPECT_EQ(End("client"), "Succeeded");
  EXPECT_EQ(Log("client"), "hello 10.1.0.1\n");
  EXPECT_EQ(End("server"), "Succeeded");
  EXPECT_TRUE(Becomes("another", "Running"));
}

TEST_F(ProcessSandboxTest, TheSharedNetworkHasAnAddressForEachPod) {
  START_OR_SKIP(true);
  RunShell("one", "echo $IP; cat /etc/hosts",
           R"(,"env":[{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}])");
  ASSERT_EQ(End("one"), "Succeeded");
  EXPECT_THAT(Log("one"), AllOf(HasSubstr("127.1.0.1\n"), HasSubstr("127.1.0.1\tone\n")));
}

TEST_F(ProcessSandboxTest, CommandsThatCannotBeStarted) {
  START_OR_SKIP();
  const auto command = [](const std::string& argv) {
    return absl::StrCat(R"(,"containers":[{"name":"main","image":"x")", argv, "}]");
  };
  MakePod("missing", command(R"(,"command":["no-such-program"])"));
  MakePod("path", command(R"(,"command":["/no/such"])"));
  MakePod("forbidden", command(R"(,"command":["/etc/passwd"])"));
  MakePod("none", command(""));
  const std::string program = temporary_.path() + "/of-another-machine";
  testutil::WriteFile(program, std::string("\x7f"
                                           "ELF\0\0\0\0 garbage",
                                           16));
  fs::permissions(program, fs::perms::owner_exec, fs::perm_options::add);
  MakePod("format", command(absl::StrCat(R"(,"command":["/d/of-another-machine"],"volumeMounts":[)",
                                         R"({"name":"d","mountPath":"/d"}])")) +
                        absl::StrCat(R"(,"volumes":[{"name":"d","hostPath":{"path":")", temporary_.path(), R"("}}])"));
  for (const auto& [name, message] :
       {std::pair("format", "exec: \"/d/of-another-machine\": exec format error"),
        std::pair("missing", "exec: \"no-such-program\": executable file not found in $PATH"),
        std::pair("path", "exec: \"/no/such\": stat /no/such: no such file or directory"),
        std::pair("forbidden", "exec: \"/etc/passwd\": permission denied")}) {
    ASSERT_EQ(End(name), "Failed");
    EXPECT_EQ(Terminated(name).at("reason").as_string(), "StartError");
    EXPECT_EQ(Terminated(name).at("exitCode").as_int64(), 128);
    EXPECT_THAT(json::value_to<std::string>(Terminated(name).at("message")), HasSubstr(message));
  }
  const auto waits = [&]() -> std::string { return api::ToJson(PodOf("none").at("status")); };
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(waits(), "CreateContainerError"); }));
  EXPECT_THAT(waits(), HasSubstr("no command specified: the image x is not pulled"));
}

TEST_F(ProcessSandboxTest, SignalsAreExitCodesAndAGigabyteOfLogsIsCapped) {
  START_OR_SKIP();
  RunShell("killed", "sh -c 'kill -9 $$$$'; exit $?");
  EXPECT_EQ(End("killed"), "Failed");
  EXPECT_EQ(Terminated("killed").at("exitCode").as_int64(), 137);
  RunShell("talks", "yes $(head -c 999 /dev/zero | tr '\\0' x) | head -c 1000000000; echo; echo the end");
  ASSERT_EQ(End("talks", std::chrono::seconds(240)), "Succeeded");
  const std::string log = Log("talks");
  EXPECT_LE(log.size(), WrittenLog::kMaxBytes);
  EXPECT_GT(log.size(), WrittenLog::kMaxBytes / 2);
  EXPECT_THAT(log.substr(log.size() - 10), HasSubstr("the end\n"));
}

TEST_F(ProcessSandboxTest, RestartsKeepThePreviousLog) {
  START_OR_SKIP();
  MakePod(
      "again",
      absl::StrCat(R"(,"containers":[)",
                   Shell("echo run $(cat /d/n 2>/dev/null); if [ -e /d/n ]; then sleep 1000; fi; echo 2 > /d/n; exit 1",
                         R"(,"volumeMounts":[{"name":"d","mountPath":"/d"}])"),
                   R"(],"volumes":[{"name":"d","emptyDir":{}}])"),
      "OnFailure");
  EXPECT_TRUE(Eventually([&] { return Log("again") == "run 2\n"; }));
  EXPECT_EQ(Log("again", "previous=true"), "run\n");
}

TEST_F(ProcessSandboxTest, WhoIgnoresSigtermIsKilledAfterTheGraceAndWhatDetachedGoesToo) {
  START_OR_SKIP();
  const std::string file = temporary_.path() + "/alive";
  RunShell("stubborn",
           absl::StrCat("trap '' TERM; (setsid sh -c 'while :; do date +%N > ", file,
                        "; sleep 0.01; done' &) ; echo up; while :; do sleep 1; done"),
           absl::StrCat(R"(,"volumeMounts":[{"name":"host","mountPath":")", temporary_.path(), R"("}])"),
           absl::StrCat(R"(,"volumes":[{"name":"host","hostPath":{"path":")", temporary_.path(), R"("}}])"));
  ASSERT_TRUE(Becomes("stubborn", "Running"));
  ASSERT_TRUE(Eventually([&] { return fs::exists(file); }));
  const auto begin = std::chrono::steady_clock::now();
  Ask("DELETE", api::PathOf(api::kPods, "default", "stubborn"));
  EXPECT_TRUE(Eventually([&] { return Ask("GET", api::PathOf(api::kPods, "default", "stubborn")).code == 404; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900)) << "it had its grace";
  fs::remove(file);
  const std::string last = testutil::ReadFile(file);
  RunShell("later", "true");  // takes longer than the loop of the other did
  End("later");
  EXPECT_FALSE(fs::exists(file)) << "the process that detached itself still writes";
}

TEST_F(ProcessSandboxTest, OutOfMemoryIsToldWhereLimitsAreKept) {
  PYTHON_OR_SKIP();
  START_OR_SKIP();
  if (!host_->notes().empty()) GTEST_SKIP() << host_->notes().front();
  const std::string code = "b=bytearray(300<<20)\nb[::4096]=b'x'*len(b[::4096])";
  MakePod("eats", absl::StrCat(R"(,"containers":[{"name":"main","image":"x","command":["/usr/bin/python3","-c",)",
                               api::JsonString(code), R"(],"resources":{"limits":{"memory":"64Mi"}}}])"));
  ASSERT_EQ(End("eats"), "Failed");
  EXPECT_EQ(Terminated("eats").at("reason").as_string(), "OOMKilled");
  EXPECT_EQ(Terminated("eats").at("exitCode").as_int64(), 137);
}

// Of both versions of control groups.
// Two spin until the kernel says that it held them back, which it does as soon as they had a fifth of a processor in
// one period: sooner or later on a machine where others are at work, too.
TEST_F(ProcessSandboxTest, ALimitOfCpuHoldsAProgramBack) {
  START_OR_SKIP();
  if (!host_->notes().empty()) GTEST_SKIP() << host_->notes().front();
  RunShell("spins",
           "if grep -q ':cpu:' /proc/self/cgroup; then\n"
           "  cd /sys/fs/cgroup/cpu$(sed -n 's/.*:cpu://p' /proc/self/cgroup)\n"
           "  limit=\"$(cat cpu.cfs_quota_us) $(cat cpu.cfs_period_us)\"\n"
           "else cd /sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup); limit=$(cat cpu.max); fi\n"
           "echo $limit\n"
           "[ \"$limit\" = '20000 100000' ] || exit 1\n"
           "spin() { until grep -q 'nr_throttled [1-9]' cpu.stat; do i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done; "
           "done; }\n"
           "spin & spin; wait",
           R"(,"resources":{"limits":{"cpu":"200m"}})");
  EXPECT_EQ(End("spins", std::chrono::seconds(300)), "Succeeded");
  EXPECT_EQ(Log("spins"), "20000 100000\n") << "a fifth of a processor";
}

TEST_F(ProcessSandboxTest, AFullDiskIsToldToTheProgram) {
  START_OR_SKIP();
  RunShell("fills", "head -c 5000000 /dev/zero > /memory/f; echo code $?",
           R"(,"volumeMounts":[{"name":"memory","mountPath":"/memory"}])",
           R"(,"volumes":[{"name":"memory","emptyDir":{"medium":"Memory","sizeLimit":"1Mi"}}])");
  End("fills");
  EXPECT_THAT(Log("fills"), AllOf(HasSubstr("No space left on device"), HasSubstr("code 1")));
}

TEST_F(ProcessSandboxTest, ClaimsAreFoldersThatStay) {
  START_OR_SKIP();
  Make(
      api::PathOf(api::kPersistentVolumeClaims, "default"),
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"model"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})");
  const std::string mount = R"(,"volumeMounts":[{"name":"m","mountPath":"/model","subPath":"of/it"}])";
  const std::string volume = R"(,"volumes":[{"name":"m","persistentVolumeClaim":{"claimName":"model"}}])";
  RunShell("writes", "echo trained > /model/file", mount, volume);
  ASSERT_EQ(End("writes"), "Succeeded");
  RunShell("reads", "cat /model/file", mount, volume);
  ASSERT_EQ(End("reads"), "Succeeded");
  EXPECT_EQ(Log("reads"), "trained\n");
  EXPECT_EQ(testutil::ReadFile(temporary_.path() + "/claims/default/model/of/it/file"), "trained\n");
}

// As a provisioner does, and Kubernetes sees to it that it does so only when no pod has it mounted any more.
TEST_F(ProcessSandboxTest, WhatIsOnAClaimGoesWithItUnlessItsClassRetainsIt) {
  claims_by_name_ = false;
  START_OR_SKIP();
  Make(
      api::PathOf(api::kStorageClasses, ""),
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"kept"},"provisioner":"sandbox.gangway.io/volumes","reclaimPolicy":"Retain"})");
  std::vector<std::string> folders;
  for (const std::string name : {"plain", "kept"}) {
    Make(api::PathOf(api::kPersistentVolumeClaims, "default"),
         absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")", name,
                      R"("},"spec":{)", name == "kept" ? R"("storageClassName":"kept",)" : "",
                      R"("accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})"));
    RunShell("uses-" + name, "echo trained > /m/file; while [ ! -e /m/enough ]; do sleep 0.02; done; cat /m/file",
             R"(,"volumeMounts":[{"name":"m","mountPath":"/m"}])",
             absl::StrCat(R"(,"volumes":[{"name":"m","persistentVolumeClaim":{"claimName":")", name, R"("}}])"));
    ASSERT_TRUE(Becomes("uses-" + name, "Running"));
    const json::value claim =
        *api::ParseJson(*Ask("GET", api::PathOf(api::kPersistentVolumeClaims, "default", name)).body);
    const std::string uid = json::value_to<std::string>(claim.at("metadata").at("uid"));
    folders.push_back(absl::StrCat(folder_, "/claims/default/", name, "/", uid));
    ASSERT_TRUE(Eventually([&] { return fs::exists(folders.back() + "/file"); }));
    ASSERT_TRUE(Ask("DELETE", api::PathOf(api::kPersistentVolumeClaims, "default", name)).ok());
    ASSERT_TRUE(Eventually([&] {
      const kube::Response volume = Ask("GET", api::PathOf(api::kPersistentVolumes, "", "pvc-" + uid));
      return name == "kept" ? absl::StrContains(*volume.body, "Released") : volume.code == 404;
    }));
    RunShell("later-" + name, "true");  // takes longer than what a folder is removed by
    ASSERT_EQ(End("later-" + name), "Succeeded");
    testutil::WriteFile(folders.back() + "/enough", "");
    ASSERT_EQ(End("uses-" + name), "Succeeded");
    EXPECT_EQ(Log("uses-" + name), "trained\n") << "what a pod has mounted stays";
  }
  EXPECT_TRUE(Eventually([&] { return !fs::exists(folders[0]); }));
  EXPECT_TRUE(fs::exists(folders[1] + "/file"));
}

// The sandbox's own folder on a disk of 256 KiB, which is seen by the sandbox alone.
class FullDiskTest : public ProcessCluster {
 protected:
  bool StartOnSmallDisk() {
    const std::string disk = temporary_.path(), folder = disk + "/state";
    const bool mounted = thread_.Run([&] {
      return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") == 0 && mkdir(folder.c_str(), 0755) == 0;
    });
    if (!mounted) why_ = "a disk of its own cannot be mounted here";
    const bool started = mounted && Start();
    std::filesystem::remove(folder_);  // the one that is not on that disk
    return started;
  }
  // Until nothing more goes on it.
  void Fill() {
    thread_.Run([&] {
      const int fd = open((temporary_.path() + "/ballast").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      const std::string piece(4096, 'x');
      while (write(fd, piece.data(), piece.size()) > 0) {
      }
      EXPECT_EQ(errno, ENOSPC);
      close(fd);
    });
  }
  void Empty() {
    thread_.Run([&] { unlink((temporary_.path() + "/ballast").c_str()); });
  }
  // Of the sandbox's own view, in which that disk is.
  bool NoPodsOnDisk() {
    return thread_.Run([&] { return std::filesystem::is_empty(temporary_.path() + "/state/pods"); });
  }
  std::string EventsText() { return *Ask("GET", "/api/v1/namespaces/default/events").body; }
  std::string WaitingReason(const std::string& name) {
    return json::value_to<std::string>(
        PodOf(name).at("status").at("containerStatuses").at(0).at("state").at("waiting").at("reason"));
  }
};

TEST_F(FullDiskTest, PodsWaitInAKubeletsWordsAndGoOnWhenThereIsRoom) {
  if (!StartOnSmallDisk()) GTEST_SKIP() << why_;
  Make(api::PathOf(api::kConfigMaps, "default"),
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"conf"},"data":{"a":"of the map"}})");
  RunShell("before", "true");
  ASSERT_EQ(End("before"), "Succeeded") << api::ToJson(PodOf("before").at("status"));
  ASSERT_TRUE(Ask("DELETE", api::PathOf(api::kPods, "default", "before")).ok());
  ASSERT_TRUE(Eventually([&] { return NoPodsOnDisk(); })) << "what goes later would make room";
  Fill();
  RunShell("conf", "cat /conf/a", R"(,"volumeMounts":[{"name":"conf","mountPath":"/conf"}])",
           R"(,"volumes":[{"name":"conf","configMap":{"name":"conf"}}])");
  RunShell("plain", "cat /etc/hosts");
  EXPECT_TRUE(Eventually([&] {
    const std::string events = EventsText();
    return absl::StrContains(events, "FailedMount") && absl::StrContains(events, "FailedCreatePodSandBox");
  }));
  EXPECT_THAT(EventsText(),
              AllOf(HasSubstr("MountVolume.SetUp failed for volume \\\"conf\\\" : write "),
                    HasSubstr("/conf/a: No space left on device"), HasSubstr("Failed to create pod sandbox: write "),
                    HasSubstr("/hosts: No space left on device")));
  for (const char* const name : {"conf", "plain"}) {
    EXPECT_EQ(Phase(name), "Pending");
    EXPECT_EQ(WaitingReason(name), "ContainerCreating");
  }
  Empty();
  for (const char* const name : {"conf", "plain"}) EXPECT_EQ(End(name), "Succeeded");
  EXPECT_EQ(Log("conf"), "of the map");
  EXPECT_THAT(Log("plain"), HasSubstr("\tplain\n"));
}

TEST_F(FullDiskTest, AProgramIsToldAndEndsAsItLikes) {
  if (!StartOnSmallDisk()) GTEST_SKIP() << why_;
  RunShell("fills", "head -c 1000000 /dev/zero > /of-its-own; echo code $?");
  ASSERT_EQ(End("fills"), "Succeeded");
  EXPECT_THAT(Log("fills"), AllOf(HasSubstr("No space left on device"), HasSubstr("code 1\n")));
}

TEST_F(ProcessSandboxTest, FiftyPodsAtOnce) {
  START_OR_SKIP();
  for (int i = 0; i < 50; ++i) RunShell(absl::StrCat("pod-", i), "exec sleep 1000");
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Becomes(absl::StrCat("pod-", i), "Running")) << i;
}

// A program of the machine and the libraries it needs, at the same places below `root`.
void Unpack(const std::string& program, const std::string& root) {
  std::vector<std::string> files{program};
  for (const absl::string_view line : absl::StrSplit(testutil::RunProgram({"ldd", program}).out, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    for (const absl::string_view word : words)
      if (absl::StartsWith(word, "/")) files.emplace_back(word);
  }
  for (const std::string& file : files) {
    fs::create_directories(fs::path(root + file).parent_path());
    fs::copy_file(file, root + file, fs::copy_options::skip_existing);  // a link as what it leads to
  }
}

TEST(ImageFolderTest, AnUnpackedRootIsAllThatItsContainersSee) {
  const testutil::TemporaryFolder temporary("image-folder");
  const std::string root = temporary.path() + "/root", manifest = temporary.path() + "/pods.yaml";
  for (const char* const program : {"/bin/sh", "/bin/cat", "/bin/ls", "/bin/mkdir"}) Unpack(program, root);
  fs::create_directories(root + "/opt");
  testutil::WriteFile(root + "/opt/mark", "of the image\n");
  testutil::WriteFile(manifest, R"YAML(
apiVersion: v1
kind: Pod
metadata: {name: lives}
spec:
  schedulerName: volcano
  restartPolicy: Never
  containers:
    - name: inside
      image: registry/box:1.0
      command: [sh, -c, "echo in $PWD as $HOME of $PATH; cat /opt/mark; echo mine > /opt/mark; cat /opt/mark; cat /conf/a; cat /etc/hosts > /etc/copy; echo $(ls /)"]
      volumeMounts: [{name: conf, mountPath: /conf}]
    - name: without
      image: registry/box:1.0
      command: [sh, -c, "sleep 0 || echo no sleep"]
    - name: beside
      image: another
      command: [sh, -c, "sleep 0 && echo the sleep of the machine"]
  volumes: [{name: conf, configMap: {name: conf}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {a: "of the map\n"}
)YAML");
  const testutil::Outcome outcome = testutil::RunProgram(
      {"env", "TMPDIR=" + temporary.path(), GW_GANGWAY, "sandbox", "--run=process", "--image=registry/box=" + root,
       "--apply", manifest, "--show=*", "--until=pod/lives=Succeeded", "--timeout=60s"});
  ASSERT_THAT(outcome.err, Not(HasSubstr(kSaysNothing)));
  if (outcome.exit_code != 0 && absl::StrContains(outcome.err, "--run=process: ")) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" in / as /root of /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"),
                                 HasSubstr(" of the image\n"), HasSubstr(" mine\n"), HasSubstr(" of the map\n"),
                                 HasSubstr(" no sleep\n"), HasSubstr(" the sleep of the machine\n")));
  // What a kubelet gives every container, the image's own, and nothing of the machine.
  std::set<std::string> seen = {"bin", "conf", "dev", "etc", "opt", "proc", "run", "sys", "tmp", "var"};
  for (const auto& each : fs::directory_iterator(root)) seen.insert(each.path().filename());
  EXPECT_THAT(outcome.out, HasSubstr(absl::StrCat(" ", absl::StrJoin(seen, " "), "\n")));
  EXPECT_EQ(testutil::ReadFile(root + "/opt/mark"), "of the image\n") << "what it writes is its own";
  EXPECT_FALSE(fs::exists(root + "/etc"));
}

// However the sandbox ends, nothing of it stays.
class LeftBehindTest : public ::testing::TestWithParam<int> {};

TEST_P(LeftBehindTest, NothingIs) {
  const testutil::TemporaryFolder temporary("left-behind");
  const std::string marker = temporary.path() + "/alive", manifest = temporary.path() + "/pod.yaml";
  testutil::WriteFile(manifest, absl::StrCat(R"(
apiVersion: v1
kind: Pod
metadata: {name: lives}
spec:
  schedulerName: volcano
  containers:
    - name: main
      image: x
      command: [sh, -c, "readlink /proc/self/ns/* > )",
                                             temporary.path(), R"(/spaces; (setsid sh -c 'sleep 1000; true' )",
                                             temporary.path(), R"(/detached &); while :; do date +%N > )", marker,
                                             R"(; sleep 0.01; done"]
      resources: {limits: {memory: 1Gi, cpu: 1}}
      volumeMounts: [{name: host, mountPath: )",
                                             temporary.path(), R"(}, {name: memory, mountPath: /memory}]
  volumes: [{name: host, hostPath: {path: )",
                                             temporary.path(), R"(}}, {name: memory, emptyDir: {medium: Memory}}]
)"));
  const std::string output = temporary.path() + "/output";
  // Two at once, which do not get in each other's way; the other ends in an orderly way.
  testutil::ChildProcess other({GW_GANGWAY, "sandbox", "--run=process"}, temporary.path() + "/other",
                               {"TMPDIR=" + temporary.path()});
  testutil::ChildProcess sandbox({GW_GANGWAY, "sandbox", "--run=process", "--apply", manifest}, output,
                                 {"TMPDIR=" + temporary.path()});
  ASSERT_TRUE(Eventually([&] { return fs::exists(marker) || sandbox.Ended().has_value(); }))
      << testutil::ReadFile(output);
  if (sandbox.Ended().has_value()) {
    ASSERT_THAT(testutil::ReadFile(output), HasSubstr("--run=process: ")) << "it says what the machine lacks";
    ASSERT_THAT(testutil::ReadFile(output), Not(HasSubstr(kSaysNothing)));
    GTEST_SKIP() << testutil::ReadFile(output);
  }
  ASSERT_TRUE(Eventually([&] { return SandboxesIn(temporary.path()).size() == 2; }));
  ASSERT_TRUE(
      Eventually([&] { return absl::StrContains(testutil::ReadFile(temporary.path() + "/other"), "Ctrl-C ends it"); }));
  const std::set<std::string> sandboxes = SandboxesIn(temporary.path());
  EXPECT_THAT(testutil::ReadFile(output), HasSubstr("no security boundary"));
  std::set<std::string> spaces =
      absl::StrSplit(testutil::ReadFile(temporary.path() + "/spaces"), '\n', absl::SkipEmpty());
  for (const std::string& ours : SpacesOf("/proc/self", "ns")) spaces.erase(ours);
  for (const char* const kind : {"ipc:", "mnt:", "net:", "pid:", "uts:"})
    ASSERT_THAT(spaces, ::testing::Contains(::testing::StartsWith(kind)));
  ASSERT_THAT(Traces(sandboxes, temporary.path(), spaces), ::testing::Contains(HasSubstr("/ns net:")));
  sandbox.Signal(GetParam());
  sandbox.Wait();
  other.Stop();
  const auto left = [&] { return Traces(sandboxes, temporary.path(), spaces); };
  EXPECT_TRUE(Eventually([&] { return left().empty(); })) << ::testing::PrintToString(left());
  EXPECT_THAT(SandboxesIn(temporary.path()), ::testing::IsEmpty());
  EXPECT_THAT(testutil::ReadFile("/proc/self/mountinfo"), Not(HasSubstr(temporary.path())));
}
INSTANTIATE_TEST_SUITE_P(All, LeftBehindTest,
                         ::testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGTERM),
                         [](const auto& signal) { return absl::StrCat("Signal", signal.param); });

// Two sandboxes have pods with the same names, addresses and ports, and what is meant for one never meets the other.
TEST(TwoSandboxesTest, HavePodsOfOnePortAtOnce) {
  PYTHON_OR_SKIP();
  const testutil::TemporaryFolder temporary("two-sandboxes");
  const std::string server =
      "import os,socket; s=socket.create_server(('',7000)); open('/d/'+os.environ['MARK']+'-listens','w').close()\n"
      "while True:\n  c,a=s.accept(); c.sendall(os.environ['MARK'].encode()); c.close()";
  const std::string client =
      "import os,socket,time\n"
      "while not all(os.path.exists('/d/%s-listens'%m) for m in ('first','second')): time.sleep(0.02)\n"
      "while True:\n"
      "  try: s=socket.create_connection(('server.job',7000)); break\n"
      "  except OSError: time.sleep(0.02)\n"
      "print('answer of', s.recv(99).decode(), 'at', s.getpeername()[0])";
  const auto pod = [&](const std::string& name, const std::string& mark, const std::string& code) {
    return absl::StrCat(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
        ", labels: {app: x}}\nspec:\n  schedulerName: volcano\n  restartPolicy: Never\n  hostname: ", name,
        "\n  subdomain: job\n  containers: [{name: main, image: x, command: [", kPython, ", -c, ",
        api::JsonString(code), "], env: [{name: MARK, value: ", mark,
        "}], volumeMounts: [{name: d, mountPath: /d}]}]\n  volumes: [{name: d, hostPath: {path: ", temporary.path(),
        "}}]\n");
  };
  std::vector<std::unique_ptr<testutil::ChildProcess>> sandboxes;
  for (const std::string mark : {"first", "second"}) {
    const std::string manifest = absl::StrCat(temporary.path(), "/", mark, ".yaml");
    testutil::WriteFile(manifest,
                        absl::StrCat("apiVersion: v1\nkind: Service\nmetadata: {name: job}\nspec: {clusterIP: None, "
                                     "publishNotReadyAddresses: true, selector: {app: x}}\n",
                                     pod("server", mark, server), pod("client", mark, client)));
    sandboxes.push_back(std::make_unique<testutil::ChildProcess>(
        std::vector<std::string>{GW_GANGWAY, "sandbox", "--run=process", "--apply", manifest, "--show=*",
                                 "--until=pod/client=Succeeded", "--timeout=60s"},
        absl::StrCat(temporary.path(), "/", mark), std::vector<std::string>{"TMPDIR=" + temporary.path()}));
  }
  std::vector<int> codes;
  for (const auto& sandbox : sandboxes) codes.push_back(sandbox->Wait());
  const std::string first = testutil::ReadFile(temporary.path() + "/first"),
                    second = testutil::ReadFile(temporary.path() + "/second");
  ASSERT_THAT(first, Not(HasSubstr(kSaysNothing)));
  if (codes[0] != 0 && absl::StrContains(first, "--run=process: ")) GTEST_SKIP() << first;
  EXPECT_THAT(codes, ::testing::ElementsAre(0, 0)) << first << second;
  EXPECT_THAT(first, HasSubstr(" answer of first at 10.1."));
  EXPECT_THAT(second, HasSubstr(" answer of second at 10.1."));
}

// What the kernel refuses is said, with what helps. The limits of a user namespace of the test's own bring it to
// refuse.
struct Refusal {
  const char* name;
  const char* limit;  // "FILE N", of /proc/sys/user
  const char* message;
  bool powerless = false;  // without the rights of root of that namespace
  const char* network = "own";
};

// None: a user namespace cannot be had here.
std::optional<testutil::Outcome> RunRefused(const std::string& folder, const Refusal& refusal,
                                            const std::string& network) {
  const std::string manifest = folder + "/pod.yaml";
  testutil::WriteFile(manifest,
                      "apiVersion: v1\nkind: Pod\nmetadata: {name: lives}\nspec:\n  schedulerName: volcano\n  "
                      "restartPolicy: Never\n  containers: [{name: main, image: x, command: [echo, it runs]}]\n");
  const std::vector<std::string> inside = {"unshare", "--user", "--map-root-user", "sh", "-c"};
  std::vector<std::string> argv = inside;
  argv.emplace_back("echo 99 > /proc/sys/user/max_net_namespaces && setpriv --version");
  if (testutil::RunProgram(argv).exit_code != 0) return std::nullopt;
  const std::vector<std::string> limit = absl::StrSplit(refusal.limit, ' ');
  argv = inside;
  argv.push_back(absl::StrCat("echo ", limit[1], " > /proc/sys/user/", limit[0], " && exec \"$0\" \"$@\""));
  if (refusal.powerless)
    for (const char* const word : {"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"})
      argv.emplace_back(word);
  for (const std::string& word : {std::string(GW_GANGWAY), std::string("sandbox"), std::string("--run=process"),
                                  "--network=" + network, std::string("--apply"), manifest, std::string("--show=*"),
                                  std::string("--until=pod/lives=Succeeded"), std::string("--timeout=60s")})
    argv.push_back(word);
  return testutil::RunProgram(argv, {"TMPDIR=" + folder});
}

class RefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, IsToldAndNothingIsLeft) {
  const testutil::TemporaryFolder temporary("refusal");
  const auto outcome = RunRefused(temporary.path(), GetParam(), GetParam().network);
  if (!outcome) GTEST_SKIP() << "no user namespace with limits of its own can be had here";
  EXPECT_EQ(outcome->exit_code, 2) << outcome->out << outcome->err;
  EXPECT_THAT(outcome->err, HasSubstr(absl::StrCat("--run=process: ", GetParam().message)));
  EXPECT_THAT(SandboxesIn(temporary.path()), ::testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    All, RefusalTest,
    ::testing::Values(
        Refusal{"UserNamespaces", "max_user_namespaces 0",
                "user namespaces are not allowed here (see kernel.unprivileged_userns_clone, "
                "user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns), and this process may not "
                "make namespaces as root may: No space left on device",
                true},
        Refusal{"ProcessNamespaces", "max_pid_namespaces 0", "process namespaces: No space left on device"},
        Refusal{"MountNamespaces", "max_mnt_namespaces 0", "mount namespaces: No space left on device"},
        Refusal{"NetworkNamespaces", "max_net_namespaces 0",
                "network namespaces are not allowed here; --network=shared runs without them: No space left on device"},
        Refusal{"NetworksOfPods", "max_net_namespaces 1",
                "no network for pods can be made here: namespaces of the pod: No space left on device; "
                "--network=shared runs without"},
        Refusal{"NamesOfPods", "max_uts_namespaces 1",
                "no network for pods can be made here: namespaces of the pod: No space left on device", false,
                "shared"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(SharedNetworkTest, NeedsNoNetworkNamespace) {
  const testutil::TemporaryFolder temporary("refusal");
  const auto outcome = RunRefused(temporary.path(), {"", "max_net_namespaces 0", ""}, "shared");
  if (!outcome) GTEST_SKIP() << "no user namespace with limits of its own can be had here";
  EXPECT_EQ(outcome->exit_code, 0) << outcome->err;
  EXPECT_THAT(outcome->out, HasSubstr(" it runs\n"));
}

// Root of this machine or not, a user's pod runs.
class NotRootTest : public ::testing::TestWithParam<const char*> {};

TEST_P(NotRootTest, RunsAPod) {
  const testutil::TemporaryFolder temporary("no-root");
  const std::string program = temporary.path() + "/gangway", manifest = temporary.path() + "/pod.yaml",
                    own = temporary.path() + "/own";
  fs::create_directory(own);
  fs::permissions(own, fs::perms::all);
  fs::permissions(temporary.path(), fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
  fs::copy_file(GW_GANGWAY, program);  // where others may run it
  testutil::WriteFile(manifest, R"(
apiVersion: v1
kind: Pod
metadata: {name: lives}
spec:
  schedulerName: volcano
  restartPolicy: Never
  hostname: of-its-own
  containers:
    - {name: main, image: x, command: [sh, -c, "hostname; grep -c of-its-own /etc/hosts; echo kept > /kept; cat /kept"], volumeMounts: [{name: data, mountPath: /data}]}
  volumes: [{name: data, emptyDir: {}}]
)");
  std::vector<std::string> argv = {"env", "TMPDIR=" + own, "HOME=" + own};
  if (geteuid() == 0) {
    for (const char* const word : {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}) argv.push_back(word);
    if (testutil::RunProgram({"setpriv", "--version"}).exit_code != 0) GTEST_SKIP() << "setpriv is not there";
  }
  for (const std::string& word :
       {program, std::string("sandbox"), std::string("--run=process"), absl::StrCat("--network=", GetParam()),
        std::string("--apply"), manifest, std::string("--show=*"), std::string("--until=pod/lives=Succeeded"),
        std::string("--timeout=60s")})
    argv.push_back(word);
  const testutil::Outcome outcome = testutil::RunProgram(argv);
  ASSERT_THAT(outcome.err, Not(HasSubstr(kSaysNothing)));
  if (outcome.exit_code != 0 && absl::StrContains(outcome.err, "--run=process: ")) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" of-its-own\n"), HasSubstr(" 1\n"), HasSubstr(" kept\n")));
  EXPECT_THAT(SandboxesIn(own), ::testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Networks, NotRootTest, ::testing::Values("own", "shared"),
                         [](const auto& network) { return std::string(network.param); });

// A program in a pod finds the API server and is its account there, as in a cluster: here Gangway's own.
class InClusterTest : public ::testing::TestWithParam<const char*> {};

TEST_P(InClusterTest, AProgramTalksToTheApiServerAsItsAccount) {
  const testutil::TemporaryFolder temporary("in-cluster");
  const std::string manifest = temporary.path() + "/pods.yaml",
                    account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const auto pod = [&](const std::string& name, const std::string& of, const std::string& script) {
    return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                        "}\nspec:\n  schedulerName: volcano\n  restartPolicy: Never\n  ", of,
                        "\n  containers: [{name: main, image: x, command: [sh, -c, ", api::JsonString(script), "]}]\n");
  };
  testutil::WriteFile(
      manifest,
      absl::StrCat("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader}\n---\n"
                   "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: reader}\n"
                   "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"
                   "subjects: [{kind: ServiceAccount, name: reader, namespace: default}]\n",
                   pod("may", "serviceAccountName: reader",
                       absl::StrCat(GW_GANGWAY, " queue list 2>&1; echo in $(cat ", account, "/namespace)")),
                   pod("may-not", "serviceAccountName: default", absl::StrCat(GW_GANGWAY, " queue list 2>&1; true")),
                   pod("by-name", "serviceAccountName: reader",
                       absl::StrCat("! grep -q kubernetes.default.svc /etc/hosts || export KUBERNETES_SERVICE_HOST=",
                                    "kubernetes.default.svc; ", GW_GANGWAY,
                                    " queue list 2>&1; echo at $KUBERNETES_SERVICE_HOST")),
                   pod("shy", "automountServiceAccountToken: false", absl::StrCat("ls ", account, " 2>&1; true"))));
  const std::string output = temporary.path() + "/output";
  testutil::ChildProcess sandbox({GW_GANGWAY, "sandbox", "--run=process", "--rbac",
                                  absl::StrCat("--network=", GetParam()), "--apply", manifest, "--show=*"},
                                 output, {"TMPDIR=" + temporary.path()});
  const auto printed = [&] { return testutil::ReadFile(output); };
  ASSERT_TRUE(Eventually([&] {
    const std::string text = printed();
    bool all = true;
    for (const char* const name : {"may", "may-not", "by-name", "shy"})
      all = all && std::regex_search(text, std::regex(absl::StrCat("pod default/", name, " +Succeeded")));
    return all || sandbox.Ended().has_value();
  })) << printed();
  if (sandbox.Ended().has_value()) {
    ASSERT_THAT(printed(), HasSubstr("--run=process: ")) << "it says what the machine lacks";
    ASSERT_THAT(printed(), Not(HasSubstr(kSaysNothing)));
    GTEST_SKIP() << printed();
  }
  sandbox.Signal(SIGINT);
  EXPECT_EQ(sandbox.Wait(), 0);
  const std::string text = printed();
  const auto said = [](const std::string& pod, const std::string& words) {
    return ::testing::ContainsRegex(absl::StrCat("log default/", pod, " +", words));
  };
  EXPECT_THAT(text, said("may", "root "));
  EXPECT_THAT(text, said("may", "in default"));
  EXPECT_THAT(text, said("may-not", ".*system:serviceaccount:default:default. cannot list"));
  EXPECT_THAT(text, said("by-name", "root "));
  EXPECT_THAT(text,
              said("by-name", GetParam() == absl::string_view("own") ? "at kubernetes.default.svc" : "at 127.0.0.1"));
  EXPECT_THAT(text, said("shy", "ls: cannot access"));
}
INSTANTIATE_TEST_SUITE_P(All, InClusterTest, ::testing::Values("own", "shared"),
                         [](const auto& network) { return std::string(network.param); });

}  // namespace
}  // namespace gangway::sandbox
