// GET of one object, and lists in pages that are all of one revision.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/kinds/kinds.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

constexpr std::size_t kLongList = 64u << 10;  // bytes

}  // namespace

Outcome<schemas::IncludeObject> ServerCore::ParseInclude(const Exchange& exchange) {
  const absl::string_view text = exchange.query.Get("includeObject");
  if (text.empty() || text == "Metadata") return schemas::IncludeObject::kMetadata;
  if (text == "None") return schemas::IncludeObject::kNone;
  if (text == "Object") return schemas::IncludeObject::kObject;
  return BadRequest(absl::StrCat("includeObject: Unsupported value: ", api::JsonString(text),
                                 ": supported values: \"None\", \"Metadata\", \"Object\""));
}

Outcome<kube::Response> ServerCore::ObjectResponse(const Exchange& exchange, int code, const Bytes& stored) {
  const Bytes object = AsVersion(stored, *exchange.target.resource);
  switch (exchange.representation) {
    case schemas::Representation::kObject:
      return JsonResponse(code, object);
    case schemas::Representation::kPartialMetadata:
      return JsonResponse(code, MakeBytes(schemas::RenderPartialMetadata(*object)));
    case schemas::Representation::kTable: {
      Outcome<schemas::IncludeObject> include = ServerCore::ParseInclude(exchange);
      if (!include.ok()) return include.refusal();
      schemas::TableOptions options;
      options.include = *include;
      const Draft draft = Draft::OfStored(*object);
      options.resource_version = std::string(TextAt(draft.object(), "metadata.resourceVersion"));
      return JsonResponse(code, MakeBytes(schemas::RenderTable(*exchange.target.resource,
                                                               absl::MakeConstSpan(&object, 1), loop_.Now(), options)));
    }
  }
  return JsonResponse(code, object);
}

Outcome<kube::Response> ServerCore::Get(Exchange& exchange) {
  const Target& target = exchange.target;
  Outcome<ListOptions> options = ParseListOptions(exchange.query, target);
  if (!options.ok()) return options.refusal();
  if (options->revision.value_or(0) > store_.revision()) {
    return TooLargeResourceVersion(*options->revision, store_.revision());
  }
  const RecordPtr record = store_.Find(*target.resource, target.key());
  if (record == nullptr) return NotFound(*target.resource, target.name);
  return ObjectResponse(exchange, 200, Shown(*record, exchange.caller.managed_fields));
}

Outcome<ServerCore::Page> ServerCore::ReadPage(const Target& target, const ListOptions& options, bool managed_fields,
                                               bool as_items) {
  for (const auto& requirement : options.fields.requirements()) {
    if (!HasFieldLabel(*target.resource, requirement.field)) {
      return BadRequest(absl::StrCat("field label not supported: ", requirement.field));
    }
  }
  Page page;
  page.revision = store_.revision();
  std::optional<ContinueToken> token;
  if (!options.continue_token.empty()) {
    token = DecodeContinue(options.continue_token);
    if (!token.has_value() || token->revision > store_.revision() || token->revision == 0) {
      return BadRequest("continue key is not valid: it must be one that a list returned");
    }
    page.revision = token->revision;
  } else if (options.revision.value_or(0) > store_.revision()) {
    return TooLargeResourceVersion(*options.revision, store_.revision());
  } else if (options.match == ListOptions::Match::kExact) {
    page.revision = *options.revision;
  }
  const bool everything = options.labels.selects_everything() && options.fields.selects_everything();
  const std::int64_t total =
      token.has_value()
          ? token->remaining
          : static_cast<std::int64_t>(store_.CountAt(page.revision, *target.resource, target.ns).value_or(0));
  std::int64_t passed = 0;
  api::NamespacedName last;
  bool more = false;
  const auto visit = [&](const RecordPtr& record) {
    if (options.limit > 0 && static_cast<std::int64_t>(page.items.size()) >= options.limit) {
      more = true;
      return false;
    }
    ++passed;
    last = record->key;
    if (everything || Selects(options.labels, options.fields, *record))
      page.items.push_back(AsVersion(as_items ? ShownInList(*record, managed_fields) : Shown(*record, managed_fields),
                                     *target.resource));
    return true;
  };
  const api::NamespacedName* after = token.has_value() ? &token->after : nullptr;
  if (page.revision == store_.revision()) {
    store_.Scan(*target.resource, target.ns, after, visit);
  } else if (!store_.ScanAt(page.revision, *target.resource, target.ns, after, visit).ok()) {
    return Expired(
        token.has_value()
            ? "The provided continue parameter is too old to display a consistent list result. You can start "
              "a new list without the continue parameter."
            : absl::StrCat("The resourceVersion for the provided list is too old: ", page.revision));
  }
  if (more) {
    const std::int64_t remaining = std::max<std::int64_t>(0, total - passed);  // a forged token may have said less
    page.continue_token = EncodeContinue({page.revision, last, remaining});
    if (everything && options.match != ListOptions::Match::kExact && remaining > 0) page.remaining = remaining;
  }
  return page;
}

