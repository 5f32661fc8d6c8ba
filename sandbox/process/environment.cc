#include "sandbox/process/environment.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

std::string* FindValue(Environment& environment, absl::string_view name) {
  const auto it =
      std::find_if(environment.begin(), environment.end(), [&](const auto& each) { return each.first == name; });
  return it == environment.end() ? nullptr : &it->second;
}

const std::string* FindValue(const Environment& environment, absl::string_view name) {
  return FindValue(const_cast<Environment&>(environment), name);
}

void SetValue(Environment& environment, const std::string& name, std::string value) {
  if (std::string* const known = FindValue(environment, name)) {
    *known = std::move(value);
  } else {
    environment.emplace_back(name, std::move(value));
  }
}

// metadata.labels as the downward API writes them into a file: one a line, the value in quotes.
std::string MapAsText(const std::map<std::string, std::string>& map) {
  std::string out;
  for (const auto& [key, value] : map) absl::StrAppend(&out, out.empty() ? "" : "\n", key, "=", api::JsonString(value));
  return out;
}

// The KEY of PREFIX['KEY'].
std::optional<std::string> Subscript(absl::string_view path, absl::string_view prefix) {
  if (!absl::ConsumePrefix(&path, prefix) || !absl::ConsumePrefix(&path, "['") || !absl::ConsumeSuffix(&path, "']"))
    return std::nullopt;
  return std::string(path);
}

std::string ValueIn(const std::map<std::string, std::string>& map, const std::string& key) {
  const auto it = map.find(key);
  return it == map.end() ? std::string() : it->second;
}

const api::Quantity* FindQuantity(const api::ResourceList& list, const std::string& name) {
  const auto it = list.find(name);
  return it == list.end() ? nullptr : &it->second;
}

// Of a whole config map or secret; a key that cannot be a name is passed over.
void AddAll(const SourceObject& object, bool secret, const std::string& prefix, Environment& out) {
  std::set<std::string> keys;
  for (const auto* const data : {&object.data, &object.binary_data}) {
    if (data == &object.binary_data && !secret) continue;  // a config map's are no text
    for (const auto& [key, value] : *data) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const std::string name = prefix + key;
    if (!name.empty() && !absl::StrContains(name, '=')) SetValue(out, name, ValueOf(object, key, secret));
  }
}

// Of what a kubelet's container runtime says when the kernel does.
absl::Status TooLong(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": argument list too long: a program takes ", kMaxArguments, " bytes; put them into a file"));
}

absl::Status CheckSize(const Environment& environment, absl::string_view what) {
  std::size_t size = 0;
  for (const auto& [name, value] : environment) size += name.size() + value.size() + 2;  // "NAME=value" and its end
  return size <= kMaxArguments ? absl::OkStatus() : TooLong(what);
}

absl::StatusOr<std::optional<std::string>> FromSource(const PodKnowledge& facts, const HostedContainer& container,
                                                      const EnvVarSource& source) {
  if (source.field) {
    GW_ASSIGN_OR_RETURN(std::string value, FieldOf(facts, source.field->field_path));
    return std::optional<std::string>(std::move(value));
  }
  if (source.resource) {
    GW_ASSIGN_OR_RETURN(std::string value, ResourceOf(facts, container, *source.resource));
    return std::optional<std::string>(std::move(value));
  }
  const bool secret = source.secret.has_value();
  const std::optional<SourceKey>& wanted = secret ? source.secret : source.config_map;
  if (!wanted) return std::optional<std::string>("");
  const SourceObject* const object =
      secret ? facts.sources.secret(wanted->name) : facts.sources.config_map(wanted->name);
  if (object == nullptr || !object->Has(wanted->key)) return std::optional<std::string>();  // optional: left out
  return std::optional<std::string>(ValueOf(*object, wanted->key, secret));
}

}  // namespace

const HostedContainer* FindContainer(const HostedPod& pod, absl::string_view name) {
  for (const auto* const containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const HostedContainer& each : *containers)
      if (each.name == name) return &each;
  }
  return nullptr;
}

std::string ExpandReferences(absl::string_view text,
                             const std::function<const std::string*(absl::string_view name)>& find) {
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() <= kMaxArguments; ++at) {
    if (text[at] != '$' || at + 1 == text.size()) {
      out.push_back(text[at]);
      continue;
    }
    const char next = text[at + 1];
    const std::size_t end = next == '(' ? text.find(')', at + 2) : absl::string_view::npos;
    if (next == '$') {
      out.push_back('$');
      ++at;
    } else if (end != absl::string_view::npos) {
      const absl::string_view name = text.substr(at + 2, end - at - 2);
      const std::string* const value = find(name);
      value == nullptr ? absl::StrAppend(&out, "$(", name, ")") : absl::StrAppend(&out, *value);
      at = end;
    } else {
      out.push_back('$');
    }
  }
  return out;
}

absl::StatusOr<std::string> FieldOf(const PodKnowledge& facts, absl::string_view path) {
  const api::ObjectMeta& meta = facts.pod.metadata;
  if (path == "metadata.name") return meta.name;
  if (path == "metadata.namespace") return meta.ns;
  if (path == "metadata.uid") return meta.uid;
  if (path == "metadata.labels") return MapAsText(meta.labels);
  if (path == "metadata.annotations") return MapAsText(meta.annotations);
  if (const auto key = Subscript(path, "metadata.labels")) return ValueIn(meta.labels, *key);
  if (const auto key = Subscript(path, "metadata.annotations")) return ValueIn(meta.annotations, *key);
  if (path == "spec.nodeName") return facts.pod.spec.node_name;
  if (path == "spec.serviceAccountName") {
    const std::string& account = facts.pod.spec.service_account_name;
    return account.empty() ? std::string("default") : account;
  }
  if (path == "status.podIP" || path == "status.podIPs") return facts.pod_ip;
  if (path == "status.hostIP" || path == "status.hostIPs") return facts.host_ip;
  return absl::InvalidArgumentError(absl::StrCat("unsupported fieldPath: ", path));
}

