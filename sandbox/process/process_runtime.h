// Runs the containers of pods as processes of this machine, through a ContainerHost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/loop.h"
#include "kube/runtime/informers.h"
#include "sandbox/kubelet/claim_sync.h"
#include "sandbox/kubelet/pod_runtime.h"
#include "sandbox/process/account_tokens.h"
#include "sandbox/process/container_host.h"
#include "sandbox/process/container_streams.h"
#include "sandbox/process/environment.h"
#include "sandbox/process/handler_run.h"
#include "sandbox/process/image.h"
#include "sandbox/process/pod_folders.h"
#include "sandbox/process/pod_names.h"
#include "sandbox/process/sync_processes.h"

namespace gangway::sandbox {

// Told every line that a container has written.
using OnLine = std::function<void(const api::ObjectMeta& pod, absl::string_view line)>;

struct ProcessOptions {
  std::string folder;  // of this sandbox, made by whoever starts the host
  std::string claims;  // where claims have their folders
  bool shared_network = false;
  std::string api_server_ip;  // where pods find the API server, in TLS; "": they do not
  int api_server_port = 0;
  std::vector<ImageFolder> images;
  // Of whoever started the sandbox: where the machine's programs run, the environment that finds them.
  std::string path, home, working_dir;
  bool claims_by_name = true;              // false: a claim that is made again under its name finds nothing
  std::size_t max_log_bytes = 256u << 20;  // of all containers together
  KubeletTimes times;
  OnLine on_line;  // may be empty
};

// Used on its loop, as `host` is, which outlives it.
class ProcessRuntime final : public PodRuntime {
 public:
  ProcessRuntime(kube::Informers& informers, ProcessOptions options, ContainerHost& host, OnContainers on_containers);
  ~ProcessRuntime() override;

  absl::string_view name() const override { return kProcess; }
  kube::Plan Sync(const PodView& view, absl::Time now) override;
  void See(const HostedPod& pod) override;
  void Forget(const HostedPod& pod) override;
  absl::StatusOr<ContainerLog> Log(const HostedPod& pod, absl::string_view container, bool previous) const override;
  absl::Status CheckStream(const HostedPod& pod, absl::string_view container) const override;
  absl::StatusOr<std::unique_ptr<ContainerStream>> Exec(const HostedPod& pod, const ExecOrder& order,
                                                        StreamEvents events) override;
  absl::StatusOr<std::unique_ptr<ContainerStream>> Dial(const HostedPod& pod, int port, StreamEvents events) override;

 private:
  static constexpr char kGone[] = "what ran the containers has ended; start the sandbox anew";

  struct Hosted {
    api::NamespacedName key;
    NamedPod named;
    PodProcesses processes;
    std::vector<PodVolume> volumes;
    PodTokens tokens;   // those of them that its volumes ask for, once they are there
    std::string hosts;  // the file's text, once there is one
    HostedPod pod;
  };

  void Do(const ProcessWant& want, const PodKnowledge& facts, Hosted& hosted);
  // Asks for those that it has not got. False: it has all of them.
  bool AwaitsTokens(const HostedPod& pod, const Hosted& hosted);
  void OnTokens(const std::string& uid, absl::StatusOr<PodTokens> tokens);
  void RenewTokens(const std::string& uid);
  void RewriteTokens(Hosted& hosted);
  absl::Status PrepareVolumes(const PodKnowledge& facts, Hosted& hosted);
  // Of all that its containers share the rest. OK: the host was asked for it.
  absl::Status PrepareGround(const PodKnowledge& facts, Hosted& hosted);
  void Start(const PodKnowledge& facts, const std::string& container, Hosted& hosted);
  absl::StatusOr<StartOrder> OrderFor(const PodKnowledge& facts, const HostedContainer& container, Hosted& hosted);
  static std::string RunId(const std::string& uid, absl::string_view container, int number);
  void Signal(const std::string& uid, const ProcessWant& want, const Hosted& hosted);
  void Handle(const PodKnowledge& facts, const ProcessWant& want, const Hosted& hosted);
  void OnHandler(const std::string& id, const HandlerResult& result);
  // Of a run, or of all runs of a pod.
  void DropHandlers(const std::string& run_or_pod);
  void OnOutput(absl::string_view id, absl::string_view bytes);
  // `log` costs more than `before`.
  void KeepLogsWithin(const WrittenLog& log, std::size_t before);
  // Lines from `from` on to on_line.
  void Show(const Hosted& hosted, const WrittenLog& log, std::int64_t from);
  void OnPod(const News& news);
  // "": it is ready.
  void OnGround(Hosted& hosted, const std::string& uid, absl::string_view reason, std::string error);
  void OnRun(const News& news, bool ended);
  void OnGone();
  void End(const std::string& uid, const std::string& container, Hosted& hosted, ProcessRun& run);
  ProcessRun* FindRun(absl::string_view id, Hosted** hosted, std::string* container);
  // What was made for a claim that is gone, when no pod has it mounted any more.
  void OnVolumeGone(const Volume& volume);
  void RemoveUnclaimed();
  void Tell(const Hosted& hosted, const std::string& uid, bool changed);
  std::string NextAddress();
  void RefreshNamesSoon();
  void RefreshNamesIn(absl::Duration delay);
  void RefreshNames();
  std::string SharedLines(const std::string& ns) const;

  Loop& loop_;
  const ProcessOptions options_;
  ContainerHost& host_;
  const OnContainers on_containers_;
  const PodFolders folders_;
  const Environment service_environment_;
  AccountTokens tokens_;
  kube::Informer<NamingService>& services_;
  std::set<std::string> unclaimed_;       // folders of claims that are gone
  std::map<std::string, Hosted> hosted_;  // by UID, in an order: names are written in it
  absl::flat_hash_set<std::string> addresses_;
  std::uint32_t next_address_ = 0;
  std::size_t log_bytes_ = 0;  // at most so many
  bool refreshing_ = false, gone_ = false;
  ContainerStreams streams_;
  std::map<std::pair<std::string, HandlerUse>, std::unique_ptr<HandlerRun>> handlers_;  // by run's id
  Owner owner_;
};

}  // namespace gangway::sandbox
