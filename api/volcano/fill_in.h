// The defaults of a create alone, as admission fills them in: for who is asked before the verdict.
#pragma once

#include "api/volcano/admission.h"
#include "boost/json/fwd.hpp"

namespace gangway::api::volcano {

// Nothing where types are wrong, and for other operations.
void FillIn(const AdmissionRequest& request, boost::json::value& object);

}  // namespace gangway::api::volcano
