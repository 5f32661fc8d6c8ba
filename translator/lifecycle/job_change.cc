#include "translator/lifecycle/job_change.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/hash.h"
#include "kube/plan/writes.h"

namespace gangway::paddle_lifecycle {

using api::volcano::Command;
using api::volcano::Job;

kube::Write JobChange::Write(const Job& job) const {
  std::string body;
  api::JsonWriter json(body);
  const auto text = [&](absl::string_view key, const std::string* value) {
    value != nullptr ? json.Field(key, *value) : json.Key(key).Null();
  };
  json.BeginObject();
  if (!annotations.empty()) {
    json.Key("metadata").BeginObject().Key("annotations").BeginObject();
    for (const auto& [key, value] : annotations) text(key, value.has_value() ? &*value : nullptr);
    json.EndObject().EndObject();
  }
  if (tasks.has_value() || min_available.has_value() || priority_class.has_value()) {
    json.Key("spec").BeginObject();
    if (priority_class.has_value()) text("priorityClassName", priority_class->empty() ? nullptr : &*priority_class);
    if (min_available.has_value()) json.Field("minAvailable", *min_available);
    if (tasks.has_value()) {
      json.Key("tasks").BeginArray();
      for (const api::volcano::TaskSpec& task : *tasks) json.Raw(api::Encode(task));
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndObject();
  return kube::ChangeOf(api::kJobs, job.metadata, std::move(body));
}

std::optional<kube::Write> ReleaseFromOperator(const api::Resource& resource, const api::ObjectMeta& paddle_job) {
  constexpr absl::string_view kFinalizer = "finalizers.paddlepaddle.org";
  if (std::ranges::find(paddle_job.finalizers, kFinalizer) == paddle_job.finalizers.end()) return std::nullopt;
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Key("metadata").BeginObject().Key("finalizers").BeginArray();
  for (const std::string& finalizer : paddle_job.finalizers) {
    if (finalizer != kFinalizer) json.String(finalizer);
  }
  json.EndArray().EndObject().EndObject();
  return kube::ChangeOf(resource, paddle_job, std::move(body));
}

bool IsGiven(absl::string_view action, const Job& job, const std::vector<const Command*>& commands) {
  return std::ranges::any_of(commands, [&](const Command* command) {
    return command->action == action && command->target.has_value() && command->target->uid == job.metadata.uid;
  });
}

kube::Write GiveCommand(absl::string_view action, std::string why, const Job& job) {
  Command command;
  command.api_version = api::kCommands.ApiVersion();
  command.kind = std::string(api::kCommands.kind);
  command.metadata.ns = job.metadata.ns;
  const std::uint64_t run =
      StableHash(absl::StrCat(job.metadata.uid, " ", job.status.version, " ", job.status.retry_count));
  command.metadata.name =
      absl::StrCat(job.metadata.name, "-", absl::AsciiStrToLower(action), "-", absl::Hex(run, absl::kZeroPad16));
  const api::OwnerReference owner{
      api::kJobs.ApiVersion(), std::string(api::kJobs.kind), job.metadata.name, job.metadata.uid, true, std::nullopt};
  command.metadata.owner_references = {owner};
  command.target = owner;
  command.action = std::string(action);
  command.reason = "PaddleJob";
  command.message = std::move(why);
  kube::Write write;
  write.resource = &api::kCommands;
  write.ns = command.metadata.ns;
  write.name = command.metadata.name;
  write.body = api::Encode(command);
  return write;
}

FailedWorkers FindFailedWorkers(const Job& job, const JobRecord& record, const std::vector<NamedPod>& failed,
                                absl::string_view worker) {
  FailedWorkers found;
  Replaced replaced = record.replaced;
  for (const NamedPod& of : failed) {
    if (of.pod->task != worker || of.pod->deleting) continue;
    if (record.replaced.Contains(of.pod->uid)) {
      found.counted.push_back(of);
    } else if (std::int64_t{replaced.count} + job.status.retry_count + 1 < job.spec.max_retry) {
      ++replaced.count;
      found.uncounted.push_back(of);
    } else {
      found.exhausted = true;
    }
  }
  if (found.uncounted.empty()) return found;
  replaced.pods.clear();  // of those that are gone nothing needs to be known
  for (const auto* pods : {&found.counted, &found.uncounted}) {
    for (const NamedPod& of : *pods) replaced.pods.push_back(of.pod->uid);
  }
  found.record = std::move(replaced);
  return found;
}

}  // namespace gangway::paddle_lifecycle
