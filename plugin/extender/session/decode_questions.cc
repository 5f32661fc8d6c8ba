#include "plugin/extender/session/decode_questions.h"

#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/extender/session/json_walk.h"

namespace gangway::extender {
namespace {

// All of a body: one object, whose members `on_member` takes.
absl::Status Whole(JsonWalk& walk, JsonWalk::OnMember on_member) {
  GW_RETURN_IF_ERROR(walk.Struct(on_member));
  return walk.End();
}

absl::Status Missing(absl::string_view field) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": is missing"));
}

absl::Status NodeName(JsonWalk& walk, std::string& out) {
  WantedMembers wanted(walk, 1);
  return walk.Struct([&](absl::string_view key) {
    return SameKey(key, "Name") ? wanted.Take(0, walk.String(out)) : absl::OkStatus();
  });
}

absl::Status Counted(JsonWalk& walk, std::size_t count) {
  if (count < kMaxAsked) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(walk.path(), ": more than ", kMaxAsked, " are asked about"));
}

absl::Status Numbers(JsonWalk& walk, std::map<std::string, std::int64_t>& out) {
  return walk.Map([&](absl::string_view name) {
    GW_RETURN_IF_ERROR(Counted(walk, out.size()));
    return walk.Int(out[std::string(name)] = 0);
  });
}

absl::Status CountTask(JsonWalk& walk, JobCounts::Task& task) {
  WantedMembers wanted(walk, 4);
  return walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "UID")) return wanted.Take(0, walk.String(task.uid));
    if (SameKey(key, "TaskRole")) return wanted.Take(1, walk.String(task.role));
    if (SameKey(key, "Status")) return wanted.Take(2, DecodeStatus(walk, task.status));
    if (SameKey(key, "BestEffort")) return wanted.Take(3, walk.Bool(task.best_effort));
    return absl::OkStatus();
  });
}

absl::Status SubJob(JsonWalk& walk, JobCounts::SubJob& sub_job) {
  WantedMembers wanted(walk, 2);
  return walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "GID")) return wanted.Take(0, walk.String(sub_job.group));
    if (SameKey(key, "MinAvailable")) return wanted.Take(1, walk.Int(sub_job.min_available));
    return absl::OkStatus();
  });
}

absl::Status CountJob(JsonWalk& walk, JobCounts& counts) {
  return walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "UID")) return walk.String(counts.job);
    if (SameKey(key, "MinAvailable")) return walk.Int(counts.min_available);
    if (SameKey(key, "TaskMinAvailable")) return Numbers(walk, counts.min_by_role);
    if (SameKey(key, "MinSubJobs")) return Numbers(walk, counts.min_sub_jobs);
    if (SameKey(key, "SubJobs"))
      return walk.Map([&](absl::string_view name) {
        GW_RETURN_IF_ERROR(Counted(walk, counts.sub_jobs.size()));
        return SubJob(walk, counts.sub_jobs[std::string(name)]);
      });
    if (SameKey(key, "TaskToSubJob"))
      return walk.Map([&](absl::string_view uid) {
        GW_RETURN_IF_ERROR(Counted(walk, counts.sub_job_of_task.size()));
        return walk.String(counts.sub_job_of_task[std::string(uid)]);
      });
    if (!SameKey(key, "Tasks")) return absl::OkStatus();
    return walk.Map([&](absl::string_view uid) {
      GW_RETURN_IF_ERROR(Counted(walk, counts.tasks.size()));
      JobCounts::Task& task = counts.tasks.emplace_back();
      task.uid = std::string(uid);
      return CountTask(walk, task);
    });
  });
}

}  // namespace

absl::StatusOr<std::string> DecodeJobName(absl::string_view body) {
  JsonWalk walk(body);
  std::string job;
  const absl::Status read = Whole(walk, [&](absl::string_view key) {
    if (!SameKey(key, "job")) return absl::OkStatus();
    WantedMembers wanted(walk, 1);
    return walk.Struct([&](absl::string_view member) {
      return SameKey(member, "UID") ? wanted.Take(0, walk.String(job)) : absl::OkStatus();
    });
  });
  GW_RETURN_IF_ERROR(read);
  if (job.empty()) return Missing("job.UID");
  return job;
}

