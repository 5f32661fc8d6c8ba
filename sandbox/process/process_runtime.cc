#include "sandbox/process/process_runtime.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "sandbox/kubelet/log_budget.h"
#include "sandbox/kubelet/node_shape.h"

namespace gangway::sandbox {
namespace {

// Names that change together are written once.
constexpr absl::Duration kNamesSettle = absl::Milliseconds(2);
// After they could not be.
constexpr absl::Duration kNamesAgain = absl::Seconds(2);
// pkg/kubelet/kuberuntime: of all that the containers of a pod share but its volumes.
constexpr absl::string_view kNoGround = "FailedCreatePodSandBox";

std::string NoGround(absl::string_view why) { return absl::StrCat("Failed to create pod sandbox: ", why); }

// After they could not be renewed.
constexpr absl::Duration kTokensAgain = absl::Minutes(1);

std::string CannotMountToken(const HostedPod& pod, const absl::Status& why) {
  const auto asks = [](const HostedVolume& volume) {
    return volume.projected && std::any_of(volume.projected->sources.begin(), volume.projected->sources.end(),
                                           [](const Projection& part) { return part.token.has_value(); });
  };
  const auto volume = std::find_if(pod.spec.volumes.begin(), pod.spec.volumes.end(), asks);
  return absl::StrCat("MountVolume.SetUp failed for volume \"", volume == pod.spec.volumes.end() ? "" : volume->name,
                      "\" : ", why.message());
}

// kubelet: terminationMessagePolicy FallbackToLogsOnError
constexpr std::int64_t kFallbackLines = 80;
constexpr std::size_t kFallbackBytes = 2048;

std::string EndOfLog(const WrittenLog& log) {
  std::string out;
  for (std::int64_t i = std::max(log.first_kept(), log.count() - kFallbackLines); i < log.count(); ++i)
    absl::StrAppend(&out, log.line(i).text, log.line(i).partial ? "" : "\n");
  return out.size() > kFallbackBytes ? out.substr(out.size() - kFallbackBytes) : out;
}

}  // namespace

ProcessRuntime::ProcessRuntime(kube::Informers& informers, ProcessOptions options, ContainerHost& host,
                               OnContainers on_containers)
    : loop_(informers.loop()),
      options_(std::move(options)),
      host_(host),
      on_containers_(std::move(on_containers)),
      folders_(options_.folder, options_.claims, options_.claims_by_name),
      service_environment_(options_.api_server_ip.empty()
                               ? Environment()
                               : ApiServerEnvironment(options_.api_server_ip, options_.api_server_port)),
      tokens_(informers.client()),
      services_(informers.Of<NamingService>(api::kServices)),
      streams_(host) {
  HostEvents events;
  events.on_pod = [this](const News& news) { OnPod(news); };
  events.on_started = [this](const News& news) { OnRun(news, !news.error.empty()); };
  events.on_ended = [this](const News& news) { OnRun(news, true); };
  events.on_output = [this](absl::string_view id, absl::string_view bytes) { OnOutput(id, bytes); };
  events.on_stream_output = [this](absl::string_view id, bool error_output, absl::string_view bytes) {
    streams_.OnOutput(id, error_output, bytes);
  };
  events.on_stream_took = [this](const StreamWord& word) { streams_.OnTook(word); };
  events.on_stream_ended = [this](const News& news) { streams_.OnEnded(news); };
  events.on_gone = [this] { OnGone(); };
  host_.SetEvents(std::move(events));
  services_.Listen(owner_.token(), [this](const auto&, const auto&, const auto&) { RefreshNamesSoon(); });
  informers.Of<Volume>(api::kPersistentVolumes)
      .Listen(owner_.token(), [this](const auto&, const auto& before, const auto& after) {
        if (before != nullptr && after == nullptr) OnVolumeGone(*before);
      });
}

ProcessRuntime::~ProcessRuntime() { host_.SetEvents({}); }

void ProcessRuntime::Tell(const Hosted& hosted, const std::string& uid, bool changed) {
  on_containers_(hosted.key, uid, changed);
}

kube::Plan ProcessRuntime::Sync(const PodView& view, absl::Time now) {
  const std::string& uid = view.pod.metadata.uid;
  const auto it = hosted_.find(uid);
  if (it == hosted_.end()) return {};  // See comes first
  Hosted& hosted = it->second;
  PodView own = view;
  own.pod_ip = hosted.named.ip;
  ProcessPlan todo = SyncProcesses(own, options_.times, hosted.processes, now);
  if (todo.wants.empty()) return std::move(todo.plan);
  const PodKnowledge facts{view.pod,      own.pod_ip,     view.host_ip,         view.allocatable,
                           *view.sources, &hosted.tokens, &service_environment_};
  for (const ProcessWant& want : todo.wants) Do(want, facts, hosted);
  return std::move(todo.plan);
}

void ProcessRuntime::Do(const ProcessWant& want, const PodKnowledge& facts, Hosted& hosted) {
  const std::string& uid = facts.pod.metadata.uid;
  switch (want.kind) {
    case ProcessWant::Kind::kPrepare:
      if (AwaitsTokens(facts.pod, hosted)) return;
      if (const absl::Status status = PrepareVolumes(facts, hosted); !status.ok())
        return OnGround(hosted, uid, "FailedMount", std::string(status.message()));
      if (const absl::Status status = PrepareGround(facts, hosted); !status.ok())
        OnGround(hosted, uid, kNoGround, NoGround(status.message()));
      return;
    case ProcessWant::Kind::kStart:
      return Start(facts, want.container, hosted);
    case ProcessWant::Kind::kHandle:
      return Handle(facts, want, hosted);
    case ProcessWant::Kind::kTerminate:
    case ProcessWant::Kind::kKill:
      return Signal(uid, want, hosted);
    case ProcessWant::Kind::kDrop:
      host_.Drop(uid);
      return RemoveUnclaimed();
  }
}

void ProcessRuntime::Signal(const std::string& uid, const ProcessWant& want, const Hosted& hosted) {
  const auto runs = hosted.processes.containers.find(want.container);
  if (runs == hosted.processes.containers.end() || !runs->second.live()) return;
  const std::string id = RunId(uid, want.container, runs->second.now->number);
  handlers_.erase({id, HandlerUse::kPreStop});  // its time is over
  host_.Signal({id, want.kind == ProcessWant::Kind::kKill ? SIGKILL : SIGTERM});
}

void ProcessRuntime::Handle(const PodKnowledge& facts, const ProcessWant& want, const Hosted& hosted) {
  const HostedContainer* const container = FindContainer(facts.pod, want.container);
  const auto runs = hosted.processes.containers.find(want.container);
  if (container == nullptr || runs == hosted.processes.containers.end() || !runs->second.live()) return;
  const std::string& uid = facts.pod.metadata.uid;
  const std::string id = RunId(uid, want.container, runs->second.now->number);
  const HostedProbe* const probe = ProbeFor(*container, *want.use);
  handlers_[{id, *want.use}] = std::make_unique<HandlerRun>(
      loop_, streams_, HandlerFor(*container, *want.use), *want.use, HandlerPlace{id, uid, facts.pod_ip, *container},
      probe == nullptr ? absl::InfiniteDuration() : absl::Seconds(probe->timeout_seconds),
      [this, id](const HandlerResult& result) { OnHandler(id, result); });
}

void ProcessRuntime::OnHandler(const std::string& id, const HandlerResult& result) {
  handlers_.erase({id, result.use});
  Hosted* hosted = nullptr;
  std::string container;
  ProcessRun* const run = FindRun(id, &hosted, &container);
  if (run == nullptr || run->state == ProcessRun::State::kEnded) return;
  run->results.push_back(result);
  Tell(*hosted, hosted->pod.metadata.uid, true);
}

void ProcessRuntime::DropHandlers(const std::string& run_or_pod) {
  const std::string runs = run_or_pod + "/";
  auto it = handlers_.lower_bound({run_or_pod, HandlerUse::kStartup});
  while (it != handlers_.end() && (it->first.first == run_or_pod || absl::StartsWith(it->first.first, runs)))
    it = handlers_.erase(it);
}

ProcessRun* ProcessRuntime::FindRun(absl::string_view id, Hosted** hosted, std::string* container) {
  const std::vector<std::string> parts = absl::StrSplit(id, '/');
  int number = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &number)) return nullptr;
  const auto it = hosted_.find(parts[0]);
  if (it == hosted_.end()) return nullptr;
  const auto runs = it->second.processes.containers.find(parts[1]);
  if (runs == it->second.processes.containers.end()) return nullptr;
  *hosted = &it->second;
  *container = parts[1];
  return runs->second.now && runs->second.now->number == number ? &*runs->second.now : nullptr;
}

