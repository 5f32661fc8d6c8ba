// Admission webhooks of a request: which are asked, in which order, and what becomes of their answers.
// k8s.io/apiserver: pkg/admission/plugin/webhook.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/cluster_resources.h"
#include "api/duration.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/schemas/json_patch.h"
#include "base/log.h"
#include "sandbox/apiserver/admission_review.h"
#include "sandbox/apiserver/admission_talk.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/apiserver/webhooks.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// What the answers are not there for yet; nobody sees it.
Refusal Waits() { return {.code = 503, .reason = "ServiceUnavailable", .message = "webhooks are being asked"}; }

bool MatchesLabels(const api::LabelSelector& selector, const json::object* object) {
  static const json::object kNone;
  const json::value* const labels = object == nullptr ? nullptr : FindPath(*object, "metadata.labels");
  const json::object& map = labels == nullptr || !labels->is_object() ? kNone : labels->get_object();
  std::string value;
  return selector.MatchesWith([&](const std::string& key) -> const std::string* {
    const json::value* const found = map.if_contains(key);
    if (found == nullptr || !found->is_string()) return nullptr;
    value = std::string(AbslView(found->get_string()));
    return &value;
  });
}

json::object OptionsOf(const kube::Request& request) {
  absl::string_view kind = "DeleteOptions";
  if (request.method == "POST") kind = "CreateOptions";
  if (request.method == "PUT") kind = "UpdateOptions";
  if (request.method == "PATCH") kind = "PatchOptions";
  json::object out{{"kind", JsonView(kind)}, {"apiVersion", "meta.k8s.io/v1"}};
  Outcome<Query> query = Query::Parse(request.query);
  if (!query.ok()) return out;
  if (!query->All("dryRun").empty()) out["dryRun"] = json::array{"All"};
  for (const absl::string_view field : {"fieldManager", "fieldValidation", "propagationPolicy"}) {
    if (const absl::string_view value = query->Get(field); !value.empty()) out[JsonView(field)] = JsonView(value);
  }
  if (query->Flag("force")) out["force"] = true;
  return out;
}

std::string UrlOf(const WebhookCall& call) { return absl::StrCat(call.server, call.path, "?", call.query); }

}  // namespace

// One request that has to do with webhooks.
struct ServerCore::Asking {
  Asking(Loop& loop, kube::Request r, const Caller& c, ApiServer::Respond f)
      : request(std::move(r)), talk(loop, c), respond(std::move(f)) {}
  const kube::Request request;
  AdmissionTalk talk;
  ApiServer::Respond respond;
  std::size_t awaited = 0;
};

void ServerCore::Serve(kube::Request request, const Caller& caller, ApiServer::Respond respond) {
  if (webhooks_.empty() || webhook_calls_ == nullptr || request.method == "GET" || request.method == "HEAD") {
    std::vector<Bytes> more;
    kube::Response response = Handle(request, caller, &more);
    return respond(std::move(response), std::move(more));
  }
  Run(std::make_shared<Asking>(loop_, std::move(request), caller, std::move(respond)));
}

void ServerCore::Run(const std::shared_ptr<Asking>& asking) {
  std::vector<Bytes> more;
  asking->talk.BeginRun();
  talk_ = &asking->talk;
  talk_request_ = &asking->request;
  talk_warnings_.clear();
  kube::Response response = Handle(asking->request, asking->talk.caller(), &more);
  talk_ = nullptr;
  std::move(talk_warnings_.begin(), talk_warnings_.end(), std::back_inserter(response.warnings));
  if (!asking->talk.waits()) return asking->respond(std::move(response), std::move(more));
  if (asking->talk.out_of_time()) {
    const Refusal late{.code = 504,
                       .reason = "Timeout",
                       .message = "Timeout: request did not complete within requested timeout",
                       .generic = true};
    return asking->respond(late.ToResponse(), {});
  }
  std::vector<AdmissionTalk::Question*> open = asking->talk.TakeOpen();
  asking->awaited = open.size();
  for (AdmissionTalk::Question* const question : open) {
    webhook_calls_(question->call,
                   [this, asking, question, alive = owner_.token()](absl::StatusOr<kube::Response> answer) {
                     if (alive.expired()) return;
                     question->answer = std::move(answer);
                     if (--asking->awaited == 0) loop_.Post(owner_.token(), [this, asking] { Run(asking); });
                   });
  }
}

