#include "sandbox/process/host/pod_spaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/system_error.h"

namespace gangway::sandbox {
namespace {

constexpr char kBridge[] = "gangway0", kPodDevice[] = "eth0";
constexpr int kPrefix = 8;  // of 10.0.0.0, where pods and nodes are

int OpenSpace(const char* name) { return open(absl::StrCat("/proc/self/ns/", name).c_str(), O_RDONLY | O_CLOEXEC); }

SharedSpaces OpenSpaces() { return {OpenSpace("net"), OpenSpace("uts"), OpenSpace("ipc")}; }

// The machine's network is never left, and only root of the machine may enter it.
void StayInNetwork(SharedSpaces& spaces) {
  close(spaces.network);
  spaces.network = -1;
}

}  // namespace

void CloseSpaces(SharedSpaces& spaces) {
  for (int* const fd : {&spaces.network, &spaces.host_name, &spaces.memory}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

PodNetwork::~PodNetwork() { CloseSpaces(home_); }

absl::Status PodNetwork::Begin() {
  home_ = OpenSpaces();
  if (home_.network < 0 || home_.host_name < 0 || home_.memory < 0) return SystemError("/proc/self/ns", errno);
  if (shared_network_) {
    StayInNetwork(home_);
    return absl::OkStatus();
  }
  Links links;
  GW_RETURN_IF_ERROR(links.SetUp("lo"));
  GW_RETURN_IF_ERROR(links.AddBridge(kBridge));
  return links.SetUp(kBridge);
}

absl::StatusOr<int> PodNetwork::Listen(const std::string& ip, int port) {
  GW_RETURN_IF_ERROR(Links().AddAddress(kBridge, ip, kPrefix));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, ip.c_str(), &address.sin_addr) != 1)
    return absl::InvalidArgumentError(absl::StrCat(ip, " is no IPv4 address"));
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    absl::Status status = SystemError(absl::StrCat("the API server at ", ip, ":", port), errno);
    if (fd >= 0) close(fd);
    return status;
  }
  return fd;
}

absl::StatusOr<SharedSpaces> PodNetwork::MakePod(const PodOrder& pod) {
  const bool own_network = !shared_network_ && !pod.host_network;
  if (pod.host_network && !shared_network_) GW_RETURN_IF_ERROR(Links().AddAddress(kBridge, pod.ip, kPrefix));
  SharedSpaces spaces;
  absl::Status status = EnterNewPod(pod, own_network, spaces);
  // Back, whatever went wrong: what this process makes next must not land in a pod.
  for (const auto& [fd, kind] : {std::pair(home_.network, CLONE_NEWNET), std::pair(home_.host_name, CLONE_NEWUTS),
                                 std::pair(home_.memory, CLONE_NEWIPC)}) {
    if (fd >= 0 && setns(fd, kind) != 0) _exit(1);
  }
  if (status.ok() && own_network) {
    const std::string pair = absl::StrCat("pod", ++last_pair_);
    status = Links().AddPair(pair, kBridge, kPodDevice, spaces.network);
    if (status.ok() && setns(spaces.network, CLONE_NEWNET) != 0) status = SystemError("network of the pod", errno);
    if (status.ok()) {
      {
        Links inside;
        status = inside.SetUp("lo");
        if (status.ok()) status = inside.AddAddress(kPodDevice, pod.ip, kPrefix);
        if (status.ok()) status = inside.SetUp(kPodDevice);
      }
      if (setns(home_.network, CLONE_NEWNET) != 0) _exit(1);
    }
  }
  if (status.ok()) return spaces;
  CloseSpaces(spaces);
  return status;
}

absl::Status PodNetwork::EnterNewPod(const PodOrder& pod, bool own_network, SharedSpaces& spaces) {
  if (unshare(CLONE_NEWUTS | CLONE_NEWIPC | (own_network ? CLONE_NEWNET : 0)) != 0)
    return SystemError("namespaces of the pod", errno);
  if (sethostname(pod.hostname.data(), pod.hostname.size()) != 0)
    return SystemError(absl::StrCat("host name ", pod.hostname), errno);
  spaces = OpenSpaces();
  if (spaces.network < 0 || spaces.host_name < 0 || spaces.memory < 0)
    return SystemError("namespaces of the pod", errno);
  if (shared_network_) StayInNetwork(spaces);
  return absl::OkStatus();
}

}  // namespace gangway::sandbox
