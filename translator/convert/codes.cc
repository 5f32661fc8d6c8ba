#include "translator/convert/codes.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace gangway::convert {
namespace {

using Type = api::FieldError::Type;

constexpr CodeEntry Note(Code code, std::string_view name, std::string_view rule, std::string_view fix) {
  return {code, name, Type::kInvalid, rule, fix};
}

constexpr std::array kCodes{
    CodeEntry{Code::kEmpty, "E-EMPTY", Type::kRequired, "no role has a pod, so there is nothing to run",
              "give spec.worker at least one replica"},
    CodeEntry{Code::kName, "E-NAME", Type::kInvalid,
              "must be lower case letters, digits and '-', start with a letter and end with a letter or digit: the "
              "job's Service has its name",
              "rename the job"},
    CodeEntry{Code::kNameLength, "E-NAME-LENGTH", Type::kTooLong, "the names of its pods do not fit into 63 characters",
              "choose a shorter name"},
    CodeEntry{Code::kReplicas, "E-REPLICAS", Type::kInvalid, "must be at least 0",
              "leave the role out if it has no pods"},
    CodeEntry{Code::kMinAvailable, "E-MIN-AVAILABLE", Type::kInvalid,
              "is more than the job has pods: it would wait forever", "leave it out to start all pods together"},
    CodeEntry{Code::kEnum, "E-ENUM", Type::kNotSupported, "is none of the field's values", "write one of them"},
    CodeEntry{Code::kScheduler, "E-SCHEDULER", Type::kNotSupported, "a gang is placed by one scheduler, volcano",
              "remove schedulerName"},
    CodeEntry{Code::kHeter, "E-HETER", Type::kRequired, "heter trainers need servers and workers beside them",
              "add spec.ps and spec.worker, or remove spec.heter"},
    CodeEntry{Code::kElastic, "E-ELASTIC", Type::kInvalid, "elastic training needs workers, an etcd, and no servers",
              "remove spec.elastic, or give it what it needs"},
    CodeEntry{Code::kEnvTooLarge, "E-ENV-TOO-LARGE", Type::kTooLong,
              "a variable would be longer than Linux passes to a program", "choose a shorter name, or fewer replicas"},
    CodeEntry{Code::kIp, "E-IP", Type::kNotSupported,
              "endpoints are names: addresses are not known before the pods run",
              "remove the annotation; a program can resolve the names"},
    CodeEntry{Code::kDns, "E-DNS", Type::kInvalid,
              "with this dnsPolicy pods on the host network do not find the short names of their peers",
              "write ClusterFirstWithHostNet, or choose the name style absolute"},
    CodeEntry{Code::kVolcanoOld, "E-VOLCANO-OLD", Type::kNotSupported, "this Volcano does not tell pods their index",
              "use Volcano 1.9 or later"},
    CodeEntry{Code::kPgClash, "E-PG-CLASH", Type::kDuplicate,
              "Volcano would take the PodGroup of this name for the job's own, and no pod would run",
              "delete the PodGroup, or rename the job"},
    CodeEntry{Code::kSvcClash, "E-SVC-CLASH", Type::kDuplicate,
              "the job needs this name, and somebody else's object has it", "delete that object, or rename the job"},
    CodeEntry{Code::kTwoControllers, "E-TWO-CONTROLLERS", Type::kForbidden, "paddle-operator runs this job too",
              "stop paddle-operator"},
    CodeEntry{Code::kQueue, "E-QUEUE", Type::kInvalid, "there is no such queue, or it is not open",
              "open it, or name another"},
    CodeEntry{Code::kNoContainer, "E-NO-CONTAINER", Type::kRequired,
              "the template has no container that runs the program",
              "add one; in a job of kubeflow.org its name is paddle"},
    CodeEntry{Code::kType, "E-TYPE", Type::kTypeInvalid, "has another type", "write a value of the field's type"},
    CodeEntry{Code::kUnknown, "E-UNKNOWN-FIELD", Type::kForbidden, "there is no such field",
              "remove it, or correct its name or its place"},
    CodeEntry{Code::kRefused, "E-REFUSED", Type::kInvalid, "Volcano or Kubernetes would refuse the Job",
              "correct the field"},
    CodeEntry{Code::kDuplicate, "E-DUPLICATE", Type::kDuplicate, "another object of the input becomes the same one",
              "rename or remove one of them"},
    CodeEntry{Code::kKind, "E-KIND", Type::kNotSupported, "objects of this kind cannot be translated",
              "write a PaddleJob or a Volcano Job"},
    CodeEntry{Code::kYaml, "E-YAML", Type::kForbidden, "the document cannot be read", "correct it"},

    Note(Code::kZeroReplicas, "W-ZERO-REPLICAS", "a role of 0 pods is left out", "remove it, or give it replicas"),
    Note(Code::kUnused, "W-UNUSED", "has no effect here", "remove it"),
    Note(Code::kFinalizers, "W-FINALIZERS",
         "pods of a Volcano Job get no finalizers from their template; they are left out", "remove them"),
    Note(Code::kLabel, "W-LABEL", "pods do not carry paddle-res-name: all of a role share one template",
         "select by volcano.sh/job-name, volcano.sh/task-spec and volcano.sh/task-index"),
    Note(Code::kHostname, "W-HOSTNAME",
         "one name for all pods of a role would hide them from each other; it is left out", "remove it"),
    Note(Code::kRestartAlways, "W-RESTART-ALWAYS", "OnFailure is taken: with Always no pod ever ends",
         "write OnFailure or Never"),
    Note(Code::kPartialGang, "W-PARTIAL-GANG", "the job may start before all the pods that its env names",
         "leave it out to start all pods together"),
    Note(Code::kMinAvailableLow, "W-MIN-AVAILABLE", "1 is taken: a gang has at least one member",
         "leave it out to start all pods together"),
    Note(Code::kMinResources, "W-MIN-RESOURCES", "is not used: the Job controller counts what the pods request",
         "remove it"),
    Note(Code::kEnumIgnored, "W-ENUM", "is none of the field's values", "write one of them"),
    Note(Code::kGloo2, "W-GLOO2", "servers get no barrier: over HTTP Gloo serves workers only", "write 1"),
    Note(Code::kElastic0, "W-ELASTIC0", "the job is not elastic; paddle-operator took any number for a yes",
         "remove it, or write 1"),
    Note(Code::kClean, "W-CLEAN",
         "a Job by itself keeps its finished pods and loses those that still run, whatever is written here",
         "apply the PaddleJob, with gangway controller"),
    Note(Code::kSampleSet, "W-SAMPLESET",
         "the volume is mounted; pods neither wait for its warm-up nor stay near its cache",
         "warm it up before the job"),
    Note(Code::kEnvReserved, "W-ENV-RESERVED", "says who the pod is and is set for each; yours is left out",
         "remove it"),
    Note(Code::kDnsChanged, "W-DNS",
         "ClusterFirstWithHostNet is taken: otherwise pods on the host network do not find each other",
         "write ClusterFirstWithHostNet"),
    Note(Code::kHostNodes, "W-HOST-NODES",
         "more pods than nodes: on the host network no two pods of a role share a node",
         "use fewer replicas, or intranet: PodIP"),
    Note(Code::kPgDropped, "W-PG-DROPPED",
         "the Job gets a PodGroup of its own; what this one asks for is taken over where the job says nothing",
         "remove the PodGroup"),
    Note(Code::kIstio, "W-ISTIO",
         "an injected sidecar never ends and breaks the pods' connections; injection is turned off for them",
         "annotate the template with sidecar.istio.io/inject: \"false\""),
    Note(Code::kExitCode, "W-EXITCODE", "the exit codes 130, 134, 137, 139 and 143 restart the job, all others end it",
         "return one of these for what a restart cures"),
    Note(Code::kBackoff, "W-BACKOFF", "restarts are counted for each role, not over all of them",
         "divide the number between the roles"),
    Note(Code::kDeadline, "W-DEADLINE", "is counted for each pod from its own start",
         "apply the PaddleJob, with gangway controller"),
    Note(Code::kGrace, "W-GRACE", "Volcano before 1.11 acts at once where a delay is meant",
         "use Volcano 1.11 or later"),
    Note(Code::kPolicy, "W-POLICY", "harms a job of this mode", "remove it"),
    Note(Code::kUnknownField, "W-UNKNOWN-FIELD", "there is no such field",
         "remove it, or correct its name or its place"),
    Note(Code::kDeprecated, "W-DEPRECATED", "is an old name of the field", "write its new name"),
    Note(Code::kRetry, "W-RETRY", "Volcano may count one failure twice", "allow more restarts than you want"),
    Note(Code::kShm, "W-SHM",
         "without /dev/shm of their own, processes that share a GPU pod have 64 MiB for their messages",
         "mount an emptyDir of medium Memory at /dev/shm"),
    Note(Code::kPodIp, "W-POD-IP",
         "POD_IP is the pod's name, not its address: nothing can be bound to it before the name resolves, and not "
         "every program takes a name",
         "bind to 0.0.0.0, or to a variable of another name with valueFrom fieldRef status.podIP"),
    Note(Code::kNotInJobs, "W-NOT-IN-JOBS", "Kubernetes' own Jobs and gangs have no way to say this", "remove it"),

    Note(Code::kPriority, "I-PRIORITY", "pods without a priority class get this one", ""),
    Note(Code::kIntranet, "I-INTRANET", "PodIP and Service are the same: endpoints are names", ""),
    Note(Code::kEnvUser, "I-ENV-USER", "yours is kept, and none is set beside it", ""),
    Note(Code::kRestart, "I-RESTART", "a restart runs finished workers again: programs need checkpoints", ""),
};

constexpr bool InOrder() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (kCodes[i].code != static_cast<Code>(i)) return false;
  }
  return true;
}
static_assert(InOrder() && kCodes.back().code == Code::kRestart,
              "the table has an entry for each code, in their order");

