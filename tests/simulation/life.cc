#include "tests/simulation/life.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/cluster_resources.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "base/strings.h"
#include "kube/client/status.h"
#include "tests/simulation/falsifying_client.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using sandbox::Component;
using sandbox::RequestFate;

constexpr absl::Duration kDown = absl::Seconds(1);        // a killed process comes back
constexpr absl::Duration kRetryAfter = absl::Seconds(2);  // of a 429
constexpr absl::Duration kLimit = absl::Minutes(30);
constexpr absl::Duration kSettle = absl::Seconds(40);
constexpr absl::Duration kLongSettle = absl::Minutes(5);  // a process that was stopped goes on
constexpr absl::Duration kQuiet = absl::Seconds(20);      // at the end

RequestFate FateOf(FaultKind kind) {
  RequestFate fate;
  switch (kind) {
    case FaultKind::kKilledBefore:
      fate.loss = RequestFate::Loss::kRequest;
      break;
    case FaultKind::kKilledAfter:
    case FaultKind::kReplyLost:
      fate.loss = RequestFate::Loss::kReply;
      break;
    case FaultKind::kConflict:
      fate.answer =
          Refusal(409, "Conflict",
                  "the object has been modified; please apply your changes to the latest version and try again");
      break;
    case FaultKind::kServerError:
      fate.answer = Refusal(500, "InternalError", "an error on the server has prevented the request from succeeding");
      break;
    case FaultKind::kTooManyRequests:
      fate.answer = Refusal(429, "TooManyRequests", "too many requests, please try again later");
      fate.answer->retry_after = kRetryAfter;
      break;
  }
  return fate;
}

bool Kills(FaultKind kind) { return kind == FaultKind::kKilledBefore || kind == FaultKind::kKilledAfter; }

// "POST pods ctr-w-0", "PATCH jobs ctr/status".
std::string LineOf(const kube::Request& request) {
  const std::vector<std::string> parts = absl::StrSplit(request.path, '/');
  const auto found = std::find(parts.begin(), parts.end(), "namespaces");
  const std::size_t collection = found != parts.end() ? static_cast<std::size_t>(found - parts.begin()) + 2
                                 : parts[1] == "api"  ? 3
                                                      : 4;
  std::string line = absl::StrCat(request.method, " ", parts.at(collection));
  for (std::size_t i = collection + 1; i < parts.size(); ++i)
    absl::StrAppend(&line, i == collection + 1 ? " " : "/", parts[i]);
  if (request.method != "POST" || parts.size() > collection + 1) return line;
  const auto body = api::ParseJson(request.body);
  return absl::StrCat(line, " ", body.ok() ? View(body->at("metadata").at("name").as_string()) : "?");
}

