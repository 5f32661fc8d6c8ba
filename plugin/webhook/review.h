// Answers an API server that asks before it writes: admission.k8s.io/v1 AdmissionReview in, AdmissionReview out. Pure.
//
// Verdicts and defaults are those of api/volcano/admission.h. A mutating review only fills in defaults: what is wrong
// is refused by the schema or by the validating review, which come after it. What a validating review allows may come
// with warnings (plugin/ingest/foresight.h).
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/volcano/admission.h"
#include "boost/json/fwd.hpp"

namespace gangway::webhook {

// What one review may cost. An API server takes requests of 3 MiB and etcd stores objects of 1.5, so a review is an
// object of the one and what it was of the other; objects of such sizes have some ten thousand values.
struct ReviewLimits {
  std::size_t max_bytes = 5u << 20;
  std::size_t max_values = 150'000;  // an empty list or object counts as two
  std::size_t max_patch_bytes = 4u << 20;
};

enum class Step { kMutate, kValidate };

// InvalidArgument when `review` is none, ResourceExhausted when its answer would be too large, in a sentence for
// whoever sent it. Objects that are not Volcano's, subresources and other operations are allowed as they are.
// `namespace_queues` may be empty: then no namespace gives its PodGroups a queue.
absl::StatusOr<std::string> AnswerReview(Step step, absl::string_view review, const api::volcano::QueueLookup& queues,
                                         const api::volcano::NamespaceQueueLookup& namespace_queues,
                                         const ReviewLimits& limits = {});

// The JSON patch (RFC 6902) that makes `after` of `before`: members in their order, lists of one length item by item,
// others whole.
boost::json::array PatchBetween(const boost::json::value& before, const boost::json::value& after);

}  // namespace gangway::webhook