void ProcessRuntime::OnOutput(absl::string_view id, absl::string_view bytes) {
  Hosted* hosted = nullptr;
  std::string container;
  ProcessRun* const run = FindRun(id, &hosted, &container);
  if (run == nullptr) return;
  const std::int64_t before = run->log->count();
  const std::size_t cost = run->log->bytes();
  run->log->Append(loop_.Now(), bytes);
  Show(*hosted, *run->log, before);
  Tell(*hosted, hosted->pod.metadata.uid, false);
  KeepLogsWithin(*run->log, cost);
}

void ProcessRuntime::KeepLogsWithin(const WrittenLog& log, std::size_t before) {
  log_bytes_ += log.bytes() - std::min(before, log.bytes());
  if (log_bytes_ <= options_.max_log_bytes) return;
  std::vector<KeptLog> logs;
  for (const auto& [uid, hosted] : hosted_) {
    for (const auto& [name, runs] : hosted.processes.containers) {
      if (runs.before) logs.push_back({runs.before->log, false, runs.before->ended});
      if (runs.now) logs.push_back({runs.now->log, true, runs.live() ? absl::InfiniteFuture() : runs.now->ended});
    }
  }
  // More than has to go, so that this is not done for each line.
  KeepWithin(logs, options_.max_log_bytes / 8 * 7);
  log_bytes_ = 0;
  for (const KeptLog& each : logs) log_bytes_ += each.log->bytes();
}

