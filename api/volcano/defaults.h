// What Volcano adds to an object when it is created: the defaults of its CRDs and of its mutating webhooks
// (Volcano: pkg/webhooks/admission/{jobs,podgroups,queues}/mutate). Only absent or zero fields change, so doing it
// twice is doing it once.
//
// Derived values are not made from values that admission refuses: a task with replicas -1 gets no minAvailable -1.
// The functions over documents keep every field they do not know. Their documents must have passed CheckTypes.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "api/volcano/cron_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "boost/json/fwd.hpp"

namespace gangway::api::volcano {

inline constexpr std::string_view kDefaultQueue = "default";
inline constexpr std::string_view kRootQueue = "root";
inline constexpr std::string_view kDefaultScheduler = "volcano";
inline constexpr std::int32_t kDefaultMaxRetry = 3;
// Annotation of a namespace, the queue of its PodGroups that ask for none; and of a pod that no Job made, the queue of
// its own.
inline constexpr std::string_view kQueueNameAnnotation = "scheduling.volcano.sh/queue-name";

// The queue of a new PodGroup that asks for `asked`: `default` and "" leave it to the namespace, whose annotation
// `namespace_queue` is
// ("": it has none). For creations only; what a namespace says later moves no group.
std::string QueueOfPodGroup(absl::string_view asked, absl::string_view namespace_queue);

// queue, schedulerName, maxRetry, minAvailable (the sum of the tasks'), plugins that other plugins need (svc, ssh), and
// in tasks name ("default0"), minAvailable, maxRetry, and the template's dnsPolicy with hostNetwork.
void ApplyDefaults(Job& job);
// queue. Of no namespace: see QueueOfPodGroup.
void ApplyDefaults(PodGroup& group);
// weight, reclaimable, dequeueStrategy
void ApplyDefaults(Queue& queue);
// concurrencyPolicy, suspend, the two history limits; those of its jobs are given when they are made
void ApplyDefaults(CronJob& cron);

// The same in place. When a task needed a default, every template also gets `metadata: {}`, as Volcano's patch has it.
void ApplyJobDefaults(boost::json::value& job);
void ApplyPodGroupDefaults(boost::json::value& group, absl::string_view namespace_queue);
void ApplyQueueDefaults(boost::json::value& queue);
void ApplyCronJobDefaults(boost::json::value& cron);

}  // namespace gangway::api::volcano
