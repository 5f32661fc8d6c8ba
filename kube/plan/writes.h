// The usual writes, and references to objects, from the metadata they were decided on.
#pragma once

#include <string>
#include <utility>

#include "kube/plan/plan.h"

namespace gangway::kube {

inline api::ObjectReference ReferenceTo(const api::Resource& resource, const api::ObjectMeta& of) {
  return {resource.ApiVersion(), std::string(resource.kind), of.ns, of.name, of.uid, of.resource_version, {}};
}

// A merge patch of exactly this version of the object.
inline Write ChangeOf(const api::Resource& resource, const api::ObjectMeta& of, std::string body,
                      std::string subresource = {}) {
  Write write;
  write.verb = Verb::kMergePatch;
  write.resource = &resource;
  write.subresource = std::move(subresource);
  write.ns = of.ns;
  write.name = of.name;
  write.body = std::move(body);
  write.uid = of.uid;
  write.resource_version = of.resource_version;
  return write;
}

// The deletion of exactly this object, whatever its version.
inline Write DeletionOf(const api::Resource& resource, const api::ObjectMeta& of) {
  Write write;
  write.verb = Verb::kDelete;
  write.resource = &resource;
  write.ns = of.ns;
  write.name = of.name;
  write.uid = of.uid;
  return write;
}

}  // namespace gangway::kube
