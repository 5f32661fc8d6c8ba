// What Kubernetes demands of single kinds beyond their schema: keys of config maps, ports of services, what of a pod
// may change. served_kind.cc says whose rules they are.
#pragma once

#include "api/field_error.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

// Of an object as it will be stored.
void CheckDataKeys(const boost::json::object& object, api::FieldErrors& errors);
void CheckSecret(const boost::json::object& object, api::FieldErrors& errors);
void CheckService(const boost::json::object& object, api::FieldErrors& errors);
void CheckLease(const boost::json::object& object, api::FieldErrors& errors);
void CheckClaim(const boost::json::object& object, api::FieldErrors& errors);
void CheckBudget(const boost::json::object& object, api::FieldErrors& errors);
// What keeps pods of a template running.
void CheckWorkload(const boost::json::object& object, api::FieldErrors& errors);
void CheckNewEvent(const boost::json::object& object, api::FieldErrors& errors);

// Of an update.
void CheckPodChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckServiceChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckClaimChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckDataChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckSecretChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckPriorityClassChange(const boost::json::object& before, const boost::json::object& after,
                              api::FieldErrors& errors);

}  // namespace gangway::sandbox
