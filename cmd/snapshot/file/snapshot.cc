#include "cmd/snapshot/file/snapshot.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/objects.h"
#include "api/core/pod_groups.h"
#include "api/core/workload.h"
#include "api/json.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/scheduling_resources.h"
#include "api/volcano/own_queues.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cmd/run/account.h"
#include "cmd/snapshot/file/anonymise.h"

namespace gangway::snapshot {
namespace {

namespace json = boost::json;

constexpr absl::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kHead = 4096;

absl::Status TooLarge(const SnapshotLimits& limits) {
  return absl::ResourceExhaustedError(
      absl::StrCat("a snapshot has at most ", limits.max_objects, " objects and ", limits.max_bytes >> 20, " MiB"));
}

void LeaveOutCopies(json::object& object) {
  json::value* const metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  metadata->get_object().erase("managedFields");
  if (json::value* const annotations = metadata->get_object().if_contains("annotations");
      annotations != nullptr && annotations->is_object())
    annotations->get_object().erase(api::JsonView(kLastApplied));
}

// The fields that are read of a kind that is kept; null of others.
const api::Type* TableOf(const api::Resource& resource) {
  if (&resource == &api::kNamespaces) return &api::TypeOf<api::core::PartialObject>();
  if (&resource == &api::kKubernetesPodGroups) return &api::TypeOf<api::core::KubernetesPodGroup>();
  if (&resource == &api::kEvents || &resource == &api::kConfigMaps) return nullptr;
  const api::Type* const table = api::RowOf(resource).table;
  return table == &api::TypeOf<api::core::Workload>() ? nullptr : table;
}

// Of a Job, a PaddleJob of either dialect or a pod.
bool HasEnded(const json::value& object) {
  if (cmd::IsFinalPhase(api::TextAt(object, {"status", "phase"})) ||
      cmd::IsFinalPhase(api::TextAt(object, {"status", "state", "phase"})))
    return true;
  for (const json::value& condition : api::ListAt(object, {"status", "conditions"})) {
    const std::string type = api::TextAt(condition, {"type"});
    if ((type == "Succeeded" || type == "Failed") && api::TextAt(condition, {"status"}) == "True") return true;
  }
  return false;
}

bool IsInEveryCluster(const api::Resource& resource, const std::string& name) {
  if (&resource == &api::kNamespaces)
    return name == "default" || name == "kube-node-lease" || name == "kube-public" || name == "kube-system";
  if (&resource == &api::kPriorityClasses) return absl::StartsWith(name, "system-");
  if (&resource == &api::kQueues)
    return std::find(api::volcano::kOwnQueues.begin(), api::volcano::kOwnQueues.end(), name) !=
           api::volcano::kOwnQueues.end();
  return false;
}

std::string Controller(const json::value& object) {
  for (const json::value& owner : api::ListAt(object, {"metadata", "ownerReferences"})) {
    const json::value* const controls = api::ValueAt(owner, {"controller"});
    if (controls != nullptr && controls->is_bool() && controls->get_bool()) return api::TextAt(owner, {"uid"});
  }
  return "";
}

// Of a node the status is what it has.
void MakeNew(const api::Resource& resource, json::object& object) {
  if (&resource != &api::kNodes) object.erase("status");
  json::value* const metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  for (const char* const name : {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
                                 "deletionGracePeriodSeconds", "ownerReferences", "finalizers", "managedFields"})
    metadata->get_object().erase(name);
}

// Namespaces come before what is in them, what jobs name before the jobs; pods come last.
int RankOf(const api::Resource& resource) {
  if (!resource.namespaced) return 0;
  return &resource == &api::kPods ? 2 : 1;
}

}  // namespace

bool IsKept(const api::Resource& resource) { return TableOf(resource) != nullptr; }

SnapshotWriter::SnapshotWriter(absl::Time taken, bool anonymised, SnapshotLimits limits)
    : anonymised_(anonymised), limits_(limits) {
  api::JsonWriter writer(text_);
  writer.BeginObject().Field("apiVersion", "v1").Field("kind", "List").Key("metadata").BeginObject();
  writer.Key("annotations").BeginObject().Field(kSnapshotAnnotation, api::FormatTime(taken));
  if (anonymised) writer.Field(kAnonymisedAnnotation, "true");
  writer.EndObject().EndObject();
  absl::StrAppend(&text_, ",\"items\":[");
}

absl::Status SnapshotWriter::Add(const api::Resource& resource, absl::string_view object) {
  GW_ASSIGN_OR_RETURN(json::value value, api::ParseJson(object));
  if (!value.is_object()) return absl::InvalidArgumentError(absl::StrCat(View(resource.plural), ": not an object"));
  json::object& members = value.get_object();
  if (anonymised_) {
    Anonymise(members, *TableOf(resource), pseudonyms_);
  } else {
    LeaveOutCopies(members);
  }
  json::object out;
  out["apiVersion"] = resource.ApiVersion();
  out["kind"] = resource.kind;
  for (auto& [key, member] : members) {
    if (key != "apiVersion" && key != "kind") out[key] = std::move(member);
  }
  absl::StrAppend(&text_, objects_ == 0 ? "\n" : ",\n");
  api::AppendJson(out, text_);
  ++objects_;
  if (objects_ > limits_.max_objects || text_.size() > limits_.max_bytes) return TooLarge(limits_);
  return absl::OkStatus();
}

std::string SnapshotWriter::Finish() && {
  absl::StrAppend(&text_, "\n]}\n");
  return std::move(text_);
}

bool IsSnapshot(absl::string_view text) {
  const absl::string_view head = text.substr(0, kHead);
  return absl::StartsWith(head, "{") && absl::StrContains(head, absl::StrCat("\"", kSnapshotAnnotation, "\""));
}

absl::StatusOr<Snapshot> ReadSnapshot(absl::string_view text, absl::string_view source, SnapshotLimits limits) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": ", what));
  };
  if (text.size() > limits.max_bytes) return wrong(TooLarge(limits).message());
  if (!IsSnapshot(text))
    return wrong("is no file of gangway snapshot, which begins with its annotation gangway.io/snapshot");
  api::JsonLimits whole;
  whole.max_bytes = limits.max_bytes;
  if (const absl::Status read = api::ParseCompletely(text, whole); !read.ok()) return wrong(read.message());
  GW_ASSIGN_OR_RETURN(const json::value list, api::ParseJson(text));
  Snapshot out;
  const json::value* const annotations = api::ValueAt(list, {"metadata", "annotations"});
  const auto taken =
      api::ParseTime(annotations == nullptr ? "" : api::TextAt(*annotations, {api::JsonView(kSnapshotAnnotation)}));
  if (!taken.ok())
    return wrong(
        "metadata.annotations[gangway.io/snapshot]: must be the time it was taken at, such as 2026-11-21T05:11:53Z");
  out.taken = *taken;
  out.anonymised = api::TextAt(*annotations, {api::JsonView(kAnonymisedAnnotation)}) == "true";
  const json::array& items = api::ListAt(list, {"items"});
  if (items.size() > limits.max_objects) return wrong(TooLarge(limits).message());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string kind = api::TextAt(items[i], {"kind"}), name = api::TextAt(items[i], {"metadata", "name"});
    if (kind.empty() || name.empty())
      return wrong(absl::StrCat("items[", i, "]: must be an object with a kind and a name"));
    out.objects.push_back({api::FindKind(api::TextAt(items[i], {"apiVersion"}), kind), api::ToJson(items[i])});
  }
  return out;
}

