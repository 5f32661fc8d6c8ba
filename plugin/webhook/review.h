// Answers an API server that asks before it writes: admission.k8s.io/v1 AdmissionReview in, AdmissionReview out. Pure.
//
// Verdicts and defaults are those of api/volcano/admission.h. A mutating review only fills in defaults: what is wrong is refused by
// the schema or by the validating review, which come after it.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/volcano/admission.h"
#include "boost/json/fwd.hpp"

namespace gangway::webhook {

inline constexpr std::size_t kMaxReviewBytes = 8u << 20;  // an object of 3 MiB, what it was, and the rest

enum class Step { kMutate, kValidate };

// InvalidArgument when `review` is none, in a sentence for whoever sent it. Objects that are not Volcano's, subresources and other
// operations are allowed as they are. `namespace_queues` may be empty: then no namespace gives its PodGroups a queue.
absl::StatusOr<std::string> AnswerReview(Step step, absl::string_view review, const api::volcano::QueueLookup& queues,
                                         const api::volcano::NamespaceQueueLookup& namespace_queues);

// The JSON patch (RFC 6902) that makes `after` of `before`: members in their order, lists of one length item by item, others whole.
boost::json::array PatchBetween(const boost::json::value& before, const boost::json::value& after);

}  // namespace gangway::webhook
