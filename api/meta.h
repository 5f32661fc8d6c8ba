// metav1: what every object carries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "api/field_table.h"

namespace gangway::api {

struct OwnerReference {
  std::string api_version, kind, name, uid;
  std::optional<bool> controller, block_owner_deletion;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
  static constexpr std::string_view kName = "OwnerReference";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&OwnerReference::api_version>("apiVersion", "of the owner").Required(),
        MakeField<&OwnerReference::kind>("kind", "of the owner").Required(),
        MakeField<&OwnerReference::name>("name", "of the owner").Required(),
        MakeField<&OwnerReference::uid>("uid", "of the owner").Required(),
        MakeField<&OwnerReference::controller>("controller", "whether the owner is the managing controller"),
        MakeField<&OwnerReference::block_owner_deletion>(
            "blockOwnerDeletion", "whether a foreground deletion of the owner waits for this object"));
  }
};

struct ObjectMeta {
  std::string name, generate_name, ns, uid, resource_version, self_link;
  std::int64_t generation = 0;
  Time creation_timestamp, deletion_timestamp;
  std::optional<std::int64_t> deletion_grace_period_seconds;
  std::map<std::string, std::string> labels, annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
  Document managed_fields;
  static constexpr std::string_view kName = "ObjectMeta";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&ObjectMeta::name>("name", "unique among the kind within the namespace"),
        MakeField<&ObjectMeta::generate_name>("generateName", "prefix of a name the server makes"),
        MakeField<&ObjectMeta::ns>("namespace", "the namespace"),
        MakeField<&ObjectMeta::self_link>("selfLink", "unused"),
        MakeField<&ObjectMeta::uid>("uid", "unique in time and space; set by the server"),
        MakeField<&ObjectMeta::resource_version>("resourceVersion", "changes with every write; set by the server"),
        MakeField<&ObjectMeta::generation>("generation", "counts changes of the spec; set by the server"),
        MakeField<&ObjectMeta::creation_timestamp>("creationTimestamp", "set by the server"),
        MakeField<&ObjectMeta::deletion_timestamp>("deletionTimestamp",
                                                   "set by the server when deletion was asked for"),
        MakeField<&ObjectMeta::deletion_grace_period_seconds>("deletionGracePeriodSeconds", "set by the server"),
        MakeField<&ObjectMeta::labels>("labels", "for selectors"),
        MakeField<&ObjectMeta::annotations>("annotations", "not for selectors"),
        MakeField<&ObjectMeta::owner_references>("ownerReferences", "the object goes when all of these are gone")
            .ListKey("uid"),
        MakeField<&ObjectMeta::finalizers>("finalizers", "who must act before the object may go"),
        MakeField<&ObjectMeta::managed_fields>("managedFields", "who set which field"));
  }
  bool deleting() const { return deletion_timestamp.set(); }
  // resourceVersion as a number, which it is of etcd's; 0 when it is none.
  std::uint64_t Version() const {
    std::uint64_t version = 0;
    return absl::SimpleAtoi(resource_version, &version) ? version : 0;
  }
  // The owner reference with controller: true; nullptr when there is none.
  const OwnerReference* Controller() const {
    for (const OwnerReference& owner : owner_references)
      if (owner.controller.value_or(false)) return &owner;
    return nullptr;
  }
};

struct ObjectReference {
  std::string api_version, kind, ns, name, uid, resource_version, field_path;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
  static constexpr std::string_view kName = "ObjectReference";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ObjectReference::kind>("kind", "of the object"),
                      MakeField<&ObjectReference::ns>("namespace", "of the object"),
                      MakeField<&ObjectReference::name>("name", "of the object"),
                      MakeField<&ObjectReference::uid>("uid", "of the object"),
                      MakeField<&ObjectReference::api_version>("apiVersion", "of the object"),
                      MakeField<&ObjectReference::resource_version>("resourceVersion", "of the object"),
                      MakeField<&ObjectReference::field_path>("fieldPath", "a part of the object"));
  }
};

using ResourceList = std::map<std::string, Quantity>;

// namespace and name; the key of caches and work queues.
struct NamespacedName {
  std::string ns, name;
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }
  friend auto operator<=>(const NamespacedName&, const NamespacedName&) = default;
  friend bool operator==(const NamespacedName&, const NamespacedName&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const NamespacedName& n) {
    return H::combine(std::move(h), n.ns, n.name);
  }
};

}  // namespace gangway::api

extern template struct gangway::api::internal::TypeFor<gangway::api::ObjectMeta>;
extern template struct gangway::api::internal::TypeFor<gangway::api::OwnerReference>;
extern template struct gangway::api::internal::TypeFor<gangway::api::ObjectReference>;
