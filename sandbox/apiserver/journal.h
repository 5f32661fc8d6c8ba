// One record per commit: what checkers read. The audit log of a real API server converts to the same records.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/resource.h"
#include "base/strings.h"

namespace gangway::sandbox {

struct JournalRecord {
  std::uint64_t revision = 0;
  absl::Time time;
  std::string client;       // Caller::name: "scheduler", "job-controller", "kubelet", "garbage-collector", "kubectl"
  std::string verb;         // "create" "update" "patch" "delete"
  std::string subresource;  // "", "status", "binding", "eviction", "scale"
  const api::Resource* resource = nullptr;  // one of api/resource.h's constants
  api::NamespacedName key;
  std::string uid;
  Bytes before;  // null: created
  Bytes after;   // null: gone. A graceful deletion that only marks has both
};

// Called on the API server's loop, within the commit.
using JournalSink = absl::AnyInvocable<void(const JournalRecord&)>;

}  // namespace gangway::sandbox
