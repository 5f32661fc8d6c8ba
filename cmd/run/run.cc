#include "cmd/run/run.h"

#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/resource.h"
#include "base/strings.h"
#include "kube/client/status.h"

namespace gangway::cmd {
namespace {

using api::NamespacedName;
using api::core::Pod;
using api::volcano::Job;
using api::volcano::JobFlow;
using api::volcano::PodGroup;

const std::string& PhaseOf(const Job& job) { return job.status.state.phase; }
const std::string& PhaseOf(const api::paddle::PaddleJob& job) { return job.status.phase; }
std::string PhaseOf(const api::paddle::kubeflow::PaddleJob& job) { return StateOf(job); }
const std::string& PhaseOf(const JobFlow& flow) { return flow.status.state.phase; }
const std::string& PhaseOf(const PodGroup& group) { return group.status.phase; }
const std::string& PhaseOf(const Pod& pod) { return pod.status.phase; }

const std::string& NamespaceOf(const api::ManifestDocument& document, const api::Resource& resource) {
  static const auto& kNone = *new std::string();
  static const auto& kDefault = *new std::string("default");
  return !resource.namespaced ? kNone : document.ns.empty() ? kDefault : document.ns;
}

}  // namespace

Run::Run(Loop& loop, kube::Client& client, Options options, OnEnd on_end)
    : loop_(loop),
      client_(client),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      start_(loop.Now()),
      jobs_(loop, client, api::kJobs, {}),
      paddle_jobs_(loop, client, api::paddle::kPaddleJobs, {}),
      kubeflow_jobs_(loop, client, api::paddle::kubeflow::kPaddleJobs, {}),
      flows_(loop, client, api::kJobFlows, {}),
      groups_(loop, client, api::kPodGroups, {}),
      pods_(loop, client, api::kPods, {}),
      events_(loop, client, api::kEvents, {}) {}

void Run::Start() {
  start_ = loop_.Now();
  if (options_.timeout != absl::InfiniteDuration())
    loop_.PostAt(start_ + options_.timeout, owner_.token(), [this] { OnTimeout(); });
  Watch(jobs_, Goal::Kind::kJob);
  Watch(paddle_jobs_, Goal::Kind::kPaddleJob);
  Watch(kubeflow_jobs_, Goal::Kind::kKubeflowPaddleJob);
  Watch(flows_, Goal::Kind::kJobFlow);
  Watch(groups_, Goal::Kind::kPodGroup);
  Watch(pods_, Goal::Kind::kPod);
  events_.Start([this](const NamespacedName&, const auto& before, const auto& after) {
    for (const AccountLine& line : Tell(before.get(), after.get())) Print(line);
  });
}

template <class T>
void Run::Watch(kube::Informer<T>& cache, Goal::Kind kind) {
  cache.Start(
      [this, kind](const NamespacedName& key, const std::shared_ptr<const T>& before,
                   const std::shared_ptr<const T>& after) {
        for (const AccountLine& line : Tell(before.get(), after.get())) Print(line);
        if constexpr (std::is_same_v<T, Pod>) Hand(after.get());
        if constexpr (std::is_same_v<T, Job>) LookForStart();
        Judge(kind, key, after == nullptr ? std::string() : PhaseOf(*after), after == nullptr);
      },
      [this] { OnSynced(); });
}

void Run::Hand(const Pod* pod) {
  if (pod != nullptr && options_.on_pod) options_.on_pod(*pod);
}

void Run::LookForStart() {
  if (started_ || !options_.on_started || jobs_.size() == 0) return;
  bool all = true;
  jobs_.ForEach([&](const NamespacedName&, const std::shared_ptr<const Job>& job) {
    all = all && !PhaseOf(*job).empty() && PhaseOf(*job) != "Pending";
  });
  if (!all) return;
  started_ = true;
  options_.on_started();
}

void Run::OnSynced() {
  if (jobs_.synced() && paddle_jobs_.synced() && kubeflow_jobs_.synced() && flows_.synced() && groups_.synced() &&
      pods_.synced())
    ApplyNext();
}

void Run::ApplyNext() {
  if (applied_ == options_.documents.size()) return;
  const api::ManifestDocument& document = options_.documents[applied_++];
  if (const api::Resource* const known = api::FindKind(document.api_version, document.kind); known != nullptr)
    return Create(document, *known);
  // A definition may have declared it, perhaps one of these documents.
  kube::Request request;
  request.method = "GET";
  request.path = absl::StrCat("/apis/", document.api_version);
  client_.Send(std::move(request), owner_.token(),
               [this, &document](const absl::StatusOr<kube::Response>& reply) { OnDiscovered(document, reply); });
}

void Run::OnDiscovered(const api::ManifestDocument& document, const absl::StatusOr<kube::Response>& reply) {
  absl::StatusOr<boost::json::value> list = boost::json::value();
  if (reply.ok() && reply->code == 200) list = api::ParseJson(*reply->body);
  if (!list.ok()) list = boost::json::value();
  for (const boost::json::value& each : api::ListAt(*list, {"resources"})) {
    const std::string plural = api::TextAt(each, {"name"});
    if (api::TextAt(each, {"kind"}) != document.kind || absl::StrContains(plural, '/')) continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(document.api_version, absl::MaxSplits('/', 1));
    const boost::json::value* const namespaced = api::ValueAt(each, {"namespaced"});
    const api::Resource resource{.group = StdView(parts.first),
                                 .version = StdView(parts.second),
                                 .plural = plural,
                                 .singular = {},
                                 .kind = document.kind,
                                 .namespaced = namespaced != nullptr && *namespaced == true};
    return Create(document, resource);
  }
  End(absl::InvalidArgumentError(absl::StrCat(document.Where("kind"), ": this cluster has no kind ", document.kind,
                                              " in ", document.api_version)));
}

void Run::Create(const api::ManifestDocument& document, const api::Resource& resource) {
  kube::Request request;
  request.method = "POST";
  request.path = api::PathOf(resource, NamespaceOf(document, resource));
  request.query =
      absl::StrCat("fieldValidation=", options_.of_another_cluster ? "Ignore" : "Strict", "&fieldManager=gangway");
  request.body = document.json;
  client_.Send(std::move(request), owner_.token(),
               [this, &document](absl::StatusOr<kube::Response> reply) { OnApplied(document, std::move(reply)); });
}

void Run::OnApplied(const api::ManifestDocument& document, absl::StatusOr<kube::Response> reply) {
  const absl::Status status = reply.ok() ? kube::StatusFromResponse(*reply) : reply.status();
  if (!status.ok() && !(options_.of_another_cluster && absl::IsAlreadyExists(status))) {
    End(absl::InvalidArgumentError(absl::StrCat(document.Where(""), ": ", status.message())));
    return;
  }
  ApplyNext();
}

void Run::Judge(Goal::Kind kind, const NamespacedName& key, absl::string_view phase, bool deleted) {
  if (!options_.goal || options_.goal->kind != kind || options_.goal->key != key) return;
  const bool paddle = kind == Goal::Kind::kPaddleJob || kind == Goal::Kind::kKubeflowPaddleJob;
  if (phase == options_.goal->phase) {
    End(absl::OkStatus());
  } else if (deleted && (kind == Goal::Kind::kJob || paddle)) {
    End(absl::FailedPreconditionError(absl::StrCat(options_.goal->ToString(), ": the job was deleted")));
  } else if ((kind == Goal::Kind::kJob || paddle) && IsFinalPhase(phase)) {
    End(absl::FailedPreconditionError(absl::StrCat(options_.goal->ToString(), ": the job ended ", phase)));
  } else if (kind == Goal::Kind::kJobFlow && (phase == "Succeed" || phase == "Failed")) {
    End(absl::FailedPreconditionError(absl::StrCat(options_.goal->ToString(), ": the job flow ended ", phase)));
  }
}

void Run::OnTimeout() {
  if (!options_.goal) return End(absl::OkStatus());
  std::string why;
  if (options_.goal->kind == Goal::Kind::kJob) {
    if (const auto job = jobs_.Get(options_.goal->key); job == nullptr) {
      why = "there is no such job";
    } else {
      why = absl::StrCat("the job is ", PhaseOf(*job).empty() ? "new" : PhaseOf(*job));
      groups_.ForEach([&](const NamespacedName&, const std::shared_ptr<const PodGroup>& group) {
        const api::OwnerReference* owner = group->metadata.Controller();
        if (owner == nullptr || owner->uid != job->metadata.uid) return;
        for (const auto& condition : group->status.conditions) {
          if (condition.type == "Unschedulable" && condition.status == "True")
            absl::StrAppend(&why, "; ", condition.message);
        }
      });
    }
  } else if (options_.goal->kind == Goal::Kind::kPaddleJob) {
    const auto job = paddle_jobs_.Get(options_.goal->key);
    why = job == nullptr ? "there is no such job"
                         : absl::StrCat("the job is ", job->status.phase.empty() ? "new" : job->status.phase);
    if (job != nullptr && !job->status.message.empty()) absl::StrAppend(&why, "; ", job->status.message);
  } else {
    why = "not reached";
  }
  End(absl::DeadlineExceededError(absl::StrCat(options_.goal->ToString(), " not reached within ",
                                               absl::FormatDuration(options_.timeout), ": ", why)));
}

void Run::Print(const AccountLine& line) {
  if (options_.print_account) options_.print(Render(line, loop_.Now() - start_, options_.colours));
}

void Run::End(absl::Status status) {
  if (ended_) return;
  ended_ = true;
  loop_.Post(owner_.token(), [this, status = std::move(status)] { on_end_(status); });
}

}  // namespace gangway::cmd
