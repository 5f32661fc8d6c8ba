#include "sandbox/apiserver/webhooks.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "base/strings.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/refusal.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

constexpr absl::string_view kConditionNames[] = {"object", "oldObject", "request"};

bool Has(const std::vector<std::string>& list, absl::string_view text) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& each) { return each == "*" || each == text; });
}

api::LabelSelector SelectorIn(const json::object& webhook, absl::string_view name) {
  const json::object* const selector = FindObject(webhook, name);
  if (selector == nullptr) return {};
  absl::StatusOr<api::LabelSelector> read = api::LabelSelector::FromJson(api::ToJson(json::value(*selector)));
  return read.ok() ? *std::move(read) : api::LabelSelector::Nothing();
}

Webhook ReadWebhook(const json::object& in, absl::string_view configuration, bool mutates) {
  Webhook out;
  out.mutates = mutates;
  out.configuration = std::string(configuration);
  out.name = std::string(FindText(in, "name"));
  out.url = std::string(TextAt(in, "clientConfig.url"));
  out.service_namespace = std::string(TextAt(in, "clientConfig.service.namespace"));
  out.service_name = std::string(TextAt(in, "clientConfig.service.name"));
  out.service_path = std::string(TextAt(in, "clientConfig.service.path"));
  out.service_port = static_cast<int>(IntAt(in, "clientConfig.service.port", 443));
  absl::Base64Unescape(TextAt(in, "clientConfig.caBundle"), &out.ca);
  const json::array* const rules = FindArray(in, "rules");
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    const json::object* const rule = (*rules)[i].if_object();
    if (rule == nullptr) continue;
    out.rules.push_back({TextsIn(*rule, "apiGroups"), TextsIn(*rule, "apiVersions"), TextsIn(*rule, "resources"),
                         TextsIn(*rule, "operations"), std::string(FindText(*rule, "scope"))});
  }
  out.equivalent = FindText(in, "matchPolicy") != "Exact";
  out.ignore_failures = FindText(in, "failurePolicy") == "Ignore";
  out.reinvoked = FindText(in, "reinvocationPolicy") == "IfNeeded";
  const std::vector<std::string> versions = TextsIn(in, "admissionReviewVersions");
  out.speaks_v1 = std::find(versions.begin(), versions.end(), "v1") != versions.end();
  out.timeout = absl::Seconds(IntAt(in, "timeoutSeconds", 10));
  out.namespaces = SelectorIn(in, "namespaceSelector");
  out.objects = SelectorIn(in, "objectSelector");
  const json::array* const conditions = FindArray(in, "matchConditions");
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const json::object* const condition = (*conditions)[i].if_object();
    if (condition == nullptr) continue;
    auto expression = cel::Expression::Parse(FindText(*condition, "expression"), kConditionNames);
    if (expression.ok())  // it was judged when it was stored
      out.conditions.push_back({std::string(FindText(*condition, "name")), *std::move(expression)});
  }
  return out;
}

void ReadAll(const Store& store, const api::Resource& resource, bool mutates, std::vector<Webhook>& out) {
  out.clear();
  store.Scan(resource, {}, nullptr, [&](const RecordPtr& record) {
    const Draft configuration = Draft::OfStored(*record->json);
    const json::array* const webhooks = FindArray(configuration.object(), "webhooks");
    for (std::size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
      if ((*webhooks)[i].is_object())
        out.push_back(ReadWebhook((*webhooks)[i].get_object(), record->key.name, mutates));
    }
    return true;
  });
}

bool ResourceMatches(const std::vector<std::string>& resources, const Admission& what) {
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& each) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(each, absl::MaxSplits('/', 1));
    return (parts.first == "*" || parts.first == View(what.resource->plural)) &&
           (parts.second == "*" || parts.second == what.subresource);
  });
}

// --- what may be stored

