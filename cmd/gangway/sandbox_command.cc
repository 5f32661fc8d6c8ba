#include "cmd/gangway/sandbox_command.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/duration.h"
#include "api/kinds/kinds.h"
#include "base/asio_loop.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/conf/conf_files.h"
#include "cmd/dashboard/dashboard_server.h"
#include "cmd/gangway/process_sandbox.h"
#include "cmd/gangway/sandbox_identities.h"
#include "cmd/run/run.h"
#include "cmd/snapshot/file/snapshot.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "cmd/terminal/version.h"
#include "kube/client/kubeconfig.h"
#include "kube/serve/http_front.h"
#include "sandbox/cluster/api_server_handler.h"
#include "sandbox/cluster/cluster.h"
#include "sandbox/cluster/webhook_calls.h"
#include "sandbox/kubelet/rule_use.h"

namespace gangway::cmd {
namespace {

namespace fs = std::filesystem;

constexpr char kCommand[] = "sandbox";

// A flag's value with the flag's name in what is wrong with it.
absl::Status Named(absl::string_view flag, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(flag, ": ", status.message()));
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view flag, const std::string& text) {
  const auto duration = api::ParseGoDuration(text);
  if (!duration.ok())
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", text, ": write a number and a unit, such as 5s or 100ms"));
  if (*duration < absl::ZeroDuration())
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": must not be negative"));
  return *duration;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code error;
  if (fs::is_directory(path, error))
    return absl::InvalidArgumentError(absl::StrCat("--apply ", path, ": is a folder; name a file"));
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("--apply ", path, ": ", std::strerror(errno)));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// As kube-apiserver's flag of that name has them, without its words for all versions at once.
absl::StatusOr<std::vector<std::string>> AlphaVersions(const std::vector<std::string>& texts) {
  std::vector<std::string> known, asked_for;
  for (const api::KindRow& kind : api::Kinds()) {
    if (kind.on_request) known.push_back(kind.resource->ApiVersion());
  }
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (std::find(known.begin(), known.end(), parts.first) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--runtime-config ", text, ": there is no such alpha version; known: ",
                       absl::StrJoin(std::set<std::string>(known.begin(), known.end()), ", ")));
    }
    if (!parts.second.empty() && parts.second != "true" && parts.second != "false") {
      return absl::InvalidArgumentError(absl::StrCat("--runtime-config ", text, ": must end in =true or =false"));
    }
    if (parts.second != "false") asked_for.push_back(parts.first);
  }
  return asked_for;
}

// Those that are to run; "apiserver" may stand among them, it always does.
absl::StatusOr<std::vector<sandbox::Component>> ParseComponents(const std::string& text) {
  static const std::pair<absl::string_view, std::optional<sandbox::Component>> kNames[] = {
      {"apiserver", std::nullopt},
      {"kubelets", sandbox::Component::kKubelets},
      {sandbox::ClientName(sandbox::Component::kControllers),
       sandbox::Component::kControllers},  // with those of PaddleJobs
      {sandbox::ClientName(sandbox::Component::kScheduler), sandbox::Component::kScheduler},
  };
  std::vector<sandbox::Component> out;
  for (const absl::string_view name : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const auto* row =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& known) { return known.first == name; });
    if (row == std::end(kNames)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--components: there is no component \"", name, "\"; they are ",
          absl::StrJoin(kNames, ", ",
                        [](std::string* list, const auto& known) { absl::StrAppend(list, known.first); })));
    }
    if (row->second.has_value()) out.push_back(*row->second);
  }
  return out;
}

struct Input {
  std::vector<sandbox::Component> components;
  sandbox::ClusterOptions cluster;
  Run::Options run;
};