std::vector<api::ManifestDocument> ToCreate(const Snapshot& snapshot, absl::string_view source) {
  std::vector<std::pair<const api::Resource*, json::value>> made;
  absl::flat_hash_set<std::string> uids;
  for (const SnapshotObject& object : snapshot.objects) {
    if (object.resource == nullptr) continue;
    absl::StatusOr<json::value> value = api::ParseJson(object.json);
    if (!value.ok() || !value->is_object()) continue;  // ReadSnapshot has read it
    if (api::IsCustom(*object.resource)) uids.insert(api::TextAt(*value, {"metadata", "uid"}));
    made.emplace_back(object.resource, *std::move(value));
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const auto& a, const auto& b) { return RankOf(*a.first) < RankOf(*b.first); });
  std::vector<api::ManifestDocument> out;
  for (auto& [resource, value] : made) {
    const std::string name = api::TextAt(value, {"metadata", "name"}), owner = Controller(value);
    if (IsInEveryCluster(*resource, name) || HasEnded(value) || (!owner.empty() && uids.contains(owner))) continue;
    MakeNew(*resource, value.get_object());
    api::ManifestDocument document;
    document.json = api::ToJson(value);
    document.source = std::string(source);
    document.api_version = resource->ApiVersion();
    document.kind = std::string(resource->kind);
    document.ns = api::TextAt(value, {"metadata", "namespace"});
    document.name = name;
    out.push_back(std::move(document));
  }
  return out;
}

}  // namespace gangway::snapshot
