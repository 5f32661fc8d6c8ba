// Whether a pod, or a pod template, makes sense: Kubernetes' own checks (pkg/apis/core/validation), the ones that
// people run into. Works on the document, because a pod has many more fields than our views.
//
// Pure. Absent fields count as their defaults. Values of a wrong type are errors too. Fields not mentioned here are
// accepted.
//
// Checked: containers and init containers (present, names are DNS labels and unique, image, restartPolicy, env names
// and sources, ports, resources, volume mounts and devices against the volumes, probes' handlers, imagePullPolicy,
// terminationMessagePolicy), pod-level resources, volumes (names, exactly one source), restartPolicy, dnsPolicy,
// hostNetwork's ports, nodeSelector, tolerations, node affinity's operators, terminationGracePeriodSeconds,
// activeDeadlineSeconds, hostname and subdomain, imagePullSecrets, schedulingGates, names of service account, priority
// class and runtime class, labels, annotations.
#pragma once

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "boost/json/fwd.hpp"

namespace gangway::api::core {

// {metadata, spec} below `path` ("spec.tasks[0].template").
FieldErrors CheckPodTemplate(const boost::json::value& pod_template, absl::string_view path);

// A PodSpec below `path` ("spec").
FieldErrors CheckPodSpec(const boost::json::value& spec, absl::string_view path);

// Labels and annotations of any object, below `path` ("metadata").
void CheckLabelsAndAnnotations(const boost::json::value& metadata, absl::string_view path, FieldErrors& errors);

}  // namespace gangway::api::core
