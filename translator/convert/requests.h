// What the pods of a template request, written out (docs/paddlejob.md).
#pragma once

#include "boost/json/fwd.hpp"

namespace gangway::convert {

// Gives the containers and init containers of a core/v1 PodTemplateSpec the requests that their limits imply, resource
// by resource. The API server does so for pods but not for templates: there a container with limits alone, as users
// write GPUs, would count for nothing in the gang's minResources. What is no template is left as it is. Done twice it
// is done once.
void WriteRequests(boost::json::value& pod_template);

}  // namespace gangway::convert