absl::StatusOr<Input> ReadInput(const SandboxFlags& flags) {
  Input input;
  GW_ASSIGN_OR_RETURN(input.components, ParseComponents(flags.components));
  std::vector<sandbox::NodeShape> shapes;
  const std::vector<std::string> texts =
      flags.node_shapes.empty() ? std::vector<std::string>{std::string(sandbox::kDefaultNodeShape)} : flags.node_shapes;
  for (const std::string& text : texts) {
    GW_ASSIGN_OR_RETURN(sandbox::NodeShape shape, sandbox::ParseNodeShape(text));
    shapes.push_back(std::move(shape));
  }
  input.cluster.one_controller_process = input.cluster.budgets = true;
  input.cluster.ssh_key_threads = 1;
  sandbox::KubeletsOptions& kubelets = input.cluster.kubelets;
  kubelets.nodes = sandbox::MakeNodes(shapes, flags.nodes);
  GW_ASSIGN_OR_RETURN(kubelets.behaviour, sandbox::Behaviour::Parse(flags.finish, flags.fail, flags.log));
  GW_ASSIGN_OR_RETURN(kubelets.times.start, ParseDuration("--start-delay", flags.start_delay));
  GW_ASSIGN_OR_RETURN(kubelets.times.stop, ParseDuration("--stop-delay", flags.stop_delay));
  kubelets.times.init = kubelets.times.start;
  GW_ASSIGN_OR_RETURN(input.cluster.api_server.alpha_versions, AlphaVersions(flags.runtime_config));
  if (!flags.scheduler_conf.empty()) {
    auto conf = ReadPolicyFile(flags.scheduler_conf);
    GW_RETURN_IF_ERROR(Named("--scheduler-conf", conf.status()));
    LogPolicyFile(flags.scheduler_conf, *conf);
    input.cluster.policy = conf->policy;
  }
  if (!flags.controller_conf.empty()) {
    auto file = ReadLabelSourceFile(flags.controller_conf);
    GW_RETURN_IF_ERROR(Named("--controller-conf", file.status()));
    LogLabelSourceFile(flags.controller_conf, *file);
    input.cluster.label_source = file->source;
  }
  if (!flags.until.empty()) {
    auto goal = ParseGoal(flags.until);
    GW_RETURN_IF_ERROR(Named("--until", goal.status()));
    input.run.goal = *std::move(goal);
  }
  if (!flags.timeout.empty()) {
    GW_ASSIGN_OR_RETURN(input.run.timeout, ParseDuration("--timeout", flags.timeout));
  }
  for (const std::string& path : flags.apply) {
    GW_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    std::vector<api::ManifestDocument> documents;
    if (snapshot::IsSnapshot(text)) {
      GW_ASSIGN_OR_RETURN(const snapshot::Snapshot of_cluster, snapshot::ReadSnapshot(text, path));
      documents = snapshot::ToCreate(of_cluster, path);
      input.run.of_another_cluster = true;
    } else {
      GW_ASSIGN_OR_RETURN(documents, api::ReadManifest(text, path));
    }
    if (documents.empty())
      return absl::InvalidArgumentError(absl::StrCat("--apply ", path, ": there is no object in it"));
    std::move(documents.begin(), documents.end(), std::back_inserter(input.run.documents));
  }
  input.run.print_account = !flags.quiet;
  input.run.colours = TakesColours(stdout);
  input.run.print = [](absl::string_view line) {
    PutExact(stdout, absl::StrCat(line, "\n"));
  };  // with colours of ours, the rest is printable
  return input;
}

absl::Status ConfigureLogs(const SandboxFlags& flags) {
  log::Options options;
  if (!log::ParseLevel(flags.log_level, options.level)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--log-level ", flags.log_level, ": must be debug, info, warning, error or off"));
  }
  options.format = flags.log_format == "json" ? log::Format::kJson : log::Format::kText;
  log::Configure(std::move(options));
  return absl::OkStatus();
}

