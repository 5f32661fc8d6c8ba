#include "cmd/logs/log_follower.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/backoff.h"
#include "cmd/run/account.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

// The status of a run's end comes behind its last line.
constexpr absl::Duration kStatusDelay = absl::Seconds(1);
constexpr Backoff kBackoff{absl::Seconds(1), absl::Seconds(15)};
constexpr absl::Duration kProblemPeriod = absl::Seconds(5);
constexpr int kTellAt = 3;    // failures in a row, of one container
constexpr int kGiveUpAt = 6;  // of a run that has ended: its log is lost

kube::InformerOptions JobOnly(const api::volcano::Job& job) {
  return {.ns = job.metadata.ns, .field_selector = absl::StrCat("metadata.name=", job.metadata.name)};
}

}  // namespace

LogFollower::LogFollower(Loop& loop, kube::Client& client, kube::TextSource& texts, const Job& job,
                         FollowOptions options, LogOutput output, OnJob on_job, OnEnd on_end)
    : loop_(loop),
      client_(client),
      texts_(texts),
      job_(job),
      options_(std::move(options)),
      selector_(absl::StrCat(lifecycle::kJobNameKey, "=", job.metadata.name)),
      output_(std::move(output)),
      on_job_(std::move(on_job)),
      on_end_(std::move(on_end)),
      jobs_(loop, client, api::kJobs, JobOnly(job)),
      pods_(loop, client, api::kPods, {.ns = job.metadata.ns, .label_selector = selector_}) {}

void LogFollower::Start() {
  pods_.Start([this](const api::NamespacedName&, const PodPtr& before, const PodPtr& after) { OnPod(before, after); },
              [this] { OnPodsSynced(); });
  // Its end is judged when its pods are known.
  loop_.PostAt(loop_.Now() + kProblemPeriod, owner_.token(), [this] { TellProblem(); });
}

// What keeps us from seeing the job or its pods: a right that is missing, a server that does not answer.
void LogFollower::TellProblem() {
  const std::string problem = pods_.problem().empty() ? jobs_.problem() : pods_.problem();
  if (!problem.empty() && problem != problem_) output_.tell(absl::StrCat("trying on: ", problem));
  problem_ = problem;
  loop_.PostAt(loop_.Now() + kProblemPeriod, owner_.token(), [this] { TellProblem(); });
}

void LogFollower::OnPodsSynced() {
  if (open_ > options_.max_streams ||
      std::any_of(containers_.begin(), containers_.end(), [](const auto& c) { return c.second.in_line; })) {
    const auto running = std::count_if(containers_.begin(), containers_.end(),
                                       [](const auto& c) { return RunOf(*c.second.pod, c.second.name).started; });
    return End(absl::InvalidArgumentError(absl::StrCat(
        running, " containers of job ", job_.metadata.name, " have logs, more than the ", options_.max_streams,
        " that --max-log-requests allows to follow at once; raise it, or choose with --task or -c")));
  }
  jobs_.Start([this](const api::NamespacedName&, const auto& before, const auto& after) { SeeJob(before, after); },
              [this] {
                if (jobs_.size() == 0) SeeJob(nullptr, nullptr);
              });
}

// --- what is seen

void LogFollower::OnPod(const PodPtr& before, const PodPtr& after) {
  if (ended_) return;
  if (before != nullptr && (after == nullptr || after->metadata.uid != before->metadata.uid)) LosePod(*before);
  if (after != nullptr) SeePod(after);
  MaybeEnd();
}

void LogFollower::SeePod(const PodPtr& pod) {
  if (!IsWanted(*pod, job_, options_.choice)) return;
  for (const std::string& name : ContainersOf(*pod, options_.choice)) {
    const Id id{pod->metadata.uid, name};
    const auto [it, is_new] = containers_.try_emplace(id);
    Container& container = it->second;
    container.pod = pod;
    if (is_new) {
      container.name = name;
      container.prefix = PrefixOf(*pod, name, options_.choice);
      container.from_before = !pods_.synced() && RunOf(*pod, name).started;
    }
    Drive(id);
  }
}

void LogFollower::LosePod(const Pod& pod) {
  std::vector<Id> lost;
  for (auto it = containers_.lower_bound({pod.metadata.uid, ""});
       it != containers_.end() && it->first.first == pod.metadata.uid; ++it) {
    it->second.gone = true;
    lost.push_back(it->first);
  }
  for (const Id& id : lost) Drive(id);
}

void LogFollower::SeeJob(const std::shared_ptr<const Job>& before, const std::shared_ptr<const Job>& after) {
  if (ended_ || job_end_.has_value()) return;
  const std::string name = absl::StrCat("job ", job_.metadata.ns, "/", job_.metadata.name);
  if (after == nullptr || after->metadata.uid != job_.metadata.uid)
    return JobEnded(absl::CancelledError(absl::StrCat(name, " was deleted")));
  on_job_(before.get(), after.get());
  const api::volcano::JobState& state = after->status.state;
  if (!IsFinalPhase(state.phase)) return;
  JobEnded(state.phase == "Completed"
               ? absl::OkStatus()
               : absl::CancelledError(
                     absl::StrCat(name, " is ", state.phase, state.message.empty() ? "" : ": ", state.message)));
}

// What its pods wrote last may not have been seen yet: the two watches run at their own pace.
void LogFollower::JobEnded(absl::Status how) {
  job_end_ = std::move(how);
  kube::Request list;
  list.method = "GET";
  list.path = api::PathOf(api::kPods, job_.metadata.ns);
  list.query = absl::StrCat("labelSelector=", PercentEncode(selector_));
  client_.Send(std::move(list), owner_.token(),
               [this](const absl::StatusOr<kube::Response>& reply) { OnLastList(reply); });
  loop_.PostAt(loop_.Now() + options_.patience, owner_.token(), [this] { End(*job_end_); });
}

