// What ProcessRuntime orders of its host, made of pods.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sandbox/process/process_runtime.h"
#include "sandbox/process/security.h"

namespace gangway::sandbox {
namespace {

// After a container could not be ordered.
constexpr absl::Duration kOrderAgain = absl::Seconds(10);

// The host would take one that does not for the end of all.
template <class Order>
absl::Status CheckFits(const Order& order) {
  const std::size_t size = api::Encode(order).size();
  return size <= kMaxFrame ? absl::OkStatus()
                           : absl::InvalidArgumentError(absl::StrCat("environment, command line and mounts have ", size,
                                                                     " bytes: too many to be started"));
}

std::int64_t LimitOf(const HostedContainer& container, const char* resource, bool milli) {
  const auto it = container.resources.limits.find(resource);
  if (it == container.resources.limits.end()) return 0;
  return (milli ? it->second.Milli() : it->second.Units()).value_or(0);
}

std::optional<std::int64_t> GroupOf(const HostedPod& pod) {
  return pod.spec.security ? pod.spec.security->fs_group : std::nullopt;
}

}  // namespace

std::string ProcessRuntime::RunId(const std::string& uid, absl::string_view container, int number) {
  return absl::StrCat(uid, "/", container, "/", number);
}

absl::Status ProcessRuntime::PrepareVolumes(const PodKnowledge& facts, Hosted& hosted) {
  const std::string& uid = facts.pod.metadata.uid;
  GW_ASSIGN_OR_RETURN(hosted.volumes, VolumesOf(facts, folders_.Of(uid)));
  for (PodVolume& volume : hosted.volumes) GW_RETURN_IF_ERROR(folders_.MakeVolume(uid, volume, GroupOf(facts.pod)));
  return absl::OkStatus();
}

absl::Status ProcessRuntime::PrepareGround(const PodKnowledge& facts, Hosted& hosted) {
  const std::string& uid = facts.pod.metadata.uid;
  PodOrder order;
  order.uid = uid;
  order.hostname = HostnameOf(facts.pod);
  order.ip = facts.pod_ip;
  order.host_network = facts.pod.spec.host_network;
  for (const PodVolume& volume : hosted.volumes) {
    if (volume.kind == PodVolume::Kind::kMemory)
      order.memory_folders.push_back({volume.folder, volume.memory_bytes, GroupOf(facts.pod)});
  }
  hosted.hosts = HostsFile(facts.pod, facts.pod_ip, SharedLines(facts.pod.metadata.ns));
  GW_RETURN_IF_ERROR(folders_.WriteHosts(uid, hosted.hosts));
  if (gone_) return absl::UnavailableError(kGone);
  GW_RETURN_IF_ERROR(CheckFits(order));
  host_.Prepare(order);
  return absl::OkStatus();
}

void ProcessRuntime::Start(const PodKnowledge& facts, const std::string& name, Hosted& hosted) {
  ProcessRuns& runs = hosted.processes.containers[name];
  const HostedContainer* const container = FindContainer(facts.pod, name);
  absl::StatusOr<StartOrder> order =
      container == nullptr ? absl::NotFoundError("there is no such container") : OrderFor(facts, *container, hosted);
  if (order.ok() && gone_) order = absl::UnavailableError(kGone);
  if (order.ok()) return host_.Start(*order);
  // What the pod says wrongly, or what the machine does not do.
  runs.refused = {absl::IsInvalidArgument(order.status()) ? "CreateContainerConfigError" : "CreateContainerError",
                  std::string(order.status().message()), loop_.Now() + kOrderAgain};
  runs.now = std::exchange(runs.before, std::nullopt);
  Tell(hosted, facts.pod.metadata.uid, true);
}

absl::StatusOr<StartOrder> ProcessRuntime::OrderFor(const PodKnowledge& facts, const HostedContainer& container,
                                                    Hosted& hosted) {
  const std::string& uid = facts.pod.metadata.uid;
  const int number = hosted.processes.containers[container.name].now->number;
  const ImageFolder* const image = FolderOf(options_.images, container.image);
  const bool own_root = image != nullptr && !image->python;
  Environment inherited = EnvironmentOfImage(image, options_.path, options_.home);
  inherited.emplace_back("HOSTNAME", HostnameOf(facts.pod));
  GW_ASSIGN_OR_RETURN(const Environment declared, EnvironmentOf(facts, container));
  StartOrder order;
  order.id = RunId(uid, container.name, number);
  order.pod_uid = uid;
  GW_ASSIGN_OR_RETURN(order.argv, CommandLineOf(container, declared));
  if (container.command.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no command specified: the image ", container.image,
                     " is not pulled, so what it would run is not known; say command: in the container"));
  }
  GW_ASSIGN_OR_RETURN(order.user, UserOf(facts.pod, container));
  const Environment environment = Over(std::move(inherited), declared);
  for (const auto& [variable, value] : environment) order.env.push_back(absl::StrCat(variable, "=", value));
  order.root = own_root ? image->folder : "/";
  order.working_dir = !container.working_dir.empty() ? container.working_dir : own_root ? "/" : options_.working_dir;
  GW_ASSIGN_OR_RETURN(order.mounts, MountsOf(container, hosted.volumes, declared));
  if (image != nullptr && image->python)
    order.mounts.insert(order.mounts.begin(), {image->folder, image->folder, true});
  GW_RETURN_IF_ERROR(folders_.MakeRun(uid, container.name, number));
  order.scratch = folders_.Run(uid, container.name, number) + "/scratch";
  // pkg/kubelet: makeMounts leaves to a pod what it mounts there itself.
  const auto add = [&order](Mount mount) {
    if (std::none_of(order.mounts.begin(), order.mounts.end(),
                     [&](const Mount& each) { return each.target == mount.target; }))
      order.mounts.push_back(std::move(mount));
  };
  add({folders_.Hosts(uid), "/etc/hosts", false});
  // The machine's name servers are out of reach; asking them would take ten seconds for each name not known yet.
  if (!options_.shared_network) {
    GW_ASSIGN_OR_RETURN(std::string resolver, folders_.MakeResolver());
    add({std::move(resolver), "/etc/resolv.conf", true});
  }
  add({folders_.Message(uid, container.name, number),
       container.termination_message_path.empty() ? "/dev/termination-log" : container.termination_message_path,
       false});
  order.memory_bytes = LimitOf(container, "memory", false);
  order.milli_cpu = LimitOf(container, "cpu", true);
  GW_RETURN_IF_ERROR(CheckFits(order));
  return order;
}

}  // namespace gangway::sandbox
