// What the messages of extender.proto say of a cluster and a gang, as facts of the model. `path` is where the message
// stands in the request: InvalidArgument begins with it and the field's name. Pure; thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/timestamp.pb.h"
#include "plugin/extender/calls/still_wanted.h"
#include "plugin/model/facts.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {

// What one gang may have: they bound memory and time. See also kMaxFits (request_facts.h).
inline constexpr int kMaxMembers = 10'000;
// Of one call: bytes of each task's message times its replicas, for every member has a copy of what it asks for.
inline constexpr std::int64_t kMaxMemberBytes = std::int64_t{64} << 20;

absl::StatusOr<model::NodeFacts> NodeFactsOf(const v1::Node& node, const std::string& path);
absl::StatusOr<model::QueueFacts> QueueFactsOf(const v1::Queue& queue, const std::string& path);
// A pod with a node. One of a queue is of the gang GangOfQueue; one with a task is of `gang`.
absl::StatusOr<model::PodFacts> PodFactsOf(const v1::Pod& pod, const std::string& gang, const std::string& path);

// Stands for the gangs of a queue whose pods are told of without them: it asks for nothing. Its name is no PodGroup's.
model::GangFacts GangOfQueue(const std::string& ns, const std::string& queue);

std::string NamespaceOf(const v1::Gang& gang);
// The members of a gang that want a node, in the order of its tasks, then by index. Their names are no pods'. `bytes`
// is what the call's gangs before it took of kMaxMemberBytes, and grows by its own.
absl::StatusOr<std::vector<model::PodFacts>> MembersOf(const v1::Gang& gang, const std::string& path,
                                                       std::int64_t& bytes, StillWanted still_wanted);
std::string MemberName(const std::string& gang, const std::string& task, int index);
bool IsMemberName(absl::string_view name);

// `members`: by task, with those that have a node; minima above them are refused. nullptr: they are not known yet.
absl::StatusOr<model::GangFacts> GangFactsOf(const v1::Gang& gang, const std::map<std::string, std::int32_t>* members,
                                             const std::string& path);

absl::StatusOr<absl::Time> TimeOf(const google::protobuf::Timestamp& time, const std::string& path);
// What a request says of "now", or `otherwise`.
template <class Request>
absl::StatusOr<absl::Time> NowOf(const Request& request, absl::Time otherwise) {
  return request.has_now() ? TimeOf(request.now(), "now") : otherwise;
}

}  // namespace gangway::extender