void ProcessRuntime::Show(const Hosted& hosted, const WrittenLog& log, std::int64_t from) {
  if (!options_.on_line) return;
  for (std::int64_t i = std::max(from, log.first_kept()); i < log.count(); ++i)
    options_.on_line(hosted.pod.metadata, log.line(i).text);
}

void ProcessRuntime::OnPod(const News& news) {
  const auto it = hosted_.find(news.id);
  if (it == hosted_.end() || it->second.processes.ground != PodGround::kAsked) return;
  OnGround(it->second, it->first, kNoGround, news.error.empty() ? std::string() : NoGround(news.error));
}

void ProcessRuntime::OnGround(Hosted& hosted, const std::string& uid, absl::string_view reason, std::string error) {
  PodProcesses& processes = hosted.processes;
  processes.ground = error.empty() ? PodGround::kReady : PodGround::kNone;
  processes.ground_reason = std::string(reason);
  processes.ground_error = std::move(error);
  processes.ground_failed = loop_.Now();
  Tell(hosted, uid, true);
}

bool ProcessRuntime::AwaitsTokens(const HostedPod& pod, const Hosted& hosted) {
  const std::set<TokenWish> wishes = TokenWishesOf(pod);
  if (hosted.tokens.size() == wishes.size()) return false;
  const std::string& uid = pod.metadata.uid;
  tokens_.Ask(pod, wishes, [this, uid](absl::StatusOr<PodTokens> tokens) { OnTokens(uid, std::move(tokens)); });
  return true;
}