bool ServerCore::HasOwnAdmission(const api::Resource& resource) {
  return api::RowOf(resource).origin == api::Origin::kVolcano;
}

bool ServerCore::AsksWebhooks(const api::Resource& resource) const {
  // A webhook that forbids to change webhooks could never be got rid of.
  return talk_ != nullptr && &resource != &api::kMutatingWebhookConfigurations &&
         &resource != &api::kValidatingWebhookConfigurations;
}

// The version in which this webhook is asked; null: it is not.
const api::Resource* ServerCore::AskedAs(const Webhook& webhook, const Admission& what) {
  if (RulesMatch(webhook, what, View(what.resource->version))) return what.resource;
  if (!webhook.equivalent || !what.other_kind.empty()) return nullptr;
  const api::Resource* found = nullptr;
  served_.ForEach([&](const api::KindRow& row) {
    const bool same = row.resource->group == what.resource->group && row.resource->plural == what.resource->plural;
    if (found == nullptr && same && RulesMatch(webhook, what, View(row.resource->version))) found = row.resource;
  });
  return found;
}

bool ServerCore::SelectorsMatch(const Webhook& webhook, const Admission& what, const json::object* object,
                                const json::object* old) {
  if (!webhook.objects.selects_everything() && !MatchesLabels(webhook.objects, object) &&
      (old == nullptr || !MatchesLabels(webhook.objects, old)))
    return false;
  if (webhook.namespaces.selects_everything()) return true;
  if (what.resource == &api::kNamespaces) return MatchesLabels(webhook.namespaces, object != nullptr ? object : old);
  if (!what.resource->namespaced) return true;
  const RecordPtr ns = store_.Find(api::kNamespaces, {"", std::string(what.ns)});
  return ns != nullptr && Selects(webhook.namespaces, {}, *ns);
}

Outcome<WebhookCall> ServerCore::CallOf(const Webhook& webhook) {
  WebhookCall call;
  call.ca = webhook.ca;
  call.timeout = webhook.timeout;
  call.query = absl::StrCat("timeout=", absl::ToInt64Seconds(webhook.timeout), "s");
  if (!webhook.url.empty()) {
    const std::size_t path = webhook.url.find('/', sizeof("https://") - 1);
    call.server = webhook.url.substr(0, path);
    call.path = path == std::string::npos ? "/" : webhook.url.substr(path);
    return call;
  }
  const std::string host = absl::StrCat(webhook.service_name, ".", webhook.service_namespace, ".svc");
  call.path =
      absl::StartsWith(webhook.service_path, "/") ? webhook.service_path : absl::StrCat("/", webhook.service_path);
  call.server = absl::StrCat("https://", host, ":", webhook.service_port);
  absl::StatusOr<std::string> address =
      ResolveService(webhook.service_namespace, webhook.service_name, webhook.service_port);
  if (!address.ok()) {
    return ServerError(absl::StrCat("failed calling webhook ", api::JsonString(webhook.name),
                                    ": failed to call webhook: Post ", api::JsonString(UrlOf(call)), ": ",
                                    address.status().message()));
  }
  call.server = absl::StrCat("https://", *address);
  call.tls_server_name = host;
  return call;
}

