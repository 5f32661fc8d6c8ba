#include "sandbox/cluster/cluster.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "assembly/components.h"
#include "assembly/processes.h"
#include "base/check.h"
#include "sandbox/cluster/own_roles.h"
#include "sandbox/kubelet/volume_controller.h"
#include "sandbox/workloads/budget_controller.h"
#include "sandbox/workloads/workload_controller.h"

namespace gangway::sandbox {

namespace {

// Null: the kubelets, which are the sandbox's own.
const assembly::ProcessRow* RowOf(Component component) {
  switch (component) {
    case Component::kKubelets:
      return nullptr;
    case Component::kControllers:
      return &assembly::kControllers;
    case Component::kScheduler:
      return &assembly::kScheduler;
    case Component::kPaddleControllers:
      return &assembly::kPaddleControllers;
  }
  return nullptr;
}

}  // namespace

absl::string_view ClientName(Component component) {
  const assembly::ProcessRow* const row = RowOf(component);
  return row == nullptr ? "kubelet" : row->name;
}

std::optional<User> AccountOf(Component component) {
  const assembly::ProcessRow* const row = RowOf(component);
  if (row == nullptr) return std::nullopt;
  User user{.name = ServiceAccountUser(kOwnNamespace, absl::StrCat("gangway-", row->component)),
            .uid = {},
            .groups = ServiceAccountGroups(kOwnNamespace),
            .extra = {}};
  user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

struct Cluster::Process {
  Process(Loop& loop, ApiServer& server, Component component, bool rbac, Faults faults)
      : client(loop, server, std::string(ClientName(component)), std::move(faults)) {
    if (std::optional<User> user = rbac ? AccountOf(component) : std::nullopt) client.ActAs(*std::move(user));
  }
  InProcessClient client;
  std::unique_ptr<kube::Components> components;
  Kubelets* kubelets = nullptr;  // of these; null: it is another process
};

Cluster::Cluster(Loop& loop, ClusterOptions options)
    : loop_(loop),
      rbac_(options.api_server.rbac.has_value()),
      kubelets_options_(std::move(options.kubelets)),
      one_controller_process_(options.one_controller_process),
      workloads_(options.workloads),
      budgets_(options.budgets),
      label_source_(std::move(options.label_source)),
      policy_(std::move(options.policy)),
      audit_every_(options.audit_every),
      ssh_key_threads_(options.ssh_key_threads),
      faults_(std::move(options.faults)),
      clock_(std::move(options.clock)),
      server_(loop, std::move(options.api_server)),
      followed_logs_(loop, [this](const LogQuery& query) { return LogOfPod(query); }),
      pod_streams_(server_, [this]() -> Kubelets* {
        const auto& process = ProcessOf(Component::kKubelets);
        return process == nullptr ? nullptr : process->kubelets;
      }) {
  server_.SetPodLogs(
      [this](const LogQuery& query) -> absl::StatusOr<std::string> {
        const absl::StatusOr<ContainerLog> log = LogOfPod(query);
        if (!log.ok()) return log.status();
        std::string text;
        LogText(query, loop_.Now()).Append(*log, loop_.Now(), text);
        return text;
      },
      [this](const LogQuery& query, kube::Client::OnFrames on_frames, kube::Client::OnEnd on_end) {
        return followed_logs_.Start(query, std::move(on_frames), std::move(on_end));
      });
}

Cluster::~Cluster() {
  for (const Component component : kAllComponents) Stop(component);
}

std::unique_ptr<Cluster::Process>& Cluster::ProcessOf(Component component) {
  return processes_[static_cast<std::size_t>(component)];
}

void Cluster::Start() {
  for (const Component component : kAllComponents) {
    if (component != Component::kPaddleControllers || !one_controller_process_) Start(component);
  }
}

// As whoever installs it does; once, so that what is taken away stays away.
void Cluster::MakeRoles(Component component) {
  const assembly::ProcessRow* const row = RowOf(component);
  if (!rbac_ || row == nullptr || !roles_made_.insert(std::string(row->component)).second) return;
  static constexpr std::pair<absl::string_view, const api::Resource*> kKinds[] = {
      {"Namespace", &api::kNamespaces},
      {"ServiceAccount", &api::kServiceAccounts},
      {"Role", &api::kRoles},
      {"RoleBinding", &api::kRoleBindings},
      {"ClusterRole", &api::kClusterRoles},
      {"ClusterRoleBinding", &api::kClusterRoleBindings}};
  for (OwnObject& object : OwnRoles(row->component)) {
    const auto* const kind =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& each) { return each.first == object.kind; });
    kube::Request request;
    request.method = "POST";
    request.path = api::PathOf(*kind->second, object.ns);
    request.body = std::move(object.json);
    const kube::Response made = server_.Handle(request, Caller{.name = "sandbox"});
    GW_CHECK(made.ok() || made.code == 409);  // the namespace is there for the other one
  }
}