void ProcessRuntime::OnTokens(const std::string& uid, absl::StatusOr<PodTokens> tokens) {
  const auto it = hosted_.find(uid);
  if (it == hosted_.end() || it->second.processes.dropped) return;
  Hosted& hosted = it->second;
  const bool first = hosted.tokens.empty();
  if (!tokens.ok()) {
    if (first) return OnGround(hosted, uid, "FailedMount", CannotMountToken(hosted.pod, tokens.status()));
    log::Warning("tokens are not renewed", {{"pod", hosted.key.ToString()}, {"error", tokens.status().ToString()}});
    loop_.PostAt(loop_.Now() + kTokensAgain, owner_.token(), [this, uid] { RenewTokens(uid); });
    return;
  }
  hosted.tokens = *std::move(tokens);
  loop_.PostAt(RenewalOf(TokenWishesOf(hosted.pod), loop_.Now()), owner_.token(), [this, uid] { RenewTokens(uid); });
  if (!first) return RewriteTokens(hosted);
  hosted.processes.ground = PodGround::kNone;  // to be prepared, and now with all that it takes
  Tell(hosted, uid, true);
}

void ProcessRuntime::RenewTokens(const std::string& uid) {
  const auto it = hosted_.find(uid);
  if (it == hosted_.end() || it->second.processes.dropped) return;
  tokens_.Ask(it->second.pod, TokenWishesOf(it->second.pod),
              [this, uid](absl::StatusOr<PodTokens> tokens) { OnTokens(uid, std::move(tokens)); });
}

void ProcessRuntime::RewriteTokens(Hosted& hosted) {
  for (PodVolume& volume : hosted.volumes) {
    for (VolumeFile& file : volume.files) {
      if (!file.token) continue;
      file.content = hosted.tokens[*file.token];
      const absl::Status status = folders_.RewriteFile(volume, file);
      if (!status.ok())
        log::Warning("a token is not renewed", {{"pod", hosted.key.ToString()}, {"error", status.ToString()}});
    }
  }
}

void ProcessRuntime::OnRun(const News& news, bool ended) {
  Hosted* hosted = nullptr;
  std::string container;
  ProcessRun* const run = FindRun(news.id, &hosted, &container);
  if (run == nullptr) return;
  const std::string& uid = hosted->pod.metadata.uid;
  if (!ended) {
    run->state = ProcessRun::State::kRunning;
    run->started = loop_.Now();
    return Tell(*hosted, uid, true);
  }
  if (run->state == ProcessRun::State::kStarting) run->started = loop_.Now();
  run->exit_code = news.exit_code;
  run->out_of_memory = news.out_of_memory;
  run->error = news.error;
  End(uid, container, *hosted, *run);
}

void ProcessRuntime::End(const std::string& uid, const std::string& container, Hosted& hosted, ProcessRun& run) {
  DropHandlers(RunId(uid, container, run.number));
  run.state = ProcessRun::State::kEnded;
  run.ended = loop_.Now();
  const std::int64_t before = run.log->count();
  run.log->Close();
  Show(hosted, *run.log, before);
  run.message = folders_.ReadMessage(uid, container, run.number);
  const HostedContainer* const spec = FindContainer(hosted.pod, container);
  if (run.message.empty() && run.exit_code != 0 && spec != nullptr &&
      spec->termination_message_policy == "FallbackToLogsOnError")
    run.message = EndOfLog(*run.log);
  Tell(hosted, uid, true);
}

void ProcessRuntime::OnGone() {
  gone_ = true;
  log::Error("what ran the containers has ended, and every container with it");
  streams_.EndAll("what ran the containers has ended");
  for (auto& [uid, hosted] : hosted_) {
    for (auto& [name, runs] : hosted.processes.containers) {
      if (!runs.live()) continue;
      runs.now->exit_code = 128 + SIGKILL;
      End(uid, name, hosted, *runs.now);
    }
    News unmade;
    unmade.id = uid;
    unmade.error = kGone;
    OnPod(unmade);  // for those that still wait to hear of their ground
  }
}

