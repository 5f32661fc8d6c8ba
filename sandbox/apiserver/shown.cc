#include "sandbox/apiserver/shown.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/schemas/schemas.h"
#include "sandbox/apiserver/apply/managed_fields.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {

Bytes Shown(const Record& record, bool managed_fields) {
  if (!managed_fields || record.managed == nullptr || record.metadata_end == 0) return record.json;
  if (Bytes shown = record.shown.lock()) return shown;
  const absl::string_view json(*record.json);
  Bytes shown = MakeBytes(absl::StrCat(json.substr(0, record.metadata_end), ",\"managedFields\":",
                                       apply::ManagedFieldsJson(*record.managed, record.resource->ApiVersion()),
                                       json.substr(record.metadata_end)));
  record.shown = shown;
  return shown;
}

Bytes ShownInList(const Record& record, bool managed_fields) {
  Bytes whole = Shown(record, managed_fields);
  const std::size_t at = whole->find("\"metadata\":");  // behind apiVersion and kind, which draft.h writes first
  if (api::IsCustom(*record.resource) || at == std::string::npos) return whole;
  std::weak_ptr<const std::string>& kept = record.listed[managed_fields ? 1 : 0];
  if (Bytes listed = kept.lock()) return listed;
  Bytes listed = MakeBytes(absl::StrCat("{", absl::string_view(*whole).substr(at)));
  kept = listed;
  return listed;
}

Bytes AsVersion(Bytes object, const api::Resource& resource) {
  constexpr absl::string_view kStart = R"({"apiVersion":")";  // draft.h writes it first
  if (resource.declared == nullptr || !absl::StartsWith(*object, kStart)) return object;
  const std::size_t end = object->find('"', kStart.size());
  const std::string wanted = resource.ApiVersion();
  if (absl::string_view(*object).substr(kStart.size(), end - kStart.size()) == wanted) return object;
  Draft draft = Draft::OfStored(*object);
  SetText(draft.object(), "apiVersion", wanted);
  // A definition's schema says nothing of metadata.
  boost::json::value metadata = std::exchange(draft.object()["metadata"], boost::json::object());
  Prune(draft.root(), *resource.declared->schema);
  draft.object()["metadata"] = std::move(metadata);
  return MakeBytes(api::ToJson(draft.root()));
}

Bytes ShownAtRevision(const Record& record, Revision revision, bool managed_fields) {
  if (!managed_fields || record.managed == nullptr) return JsonAtRevision(record, revision);
  Record shown;  // the digits of the revision stand before the managed fields
  shown.json = Shown(record, true);
  shown.revision = record.revision;
  shown.revision_at = record.revision_at;
  return JsonAtRevision(shown, revision);
}

}  // namespace gangway::sandbox