// A folder for files of this sandbox, of its owner only; it goes with it.
class OwnFolder {
 public:
  ~OwnFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  // Made when it is asked for.
  absl::StatusOr<std::string> Path() {
    if (!path_.empty()) return path_;
    std::string folder = (fs::temp_directory_path() / "gangway-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr)
      return absl::UnavailableError(absl::StrCat("cannot make a folder in ", fs::temp_directory_path().string()));
    return path_ = folder;
  }

 private:
  std::string path_;
};

void PrintWelcome(const SandboxFlags& flags, std::size_t nodes, const std::string& url, const std::string& kubeconfig,
                  const std::string& dashboard, const std::vector<std::string>& warnings) {
  std::string text = absl::StrCat(VersionLine(), "\n", nodes, " simulated nodes, API server at ", url, "\n");
  if (!dashboard.empty()) absl::StrAppend(&text, "dashboard at ", dashboard, "\n");
  for (const std::string& warning : warnings) absl::StrAppend(&text, warning, "\n");
  if (flags.until.empty()) {
    absl::StrAppend(&text, "\nIn another terminal:\n  export KUBECONFIG=", kubeconfig,
                    "\n  kubectl get nodes\n  kubectl apply -f examples/ctr-volcano.yaml\n",
                    "  kubectl describe podgroup ctr-volcano\n\nCtrl-C ends it.\n");
  }
  Put(stdout, absl::StrCat(text, "\n"));
}

// Prints what the containers write that --show names.
sandbox::OnLine ShowLines(const SandboxFlags& flags, const Loop& loop, const absl::Time& start, bool colours) {
  return [&flags, &loop, &start, colours](const api::ObjectMeta& pod, absl::string_view line) {
    const bool wanted = std::any_of(flags.show.begin(), flags.show.end(), [&](const std::string& rule) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(rule, absl::MaxSplits('=', 1));
      return (parts.first == "*" || sandbox::Behaviour::Names(parts.first, pod)) &&
             absl::StrContains(line, parts.second);
    });
    if (!wanted) return;
    const AccountLine account{absl::StrCat("log ", pod.ns, "/", pod.name), std::string(line)};
    PutExact(stdout, absl::StrCat(Render(account, loop.Now() - start, colours), "\n"));
  };
}

// Flags that mean something only beside others.
absl::Status CheckTogether(const SandboxFlags& flags) {
  if (flags.run != "process" && (!flags.images.empty() || !flags.volumes.empty() || !flags.show.empty() ||
                                 flags.network != SandboxFlags().network))
    return absl::InvalidArgumentError("--image, --network, --volumes and --show are for --run=process");
  if (!flags.rbac && !flags.users.empty())
    return absl::InvalidArgumentError("--user is for --rbac: without, everybody may do everything");
  return absl::OkStatus();
}

// What the command is made of, in the order in which it is made; it goes the other way round.
class SandboxRun {
 public:
  SandboxRun(const SandboxFlags& flags, Input input)
      : flags_(flags),
        input_(std::move(input)),
        nodes_(input_.cluster.kubelets.nodes.size()),
        loop_(flags.seed != 0 ? flags.seed : static_cast<std::uint64_t>(absl::ToUnixNanos(absl::Now()))) {}

  // All that is served stands, and nothing is decided yet.
  absl::Status Open() {
    GW_RETURN_IF_ERROR(CheckTogether(flags_));
    if (flags_.run == "process") {
      GW_RETURN_IF_ERROR(StartProcesses());
    }
    GW_RETURN_IF_ERROR(MakeIdentities());
    cluster_.emplace(loop_, std::move(input_.cluster));
    webhooks_.emplace(loop_);
    cluster_->api_server().SetWebhookCalls(
        [this](const sandbox::WebhookCall& call, kube::Client::Done done) { webhooks_->Call(call, std::move(done)); });
    GW_RETURN_IF_ERROR(Serve());
    GW_RETURN_IF_ERROR(WriteKubeconfig());
    return ServeDashboard();
  }

