#include "tests/e2e/control_plane.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "kube/client/http_client.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/status.h"

namespace gangway::testutil {
namespace {

constexpr char kCrds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string Tool(const std::string& name) {
  const char* const folder = std::getenv("GW_E2E_BIN");
  return absl::StrCat(folder != nullptr ? folder : GW_SOURCE_DIR "/build/e2e/bin", "/", name);
}

std::string AuditFile(const std::string& folder) { return folder + "/audit.log"; }

std::string Loopback(int port) { return absl::StrCat("127.0.0.1:", port); }

// The last lines of a log, for a message.
std::string Tail(const std::string& path) {
  const std::string text = ReadFile(path);
  return text.size() <= 3000 ? text : "..." + text.substr(text.size() - 3000);
}

// Where an object is created. Kinds that we have no table for are those of manifests: regular plurals, and no namespace
// means that there is none.
std::string CollectionOf(const api::ManifestDocument& document, const std::string& ns) {
  if (const api::Resource* const resource = api::FindKind(document.api_version, document.kind)) {
    return api::PathOf(*resource, !resource->namespaced ? ""
                                  : !ns.empty()         ? ns
                                  : document.ns.empty() ? "default"
                                                        : document.ns);
  }
  return absl::StrCat("/apis/", document.api_version,
                      document.ns.empty() ? "" : absl::StrCat("/namespaces/", document.ns), "/",
                      absl::AsciiStrToLower(document.kind), "s");
}

}  // namespace

ControlPlane::HeldPort::HeldPort() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int yes = 1;
  GW_CHECK(setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) == 0);
  GW_CHECK(setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  GW_CHECK(bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
  GW_CHECK(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  number_ = ntohs(address.sin_port);
}

ControlPlane::HeldPort::~HeldPort() { close(socket_); }

bool ControlPlane::ToolsPresent() {
  for (const char* const name : {"etcd", "kube-apiserver", "kube-controller-manager", "kwok"}) {
    if (!std::filesystem::exists(Tool(name))) return false;
  }
  return true;
}

int ControlPlane::Minor() {
  static const int minor = [] {
    const std::string said = RunProgram({Tool("kube-apiserver"), "--version"}).out;  // Kubernetes v1.36.1
    const std::vector<std::string> parts = absl::StrSplit(said, '.');
    int number = 0;
    GW_CHECK(parts.size() >= 2 && absl::SimpleAtoi(parts[1], &number));
    return number;
  }();
  return minor;
}

std::vector<std::string> ControlPlane::GangFlags() {
  if (Minor() < 36) return {};
  return {"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha2=true"};
}

ControlPlane::ControlPlane(ControlPlaneOptions options) : options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<ControlPlane>> ControlPlane::Start(ControlPlaneOptions options) {
  if (!ToolsPresent())
    return absl::NotFoundError("the programs of the control plane are not there: run scripts/e2e-tools");
  std::unique_ptr<ControlPlane> plane(new ControlPlane(std::move(options)));
  GW_RETURN_IF_ERROR(plane->StartAll());
  return plane;
}

ControlPlane::~ControlPlane() {
  // Backwards; nothing of it is needed any more, so nobody is given time to tidy up.
  admin_.reset();
  second_admin_.reset();
  loop_.Join();
  kwok_.reset();
  controller_manager_.reset();
  second_api_server_.reset();
  api_server_.reset();
  etcd_.reset();
}

std::string ControlPlane::url() const { return "https://" + Loopback(api_port_.number()); }
std::string ControlPlane::etcd_url() const { return "http://" + Loopback(etcd_port_.number()); }

kube::Connection ControlPlane::admin_connection() const {
  auto connection = kube::LoadKubeconfig(admin_kubeconfig());
  GW_CHECK(connection.ok());
  return *std::move(connection);
}

absl::Status ControlPlane::StartAll() {
  WriteCredentials();
  StartEtcd();
  GW_RETURN_IF_ERROR(StartApiServer());
  // Before the garbage collector looks at what there is: it does so only twice a minute.
  if (options_.volcano_crds) GW_RETURN_IF_ERROR(InstallCrds());
  if (options_.controller_manager) {
    StartControllerManager();
    GW_RETURN_IF_ERROR(WaitFor("/api/v1/namespaces/default/serviceaccounts/default", absl::Seconds(60),
                               &*controller_manager_, Log("kube-controller-manager"), *admin_));
  }
  if (options_.kwok) StartKwok();
  return absl::OkStatus();
}

void ControlPlane::WriteCredentials() {
  const Identity server(
      {.common_name = "kube-apiserver", .alternative_names = "IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc"},
      &ca_);
  const Identity tokens({.common_name = "service-accounts"}, nullptr);
  WriteFile(ca_file(), ca_.CertificatePem());
  WriteFile(folder() + "/server.crt", server.CertificatePem());
  WriteFile(folder() + "/server.key", server.KeyPem());
  WriteFile(folder() + "/tokens.key", tokens.KeyPem());
  WriteFile(folder() + "/tokens.pub", tokens.PublicKeyPem());
  std::filesystem::rename(KubeconfigForUser("admin", "system:masters"), admin_kubeconfig());
}

std::string ControlPlane::WriteKubeconfig(const std::string& name, const std::string& user) {
  const std::string path = absl::StrCat(folder(), "/", name, ".kubeconfig");
  WriteFile(path, absl::StrFormat(R"(apiVersion: v1
kind: Config
current-context: e2e
clusters:
- {name: e2e, cluster: {server: "%s", certificate-authority: "%s"}}
contexts:
- {name: e2e, context: {cluster: e2e, user: e2e, namespace: default}}
users:
- {name: e2e, user: {%s}}
)",
                                  url(), ca_file(), user));
  return path;
}

std::string ControlPlane::KubeconfigForUser(const std::string& user, const std::string& group,
                                            absl::Duration valid_for) {
  const Identity identity({.common_name = user, .organization = group, .valid_for = valid_for}, &ca_);
  const std::string base = absl::StrCat(folder(), "/user-", user);
  WriteFile(base + ".crt", identity.CertificatePem());
  WriteFile(base + ".key", identity.KeyPem());
  return WriteKubeconfig("user-" + user,
                         absl::StrFormat(R"(client-certificate: "%s.crt", client-key: "%s.key")", base, base));
}

absl::StatusOr<std::string> ControlPlane::ServiceAccountToken(const std::string& ns, const std::string& name,
                                                              int seconds) {
  const kube::Response reply =
      Call("POST", api::PathOf(api::kServiceAccounts, ns, name, "token"),
           absl::StrFormat(
               R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":%d}})",
               seconds));
  if (!reply.ok()) return kube::StatusFromResponse(reply);
  GW_ASSIGN_OR_RETURN(const boost::json::value body, api::ParseJson(*reply.body));
  return std::string(body.at("status").at("token").as_string());
}

absl::StatusOr<std::string> ControlPlane::KubeconfigForServiceAccount(const std::string& ns, const std::string& name) {
  GW_ASSIGN_OR_RETURN(const std::string token, ServiceAccountToken(ns, name));
  const std::string base = absl::StrCat("account-", ns, "-", name);
  WriteFile(absl::StrCat(folder(), "/", base, ".token"), token);
  return WriteKubeconfig(base, absl::StrFormat(R"(tokenFile: "%s/%s.token")", folder(), base));
}

void ControlPlane::StartEtcd() {
  const std::string peer = "http://" + Loopback(etcd_peer_port_.number());
  etcd_.emplace(
      std::vector<std::string>{Tool("etcd"), "--name=e2e", "--data-dir=" + folder() + "/etcd", "--unsafe-no-fsync",
                               "--log-level=error", "--socket-reuse-port=true", "--socket-reuse-address=true",
                               "--listen-client-urls=" + etcd_url(), "--advertise-client-urls=" + etcd_url(),
                               "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
                               "--initial-cluster=e2e=" + peer, "--quota-backend-bytes=4294967296"},
      Log("etcd"));
}

std::vector<std::string> ControlPlane::ApiServerArguments(int port) const {
  std::vector<std::string> argv{Tool("kube-apiserver"),
                                "--etcd-servers=" + etcd_url(),
                                "--bind-address=127.0.0.1",
                                absl::StrCat("--secure-port=", port),
                                "--permit-port-sharing=true",
                                "--tls-cert-file=" + folder() + "/server.crt",
                                "--tls-private-key-file=" + folder() + "/server.key",
                                "--client-ca-file=" + ca_file(),
                                "--service-account-issuer=https://kubernetes.default.svc",
                                "--service-account-key-file=" + folder() + "/tokens.pub",
                                "--service-account-signing-key-file=" + folder() + "/tokens.key",
                                "--service-cluster-ip-range=10.96.0.0/16",
                                "--authorization-mode=RBAC",
                                "--endpoint-reconciler-type=none",
                                "--disable-admission-plugins=TaintNodesByCondition,ServiceAccount",
                                "--max-requests-inflight=3000",
                                "--max-mutating-requests-inflight=1000",
                                "--allow-privileged=true",
                                "--profiling=false",
                                "--shutdown-delay-duration=0s"};
  if (options_.audit) {
    argv.insert(argv.end(), {"--audit-policy-file=" GW_SOURCE_DIR "/tests/e2e/audit-policy.yaml",
                             "--audit-log-path=" + AuditFile(folder()), "--audit-log-mode=blocking"});
  }
  argv.insert(argv.end(), options_.api_server_flags.begin(), options_.api_server_flags.end());
  return argv;
}

absl::StatusOr<std::unique_ptr<kube::HttpClient>> ControlPlane::AdminOf(int port) {
  kube::HttpClientOptions http;
  http.user_agent = "e2e-admin";
  http.connect_timeout = absl::Seconds(2);
  kube::Connection connection = admin_connection();
  connection.server = "https://" + Loopback(port);
  return kube::HttpClient::Make(loop_.loop(), std::move(connection), std::move(http));
}

absl::Status ControlPlane::StartApiServer() {
  api_server_.emplace(ApiServerArguments(api_port_.number()), Log("kube-apiserver"));
  if (admin_ == nullptr) {
    GW_ASSIGN_OR_RETURN(admin_, AdminOf(api_port_.number()));
  }
  return WaitFor("/readyz", absl::Seconds(90), &*api_server_, Log("kube-apiserver"), *admin_);
}

absl::Status ControlPlane::StartSecondApiServer() {
  second_api_server_.emplace(ApiServerArguments(second_port_.number()), Log("kube-apiserver-2"));
  if (second_admin_ == nullptr) {
    GW_ASSIGN_OR_RETURN(second_admin_, AdminOf(second_port_.number()));
  }
  return WaitFor("/readyz", absl::Seconds(90), &*second_api_server_, Log("kube-apiserver-2"), *second_admin_);
}

void ControlPlane::StopSecondApiServer(int signal) {
  second_api_server_->Signal(signal);
  second_api_server_->Wait();
}

void ControlPlane::StopApiServer(int signal) {
  api_server_->Signal(signal);
  api_server_->Wait();
}

void ControlPlane::StartControllerManager() {
  // Its own role may look at everything but delete nothing: without an account for each controller it needs more.
  controller_manager_.emplace(
      std::vector<std::string>{
          Tool("kube-controller-manager"),
          "--kubeconfig=" + KubeconfigForUser("system:kube-controller-manager", "system:masters"), "--secure-port=0",
          "--leader-elect=false", "--use-service-account-credentials=false",
          // By the names that they had before 1.28, which later releases know as well.
          "--controllers=garbagecollector,namespace,serviceaccount,serviceaccount-token,persistentvolume-binder,"
          "pv-protection,pvc-protection,disruption,podgc,root-ca-cert-publisher,clusterrole-aggregation" +
              std::string(!options_.node_lifecycle ? ""
                          : Minor() >= 29          ? ",nodelifecycle,taint-eviction-controller"
                                                   : ",nodelifecycle") +
              (options_.workloads ? ",deployment,replicaset,statefulset,job" : ""),
          "--service-account-private-key-file=" + folder() + "/tokens.key", "--root-ca-file=" + ca_file(),
          "--node-monitor-grace-period=24h", "--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-gc-syncs=20"},
      Log("kube-controller-manager"));
}

void ControlPlane::StartKwok() {
  kwok_.emplace(
      std::vector<std::string>{Tool("kwok"), "--kubeconfig=" + KubeconfigForUser("kwok", "system:masters"),
                               "--config=" GW_SOURCE_DIR "/tests/e2e/kwok/stages.yaml", "--manage-all-nodes=true",
                               "--node-lease-duration-seconds=0", "--server-address="},
      Log("kwok"));
}

absl::Status ControlPlane::InstallCrds() {
  std::vector<api::ManifestDocument> documents;
  for (const char* name : {"crds.yaml", "crds-paddle/paddlejobs.batch.paddlepaddle.org.yaml",
                           "crds-kubeflow/paddlejobs.kubeflow.org.yaml"}) {
    const std::string file = absl::StrCat(GW_SOURCE_DIR, "/deploy/volcano/", name);
    const bool other = documents.empty() && !options_.volcano_types.empty();
    GW_ASSIGN_OR_RETURN(std::vector<api::ManifestDocument> read,
                        api::ReadManifest(other ? options_.volcano_types : ReadFile(file), file));
    std::move(read.begin(), read.end(), std::back_inserter(documents));
  }
  for (const api::ManifestDocument& document : documents) {
    const kube::Response reply = Call("POST", kCrds, document.json);
    if (!reply.ok() && reply.code != 409) return kube::StatusFromResponse(reply);
  }
  for (const api::ManifestDocument& document : documents) {
    GW_ASSIGN_OR_RETURN(const boost::json::value crd, api::ParseJson(document.json));
    const auto& spec = crd.at("spec");
    for (const auto& version : spec.at("versions").as_array()) {
      const auto text = [](const boost::json::value& value) { return std::string(value.as_string()); };
      GW_RETURN_IF_ERROR(WaitFor(absl::StrCat("/apis/", text(spec.at("group")), "/", text(version.at("name")), "/",
                                              text(spec.at("names").at("plural"))),
                                 absl::Seconds(30), nullptr, Log("kube-apiserver"), *admin_));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<kube::Response> ControlPlane::Send(kube::Request request, kube::Client& client) {
  Inbox<absl::StatusOr<kube::Response>> inbox;
  Owner owner;
  client.Send(std::move(request), owner.token(),
              [&](absl::StatusOr<kube::Response> reply) { inbox.Put(std::move(reply)); });
  auto reply = inbox.Take();
  if (!reply) return absl::DeadlineExceededError("no answer");
  return *std::move(reply);
}

absl::Status ControlPlane::WaitFor(const std::string& path, absl::Duration patience, ChildProcess* process,
                                   const std::string& log, kube::Client& client) {
  const absl::Time until = absl::Now() + patience;
  std::string last;
  while (absl::Now() < until) {
    if (process != nullptr && process->Ended()) break;
    const absl::StatusOr<kube::Response> reply = Send({"GET", path, "", "", "", ""}, client);
    if (reply.ok() && reply->ok()) return absl::OkStatus();
    last = reply.ok() ? *reply->body : std::string(reply.status().message());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // there is nothing that would tell us
  }
  return absl::UnavailableError(absl::StrCat("GET ", path, " did not succeed: ", last, "\n", log, ":\n", Tail(log)));
}

kube::Response ControlPlane::Call(const std::string& method, const std::string& path, const std::string& body,
                                  const std::string& content_type, const std::string& query) {
  absl::StatusOr<kube::Response> reply = Send({method, path, query, content_type, "", body}, *admin_);
  if (!reply.ok())
    absl::FPrintF(stderr, "%s %s: %s\n%s\n", method, path, reply.status().ToString(), Tail(Log("kube-apiserver")));
  GW_CHECK(reply.ok());
  return *std::move(reply);
}

absl::Status ControlPlane::Create(const std::string& manifest, const std::string& ns) {
  GW_ASSIGN_OR_RETURN(const std::vector<api::ManifestDocument> documents, api::ReadManifest(manifest, "manifest"));
  for (const api::ManifestDocument& document : documents) {
    const kube::Response reply = Call("POST", CollectionOf(document, ns), document.json);
    if (!reply.ok() && reply.code != 409) return kube::StatusFromResponse(reply);
  }
  return absl::OkStatus();
}

std::string ControlPlane::AuditLog(std::size_t from) const {
  std::string text = ReadFile(AuditFile(folder()), from);
  text.resize(text.rfind('\n') + 1);  // without a line npos, and nothing is left
  return text;
}

absl::Status ControlPlane::CreateNodes(int count) {
  for (int i = 0; i < count; ++i) {
    const std::string resources = R"({"cpu":"16","memory":"64Gi","ephemeral-storage":"200Gi","pods":"110"})";
    const std::string name = absl::StrFormat("node-%03d", i);
    const std::string status = absl::StrFormat(
        R"("status":{"capacity":%s,"allocatable":%s,"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"","lastHeartbeatTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]})",
        resources, resources);
    const kube::Response reply = Call(
        "POST", api::PathOf(api::kNodes, ""),
        absl::StrFormat(
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"%s","labels":{"kubernetes.io/hostname":"%s"}},%s})",
            name, name, status));
    if (!reply.ok()) return kube::StatusFromResponse(reply);
  }
  return absl::OkStatus();
}

Outcome ControlPlane::Kubectl(std::vector<std::string> args, const std::string& input) const {
  args.insert(args.begin(), "kubectl");
  return RunProgram(args, {"KUBECONFIG=" + admin_kubeconfig(), "HOME=" + folder(), "KUBECTL_KUBERC=false"}, input);
}

}  // namespace gangway::testutil
