// What `vcctl job view` prints about a job and its events. Pure.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/meta.h"
#include "api/volcano/job.h"

namespace gangway::cmd {

struct EventSource {
  std::string component, host;
  static constexpr std::string_view kName = "EventSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&EventSource::component>("component", ""),
                           api::MakeField<&EventSource::host>("host", ""));
  }
};

// An Event with what a person wants to read of it.
struct JobEvent {
  api::ObjectMeta metadata;
  std::string type, reason, message;
  api::ObjectReference involved_object;
  std::int32_t count = 0;
  api::Time first_timestamp, last_timestamp;
  EventSource source;
  static constexpr std::string_view kName = "Event";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&JobEvent::metadata>("metadata", ""), api::MakeField<&JobEvent::type>("type", ""),
        api::MakeField<&JobEvent::reason>("reason", ""), api::MakeField<&JobEvent::message>("message", ""),
        api::MakeField<&JobEvent::involved_object>("involvedObject", ""), api::MakeField<&JobEvent::count>("count", ""),
        api::MakeField<&JobEvent::first_timestamp>("firstTimestamp", ""),
        api::MakeField<&JobEvent::last_timestamp>("lastTimestamp", ""),
        api::MakeField<&JobEvent::source>("source", ""));
  }
};

// Times are UTC. What the controllers keep for themselves in status.controlledResources is left out.
std::string JobViewText(const api::volcano::Job& job);

// In the order given; ages as of `now`.
std::string JobEventsText(absl::Span<const JobEvent> events, absl::Time now);

}  // namespace gangway::cmd