// What is known of a service's address here: its Endpoints.
absl::StatusOr<std::string> ServerCore::ResolveService(absl::string_view ns, absl::string_view name, int port) {
  const api::NamespacedName key{std::string(ns), std::string(name)};
  const RecordPtr service = store_.Find(api::kServices, key);
  if (service == nullptr) return absl::NotFoundError(absl::StrCat("service ", api::JsonString(name), " not found"));
  const Draft definition = Draft::OfStored(*service->json);
  const json::value* const ports = FindPath(definition.object(), "spec.ports");
  const json::object* served = nullptr;
  for (std::size_t i = 0; ports != nullptr && ports->is_array() && i < ports->get_array().size(); ++i) {
    const json::object* const each = ports->get_array()[i].if_object();
    if (each != nullptr && IntAt(*each, "port", 0) == port) served = each;
  }
  if (served == nullptr)
    return absl::NotFoundError(absl::StrCat("no service port ", port, " found for service ", api::JsonString(name)));
  const absl::Status none =
      absl::UnavailableError(absl::StrCat("no endpoints available for service ", api::JsonString(name)));
  const RecordPtr record = store_.Find(api::kEndpoints, key);
  if (record == nullptr) return none;
  const Draft endpoints = Draft::OfStored(*record->json);
  const json::array* const subsets = FindArray(endpoints.object(), "subsets");
  for (std::size_t i = 0; subsets != nullptr && i < subsets->size(); ++i) {
    const json::object* const subset = (*subsets)[i].if_object();
    const json::array* const addresses = subset == nullptr ? nullptr : FindArray(*subset, "addresses");
    const json::array* const numbers = subset == nullptr ? nullptr : FindArray(*subset, "ports");
    if (addresses == nullptr || addresses->empty() || !(*addresses)[0].is_object() || numbers == nullptr) continue;
    for (const json::value& each : *numbers) {
      if (!each.is_object() || FindText(each.get_object(), "name") != FindText(*served, "name")) continue;
      const absl::string_view ip = FindText((*addresses)[0].get_object(), "ip");
      const bool six = absl::StrContains(ip, ":");
      return absl::StrCat(six ? "[" : "", ip, six ? "]" : "", ":", IntAt(each.get_object(), "port", 0));
    }
  }
  return none;
}

// What the conditions say: to be asked, not to be asked, or no answer.
Outcome<bool> ServerCore::ConditionsHold(const Webhook& webhook, const json::value& request, const json::value* object,
                                         const json::value* old) {
  const cel::Variables variables{{"object", object}, {"oldObject", old}, {"request", &request}};
  absl::Status wrong;
  for (const Webhook::Condition& condition : webhook.conditions) {
    const absl::StatusOr<bool> holds = condition.expression.Holds(variables);
    if (holds.ok() && !*holds) return false;
    if (!holds.ok()) {
      wrong.Update(absl::InvalidArgumentError(
          absl::StrCat("expression '", condition.name, "' resulted in error: ", holds.status().message())));
    }
  }
  if (wrong.ok()) return true;
  if (webhook.ignore_failures) return false;
  Refusal refusal =
      ServerError(absl::StrCat("failed calling webhook ", api::JsonString(webhook.name), ": ", wrong.message()));
  return refusal;
}

// nullopt: it has nothing to say, since it is not asked or its failure is ignored.
Outcome<std::optional<ReviewAnswer>> ServerCore::AskOne(const Webhook& webhook, const Admission& what,
                                                        const json::value* object, const json::value* old) {
  using Answer = std::optional<ReviewAnswer>;
  const api::Resource* const asked_as = AskedAs(webhook, what);
  const auto object_of = [](const json::value* value) { return value == nullptr ? nullptr : value->if_object(); };
  if (asked_as == nullptr || !SelectorsMatch(webhook, what, object_of(object), object_of(old))) return Answer();
  json::value request = ReviewRequest(what, *asked_as, UserOf(talk_->caller()), OptionsOf(*talk_request_));
  Outcome<bool> holds = ConditionsHold(webhook, request, object, old);
  if (!holds.ok()) return holds.refusal();
  if (!*holds) return Answer();
  Outcome<WebhookCall> call = CallOf(webhook);
  const auto failed = [&](Refusal refusal) -> Outcome<Answer> {
    if (!webhook.ignore_failures) return refusal;
    log::Warning("a webhook cannot be asked, as its failurePolicy allows",
                 {{"webhook", webhook.name}, {"why", refusal.message}});
    return Answer();
  };
  if (!call.ok()) return failed(call.refusal());
  const auto failed_call = [&](absl::string_view why) {
    return failed(ServerError(absl::StrCat("failed calling webhook ", api::JsonString(webhook.name), ": ", why)));
  };
  if (!webhook.speaks_v1) return failed_call("webhook does not accept known AdmissionReview versions (v1)");
  const auto write = [&](absl::string_view name, const json::value* value, std::string& out) {
    absl::StrAppend(&out, ",\"", name, "\":");
    if (value == nullptr || asked_as == what.resource) {
      out += value == nullptr ? "null" : api::ToJson(*value);
      return;
    }
    json::value converted = *value;
    SetText(converted.as_object(), "apiVersion", asked_as->ApiVersion());
    api::AppendJson(converted, out);
  };
  std::string rest = api::ToJson(request);
  rest = rest.substr(1, rest.size() - 2);
  write("object", object, rest);
  write("oldObject", old, rest);
  const std::string url = UrlOf(*call);
  const AdmissionTalk::Question& question = talk_->Ask(*std::move(call), rest, NewUid());
  if (!question.answer.has_value()) return Waits();
  if (!question.answer->ok()) {
    return failed_call(
        absl::StrCat("failed to call webhook: Post ", api::JsonString(url), ": ", question.answer->status().message()));
  }
  absl::StatusOr<ReviewAnswer> answer = ReadReviewAnswer(webhook, question.uid, **question.answer);
  if (!answer.ok()) return failed_call(answer.status().message());
  for (const std::string& warning : answer->warnings) talk_warnings_.push_back(warning);
  if (!answer->allowed) return answer->refused;
  return Answer(*std::move(answer));
}

