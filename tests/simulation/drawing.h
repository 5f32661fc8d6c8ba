// What the kinds of contended histories are drawn with: a job as text, what befalls it, and what its user does.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_resources.h"
#include "base/random.h"
#include "base/strings.h"
#include "tests/simulation/contended.h"

namespace gangway::testutil::drawing {

// What befalls a job, and its policies.
struct Trouble {
  enum class Kind { kNone, kFails, kRestartsInPlace, kEvicted } kind;
  const char* policies;
};
inline constexpr std::array kTroubles{
    Trouble{Trouble::Kind::kNone, ""},
    Trouble{Trouble::Kind::kNone,
            R"({"event":"PodFailed","action":"RestartJob"},{"event":"PodEvicted","action":"RestartJob"})"},
    Trouble{Trouble::Kind::kNone, R"({"event":"PodPending","action":"AbortJob","timeout":"90s"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"RestartJob"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"RestartJob","timeout":"10s"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"RestartTask"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"RestartPod"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"AbortJob"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"TerminateJob"})"},
    Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"CompleteJob"})"},
    Trouble{Trouble::Kind::kFails, R"({"exitCode":7,"action":"RestartJob"})"},
    Trouble{Trouble::Kind::kEvicted, R"({"event":"*","action":"RestartJob"})"},
    Trouble{Trouble::Kind::kEvicted, R"({"event":"PodEvicted","action":"RestartTask"})"},
    Trouble{Trouble::Kind::kEvicted, R"({"event":"PodEvicted","action":"RestartPod"})"},
    Trouble{Trouble::Kind::kEvicted, R"({"event":"PodEvicted","action":"TerminateJob"})"},
    Trouble{Trouble::Kind::kEvicted, ""},
    Trouble{Trouble::Kind::kRestartsInPlace, R"({"event":"TaskFailed","action":"RestartJob"})"},
    Trouble{Trouble::Kind::kRestartsInPlace, R"({"event":"TaskFailed","action":"TerminateJob"})"},
    Trouble{Trouble::Kind::kEvicted, R"({"event":"Unknown","action":"RestartJob"})"},
    Trouble{Trouble::Kind::kEvicted, R"({"events":["PodEvicted","JobUpdated"],"action":"RestartJob"})"},
    Trouble{Trouble::Kind::kFails,
            R"({"event":"PodFailed","action":"AbortJob"},{"event":"PodEvicted","action":"ResumeJob"})"},
};

// Tasks of a job: servers, trainers whose end is the job's. Trainers beyond the minimum may wait for what servers of
// other jobs hold, whose trainers wait, too: so servers end some time.
struct Shape {
  int servers, min_servers, trainers, min_trainers, min_available;
};

inline constexpr std::array kCpus{1, 2, 3, 4, 5, 6, 8};

struct Command {
  const char* first;
  const char* then;  // a while later; "" = nothing
};
inline constexpr std::array kCommands{Command{"AbortJob", "ResumeJob"}, Command{"AbortJob", ""},
                                      Command{"TerminateJob", ""}, Command{"CompleteJob", ""},
                                      Command{"RestartJob", ""}};

inline UserRequest Create(const api::Resource& resource, std::string body) {
  return {"POST", &resource, "", "", std::move(body)};
}
inline UserRequest Delete(const api::Resource& resource, std::string name) {
  return {"DELETE", &resource, std::move(name), "", ""};
}

struct Job {
  std::string name, queue, priority, policies, plugins, labels;
  std::string topology, part_topology;
  std::string annotations;  // of its pods, each behind a comma
  Shape shape;
  int cpu = 1, host_port = 0;
  std::string outcome, servers_outcome, pod_spec;
  std::optional<absl::Duration> lasts;  // of its trainers, unless by chance
  bool restarts_in_place = false;       // its containers, of which none may more than once
  bool says_nothing_of_it = false;      // neither its spec nor its pods: the kubelets know
  bool servers_stay = false;            // until the job ends
  bool in_turn = false;                 // trainers after servers
  bool left_alone = false;              // its user does nothing about it
  int partitions = 0;                   // of two trainers each

