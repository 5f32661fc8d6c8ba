// Server-side apply and the ownership of fields: `object %% configuration %% ...`, configurations applied by managers
// in turn, by force. What is applied is there and owned; applied again it changes nothing; ownership reads back as it
// is written.
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/schemas/schemas.h"
#include "sandbox/apiserver/apply/ownership.h"
#include "sandbox/apiserver/draft/draft.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using sandbox::Equal;
using sandbox::FindText;
using sandbox::apply::Applied;
using sandbox::apply::FieldSet;
using sandbox::apply::ManagedFields;
using sandbox::apply::ManagedFieldsPtr;
using sandbox::apply::Ownership;
using sandbox::apply::PathElement;

std::optional<json::value> Read(absl::string_view text) {
  if (!api::ParseCompletely(text).ok()) return std::nullopt;
  return *api::ParseJson(text);
}

// Of what a configuration names: what the server sets nobody owns (managedfields/internal: stripmeta.go).
FieldSet Owned(const json::value& config, const schemas::SchemaNode& type) {
  static const FieldSet* const kServers = [] {
    auto* const out = new FieldSet();
    for (const char* name : {"apiVersion", "kind", "metadata"}) out->Insert({PathElement::Field(name)});
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
                             "managedFields", "resourceVersion"}) {
      out->Insert({PathElement::Field("metadata"), PathElement::Field(name)});
    }
    return out;
  }();
  return FieldSet::Difference(sandbox::apply::FieldsOf(config, type), *kServers);
}

class Applier {
 public:
  Applier(const json::value& object, const schemas::SchemaNode& type, std::string api_version, absl::string_view shown)
      : object_(object), type_(type), api_version_(std::move(api_version)), shown_(shown) {
    managed_ = ownership_.AfterUpdate(nullptr, nullptr, object_, WriteBy("creator"));
    RequireReadsBack(managed_);
  }

  void Apply(const json::value& config, absl::string_view manager) {
    if (!sandbox::apply::Mistakes(config, type_).empty()) return;
    const Applied freely = ownership_.Apply(managed_, &object_, config, WriteBy(manager), false);
    const Applied applied = ownership_.Apply(managed_, &object_, config, WriteBy(manager), true);
    Require(applied.conflicts.empty(), "force knows no conflict", shown_);
    if (freely.conflicts.empty())
      Require(Equal(freely.object, applied.object), "without a conflict force changes nothing", shown_);
    Require(api::ToJson(applied.object).size() <= api::ToJson(object_).size() + api::ToJson(config).size() + 16,
            "an object is no larger than its parts", shown_);
    Require(Equal(applied.object, sandbox::apply::Merge(applied.object, config, type_)), "what is applied is there",
            shown_);
    RequireReadsBack(applied.managed);
    RequireOwned(applied, config, manager);
    const Applied again = ownership_.Apply(applied.managed, &applied.object, config, WriteBy(manager), false);
    Require(again.conflicts.empty(), "what is applied again meets no conflict", shown_);
    Require(Equal(again.object, applied.object), "what is applied again changes nothing",
            absl::StrCat(api::ToJson(applied.object), "\n", api::ToJson(again.object), "\n", shown_));
    Require(sandbox::apply::SameButTimes(again.managed, applied.managed), "what is applied again is owned the same",
            shown_);
    object_ = applied.object;
    managed_ = applied.managed;
    ++came_out;
  }

 private:
  sandbox::apply::Write WriteBy(absl::string_view manager) const {
    static const FieldSet kNothing;
    return {.manager = manager,
            .subresource = "",
            .api_version = api_version_,
            .type = type_,
            .reset = kNothing,
            .now = absl::FromUnixSeconds(1'767'225'600)};
  }

  void RequireReadsBack(const ManagedFieldsPtr& managed) {
    if (managed == nullptr) return;
    const std::string text = sandbox::apply::ManagedFieldsJson(*managed, api_version_);
    Require(api::ParseCompletely(text, {.max_bytes = 64u << 20, .max_depth = 250}).ok(), "ownership is complete JSON",
            text);
    const std::optional<ManagedFields> read =
        sandbox::apply::ReadManagedFields(*api::ParseJson(text), api_version_, ownership_.pool());
    Require(read.has_value() && sandbox::apply::ManagedFieldsJson(*read, api_version_) == text,
            "ownership reads back as it is written", text);
  }

  void RequireOwned(const Applied& applied, const json::value& config, absl::string_view manager) {
    const FieldSet wanted = Owned(config, type_);
    for (const sandbox::apply::ManagedEntry& entry : applied.managed == nullptr ? ManagedFields() : *applied.managed) {
      if (!entry.applied || entry.manager != manager) continue;
      const std::optional<FieldSet> owned = FieldSet::FromFieldsV1(absl::string_view(*entry.fields));
      Require(owned.has_value() && *owned == wanted, "a manager owns what it applied",
              absl::StrCat(*entry.fields, "\n", wanted.ToFieldsV1(), "\n", shown_));
      return;
    }
    Require(wanted.Empty(), "a manager is named when it applied something", shown_);
  }

  Ownership ownership_;
  json::value object_;
  ManagedFieldsPtr managed_;
  const schemas::SchemaNode& type_;
  const std::string api_version_;
  const absl::string_view shown_;
};

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  const absl::string_view text = testutil::TextOf(data, size);
  const std::vector<absl::string_view> parts = testutil::PartsOf(text);
  std::optional<boost::json::value> object = testutil::Read(parts.front());
  if (!object.has_value() || !object->is_object()) return 0;
  const std::string api_version(sandbox::FindText(object->get_object(), "apiVersion")),
      kind(sandbox::FindText(object->get_object(), "kind"));
  const schemas::Schema* const schema = schemas::Schemas::Shared().ForKind(api_version, kind);
  if (schema == nullptr || !Check(*object, *schema).unreadable.empty()) return 0;
  Prune(*object, *schema);
  testutil::Applier applier(*object, *schema->root, api_version, text);
  for (std::size_t i = 1; i < std::min<std::size_t>(parts.size(), 5); ++i) {
    const std::optional<boost::json::value> config = testutil::Read(parts[i]);
    if (config.has_value() && config->is_object()) applier.Apply(*config, i % 2 == 1 ? "a" : "b");
  }
  return 0;
}