void LogFollower::OnLastList(const absl::StatusOr<kube::Response>& reply) {
  if (reply.ok() && reply->ok()) {
    absl::StatusOr<boost::json::value> list = api::ParseJson(*reply->body);
    boost::system::error_code none;
    const boost::json::value* items = list.ok() ? list->find_pointer("/items", none) : nullptr;
    if (items != nullptr && items->is_array()) {
      for (const boost::json::value& item : items->get_array()) {
        absl::StatusOr<Pod> pod = api::Decode<Pod>(api::ToJson(item));
        if (pod.ok()) SeePod(std::make_shared<const Pod>(*std::move(pod)));
      }
    }
  }
  closing_ = true;
  MaybeEnd();
}

// --- one container

void LogFollower::Drive(const Id& id) {
  const auto it = containers_.find(id);
  if (ended_ || it == containers_.end()) return;
  Container& container = it->second;
  if (container.stream != nullptr) return;  // it ends by itself, also when the pod is gone
  if (container.gone) {
    loop_.Cancel(container.timer);
    containers_.erase(it);
    return;
  }
  const ContainerRun seen = RunOf(*container.pod, container.name);
  if (container.timer != 0 || !seen.started || container.done >= seen.run) return;
  if (container.run < 0) container.run = container.from_before ? seen.run : std::max(0, seen.run - 1);
  if (container.run == container.done) {
    ++container.run;
    container.cutter.NextRun();
  }
  container.run = std::max(container.run, seen.run - 1);  // what ran and ended before the one before is lost
  const bool previous = container.run < seen.run;
  container.last_look = previous || seen.ended;
  Open(id, container, previous);
}

void LogFollower::Open(const Id& id, Container& container, bool previous) {
  container.in_line = open_ >= options_.max_streams;
  if (container.in_line) {
    if (pods_.synced() && !std::exchange(told_full_, true)) {
      output_.tell(absl::StrCat("more than ", options_.max_streams,
                                " containers run now; the others wait their turn (--max-log-requests)"));
    }
    return;
  }
  LogPlace place;
  place.follow = true;
  place.previous = previous;
  place.first = container.from_before && container.done < 0;
  place.from = container.cutter.resume_from();
  container.cutter.Begin();
  ++open_;
  container.stream = texts_.StartText(
      LogRequest(*container.pod, container.name, options_.choice, place), owner_.token(),
      [this, id](absl::string_view text) { OnText(id, text); },
      [this, id](const absl::Status& status) { OnStreamEnd(id, status); });
}

void LogFollower::OnText(const Id& id, absl::string_view text) {
  Container& container = containers_.at(id);
  container.failures = 0;
  LineSink sink(container.prefix, options_.choice.timestamps);
  container.cutter.Feed(text, sink);
  sink.Flush(output_);
}

void LogFollower::OnStreamEnd(const Id& id, const absl::Status& status) {
  Container& container = containers_.at(id);
  container.stream.reset();
  --open_;
  if (!status.ok()) {
    OnBroken(id, container, status);
  } else if (container.last_look || container.gone) {
    LineSink sink(container.prefix, options_.choice.timestamps);
    container.cutter.Finish(sink);
    sink.Flush(output_);
    container.done = container.run;
    container.failures = 0;
    Drive(id);
  } else {
    const ContainerRun seen = RunOf(*container.pod, container.name);
    if (seen.ended || seen.run > container.run) {
      Drive(id);
    } else {
      LookAgain(id, container, kStatusDelay);
    }
  }
  if (ended_) return;
  NextInLine();
  MaybeEnd();
}

void LogFollower::OnBroken(const Id& id, Container& container, const absl::Status& status) {
  const std::string what =
      absl::StrCat(ShortName(*container.pod), ": container ", container.name, ": ", status.message());
  if (absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status))
    return End(absl::Status(status.code(), what));
  ++container.failures;
  const bool no_such_log = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  if (container.last_look && (no_such_log || container.failures >= kGiveUpAt)) {
    output_.tell(absl::StrCat(what, "; the rest of its log is lost"));
    container.done = container.run;
    return Drive(id);
  }
  if (container.failures == kTellAt) output_.tell(absl::StrCat(what, "; trying on"));
  if (container.gone) return Drive(id);
  LookAgain(id, container, kBackoff.Next(container.failures - 1, loop_.Random()));
}

void LogFollower::LookAgain(const Id& id, Container& container, absl::Duration wait) {
  container.timer = loop_.PostAt(loop_.Now() + wait, owner_.token(), [this, id] {
    const auto it = containers_.find(id);
    if (it == containers_.end()) return;
    it->second.timer = 0;
    Drive(id);
    MaybeEnd();
  });
}

void LogFollower::NextInLine() {
  for (auto it = containers_.begin(); it != containers_.end() && open_ < options_.max_streams; ++it) {
    if (!it->second.in_line) continue;
    it->second.in_line = false;
    return Drive(Id(it->first));
  }
}

// --- the end

void LogFollower::MaybeEnd() {
  if (ended_ || !closing_) return;
  const auto busy = [](const auto& entry) {
    return entry.second.stream != nullptr || entry.second.timer != 0 || entry.second.in_line;
  };
  if (std::none_of(containers_.begin(), containers_.end(), busy)) End(*job_end_);
}

void LogFollower::End(absl::Status status) {
  if (std::exchange(ended_, true)) return;
  loop_.Post(owner_.token(), [this, status = std::move(status)]() mutable {
    containers_.clear();
    on_end_(std::move(status));
  });
}

}  // namespace gangway::cmd
