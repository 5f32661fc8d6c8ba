// The inside of ApiServer: one Handle split by verb over several sources (read.cc, create.cc, update.cc, remove.cc,
// pod_verbs.cc, pod_logs.cc, scale.cc), and what they share: checking bodies, preparing and committing objects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/schemas/schemas.h"
#include "api/schemas/table.h"
#include "api/volcano/admission.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/admission_review.h"
#include "sandbox/apiserver/admission_talk.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/apply/ownership.h"
#include "sandbox/apiserver/collector.h"
#include "sandbox/apiserver/declared_kinds.h"
#include "sandbox/apiserver/discovery.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/event_expiry.h"
#include "sandbox/apiserver/facts.h"
#include "sandbox/apiserver/refusal.h"
#include "sandbox/apiserver/route.h"
#include "sandbox/apiserver/service_address.h"
#include "sandbox/apiserver/shown.h"
#include "sandbox/apiserver/store/store.h"
#include "sandbox/apiserver/watch_hub.h"
#include "sandbox/apiserver/webhooks.h"
#include "sandbox/rbac/roles.h"
#include "sandbox/rbac/rule.h"
#include "sandbox/rbac/service_account_token.h"

namespace gangway::sandbox {

// One request on its way through the server.
struct Exchange {
  const kube::Request& request;
  const Caller& caller;
  Target target;
  Query query;
  schemas::Representation representation = schemas::Representation::kObject;
  std::vector<std::string> warnings;
  std::vector<Bytes>* more = nullptr;  // where the body of a long list goes on; null: it is one text
};

// What is said of a commit: in the journal, and of who owns the fields.
struct CommitNote : JournalNote {
  absl::string_view manager = {};  // of the fields that are written; "": the client
  bool managed_fields = false;     // the object that is answered shows them
  const User* user = nullptr;      // whose rights count; null: nobody's
};

// What a write says about the ownership of fields, beside what it changes.
struct Claims {
  std::optional<apply::ManagedFieldsPtr> given;    // by the body, in place of what the object has
  std::optional<apply::ManagedFieldsPtr> decided;  // by an apply: as they will be
};

// pod_logs.cc: the container that was asked for, or the only one.
Outcome<std::string> ContainerAskedFor(const boost::json::object& pod, absl::string_view pod_name,
                                       absl::string_view asked);
// pod_logs.cc: what the kubelet refuses the API server hands on.
Refusal OfKubelet(const absl::Status& status, absl::string_view pod);

// apply.cc: errors.NewApplyConflict
Refusal ApplyConflict(const std::vector<apply::FieldConflict>& conflicts);

class ServerCore final : public CollectorActions {
 public:
  ServerCore(Loop& loop, ApiServerOptions options);

  kube::Response Handle(const kube::Request& request, const Caller& caller, std::vector<Bytes>* more);
  void Serve(kube::Request request, const Caller& caller, ApiServer::Respond respond);  // ask_webhooks.cc
  // authorization.cc: `caller` with the user that the credentials stand for, where that counts.
  bool identifies() const { return options_.rbac.has_value(); }
  Outcome<Caller> Identify(const Caller& caller);
  void SetWebhookCalls(WebhookCalls calls) { webhook_calls_ = std::move(calls); }
  ApiServer::WatchAnswer StartWatch(const kube::Request& request, const Caller& caller,
                                    kube::Client::OnFrames on_frames, kube::Client::OnEnd on_end);
  void SetPodLogs(PodLogs pod_logs, PodLogStreams streams) {
    pod_logs_ = std::move(pod_logs);
    pod_log_streams_ = std::move(streams);
  }
  void SetPodStreamCheck(PodStreamCheck check) { pod_stream_check_ = std::move(check); }
  ApiServer::StreamAnswer ReadStream(const kube::Request& request, const Caller& caller);
  WatchHub& watches() { return watches_; }
  Store& store() { return store_; }

