#include "sandbox/apiserver/shown.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/kinds/kinds.h"
#include "sandbox/apiserver/apply/managed_fields.h"

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
  return MakeBytes(absl::StrCat(kStart, wanted, absl::string_view(*object).substr(end)));
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
