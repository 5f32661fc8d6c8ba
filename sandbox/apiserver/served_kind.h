// What the API server does with objects of a kind beyond what the catalogue (api/kinds/kinds.h) and their schema say: a
// row for each kind of Kubernetes' own that has something to itself. The one place where such things hang on.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "api/field_error.h"
#include "api/name.h"
#include "api/resource.h"
#include "boost/json/object.hpp"
#include "sandbox/apiserver/refusal.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

struct ServedKind {
  const api::Resource* resource = nullptr;

  api::Complaints (*check_name)(absl::string_view name) = api::CheckDns1123Subdomain;
  absl::Span<const absl::string_view> field_labels = {};  // what field selectors may ask, beside name and namespace
  bool generation = false;                                // changes of the spec are counted in metadata.generation,
  bool first_generation = true;                           // beginning with 1 for the object as it is made
  bool unconditional_update =
      true;                       // a PUT without resourceVersion is one that knows no version, not one that forgot it
  bool create_on_update = false;  // a PUT creates what is not there (kubernetes: each strategy's AllowCreateOnUpdate)
  bool returns_deleted = false;   // a deletion answers with the object (pkg/registry: ReturnDeletedObject)
  bool pod_template = false;      // its spec.template is a pod's
  bool status_writes_metadata =
      true;  // metadata can be written through the status, as of most of Kubernetes' own kinds
  const char* status_keeps = nullptr;  // but for this member of it

  // The rules of an object as it will be stored, those of a new one, and those of an update; null: none.
  void (*check)(const boost::json::object& object, api::FieldErrors& errors) = nullptr;
  void (*check_new)(const boost::json::object& object, api::FieldErrors& errors) = nullptr;
  void (*check_change)(const boost::json::object& before, const boost::json::object& after,
                       api::FieldErrors& errors) = nullptr;
  // The same of a write to its status alone.
  void (*check_status_change)(const boost::json::object& before, const boost::json::object& after,
                              api::FieldErrors& errors) = nullptr;
  // What is filled in when it is created: initial status, what admission and controllers would add at once.
  Objection (*fill_in)(const Store& store, absl::Time now, boost::json::object& object) = nullptr;
  // What a write to the object or a subresource cannot take away.
  void (*keep)(absl::string_view subresource, const boost::json::object& before, boost::json::object& after) = nullptr;
};

// Kinds without a row have what most have.
const ServedKind& ServedAs(const api::Resource& resource);

}  // namespace gangway::sandbox