  // Verbs that the table of subresources names.
  Outcome<kube::Response> Get(Exchange& exchange);    // read.cc
  Outcome<kube::Response> Put(Exchange& exchange);    // update.cc
  Outcome<kube::Response> Patch(Exchange& exchange);  // update.cc
  Outcome<kube::Response> Bind(Exchange& exchange);   // pod_verbs.cc
  Outcome<kube::Response> Evict(Exchange& exchange);  // pod_verbs.cc
  Outcome<kube::Response> Logs(Exchange& exchange);   // pod_logs.cc
  // pod_streams.cc: of a request that asks for a stream and cannot have one.
  Outcome<kube::Response> Connect(Exchange& exchange);
  Outcome<kube::Response> GetScale(Exchange& exchange);      // scale.cc
  Outcome<kube::Response> PutScale(Exchange& exchange);      // scale.cc
  Outcome<kube::Response> RequestToken(Exchange& exchange);  // tokens.cc
  // remove.cc: who had work to do in a namespace says that it is done.
  Outcome<kube::Response> Finalize(Exchange& exchange);

  // CollectorActions
  void DeleteByCollector(const Record& record, absl::string_view policy, absl::string_view client) override;
  void EditByCollector(const Record& record, absl::FunctionRef<void(boost::json::object&)> edit,
                       absl::string_view client) override;
  void FinishNamespace(absl::string_view name, absl::string_view client) override;

 private:
  Outcome<kube::Response> Dispatch(Exchange& exchange);
  Outcome<kube::Response> DispatchCollection(Exchange& exchange);
  Outcome<kube::Response> DispatchObject(Exchange& exchange);
  Outcome<kube::Response> DispatchSubresource(Exchange& exchange);
  Outcome<Exchange> Open(const kube::Request& request, const Caller& caller);

  // read.cc
  Outcome<kube::Response> List(Exchange& exchange);
  struct Page {
    std::vector<Bytes> items;  // as they are shown
    Revision revision = 0;
    std::string continue_token;
    std::optional<std::int64_t> remaining;
  };
  Outcome<Page> ReadPage(const Target& target, const ListOptions& options, bool managed_fields, bool as_items);
  Outcome<kube::Response> ListResponse(const Exchange& exchange, Page page);
  Outcome<kube::Response> ObjectResponse(const Exchange& exchange, int code, const Bytes& stored);
  Outcome<schemas::IncludeObject> ParseInclude(const Exchange& exchange);

  // create.cc
  Outcome<kube::Response> Create(Exchange& exchange);
  Objection CheckNamespace(const Target& target, absl::string_view name);
  Objection NameNew(const Target& target, boost::json::object& metadata);
  void StampNew(const Target& target, boost::json::object& object);
  Outcome<Bytes> CreateObject(const Target& target, Draft& draft, bool dry_run, const CommitNote& note,
                              const Claims& claims);
  void CreateDefaultObjects();
  void CreateBootstrapRoles();
  // What every namespace has and has not yet: the account `default`, and the authority of this server.
  void CreateForNamespace(const std::string& ns);
  // In a task: they are there as long as their namespace is.
  void RestoreForNamespace(const std::string& ns);
  void CreateDefault(const api::Resource& resource, absl::string_view json);

  // update.cc
  // Brings `next` (a whole object, checked against its schema) in as the successor of `before`.
  Outcome<Bytes> Replace(const Target& target, const Record& before, const Draft& old, Draft& next, bool dry_run,
                         bool unconditional, const CommitNote& note, const Claims& claims = {});
  // Its steps: what `next` keeps of the object as it was, and whether it may come after it.
  void BringForward(const Target& target, const boost::json::object& old, Draft& next);
  Objection CheckSuccessor(const Target& target, const Draft& old, Draft& next, bool spec_changed);
  // The object as a patch may see it: with its managedFields, when the patch speaks of them.
  void AddManagedFields(const Record& record, absl::string_view patch, Draft& draft);
  Outcome<kube::Response> CreateByPut(Exchange& exchange, Draft& draft, bool dry_run, const CommitNote& note);
  // What a change that came in part means in full: defaults, and what the object's type folds together.
  void CompleteChange(const Target& target, Draft& next);
  Objection ApplyPatch(absl::string_view media_type, const schemas::Schema& schema, absl::string_view body,
                       Draft& next);

