#include "sandbox/apiserver/declared_kinds.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/definitions.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// Keeps a text for as long as its row has it.
class Texts {
 public:
  // Views stay valid: the list does not grow beyond what is reserved.
  explicit Texts(std::vector<std::string>& texts, std::size_t most) : texts_(texts) {
    texts_.clear();
    texts_.reserve(most);
  }
  std::string_view Keep(absl::string_view text) {
    if (texts_.size() == texts_.capacity()) return {};
    return texts_.emplace_back(text);
  }

 private:
  std::vector<std::string>& texts_;
};

std::string Joined(const json::object& object, absl::string_view list) {
  std::vector<absl::string_view> texts;
  if (const json::array* const elements = FindArray(object, list)) {
    for (const json::value& each : *elements) {
      if (each.is_string()) texts.push_back(AbslView(each.get_string()));
    }
  }
  return absl::StrJoin(texts, ",");
}

std::size_t Length(const json::array* list) { return list == nullptr ? 0 : list->size(); }

// k8s.io/apimachinery: version.CompareKubeAwareVersionStrings. What is less is preferred.
std::tuple<int, std::int64_t, std::int64_t, std::string> Rank(absl::string_view version) {
  absl::string_view rest = version;
  const auto number = [&rest](std::int64_t* out) {
    std::size_t digits = 0;
    while (digits < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[digits]))) ++digits;
    const bool ok = digits > 0 && rest[0] != '0' && absl::SimpleAtoi(rest.substr(0, digits), out);
    rest.remove_prefix(digits);
    return ok;
  };
  std::int64_t major = 0, minor = 0;
  const std::tuple<int, std::int64_t, std::int64_t, std::string> other{3, 0, 0, std::string(version)};
  if (!absl::ConsumePrefix(&rest, "v") || !number(&major)) return other;
  if (rest.empty()) return {0, -major, 0, ""};
  const bool beta = absl::ConsumePrefix(&rest, "beta");
  if ((!beta && !absl::ConsumePrefix(&rest, "alpha")) || !number(&minor) || !rest.empty()) return other;
  return {beta ? 1 : 2, -major, -minor, ""};
}

void FillColumns(const json::object& version, Texts& texts, DeclaredVersion& out) {
  out.column_list.clear();
  const json::array* const columns = FindArray(version, "additionalPrinterColumns");
  for (std::size_t i = 0; i < Length(columns); ++i) {
    if (!(*columns)[i].is_object()) continue;
    const json::object& column = (*columns)[i].get_object();
    out.column_list.push_back({texts.Keep(FindText(column, "name")), texts.Keep(FindText(column, "type")),
                               texts.Keep(FindText(column, "jsonPath")),
                               static_cast<std::int32_t>(IntAt(column, "priority", 0))});
  }
  // apiextensions-apiserver: getDefaultColumns
  if (Length(columns) == 0) out.column_list.push_back({"Age", "date", ".metadata.creationTimestamp"});
  out.columns = out.column_list;
}

void FillParts(const json::object& version, Texts& texts, DeclaredVersion& out) {
  out.parts.clear();
  out.status = FindPath(version, "subresources.status") != nullptr;
  out.scale = {};
  if (FindPath(version, "subresources.scale") != nullptr) {
    out.scale.replicas = texts.Keep(TextAt(version, "subresources.scale.specReplicasPath"));
    out.scale.current = texts.Keep(TextAt(version, "subresources.scale.statusReplicasPath"));
    out.scale.selector = texts.Keep(TextAt(version, "subresources.scale.labelSelectorPath"));
    out.parts.push_back(ScalePart());
  }
  if (out.status) out.parts.push_back(StatusPart(out.own));
}

