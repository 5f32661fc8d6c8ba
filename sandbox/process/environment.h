// The environment and the command line of a container, as a kubelet makes them of the pod and what it refers to. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/pod_sources.h"

namespace gangway::sandbox {

// What a pod may be told of itself and of other objects.
struct PodKnowledge {
  const HostedPod& pod;
  std::string pod_ip, host_ip;
  const api::ResourceList* allocatable = nullptr;  // of its node: the limits of a container that has none
  const SourceLookup& sources;
};

// Of its containers, also those that come first; nullptr: it has none of that name.
const HostedContainer* FindContainer(const HostedPod& pod, absl::string_view name);

// What execve takes of command line and environment together, where the stack may have 8 MiB as usual (execve(2)).
inline constexpr std::size_t kMaxArguments = 2u << 20;

// $(NAME) becomes what `find` knows of it, and stays when that is nothing; $$ becomes $ (kubernetes:
// third_party/forked/golang/expansion). Breaks off beyond kMaxArguments, so that references to references stay small.
std::string ExpandReferences(absl::string_view text,
                             const std::function<const std::string*(absl::string_view name)>& find);

// A field of the downward API, such as metadata.labels['app'] or status.podIP. InvalidArgument names it when a pod has
// no such field.
absl::StatusOr<std::string> FieldOf(const PodKnowledge& facts, absl::string_view path);
// A container's request or limit in units of the divisor, rounded up. `container`: whose, unless the selector says.
absl::StatusOr<std::string> ResourceOf(const PodKnowledge& facts, const HostedContainer& container,
                                       const ResourceSelector& selector);
// One key of a config map, or of a secret, whose values are in base64; "" when it has no such key.
std::string ValueOf(const SourceObject& object, const std::string& key, bool secret);

using Environment = std::vector<std::pair<std::string, std::string>>;  // each name once, in the order they came

// What the pod declares, at most kMaxArguments; references in it, in the command line and in subPathExpr are to that
// alone. pkg/kubelet: makeEnvironmentVariables; services add nothing.
absl::StatusOr<Environment> EnvironmentOf(const PodKnowledge& facts, const HostedContainer& container);
// `declared` over that of the image.
Environment Over(Environment image, Environment declared);

// command and args with their references expanded, at most kMaxArguments; empty: the image's.
absl::StatusOr<std::vector<std::string>> CommandLineOf(const HostedContainer& container, const Environment& declared);

}  // namespace gangway::sandbox