auto OrderOf(const Finding& finding) {
  const api::FieldError& e = finding.error;
  return std::make_tuple(finding.level(), View(e.field), finding.code, View(e.rule), View(e.value), View(e.fix));
}

}  // namespace

absl::Span<const CodeEntry> Codes() { return kCodes; }

const CodeEntry& EntryOf(Code code) { return kCodes[static_cast<std::size_t>(code)]; }

std::string Finding::ToString() const {
  const CodeEntry& entry = EntryOf(code);
  if (level() == Level::kError) return absl::StrCat(View(entry.name), " ", error.ToString());
  std::string out = absl::StrCat(View(entry.name), " ", error.field, error.field.empty() ? "" : ": ");
  if (!error.value.empty()) absl::StrAppend(&out, error.value, ": ");
  absl::StrAppend(&out, error.rule);
  if (!error.fix.empty()) absl::StrAppend(&out, " (", error.fix, ")");
  return out;
}

Finding MakeFinding(Code code, absl::string_view field, absl::string_view value, absl::string_view rule,
                    absl::string_view fix) {
  const CodeEntry& entry = EntryOf(code);
  return {code,
          {entry.type, std::string(field), std::string(value), std::string(rule.empty() ? View(entry.rule) : rule),
           std::string(fix.empty() ? View(entry.fix) : fix)}};
}

void Arrange(Findings& findings) {
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return OrderOf(a) < OrderOf(b); });
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
}

bool HasErrors(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.level() == Level::kError; });
}

}  // namespace gangway::convert
