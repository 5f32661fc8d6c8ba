#include "tests/e2e/audit_journal.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "base/status_macros.h"

namespace gangway::testutil {
namespace {

using boost::json::object;
using boost::json::value;

const object* Member(const object& from, const char* key) {
  const value* const v = from.if_contains(key);
  return v == nullptr ? nullptr : v->if_object();
}
std::string Text(const object* from, const char* key) {
  const value* const v = from == nullptr ? nullptr : from->if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->as_string()) : "";
}

// A write that succeeded, before its effect is known.
struct Entry {
  sandbox::JournalRecord record;   // `after` not yet
  std::optional<object> answer;    // the object after the write
  std::optional<object> metadata;  // of it, where only that was asked for
  std::optional<object> asked;     // the request's body
  absl::Time came;                 // the request
  bool is_told = false;            // its revision, by the answer
};

const api::Resource* FindResource(const object& ref) {
  const std::string group = Text(&ref, "apiGroup"), version = Text(&ref, "apiVersion"), plural = Text(&ref, "resource");
  for (const api::KindRow& kind : api::Kinds()) {
    const api::Resource* const resource = kind.resource;
    if (resource->group == group && resource->version == version && resource->plural == plural) return resource;
  }
  return nullptr;
}

absl::StatusOr<std::optional<Entry>> ReadEvent(const object& event) {
  const std::string verb = Text(&event, "verb");
  const object* const ref = Member(event, "objectRef");
  const object* const status = Member(event, "responseStatus");
  if (ref == nullptr || status == nullptr || Text(&event, "stage") != "ResponseComplete") return std::nullopt;
  if (verb != "create" && verb != "update" && verb != "patch" && verb != "delete") return std::nullopt;
  const value* const code = status->if_contains("code");
  if (code == nullptr || !code->is_int64() || code->as_int64() < 200 || code->as_int64() > 299) return std::nullopt;
  if (absl::StrContains(Text(&event, "requestURI"), "dryRun=")) return std::nullopt;

  Entry entry;
  sandbox::JournalRecord& record = entry.record;
  record.resource = FindResource(*ref);
  record.verb = verb;
  record.subresource = Text(ref, "subresource");
  if (record.resource == nullptr || record.subresource == "token") return std::nullopt;
  record.client = std::string(*absl::StrSplit(Text(&event, "userAgent"), absl::ByAnyChar("/ ")).begin());
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, Text(&event, "stageTimestamp"), &record.time, &error)) {
    return absl::InvalidArgumentError(absl::StrCat("stageTimestamp: ", error));
  }
  if (!absl::ParseTime(absl::RFC3339_full, Text(&event, "requestReceivedTimestamp"), &entry.came, &error)) {
    return absl::InvalidArgumentError(absl::StrCat("requestReceivedTimestamp: ", error));
  }
  const object* const answer = Member(event, "responseObject");
  // The garbage collector asks for metadata only.
  const bool metadata_only = answer != nullptr && Text(answer, "kind") == "PartialObjectMetadata";
  if (metadata_only) entry.metadata = *Member(*answer, "metadata");
  if (answer != nullptr && (metadata_only || Text(answer, "kind") == record.resource->kind)) {
    if (!metadata_only) entry.answer = *answer;
    const object* const meta = Member(*answer, "metadata");
    record.key = {Text(meta, "namespace"), Text(meta, "name")};
    record.uid = Text(meta, "uid");
    entry.is_told = absl::SimpleAtoi(Text(meta, "resourceVersion"), &record.revision) && record.revision > 0;
  } else {
    record.key = {Text(ref, "namespace"), Text(ref, "name")};
  }
  if (const object* const asked = Member(event, "requestObject")) entry.asked = *asked;
  return entry;
}

// The greatest revision of the pod without a node, of those that somebody had asked for before it was bound.
std::uint64_t LastUnbound(const std::vector<const Entry*>& of_pod, absl::Time bound) {
  std::uint64_t last = 0;
  for (const Entry* const entry : of_pod) {
    if (entry->came <= bound && Text(Member(*entry->answer, "spec"), "nodeName").empty())
      last = std::max(last, entry->record.revision);
  }
  return last;
}

// Writes whose revision is not told stand behind everything that was answered no later; a binding also behind what was
// answered later and does not know of it: no pod loses its node.
void Sort(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.record.time < b.record.time; });
  std::map<api::NamespacedName, std::vector<const Entry*>> pods;
  for (const Entry& entry : entries) {
    if (entry.record.resource == &api::kPods && entry.answer) pods[entry.record.key].push_back(&entry);
  }
  std::uint64_t latest = 0;
  for (Entry& entry : entries) {
    if (!entry.is_told) {
      entry.record.revision = latest;
      if (entry.record.subresource == "binding")
        entry.record.revision = std::max(latest, LastUnbound(pods[entry.record.key], entry.record.time));
    }
    latest = std::max(latest, entry.record.revision);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::make_pair(a.record.revision, !a.is_told) < std::make_pair(b.record.revision, !b.is_told);
  });
}