  // Until the goal is reached, or a signal or the time ends it. Returns the exit code.
  int Follow() {
    SeeRules();
    const bool has_goal = input_.run.goal.has_value();
    int exit_code = has_goal ? kNotReached : kDone;
    loop_.OnSignals({SIGHUP, SIGINT, SIGTERM}, owner_.token(), [this](int) { loop_.Stop(); });
    const std::unique_ptr<kube::Client> client = cluster_->NewClient("gangway");
    Run run(loop_, *client, std::move(input_.run), [&](const absl::Status& end) {
      exit_code = end.ok() ? kDone : absl::IsInvalidArgument(end) ? kNo : kNotReached;
      if (!end.ok()) {
        Say(kCommand, end.message());
      } else if (has_goal) {
        Put(stdout,
            absl::StrCat("\n", flags_.until, " after ",
                         api::FormatGoDuration(absl::Trunc(loop_.Now() - start_, absl::Milliseconds(1))), "\n"));
      }
      loop_.Stop();
    });
    PrintWelcome(flags_, nodes_, front_->url(), kubeconfig_, dashboard_ == nullptr ? "" : dashboard_->url(), warnings_);
    for (const sandbox::Component component : sandbox::kAllComponents) {
      const auto& wanted = input_.components;
      if (std::find(wanted.begin(), wanted.end(), component) != wanted.end()) cluster_->Start(component);
    }
    start_ = loop_.Now();
    run.Start();
    loop_.Run();
    TellUnusedRules();
    log::Flush();
    return exit_code;
  }

 private:
  absl::Status StartProcesses() {
    GW_ASSIGN_OR_RETURN(process_, StartProcessSandbox(flags_, loop_));
    warnings_ = WarningsOf(*process_);
    input_.cluster.workloads = true;
    process_->options.times = input_.cluster.kubelets.times;
    if (!flags_.show.empty()) process_->options.on_line = ShowLines(flags_, loop_, start_, input_.run.colours);
    input_.cluster.kubelets.make_runtime = [this](kube::Informers& informers, sandbox::OnContainers on_containers) {
      return std::make_unique<sandbox::ProcessRuntime>(informers, process_->options, *process_->host,
                                                       std::move(on_containers));
    };
    return absl::OkStatus();
  }

  // Where somebody asks for them.
  absl::Status MakeIdentities() {
    if (!flags_.rbac && !process_.has_value()) return absl::OkStatus();
    GW_ASSIGN_OR_RETURN(const std::string path, folder_.Path());
    GW_ASSIGN_OR_RETURN(certificates_, MakeSandboxCertificates(path, loop_.Now()));
    if (process_.has_value()) input_.cluster.api_server.root_ca = certificates_->authority.certificate;
    if (!flags_.rbac) return absl::OkStatus();
    GW_ASSIGN_OR_RETURN(identities_, MakeSandboxIdentities(flags_.users, certificates_->authority, loop_.Now()));
    input_.cluster.api_server.rbac = identities_->options;
    return absl::OkStatus();
  }

  absl::Status Serve() {
    handler_.emplace(cluster_->api_server(), &cluster_->pod_streams());
    kube::HttpFrontOptions options;
    options.port = static_cast<std::uint16_t>(flags_.port);
    options.max_bytes_in_flight = std::size_t{256} << 20;
    if (identities_.has_value()) SpeakTls(*certificates_, options);
    auto front = kube::HttpFront::Start(loop_, *handler_, options);
    if (!front.ok()) return Named("--port", front.status());
    front_ = *std::move(front);
    return process_.has_value() ? ServePods(std::move(options)) : absl::OkStatus();
  }

  // In TLS, as programs in pods expect it.
  absl::Status ServePods(kube::HttpFrontOptions options) {
    SpeakTls(*certificates_, options);
    options.port = 0;
    options.io_threads = 1;
    options.listener = process_->host->TakeApiListener();
    auto front = kube::HttpFront::Start(loop_, *handler_, options);
    if (!front.ok()) return Named("--run=process", front.status());
    front_of_pods_ = *std::move(front);
    process_->options.api_server_ip = process_->options.shared_network ? "127.0.0.1" : kApiServerIp;
    process_->options.api_server_port = front_of_pods_->port();
    return absl::OkStatus();
  }