  // apply.cc
  Outcome<kube::Response> Apply(Exchange& exchange);
  Outcome<Draft> ReadConfiguration(Exchange& exchange, FieldValidation validation);
  Objection CheckConfiguration(const Target& target, const schemas::Schema& schema,
                               absl::string_view api_version_wanted, const Record* live, const Draft& config);
  // scale_ownership.cc
  Outcome<Draft> ApplyScale(Exchange& exchange, const Record& record, const Draft& live, const WriteOptions& options,
                            Claims& claims);
  Claims ClaimsOfScale(const api::Resource& resource, const Record& record, const Draft& live, const Draft& scale,
                       const CommitNote& note);
  apply::Write WriteOfScale(const CommitNote& note);
  apply::Write WriteOf(const api::Resource& resource, const CommitNote& note);
  // Takes metadata.managedFields out of a body. `before` is the object as it is, null for a creation.
  Claims TakeClaims(const api::Resource& resource, absl::string_view subresource, const Record* before, Draft& draft);

  // remove.cc
  Outcome<kube::Response> Delete(Exchange& exchange);
  Outcome<kube::Response> DeleteCollection(Exchange& exchange);
  struct Removal {
    Bytes object;       // as marked, or as it was last
    bool gone = false;  // not only marked
  };
  // `past_admission`: nobody is asked, since the kind itself goes.
  Outcome<Removal> Remove(const Target& target, const Record& record, const DeleteOptions& options,
                          const CommitNote& note, bool past_admission = false);

  Objection AskOfDeletion(const Target& target, const Draft& old, bool dry_run);

  // pod_verbs.cc
  Objection CheckDisruptionBudget(const Record& pod, const boost::json::object& object);

  // pod_logs.cc
  // nullopt: no node has the pod, there is nobody to ask.
  Outcome<std::optional<LogQuery>> OpenLog(const Exchange& exchange);
  ApiServer::WatchAnswer FollowLog(const Exchange& exchange, kube::Client::OnFrames on_frames,
                                   kube::Client::OnEnd on_end);

  // pod_streams.cc
  Outcome<StreamQuery> OpenStream(const Exchange& exchange);

  // access_review.cc: nullopt when the path is another.
  void CompleteReview(const api::Resource& review, const schemas::Schema& schema, const CommitNote& note, Draft& draft);
  std::optional<Outcome<kube::Response>> ReviewAccess(const kube::Request& request, const Caller& caller);

  boost::json::object ReviewStatus(const api::Resource& review, const boost::json::object& object,
                                   const Caller& caller) const;

  // authorization.cc; a null user may do everything.
  Outcome<User> Authenticate(const Credentials& credentials);
  // Without RBAC nobody reads a token.
  absl::string_view TokenSecret() const {
    if (!options_.rbac.has_value()) return "-";
    return options_.rbac->token_secret;
  }
  bool IsInForce(const rbac::TokenClaims& claims) const;
  Outcome<User> Impersonate(const User& who, const std::vector<std::pair<std::string, std::string>>& headers);
  Objection Forbid(const User* user, const rbac::Attributes& what) const;
  Objection Authorize(const kube::Request& request, const Caller& caller) const;
  // The request as if it had another verb.
  Objection AuthorizeVerb(const Exchange& exchange, absl::string_view verb) const;
  // `before` null: it is new.
  Objection CheckEscalation(const Target& target, const Draft& next, const Draft* before, const User* user) const;
  void OnRoleChange(const Change& change);
  void AggregateRoles();

  // bodies.cc: from bytes to a checked draft.
  static bool HasForeignBody(const kube::Request& request);
  static Outcome<kube::Request> InJson(const kube::Request& request);
  Objection CheckMediaType(const Exchange& exchange);
  // `schema` null: not checked against one. Adds to exchange.warnings.
  Outcome<Draft> ReadBody(Exchange& exchange, const schemas::Schema* schema, FieldValidation validation);
  Objection ReportFields(Exchange& exchange, const schemas::Schema& schema, FieldValidation validation,
                         const Draft& draft, const std::vector<std::string>& duplicates, absl::string_view name);
  Objection CheckTypeMeta(absl::string_view api_version, absl::string_view kind, Draft& draft);
  Objection Admit(api::volcano::Operation operation, const Target& target, boost::json::value* object,
                  const boost::json::value* old_object);

