#include "sandbox/apiserver/request_attributes.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "api/selector.h"
#include "base/percent.h"
#include "sandbox/apiserver/route.h"

namespace gangway::sandbox {
namespace {

std::string VerbOfMethod(const std::string& method) {
  if (method == "POST") return "create";
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  return method == "DELETE" ? "delete" : "";
}

// Of a collection: "list" or "watch", and the one object that a field selector leaves.
void ReadList(const std::string& query_text, rbac::Attributes& out) {
  out.verb = "list";
  Outcome<Query> query = Query::Parse(query_text);
  if (!query.ok()) return;
  if (query->Flag("watch")) out.verb = "watch";
  const absl::StatusOr<api::FieldSelector> fields = api::FieldSelector::Parse(query->Get("fieldSelector"));
  const std::string* const name = fields.ok() ? fields->RequiredValue("metadata.name") : nullptr;
  if (name != nullptr && *name != "." && *name != ".." && name->find_first_of("/%") == std::string::npos)
    out.name = *name;
}

}  // namespace

rbac::Attributes AttributesOf(const kube::Request& request) {
  rbac::Attributes out;
  out.verb = absl::AsciiStrToLower(request.method);
  out.path = PercentDecode(request.path, false).value_or(request.path);
  out.of_resource = false;
  std::vector<std::string> parts;
  for (const absl::string_view part : absl::StrSplit(request.path, '/')) {
    if (parts.empty() && part.empty()) continue;
    parts.push_back(PercentDecode(part, false).value_or(std::string(part)));
  }
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  const bool core = !parts.empty() && parts[0] == "api", grouped = !parts.empty() && parts[0] == "apis";
  if (!(core && parts.size() >= 3) && !(grouped && parts.size() >= 4)) return out;
  out.of_resource = true;
  out.verb = VerbOfMethod(request.method);
  std::size_t at = core ? 2 : 3;
  if (grouped) out.group = parts[1];
  if (parts[at] == "proxy" || parts[at] == "watch") {
    out.verb = parts[at];
    if (++at == parts.size()) return out;
  }
  if (parts[at] == "namespaces" && parts.size() > at + 1) {
    out.ns = parts[at + 1];
    if (parts.size() > at + 2 && parts[at + 2] != "status" && parts[at + 2] != "finalize") at += 2;
  }
  out.resource = parts[at];
  if (parts.size() > at + 1) out.name = parts[at + 1];
  if (parts.size() > at + 2) out.subresource = parts[at + 2];
  if (!out.name.empty()) return out;
  if (out.verb == "get") ReadList(request.query, out);
  if (out.verb == "delete") out.verb = "deletecollection";
  return out;
}

}  // namespace gangway::sandbox