  // As the flag says, or in its own folder.
  absl::Status WriteKubeconfig() {
    kube::KubeconfigEntry entry;
    entry.server = front_->url();
    if (identities_.has_value()) {
      entry.ca_data = certificates_->authority.certificate;
      entry.token = identities_->admin_token;
      entry.users = identities_->users;
    }
    kubeconfig_ = flags_.kubeconfig;
    if (kubeconfig_.empty()) {
      auto folder = folder_.Path();
      if (!folder.ok()) return Named("--kubeconfig", folder.status());
      kubeconfig_ = absl::StrCat(*folder, "/kubeconfig");
    }
    return Named("--kubeconfig", kube::WriteKubeconfig(kubeconfig_, entry));
  }

  // The sandbox itself reads for its page. Where not everybody may see all, that is nothing to have unasked: `gangway
  // dashboard` has its caller's rights.
  absl::Status ServeDashboard() {
    if (flags_.dashboard.empty() && (!flags_.until.empty() || flags_.rbac)) return absl::OkStatus();
    if (flags_.rbac) warnings_.push_back("whoever reaches the dashboard sees all, whatever roles say");
    viewer_ = cluster_->NewClient("gangway-dashboard");
    GW_ASSIGN_OR_RETURN(dashboard_, DashboardServer::Start(loop_, *viewer_, "--dashboard",
                                                           flags_.dashboard.empty() ? "127.0.0.1:0" : flags_.dashboard,
                                                           {front_->url(), {}}));
    return absl::OkStatus();
  }

  void SeeRules() {
    rules_.Add("--finish", flags_.finish);
    rules_.Add("--fail", flags_.fail);
    rules_.Add("--log", flags_.log);
    input_.run.on_pod = [this](const api::core::Pod& pod) { rules_.See(pod.metadata); };
    if (!flags_.apply.empty()) input_.run.on_started = [this] { TellUnusedRules(); };  // else more jobs may come
  }

  // Once each: when the jobs have started, and at the end.
  void TellUnusedRules() {
    for (const std::string& unused : rules_.Unused()) {
      if (told_.insert(unused.substr(0, unused.find(':'))).second) Say(kCommand, unused);
    }
  }

  const SandboxFlags& flags_;
  Input input_;
  const std::size_t nodes_;
  AsioLoop loop_;
  Owner owner_;
  absl::Time start_ = loop_.Now();
  std::optional<ProcessSandbox> process_;
  std::vector<std::string> warnings_;
  OwnFolder folder_;
  std::optional<SandboxCertificates> certificates_;
  std::optional<SandboxIdentities> identities_;
  std::optional<sandbox::Cluster> cluster_;
  std::optional<sandbox::WebhookHttpCalls> webhooks_;
  std::optional<sandbox::ApiServerHandler> handler_;
  std::unique_ptr<kube::HttpFront> front_, front_of_pods_;
  std::string kubeconfig_;  // where it is
  std::unique_ptr<kube::Client> viewer_;
  std::unique_ptr<DashboardServer> dashboard_;
  sandbox::RuleUse rules_;
  std::set<std::string> told_;  // which rules
};

}  // namespace

int RunSandbox(const SandboxFlags& flags) {
  const auto wrong = [](const absl::Status& status) {
    Say(kCommand, status.message());
    return kNoAnswer;
  };
  if (const absl::Status status = ConfigureLogs(flags); !status.ok()) return wrong(status);
  auto input = ReadInput(flags);
  if (!input.ok()) return wrong(input.status());
  SandboxRun run(flags, *std::move(input));
  if (const absl::Status status = run.Open(); !status.ok()) return wrong(status);
  return run.Follow();
}

}  // namespace gangway::cmd
