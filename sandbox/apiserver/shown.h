// Objects as clients are shown them: the store's bytes with metadata.managedFields, which it keeps apart.
#pragma once

#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

// As an item of a list: objects of Kubernetes' own kinds do not repeat what the list says of them, that is how Go
// writes them.
Bytes ShownInList(const Record& record, bool managed_fields);
// The state of `record`, as of its own revision or a later one.
Bytes Shown(const Record& record, bool managed_fields);
// The bytes of an object of a kind with several versions, as of that of `resource`: apiVersion and the fields that
// this version has tell them apart (conversion: None).
Bytes AsVersion(Bytes object, const api::Resource& resource);
Bytes ShownAtRevision(const Record& record, Revision revision, bool managed_fields);

}  // namespace gangway::sandbox
