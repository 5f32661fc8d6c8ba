// What an API server holds of one resource: listed and watched once, decoded once, and told to any number of listeners.
//
//   Informer<api::volcano::Job> jobs(loop, client, api::kJobs, {});
//   jobs.Start([&](const auto& key, const auto& before, const auto& after) { driver.Enqueue(key); }, [&] { ... });
//
// The rules, which the Reflector beneath keeps:
//  * An object never goes backwards: what is older (by resourceVersion, compared as a number) than what is known of its
//  UID is
//    ignored, be it from the watch, a list, or the reply to a write of ours.
//  * The reply to our own write enters at its resourceVersion (Observe, ObserveReply). A deletion we were told of
//  leaves a
//    tombstone until the watch has passed it.
//  * A name taken by a new UID is told as a deletion, then an addition.
//  * A list after a broken watch is compared with what is known, and only the differences are told.
//  * An object that does not decode is kept as an error, told to the hook, and stops nobody else; Get() goes on giving
//  the
//    last version of that UID that did decode, if there was one.
//  * metadata.managedFields is not kept.
//
// Components that share a process share informers: informers.h. Used on its loop. T has `api::ObjectMeta metadata` and
// a field table.
#pragma once

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
#include "kube/client/client.h"
#include "kube/plan/plan.h"
#include "kube/runtime/reflector.h"

namespace gangway::kube {

// All of an Informer<T> that does not depend on T.
class AnyInformer {
 public:
  // Called once, when the first list is in.
  using OnSynced = absl::AnyInvocable<void()>;
  // Once for every version that does not decode. Of several listeners the first that has such a hook is told.
  using OnDecodeError = Reflector::OnDecodeError;

  virtual ~AnyInformer() = default;
  AnyInformer(const AnyInformer&) = delete;
  AnyInformer& operator=(const AnyInformer&) = delete;

  const api::Resource& resource() const { return resource_; }
  const InformerOptions& options() const { return options_; }

  // The first list is asked for when `other` has its own, so that nothing told by `other` is missing here only because
  // this list is the older one. Before Start().
  void After(AnyInformer& other);
  // Somebody needs the objects themselves. Before Start().
  void Keep();
  // `on_synced` alone. Before Start().
  void ListenForSync(Token token, OnSynced on_synced) {
    AddListener({std::move(token), nullptr, std::move(on_synced), nullptr});
  }
  // Begins, or waits for those it comes after.
  void Start();

  // Whether the first list is in.
  bool synced() const { return synced_; }
  // What keeps it from being up to date, in one line for a user; "" when nothing does.
  std::string problem() const;
  // The resourceVersion up to which lists and watch have told everything; 0 before the first list. What is absent here
  // may still have been made after it.
  std::uint64_t seen_up_to() const;
  // The same of the list and watch that would have this object.
  std::uint64_t seen_up_to(const api::NamespacedName& key) const;
  std::size_t size() const;

  // The reply to a write of ours: takes whatever `write` and `response` say about this resource. The one call a
  // Driver's SetOnReply needs.
  void ObserveReply(const Write& write, const Response& response);
  // An object as an API server answered it to us. Other kinds are ignored. With selectors it must only be shown what
  // they select.
  void Observe(const Bytes& object);
  // An API server told us that the object of this UID is gone.
  void ObserveDeleted(const api::NamespacedName& key, absl::string_view uid);

 protected:
  using Object = Reflector::Object;
  struct Listener {
    Token token;
    Reflector::OnChange on_change;
    OnSynced on_synced;
    OnDecodeError on_decode_error;
  };

  AnyInformer(Loop& loop, Client& client, const api::Resource& resource, InformerOptions options,
              Reflector::Decode decode);

  void AddListener(Listener listener);
  Object GetObject(const api::NamespacedName& key) const;
  void ForEachObject(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const;
  Token token() const { return owner_.token(); }

 private:
  enum class Parts { kOne, kByNamespace, kByName };

  Reflector* Find(const api::NamespacedName& key) const;
  void Tell(const api::NamespacedName& key, const Object& before, const Object& after);
  void TellDecodeError(const api::ObjectReference& regarding, const absl::Status& status);
  void OnPartSynced();
  void StartWhenDue();

  const api::Resource& resource_;
  InformerOptions options_;
  const Reflector::Decode decode_;
  Parts by_ = Parts::kOne;
  std::vector<std::string>
      parts_;  // namespaces or names, sorted, so that keys in the order of their reflectors are sorted too
  std::vector<std::unique_ptr<Reflector>> reflectors_;  // parallel to parts_
  std::vector<Listener> listeners_;
  std::vector<AnyInformer*> before_, after_;  // whose lists come before this one's, and after
  bool wanted_ = false, started_ = false, synced_ = false;
  Owner owner_;
};

template <class T>
class Informer final : public AnyInformer {
 public:
  using Object = std::shared_ptr<const T>;
  // Null is absent. Where objects are not kept `before` is always null. Called from tasks of the loop, never from
  // Start(); Observe() and its like call it before they return.
  using OnChange = absl::AnyInvocable<void(const api::NamespacedName&, const Object& before, const Object& after)>;

  Informer(Loop& loop, Client& client, const api::Resource& resource, InformerOptions options)
      : AnyInformer(loop, client, resource, std::move(options), &Decode) {}

  // Listeners are told in the order they came, each as long as its token's owner lives; any hook may be null. Before
  // Start().
  void Listen(Token token, OnChange on_change, OnSynced on_synced = nullptr, OnDecodeError on_decode_error = nullptr) {
    Reflector::OnChange on_any;
    if (on_change) {
      on_any = [on_change = std::move(on_change)](const api::NamespacedName& key, const Reflector::Object& before,
                                                  const Reflector::Object& after) mutable {
        on_change(key, std::static_pointer_cast<const T>(before), std::static_pointer_cast<const T>(after));
      };
    }
    AddListener({std::move(token), std::move(on_any), std::move(on_synced), std::move(on_decode_error)});
  }
  using AnyInformer::Start;
  // For who listens alone.
  void Start(OnChange on_change, OnSynced on_synced = nullptr, OnDecodeError on_decode_error = nullptr) {
    Listen(token(), std::move(on_change), std::move(on_synced), std::move(on_decode_error));
    Start();
  }

  // Null when absent, and where objects are not kept.
  Object Get(const api::NamespacedName& key) const { return std::static_pointer_cast<const T>(GetObject(key)); }
  // All objects in the order of their keys; `f` must not change them.
  void ForEach(absl::FunctionRef<void(const api::NamespacedName&, const Object&)> f) const {
    ForEachObject([&](const api::NamespacedName& key, const Reflector::Object& object) {
      f(key, std::static_pointer_cast<const T>(object));
    });
  }

  // Which T it is.
  static absl::StatusOr<Reflector::Object> Decode(absl::string_view json) {
    auto object = std::make_shared<T>();
    if (absl::Status s = api::DecodeInto(json, api::TypeOf<T>(), object.get()).status; !s.ok()) return s;
    std::string().swap(object->metadata.managed_fields.json);  // as large as all the rest, and read by nobody
    return Reflector::Object(std::move(object));
  }
};

}  // namespace gangway::kube
