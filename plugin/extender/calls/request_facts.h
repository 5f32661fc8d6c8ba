// A request about one gang in one cluster, in messages or as objects, as facts: what PlaceGang and Explain start from.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/extender/calls/still_wanted.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {

// What one call may ask for, beside kMaxMembers: pods that ask for something else, times nodes; nodes, of which those
// that only pods name are some, times resources that are named anywhere; HyperNodes' members that are no exact names,
// times nodes. They bound its memory and its time.
inline constexpr std::int64_t kMaxFits = 1'000'000, kMaxAmounts = 10'000'000, kMaxMatches = 10'000'000;
// Pods of all gangs that want a node.
inline constexpr int kMaxWaiting = 100'000;

// Whether facts, with so many nodes more, keep to the three. InvalidArgument names the field.
absl::Status CheckSizes(const explain::ClusterFacts& facts, int more_nodes);

struct Asked {
  explain::ClusterFacts facts;
  explain::GangKey gang;
};

// nullptr: the request has no gang. InvalidArgument names the field; what `still_wanted` says ends the work. Pure
// otherwise; thread-safe.
absl::StatusOr<Asked> ReadRequest(const v1::Gang* gang, const v1::Cluster& cluster, StillWanted still_wanted);

// A cluster with several gangs of messages, "gangs[3]" each.
absl::StatusOr<explain::ClusterFacts> ReadCluster(const google::protobuf::RepeatedPtrField<v1::Gang>& gangs,
                                                  const v1::Cluster& cluster, StillWanted still_wanted);

}  // namespace gangway::extender
