// What a pod asks for, summed over its containers as Kubernetes does.
#pragma once

#include "api/core/pod.h"
#include "api/meta.h"
#include "plugin/model/resources.h"

namespace gangway::ingest {

// Containers and sidecars run together; an init container runs beside the sidecars before it; overhead comes on top;
// what the pod itself asks for (spec.resources) takes the place of the sum. A limit without a request is the request.
// Of what is resized in place the most counts of what it asks for, has and was promised; without the first while its
// node has no room for that. k8s.io/component-helpers/resource: PodRequests. The result has pods: 1 and is sorted by
// name.
model::NamedAmounts PodRequests(const api::core::PodSpec& spec, const api::core::PodStatus& status);

// cpu in thousandths, everything else in units, rounded up; what does not fit is cut to `most`.
model::NamedAmounts ToAmounts(const api::ResourceList& list, std::int64_t most = model::kMaxAmount);

// As ToAmounts; what quotas call "requests.cpu" and "limits.cpu" is in cpu's unit.
model::NamedAmounts QuotaAmounts(const api::ResourceList& list);

// A PodGroup's minResources: without the quota names (count/..., requests..., limits...) that stand beside the
// resources.
model::NamedAmounts MinResources(const api::ResourceList& list);

}  // namespace gangway::ingest