// What every cluster has beside its API server; they share informers, as the controllers of a controller manager do.
Kubelets& Cluster::AddClustersOwn(kube::Components& components) {
  kube::Informers& informers = components.informers();
  auto kubelets = std::make_unique<Kubelets>(informers, kubelets_options_);
  kubelets->SetOnPod([this](const std::string& uid) { followed_logs_.Poke(uid); });
  Kubelets& out = *kubelets;
  components.Add(std::move(kubelets));
  components.Add(std::make_unique<VolumeController>(informers));
  if (workloads_) components.Add(std::make_unique<WorkloadController>(informers));
  if (budgets_) components.Add(std::make_unique<BudgetController>(informers));
  return out;
}

void Cluster::Start(Component component) {
  GW_CHECK(!running(component));
  MakeRoles(component);
  auto process = std::make_unique<Process>(loop_, server_, component, rbac_, faults_ ? faults_(component) : Faults{});
  Loop& clock = clock_ ? clock_(component) : loop_;
  if (component == Component::kKubelets) {
    process->components = std::make_unique<kube::Components>(clock, process->client);
    process->kubelets = &AddClustersOwn(*process->components);
  } else {
    assembly::Options options;
    options.ssh.threads = ssh_key_threads_;
    options.scheduler.policy = policy_;
    options.scheduler.audit_every = audit_every_;
    if (label_source_.has_value()) options.label_source = std::make_shared<controller::LiveLabelSource>(*label_source_);
    options.translate.target = convert::Target::kGangway;
    std::vector<absl::string_view> names = {RowOf(component)->name};
    if (component == Component::kControllers && one_controller_process_)
      names.push_back(assembly::kPaddleControllers.name);
    process->components = assembly::MakeComponents(clock, process->client, names, options);
  }
  process->components->Start();
  ProcessOf(component) = std::move(process);
}

void Cluster::Stop(Component component) {
  ProcessOf(component).reset();
  if (component == Component::kKubelets) followed_logs_.BreakAll();
}

absl::StatusOr<ContainerLog> Cluster::LogOfPod(const LogQuery& query) {
  const auto& process = ProcessOf(Component::kKubelets);
  if (process == nullptr) return absl::UnavailableError("the kubelets are not running");
  return process->kubelets->Log({query.ns, query.pod}, query.uid, query.container, query.previous);
}

bool Cluster::running(Component component) const { return processes_[static_cast<std::size_t>(component)] != nullptr; }

void Cluster::BreakWatches(Component component) {
  if (auto& process = ProcessOf(component); process != nullptr) process->client.BreakWatches();
}

std::unique_ptr<InProcessClient> Cluster::NewClient(absl::string_view name, Faults faults) {
  return std::make_unique<InProcessClient>(loop_, server_, std::string(name), std::move(faults));
}

}  // namespace gangway::sandbox
