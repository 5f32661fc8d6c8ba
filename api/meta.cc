// The field tables of what every object has, compiled here alone.
#include "api/meta.h"

template struct gangway::api::internal::TypeFor<gangway::api::ObjectMeta>;
template struct gangway::api::internal::TypeFor<gangway::api::OwnerReference>;
template struct gangway::api::internal::TypeFor<gangway::api::ObjectReference>;
