#include "tests/e2e/installed_gangway.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/status_macros.h"
#include "tests/e2e/installed_webhook.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr char kFile[] = GW_SOURCE_DIR "/deploy/volcano/gangway.yaml";

std::string SshBinding(const std::string& ns) {
  return absl::StrCat(
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: "
      "gangway-controller-ssh, namespace: ",
      ns, R"(},
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: gangway-controller-ssh},
      subjects: [{kind: ServiceAccount, name: gangway-controller, namespace: gangway-system}]})");
}

// The first that a rule allows; `ns` empty: everywhere.
absl::Status AwaitRight(ControlPlane& plane, const json::value& account, const std::string& ns,
                        const json::object& rule) {
  const auto first = [&](const char* field) {
    const json::value* const list = rule.if_contains(field);
    return list == nullptr ? std::string() : json::value_to<std::string>(list->at(0));
  };
  const std::pair<std::string, std::string> resource = absl::StrSplit(first("resources"), absl::MaxSplits('/', 1));
  const json::value review = {
      {"apiVersion", "authorization.k8s.io/v1"},
      {"kind", "SubjectAccessReview"},
      {"spec",
       {{"user", absl::StrCat("system:serviceaccount:", api::AbslView(account.at("namespace").as_string()), ":",
                              api::AbslView(account.at("name").as_string()))},
        {"resourceAttributes",
         {{"namespace", ns},
          {"verb", first("verbs")},
          {"group", first("apiGroups")},
          {"resource", resource.first},
          {"subresource", resource.second},
          {"name", first("resourceNames")}}}}}};
  std::string answer;
  const bool allowed = Eventually([&] {
    answer = *plane.Call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", api::ToJson(review)).body;
    const auto parsed = api::ParseJson(answer);
    boost::system::error_code error;
    const json::value* const yes = parsed.ok() ? parsed->find_pointer("/status/allowed", error) : nullptr;
    return yes != nullptr && *yes == true;
  });
  return allowed ? absl::OkStatus() : absl::DeadlineExceededError(absl::StrCat("is not allowed: ", answer));
}

}  // namespace

absl::StatusOr<std::unique_ptr<InstalledGangway>> InstalledGangway::Start(InstalledGangwayOptions options) {
  std::unique_ptr<InstalledGangway> gangway(new InstalledGangway);
  gangway->options_ = options;
  ControlPlaneOptions plane;
  plane.kwok = options.kwok;
  plane.audit = options.audit;
  plane.node_lifecycle = options.node_lifecycle;
  plane.workloads = options.workloads;
  plane.api_server_flags = options.api_server_flags;
  plane.volcano_types = options.volcano_types;
  GW_ASSIGN_OR_RETURN(gangway->plane_, ControlPlane::Start(std::move(plane)));
  GW_RETURN_IF_ERROR(gangway->plane_->CreateNodes(options.nodes));
  GW_RETURN_IF_ERROR(gangway->Install());
  if (options.start) {
    gangway->StartBoth();
    GW_RETURN_IF_ERROR(gangway->WaitReady());
    if (options.webhook)
      GW_RETURN_IF_ERROR(InstallWebhook(*gangway->plane_, gangway->plane_->folder() + "/controller-1.log"));
  }
  return gangway;
}

absl::Status InstalledGangway::Install() {
  const std::string text = ReadFile(kFile);
  GW_RETURN_IF_ERROR(plane_->Create(text));
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadManifest(text, kFile));
  for (const api::ManifestDocument& document : documents) {
    if (document.kind != "Deployment") continue;
    GW_ASSIGN_OR_RETURN(const boost::json::value deployment, api::ParseJson(document.json));
    const auto& container = deployment.at("spec").at("template").at("spec").at("containers").at(0);
    std::vector<std::string> args;
    for (const auto& arg : container.at("args").as_array()) args.emplace_back(arg.as_string());
    const std::string command = args.front();
    args.erase(args.begin());
    // The addresses are a test's own.
    std::erase_if(args, [](const std::string& arg) {
      return absl::StartsWith(arg, "--health-addr") || absl::StartsWith(arg, "--metrics-addr");
    });
    arguments_[command] = std::move(args);
    GW_ASSIGN_OR_RETURN(kubeconfigs_[command],
                        plane_->KubeconfigForServiceAccount("gangway-system", "gangway-" + command));
  }
  if (!arguments_.contains("scheduler") || !arguments_.contains("controller")) {
    return absl::NotFoundError(
        absl::StrCat(kFile, ": there should be Deployments of gangway scheduler and gangway controller"));
  }
  return AwaitRights(*plane_, text);
}

