// The wishes that a PaddleJob has no field for: annotations `paddle.gangway.io/<name>` of it (docs/paddlejob.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "translator/convert/codes.h"

namespace gangway::convert {

inline constexpr std::string_view kAnnotationPrefix = "paddle.gangway.io/";
// managed-by: which controller keeps the PaddleJob. With another value than this one we leave it alone; where it is
// absent we keep it, unless another controller has made pods for it.
inline constexpr std::string_view kManagedBy = "paddle.gangway.io/managed-by", kManagedByUs = "gangway";

struct Annotations {
  std::int32_t max_restarts = 3;    // max-restarts: of the whole job, before it has failed
  bool max_restarts_given = false;  // somebody wrote it
  std::optional<std::int32_t> container_restarts =
      {};  // container-restarts: of a task's containers in place; -1: as often as it takes; absent: 3 a pod
  absl::Duration server_grace =
      absl::Seconds(10);            // server-grace: how long servers may take to end by themselves after the workers
  bool server_grace_given = false;  // somebody wrote it
  bool wait_dns = true;             // wait-dns: off
  std::string wait_dns_image = {};  // wait-dns: an image; "": the container's own
  std::optional<int> host_port_base = {};        // host-port-base
  std::string elastic_etcd = {};                 // elastic-etcd: host:port
  bool elastic_legacy = false;                   // elastic-style: legacy
  bool per_pod_services = false;                 // per-pod-services: on
  bool network_policy = false;                   // network-policy: on
  bool absolute_names = false;                   // name-style: absolute
  bool scale_forbidden = false;                  // scale: forbid
  std::optional<std::int32_t> ttl_seconds = {};  // ttl: after the end
  std::string managed_by = {};                   // managed-by
  bool strict_roles = false;                     // strict-roles: on
  bool wrap_command =
      false;  // task-index: from-name; the index is cut from the pod's name by a shell, for Volcano before 1.9
  bool any_scheduler = false;  // scheduler: any; templates may name another scheduler
  bool run_entry = false;      // run-entry: on; `paddle_k8s start_fluid` is replaced by what ENTRY says
};

// metadata.annotations[paddle.gangway.io/max-restarts], for "max-restarts".
std::string AnnotationField(absl::string_view name);

// All of them: "max-restarts"...
std::vector<std::string> AnnotationNames();

// Reads those of `all` with the prefix; others are no news. What has no meaning is told, with AnnotationField as its
// field, and the nearest known name or value; the default counts then. Numbers of seconds may also be written as Go's
// durations, "1m30s"; on and off also as true and false. Findings: E-IP; W-UNKNOWN-FIELD and W-ENUM, when `strict`
// E-UNKNOWN-FIELD and E-ENUM.
Annotations ReadAnnotations(const std::map<std::string, std::string>& all, bool strict, Findings& findings);

}  // namespace gangway::convert
