#include "kube/runtime/informers.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "base/check.h"
#include "base/strings.h"
#include "kube/runtime/refusal.h"

namespace gangway::kube {

Informers::Informers(Loop& loop, Client& client, Metrics* metrics, std::vector<std::string> namespaces)
    : loop_(loop), client_(client), metrics_(metrics), namespaces_(std::move(namespaces)) {}

Informers::~Informers() = default;

AnyInformer* Informers::Find(const api::Resource& resource, Reflector::Decode decode,
                             const Selection& selection) const {
  const auto same = [&](const Entry& entry) {
    const Selection& other = entry.selection;
    return &entry.informer->resource() == &resource && entry.decode == decode && other.labels == selection.labels &&
           other.fields == selection.fields && other.optional == selection.optional &&
           other.unless_forbidden == selection.unless_forbidden && other.everywhere == selection.everywhere;
  };
  const auto it = std::find_if(entries_.begin(), entries_.end(), same);
  return it == entries_.end() ? nullptr : it->informer.get();
}

AnyInformer& Informers::Add(std::unique_ptr<AnyInformer> informer, Reflector::Decode decode,
                            const Selection& selection) {
  GW_CHECK(!started_);
  std::string name = NameFor(informer->resource(), selection);
  return *entries_.emplace_back(Entry{std::move(informer), decode, selection, std::move(name)}).informer;
}

InformerOptions Informers::OptionsOf(const api::Resource& resource, const Selection& selection) const {
  InformerOptions options;
  options.label_selector = selection.labels;
  options.field_selector = selection.fields;
  options.keep_objects = selection.keep;
  options.optional = selection.optional;
  options.unless_forbidden = selection.unless_forbidden;
  options.metrics = metrics_;
  if (!selection.everywhere) (&resource == &api::kNamespaces ? options.names : options.namespaces) = namespaces_;
  return options;
}

// The first of a plural has it for itself.
std::string Informers::NameFor(const api::Resource& resource, const Selection& selection) const {
  std::string name =
      absl::StrCat(View(resource.plural), selection.labels.empty() && selection.fields.empty() ? "" : "?",
                   selection.labels, selection.fields);
  const bool taken =
      std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  return taken ? absl::StrCat(FullName(resource), name.substr(resource.plural.size())) : name;
}

void Informers::Start() {
  started_ = true;
  for (const Entry& entry : entries_) entry.informer->Start();
}

void Informers::ObserveReply(const Write& write, const Response& response) {
  for (const Entry& entry : entries_) {
    if (&entry.informer->resource() == write.resource) entry.informer->ObserveReply(write, response);
  }
}

void Informers::DumpSizes(api::JsonWriter& json) const {
  std::map<std::string, std::size_t> sizes;
  for (const Entry& entry : entries_) sizes[entry.name] = entry.informer->size();
  for (const auto& [name, size] : sizes) json.Field(name, static_cast<std::int64_t>(size));
}

}  // namespace gangway::kube
