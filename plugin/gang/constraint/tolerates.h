// Whether a shape tolerates a taint: of those that nodes have, and of the one that a cordon is.
#pragma once

#include "plugin/model/shape.h"

namespace gangway::constraint {

bool Tolerates(const model::Shape& shape, const model::Taint& taint);

}  // namespace gangway::constraint
