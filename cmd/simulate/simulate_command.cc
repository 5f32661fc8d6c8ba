#include "cmd/simulate/simulate_command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/duration.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cmd/conf/conf_files.h"
#include "cmd/simulate/course_text.h"
#include "cmd/simulate/jobs.h"
#include "cmd/simulate/snapshot_cluster.h"
#include "cmd/snapshot/file/snapshot.h"
#include "cmd/terminal/exit_code.h"
#include "cmd/terminal/output.h"

namespace gangway::cmd {
namespace {

constexpr char kSimulateCommand[] = "simulate";

// Up to what a snapshot may have, and a byte more, which its reader refuses.
absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  const std::size_t most = snapshot::SnapshotLimits().max_bytes + 1;
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::vector<char> part(1 << 16);
  while (text.size() < most && (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0))
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  return text;
}

}  // namespace

SimulateCommand::SimulateCommand(CommandLine app)
    : command_(
          app.Add(kSimulateCommand, "say which jobs would run when, in a snapshot of a cluster and virtual time")) {
  command_.Footer(
      "Decides as the scheduler does, with the same code; reads and changes no cluster. A job runs as long as its\n"
      "annotation gangway.io/expected-runtime says, or else as others of the same spec took before; one of\n"
      "--jobs comes when gangway.io/arrives says. See docs/planning.md.\n"
      "Exit code: 0 printed, 1 a job never starts, 2 a flag or a file is wrong.\n\n"
      "  gangway snapshot -o cluster.json && gangway simulate cluster.json\n"
      "  gangway simulate cluster.json --jobs next-week.yaml -o svg > next-week.svg\n"
      "  gangway simulate cluster.json --jobs next-week.csv --scheduler-conf volcano-scheduler.conf");
  command_.Add("snapshot", snapshot_, "file of gangway snapshot; - is standard input").Required();
  command_.Add("--jobs", jobs_, "jobs to come: Jobs and PaddleJobs, or a table with a column job");
  command_.Add("-o,--output", output_, "json, or svg: a Gantt chart; default: tables").OneOf({"table", "json", "svg"});
  command_.Add("--runs", runs_, "how long a job runs that does not say").ShowDefault();
  command_.Add("--scheduler-name", scheduler_name_, "whose pods are placed").ShowDefault();
  command_
      .Add("--scheduler-conf", scheduler_conf_,
           "how that scheduler decides: its file of that flag; default: as without one")
      .FromEnvironment("GANGWAY_SCHEDULER_CONF");
}

bool SimulateCommand::chosen() const { return command_.chosen(); }

absl::StatusOr<simulate::Course> SimulateCommand::Live() const {
  simulate::Options options;
  const auto runs = api::ParseGoDuration(runs_);
  if (!runs.ok() || *runs <= absl::ZeroDuration())
    return absl::InvalidArgumentError(absl::StrCat("--runs ", runs_, ": write a number and a unit, such as 2h"));
  options.runs = *runs;
  if (!scheduler_conf_.empty()) {
    const absl::StatusOr<conf::SchedulerConf> conf = ReadPolicyFile(scheduler_conf_);
    if (!conf.ok()) return absl::InvalidArgumentError(absl::StrCat("--scheduler-conf: ", conf.status().message()));
    options.policy = conf->policy;
  }
  GW_ASSIGN_OR_RETURN(const std::string text, ReadWhole(snapshot_));
  GW_ASSIGN_OR_RETURN(const snapshot::Snapshot snapshot, snapshot::ReadSnapshot(text, snapshot_));
  const absl::StatusOr<SnapshotCluster> cluster = ClusterOf(snapshot, scheduler_name_);
  if (!cluster.ok()) return absl::InvalidArgumentError(absl::StrCat(snapshot_, ": ", cluster.status().message()));
  std::vector<simulate::Arrival> arrivals = cluster->without_group;
  if (!jobs_.empty()) {
    GW_ASSIGN_OR_RETURN(const std::string jobs_text, ReadWhole(jobs_));
    GW_ASSIGN_OR_RETURN(std::vector<api::volcano::Job> jobs, ReadJobs(jobs_text, jobs_));
    std::size_t known = cluster->jobs;
    for (api::volcano::Job& job : jobs) {
      absl::StatusOr<simulate::Arrival> arrival =
          ArrivalOf(std::move(job), ++known, snapshot.taken, cluster->classes, scheduler_name_, cluster->history);
      if (!arrival.ok()) return absl::InvalidArgumentError(absl::StrCat(jobs_, ": ", arrival.status().message()));
      arrivals.push_back(*std::move(arrival));
    }
  }
  GW_ASSIGN_OR_RETURN(simulate::Course course,
                      simulate::Simulate(cluster->facts, snapshot.taken, std::move(arrivals), options));
  for (simulate::Story& story : course.gangs) {
    const auto job = cluster->job_of.find(absl::StrCat(story.ns, "/", story.name));
    story.name = job == cluster->job_of.end() ? JobNameOf(story.name) : job->second;
  }
  return course;
}

int SimulateCommand::Run() const {
  log::Options logs;
  logs.level = log::Level::kError;  // what goes wrong is told in the command's own words
  log::Configure(std::move(logs));
  const absl::StatusOr<simulate::Course> course = Live();
  if (!course.ok()) return Complain(kSimulateCommand, course.status());
  const bool printed = output_ == "json"  ? PutExact(stdout, CourseJson(*course))
                       : output_ == "svg" ? PutExact(stdout, CourseSvg(*course))
                                          : Put(stdout, CourseText(*course));
  if (!printed) return kNoAnswer;
  for (const simulate::Story& story : course->gangs) {
    if (!story.started.has_value()) return kNo;
  }
  return kDone;
}

}  // namespace gangway::cmd