void ProcessRuntime::See(const HostedPod& pod) {
  Hosted& hosted = hosted_[pod.metadata.uid];
  hosted.key = {pod.metadata.ns, pod.metadata.name};
  std::string ip = hosted.named.ip;
  if (ip.empty()) {
    ip = !pod.spec.host_network ? NextAddress() : options_.shared_network ? "127.0.0.1" : HostIp(pod.spec.node_name);
  }
  NamedPod named = NamedPodOf(pod, ip);
  if (pod.ended()) named.labels.clear();  // no Service leads to it any more
  if (!(named == hosted.named)) RefreshNamesSoon();
  hosted.named = std::move(named);
  hosted.pod = pod;
}

void ProcessRuntime::Forget(const HostedPod& pod) {
  const auto it = hosted_.find(pod.metadata.uid);
  if (it == hosted_.end()) return;
  if (!it->second.processes.dropped) host_.Drop(it->first);
  DropHandlers(it->first);
  addresses_.erase(it->second.named.ip);
  hosted_.erase(it);
  RefreshNamesSoon();
  RemoveUnclaimed();
}

void ProcessRuntime::OnVolumeGone(const Volume& volume) {
  // By name: the folder is the user's, who finds in it what earlier sandboxes kept.
  if (options_.claims_by_name || !GoesWithItsClaim(volume) || !volume.spec.claim || volume.spec.claim->uid.empty())
    return;
  const api::ObjectReference& claim = *volume.spec.claim;
  unclaimed_.insert(ClaimFolder(folders_.Of(""), claim.ns, claim.name, claim.uid));
  RemoveUnclaimed();
}

void ProcessRuntime::RemoveUnclaimed() {
  for (auto it = unclaimed_.begin(); it != unclaimed_.end();) {
    const bool used = std::any_of(hosted_.begin(), hosted_.end(), [&](const auto& each) {
      const Hosted& hosted = each.second;
      return !hosted.processes.dropped && std::any_of(hosted.volumes.begin(), hosted.volumes.end(),
                                                      [&](const PodVolume& volume) { return volume.folder == *it; });
    });
    if (used) {
      ++it;
      continue;
    }
    host_.Remove(*it);
    it = unclaimed_.erase(it);
  }
}

absl::StatusOr<ContainerLog> ProcessRuntime::Log(const HostedPod& pod, absl::string_view container,
                                                 bool previous) const {
  auto log = LogOf(pod, nullptr, container, previous, {}, std::nullopt);
  if (!log.ok()) return log.status();
  const auto hosted = hosted_.find(pod.metadata.uid);
  if (hosted == hosted_.end()) return absl::NotFoundError(absl::StrCat("pod ", pod.metadata.name, " is not known"));
  const auto runs = hosted->second.processes.containers.find(std::string(container));
  if (runs != hosted->second.processes.containers.end()) {
    for (const auto* const run : {&runs->second.now, &runs->second.before}) {
      if (run->has_value() && (*run)->number == log->restarts) log->written = (*run)->log;
    }
  }
  if (log->written == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("previous terminated container \"", container, "\" in pod \"", pod.metadata.name, "\" not found"));
  return log;
}

absl::Status ProcessRuntime::CheckStream(const HostedPod& pod, absl::string_view container) const {
  const auto hosted = hosted_.find(pod.metadata.uid);
  const bool here = hosted != hosted_.end() && !gone_ && !hosted->second.processes.dropped;
  if (container.empty()) {
    if (here && hosted->second.processes.ground == PodGround::kReady) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("pod ", pod.metadata.name, " does not run"));
  }
  if (here) {
    const auto& containers = hosted->second.processes.containers;
    const auto runs = containers.find(std::string(container));
    if (runs != containers.end() && runs->second.now && runs->second.now->state == ProcessRun::State::kRunning)
      return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("container ", container, " of pod ", pod.metadata.name, " does not run"));
}