  std::string TaskText(absl::string_view task, int replicas, int minimum, absl::string_view extra,
                       absl::string_view outcome_of_task) const {
    return absl::StrCat(
        R"({"name":")", task, R"(","replicas":)", replicas, R"(,"minAvailable":)", minimum, extra,
        R"(,"template":{"metadata":{"labels":{"role":")", task, R"(")", labels, R"(},"annotations":{)", outcome_of_task,
        annotations, R"(}},"spec":{"restartPolicy":")", restarts_in_place ? "OnFailure" : "Never", R"(",)", pod_spec,
        R"("containers":[{"name":"main","image":"paddle","resources":{"requests":{"cpu":")", cpu,
        R"(","memory":"1Gi"}})",
        host_port == 0 ? ""
                       : absl::StrCat(R"(,"ports":[{"containerPort":)", host_port, R"(,"hostPort":)", host_port, "}]"),
        "}]}}}");
  }
  std::string Tasks() const {
    std::vector<std::string> tasks;
    if (shape.servers > 0) tasks.push_back(TaskText("ps", shape.servers, shape.min_servers, "", servers_outcome));
    std::string extra = R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}])";
    if (restarts_in_place) absl::StrAppend(&extra, R"(,"maxRetry":1)");
    if (in_turn) absl::StrAppend(&extra, R"(,"dependsOn":{"name":["ps"]})");
    if (partitions > 0)
      absl::StrAppend(&extra, R"(,"partitionPolicy":{"totalPartitions":)", partitions,
                      R"(,"partitionSize":2,"minPartitions":)", partitions, part_topology, "}");
    tasks.push_back(TaskText("w", shape.trainers, shape.min_trainers, extra, outcome));
    return absl::StrCat(R"("tasks":[)", absl::StrJoin(tasks, ","), "]");
  }
  std::string Text() const {
    return absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                        R"("},"spec":{"schedulerName":"volcano","maxRetry":2,"queue":")", queue, R"(",)",
                        priority.empty() ? "" : absl::StrCat(R"("priorityClassName":")", priority, R"(",)"), plugins,
                        topology, R"("minAvailable":)", shape.min_available, R"(,"policies":[)", policies, "],",
                        Tasks(), "}}");
  }
  std::string Summary() const {
    return absl::StrCat(name, " in ", queue, priority.empty() ? "" : absl::StrCat(" (", priority, ")"), ", ",
                        shape.servers, "+", shape.trainers, " pods of cpu ", cpu, ", minima ", shape.min_servers, "+",
                        shape.min_trainers, ", minAvailable ", shape.min_available,
                        host_port == 0 ? "" : absl::StrCat(", port ", host_port));
  }
};

class Drawing {
 protected:
  explicit Drawing(std::uint64_t seed) : random_(seed) {}

  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  int Between(int low, int high) {
    return low + static_cast<int>(random_.Below(static_cast<std::uint64_t>(high - low + 1)));
  }
  absl::Duration Seconds(int low, int high) { return absl::Milliseconds(Between(low * 1000, high * 1000)); }
  template <class Table>
  auto Of(const Table& table) {
    return table[random_.Below(table.size())];
  }
  // Of the doing that was begun last.
  void At(absl::Duration at, UserRequest request) { result_.doings.back().steps.push_back({at, std::move(request)}); }
  Doing& Begin(std::string text) { return result_.doings.emplace_back(Doing{std::move(text), {}, false}); }

  // "1.2s user: job-3, ...; 20s DELETE jobs job-3".
  static void Tell(Doing& doing) {
    const auto time = [](const UserStep& step) { return absl::FormatDuration(step.at); };
    doing.text = absl::StrCat(time(doing.steps.front()), " user: ", doing.text);
    for (std::size_t i = 1; i < doing.steps.size(); ++i) {
      const UserRequest& request = doing.steps[i].request;
      absl::StrAppend(&doing.text, "; ", time(doing.steps[i]), " ", request.method, " ", View(request.resource->plural),
                      request.name.empty() ? "" : " ", request.name, request.subresource.empty() ? "" : "/",
                      request.subresource);
    }
  }

  static std::string FinishAfter(absl::Duration time) {
    return absl::StrCat(R"("sandbox.gangway.io/finish":")", absl::ToInt64Milliseconds(time), R"(ms")");
  }

  // What its pods and its user do.
  void Befall(Job& job, const Trouble& trouble, std::optional<absl::Duration> comes = std::nullopt) {
    job.name = absl::StrCat("job-", jobs_++);
    Begin(job.Summary()).makes_job = true;
    job.policies = trouble.policies;
    job.outcome = FinishAfter(job.lasts.has_value() ? *job.lasts : Seconds(40, 120));
    for (int pod = 0; job.says_nothing_of_it && pod < job.shape.trainers; ++pod)
      result_.finish.push_back(absl::StrCat(job.name, "-w-", pod, "=", absl::ToInt64Milliseconds(*job.lasts), "ms"));
    if (job.says_nothing_of_it) job.outcome.clear();
    if (!job.servers_stay) job.servers_outcome = FinishAfter(Seconds(150, 300));
    job.restarts_in_place = trouble.kind == Trouble::Kind::kRestartsInPlace;
    if (trouble.kind == Trouble::Kind::kFails || job.restarts_in_place)
      absl::StrAppend(&job.outcome, R"(,"sandbox.gangway.io/fail":")", Between(5, 20), R"(s:7x1")");
    const absl::Duration at =
        comes.has_value() ? *comes : (Chance(70) ? Seconds(0, 2) : Seconds(0, 120)) + begin_;  // many at once
    At(at, Create(api::kJobs, job.Text()));
    if (trouble.kind == Trouble::Kind::kEvicted) At(at + Seconds(5, 120), Evict(absl::StrCat(job.name, "-w-0")));
    if (!job.left_alone) Meddle(job, at);
  }