// True when the webhook changes the object.
Outcome<bool> ServerCore::MutateBy(const Webhook& webhook, const Admission& what, Draft* object, const Draft* old) {
  Outcome<std::optional<ReviewAnswer>> answer =
      AskOne(webhook, what, object == nullptr ? nullptr : &object->root(), old == nullptr ? nullptr : &old->root());
  if (!answer.ok()) return answer.refusal();
  if (!answer->has_value() || (*answer)->patch.empty()) return false;
  if (object == nullptr) {
    return ServerError(absl::StrCat("admission webhook ", api::JsonString(webhook.name),
                                    " attempted to modify the object, which is not supported for this operation"));
  }
  absl::Status status = api::ParseCompletely((*answer)->patch);
  absl::StatusOr<Draft> patch = Draft::Parse(absl::StrCat("{\"patch\":", (*answer)->patch, "}"));
  if (status.ok()) status = patch.status();
  const Draft before = Draft::CopyOf(*object);
  if (status.ok()) status = schemas::ApplyJsonPatch(object->root(), patch->object()["patch"]);
  if (status.ok() && !object->root().is_object()) status = absl::InvalidArgumentError("the patch leaves no object");
  if (!status.ok()) return ServerError(status.message());
  SetText(object->object(), "apiVersion", TextAt(before.object(), "apiVersion"));  // it may have been asked in another
  return !Equal(object->root(), before.root());
}

Outcome<bool> ServerCore::MutateByWebhooks(const Admission& what, Draft* object, const Draft* old) {
  if (!AsksWebhooks(*what.resource)) return false;
  const absl::Span<const Webhook> all = webhooks_.mutating();
  int state = 0;  // counts the changes
  std::vector<int> seen(all.size());
  for (const bool again : {false, true}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      // In a second round those that want it, when somebody after them has changed something.
      if (again && (!all[i].reinvoked || seen[i] == state)) continue;
      Outcome<bool> changed = MutateBy(all[i], what, object, old);
      if (!changed.ok()) return changed.refusal();
      state += *changed ? 1 : 0;
      seen[i] = state;
    }
  }
  return state > 0;
}

Objection ServerCore::ValidateByWebhooks(const Admission& what, const Draft* object, const Draft* old) {
  if (!AsksWebhooks(*what.resource)) return std::nullopt;
  Objection first;
  // All are asked at once.
  for (const Webhook& webhook : webhooks_.validating()) {
    Outcome<std::optional<ReviewAnswer>> answer =
        AskOne(webhook, what, object == nullptr ? nullptr : &object->root(), old == nullptr ? nullptr : &old->root());
    if (!answer.ok() && !first.has_value()) first = answer.refusal();
  }
  return first;
}

// What a webhook made of an object is read as what a client sends, but nobody is told of fields that are not there.
Objection ServerCore::ReadMutated(const api::Resource& resource, const schemas::Schema& schema, absl::string_view name,
                                  Draft& draft) {
  const schemas::Findings findings = Check(draft.root(), schema);
  if (!findings.unreadable.empty()) return ServerError(findings.unreadable);
  if (!findings.errors.empty()) return Invalid(resource, name, findings.errors);
  Prune(draft.root(), schema);
  ApplyDefaults(draft.root(), schema);
  return std::nullopt;
}

const User& ServerCore::UserOf(const Caller& caller) {
  static const User& everyone =
      *new User{.name = "sandbox-user", .uid = {}, .groups = {"system:masters", "system:authenticated"}, .extra = {}};
  return caller.user == nullptr ? everyone : *caller.user;
}

}  // namespace gangway::sandbox