absl::StatusOr<std::unique_ptr<ContainerStream>> ProcessRuntime::Exec(const HostedPod& pod, const ExecOrder& order,
                                                                      StreamEvents events) {
  GW_RETURN_IF_ERROR(CheckStream(pod, order.container));
  const ProcessRuns& runs = hosted_.find(pod.metadata.uid)->second.processes.containers.find(order.container)->second;
  StreamOrder stream;
  stream.run = RunId(pod.metadata.uid, order.container, runs.now->number);
  stream.argv = order.command;
  stream.input = order.input;
  stream.terminal = order.terminal;
  return streams_.Open(std::move(stream), std::move(events));
}

absl::StatusOr<std::unique_ptr<ContainerStream>> ProcessRuntime::Dial(const HostedPod& pod, int port,
                                                                      StreamEvents events) {
  GW_RETURN_IF_ERROR(CheckStream(pod, ""));
  StreamOrder stream;
  stream.pod_uid = pod.metadata.uid;
  // Of its own network a kubelet reaches the loopback address; where the network is shared, that is the pod's.
  stream.ip = options_.shared_network ? hosted_.find(pod.metadata.uid)->second.named.ip : "127.0.0.1";
  stream.port = port;
  return streams_.Open(std::move(stream), std::move(events));
}

std::string ProcessRuntime::NextAddress() {
  if (addresses_.size() >= 254u * 254u) return "";  // its network cannot be made, then
  std::string address;
  do {
    const std::uint32_t n = next_address_++ % (254u * 254u);
    address = absl::StrCat(options_.shared_network ? "127.1." : "10.1.", n / 254u, ".", n % 254u + 1);
  } while (!addresses_.insert(address).second);
  return address;
}

std::string ProcessRuntime::SharedLines(const std::string& ns) const {
  std::vector<NamedPod> pods;
  for (const auto& [uid, hosted] : hosted_) pods.push_back(hosted.named);
  std::sort(pods.begin(), pods.end(), [](const NamedPod& a, const NamedPod& b) { return a.ip < b.ip; });
  std::vector<std::shared_ptr<const NamingService>> held;
  services_.ForEach([&](const auto&, const auto& service) { held.push_back(service); });
  std::vector<const NamingService*> services;
  for (const auto& each : held) services.push_back(each.get());
  const bool api_server = !options_.api_server_ip.empty() && !options_.shared_network;
  return absl::StrCat(api_server ? ApiServerHostsLine(ns, options_.api_server_ip) : "",
                      SharedHostsLines(ns, pods, services));
}

void ProcessRuntime::RefreshNamesSoon() { RefreshNamesIn(kNamesSettle); }

void ProcessRuntime::RefreshNamesIn(absl::Duration delay) {
  if (std::exchange(refreshing_, true)) return;
  loop_.PostAt(loop_.Now() + delay, owner_.token(), [this] { RefreshNames(); });
}

void ProcessRuntime::RefreshNames() {
  refreshing_ = false;
  bool failed = false;
  std::map<std::string, std::string> shared;  // by namespace
  for (auto& [uid, hosted] : hosted_) {
    if (hosted.hosts.empty() || hosted.processes.dropped) continue;
    const auto [lines, fresh] = shared.try_emplace(hosted.key.ns);
    if (fresh) lines->second = SharedLines(hosted.key.ns);
    std::string text = HostsFile(hosted.pod, hosted.named.ip, lines->second);
    if (text == hosted.hosts) continue;
    const absl::Status status = folders_.WriteHosts(uid, text);
    if (status.ok()) {
      hosted.hosts = std::move(text);
      continue;
    }
    log::Warning("names of pods are not up to date", {{"pod", hosted.key.ToString()}, {"error", status.ToString()}});
    failed = true;
  }
  if (failed) RefreshNamesIn(kNamesAgain);
}

}  // namespace gangway::sandbox
