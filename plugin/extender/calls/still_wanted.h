#pragma once

#include "plugin/explain/still_wanted.h"

namespace gangway::extender {

using explain::StillWanted;

}  // namespace gangway::extender