void FillFieldLabels(const json::object& version, Texts& texts, DeclaredVersion& out) {
  out.field_labels.clear();
  const json::array* const fields = FindArray(version, "selectableFields");
  for (std::size_t i = 0; i < Length(fields); ++i) {
    if (!(*fields)[i].is_object()) continue;
    const absl::string_view path = FindText((*fields)[i].get_object(), "jsonPath");
    if (!path.empty()) out.field_labels.push_back(View(texts.Keep(path.substr(1))));
  }
  out.served_as = ServedKind{.resource = &out.own,
                             .field_labels = out.field_labels,
                             .generation = true,
                             .unconditional_update = false,
                             .status_writes_metadata = false};
}

// apiextensions-apiserver: defaultDeprecationWarning, unless the definition says it in its own words.
std::string Deprecation(const json::object& definition, const json::object& version) {
  if (const absl::string_view given = FindText(version, "deprecationWarning"); !given.empty())
    return std::string(given);
  const absl::string_view group = TextAt(definition, "spec.group"), kind = TextAt(definition, "spec.names.kind");
  absl::string_view instead, name = FindText(version, "name");
  const json::array& versions = FindPath(definition, "spec.versions")->get_array();
  for (const json::value& each : versions) {
    const json::object& other = each.get_object();
    if (!BoolAt(other, "served") || BoolAt(other, "deprecated")) continue;
    if (const absl::string_view of = FindText(other, "name"); Rank(of) < Rank(instead.empty() ? name : instead))
      instead = of;
  }
  std::string out = absl::StrCat(group, "/", name, " ", kind, " is deprecated");
  if (!instead.empty()) absl::StrAppend(&out, "; use ", group, "/", instead, " ", kind);
  return out;
}

// Puts what the definition says of this version into `out`, whose address stays.
void Fill(const json::object& definition, const json::object& version, const api::Resource* stored_as,
          DeclaredVersion& out) {
  static const json::object kNone;
  const json::value* const accepted = FindPath(definition, "status.acceptedNames");
  const json::object& names = accepted != nullptr && accepted->is_object() ? accepted->get_object() : kNone;
  const std::size_t most =
      16 + 3 * Length(FindArray(version, "additionalPrinterColumns")) + Length(FindArray(version, "selectableFields"));
  // Those of before are views of texts that go.
  Texts texts(out.texts, most);
  out.own.group = texts.Keep(TextAt(definition, "spec.group"));
  out.own.version = texts.Keep(FindText(version, "name"));
  out.own.plural = texts.Keep(TextAt(definition, "spec.names.plural"));
  out.own.singular = texts.Keep(FindText(names, "singular"));
  out.own.kind = texts.Keep(TextAt(definition, "spec.names.kind"));
  out.own.namespaced = TextAt(definition, "spec.scope") == "Namespaced";
  out.own.short_names = texts.Keep(Joined(names, "shortNames"));
  out.own.categories = texts.Keep(Joined(names, "categories"));
  out.own.declared = &out;
  out.resource = &out.own;
  out.origin = api::Origin::kDeclared;
  out.list_kind = texts.Keep(FindText(names, "listKind"));
  out.stored_as = stored_as;
  FillColumns(version, texts, out);
  FillParts(version, texts, out);
  FillFieldLabels(version, texts, out);
  out.deprecation = BoolAt(version, "deprecated") ? Deprecation(definition, version) : std::string();
  const json::value* const schema = FindPath(version, "schema.openAPIV3Schema");
  out.compiled = std::make_unique<schemas::DeclaredSchema>(
      View(out.own.kind), schema == nullptr ? json::value(json::object()) : json::value(*schema, json::storage_ptr()));
  out.schema = &out.compiled->schema();
}

}  // namespace

const DeclaredVersion& DeclaredAs(const api::Resource& resource) {
  return static_cast<const DeclaredVersion&>(*resource.declared);
}

struct DeclaredKinds::Kind {
  DeclaredVersion stored;  // stands for all versions; looks like the storage version
  absl::btree_map<std::string, std::unique_ptr<DeclaredVersion>> versions;
  std::vector<const DeclaredVersion*> served;  // the preferred first; empty: the definition is gone
  bool ending = false;
};

