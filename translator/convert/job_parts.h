// What the Jobs of both dialects have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "api/volcano/job.h"
#include "translator/convert/annotations.h"
#include "translator/convert/gang.h"
#include "translator/convert/names.h"
#include "translator/convert/options.h"

namespace gangway::convert {

// A pod template as a document of `storage`. nullopt: it is absent or does not read, which is told of `field`.
std::optional<boost::json::value> ParseTemplate(const api::Document& pod_template, absl::string_view field,
                                                boost::json::storage_ptr storage, Findings& findings);

// E-QUEUE and E-REFUSED: names that no queue and no priority class has. `field`: of the scheduling policy.
void CheckWish(const GangWish& wish, absl::string_view field, Findings& findings);

// The bytes of the list of a task's endpoints, without making it.
std::int64_t ListBytes(absl::string_view job, const TaskSize& task, const NameStyle& style);

// False, and E-ENV-TOO-LARGE about `field`, the task's replicas: the list of its endpoints is longer than Linux passes
// to a program in one variable.
bool ListFits(absl::string_view job, const TaskSize& task, const NameStyle& style, absl::string_view field,
              Findings& findings);

// E-REFUSED: a Service for each of so many pods.
void CheckPodServices(std::int64_t pods, Findings& findings);

// A template's field and the scheduler that it names.
struct NamedScheduler {
  std::string field, name;
};
// The one that they name, "" where none does. E-SCHEDULER: a Job has one.
std::string SchedulerOf(const std::vector<NamedScheduler>& named, Findings& findings);

// A Job without tasks, numbers and policies: name, labels, annotations, queue, priority class, plugins, ttl.
api::volcano::Job BeginJob(const api::ObjectMeta& metadata, const GangWish& wish, const Annotations& annotations,
                           const TranslateOptions& options);

}  // namespace gangway::convert
