#include "tests/e2e/installed_webhook.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/status_macros.h"
#include "kube/client/status.h"

namespace gangway::testutil {
namespace {

// In the line about the webhook.
std::string WebhookUrl(const std::string& log) {
  const std::string mark = R"("what":"webhook","url":")";
  const std::size_t found = log.find(mark), at = found + mark.size();
  return found == std::string::npos ? "" : log.substr(at, log.find('"', at) - at);
}

}  // namespace

std::vector<std::string> WebhookFlags(const ControlPlane& plane) {
  const Identity server({.common_name = "gangway-webhook", .alternative_names = "IP:127.0.0.1"}, &plane.ca());
  const std::string base = plane.folder() + "/webhook";
  WriteFile(base + ".crt", server.CertificatePem());
  WriteFile(base + ".key", server.KeyPem());
  return {"--webhook=127.0.0.1:0", "--webhook-tls-cert=" + base + ".crt", "--webhook-tls-key=" + base + ".key"};
}

absl::Status InstallWebhook(ControlPlane& plane, const std::string& log) {
  const std::string file = GW_SOURCE_DIR "/deploy/volcano/components/webhook/webhook.yaml";
  GW_ASSIGN_OR_RETURN(const auto documents, api::ReadManifest(ReadFile(file), file));
  const std::string url = WebhookUrl(ReadFile(log));
  if (url.empty()) return absl::NotFoundError(absl::StrCat(log, ": tells of no webhook"));
  for (const api::ManifestDocument& document : documents) {
    if (document.kind == "Service") continue;
    GW_ASSIGN_OR_RETURN(boost::json::value configuration, api::ParseJson(document.json));
    boost::json::object& webhook = configuration.at("webhooks").at(0).as_object();
    const std::string path(webhook["clientConfig"].at("service").at("path").as_string());
    webhook["clientConfig"] = {{"url", url + path}, {"caBundle", absl::Base64Escape(plane.ca().CertificatePem())}};
    webhook["failurePolicy"] = "Fail";
    const bool mutates = document.kind == "MutatingWebhookConfiguration";
    const std::string collection = absl::StrCat("/apis/admissionregistration.k8s.io/v1/",
                                                mutates ? "mutating" : "validating", "webhookconfigurations");
    const kube::Response reply = plane.Call("POST", collection, api::ToJson(configuration));
    if (!reply.ok()) return kube::StatusFromResponse(reply);
  }
  // The API server asks once its cache knows of the configurations: then a job in no queue is refused, and a queue gets
  // its defaults.
  const auto dry_run = [&](const api::Resource& resource, const std::string& ns, const std::string& object) {
    return plane.Call("POST", api::PathOf(resource, ns), object, "application/json", "dryRun=All");
  };
  const bool asks = Eventually([&] {
    return dry_run(
               api::kJobs, "default",
               R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"probe"},"spec":{"queue":"nowhere",)"
               R"("tasks":[{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})")
                   .code == 400 &&
           absl::StrContains(
               *dry_run(
                    api::kQueues, "",
                    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"probe"},"spec":{}})")
                    .body,
               "\"dequeueStrategy\"");
  });
  return asks ? absl::OkStatus() : absl::DeadlineExceededError("the API server does not ask the webhook");
}

}  // namespace gangway::testutil