std::unique_ptr<GangwayProcess> InstalledGangway::StartProcess(const std::string& command,
                                                               const std::vector<std::string>& flags) {
  std::vector<std::string> all = arguments_[command];
  all.insert(all.end(), options_.flags.begin(), options_.flags.end());
  all.insert(all.end(), flags.begin(), flags.end());
  return std::make_unique<GangwayProcess>(plane_->folder(), absl::StrCat(command, "-", ++started_), command,
                                          kubeconfigs_[command], all, options_.program);
}

void InstalledGangway::ReachThrough(const std::string& url) {
  for (const auto& [command, kubeconfig] : kubeconfigs_)
    WriteFile(kubeconfig, absl::StrReplaceAll(ReadFile(kubeconfig), {{plane_->url(), url}}));
}

void InstalledGangway::StartBoth() {
  std::vector<std::string> flags = options_.webhook ? WebhookFlags(*plane_) : std::vector<std::string>{};
  flags.insert(flags.end(), options_.controller_flags.begin(), options_.controller_flags.end());
  controller_ = StartProcess("controller", flags);
  scheduler_ = StartProcess("scheduler");
}

void InstalledGangway::StopBoth() {
  controller_->process().Stop();
  scheduler_->process().Stop();
}

void InstalledGangway::KillBoth() {
  controller_.reset();
  scheduler_.reset();
}

absl::Status InstalledGangway::WaitReady() {
  const bool ready = controller_->WaitReady() && scheduler_->WaitReady() && Eventually([&] {
                       return absl::StrContains(*plane_->Call("GET", api::PathOf(api::kQueues, "", "default")).body,
                                                R"("state":"Open")");
                     });
  return ready ? absl::OkStatus() : absl::DeadlineExceededError(absl::StrCat("gangway did not become ready\n", Logs()));
}

std::string InstalledGangway::Logs() const {
  return absl::StrCat(controller_ == nullptr ? "" : controller_->Log(), scheduler_ == nullptr ? "" : scheduler_->Log());
}

absl::Status GiveSshRights(ControlPlane& plane, const std::string& ns) { return plane.Create(SshBinding(ns), ns); }

absl::Status AwaitRights(ControlPlane& plane, const std::string& manifest) {
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadManifest(manifest, "manifest"));
  std::map<std::string, json::value> roles;  // by kind and name
  std::vector<json::value> bindings;
  for (const api::ManifestDocument& document : documents) {
    if (!absl::StartsWith(document.api_version, "rbac.authorization.k8s.io/")) continue;
    GW_ASSIGN_OR_RETURN(json::value object, api::ParseJson(document.json));
    if (absl::EndsWith(document.kind, "Binding")) {
      bindings.push_back(std::move(object));
    } else {
      roles[absl::StrCat(document.kind, "/", document.name)] = std::move(object);
    }
  }
  for (const json::value& binding : bindings) {
    const auto role = roles.find(
        absl::StrCat(api::TextAt(binding, {"roleRef", "kind"}), "/", api::TextAt(binding, {"roleRef", "name"})));
    if (role == roles.end()) continue;  // somebody else's
    for (const json::value& account : binding.at("subjects").as_array()) {
      for (const json::value& rule : role->second.at("rules").as_array()) {
        GW_RETURN_IF_ERROR(
            AwaitRight(plane, account, api::TextAt(binding, {"metadata", "namespace"}), rule.as_object()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status AwaitSshRights(ControlPlane& plane, const std::string& ns) {
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadManifest(ReadFile(kFile), kFile));
  for (const api::ManifestDocument& document : documents) {
    if (document.name == "gangway-controller-ssh")
      return AwaitRights(plane, absl::StrCat(document.json, "\n---\n", SshBinding(ns)));
  }
  return absl::NotFoundError(absl::StrCat(kFile, ": there should be a ClusterRole gangway-controller-ssh"));
}

}  // namespace gangway::testutil
