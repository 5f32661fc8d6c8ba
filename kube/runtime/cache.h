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

#include <memory>
#include <utility>

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

  Cache(Loop& loop, Client& client, const api::Resource& resource, CacheOptions options)
      : reflector_(loop, client, resource, std::move(options)) {}

  void SetOnDecodeError(OnDecodeError on_error) { reflector_.SetOnDecodeError(std::move(on_error)); }

  void Start(OnChange on_change, OnSynced on_synced = [] {}) {
    reflector_.Start(
        &DecodeObject,
        [f = std::move(on_change)](const api::NamespacedName& key, const Reflector::Object& before,
                                   const Reflector::Object& after) mutable {
          f(key, std::static_pointer_cast<const T>(before), std::static_pointer_cast<const T>(after));
        },
        std::move(on_synced));
  }

  // Whether the first list is in.
  bool synced() const { return reflector_.synced(); }
  // The resourceVersion up to which lists and watch have told everything; 0 before the first list. What is absent here may still have
  // been made after it.
  std::uint64_t seen_up_to() const { return reflector_.seen_up_to(); }
  // Null when absent; always null with keep_objects = false.
  Object Get(const api::NamespacedName& key) const { return std::static_pointer_cast<const T>(reflector_.Get(key)); }
  // All objects in the order of their keys; `f` must not change the cache.
  void ForEach(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const {
    reflector_.ForEach([&](const api::NamespacedName& key, const Reflector::Object& object) {
      f(key, std::static_pointer_cast<const T>(object));
    });
  }
  std::size_t size() const { return reflector_.size(); }

  // The reply to a write of ours: feeds the cache whatever `write` and `response` say about this resource. The one call a
  // Driver's SetOnReply needs per cache.
  void ObserveReply(const Write& write, const Response& response) { reflector_.ObserveReply(write, response); }
  // An object as an API server answered it to us. Other kinds are ignored. A cache with selectors must only be shown what they select.
  void Observe(const Bytes& object) { reflector_.Observe(object); }
  // An API server told us that the object of this UID is gone.
  void ObserveDeleted(const api::NamespacedName& key, absl::string_view uid) { reflector_.ObserveDeleted(key, uid); }

 private:
  static absl::StatusOr<Reflector::Object> DecodeObject(absl::string_view json) {
    auto object = std::make_shared<T>();
    if (absl::Status s = api::DecodeInto(json, api::TypeOf<T>(), object.get()).status; !s.ok()) return s;
    return Reflector::Object(std::move(object));
  }

  Reflector reflector_;
};

}  // namespace gangway::kube
