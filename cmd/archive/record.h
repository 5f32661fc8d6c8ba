// What is kept of a job that has ended: one line of JSON (docs/commands.md, "An archive of finished jobs"). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/field_table.h"
#include "api/meta.h"
#include "api/resource.h"

namespace gangway::cmd {

// A job or PodGroup of any kind, with all that its API server has of it: fields that we do not know are kept, too.
struct Kept {
  api::ObjectMeta metadata;
  api::Document spec, status;
  static constexpr std::string_view kName = "Kept";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&Kept::metadata>("metadata", ""), api::MakeField<&Kept::spec>("spec", ""),
                           api::MakeField<&Kept::status>("status", ""));
  }
};

// How a pod ended, or what it was when it was seen last.
struct PodEnd {
  std::string name, uid, task, node, phase, reason, container;
  std::int32_t exit_code = 0, restarts = 0;  // of the container that failed, or else of the first
  api::Time started, ended;
  friend bool operator==(const PodEnd&, const PodEnd&) = default;
};
PodEnd EndOf(const api::core::Pod& pod);

struct Remains {
  const api::Resource* resource = nullptr;
  std::shared_ptr<const Kept> job;
  bool deleted = false;        // it was gone, or about to go, when this was written
  std::vector<PodEnd> pods;    // by the time they began
  std::size_t more_pods = 0;   // that are left out
  std::string pod_group;       // JSON; "": none was seen
  std::string events = "[]";   // JSON: a list
  std::string events_problem;  // why there are none
};

// "Completed"; "" before there is one.
std::string PhaseOf(const api::Resource& resource, const Kept& job);
// Whether it never runs again by itself: Completed, Failed, Terminated, Succeeded. An Aborted job may be resumed.
bool HasEnded(const api::Resource& resource, const Kept& job);

// The whole object, its kind included.
std::string ObjectJson(const api::Resource& resource, const Kept& object);
// One line, without its line break; its first member is the UID.
std::string RecordLine(const Remains& remains);
// Of a line that RecordLine wrote; "" of any other.
absl::string_view UidOfLine(absl::string_view line);
// "default/ctr-volcano-0b6e....json": for object stores.
std::string RecordName(const api::ObjectMeta& job);

}  // namespace gangway::cmd