DeclaredKinds::DeclaredKinds() = default;
DeclaredKinds::~DeclaredKinds() = default;

void DeclaredKinds::Take(const json::object& definition) {
  const std::string name(TextAt(definition, "metadata.name"));
  if (DefinedKind(definition) != nullptr || !IsEstablished(definition)) return Drop(name);
  std::unique_ptr<Kind>& kind = kinds_[name];
  if (kind == nullptr) kind = std::make_unique<Kind>();
  kind->served.clear();
  kind->ending = !TextAt(definition, "metadata.deletionTimestamp").empty();
  const json::value* const versions = FindPath(definition, "spec.versions");
  for (const json::value& each : versions->get_array()) {
    const json::object& version = each.get_object();
    if (BoolAt(version, "storage")) Fill(definition, version, nullptr, kind->stored);
    if (!BoolAt(version, "served")) continue;
    std::unique_ptr<DeclaredVersion>& made = kind->versions[std::string(FindText(version, "name"))];
    if (made == nullptr) made = std::make_unique<DeclaredVersion>();
    Fill(definition, version, &kind->stored.own, *made);
    kind->served.push_back(made.get());
  }
  std::sort(kind->served.begin(), kind->served.end(), [](const DeclaredVersion* a, const DeclaredVersion* b) {
    return Rank(View(a->own.version)) < Rank(View(b->own.version));
  });
}

void DeclaredKinds::Drop(absl::string_view definition_name) {
  if (const auto kind = kinds_.find(definition_name); kind != kinds_.end()) kind->second->served.clear();
}

const api::Resource* DeclaredKinds::Find(absl::string_view group, absl::string_view version,
                                         absl::string_view plural) const {
  const auto kind = kinds_.find(absl::StrCat(plural, ".", group));
  if (kind == kinds_.end()) return nullptr;
  for (const DeclaredVersion* const each : kind->second->served) {
    if (View(each->own.version) == version && View(each->own.group) == group) return &each->own;
  }
  return nullptr;
}

const api::Resource* DeclaredKinds::FindKind(absl::string_view api_version, absl::string_view kind) const {
  for (const auto& [name, each] : kinds_) {
    for (const DeclaredVersion* const version : each->served) {
      if (View(version->own.kind) == kind && version->own.ApiVersion() == api_version) return &version->own;
    }
  }
  return nullptr;
}

bool DeclaredKinds::HasGroup(absl::string_view group) const {
  return std::any_of(kinds_.begin(), kinds_.end(), [&](const auto& kind) {
    return !kind.second->served.empty() && View(kind.second->served.front()->own.group) == group;
  });
}

void DeclaredKinds::ForEach(absl::FunctionRef<void(const api::KindRow&)> visit) const {
  std::vector<const DeclaredVersion*> all;
  for (const auto& [name, kind] : kinds_) all.insert(all.end(), kind->served.begin(), kind->served.end());
  const auto order = [](const DeclaredVersion* version) {
    return std::tuple(version->own.group, Rank(View(version->own.version)), version->own.plural);
  };
  std::sort(all.begin(), all.end(),
            [&](const DeclaredVersion* a, const DeclaredVersion* b) { return order(a) < order(b); });
  for (const DeclaredVersion* const version : all) visit(*version);
}

const api::Resource* DeclaredKinds::StoredOf(absl::string_view definition_name) const {
  const auto kind = kinds_.find(definition_name);
  return kind == kinds_.end() ? nullptr : &kind->second->stored.own;
}

void DeclaredKinds::ForEachStored(absl::FunctionRef<void(const api::Resource&)> visit) const {
  for (const auto& [name, kind] : kinds_) visit(kind->stored.own);
}

bool DeclaredKinds::IsEnding(const api::Resource& resource) const {
  const auto kind = kinds_.find(absl::StrCat(View(resource.plural), ".", View(resource.group)));
  return resource.declared != nullptr && kind != kinds_.end() && kind->second->ending;
}

}  // namespace gangway::sandbox