class Run {
 public:
  Run(const Life& life, const LifeOptions& options)
      : life_(life), options_(options), loop_(options.seed), checker_(MakeRules()) {
    sandbox::ClusterOptions cluster;
    cluster.audit_every = AuditEvery(/*many=*/false);
    cluster.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape(sandbox::kDefaultNodeShape)}, 2);
    cluster.api_server.journal = [this](const sandbox::JournalRecord& record) { OnRecord(record); };
    cluster.faults = [this](Component component) {
      return component == life_.component ? MakeFaults() : sandbox::Faults{};
    };
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, std::move(cluster));
    user_ = cluster_->NewClient("user");
  }

  LifeResult Go() && {
    for (const Component component : sandbox::kAllComponents) {
      if (component == Component::kPaddleControllers && component != life_.component) continue;  // it has nothing to do
      if (component != Component::kControllers || !options_.replace_controllers) cluster_->Start(component);
    }
    if (options_.replace_controllers) checker_.Disturbed(absl::InfiniteFuture());  // they are stopped now and then
    if (options_.replace_controllers) replaced_ = options_.replace_controllers(loop_, *cluster_);
    loop_.RunFor(absl::Seconds(1));
    Advance();
    if (!loop_.RunUntil([&] { return step_ == life_.steps.size(); }, loop_.Now() + kLimit)) {
      result_.violations.push_back(absl::StrCat("step ", step_, " of the life never came"));
    }
    loop_.RunFor(options_.replace_controllers ? kLongSettle : kSettle);
    checker_.AtEnd(loop_.Now());
    result_.violations.insert(result_.violations.end(), checker_.violations().begin(), checker_.violations().end());
    TellEnd();
    return std::move(result_);
  }

 private:
  static Checker::Rules MakeRules() {
    Checker::Rules rules;
    rules.quiet = kQuiet;
    rules.must_finish = false;
    return rules;
  }

  // A step is looked for after every commit, in a task of its own.
  void OnRecord(const sandbox::JournalRecord& record) {
    checker_.OnRecord(record);
    if (record.client == sandbox::ClientName(life_.component) && record.before == nullptr &&
        record.resource != &api::kEvents) {
      ++made_[absl::StrCat(View(record.resource->plural), " ", record.key.name)];
    }
    if (record.after != nullptr) {
      uids_.emplace(record.uid, absl::StrCat("<", View(record.resource->plural), " ", record.key.name, ">"));
    }
    if (record.resource == &api::kPersistentVolumeClaims && record.before == nullptr) {
      uids_.emplace(
          record.key.name,
          absl::StrCat("<claim ", api::ToJson(api::ParseJson(*record.after)->at("spec").at("resources")), ">"));
    }
    Keep(record);
    if (options_.on_record) options_.on_record(record);
    if (std::exchange(look_, true)) return;
    loop_.Post(owner_.token(), [this] {
      look_ = false;
      Advance();
    });
  }

  void Advance() {
    while (step_ < life_.steps.size() && life_.steps[step_].when(checker_)) {
      for (const UserRequest& request : life_.steps[step_].then) Send(request);
      ++step_;
      if (!life_.steps[step_ - 1].then.empty()) return;  // what it does comes first
    }
  }

  void Send(const UserRequest& wish) {
    kube::Request request;
    request.method = wish.method;
    const bool posts = wish.method == "POST" && wish.subresource.empty();
    request.path = api::PathOf(*wish.resource, wish.resource->namespaced ? "default" : "", posts ? "" : wish.name,
                               wish.subresource);
    if (wish.method == "PATCH") request.content_type = "application/merge-patch+json";
    request.body = wish.body;
    user_->Send(std::move(request), owner_.token(), [this, wish](absl::StatusOr<kube::Response> reply) {
      if (reply.ok() && reply->ok()) return;
      result_.violations.push_back(
          absl::StrCat("the user's ", wish.method, " ", View(wish.resource->plural), " ", wish.name,
                       " was refused: ", reply.ok() ? *reply->body : reply.status().ToString()));
    });
  }

  std::optional<FaultKind> FaultAt(int write) const {
    for (const Fault& fault : options_.faults) {
      if (fault.write == write) return fault.kind;
    }
    return options_.decide ? options_.decide(write) : std::nullopt;
  }

  sandbox::Faults MakeFaults() {
    sandbox::Faults faults;
    auto dead = std::make_shared<bool>(false);  // of this incarnation
    faults.request = [this, dead](const kube::Request& request) {
      if (*dead) return FateOf(FaultKind::kKilledBefore);
      if (request.method == "GET" || request.path.find("/events") != std::string::npos) return RequestFate{};
      result_.writes.push_back(LineOf(request));
      const int write = static_cast<int>(result_.writes.size());
      const std::optional<FaultKind> fault = FaultAt(write);
      if (!fault.has_value()) return RequestFate{};
      if (Kills(*fault)) {
        *dead = true;
        loop_.Post(owner_.token(), [this] { Kill(); });
      }
      return FateOf(*fault);
    };
    return faults;
  }

  void Kill() {
    if (!cluster_->running(life_.component)) return;
    cluster_->Stop(life_.component);
    loop_.PostAt(loop_.Now() + kDown, owner_.token(), [this] { cluster_->Start(life_.component); });
  }

  // The last version of everything that the controllers make or write.
  void Keep(const sandbox::JournalRecord& record) {
    for (const api::Resource* const other :
         {&api::kEvents, &api::kNodes, &api::kLeases, &api::kNamespaces, &api::kPriorityClasses,
          &api::kPersistentVolumes, &api::kServiceAccounts, &api::kStorageClasses}) {
      if (record.resource == other) return;
    }
    const auto key = std::make_pair(std::string(record.resource->plural), record.key.name);
    if (record.after == nullptr) {
      objects_.erase(key);
    } else {
      objects_[key] = record.after;
    }
  }

  void TellEnd() {
    for (const auto& [key, bytes] : objects_) {
      const std::string text = Summary(key.first, *bytes);
      if (!text.empty()) result_.end.push_back(absl::StrCat(key.first, " ", key.second, ": ", text));
    }
    if (!life_.counts) made_.clear();
    for (const auto& [object, times] : made_) result_.end.push_back(absl::StrCat("made ", object, " x", times));
    std::vector<std::pair<std::string, std::string>> names(uids_.begin(), uids_.end());
    for (std::string& line : result_.end) line = absl::StrReplaceAll(line, names);
    std::sort(result_.end.begin(), result_.end.end());
  }

  static std::string Summary(const std::string& plural, absl::string_view bytes) {
    if (plural == "paddlejobs") return PaddleJobSummary(bytes);
    if (plural == "jobs") return JobSummary(*api::Decode<api::volcano::Job>(bytes));
    if (plural == "pods") return PodSummary(*api::Decode<api::core::Pod>(bytes));
    if (plural == "podgroups") {
      const auto group = *api::Decode<api::volcano::PodGroup>(bytes);
      return absl::StrCat(group.status.phase, " ", api::Encode(group.spec));
    }
    if (plural == "queues") {
      const auto queue = *api::Decode<api::volcano::Queue>(bytes);
      return absl::StrCat(queue.status.state, " pending ", queue.status.pending, " inqueue ", queue.status.inqueue,
                          " running ", queue.status.running, " completed ", queue.status.completed, " unknown ",
                          queue.status.unknown);
    }
    json::value object = *api::ParseJson(bytes);
    if (plural == "persistentvolumeclaims")
      object.at("spec").as_object().erase("volumeName");  // it has the claim's UID in it
    std::string text = "is there";
    for (const char* part : {"spec", "data"}) {
      if (const json::value* found = object.as_object().if_contains(part))
        absl::StrAppend(&text, " ", plural == "secrets" ? Keys(*found) : api::ToJson(*found));
    }
    return text;
  }

  // All of the status but the times, and whether its gang was placed: a gang that is gone nobody asks any more.
  static std::string PaddleJobSummary(absl::string_view bytes) {
    const json::value version = api::ParseJson(bytes)->at("apiVersion");
    json::value status = *api::ParseJson(version == "kubeflow.org/v1"
                                             ? api::Encode(api::Decode<api::paddle::kubeflow::PaddleJob>(bytes)->status)
                                             : api::Encode(api::Decode<api::paddle::PaddleJob>(bytes)->status));
    if (json::value* conditions = status.as_object().if_contains("conditions")) {
      json::array kept;
      for (const json::value& condition : conditions->as_array()) {
        if (condition.at("type") != "Scheduled") kept.push_back(condition);
      }
      *conditions = std::move(kept);
    }
    WithoutTimes(status);
    return api::ToJson(status);
  }
  static void WithoutTimes(json::value& value) {
    if (value.is_array()) {
      for (json::value& each : value.get_array()) WithoutTimes(each);
    } else if (value.is_object()) {
      json::object& object = value.get_object();
      for (auto it = object.begin(); it != object.end();) {
        const absl::string_view name(it->key().data(), it->key().size());
        if (absl::EndsWith(name, "Time")) {
          it = object.erase(it);
        } else {
          WithoutTimes(it->value());
          ++it;
        }
      }
    }
  }

  static std::string Keys(const json::value& object) {
    std::string keys;
    for (const auto& member : object.as_object()) absl::StrAppend(&keys, " ", View(member.key()));
    return keys;
  }

  static std::string JobSummary(const api::volcano::Job& job) {
    const auto& s = job.status;
    std::string text =
        absl::StrCat(s.state.phase, " version ", s.version, " retryCount ", s.retry_count, " minAvailable ",
                     s.min_available, " pending ", s.pending, " running ", s.running, " succeeded ", s.succeeded,
                     " failed ", s.failed, " terminating ", s.terminating, " unknown ", s.unknown);
    for (const auto& [task, state] : s.task_status_count) {
      for (const auto& [phase, count] : state.phase) absl::StrAppend(&text, " ", task, ":", phase, "=", count);
    }
    for (const auto& [key, value] : s.controlled_resources) {
      absl::StrAppend(&text, ControlledSummary(key, value));
    }
    if (job.metadata.deleting()) absl::StrAppend(&text, " deleting");
    return text;
  }

  // Which command was the last is the same by another name, and so are claims; of a pod that went unseen nobody knows
  // when and why.
  static std::string ControlledSummary(const std::string& key, const std::string& value) {
    if (key == "gangway.io/killed-pod-group" || key == "gangway.io/command" || absl::StartsWith(key, "volume-"))
      return "";
    auto object = key == "gangway.io/last-failure" ? api::ParseJson(value) : absl::NotFoundError(key);
    if (!object.ok() || !object->is_object()) return absl::StrCat(" ", key, "=", value);
    for (const char* seen_in_time : {"at", "reason", "message"}) object->as_object().erase(seen_in_time);
    return absl::StrCat(" ", key, "=", api::ToJson(*object));
  }

  static std::string PodSummary(const api::core::Pod& pod) {
    const auto annotation = [&](const char* key) {
      const auto it = pod.metadata.annotations.find(key);
      return it == pod.metadata.annotations.end() ? std::string("-") : it->second;
    };
    const api::OwnerReference* const owner = pod.metadata.Controller();
    return absl::StrCat(pod.status.phase, " task ", annotation("volcano.sh/task-spec"), " index ",
                        annotation("volcano.sh/task-index"), " version ", annotation("volcano.sh/job-version"),
                        " group ", annotation("scheduling.k8s.io/group-name"), " owner ",
                        owner == nullptr ? "-" : owner->uid, pod.metadata.deleting() ? " deleting" : "");
  }

  const Life& life_;
  const LifeOptions& options_;
  SimulatedLoop loop_;
  Checker checker_;
  LifeResult result_;
  std::size_t step_ = 0;
  bool look_ = false;
  std::map<std::string, int> made_;          // by the controllers
  std::map<std::string, std::string> uids_;  // what they stand for
  std::map<std::pair<std::string, std::string>, Bytes> objects_;
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  std::shared_ptr<void> replaced_;
  Owner owner_;
};

}  // namespace