void AddInvalid(FieldErrors& errors, const std::string& field, absl::string_view value, absl::string_view rule) {
  AddError(errors, FieldError::Type::kInvalid, field, api::JsonString(value), rule);
}
void AddRequired(FieldErrors& errors, const std::string& field, absl::string_view rule) {
  AddError(errors, FieldError::Type::kRequired, field, "", rule);
}
void AddUnsupported(FieldErrors& errors, const std::string& field, absl::string_view value, absl::string_view known) {
  AddError(errors, FieldError::Type::kNotSupported, field, api::JsonString(value),
           absl::StrCat("supported values: ", known));
}

// k8s.io/apiserver: webhook.ValidateWebhookURL
void CheckUrl(absl::string_view url, const std::string& field, FieldErrors& errors) {
  constexpr absl::string_view kForm = "; desired format: https://host[/path]";
  absl::string_view rest = url;
  if (!absl::ConsumePrefix(&rest, "https://"))
    return AddInvalid(errors, field, url, absl::StrCat("'https' is the only allowed URL scheme", kForm));
  const absl::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty()) AddInvalid(errors, field, url, absl::StrCat("host must be specified", kForm));
  if (absl::StrContains(host, "@"))
    AddInvalid(errors, field, url, absl::StrCat("user information is not permitted in the URL", kForm));
  if (absl::StrContains(url, "#"))
    AddInvalid(errors, field, url, absl::StrCat("fragments are not permitted in the URL", kForm));
  if (absl::StrContains(url, "?"))
    AddInvalid(errors, field, url, absl::StrCat("query parameters are not permitted in the URL", kForm));
}

void CheckClient(const json::object& webhook, const std::string& path, FieldErrors& errors) {
  const std::string client = absl::StrCat(path, ".clientConfig");
  const json::value* const url = FindPath(webhook, "clientConfig.url");
  const json::value* const service = FindPath(webhook, "clientConfig.service");
  if ((url == nullptr) == (service == nullptr))
    return AddRequired(errors, client, "exactly one of url or service is required");
  if (url != nullptr) return CheckUrl(TextAt(webhook, "clientConfig.url"), absl::StrCat(client, ".url"), errors);
  for (const absl::string_view field : {"name", "namespace"}) {
    if (TextAt(webhook, absl::StrCat("clientConfig.service.", field)).empty())
      AddRequired(errors, absl::StrCat(client, ".service.", field), absl::StrCat("service ", field, " is required"));
  }
  const std::int64_t port = IntAt(webhook, "clientConfig.service.port", 443);
  if (port < 1 || port > 65535) {
    AddError(errors, FieldError::Type::kInvalid, absl::StrCat(client, ".service.port"), absl::StrCat(port),
             "port is not valid: must be between 1 and 65535, inclusive");
  }
}

void CheckOne(const json::object& webhook, const std::string& path, FieldErrors& errors) {
  const absl::string_view name = FindText(webhook, "name");
  if (name.empty()) {
    AddRequired(errors, absl::StrCat(path, ".name"), "");
  } else if (std::count(name.begin(), name.end(), '.') < 2 || !api::CheckDns1123Subdomain(name).empty()) {
    AddInvalid(errors, absl::StrCat(path, ".name"), name,
               "should be a domain with at least three segments separated by dots");
  }
  CheckClient(webhook, path, errors);
  const absl::string_view effects = FindText(webhook, "sideEffects");
  if (effects != "None" && effects != "NoneOnDryRun")
    AddUnsupported(errors, absl::StrCat(path, ".sideEffects"), effects, R"("None", "NoneOnDryRun")");
  if (TextsIn(webhook, "admissionReviewVersions").empty())
    AddRequired(errors, absl::StrCat(path, ".admissionReviewVersions"), "must specify one of v1, v1beta1");
  if (const std::int64_t seconds = IntAt(webhook, "timeoutSeconds", 10); seconds < 1 || seconds > 30) {
    AddError(errors, FieldError::Type::kInvalid, absl::StrCat(path, ".timeoutSeconds"), absl::StrCat(seconds),
             "the timeout value must be between 1 and 30 seconds");
  }
}

