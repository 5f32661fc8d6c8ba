#include "cmd/dashboard/view/seen.h"

#include "plugin/ingest/ingest.h"
#include "plugin/ingest/requests.h"
#include "plugin/lifecycle/words.h"

namespace gangway::dashboard {
namespace {

std::string ValueOf(const std::map<std::string, std::string>& map, absl::string_view key) {
  const auto at = map.find(std::string(key));
  return at == map.end() ? std::string() : at->second;
}

}  // namespace

PodSeen PodSeenOf(const api::core::Pod& pod) {
  PodSeen seen;
  seen.ns = pod.metadata.ns;
  seen.name = pod.metadata.name;
  seen.node = pod.spec.node_name;
  seen.group = ValueOf(pod.metadata.annotations, ingest::kGroupNameAnnotation);
  seen.job = ValueOf(pod.metadata.labels, lifecycle::kJobNameKey);
  if (seen.job.empty()) seen.job = ValueOf(pod.metadata.annotations, lifecycle::kJobNameKey);
  const api::OwnerReference* const owner = pod.metadata.Controller();
  seen.holder = !seen.job.empty()     ? seen.job
                : !seen.group.empty() ? seen.group
                : owner != nullptr    ? owner->name
                                      : seen.name;
  seen.phase = pod.status.phase;
  seen.ended = pod.ended();
  seen.requests = ingest::PodRequests(pod.spec, pod.status);
  seen.created = pod.metadata.creation_timestamp.at;
  return seen;
}

EventSeen EventSeenOf(const cmd::JobEvent& event) {
  EventSeen seen;
  seen.ns = event.metadata.ns;
  seen.name = event.metadata.name;
  seen.job = event.involved_object.name;
  seen.job_uid = event.involved_object.uid;
  seen.reason = event.reason;
  seen.message = event.message;
  seen.warning = event.type == "Warning";
  seen.count = event.count;
  seen.at = event.last_timestamp.set()    ? event.last_timestamp.at
            : event.first_timestamp.set() ? event.first_timestamp.at
                                          : event.metadata.creation_timestamp.at;
  return seen;
}

}  // namespace gangway::dashboard