UserRequest Finish(std::string pod) {
  return {"PATCH", &api::kPods, std::move(pod), "",
          R"({"metadata":{"annotations":{"sandbox.gangway.io/finish":"0s"}}})"};
}
UserRequest Fail(std::string pod, int code) {
  return {"PATCH", &api::kPods, std::move(pod), "",
          absl::StrCat(R"({"metadata":{"annotations":{"sandbox.gangway.io/fail":"0s:)", code, R"("}}})")};
}
UserRequest Evict(const std::string& pod) {
  return {"POST", &api::kPods, pod, "eviction",
          absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", pod,
                       R"(","namespace":"default"}})")};
}

WorldIs Always() {
  return [](const Checker&) { return true; };
}
WorldIs operator&&(WorldIs a, WorldIs b) {
  return [a = std::move(a), b = std::move(b)](const Checker& world) { return a(world) && b(world); };
}

absl::string_view NameOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kKilledBefore:
      return "KilledBefore";
    case FaultKind::kKilledAfter:
      return "KilledAfter";
    case FaultKind::kReplyLost:
      return "ReplyLost";
    case FaultKind::kConflict:
      return "Conflict";
    case FaultKind::kServerError:
      return "ServerError";
    case FaultKind::kTooManyRequests:
      return "TooManyRequests";
  }
  return "";
}

LifeResult RunLife(const Life& life, const LifeOptions& options) { return Run(life, options).Go(); }

}  // namespace gangway::testutil
