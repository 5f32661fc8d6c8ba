// What an API server should tell the user about an object that it takes. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/resource.h"
#include "boost/json/fwd.hpp"

namespace gangway::webhook {

// What our scheduler would keep waiting for ever (plugin/ingest/foresight.h), of a Job, a PodGroup or a Queue with its defaults.
std::vector<std::string> WarningsOf(const api::Resource& resource, const boost::json::value& object);

}  // namespace gangway::webhook
