// What Kubernetes demands, beyond their schema, of kinds that are only kept here: volumes, limit ranges, quotas,
// endpoints.
#pragma once

#include "api/field_error.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

// Of an object as it will be stored.
void CheckVolume(const boost::json::object& object, api::FieldErrors& errors);
// Of claims.
void CheckAccessModes(const boost::json::object& object, api::FieldErrors& errors);
void CheckLimitRange(const boost::json::object& object, api::FieldErrors& errors);
void CheckQuota(const boost::json::object& object, api::FieldErrors& errors);
void CheckEndpoints(const boost::json::object& object, api::FieldErrors& errors);

// Of an update.
void CheckVolumeChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckQuotaChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);

}  // namespace gangway::sandbox
