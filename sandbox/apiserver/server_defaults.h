// What the API server and its built-in admission fill in when an object is created, where it depends on more than the
// object's schema: initial statuses, the priority of a pod, its service account and its class of service, a claim's
// storage class, what controllers would add at once.
#pragma once

#include "absl/time/time.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/refusal.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kDefaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

// `object` has passed its schema and carries the schema's defaults. A refusal is an admission's: such as a priority
// class or a service account that is not there. served_kind.cc says whose they are.
Objection FillInPod(const Store& store, absl::Time now, boost::json::object& object);
Objection FillInNamespace(const Store& store, absl::Time now, boost::json::object& object);
Objection FillInClaim(const Store& store, absl::Time now, boost::json::object& object);
Objection FillInVolume(const Store& store, absl::Time now, boost::json::object& object);
Objection FillInBatchJob(const Store& store, absl::Time now, boost::json::object& object);
Objection FillInDefinitionStatus(const Store& store, absl::Time now, boost::json::object& object);

// What a write cannot take away: a pod's class of service, a namespace's label of its name, how often a template
// changed.
void KeepQosClass(absl::string_view subresource, const boost::json::object& before, boost::json::object& after);
void KeepNamespaceLabel(absl::string_view subresource, const boost::json::object& before, boost::json::object& after);
void KeepTemplateCount(absl::string_view subresource, const boost::json::object& before, boost::json::object& after);

// A secret's stringData ends in its data, base64; on every write.
void FoldStringData(boost::json::object& secret);

// "Guaranteed", "Burstable" or "BestEffort", of a pod's spec.
absl::string_view QosClassOf(const boost::json::object& spec);

// pkg/registry/apps/daemonset: how often its template changed stands in an annotation. `before` null: it is new.
void CountTemplate(const boost::json::object* before, boost::json::object& daemon_set);

// The label that every namespace has, so that selectors find it by its name.
void LabelNamespace(boost::json::object& object);

}  // namespace gangway::sandbox
