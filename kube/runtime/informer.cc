#include "kube/runtime/informer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::kube {

AnyInformer::AnyInformer(Loop& loop, Client& client, const api::Resource& resource, InformerOptions options,
                         Reflector::Decode decode)
    : resource_(resource), options_(std::move(options)), decode_(decode) {
  if (resource.namespaced && !options_.namespaces.empty()) {
    by_ = Parts::kByNamespace;
    parts_ = options_.namespaces;
  } else if (!options_.names.empty()) {
    by_ = Parts::kByName;
    parts_ = options_.names;
  } else {
    parts_ = {resource.namespaced ? options_.ns : ""};
  }
  std::sort(parts_.begin(), parts_.end());
  parts_.erase(std::unique(parts_.begin(), parts_.end()), parts_.end());
  for (const std::string& part : parts_) {
    InformerOptions own = options_;
    if (by_ == Parts::kByName) own.field_selector = absl::StrCat("metadata.name=", part);
    own.ns = by_ == Parts::kByName ? "" : part;
    reflectors_.push_back(std::make_unique<Reflector>(loop, client, resource, std::move(own)));
  }
}

void AnyInformer::After(AnyInformer& other) {
  GW_CHECK(!started_ && &other != this);
  if (std::find(before_.begin(), before_.end(), &other) != before_.end()) return;
  before_.push_back(&other);
  other.after_.push_back(this);
}

void AnyInformer::Keep() {
  GW_CHECK(!started_);
  options_.keep_objects = true;
  for (const auto& reflector : reflectors_) reflector->Keep();
}

void AnyInformer::AddListener(Listener listener) {
  GW_CHECK(!started_);  // it would miss what was told before
  listeners_.push_back(std::move(listener));
}

void AnyInformer::Start() {
  wanted_ = true;
  StartWhenDue();
}

void AnyInformer::StartWhenDue() {
  const bool due = std::all_of(before_.begin(), before_.end(), [](const AnyInformer* each) { return each->synced(); });
  if (!wanted_ || started_ || !due) return;
  started_ = true;
  for (const auto& reflector : reflectors_) {
    reflector->SetOnDecodeError([this](const api::ObjectReference& regarding, const absl::Status& status) {
      TellDecodeError(regarding, status);
    });
    reflector->Start(
        decode_,
        [this](const api::NamespacedName& key, const Object& before, const Object& after) { Tell(key, before, after); },
        [this] { OnPartSynced(); });
  }
}

void AnyInformer::OnPartSynced() {
  if (!std::all_of(reflectors_.begin(), reflectors_.end(), [](const auto& reflector) { return reflector->synced(); }))
    return;
  synced_ = true;
  for (AnyInformer* const each : after_) each->StartWhenDue();
  for (Listener& listener : listeners_) {
    if (listener.on_synced && !listener.token.expired()) listener.on_synced();
  }
}

void AnyInformer::Tell(const api::NamespacedName& key, const Object& before, const Object& after) {
  for (Listener& listener : listeners_) {
    if (listener.on_change && !listener.token.expired()) listener.on_change(key, before, after);
  }
}

void AnyInformer::TellDecodeError(const api::ObjectReference& regarding, const absl::Status& status) {
  for (Listener& listener : listeners_) {
    if (listener.on_decode_error && !listener.token.expired()) return listener.on_decode_error(regarding, status);
  }
}

std::string AnyInformer::problem() const {
  for (const auto& reflector : reflectors_) {
    if (std::string problem = reflector->problem(); !problem.empty()) return problem;
  }
  return "";
}

std::uint64_t AnyInformer::seen_up_to() const {
  std::uint64_t least = reflectors_.front()->seen_up_to();
  for (const auto& reflector : reflectors_) least = std::min(least, reflector->seen_up_to());
  return least;
}

std::uint64_t AnyInformer::seen_up_to(const api::NamespacedName& key) const {
  const Reflector* const reflector = Find(key);
  return reflector == nullptr ? 0 : reflector->seen_up_to();
}

std::size_t AnyInformer::size() const {
  std::size_t size = 0;
  for (const auto& reflector : reflectors_) size += reflector->size();
  return size;
}

AnyInformer::Object AnyInformer::GetObject(const api::NamespacedName& key) const {
  const Reflector* const reflector = Find(key);
  return reflector == nullptr ? nullptr : reflector->Get(key);
}

void AnyInformer::ForEachObject(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const {
  for (const auto& reflector : reflectors_) reflector->ForEach(f);
}

void AnyInformer::ObserveReply(const Write& write, const Response& response) {
  if (Reflector* const reflector = Find({write.ns, write.name}); reflector != nullptr)
    reflector->ObserveReply(write, response);
}

void AnyInformer::Observe(const Bytes& object) {
  for (const auto& reflector : reflectors_) reflector->Observe(object);
}

void AnyInformer::ObserveDeleted(const api::NamespacedName& key, absl::string_view uid) {
  if (Reflector* const reflector = Find(key); reflector != nullptr) reflector->ObserveDeleted(key, uid);
}

Reflector* AnyInformer::Find(const api::NamespacedName& key) const {
  if (by_ == Parts::kOne) return reflectors_.front().get();
  const std::string& part = by_ == Parts::kByName ? key.name : key.ns;
  const auto it = std::lower_bound(parts_.begin(), parts_.end(), part);
  return it == parts_.end() || *it != part ? nullptr : reflectors_[static_cast<std::size_t>(it - parts_.begin())].get();
}

}  // namespace gangway::kube