absl::StatusOr<std::string> ResourceOf(const PodKnowledge& facts, const HostedContainer& container,
                                       const ResourceSelector& selector) {
  const HostedContainer* const of =
      selector.container.empty() ? &container : FindContainer(facts.pod, selector.container);
  if (of == nullptr) return absl::InvalidArgumentError(absl::StrCat("container ", selector.container, " not found"));
  absl::string_view name = selector.resource;
  const bool limit = absl::ConsumePrefix(&name, "limits.");
  if (!limit && !absl::ConsumePrefix(&name, "requests."))
    return absl::InvalidArgumentError(absl::StrCat("unsupported container resource: ", selector.resource));
  const std::string resource(name);
  const api::Quantity* value = FindQuantity(limit ? of->resources.limits : of->resources.requests, resource);
  if (value == nullptr && limit && facts.allocatable != nullptr) value = FindQuantity(*facts.allocatable, resource);
  if (value == nullptr) return std::string("0");
  const api::Quantity one = api::Quantity::FromUnits(1);
  const api::Quantity divisor = selector.divisor && !selector.divisor->zero() ? *selector.divisor : one;
  const bool fine = resource == "cpu";  // in thousandths, or an eighth of a core would be a whole one
  GW_ASSIGN_OR_RETURN(const std::int64_t amount, fine ? value->Milli() : value->Units());
  GW_ASSIGN_OR_RETURN(const std::int64_t unit, fine ? divisor.Milli() : divisor.Units());
  return absl::StrCat(amount / unit + (amount % unit != 0 ? 1 : 0));
}

std::string ValueOf(const SourceObject& object, const std::string& key, bool secret) {
  const auto text = object.data.find(key);
  const bool binary = text == object.data.end();
  const auto it = binary ? object.binary_data.find(key) : text;
  if (binary && it == object.binary_data.end()) return "";
  const auto value = api::ParseJson(it->second.json);
  if (!value.ok() || !value->is_string()) return "";
  std::string out(value->get_string());
  if (!secret && !binary) return out;
  std::string bytes;
  return absl::Base64Unescape(out, &bytes) ? bytes : std::string();
}

absl::StatusOr<Environment> EnvironmentOf(const PodKnowledge& facts, const HostedContainer& container) {
  Environment declared;
  for (const EnvFromSource& source : container.env_from) {
    const bool secret = source.secret.has_value();
    const std::optional<SourceKey>& wanted = secret ? source.secret : source.config_map;
    if (!wanted) continue;
    const SourceObject* const object =
        secret ? facts.sources.secret(wanted->name) : facts.sources.config_map(wanted->name);
    if (object != nullptr) AddAll(*object, secret, source.prefix, declared);
    GW_RETURN_IF_ERROR(CheckSize(declared, absl::StrCat("envFrom ", wanted->name)));
  }
  static const Environment kNone;
  const Environment& services = facts.services == nullptr ? kNone : *facts.services;
  const auto find = [&](absl::string_view name) -> const std::string* {
    const std::string* const own = FindValue(declared, name);
    return own != nullptr ? own : FindValue(services, name);
  };
  for (const EnvVar& variable : container.env) {
    if (!variable.value_from) {
      SetValue(declared, variable.name, ExpandReferences(variable.value, find));
      GW_RETURN_IF_ERROR(CheckSize(declared, absl::StrCat("env ", variable.name)));
      continue;
    }
    auto value = FromSource(facts, container, *variable.value_from);
    if (!value.ok()) {
      return absl::Status(value.status().code(), absl::StrCat("env ", variable.name, ": ", value.status().message()));
    }
    if (value->has_value()) SetValue(declared, variable.name, **std::move(value));
    GW_RETURN_IF_ERROR(CheckSize(declared, absl::StrCat("env ", variable.name)));
  }
  for (const auto& [name, value] : services)
    if (FindValue(declared, name) == nullptr) SetValue(declared, name, value);
  return declared;
}

Environment ApiServerEnvironment(absl::string_view ip, int port) {
  const std::string number = absl::StrCat(port), url = absl::StrCat("tcp://", ip, ":", port);
  const std::string prefix = absl::StrCat("KUBERNETES_PORT_", number, "_TCP");
  return {{"KUBERNETES_SERVICE_HOST", std::string(ip)},
          {"KUBERNETES_SERVICE_PORT", number},
          {"KUBERNETES_SERVICE_PORT_HTTPS", number},
          {"KUBERNETES_PORT", url},
          {prefix, url},
          {prefix + "_PROTO", "tcp"},
          {prefix + "_PORT", number},
          {prefix + "_ADDR", std::string(ip)}};
}

Environment Over(Environment image, Environment declared) {
  for (auto& [name, value] : declared) SetValue(image, name, std::move(value));
  return image;
}

absl::StatusOr<std::vector<std::string>> CommandLineOf(const HostedContainer& container, const Environment& declared) {
  const auto find = [&](absl::string_view name) -> const std::string* {
    for (const auto& [known, value] : declared)
      if (known == name) return &value;
    return nullptr;
  };
  std::vector<std::string> out;
  std::size_t size = 0;
  for (const auto* const words : {&container.command, &container.args}) {
    for (const std::string& word : *words) {
      size += out.emplace_back(ExpandReferences(word, find)).size() + 1;
      if (size > kMaxArguments) return TooLong("command and args");
    }
  }
  return out;
}

}  // namespace gangway::sandbox
