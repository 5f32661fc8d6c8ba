// How simulated containers behave: when they end and with which exit code, and what they write meanwhile.
//
// A rule is NAME=DURATION[:EXITCODE][xTIMES]. NAME is a task ("trainer"), a task and an index ("trainer-1"), or a pod's
// whole name. xTIMES keeps the rule to the first TIMES incarnations of the job (by the pod's annotation
// volcano.sh/job-version). Annotations of the pod come before rules: sandbox.gangway.io/finish: "5s",
// sandbox.gangway.io/fail: "3s:137x1". A pod that no rule fits runs until it is deleted.
//
// What is written is said likewise: NAME=EVERY[:TEXT], annotation sandbox.gangway.io/log: "500ms:loss falls". EVERY 0s:
// nothing between the first line and the last. sandbox.gangway.io/termination-message is what a container that fails
// leaves behind for its status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kFinishAnnotation = "sandbox.gangway.io/finish";
inline constexpr absl::string_view kFailAnnotation = "sandbox.gangway.io/fail";
inline constexpr absl::string_view kLogAnnotation = "sandbox.gangway.io/log";
inline constexpr absl::string_view kMessageAnnotation = "sandbox.gangway.io/termination-message";

struct RunOutcome {
  absl::Duration after;  // from the container's start
  int exit_code = 0;
  std::optional<int> times;  // only while the pod's job-version is smaller
};

// The lines between a container's first and its last: "step 1", "step 2"...
struct LogLines {
  absl::Duration every = absl::Seconds(1);
  std::string text = "step";
  friend bool operator==(const LogLines&, const LogLines&) = default;
};

class Behaviour {
 public:
  // `finish` and `fail` are rules as above; a rule of `fail` without an exit code means 1, one of `finish` may not have
  // any. InvalidArgument names the rule and the part that is wrong.
  static absl::StatusOr<Behaviour> Parse(const std::vector<std::string>& finish, const std::vector<std::string>& fail,
                                         const std::vector<std::string>& log = {});

  // What becomes of the pod's containers; none: they run on. `fail` comes before `finish`, earlier rules before later
  // ones. An annotation that does not parse counts as absent (the kubelet tells its user by an event).
  std::optional<RunOutcome> For(const HostedPod& pod) const;

  // What they write; the same for all containers of the pod.
  LogLines LogLinesOf(const HostedPod& pod) const;

  // Whether a rule's NAME is that of the pod.
  static bool Names(absl::string_view rule, const api::ObjectMeta& pod);
  // Of which task it is; "" of none.
  static std::string TaskOf(const api::ObjectMeta& pod);

  // Why an annotation of the pod is not understood; Ok when all are fine or absent.
  static absl::Status CheckAnnotations(const HostedPod& pod);

 private:
  struct Rule {
    std::string name;
    RunOutcome outcome;
  };
  struct LogRule {
    std::string name;
    LogLines lines;
  };
  std::vector<Rule> rules_;
  std::vector<LogRule> log_rules_;
};

}  // namespace gangway::sandbox