Outcome<kube::Response> ServerCore::ListResponse(const Exchange& exchange, Page page) {
  const api::Resource& resource = *exchange.target.resource;
  if (exchange.representation != schemas::Representation::kObject) {
    Outcome<schemas::IncludeObject> include = ParseInclude(exchange);
    if (!include.ok()) return include.refusal();
    schemas::TableOptions options{.include = *include,
                                  .resource_version = absl::StrCat(page.revision),
                                  .continue_token = std::move(page.continue_token),
                                  .remaining_item_count = page.remaining};
    return JsonResponse(200, MakeBytes(exchange.representation == schemas::Representation::kTable
                                           ? schemas::RenderTable(resource, page.items, loop_.Now(), options)
                                           : schemas::RenderPartialMetadataList(page.items, options)));
  }
  std::size_t size = 256 + page.continue_token.size();
  for (const Bytes& item : page.items) size += item->size() + 1;
  const bool in_pieces = exchange.more != nullptr && size > kLongList;
  std::string out;
  if (!in_pieces) out.reserve(size);
  api::JsonWriter json(out);
  const bool named = resource.declared != nullptr && !resource.declared->list_kind.empty();
  json.BeginObject()
      .Field("kind", named ? std::string(resource.declared->list_kind) : resource.ListKind())
      .Field("apiVersion", resource.ApiVersion());
  json.Key("metadata").BeginObject().Field("resourceVersion", absl::StrCat(page.revision));
  // Lists of custom objects, which no Go type describes, always have it.
  if (!page.continue_token.empty() || api::IsCustom(resource)) json.Field("continue", page.continue_token);
  if (page.remaining.has_value()) json.Field("remainingItemCount", *page.remaining);
  json.EndObject().Key("items").BeginArray();
  if (!in_pieces) {
    for (const Bytes& item : page.items) json.Raw(*item);
    json.EndArray().EndObject();
    return JsonResponse(200, MakeBytes(std::move(out)));
  }
  static const auto* const kComma = new Bytes(MakeBytes(","));
  exchange.more->reserve(2 * page.items.size());
  for (Bytes& item : page.items) {
    if (!exchange.more->empty()) exchange.more->push_back(*kComma);
    exchange.more->push_back(std::move(item));
  }
  exchange.more->push_back(MakeBytes("]}"));
  return JsonResponse(200, MakeBytes(std::move(out)));
}

Outcome<kube::Response> ServerCore::List(Exchange& exchange) {
  Outcome<ListOptions> options = ParseListOptions(exchange.query, exchange.target);
  if (!options.ok()) return options.refusal();
  Outcome<Page> page = ReadPage(exchange.target, *options, exchange.caller.managed_fields,
                                exchange.representation == schemas::Representation::kObject);
  if (!page.ok()) return page.refusal();
  return ListResponse(exchange, std::move(*page));
}

}  // namespace gangway::sandbox