  // ask_webhooks.cc: nobody is asked but within Serve.
  struct Asking;
  void Run(const std::shared_ptr<Asking>& asking);
  // True: `object` has changed. A refusal may be that answers are not there yet.
  Outcome<bool> MutateByWebhooks(const Admission& what, Draft* object, const Draft* old);
  Objection ValidateByWebhooks(const Admission& what, const Draft* object, const Draft* old);
  Objection ReadMutated(const api::Resource& resource, const schemas::Schema& schema, absl::string_view name,
                        Draft& draft);
  // Of Volcano's kinds, which the sandbox judges as Volcano's webhooks do: webhooks that are there have the first word.
  static bool HasOwnAdmission(const api::Resource& resource);
  bool AsksWebhooks(const api::Resource& resource) const;
  Outcome<bool> MutateBy(const Webhook& webhook, const Admission& what, Draft* object, const Draft* old);
  Outcome<std::optional<ReviewAnswer>> AskOne(const Webhook& webhook, const Admission& what,
                                              const boost::json::value* object, const boost::json::value* old);
  const api::Resource* AskedAs(const Webhook& webhook, const Admission& what);
  bool SelectorsMatch(const Webhook& webhook, const Admission& what, const boost::json::object* object,
                      const boost::json::object* old);
  Outcome<bool> ConditionsHold(const Webhook& webhook, const boost::json::value& request,
                               const boost::json::value* object, const boost::json::value* old);
  Outcome<WebhookCall> CallOf(const Webhook& webhook);
  absl::StatusOr<std::string> ResolveService(absl::string_view ns, absl::string_view name, int port);
  static const User& UserOf(const Caller& caller);
  // Those of the request that is being run; within one that asks webhooks they are the same in every run.
  absl::Time Now() const { return talk_ == nullptr ? loop_.Now() : talk_->now(); }
  std::uint64_t Random() { return talk_ == nullptr ? loop_.Random() : talk_->Random(); }

  // commit.cc
  // `managed` null: the object keeps what it has. Refuses what is too deep or too large to be stored, so that whatever
  // reads the store can rely on it (Draft::OfStored). Deletions are not refused for their size.
  Outcome<Bytes> Commit(const api::Resource& resource, Draft& draft, bool dry_run, const CommitNote& note,
                        const apply::ManagedFieldsPtr* managed = nullptr);
  Bytes CommitDeletion(const Record& record, const CommitNote& note);
  // How `before` would look with what `draft` says of it, which is not stored. `managed` null: its fields are owned as
  // before.
  Bytes ShownAfter(const Record& before, Draft& draft, Revision revision, bool managed_fields,
                   const apply::ManagedFieldsPtr* managed = nullptr);
  void OnCommit(const Change& change, const JournalNote& note);
  // definition_verbs.cc: what a definition that has changed means for what is served.
  void OnDefinition(const Change& change);
  void SettleDefinitions(const std::string& group);
  Objection CheckRoomForDefinition(const Record* before, std::size_t bytes);
  // How the store has it, as of the version that is asked for.
  static Draft StoredAsOf(const Record& record, const api::Resource& resource);
  std::string NewUid();

  Loop& loop_;
  ApiServerOptions options_;
  DeclaredKinds declared_;
  const ServedVersions served_;
  const schemas::Schemas& schemas_ = schemas::Schemas::Shared();
  const Discovery discovery_;
  Store store_;
  WatchHub watches_;
  Collector collector_;
  EventExpiry event_expiry_;
  apply::Ownership ownership_;
  PodLogs pod_logs_;
  PodLogStreams pod_log_streams_;
  PodStreamCheck pod_stream_check_;
  ServiceAddresses addresses_;
  absl::btree_set<std::string> groups_to_settle_;  // of definitions
  rbac::Roles roles_;                              // empty without RBAC
  bool aggregation_posted_ = false;
  Webhooks webhooks_;
  WebhookCalls webhook_calls_;
  AdmissionTalk* talk_ = nullptr;  // of the request that is being run
  const kube::Request* talk_request_ = nullptr;
  std::vector<std::string> talk_warnings_;  // of webhooks, in this run
  std::string scratch_;                     // objects are written here before they are copied at their size
  Owner owner_;
};

}  // namespace gangway::sandbox
