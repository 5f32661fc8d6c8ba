#include "cmd/job/job_verbs.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/core/pod.h"
#include "cmd/run/account.h"
#include "cmd/vcctl/command.h"
#include "cmd/vcctl/job_answers.h"
#include "cmd/vcctl/job_view.h"
#include "kube/runtime/informer.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

using api::NamespacedName;
using api::volcano::Job;
using api::volcano::PodGroup;

absl::Status About(const NamespacedName& key, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string fix =
      absl::IsNotFound(status) ? absl::StrCat("; gangway job list -n ", key.ns, " shows what is there") : std::string();
  return absl::Status(status.code(), absl::StrCat("job ", key.ToString(), ": ", status.message(), fix));
}

std::string Equals(absl::string_view key, absl::string_view value) {
  return PercentEncode(absl::StrCat(key, "=", value));
}

absl::StatusOr<std::vector<api::core::Pod>> PodsOf(ApiCaller& caller, const Job& job) {
  const std::string query = absl::StrCat("labelSelector=", Equals(lifecycle::kJobNameKey, job.metadata.name));
  GW_ASSIGN_OR_RETURN(std::vector<api::core::Pod> pods,
                      caller.List<api::core::Pod>(api::kPods, job.metadata.ns, query));
  const auto others = [&](const api::core::Pod& pod) {
    const api::OwnerReference* owner = pod.metadata.Controller();
    return owner == nullptr || owner->uid != job.metadata.uid;
  };
  pods.erase(std::remove_if(pods.begin(), pods.end(), others), pods.end());
  return pods;
}

absl::StatusOr<std::vector<JobEvent>> EventsOf(ApiCaller& caller, const Job& job) {
  const std::string query = absl::StrCat(
      "fieldSelector=", PercentEncode(absl::StrCat("involvedObject.kind=Job,involvedObject.name=", job.metadata.name,
                                                   ",involvedObject.uid=", job.metadata.uid)));
  GW_ASSIGN_OR_RETURN(std::vector<JobEvent> events, caller.List<JobEvent>(api::kEvents, job.metadata.ns, query));
  std::sort(events.begin(), events.end(), [](const JobEvent& a, const JobEvent& b) {
    return std::tie(a.last_timestamp.at, a.metadata.name) < std::tie(b.last_timestamp.at, b.metadata.name);
  });
  return events;
}

// The end of the log of the failure that is told; "" when it cannot be read: then what the status has must do.
std::string LastLinesOf(ApiCaller& caller, const Job& job, const std::vector<api::core::Pod>& pods) {
  const std::optional<FailedLog> log = LogOfFailure(job, pods);
  if (!log.has_value()) return "";
  const absl::StatusOr<Bytes> text =
      caller.Call("GET", absl::StrCat(api::PathOf(api::kPods, job.metadata.ns, log->pod), "/log"), "",
                  absl::StrCat("container=", PercentEncode(log->container), "&tailLines=10&limitBytes=65536",
                               log->previous ? "&previous=true" : ""));
  return text.ok() ? std::string(absl::StripAsciiWhitespace(**text)) : std::string();
}

// nullopt: there is none. Volcano's older releases named it as the Job.
absl::StatusOr<std::optional<PodGroup>> PodGroupOf(ApiCaller& caller, const Job& job) {
  for (const std::string& name : {lifecycle::PodGroupName(job), job.metadata.name}) {
    absl::StatusOr<PodGroup> group = caller.Get<PodGroup>(api::kPodGroups, job.metadata.ns, name);
    if (absl::IsNotFound(group.status())) continue;
    if (!group.ok()) return group.status();
    const api::OwnerReference* owner = group->metadata.Controller();
    if (owner != nullptr && owner->uid == job.metadata.uid) return *std::move(group);
  }
  return std::optional<PodGroup>();
}

// Follows one job until the verb has come true, never can, or time is up.
class Wait {
 public:
  Wait(ApiCaller& caller, JobVerb verb, NamespacedName key, std::string uid)
      : caller_(caller),
        verb_(verb),
        key_(std::move(key)),
        uid_(std::move(uid)),
        jobs_(caller.loop(), caller.client(), api::kJobs,
              {.ns = key_.ns, .field_selector = absl::StrCat("metadata.name=", key_.name)}) {}

  absl::Status Run(absl::Duration patience) {
    jobs_.Start(
        [this](const NamespacedName&, const auto& before, const auto& after) { OnChange(before.get(), after.get()); },
        [this] { Judge(); });
    caller_.loop().PostAt(absl::Now() + patience, owner_.token(), [this, patience] { OnTimeout(patience); });
    while (!end_.has_value()) caller_.loop().Run();
    return *end_;
  }

