// What an API server holds of one resource, decoded once and kept up to date by a watch.
//
//   Cache<api::volcano::Job> jobs(loop, client, api::kJobs, {});
//   jobs.Start([&](const auto& key, const auto& before, const auto& after) { driver.Enqueue(key); }, [&] { ... });
//
// The rules, which the Reflector beneath keeps:
//  * An object never goes backwards: what is older (by resourceVersion, compared as a number) than what is known of its UID is
//    ignored, be it from the watch, a list, or the reply to a write of ours.
//  * The reply to our own write enters at its resourceVersion (Observe, ObserveReply). A deletion we were told of leaves a
//    tombstone until the watch has passed it.
//  * A name taken by a new UID is told as a deletion, then an addition.
//  * A list after a broken watch is compared with what is known, and only the differences are told.
//  * An object that does not decode is kept as an error, told to the hook, and stops nobody else; Get() goes on giving the
//    last version of that UID that did decode, if there was one.
//
// Used on its loop. T has `api::ObjectMeta metadata` and a field table.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/field_table.h"
#include "api/meta.h"
#include "api/resource.h"
#include "base/loop.h"
#include "base/strings.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"
#include "kube/runtime/reflector.h"

namespace gangway::kube {

template <class T>
class Cache {
 public:
  using Object = std::shared_ptr<const T>;
  // Null is absent. With keep_objects = false `before` is always null. Called from tasks of the loop, never from Start();
  // Observe() and its like call it before they return.
  using OnChange = absl::AnyInvocable<void(const api::NamespacedName&, const Object& before, const Object& after)>;
  // Called once, when the first list is in.
  using OnSynced = absl::AnyInvocable<void()>;
  // Once for every version that does not decode. Set it before Start().
  using OnDecodeError = Reflector::OnDecodeError;

  Cache(Loop& loop, Client& client, const api::Resource& resource, CacheOptions options) {
    std::vector<std::string> namespaces = std::move(options.namespaces);
    options.namespaces.clear();
    if (namespaces.empty() || !resource.namespaced) namespaces = {resource.namespaced ? options.ns : ""};
    std::sort(namespaces.begin(), namespaces.end());
    namespaces.erase(std::unique(namespaces.begin(), namespaces.end()), namespaces.end());
    for (const std::string& ns : namespaces) {
      options.ns = ns;
      reflectors_.push_back(std::make_unique<Reflector>(loop, client, resource, options));
    }
    by_namespace_ = !namespaces.front().empty();
    namespaces_ = std::move(namespaces);
  }

  void SetOnDecodeError(OnDecodeError on_error) {
    on_error_ = std::move(on_error);
    for (const auto& reflector : reflectors_) {
      reflector->SetOnDecodeError([this](const api::ObjectReference& regarding, const absl::Status& status) { on_error_(regarding, status); });
    }
  }

  void Start(OnChange on_change, OnSynced on_synced = [] {}) {
    on_change_ = std::move(on_change);
    on_synced_ = std::move(on_synced);
    for (const auto& reflector : reflectors_) {
      reflector->Start(
          &DecodeObject,
          [this](const api::NamespacedName& key, const Reflector::Object& before, const Reflector::Object& after) {
            on_change_(key, std::static_pointer_cast<const T>(before), std::static_pointer_cast<const T>(after));
          },
          [this] {
            if (synced() && on_synced_) on_synced_();
          });
    }
  }

  // Whether the first list is in.
  bool synced() const {
    return std::all_of(reflectors_.begin(), reflectors_.end(), [](const auto& reflector) { return reflector->synced(); });
  }
  // What keeps it from being up to date, in one line for a user; "" when nothing does.
  std::string problem() const {
    for (const auto& reflector : reflectors_) {
      if (std::string problem = reflector->problem(); !problem.empty()) return problem;
    }
    return "";
  }
  // The resourceVersion up to which lists and watch have told everything; 0 before the first list. What is absent here may still have
  // been made after it.
  std::uint64_t seen_up_to() const {
    std::uint64_t least = reflectors_.front()->seen_up_to();
    for (const auto& reflector : reflectors_) least = std::min(least, reflector->seen_up_to());
    return least;
  }
  // Null when absent; always null with keep_objects = false.
  Object Get(const api::NamespacedName& key) const {
    const Reflector* const reflector = Find(key.ns);
    return reflector == nullptr ? nullptr : std::static_pointer_cast<const T>(reflector->Get(key));
  }
  // All objects in the order of their keys; `f` must not change the cache.
  void ForEach(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const {
    for (const auto& reflector : reflectors_) {
      reflector->ForEach([&](const api::NamespacedName& key, const Reflector::Object& object) {
        f(key, std::static_pointer_cast<const T>(object));
      });
    }
  }
  std::size_t size() const {
    std::size_t size = 0;
    for (const auto& reflector : reflectors_) size += reflector->size();
    return size;
  }

  // The reply to a write of ours: feeds the cache whatever `write` and `response` say about this resource. The one call a
  // Driver's SetOnReply needs per cache.
  void ObserveReply(const Write& write, const Response& response) {
    if (Reflector* const reflector = Find(write.ns); reflector != nullptr) reflector->ObserveReply(write, response);
  }
  // An object as an API server answered it to us. Other kinds are ignored. A cache with selectors must only be shown what they select.
  void Observe(const Bytes& object) {
    for (const auto& reflector : reflectors_) reflector->Observe(object);
  }
  // An API server told us that the object of this UID is gone.
  void ObserveDeleted(const api::NamespacedName& key, absl::string_view uid) {
    if (Reflector* const reflector = Find(key.ns); reflector != nullptr) reflector->ObserveDeleted(key, uid);
  }

 private:
  static absl::StatusOr<Reflector::Object> DecodeObject(absl::string_view json) {
    auto object = std::make_shared<T>();
    if (absl::Status s = api::DecodeInto(json, api::TypeOf<T>(), object.get()).status; !s.ok()) return s;
    return Reflector::Object(std::move(object));
  }

  Reflector* Find(absl::string_view ns) const {
    if (!by_namespace_) return reflectors_.front().get();
    const auto it = std::lower_bound(namespaces_.begin(), namespaces_.end(), ns);
    return it == namespaces_.end() || *it != ns ? nullptr : reflectors_[static_cast<std::size_t>(it - namespaces_.begin())].get();
  }

  std::vector<std::string> namespaces_;  // sorted, so that keys in the order of their reflectors are sorted too
  bool by_namespace_ = false;
  OnChange on_change_;
  OnSynced on_synced_;
  OnDecodeError on_error_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;  // parallel to namespaces_
};

}  // namespace gangway::kube