void CheckRules(const json::object& webhook, const std::string& path, FieldErrors& errors) {
  const json::array* const rules = FindArray(webhook, "rules");
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    const json::object* const rule = (*rules)[i].if_object();
    if (rule == nullptr) continue;
    const std::string at = absl::StrCat(path, ".rules[", i, "]");
    for (const absl::string_view list : {"apiGroups", "apiVersions", "resources", "operations"}) {
      const std::vector<std::string> texts = TextsIn(*rule, list);
      if (texts.empty()) AddRequired(errors, absl::StrCat(at, ".", list), "");
      if (list == "resources") continue;
      if (texts.size() > 1 && std::find(texts.begin(), texts.end(), "*") != texts.end()) {
        AddError(errors, FieldError::Type::kInvalid, absl::StrCat(at, ".", list), api::ToJson(rule->at(JsonView(list))),
                 "if '*' is present, must not specify other values");
      }
    }
  }
}

void CheckConditions(const json::object& webhook, const std::string& path, FieldErrors& errors) {
  const json::array* const conditions = FindArray(webhook, "matchConditions");
  if (conditions == nullptr) return;
  if (conditions->size() > 64) {
    return AddError(errors, FieldError::Type::kTooMany, absl::StrCat(path, ".matchConditions"),
                    absl::StrCat(conditions->size()), "must have at most 64 items");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < conditions->size(); ++i) {
    const json::object* const condition = (*conditions)[i].if_object();
    if (condition == nullptr) continue;
    const std::string at = absl::StrCat(path, ".matchConditions[", i, "]");
    const absl::string_view name = FindText(*condition, "name"), text = FindText(*condition, "expression");
    if (name.empty()) AddRequired(errors, absl::StrCat(at, ".name"), "");
    if (!name.empty() && !names.insert(std::string(name)).second)
      AddError(errors, FieldError::Type::kDuplicate, absl::StrCat(at, ".name"), api::JsonString(name), "");
    if (text.empty()) {
      AddRequired(errors, absl::StrCat(at, ".expression"), "");
    } else if (const auto read = cel::Expression::Parse(text, kConditionNames); !read.ok()) {
      AddInvalid(errors, absl::StrCat(at, ".expression"), text,
                 absl::StrCat("compilation failed: ", read.status().message()));
    }
  }
}

}  // namespace

bool RulesMatch(const Webhook& webhook, const Admission& what, absl::string_view version) {
  return std::any_of(webhook.rules.begin(), webhook.rules.end(), [&](const WebhookRule& rule) {
    const bool scope =
        rule.scope.empty() || rule.scope == "*" || (rule.scope == "Namespaced") == what.resource->namespaced;
    return scope && Has(rule.operations, what.operation) && Has(rule.groups, View(what.resource->group)) &&
           Has(rule.versions, version) && ResourceMatches(rule.resources, what);
  });
}

void Webhooks::Read(const Store& store) {
  ReadAll(store, api::kMutatingWebhookConfigurations, true, mutating_);
  ReadAll(store, api::kValidatingWebhookConfigurations, false, validating_);
}

void CheckWebhooks(const json::object& configuration, FieldErrors& errors) {
  const json::array* const webhooks = FindArray(configuration, "webhooks");
  std::set<std::string> names;
  for (std::size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
    const json::object* const webhook = (*webhooks)[i].if_object();
    if (webhook == nullptr) continue;
    const std::string path = absl::StrCat("webhooks[", i, "]");
    CheckOne(*webhook, path, errors);
    CheckRules(*webhook, path, errors);
    CheckConditions(*webhook, path, errors);
    const std::string name(FindText(*webhook, "name"));
    if (!name.empty() && !names.insert(name).second)
      AddError(errors, FieldError::Type::kDuplicate, absl::StrCat(path, ".name"), api::JsonString(name), "");
  }
}

}  // namespace gangway::sandbox
