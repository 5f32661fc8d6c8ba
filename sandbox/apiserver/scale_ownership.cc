// Who owns the replicas when they are written through the scale subresource.
#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"
#include "api/kinds/kinds.h"
#include "sandbox/apiserver/ownership_rules.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

using apply::FieldSet;
using apply::ManagedEntry;
using apply::ManagedFields;
using apply::ManagedFieldsPtr;

// Of a scale.
const FieldSet& Replicas() {
  static const auto* const set = [] {
    auto* out = new FieldSet();
    out->Insert({apply::PathElement::Field("spec"), apply::PathElement::Field("replicas")});
    return out;
  }();
  return *set;
}

// Of the object that is scaled.
FieldSet ReplicasIn(const api::Resource& resource) {
  apply::Path path;
  for (const absl::string_view step : absl::StrSplit(View(api::RowOf(resource).scale.replicas).substr(1), '.')) {
    path.push_back(apply::PathElement::Field(std::string(step)));
  }
  FieldSet out;
  out.Insert(path);
  return out;
}

bool Owns(const ManagedEntry& entry, const FieldSet& replicas) {
  const std::optional<FieldSet> fields = FieldSet::FromFieldsV1(absl::string_view(*entry.fields));
  return fields.has_value() && FieldSet::Intersection(*fields, replicas) == replicas;
}

// managedfields: ScaleHandler.ToSubresource
ManagedFieldsPtr OfScale(const ManagedFieldsPtr& object, const FieldSet& replicas, apply::TextPool& pool) {
  ManagedFields out;
  for (const ManagedEntry& entry : object == nullptr ? ManagedFields() : *object) {
    if (!Owns(entry, replicas)) continue;
    out.push_back(entry);
    out.back().fields = pool.Share(Replicas().ToFieldsV1());
  }
  return out.empty() ? nullptr : std::make_shared<const ManagedFields>(std::move(out));
}

// managedfields: ScaleHandler.ToParent. As there, who comes to own the replicas has no time.
ManagedFieldsPtr OfObject(const ManagedFieldsPtr& object, const ManagedFieldsPtr& scale, const FieldSet& replicas,
                          apply::TextPool& pool) {
  ManagedFields left = scale == nullptr ? ManagedFields() : *scale, out;
  for (const ManagedEntry& entry : object == nullptr ? ManagedFields() : *object) {
    if (!Owns(entry, replicas)) {
      out.push_back(entry);
      continue;
    }
    const auto twin =
        std::find_if(left.begin(), left.end(), [&](const ManagedEntry& e) { return e.SameWriter(entry); });
    if (twin != left.end() && entry.applied) {
      left.erase(twin);
      out.push_back(entry);
      continue;
    }
    const FieldSet rest = FieldSet::Difference(*FieldSet::FromFieldsV1(absl::string_view(*entry.fields)), replicas);
    if (rest.Empty()) continue;
    out.push_back(entry);
    out.back().fields = pool.Share(rest.ToFieldsV1());
  }
  for (ManagedEntry& entry : left) {
    if (!Owns(entry, Replicas())) continue;
    entry.fields = pool.Share(replicas.ToFieldsV1());
    entry.seconds = 0;
    out.push_back(std::move(entry));
  }
  apply::SortEntries(out);
  return out.empty() ? nullptr : std::make_shared<const ManagedFields>(std::move(out));
}

}  // namespace

apply::Write ServerCore::WriteOfScale(const CommitNote& note) {
  static const auto* const kNone = new FieldSet();
  return {.manager = note.manager.empty() ? note.client : note.manager,
          .subresource = "scale",
          .api_version = "autoscaling/v1",
          .type = *schemas_.ForKind("autoscaling/v1", "Scale")->root,
          .reset = *kNone,
          .now = Now()};
}

Claims ServerCore::ClaimsOfScale(const api::Resource& resource, const Record& record, const Draft& live,
                                 const Draft& scale, const CommitNote& note) {
  const FieldSet replicas = ReplicasIn(resource);
  const ManagedFieldsPtr before = OfScale(record.managed, replicas, ownership_.pool());
  const ManagedFieldsPtr after = ownership_.AfterUpdate(before, &live.root(), scale.root(), WriteOfScale(note));
  Claims claims;
  claims.decided = after == before ? record.managed : OfObject(record.managed, after, replicas, ownership_.pool());
  return claims;
}

Outcome<Draft> ServerCore::ApplyScale(Exchange& exchange, const Record& record, const Draft& live,
                                      const WriteOptions& options, Claims& claims) {
  Outcome<Draft> config = ReadConfiguration(exchange, options.field_validation);
  if (!config.ok()) return config.refusal();
  const schemas::Schema& schema = *schemas_.ForKind("autoscaling/v1", "Scale");
  if (Objection objection = CheckConfiguration(exchange.target, schema, "autoscaling/v1", &record, *config)) {
    return *std::move(objection);
  }
  const CommitNote note{exchange.caller.name, "patch", "scale", options.field_manager};
  const FieldSet replicas = ReplicasIn(*exchange.target.resource);
  const ManagedFieldsPtr before = OfScale(record.managed, replicas, ownership_.pool());
  apply::Applied applied = ownership_.Apply(before, &live.root(), config->root(), WriteOfScale(note), options.force);
  if (!applied.conflicts.empty()) return ApplyConflict(applied.conflicts);
  claims.decided = applied.managed == before ? record.managed
                                             : OfObject(record.managed, applied.managed, replicas, ownership_.pool());
  Draft scale;
  scale.root() = std::move(applied.object);
  return scale;
}

}  // namespace gangway::sandbox
