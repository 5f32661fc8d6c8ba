#include "sandbox/apiserver/subresources.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "api/kinds/kinds.h"
#include "base/strings.h"
#include "sandbox/apiserver/declared_kinds.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

constexpr std::string_view kNotAttached =
    "the outputs of containers are in their logs, and they read nothing: see kubectl logs -f and kubectl exec";

struct Row {
  const api::Resource* resource;
  Subresource part;
};

// Those that one kind has. What the catalogue says of a kind brings status and scale.
std::vector<Row> OfSingleKinds() {
  return {
      {&api::kPods, {"attach", "", "v1", "PodAttachOptions", {}, kNotAttached}},
      {&api::kPods, {"binding", "", "v1", "Binding", {{"create", &ServerCore::Bind}}}},
      {&api::kPods, {"eviction", "policy", "v1", "Eviction", {{"create", &ServerCore::Evict}}}},
      {&api::kPods,
       {"exec", "", "v1", "PodExecOptions", {{"create", &ServerCore::Connect}, {"get", &ServerCore::Connect}}}},
      {&api::kPods, {"log", "", "v1", "Pod", {{"get", &ServerCore::Logs}}}},
      {&api::kPods,
       {"portforward",
        "",
        "v1",
        "PodPortForwardOptions",
        {{"create", &ServerCore::Connect}, {"get", &ServerCore::Connect}}}},
      {&api::kServiceAccounts,
       {"token", "authentication.k8s.io", "v1", "TokenRequest", {{"create", &ServerCore::RequestToken}}}},
      {&api::kNamespaces, {"finalize", "", "v1", "Namespace", {{"update", &ServerCore::Finalize}}}},
  };
}

using Table = absl::flat_hash_map<const api::Resource*, std::vector<Subresource>>;

Table MakeTable() {
  Table table;
  for (Row& row : OfSingleKinds()) table[row.resource].push_back(std::move(row.part));
  for (const api::KindRow& kind : api::Kinds()) {
    std::vector<Subresource>& parts = table[kind.resource];
    if (!kind.scale.replicas.empty()) parts.push_back(ScalePart());
    if (kind.status) parts.push_back(StatusPart(*kind.resource));
    std::sort(parts.begin(), parts.end(), [](const Subresource& a, const Subresource& b) { return a.name < b.name; });
  }
  return table;
}

}  // namespace

Subresource StatusPart(const api::Resource& resource) {
  return {"status",
          resource.group,
          resource.version,
          resource.kind,
          {{"get", &ServerCore::Get}, {"patch", &ServerCore::Patch}, {"update", &ServerCore::Put}}};
}

Subresource ScalePart() {
  return {"scale",
          "autoscaling",
          "v1",
          "Scale",
          {{"get", &ServerCore::GetScale}, {"patch", &ServerCore::PutScale}, {"update", &ServerCore::PutScale}}};
}

const Subresource::Verb* Subresource::Find(absl::string_view verb) const {
  const auto at = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& each) { return View(each.name) == verb; });
  return at == verbs.end() ? nullptr : &*at;
}

absl::Span<const Subresource> SubresourcesOf(const api::Resource& resource) {
  if (resource.declared != nullptr) return DeclaredAs(resource).parts;
  static const auto& table = *new Table(MakeTable());
  const auto at = table.find(&resource);
  return at == table.end() ? absl::Span<const Subresource>() : absl::MakeConstSpan(at->second);
}

const Subresource* FindSubresource(const api::Resource& resource, absl::string_view name) {
  for (const Subresource& part : SubresourcesOf(resource)) {
    if (View(part.name) == name) return &part;
  }
  return nullptr;
}

}  // namespace gangway::sandbox