bool Keeps(const object& meta, const char* list) {
  const value* const v = meta.if_contains(list);
  return v != nullptr && v->is_array() && !v->as_array().empty();
}

// Whether an object that is being deleted is gone with this version of it.
bool Gone(const object& after) {
  const object* const meta = Member(after, "metadata");
  if (meta == nullptr || !meta->contains("deletionTimestamp") || Keeps(*meta, "finalizers")) return false;
  const value* const grace = meta->if_contains("deletionGracePeriodSeconds");
  return grace == nullptr || (grace->is_int64() && grace->as_int64() == 0);
}

// The object after a write that was answered with a Status.
std::optional<object> WorkOut(const Entry& entry, const object* before) {
  if (before == nullptr) return std::nullopt;
  object after = *before;
  if (entry.metadata) {
    after["metadata"] = *entry.metadata;
    return after;
  }
  if (entry.record.subresource == "binding") {
    const object* const target = entry.asked ? Member(*entry.asked, "target") : nullptr;
    after["spec"].as_object()["nodeName"] = Text(target, "name");
    return after;
  }
  // A deletion. A pod on a node is given its time, an object with finalizers waits for them.
  object& meta = after["metadata"].as_object();
  const object* const spec = Member(after, "spec");
  const bool graceful = entry.record.subresource == "eviction" && !Text(spec, "nodeName").empty();
  if (!graceful && !Keeps(meta, "finalizers")) return std::nullopt;
  if (!meta.contains("deletionTimestamp"))
    meta["deletionTimestamp"] = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", entry.record.time, absl::UTCTimeZone());
  if (graceful) meta["deletionGracePeriodSeconds"] = 30;
  return after;
}

}  // namespace

absl::StatusOr<std::vector<sandbox::JournalRecord>> ReadAuditLog(absl::string_view log) {
  std::vector<Entry> entries;
  int line_number = 0;
  for (const absl::string_view line : absl::StrSplit(log, '\n')) {
    ++line_number;
    if (line.empty()) continue;
    const absl::StatusOr<value> event = api::ParseJson(line);
    if (!event.ok() || !event->is_object())
      return absl::InvalidArgumentError(absl::StrCat("audit log, line ", line_number, ": no JSON object"));
    GW_ASSIGN_OR_RETURN(std::optional<Entry> entry, ReadEvent(event->as_object()));
    if (entry) entries.push_back(*std::move(entry));
  }
  Sort(entries);

  std::map<std::pair<const api::Resource*, api::NamespacedName>, object> objects;
  std::vector<sandbox::JournalRecord> records;
  std::set<std::string> gone;  // UIDs: a write that was answered after a deletion that followed it brings nothing back
  for (Entry& entry : entries) {
    if (gone.contains(entry.record.uid)) continue;
    const auto key = std::make_pair(entry.record.resource, entry.record.key);
    const auto known = objects.find(key);
    const object* const before = known == objects.end() ? nullptr : &known->second;
    const bool deletion = entry.record.verb == "delete" || entry.record.subresource == "eviction";
    if (before == nullptr && deletion) continue;  // it was there before the log began, or is gone already
    if (before != nullptr) {
      entry.record.before = MakeBytes(boost::json::serialize(*before));
      if (entry.record.uid.empty()) entry.record.uid = Text(Member(*before, "metadata"), "uid");
    }
    std::optional<object> after = std::move(entry.answer);
    if (!after) after = WorkOut(entry, before);
    if (after && Gone(*after)) {
      // A deletion without grace is two writes in etcd, the mark and the end. Who writes between them ends nothing: the
      // deletion's own entry does.
      const object* const meta = before == nullptr ? nullptr : Member(*before, "metadata");
      if (!deletion && (meta == nullptr || !Keeps(*meta, "finalizers"))) continue;
      after.reset();
    }
    if (after) {
      entry.record.after = MakeBytes(boost::json::serialize(*after));
      objects[key] = *std::move(after);
    } else {
      objects.erase(key);
      if (!entry.record.uid.empty()) gone.insert(entry.record.uid);
    }
    if (entry.record.before == nullptr && entry.record.after == nullptr) continue;
    if (entry.record.before != nullptr && entry.record.after != nullptr && *entry.record.before == *entry.record.after)
      continue;
    records.push_back(std::move(entry.record));
  }
  return records;
}

}  // namespace gangway::testutil
