// The parts of objects that have a path of their own: "pods/status". One table, which discovery shows and requests are
// dispatched by.
#pragma once

#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/resource.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/refusal.h"

namespace gangway::sandbox {

class ServerCore;
struct Exchange;

struct Subresource {
  struct Verb {
    std::string_view name;  // "update"
    Outcome<kube::Response> (ServerCore::*handle)(Exchange& exchange);
  };

  std::string_view name;   // "status"
  std::string_view group;  // of `kind`
  std::string_view version;
  std::string_view kind;           // "Eviction"
  std::vector<Verb> verbs;         // sorted
  std::string_view unserved = {};  // why it is not here: then discovery is silent about it

  const Verb* Find(absl::string_view verb) const;
};

// What any kind may have.
Subresource StatusPart(const api::Resource& resource);
Subresource ScalePart();

// By name; empty for resources that have none.
absl::Span<const Subresource> SubresourcesOf(const api::Resource& resource);
// nullptr: the resource has none of that name.
const Subresource* FindSubresource(const api::Resource& resource, absl::string_view name);

}  // namespace gangway::sandbox
