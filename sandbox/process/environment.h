// The environment and the command line of a container, as a kubelet makes them of the pod and what it refers to. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/pod_sources.h"

namespace gangway::sandbox {

using Environment = std::vector<std::pair<std::string, std::string>>;  // each name once, in the order they came

// A token of its service account that a pod has in a projected volume.
struct TokenWish {
  std::string audience;  // "": the API server
  std::int64_t seconds = 0;
  friend auto operator<=>(const TokenWish&, const TokenWish&) = default;
};
using PodTokens = std::map<TokenWish, std::string>;

// What a pod may be told of itself and of other objects.
struct PodKnowledge {
  const HostedPod& pod;
  std::string pod_ip, host_ip;
  const api::ResourceList* allocatable = nullptr;  // of its node: the limits of a container that has none
  const SourceLookup& sources;
  const PodTokens* tokens = nullptr;      // all that its volumes ask for
  const Environment* services = nullptr;  // what it is told of Services beneath what it declares; null: nothing
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

// By which a program finds the API server, as every pod has them (pkg/kubelet/envvars: FromServices).
Environment ApiServerEnvironment(absl::string_view ip, int port);

// What the pod declares and is told of Services, at most kMaxArguments; references in it, in the command line and in
// subPathExpr are to that alone. pkg/kubelet: makeEnvironmentVariables.
absl::StatusOr<Environment> EnvironmentOf(const PodKnowledge& facts, const HostedContainer& container);
// `declared` over that of the image.
Environment Over(Environment image, Environment declared);

// command and args with their references expanded, at most kMaxArguments; empty: the image's.
absl::StatusOr<std::vector<std::string>> CommandLineOf(const HostedContainer& container, const Environment& declared);

}  // namespace gangway::sandbox
