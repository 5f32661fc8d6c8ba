// From a request to its verb.
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "sandbox/apiserver/apply/typed.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/reviews.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/apiserver/subresources.h"

namespace gangway::sandbox {

namespace {

// A bookmark is an object of its kind in which nothing is set: what Go writes of it.
std::string BookmarkRest(const schemas::Schema& schema) {
  Draft empty;
  apply::WriteAsGo(empty.root(), *schema.root);
  std::string out;
  for (const auto& member : empty.object()) {
    if (member.key() != "metadata")
      absl::StrAppend(&out, ",", api::JsonString(AbslView(member.key())), ":", api::ToJson(member.value()));
  }
  return out;
}

// Of one object; "" for methods that are none's.
absl::string_view VerbOf(absl::string_view method) {
  if (method == "GET" || method == "HEAD") return "get";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  return method == "PATCH" ? "patch" : "";
}

kube::Response ResponseOf(Outcome<kube::Response> answer) {
  return answer.ok() ? *std::move(answer) : answer.refusal().ToResponse();
}

}  // namespace

ServerCore::ServerCore(Loop& loop, ApiServerOptions options)
    : loop_(loop),
      options_(std::move(options)),
      served_(options_.alpha_versions, declared_),
      discovery_(served_),
      store_(options_.store),
      watches_(loop, store_, options_.bookmark_interval),
      collector_(loop, store_, served_, declared_, *this),
      event_expiry_(loop, store_, options_.event_ttl, options_.max_events, [this](const Record& record) {
        const CommitNote note{"event-expiry", "delete", ""};
        CommitDeletion(record, note);
      }) {
  store_.SetOnCommit([this](const Change& change, const JournalNote& note) { OnCommit(change, note); });
  if (options_.default_objects) CreateDefaultObjects();
  if (options_.rbac.has_value()) CreateBootstrapRoles();
}

Outcome<Exchange> ServerCore::Open(const kube::Request& request, const Caller& caller) {
  if (request.body.size() > kMaxBodyBytes) return TooLarge();
  Outcome<Target> target = ParsePath(request.path, served_);
  if (!target.ok()) return target.refusal();
  Outcome<Query> query = Query::Parse(request.query);
  if (!query.ok()) return query.refusal();
  Exchange exchange{
      .request = request, .caller = caller, .target = std::move(*target), .query = std::move(*query), .warnings = {}};
  const bool logs = exchange.target.subresource == "log";
  const std::optional<schemas::Representation> representation =
      logs ? schemas::Representation::kObject : schemas::RepresentationOf(request.accept);
  if (!representation.has_value()) return NotAcceptable();
  exchange.representation = *representation;
  if (exchange.target.resource->declared != nullptr) {
    const std::string& deprecation = DeclaredAs(*exchange.target.resource).deprecation;
    if (!deprecation.empty()) exchange.warnings.push_back(deprecation);
  }
  // k8s.io/api: prerelease-lifecycle
  if (exchange.target.resource == &api::kEndpoints) {
    exchange.warnings.push_back("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice");
  }
  return exchange;
}

kube::Response ServerCore::Handle(const kube::Request& request, const Caller& caller, std::vector<Bytes>* more) {
  if (Objection objection = Authorize(request, caller)) return objection->ToResponse();
  if (std::optional<kube::Response> answer = discovery_.Answer(request)) return *std::move(answer);
  // A path that is not there is said before a body that is not understood.
  const bool known_path = FindReview(request.path) != nullptr || ParsePath(request.path, served_).ok();
  if (known_path && HasForeignBody(request) && request.body.size() <= kMaxBodyBytes) {
    Outcome<kube::Request> readable = InJson(request);
    return readable.ok() ? Handle(*readable, caller, more) : readable.refusal().ToResponse();
  }
  if (std::optional<Outcome<kube::Response>> answer = ReviewAccess(request, caller))
    return ResponseOf(*std::move(answer));
  Outcome<Exchange> exchange = Open(request, caller);
  if (!exchange.ok()) return exchange.refusal().ToResponse();
  exchange->more = more;
  kube::Response response = ResponseOf(Dispatch(*exchange));
  response.warnings = std::move(exchange->warnings);
  return response;
}

Outcome<kube::Response> ServerCore::Dispatch(Exchange& exchange) {
  if (!exchange.target.subresource.empty()) return DispatchSubresource(exchange);
  return exchange.target.name.empty() ? DispatchCollection(exchange) : DispatchObject(exchange);
}

Outcome<kube::Response> ServerCore::DispatchCollection(Exchange& exchange) {
  const std::string& method = exchange.request.method;
  if (method == "GET" || method == "HEAD") return List(exchange);
  if (method == "POST") {
    // A namespaced object is created in a namespace.
    if (exchange.target.resource->namespaced && exchange.target.ns.empty()) return MethodNotAllowed();
    return Create(exchange);
  }
  if (method == "DELETE" && exchange.target.resource != &api::kNamespaces) {
    if (exchange.target.resource->namespaced && exchange.target.ns.empty()) return MethodNotAllowed();
    return DeleteCollection(exchange);
  }
  return MethodNotAllowed();
}

Outcome<kube::Response> ServerCore::DispatchObject(Exchange& exchange) {
  const std::string& method = exchange.request.method;
  if (method == "GET" || method == "HEAD") return Get(exchange);
  if (method == "PUT") return Put(exchange);
  if (method == "PATCH") return Patch(exchange);
  if (method == "DELETE") return Delete(exchange);
  return MethodNotAllowed();
}

Outcome<kube::Response> ServerCore::DispatchSubresource(Exchange& exchange) {
  const Subresource* const part = FindSubresource(*exchange.target.resource, exchange.target.subresource);
  const Subresource::Verb* const verb = part == nullptr ? nullptr : part->Find(VerbOf(exchange.request.method));
  if (verb == nullptr) return MethodNotAllowed();
  return (this->*verb->handle)(exchange);
}

ApiServer::WatchAnswer ServerCore::StartWatch(const kube::Request& request, const Caller& caller,
                                              kube::Client::OnFrames on_frames, kube::Client::OnEnd on_end) {
  const auto refuse = [](const Refusal& refusal) {
    return ApiServer::WatchAnswer{nullptr, refusal.ToResponse(), "application/json"};
  };
  if (Objection objection = Authorize(request, caller)) return refuse(*objection);
  Outcome<Exchange> exchange = Open(request, caller);
  if (!exchange.ok()) return refuse(exchange.refusal());
  const Target& target = exchange->target;
  if (request.method == "GET" && target.subresource == "log")
    return FollowLog(*exchange, std::move(on_frames), std::move(on_end));
  if (request.method != "GET" || !target.subresource.empty()) return refuse(MethodNotAllowed());
  Outcome<ListOptions> options = ParseListOptions(exchange->query, target);
  if (!options.ok()) return refuse(options.refusal());
  Outcome<schemas::IncludeObject> include = ParseInclude(*exchange);
  if (!include.ok()) return refuse(include.refusal());
  for (const auto& requirement : options->fields.requirements()) {
    if (!HasFieldLabel(*target.resource, requirement.field)) {
      return refuse(BadRequest(absl::StrCat("field label not supported: ", requirement.field)));
    }
  }
  WatchSpec spec{.resource = target.resource,
                 .ns = target.ns,
                 .labels = std::move(options->labels),
                 .fields = std::move(options->fields),
                 .bookmarks = options->bookmarks,
                 .timeout = options->timeout,
                 .representation = exchange->representation,
                 .include = *include,
                 .managed_fields = caller.managed_fields,
                 .from = std::nullopt,
                 .error = std::nullopt,
                 .bookmark_rest = exchange->representation == schemas::Representation::kObject
                                      ? BookmarkRest(*schemas_.For(*target.resource))
                                      : ""};
  const Revision revision = options->revision.value_or(0);
  if (options->initial_events == true) {
    spec.mark_initial_end = spec.bookmarks;
  } else if (revision > 0 || options->initial_events == false) {
    spec.from = revision > 0 ? revision : store_.revision();
    if (*spec.from < store_.compacted_revision()) {
      // The stream is opened first, and then it says so.
      spec.error =
          Expired(absl::StrCat("too old resource version: ", *spec.from, " (", store_.compacted_revision() + 1, ")"))
              .ToJson();
    }
  }
  return {watches_.Start(std::move(spec), std::move(on_frames), std::move(on_end)), std::nullopt, "application/json"};
}

}  // namespace gangway::sandbox
