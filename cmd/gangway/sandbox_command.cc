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

// Where the kubeconfig of this sandbox is written: as the flag says, or in its own folder.
absl::StatusOr<std::string> WriteKubeconfig(const std::string& path, OwnFolder& folder,
                                            const kube::KubeconfigEntry& entry) {
  std::string at = path;
  if (at.empty()) {
    GW_ASSIGN_OR_RETURN(at, folder.Path());
    at += "/kubeconfig";
  }
  GW_RETURN_IF_ERROR(kube::WriteKubeconfig(at, entry));
  return at;
}

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

}  // namespace

int RunSandbox(const SandboxFlags& flags) {
  const auto wrong = [](const absl::Status& status) {
    Say(kCommand, status.message());
    return kNoAnswer;
  };
  if (const absl::Status status = ConfigureLogs(flags); !status.ok()) return wrong(status);
  auto input = ReadInput(flags);
  if (!input.ok()) return wrong(input.status());
  const std::size_t nodes = input->cluster.kubelets.nodes.size();

  AsioLoop loop(flags.seed != 0 ? flags.seed : static_cast<std::uint64_t>(absl::ToUnixNanos(absl::Now())));
  Owner owner;
  absl::Time start = loop.Now();
  std::optional<ProcessSandbox> process;
  std::vector<std::string> warnings;
  if (flags.run != "process" && (!flags.images.empty() || !flags.volumes.empty() || !flags.show.empty() ||
                                 flags.network != SandboxFlags().network))
    return wrong(absl::InvalidArgumentError("--image, --network, --volumes and --show are for --run=process"));
  if (!flags.rbac && !flags.users.empty())
    return wrong(absl::InvalidArgumentError("--user is for --rbac: without, everybody may do everything"));
  if (flags.run == "process") {
    auto started = StartProcessSandbox(flags, loop);
    if (!started.ok()) return wrong(started.status());
    process = *std::move(started);
    warnings = WarningsOf(*process);
    input->cluster.workloads = true;
    process->options.times = input->cluster.kubelets.times;
    if (!flags.show.empty()) process->options.on_line = ShowLines(flags, loop, start, input->run.colours);
    input->cluster.kubelets.make_runtime = [&](kube::Informers& informers, sandbox::OnContainers on_containers) {
      return std::make_unique<sandbox::ProcessRuntime>(informers, process->options, *process->host,
                                                       std::move(on_containers));
    };
  }
  OwnFolder folder;
  std::optional<SandboxCertificates> certificates;
  std::optional<SandboxIdentities> identities;
  if (flags.rbac || process.has_value()) {
    const auto path = folder.Path();
    if (!path.ok()) return wrong(path.status());
    auto made = MakeSandboxCertificates(*path, loop.Now());
    if (!made.ok()) return wrong(made.status());
    certificates = *std::move(made);
  }
  if (process.has_value()) input->cluster.api_server.root_ca = certificates->authority.certificate;
  if (flags.rbac) {
    auto made = MakeSandboxIdentities(flags.users, certificates->authority, loop.Now());
    if (!made.ok()) return wrong(made.status());
    identities = *std::move(made);
    input->cluster.api_server.rbac = identities->options;
  }
  sandbox::Cluster cluster(loop, std::move(input->cluster));
  sandbox::WebhookHttpCalls webhooks(loop);
  cluster.api_server().SetWebhookCalls(
      [&webhooks](const sandbox::WebhookCall& call, kube::Client::Done done) { webhooks.Call(call, std::move(done)); });
  sandbox::ApiServerHandler handler(cluster.api_server(), &cluster.pod_streams());
  kube::HttpFrontOptions front_options;
  front_options.port = static_cast<std::uint16_t>(flags.port);
  front_options.max_bytes_in_flight = std::size_t{256} << 20;
  if (identities.has_value()) SpeakTls(*certificates, front_options);
  auto front = kube::HttpFront::Start(loop, handler, front_options);
  if (!front.ok()) return wrong(Named("--port", front.status()));
  std::unique_ptr<kube::HttpFront> front_of_pods;  // in TLS, as programs in pods expect it
  if (process.has_value()) {
    kube::HttpFrontOptions options = front_options;
    SpeakTls(*certificates, options);
    options.port = 0;
    options.io_threads = 1;
    options.listener = process->host->TakeApiListener();
    auto started = kube::HttpFront::Start(loop, handler, options);
    if (!started.ok()) return wrong(Named("--run=process", started.status()));
    front_of_pods = *std::move(started);
    process->options.api_server_ip = process->options.shared_network ? "127.0.0.1" : kApiServerIp;
    process->options.api_server_port = front_of_pods->port();
  }
  kube::KubeconfigEntry entry;
  entry.server = (*front)->url();
  if (identities.has_value()) {
    entry.ca_data = certificates->authority.certificate;
    entry.token = identities->admin_token;
    entry.users = identities->users;
  }
  const auto kubeconfig = WriteKubeconfig(flags.kubeconfig, folder, entry);
  if (!kubeconfig.ok()) return wrong(Named("--kubeconfig", kubeconfig.status()));

  // The sandbox itself reads for its page. Where not everybody may see all, that is nothing to have unasked: `gangway
  // dashboard` has its caller's rights.
  const std::unique_ptr<kube::Client> viewer = cluster.NewClient("gangway-dashboard");
  std::unique_ptr<DashboardServer> dashboard;
  if (!flags.dashboard.empty() || (flags.until.empty() && !flags.rbac)) {
    if (flags.rbac) warnings.push_back("whoever reaches the dashboard sees all, whatever roles say");
    auto served = DashboardServer::Start(
        loop, *viewer, "--dashboard", flags.dashboard.empty() ? "127.0.0.1:0" : flags.dashboard, {(*front)->url(), {}});
    if (!served.ok()) return wrong(served.status());
    dashboard = *std::move(served);
  }

  sandbox::RuleUse rules;
  rules.Add("--finish", flags.finish);
  rules.Add("--fail", flags.fail);
  rules.Add("--log", flags.log);
  std::set<std::string> told;  // once each: when the jobs have started, and at the end
  const auto tell_unused = [&] {
    for (const std::string& unused : rules.Unused()) {
      if (told.insert(unused.substr(0, unused.find(':'))).second) Say(kCommand, unused);
    }
  };
  input->run.on_pod = [&](const api::core::Pod& pod) { rules.See(pod.metadata); };
  if (!flags.apply.empty()) input->run.on_started = tell_unused;  // else more jobs may come

  const bool has_goal = input->run.goal.has_value();
  int exit_code = has_goal ? kNotReached : kDone;
  loop.OnSignals({SIGHUP, SIGINT, SIGTERM}, owner.token(), [&](int) { loop.Stop(); });
  const std::unique_ptr<kube::Client> client = cluster.NewClient("gangway");
  Run run(loop, *client, std::move(input->run), [&](const absl::Status& end) {
    exit_code = end.ok() ? kDone : absl::IsInvalidArgument(end) ? kNo : kNotReached;
    if (!end.ok()) {
      Say(kCommand, end.message());
    } else if (has_goal) {
      Put(stdout, absl::StrCat("\n", flags.until, " after ",
                               api::FormatGoDuration(absl::Trunc(loop.Now() - start, absl::Milliseconds(1))), "\n"));
    }
    loop.Stop();
  });
  PrintWelcome(flags, nodes, (*front)->url(), *kubeconfig, dashboard == nullptr ? "" : dashboard->url(), warnings);
  for (const sandbox::Component component : sandbox::kAllComponents) {
    const auto& wanted = input->components;
    if (std::find(wanted.begin(), wanted.end(), component) != wanted.end()) cluster.Start(component);
  }
  start = loop.Now();
  run.Start();
  loop.Run();
  tell_unused();
  log::Flush();
  return exit_code;
}

}  // namespace gangway::cmd
