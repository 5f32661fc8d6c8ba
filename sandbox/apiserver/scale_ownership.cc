// Who owns the replicas when they are written through the scale subresource.
#include <algorithm>
#include <utility>

#include "sandbox/apiserver/ownership_rules.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

using apply::FieldSet;
using apply::ManagedEntry;
using apply::ManagedFields;
using apply::ManagedFieldsPtr;

// The same in the object and in its scale.
const FieldSet& Replicas() {
  static const auto* const set = [] {
    auto* out = new FieldSet();
    out->Insert({apply::PathElement::Field("spec"), apply::PathElement::Field("replicas")});
    return out;
  }();
  return *set;
}

bool OwnsReplicas(const ManagedEntry& entry) {
  const std::optional<FieldSet> fields = FieldSet::FromFieldsV1(absl::string_view(*entry.fields));
  return fields.has_value() && FieldSet::Intersection(*fields, Replicas()) == Replicas();
}

// managedfields: ScaleHandler.ToSubresource
ManagedFieldsPtr OfScale(const ManagedFieldsPtr& object, apply::TextPool& pool) {
  ManagedFields out;
  for (const ManagedEntry& entry : object == nullptr ? ManagedFields() : *object) {
    if (!OwnsReplicas(entry)) continue;
    out.push_back(entry);
    out.back().fields = pool.Share(Replicas().ToFieldsV1());
  }
  return out.empty() ? nullptr : std::make_shared<const ManagedFields>(std::move(out));
}

// managedfields: ScaleHandler.ToParent. As there, who comes to own the replicas has no time.
ManagedFieldsPtr OfObject(const ManagedFieldsPtr& object, const ManagedFieldsPtr& scale, apply::TextPool& pool) {
  ManagedFields left = scale == nullptr ? ManagedFields() : *scale, out;
  for (const ManagedEntry& entry : object == nullptr ? ManagedFields() : *object) {
    if (!OwnsReplicas(entry)) {
      out.push_back(entry);
      continue;
    }
    const auto twin = std::find_if(left.begin(), left.end(), [&](const ManagedEntry& e) { return e.SameWriter(entry); });
    if (twin != left.end() && entry.applied) {
      left.erase(twin);
      out.push_back(entry);
      continue;
    }
    const FieldSet rest =
        FieldSet::Difference(*FieldSet::FromFieldsV1(absl::string_view(*entry.fields)), Replicas());
    if (rest.Empty()) continue;
    out.push_back(entry);
    out.back().fields = pool.Share(rest.ToFieldsV1());
  }
  for (ManagedEntry& entry : left) {
    if (!OwnsReplicas(entry)) continue;
    entry.fields = pool.Share(Replicas().ToFieldsV1());
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
          .now = loop_.Now()};
}

Claims ServerCore::ClaimsOfScale(const Record& record, const Draft& live, const Draft& scale, const CommitNote& note) {
  const ManagedFieldsPtr before = OfScale(record.managed, ownership_.pool());
  const ManagedFieldsPtr after = ownership_.AfterUpdate(before, &live.root(), scale.root(), WriteOfScale(note));
  Claims claims;
  claims.decided = after == before ? record.managed : OfObject(record.managed, after, ownership_.pool());
  return claims;
}

Outcome<Draft> ServerCore::ApplyScale(Exchange& exchange, const Record& record, const Draft& live,
                                      const WriteOptions& options, Claims& claims) {
  Outcome<Draft> config = ReadConfiguration(exchange, options.field_validation);
  if (!config.ok()) return config.refusal();
  const Schema& schema = *schemas_.ForKind("autoscaling/v1", "Scale");
  if (Objection objection = CheckConfiguration(exchange.target, schema, "autoscaling/v1", &record, *config)) {
    return *std::move(objection);
  }
  const CommitNote note{exchange.caller.name, "patch", "scale", options.field_manager};
  const ManagedFieldsPtr before = OfScale(record.managed, ownership_.pool());
  apply::Applied applied =
      ownership_.Apply(before, &live.root(), config->root(), WriteOfScale(note), options.force);
  if (!applied.conflicts.empty()) return ApplyConflict(applied.conflicts);
  claims.decided = applied.managed == before ? record.managed : OfObject(record.managed, applied.managed, ownership_.pool());
  Draft scale;
  scale.root() = std::move(applied.object);
  return scale;
}

}  // namespace gangway::sandbox
