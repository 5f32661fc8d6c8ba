#include "translator/convert/job_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/resource.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "translator/convert/svc_plugin.h"

namespace gangway::convert {
namespace {

constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";  // it is about another object
constexpr std::int64_t kPortBytes = 6;                                               // ":36000"
constexpr std::int64_t kMostListBytes = 128 * 1024 - 64;  // Linux: MAX_ARG_STRLEN, less the variable's name
constexpr std::int64_t kMostServices = 10'000;            // of single pods
constexpr std::size_t kMostSchedulerLetters = 63;         // of a Job's schema

}  // namespace

std::optional<boost::json::value> ParseTemplate(const api::Document& pod_template, absl::string_view field,
                                                boost::json::storage_ptr storage, Findings& findings) {
  if (pod_template.empty()) {
    findings.push_back(MakeFinding(Code::kNoContainer, field));
    return std::nullopt;
  }
  absl::StatusOr<boost::json::value> parsed = api::ParseJson(pod_template.json, std::move(storage));
  if (parsed.ok()) return *std::move(parsed);
  findings.push_back(MakeFinding(Code::kRefused, field, {}, parsed.status().message()));
  return std::nullopt;
}

void CheckWish(const GangWish& wish, absl::string_view field, Findings& findings) {
  if (wish.queue == View(api::volcano::kRootQueue)) {
    findings.push_back(MakeFinding(Code::kQueue, absl::StrCat(field, ".queue"), api::JsonString(wish.queue),
                                   "jobs can not be submitted to the root queue", "name one of the queues below it"));
  } else if (!wish.queue.empty() && !api::CheckDns1123Subdomain(wish.queue).empty()) {
    findings.push_back(MakeFinding(Code::kQueue, absl::StrCat(field, ".queue"), api::JsonString(wish.queue),
                                   "no queue can have this name", "name another"));
  }
  if (!wish.priority_class.empty() && !api::CheckDns1123Subdomain(wish.priority_class).empty()) {
    findings.push_back(MakeFinding(Code::kRefused, absl::StrCat(field, ".priorityClass"),
                                   api::JsonString(wish.priority_class), "no priority class can have this name",
                                   "name another"));
  }
}

std::int64_t ListBytes(absl::string_view job, const TaskSize& task, const NameStyle& style) {
  const auto rest =
      static_cast<std::int64_t>(HostName(job, task.name, 0, style).size()) - 1 + kPortBytes + 1;  // and a comma
  std::int64_t bytes = rest * task.replicas;
  for (std::int64_t first = 0, last = 10, digits = 1; first < task.replicas; first = last, last *= 10, ++digits) {
    bytes += digits * (std::min<std::int64_t>(task.replicas, last) - first);
  }
  return std::max<std::int64_t>(bytes - 1, 0);
}

bool ListFits(absl::string_view job, const TaskSize& task, const NameStyle& style, absl::string_view field,
              Findings& findings) {
  const std::int64_t bytes = ListBytes(job, task, style);
  if (bytes <= kMostListBytes) return true;
  findings.push_back(
      MakeFinding(Code::kEnvTooLarge, field, absl::StrCat(task.replicas),
                  absl::StrCat("the list of their endpoints would have ", bytes, " bytes, and Linux passes at most ",
                               kMostListBytes, " to a program in one variable")));
  return false;
}

void CheckPodServices(std::int64_t pods, Findings& findings) {
  if (pods <= kMostServices) return;
  findings.push_back(
      MakeFinding(Code::kRefused, AnnotationField("per-pod-services"), "\"on\"",
                  absl::StrCat("would make ", pods, " Services, and at most ", kMostServices, " are made"),
                  "remove the annotation; the Job's own Service makes each pod a name"));
}

std::string SchedulerOf(const std::vector<NamedScheduler>& named, Findings& findings) {
  std::string scheduler;
  for (const NamedScheduler& one : named) {
    if (one.name.empty()) continue;
    if (scheduler.empty()) scheduler = one.name;
    const bool too_long = one.name.size() > kMostSchedulerLetters;
    if (one.name == scheduler && !too_long) continue;
    findings.push_back(MakeFinding(
        Code::kScheduler, absl::StrCat(one.field, ".spec.schedulerName"), api::JsonString(one.name),
        too_long ? absl::StrCat("is longer than ", kMostSchedulerLetters, " characters")
                 : absl::StrCat("another role names ", scheduler, ", and a gang is placed by one scheduler")));
  }
  return scheduler;
}

api::volcano::Job BeginJob(const api::ObjectMeta& metadata, const GangWish& wish, const Annotations& annotations,
                           const TranslateOptions& options) {
  api::volcano::Job job;
  job.api_version = api::kJobs.ApiVersion();
  job.kind = std::string(api::kJobs.kind);
  job.metadata.name = metadata.name;
  job.metadata.ns = metadata.ns;
  job.metadata.labels = metadata.labels;
  job.metadata.annotations = metadata.annotations;
  job.metadata.annotations.erase(kLastApplied);
  api::volcano::JobSpec& spec = job.spec;
  spec.scheduler_name = std::string(api::volcano::kDefaultScheduler);
  spec.queue = !wish.queue.empty()                ? wish.queue
               : !options.namespace_queue.empty() ? options.namespace_queue
                                                  : std::string(api::volcano::kDefaultQueue);
  spec.priority_class_name = wish.priority_class;
  spec.plugins["env"];
  spec.plugins["svc"] = SvcArguments(annotations.network_policy, options);
  spec.ttl_seconds_after_finished = annotations.ttl_seconds;
  return job;
}

}  // namespace gangway::convert
