#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/core/pod_checks.h"
#include "api/name.h"

namespace gangway::api::core {
namespace {

constexpr std::int64_t kMaxPort = 65535;

// Which of these members are present.
std::vector<absl::string_view> Present(const Place& object, std::initializer_list<absl::string_view> keys) {
  std::vector<absl::string_view> present;
  for (const absl::string_view key : keys) {
    if (object[key].present()) present.push_back(key);
  }
  return present;
}

void CheckListOfStrings(const Place& list) {
  if (list.present())
    list.ForEachItem([](const Place& item, std::size_t) { item.present() ? void(item.Text()) : item.Required(); });
}

// Printable ASCII without '=' (Kubernetes 1.34).
void CheckEnvName(const Place& name) {
  const absl::string_view text = name.RequiredText("every environment variable needs a name");
  for (const char c : text) {
    if (c < ' ' || c > '~' || c == '=')
      return name.Invalid("must consist of printable ASCII characters other than '='");
  }
}

void CheckFieldRef(const Place& ref) {
  const Place path = ref["fieldPath"];
  const absl::string_view text = path.RequiredText();
  if (text.empty() || absl::StartsWith(text, "metadata.labels['") || absl::StartsWith(text, "metadata.annotations['"))
    return;
  path.OneOf({"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
              "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"});
}

void CheckKeyRef(const Place& ref) {
  const Place key = ref["key"];
  if (const absl::string_view text = key.RequiredText(); !text.empty()) key.Complain(CheckConfigMapKey(text));
  ref["name"].RequiredText();
}

void CheckValueFrom(const Place& variable) {
  const Place from = variable["valueFrom"];
  if (!from.IsObject()) return;
  const auto sources = Present(from, {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"});
  if (sources.empty()) {
    return from.Invalid(
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`");
  }
  if (sources.size() > 1)
    return from.Invalid(absl::StrCat("may not have more than one source, but has ", absl::StrJoin(sources, ", ")));
  if (!variable["value"].Text().value_or("").empty()) from.Invalid("may not be specified when `value` is not empty");
  const Place source = from[sources[0]];
  if (!source.IsObject()) return;
  if (sources[0] == "fieldRef") CheckFieldRef(source);
  if (sources[0] == "resourceFieldRef") source["resource"].RequiredText();
  if (sources[0] == "configMapKeyRef" || sources[0] == "secretKeyRef") CheckKeyRef(source);
}

void CheckEnv(const Place& container) {
  if (const Place env = container["env"]; env.present()) {
    env.ForEachItem([](const Place& variable, std::size_t) {
      if (!variable.present()) return variable.Required();
      if (!variable.IsObject()) return;
      CheckEnvName(variable["name"]);
      variable["value"].Text();
      if (variable["valueFrom"].present()) CheckValueFrom(variable);
    });
  }
  if (const Place from = container["envFrom"]; from.present()) {
    from.ForEachItem([](const Place& source, std::size_t) {
      const auto kinds = Present(source, {"configMapRef", "secretRef"});
      if (kinds.size() != 1) return source.Invalid("must specify one of: `configMapRef` or `secretRef`");
      const Place ref = source[kinds[0]];
      ref["name"].RequiredText();
    });
  }
}

void CheckPort(const Place& port, Names& names, PodContext& pod) {
  if (!port.present()) return port.Required();
  if (!port.IsObject()) return;
  if (const Place name = port["name"]; !name.Text().value_or("").empty()) {
    if (!IsPortName(*name.Text())) {
      name.Invalid(
          "must be at most 15 lower case letters, digits or '-', with at least one letter, and neither begin nor end "
          "with '-'");
    } else if (!names.emplace(*name.Text()).second) {
      name.Duplicate();
    }
  }
  const Place number = port["containerPort"];
  if (number.Integer().value_or(0) == 0) {
    number.Required();
  } else {
    number.Within(1, kMaxPort);
  }
  port["protocol"].OneOf({"TCP", "UDP", "SCTP"});
  const Place host_port = port["hostPort"];
  const std::int64_t host = host_port.Integer().value_or(0);
  if (host == 0) return;
  host_port.Within(1, kMaxPort);
  if (pod.host_network && host != number.Integer().value_or(0))
    number.Invalid("must match `hostPort` when `hostNetwork` is true");
  const std::string key =
      absl::StrCat(port["protocol"].Text().value_or("TCP"), "/", port["hostIP"].Text().value_or(""), "/", host);
  if (!pod.host_ports.insert(key).second) host_port.Duplicate();
}

void CheckPorts(const Place& ports, bool init, PodContext& pod) {
  if (!ports.present()) return;
  Names names;
  PodContext own;  // an init container's ports are free again when it has ended
  own.host_network = pod.host_network;
  ports.ForEachItem([&](const Place& port, std::size_t) { CheckPort(port, names, init ? own : pod); });
}

void CheckSubPath(const Place& path) {
  const absl::string_view text = path.Text().value_or("");
  if (absl::StartsWith(text, "/")) path.Invalid("must be a relative path");
  for (const absl::string_view part : absl::StrSplit(text, '/')) {
    if (part == "..") return path.Invalid("must not contain '..'");
  }
}

void CheckMounts(const Place& container, const PodContext& pod) {
  const auto check_name = [&pod](const Place& name) {
    const absl::string_view text = name.RequiredText();
    if (!text.empty() && !pod.volumes.contains(text)) {
      name.Add(FieldError::Type::kNotFound, "the pod has no volume of this name", "add it to `volumes`");
    }
  };
  Names paths;
  if (const Place mounts = container["volumeMounts"]; mounts.present()) {
    mounts.ForEachItem([&](const Place& mount, std::size_t) {
      if (!mount.present()) return mount.Required();
      if (!mount.IsObject()) return;
      check_name(mount["name"]);
      const Place path = mount["mountPath"];
      if (const absl::string_view text = path.RequiredText(); !text.empty() && !paths.emplace(text).second) {
        path.Invalid("must be unique");
      }
      CheckSubPath(mount["subPath"]);
      CheckSubPath(mount["subPathExpr"]);
      if (!mount["subPath"].Text().value_or("").empty() && !mount["subPathExpr"].Text().value_or("").empty()) {
        mount["subPathExpr"].Invalid("subPathExpr and subPath are mutually exclusive");
      }
      mount["mountPropagation"].OneOf({"None", "HostToContainer", "Bidirectional"});
    });
  }
  if (const Place devices = container["volumeDevices"]; devices.present()) {
    devices.ForEachItem([&](const Place& device, std::size_t) {
      check_name(device["name"]);
      const Place path = device["devicePath"];
      if (const absl::string_view text = path.RequiredText(); !text.empty() && !paths.emplace(text).second) {
        path.Invalid("must be unique");
      }
    });
  }
}

void CheckTargetPort(const Place& port) {
  if (!port.present()) return port.Required();
  if (port.json().is_string()) {
    if (!IsPortName(*port.Text())) port.Invalid("must be a port's number or name");
    return;
  }
  port.Within(1, kMaxPort);
}

// exec, httpGet, tcpSocket, and grpc or sleep.
void CheckHandler(const Place& handler, absl::string_view fourth) {
  const auto kinds = Present(handler, {"exec", "httpGet", "tcpSocket", fourth});
  if (kinds.empty()) return handler.Required("must specify a handler type: exec, httpGet or tcpSocket");
  if (kinds.size() > 1) {
    return handler.Forbidden(
        absl::StrCat("may not specify more than one handler type, but has ", absl::StrJoin(kinds, ", ")));
  }
  const Place action = handler[kinds[0]];
  if (!action.IsObject()) return;
  if (kinds[0] == "exec" && action["command"].size() == 0) action["command"].Required();
  if (kinds[0] == "httpGet" || kinds[0] == "tcpSocket") CheckTargetPort(action["port"]);
  if (kinds[0] == "grpc") action["port"].Within(1, kMaxPort);
  if (kinds[0] == "httpGet") action["scheme"].OneOf({"HTTP", "HTTPS"});
}

void CheckProbes(const Place& container, bool ordinary_init) {
  for (const absl::string_view key : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Place probe = container[key];
    if (!probe.IsObject()) continue;
    if (ordinary_init) {
      probe.Forbidden("may not be set for init containers without restartPolicy=Always");
      continue;
    }
    CheckHandler(probe, "grpc");
    for (const absl::string_view number :
         {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
      probe[number].Within(0, INT32_MAX);
    }
    if (key != "readinessProbe" && probe["successThreshold"].Integer().value_or(1) > 1)
      probe["successThreshold"].Invalid("must be 1");
  }
  const Place lifecycle = container["lifecycle"];
  if (!lifecycle.IsObject()) return;
  if (ordinary_init) return lifecycle.Forbidden("may not be set for init containers without restartPolicy=Always");
  for (const absl::string_view key : {"postStart", "preStop"}) {
    if (const Place handler = lifecycle[key]; handler.IsObject()) CheckHandler(handler, "sleep");
  }
}

void CheckImage(const Place& image) {
  const absl::string_view text = image.RequiredText("every container needs an image");
  if (absl::StripAsciiWhitespace(text) != text) image.Invalid("must not have leading or trailing whitespace");
}

void CheckContainer(const Place& container, bool init, PodContext& pod) {
  if (!container.present()) return container.Required();
  if (!container.IsObject()) return;
  const Place name = container["name"];
  if (const absl::string_view text = name.RequiredText("every container needs a name"); !text.empty()) {
    name.Complain(CheckDns1123Label(text));
    if (!pod.container_names.emplace(text).second) name.Duplicate();
  }
  CheckImage(container["image"]);
  container["imagePullPolicy"].OneOf({"Always", "IfNotPresent", "Never"});
  container["terminationMessagePolicy"].OneOf({"File", "FallbackToLogsOnError"});
  container["restartPolicy"].OneOf({"Always", "OnFailure", "Never"});
  CheckListOfStrings(container["command"]);
  CheckListOfStrings(container["args"]);
  CheckPorts(container["ports"], init, pod);
  CheckEnv(container);
  if (const Place resources = container["resources"]; resources.present())
    CheckResources(resources, /*pod_level=*/false);
  CheckMounts(container, pod);
  CheckProbes(container, init && container["restartPolicy"].Text().value_or("") != "Always");
}

}  // namespace

bool IsPortName(absl::string_view text) {
  bool letter = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    letter = letter || absl::ascii_islower(c);
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-') return false;
    if (c == '-' && i > 0 && text[i - 1] == '-') return false;
  }
  return letter && text.size() <= 15 && text.front() != '-' && text.back() != '-';
}

void CheckContainers(const Place& containers, bool init, PodContext& pod) {
  if (!containers.present()) return;
  containers.ForEachItem([&](const Place& container, std::size_t) { CheckContainer(container, init, pod); });
}

}  // namespace gangway::api::core