absl::StatusOr<JobCounts> DecodeJobCounts(absl::string_view body) {
  JsonWalk walk(body);
  JobCounts counts;
  const absl::Status read = Whole(
      walk, [&](absl::string_view key) { return SameKey(key, "job") ? CountJob(walk, counts) : absl::OkStatus(); });
  GW_RETURN_IF_ERROR(read);
  if (counts.job.empty()) return Missing("job.UID");
  return counts;
}

absl::StatusOr<PredicateQuestion> DecodePredicate(absl::string_view body) {
  JsonWalk walk(body);
  PredicateQuestion question;
  const absl::Status read = Whole(walk, [&](absl::string_view key) {
    if (SameKey(key, "task")) return DecodeTaskKey(walk, question.task);
    if (SameKey(key, "node")) return NodeName(walk, question.node);
    return absl::OkStatus();
  });
  GW_RETURN_IF_ERROR(read);
  if (question.task.uid.empty()) return Missing("task.UID");
  if (question.node.empty()) return Missing("node.Name");
  return question;
}

absl::StatusOr<PrioritizeQuestion> DecodePrioritize(absl::string_view body) {
  JsonWalk walk(body);
  PrioritizeQuestion question;
  const absl::Status read = Whole(walk, [&](absl::string_view key) {
    if (SameKey(key, "task")) return DecodeTaskKey(walk, question.task);
    if (!SameKey(key, "nodes")) return absl::OkStatus();
    question.nodes.clear();
    return walk.List([&] {
      GW_RETURN_IF_ERROR(Counted(walk, question.nodes.size()));
      GW_RETURN_IF_ERROR(NodeName(walk, question.nodes.emplace_back()));
      return question.nodes.back().empty() ? walk.Wrong("Name is missing") : absl::OkStatus();
    });
  });
  GW_RETURN_IF_ERROR(read);
  if (question.task.uid.empty()) return Missing("task.UID");
  return question;
}

absl::StatusOr<VictimsQuestion> DecodeVictims(absl::string_view body) {
  JsonWalk walk(body);
  VictimsQuestion question;
  const absl::Status read = Whole(walk, [&](absl::string_view key) {
    if (SameKey(key, "evictor")) return DecodeTaskKey(walk, question.evictor);
    if (!SameKey(key, "evictees")) return absl::OkStatus();
    question.uids.clear();
    question.bodies.clear();
    return walk.List([&] {
      GW_RETURN_IF_ERROR(Counted(walk, question.uids.size()));
      const std::string path = walk.path();
      GW_RETURN_IF_ERROR(walk.Take(question.bodies.emplace_back()));
      JsonWalk evictee(question.bodies.back(), path);
      TaskKey task;
      GW_RETURN_IF_ERROR(DecodeTaskKey(evictee, task));
      if (task.uid.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ".UID: is missing"));
      question.uids.push_back(std::move(task.uid));
      return absl::OkStatus();
    });
  });
  GW_RETURN_IF_ERROR(read);
  if (question.evictor.uid.empty()) return Missing("evictor.UID");
  return question;
}

absl::StatusOr<std::string> DecodeQueueName(absl::string_view body) {
  JsonWalk walk(body);
  std::string queue;
  const absl::Status read = Whole(
      walk, [&](absl::string_view key) { return SameKey(key, "queue") ? NodeName(walk, queue) : absl::OkStatus(); });
  GW_RETURN_IF_ERROR(read);
  if (queue.empty()) return Missing("queue.Name");
  return queue;
}

absl::StatusOr<TaskKey> DecodeEvent(absl::string_view body) {
  JsonWalk walk(body);
  TaskKey task;
  const absl::Status read = Whole(
      walk, [&](absl::string_view key) { return SameKey(key, "task") ? DecodeTaskKey(walk, task) : absl::OkStatus(); });
  GW_RETURN_IF_ERROR(read);
  if (task.uid.empty()) return Missing("task.UID");
  return task;
}

}  // namespace gangway::extender
