// What a CustomResourceDefinition that has changed means for what is served.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "sandbox/apiserver/definitions.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {

void ServerCore::OnDefinition(const Change& change) {
  const std::string& name = change.after->key.name;
  if (change.deleted) {
    declared_.Drop(name);
    if (const api::Resource* const stored = declared_.StoredOf(name); stored != nullptr) watches_.EndAllOf(*stored);
  } else {
    declared_.Take(Draft::OfStored(*change.after->json).object());
  }
  // Its own conditions, and those of others that its names stood against.
  if (!groups_to_settle_.insert(name.substr(name.find('.') + 1)).second) return;
  loop_.Post(owner_.token(), [this] {
    for (const std::string& group : std::exchange(groups_to_settle_, {})) SettleDefinitions(group);
  });
}

void ServerCore::SettleDefinitions(const std::string& group) {
  std::vector<Draft> definitions;
  GroupNames names(group);
  store_.Scan(api::kCustomResourceDefinitions, {}, nullptr, [&](const RecordPtr& record) {
    if (!absl::EndsWith(record->key.name, absl::StrCat(".", group))) return true;
    definitions.push_back(Draft::OfStored(*record->json));
    if (TextAt(definitions.back().object(), "spec.group") != group) {
      definitions.pop_back();
    } else {
      names.Add(definitions.back().object());
    }
    return true;
  });
  for (const Draft& old : definitions) {
    if (!TextAt(old.object(), "metadata.deletionTimestamp").empty()) continue;
    Draft next = Draft::CopyOf(old);
    SettleDefinition(names, loop_.Now(), next.object());
    if (Equal(next.root(), old.root())) continue;
    // One that has no room for its condition keeps the old one.
    Commit(api::kCustomResourceDefinitions, next, false, {"definition-controller", "update", "status"});
  }
}

Objection ServerCore::CheckRoomForDefinition(const Record* before, std::size_t bytes) {
  std::size_t count = before == nullptr ? 1 : 0;
  store_.Scan(api::kCustomResourceDefinitions, {}, nullptr, [&](const RecordPtr& record) {
    ++count;
    if (record.get() != before) bytes += record->json->size();
    return true;
  });
  // What was served once keeps its place, so that this bounds how much there can ever be.
  if (before == nullptr && (count > kMaxDefinitions || declared_.size() >= 2 * kMaxDefinitions)) {
    return Refusal{.code = 403,
                   .reason = "Forbidden",
                   .message = absl::StrCat("the sandbox has room for ", kMaxDefinitions,
                                           " CustomResourceDefinitions: delete others")};
  }
  if (bytes <= kMaxDefinitionBytes) return std::nullopt;
  Refusal refusal = TooLarge();
  refusal.message = absl::StrCat("the sandbox has room for ", kMaxDefinitionBytes >> 20,
                                 " MiB of CustomResourceDefinitions together: delete others");
  return refusal;
}

}  // namespace gangway::sandbox
