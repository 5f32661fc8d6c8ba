// gangway: gangs of PaddlePaddle jobs on Kubernetes.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cmd/archive/archive_command.h"
#include "cmd/completion/completion_command.h"
#include "cmd/dashboard/dashboard_command.h"
#include "cmd/diff/diff_command.h"
#include "cmd/doctor/doctor_command.h"
#include "cmd/explain/explain_command.h"
#include "cmd/gangway/crds_command.h"
#include "cmd/gangway/sandbox_command.h"
#include "cmd/import/import_command.h"
#include "cmd/job/job_command.h"
#include "cmd/job/queue_command.h"
#include "cmd/launch/launch_command.h"
#include "cmd/logs/logs_command.h"
#include "cmd/process/process_command.h"
#include "cmd/simulate/simulate_command.h"
#include "cmd/snapshot/snapshot_command.h"
#include "cmd/submit/submit_command.h"
#include "cmd/terminal/command_line.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"
#include "cmd/terminal/version.h"
#include "cmd/top/top_command.h"
#include "cmd/translate/translate_command.h"
#include "cmd/validate/validate_command.h"
#include "cmd/version/version_command.h"
#include "sandbox/process/host/warden.h"

namespace {

void AddSandbox(gangway::cmd::CommandLine app, gangway::cmd::SandboxFlags& flags) {
  gangway::cmd::CommandLine sandbox =
      app.Add("sandbox", "an embedded cluster in this process that kubectl can talk to");
  sandbox.Footer(
      "Nodes are simulated, containers too: they run until they are deleted, or as --finish and --fail say. With "
      "--run=process they are processes of this machine.\n"
      "Exit code: 0 the goal of --until was reached, 1 an object of --apply was refused, 2 a flag or a file is wrong, "
      "3 the goal was not reached.\n\n"
      "  gangway sandbox                                    stays up; prints how to point kubectl at it\n"
      "  gangway sandbox --apply job.yaml --finish trainer=5s --until job/ctr-volcano=Completed");
  sandbox.Add("--nodes", flags.nodes, "how many nodes of each --node-shape that has no count")
      .Within(0, 100000)
      .ShowDefault();
  sandbox.Add("--node-shape", flags.node_shapes,
              "what nodes look like (repeatable): "
              "cpu=16,memory=64Gi,nvidia.com/gpu=8,label:zone=a,taint:dedicated=ml:NoSchedule,count=2");
  sandbox.Add("--apply", flags.apply,
              "job file, or file of gangway snapshot, to create at the start (repeatable; - is standard input)");
  sandbox.Add("--until", flags.until,
              "end when job/NAME=PHASE (or pdj/..., podgroup/..., pod/...; NAME may be NAMESPACE/NAME)");
  sandbox.Add("--timeout", flags.timeout, "end after this long, such as 60s; with --until that is a failure");
  sandbox.Add("--finish", flags.finish, "containers that end well (repeatable): trainer=5s, trainer-1=5s");
  sandbox.Add("--fail", flags.fail,
              "containers that fail (repeatable): worker-1=3s:137, worker-1=3s:137x1 for the first run only");
  sandbox.Add(
      "--log", flags.log,
      "what containers write (repeatable): trainer=500ms, trainer-1=2s:loss falls; a line a second unless said");
  sandbox
      .Add("--run", flags.run,
           "what containers are: simulated, or process: their commands run on this machine, which is no security "
           "boundary")
      .OneOf({"simulated", "process"})
      .ShowDefault();
  sandbox.Add("--image", flags.images,
              "what an image's containers run in, a root folder or a Python virtual environment, with --run=process "
              "(repeatable): paddle:2.6=/opt/venv, '*=/opt/venv'; others see the machine's own programs");
  sandbox
      .Add("--network", flags.network,
           "of pods with --run=process: own, where pods reach each other and nothing else, or shared, the machine's, "
           "where each has a loopback address")
      .OneOf({"own", "shared"})
      .ShowDefault();
  sandbox.Add("--volumes", flags.volumes,
              "folder that keeps what is written to claims with --run=process; default: they go with the sandbox");
  sandbox.Add(
      "--show", flags.show,
      "whose output is printed with --run=process (repeatable): worker, worker-0, or * for all; worker=loss: its lines "
      "with that word");
  sandbox.Add("--start-delay", flags.start_delay, "how long a simulated container takes to start").ShowDefault();
  sandbox.Add("--stop-delay", flags.stop_delay, "how long it takes to stop, at most the pod's grace period")
      .ShowDefault();
  sandbox.Add("--port", flags.port, "of the API server on 127.0.0.1; 0: any free one").Within(0, 65535).ShowDefault();
  sandbox.Add("--dashboard", flags.dashboard,
              "HOST:PORT of a page that shows the cluster; default: 127.0.0.1:0, any free port, and with --until or "
              "--rbac none");
  sandbox.Add("--runtime-config", flags.runtime_config,
              "alpha version that the API server serves, too (repeatable): scheduling.k8s.io/v1alpha2=true");
  sandbox.AddSwitch("--rbac", flags.rbac,
                    "roles and bindings are in force: TLS, tokens, kubectl --as, auth can-i; default: everybody may do "
                    "everything");
  sandbox.Add("--user", flags.users,
              "somebody with a client certificate, and a context of that name in the kubeconfig, with --rbac "
              "(repeatable): jane, or jane=team-a,team-b with groups");
  sandbox.Add("--kubeconfig", flags.kubeconfig, "where to write the kubeconfig; default: a temporary file");
  sandbox
      .Add("--components", flags.components,
           "which of kubelets, controllers and scheduler run beside the API server, separated by commas; "
           "apiserver: none of them")
      .ShowDefault();
  sandbox.Add("--scheduler-conf", flags.scheduler_conf,
              "how the scheduler decides: file as Volcano's volcano-scheduler.conf");
  sandbox.Add("--controller-conf", flags.controller_conf,
              "which labels of nodes make HyperNodes: file as Volcano's volcano-controller.conf");
  sandbox.AddSwitch("--quiet", flags.quiet, "print no account of jobs and pods");
  sandbox.Add("--log-level", flags.log_level, "debug, info, warning, error or off").ShowDefault();
  sandbox.Add("--log-format", flags.log_format, "text or json").OneOf({"text", "json"}).ShowDefault();
  sandbox.Add("--seed", flags.seed, "of everything random; 0: by the clock").NotNegative().ShowDefault();
}

void AddCrds(gangway::cmd::CommandLine app, std::vector<std::string>& names) {
  gangway::cmd::CommandLine crds =
      app.Add("crds",
              "print the CustomResourceDefinitions of Volcano's types: jobs, cron jobs, job "
              "flows, pod groups, queues and others; by name also PaddleJob's");
  crds.Footer("  gangway crds | kubectl apply --server-side -f -\n  gangway crds jobs.batch.volcano.sh");
  crds.Add("name", names, "only these (default: all of Volcano's): jobs.batch.volcano.sh");
}

// `gangway extender` is a program of its own beside this one: gRPC's libraries alone take a process more than four
// megabytes.
int RunExtender(char** argv) {
  std::error_code error;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "gangway-extender";
  argv[1] = argv[0];
  execv(program.c_str(), argv + 1);
  const int why = errno;
  gangway::cmd::Say("extender", absl::StrCat(program.string(), ": ", std::strerror(why)));
  if (why == ENOENT) {
    gangway::cmd::Put(
        stderr,
        "\nIt is a program of its own, which stands beside gangway and is built only when it is asked for:\n"
        "  cmake --preset release && cmake --build --preset release --target gangway-extender\n"
        "Its flags are in docs/extender.md.\n");
  }
  return gangway::cmd::kNoAnswer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "extender") == 0) return RunExtender(argv);
  if (argc > 1 && std::strcmp(argv[1], gangway::sandbox::kContainerHostCommand) == 0)
    return gangway::sandbox::RunContainerHost(argc, argv);
  gangway::cmd::MainCommand app(
      "gangway",
      "Gangway runs PaddlePaddle training jobs on Kubernetes as gangs: all members of a job start together or none "
      "does.",
      gangway::cmd::VersionLine());
  app.RequireCommand();
  // A command that the first argument names is the only one that is set up: the hundreds of flags of all of them take
  // longer than a small file.
  std::vector<std::string> commands;
  const bool completes = argc > 1 && std::strcmp(argv[1], gangway::cmd::kCompleteCommand) == 0;
  const auto named = [&](const char* name) {
    return argc < 2 || argv[1][0] == '-' || completes || std::strcmp(argv[1], name) == 0;
  };
  const auto wants = [&](const char* name) {
    commands.emplace_back(name);
    return named(name);
  };
  gangway::cmd::SandboxFlags sandbox;
  std::vector<std::string> crds;
  std::optional<gangway::cmd::ProcessCommand> scheduler, controller;
  std::optional<gangway::cmd::TranslateCommand> translate;
  std::optional<gangway::cmd::DiffCommand> diff;
  std::optional<gangway::cmd::SubmitCommand> submit;
  std::optional<gangway::cmd::LaunchCommand> launch;
  std::optional<gangway::cmd::ValidateCommand> validate;
  std::optional<gangway::cmd::DoctorCommand> doctor;
  std::optional<gangway::cmd::ExplainCommand> explain;
  std::optional<gangway::cmd::DashboardCommand> dashboard;
  std::optional<gangway::cmd::TopCommand> top;
  std::optional<gangway::cmd::SnapshotCommand> snapshot;
  std::optional<gangway::cmd::SimulateCommand> simulate;
  std::optional<gangway::cmd::ArchiveCommand> archive;
  std::optional<gangway::cmd::ImportCommand> imports;
  std::optional<gangway::cmd::JobCommand> job;
  std::optional<gangway::cmd::QueueCommand> queue;
  std::optional<gangway::cmd::LogsCommand> logs;
  std::optional<gangway::cmd::VersionCommand> version;
  std::optional<gangway::cmd::CompletionCommand> completion;
  if (wants("sandbox")) AddSandbox(app, sandbox);
  if (wants("crds")) AddCrds(app, crds);
  if (wants("extender")) app.Add("extender", "placement and job policies as a gRPC service (gangway.v1)");
  if (wants("scheduler")) scheduler.emplace(app, gangway::cmd::ProcessKind::kScheduler);
  if (wants("controller")) controller.emplace(app, gangway::cmd::ProcessKind::kController);
  if (wants("translate")) translate.emplace(app);
  if (wants("diff")) diff.emplace(app);
  if (wants("submit")) submit.emplace(app);
  if (wants("run")) launch.emplace(app);
  if (wants("validate")) validate.emplace(app);
  if (wants("doctor")) doctor.emplace(app);
  if (wants("explain")) explain.emplace(app);
  if (wants("dashboard")) dashboard.emplace(app);
  if (wants("top")) top.emplace(app);
  if (wants("snapshot")) snapshot.emplace(app);
  if (wants("simulate")) simulate.emplace(app);
  if (wants("archive")) archive.emplace(app);
  if (wants("import")) imports.emplace(app);
  if (wants("job")) job.emplace(app);
  if (wants("queue")) queue.emplace(app);
  if (wants("logs")) logs.emplace(app);
  if (wants("completion")) completion.emplace(app);
  if (wants("version")) version.emplace(app);
  if (completes) return gangway::cmd::PrintCompletions(app, {argv + 2, argv + argc});
  if (argc > 1 && argv[1][0] != '-' && std::count(commands.begin(), commands.end(), argv[1]) == 0) {
    gangway::cmd::Note(absl::StrCat("gangway: ", gangway::cmd::NoSuchCommand(argv[1], commands, "gangway")));
    return gangway::cmd::kNoAnswer;
  }
  const auto chosen = [](const auto& command) { return command.has_value() && command->chosen(); };
  if (const std::optional<int> code = app.Read(argc, argv)) return *code;
  const auto got = [&](const char* name) { return app.chosen_below() == name; };
  if (chosen(version)) return version->Run();
  if (chosen(completion)) return completion->Run();
  if (chosen(job)) return job->Run();
  if (chosen(queue)) return queue->Run();
  if (chosen(logs)) return logs->Run();
  if (got("crds")) return gangway::cmd::PrintCrds(crds);
  if (chosen(translate)) return translate->Run();
  if (chosen(diff)) return diff->Run();
  if (chosen(submit)) return submit->Run();
  if (chosen(launch)) return launch->Run();
  if (chosen(validate)) return validate->Run();
  if (chosen(doctor)) return doctor->Run();
  if (chosen(explain)) return explain->Run();
  if (chosen(dashboard)) return dashboard->Run();
  if (chosen(top)) return top->Run();
  if (chosen(snapshot)) return snapshot->Run();
  if (chosen(simulate)) return simulate->Run();
  if (chosen(archive)) return archive->Run();
  if (chosen(imports)) return imports->Run();
  if (chosen(scheduler)) return scheduler->Run();
  if (chosen(controller)) return controller->Run();
  return gangway::cmd::RunSandbox(sandbox);
}
