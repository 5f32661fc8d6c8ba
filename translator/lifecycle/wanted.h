// What a PaddleJob asks for, in words that both dialects share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "api/resource.h"
#include "translator/convert/gang.h"
#include "translator/lifecycle/paddle_job_view.h"

namespace gangway::paddle_lifecycle {

struct WantedRole {
  std::string task;  // of the Job: "ps", "worker", "master"
  std::string role;  // in the status: "ps", "worker", "Master"
  std::int32_t replicas = 0;
};

struct Wanted {
  const api::Resource* resource = nullptr;
  const api::ObjectMeta* metadata = nullptr;
  std::vector<WantedRole> roles;  // those of the spec, also with 0 pods; in the order of the Job's tasks
  std::string mode;               // "PS", "Collective", "Single"
  bool elastic = false;           // asked for; whether it is so, the Job says
  std::string priority_class;

  bool left_alone = false;  // another controller keeps it
  bool chosen = false;      // we are named as the one that keeps it
  bool suspended = false;
  bool scale_forbidden = false;
  bool clean_completed = false, clean_failed = false;  // the pods that are left go when the job has ended so
  std::optional<std::int64_t> deadline_seconds;        // from the start
  std::optional<std::int32_t> ttl_seconds;             // from the end
  bool ttl_takes_job = false;                          // what goes is the PaddleJob itself, not its Job alone

  const std::string& name() const { return metadata->name; }
};
Wanted WantedOf(const PaddleJobView& seen);

// Of which spec a Job is made: "<hash> ps=2,worker=2". Two of one PaddleJob differ when its Job must be replaced. It
// depends on nothing but the PaddleJob: not on the order of keys, not on how we translate, not on what a running Job
// follows (clean policy, priority class, time limits, suspension; the workers of an elastic job). `bounds`: of an
// elastic job, those it was made with: they stand for what the spec leaves out.
std::string TranslationMark(const PaddleJobView& seen, const std::optional<convert::ElasticBounds>& bounds);
// Its parts.
absl::string_view HashOf(absl::string_view mark);
absl::string_view SizesOf(absl::string_view mark);

// "0123456789abcdef", of any JSON, whatever the order of its keys.
std::string HashJson(absl::string_view json);

}  // namespace gangway::paddle_lifecycle