 private:
  void OnChange(const Job* before, const Job* after) {
    // At first sight its state is the news: it may be what is waited for.
    Job unseen;
    if (before == nullptr && after != nullptr) {
      unseen = *after;
      unseen.status = {};
      before = &unseen;
    }
    for (const AccountLine& line : Tell(before, after)) Note(absl::StrCat(line.subject, ": ", line.text));
    if (jobs_.synced()) Judge();
  }

  void Judge() {
    const auto job = jobs_.Get(key_);
    const WaitVerdict verdict = JudgeWait(verb_, job.get(), uid_);
    if (verdict.kind == WaitVerdict::Kind::kReached) End(absl::OkStatus());
    if (verdict.kind == WaitVerdict::Kind::kNever)
      End(absl::CancelledError(absl::StrCat(NameOf(verb_), " does nothing any more: ", verdict.why)));
  }

  void OnTimeout(absl::Duration patience) {
    const auto job = jobs_.Get(key_);
    const std::string phase =
        job == nullptr
            ? jobs_.problem()
            : absl::StrCat("it is ", job->status.state.phase.empty() ? "without a phase" : job->status.state.phase);
    End(absl::CancelledError(absl::StrCat(NameOf(verb_), " not done within ", absl::FormatDuration(patience), ": ",
                                          phase, "; gangway job view -n ", key_.ns, " ", key_.name, " says more")));
  }

  void End(absl::Status status) {
    if (!end_.has_value()) end_ = std::move(status);
    caller_.loop().Stop();
  }

  ApiCaller& caller_;
  const JobVerb verb_;
  const NamespacedName key_;
  const std::string uid_;
  std::optional<absl::Status> end_;
  kube::Informer<Job> jobs_;
  Owner owner_;
};

absl::Status Ask(ApiCaller& caller, JobVerb verb, const Job& job) {
  if (verb == JobVerb::kDelete) {
    const std::string body = absl::StrCat(R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":")",
                                          job.metadata.uid, R"("}})");
    return caller.Call("DELETE", api::PathOf(api::kJobs, job.metadata.ns, job.metadata.name), body).status();
  }
  const api::volcano::Command command = JobCommandObject(job, verb == JobVerb::kSuspend ? "AbortJob" : "ResumeJob");
  return caller.Call("POST", api::PathOf(api::kCommands, job.metadata.ns), api::Encode(command)).status();
}

}  // namespace

absl::Status ListJobs(ApiCaller& caller, const std::string& ns, const JobListOptions& options) {
  GW_ASSIGN_OR_RETURN(const std::vector<Job> jobs, caller.List<Job>(api::kJobs, ns));
  Put(stdout, JobListText(jobs, options));
  return absl::OkStatus();
}

absl::Status ViewJob(ApiCaller& caller, const NamespacedName& key) {
  const absl::StatusOr<Job> job = caller.Get<Job>(api::kJobs, key.ns, key.name);
  if (!job.ok()) return About(key, job.status());
  const absl::StatusOr<std::vector<JobEvent>> events = EventsOf(caller, *job);
  if (!events.ok()) return About(key, events.status());
  const absl::StatusOr<std::vector<api::core::Pod>> pods = PodsOf(caller, *job);
  if (!pods.ok()) return About(key, pods.status());
  const absl::StatusOr<std::optional<PodGroup>> group = PodGroupOf(caller, *job);
  if (!group.ok()) return About(key, group.status());
  const absl::Time now = absl::Now();
  const std::string text = absl::StrCat(JobViewText(*job), JobEventsText(*events, now),
                                        JobAnswersText(*job, *pods, group->has_value() ? &**group : nullptr, *events,
                                                       now, LastLinesOf(caller, *job, *pods)));
  Put(stdout, text);
  return absl::OkStatus();
}

absl::Status CarryOut(ApiCaller& caller, JobVerb verb, const NamespacedName& key,
                      std::optional<absl::Duration> patience) {
  const absl::StatusOr<Job> job = caller.Get<Job>(api::kJobs, key.ns, key.name);
  if (!job.ok()) return About(key, job.status());
  if (const absl::Status asked = Ask(caller, verb, *job); !asked.ok()) return About(key, asked);
  if (patience.has_value()) {
    Wait wait(caller, verb, key, job->metadata.uid);
    if (const absl::Status waited = wait.Run(*patience); !waited.ok()) return About(key, waited);
  }
  if (verb == JobVerb::kDelete) PutLine(stdout, absl::StrCat("delete job ", key.name, " successfully"));
  return absl::OkStatus();
}

}  // namespace gangway::cmd
