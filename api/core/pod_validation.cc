#include "api/core/pod_validation.h"

#include <cstdint>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/core/json_place.h"
#include "api/core/pod_checks.h"
#include "api/name.h"

namespace gangway::api::core {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;

void CheckNameField(const Place& name, Complaints (*check)(absl::string_view)) {
  const std::optional<absl::string_view> text = name.Text();
  if (text.has_value() && !text->empty()) name.Complain(check(*text));
}

// What one container asks of a resource; what it is limited to where it asks for nothing.
std::optional<Quantity> RequestOf(const Place& container, absl::string_view resource) {
  FieldErrors told_elsewhere;
  const Place resources = container["resources"];
  for (const absl::string_view list : {"requests", "limits"}) {
    const Place amounts = resources[list];
    if (!amounts.present() || !amounts.json().is_object()) continue;
    const Place amount = amounts[resource];
    if (amount.present()) return Place(amount.json(), "", told_elsewhere).Amount();
  }
  return std::nullopt;
}

// A pod's own requests must cover its containers'.
void CheckPodLevelResources(const Place& spec) {
  const Place resources = spec["resources"];
  if (!resources.present()) return;
  CheckResources(resources, /*pod_level=*/true);
  const Place requests = resources["requests"];
  for (const absl::string_view resource : {"cpu", "memory"}) {
    const Place request = requests[resource];
    if (!request.present()) continue;
    FieldErrors told_elsewhere;
    const std::optional<Quantity> own = Place(request.json(), "", told_elsewhere).Amount();
    Quantity sum;
    const Place containers = spec["containers"];
    if (!own.has_value() || !containers.present() || !containers.json().is_array()) continue;
    containers.ForEachItem([&](const Place& container, std::size_t) {
      sum = sum.Plus(RequestOf(container, resource).value_or(Quantity())).value_or(sum);
    });
    if (*own < sum) {
      request.Invalid(
          absl::StrCat("must be greater than or equal to aggregate container requests of ", sum.ToString()));
    }
  }
}

void CheckDns(const Place& spec) {
  const Place policy = spec["dnsPolicy"];
  policy.OneOf({"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  if (policy.present() && policy.json().is_string() && *policy.Text() == "None") {
    const Place config = spec["dnsConfig"];
    if (!config.present()) return config.Required("must be given when `dnsPolicy` is None");
    if (config["nameservers"].size() == 0) config["nameservers"].Required("must be given when `dnsPolicy` is None");
  }
}

void CheckNames(const Place& spec) {
  CheckNameField(spec["hostname"], CheckDns1123Label);
  CheckNameField(spec["subdomain"], CheckDns1123Label);
  CheckNameField(spec["serviceAccountName"], CheckDns1123Subdomain);
  CheckNameField(spec["priorityClassName"], CheckDns1123Subdomain);
  CheckNameField(spec["nodeName"], CheckDns1123Subdomain);
  CheckNameField(spec["runtimeClassName"], CheckDns1123Subdomain);
  spec["schedulerName"].Text();
  if (const Place secrets = spec["imagePullSecrets"]; secrets.present()) {
    secrets.ForEachItem([](const Place& secret, std::size_t) {
      if (secret.IsObject()) secret["name"].RequiredText();
    });
  }
  if (const Place gates = spec["schedulingGates"]; gates.present()) {
    Names seen;
    gates.ForEachItem([&](const Place& gate, std::size_t) {
      const Place name = gate["name"];
      const absl::string_view text = name.RequiredText();
      if (text.empty()) return;
      name.Complain(CheckQualifiedName(text));
      if (!seen.emplace(text).second) name.Duplicate();
    });
  }
}

void CheckSpec(const Place& spec) {
  if (!spec.present()) return spec["containers"].Required("a pod needs at least one container");
  if (!spec.IsObject()) return;
  PodContext pod;
  pod.host_network = spec["hostNetwork"].Bool().value_or(false);
  const Place volumes = spec["volumes"];
  if (volumes.present()) pod.volumes = CheckVolumes(volumes);
  const Place containers = spec["containers"];
  if (!containers.present() || (containers.json().is_array() && containers.size() == 0)) {
    containers.Required("a pod needs at least one container");
  } else {
    CheckContainers(containers, /*init=*/false, pod);
  }
  CheckContainers(spec["initContainers"], /*init=*/true, pod);
  if (spec["ephemeralContainers"].size() > 0) spec["ephemeralContainers"].Forbidden("cannot be set on create");
  spec["restartPolicy"].OneOf({"Always", "OnFailure", "Never"});
  spec["preemptionPolicy"].OneOf({"Never", "PreemptLowerPriority"});
  spec["terminationGracePeriodSeconds"].Within(0, INT64_MAX);
  spec["activeDeadlineSeconds"].Within(1, INT32_MAX);
  CheckDns(spec);
  CheckNames(spec);
  CheckPlacement(spec);
  CheckPodLevelResources(spec);
}

void CheckMetadata(const Place& metadata) {
  if (!metadata.IsObject()) return;
  const Place labels = metadata["labels"];
  CheckLabels(labels);
  const Place annotations = metadata["annotations"];
  if (!annotations.present()) return;
  std::size_t bytes = 0;
  annotations.ForEachMember([&](const Place& annotation, absl::string_view key) {
    for (const std::string& complaint : CheckQualifiedName(key))
      annotation.Invalid(absl::StrCat("the key is not valid: ", complaint));
    bytes += key.size() + annotation.Text().value_or("").size();
  });
  if (bytes > kMaxAnnotationBytes) {
    metadata.errors().push_back({FieldError::Type::kTooLong, annotations.Path(), "",
                                 absl::StrCat("may not be more than ", kMaxAnnotationBytes, " bytes"), ""});
  }
}

}  // namespace

FieldErrors CheckPodTemplate(const boost::json::value& pod_template, absl::string_view path) {
  FieldErrors errors;
  const Place root(pod_template, path, errors);
  if (root.present() && !root.IsObject()) return errors;
  const Place metadata = root["metadata"];
  CheckMetadata(metadata);
  const Place spec = root["spec"];
  CheckSpec(spec);
  return errors;
}

FieldErrors CheckPodSpec(const boost::json::value& spec, absl::string_view path) {
  FieldErrors errors;
  CheckSpec(Place(spec, path, errors));
  return errors;
}

void CheckLabelsAndAnnotations(const boost::json::value& metadata, absl::string_view path, FieldErrors& errors) {
  CheckMetadata(Place(metadata, path, errors));
}

}  // namespace gangway::api::core