  static UserRequest Evict(const std::string& pod) {
    return {"POST", &api::kPods, pod, "eviction",
            absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", pod,
                         R"(","namespace":"default"}})")};
  }
  static UserRequest Send(const char* action, const std::string& job) {
    return Create(
        api::kCommands,
        absl::StrCat(R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"generateName":")", job,
                     R"(-"},"action":")", action,
                     R"(","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":")", job, R"("}})"));
  }

  // What its user does about a job.
  void Meddle(Job job, absl::Duration at) {
    const absl::Duration when = at + Seconds(2, 120);
    const int what = Between(0, 99);
    if (what < 25) {
      const Command command = Of(kCommands);
      At(when, Send(command.first, job.name));
      if (*command.then != '\0') At(when + Seconds(5, 40), Send(command.then, job.name));
    } else if (what < 35) {
      At(when, Delete(api::kJobs, job.name));
    } else if (what < 45) {
      At(when, Delete(api::kPods, absl::StrCat(job.name, "-w-0")));
    } else if (what < 60 && job.partitions == 0 && job.shape.trainers > 2) {
      --job.shape.trainers;  // and then one more again
      job.shape.min_trainers = std::min(job.shape.min_trainers, job.shape.trainers);
      job.shape.min_available = std::min(job.shape.min_available, job.shape.servers + job.shape.trainers);
      At(when, Scale(job));
      ++job.shape.trainers;
      At(when + Seconds(5, 40), Scale(job));
    }
  }
  static UserRequest Scale(const Job& job) {
    return {"PATCH", &api::kJobs, job.name, "",
            absl::StrCat(R"({"spec":{"minAvailable":)", job.shape.min_available, ",", job.Tasks(), "}}")};
  }

  void AddBarePod(const std::string& name) {
    Begin(name);
    At(Seconds(0, 60),
       Create(
           api::kPods,
           absl::StrCat(
               R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
               R"(","annotations":{"sandbox.gangway.io/finish":")", Between(10, 60),
               R"(s"}},"spec":{"schedulerName":"volcano","restartPolicy":"Never","containers":[{"name":"c","image":"i",)",
               R"("resources":{"requests":{"cpu":")", Of(kCpus), R"("}}}]}})")));
  }

  // One pod that somebody else bound, of a gang of two. It waits for a config map, so that it does not run.
  void AddHalfAGangOfAnotherScheduler() {
    Begin("half a gang of another scheduler");
    At(absl::Seconds(1),
       Create(
           api::kPodGroups,
           R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"others"},"spec":{"minMember":2}})"));
    At(absl::Seconds(2),
       Create(
           api::kPods,
           absl::StrCat(
               R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"others-0","annotations":{"scheduling.k8s.io/group-name":"others"}},"spec":{)",
               R"("schedulerName":"default-scheduler","nodeName":")", result_.nodes[0].name,
               R"(","restartPolicy":"Never","volumes":[{"name":"v","configMap":{"name":"missing"}}],"containers":[{"name":"c","image":"i"}]}})")));
    At(absl::Seconds(100), Delete(api::kPods, "others-0"));
    At(absl::Seconds(101), Delete(api::kPodGroups, "others"));
  }

  // One of the first so many nodes.
  void Cordon(std::uint64_t nodes) {
    if (!Chance(50)) return;
    const std::string node = result_.nodes[random_.Below(nodes)].name;
    const absl::Duration from = Seconds(10, 60);
    Begin(absl::StrCat(node, " cordoned"));
    At(from, {"PATCH", &api::kNodes, node, "", R"({"spec":{"unschedulable":true}})"});
    At(from + Seconds(30, 90), {"PATCH", &api::kNodes, node, "", R"({"spec":{"unschedulable":null}})"});
  }

  RandomStream random_;
  absl::Duration begin_;
  int jobs_ = 0;
  Contention result_;
};

}  // namespace gangway::testutil::drawing
