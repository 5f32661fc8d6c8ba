// A cluster and a pod that wants a node, drawn from a seed: everything by which Kubernetes' filters tell nodes apart,
// in few nodes and few words, so that what is asked and what is there meet often. As a user writes objects; some that
// no API server takes.
#pragma once

#include <cstdint>

#include <boost/json.hpp>

namespace gangway::testutil {

// {"nodes": [...], "pods": [...], ..., "pod": {...}}: the lists of tests/e2e/tools/filter-judge. The pod is in
// namespace `ns`.
boost::json::object RandomCase(std::uint64_t seed);

}  // namespace gangway::testutil
