// What Kubernetes demands of roles, their bindings, webhook configurations and what CSI drivers say, beyond their
// schema.
#pragma once

#include "api/field_error.h"
#include "boost/json/object.hpp"

namespace gangway::sandbox {

// Of an object as it will be stored.
void CheckRole(const boost::json::object& role, api::FieldErrors& errors);
void CheckClusterRole(const boost::json::object& role, api::FieldErrors& errors);
void CheckRoleBinding(const boost::json::object& binding, api::FieldErrors& errors);
void CheckClusterRoleBinding(const boost::json::object& binding, api::FieldErrors& errors);
void CheckBatchJob(const boost::json::object& job, api::FieldErrors& errors);
void CheckCsiNode(const boost::json::object& node, api::FieldErrors& errors);
void CheckStorageCapacity(const boost::json::object& capacity, api::FieldErrors& errors);
void CheckVolumeAttachment(const boost::json::object& attachment, api::FieldErrors& errors);

// Of an update.
void CheckBindingChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckStorageClassChange(const boost::json::object& before, const boost::json::object& after,
                             api::FieldErrors& errors);
void CheckCsiDriverChange(const boost::json::object& before, const boost::json::object& after,
                          api::FieldErrors& errors);
void CheckCsiNodeChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);
void CheckStorageCapacityChange(const boost::json::object& before, const boost::json::object& after,
                                api::FieldErrors& errors);
void CheckVolumeAttachmentChange(const boost::json::object& before, const boost::json::object& after,
                                 api::FieldErrors& errors);
void CheckClaimSpecChange(const boost::json::object& before, const boost::json::object& after,
                          api::FieldErrors& errors);
void CheckClaimStatusChange(const boost::json::object& before, const boost::json::object& after,
                            api::FieldErrors& errors);
void CheckBatchJobChange(const boost::json::object& before, const boost::json::object& after, api::FieldErrors& errors);

}  // namespace gangway::sandbox
