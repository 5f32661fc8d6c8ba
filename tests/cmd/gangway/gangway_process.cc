#include "tests/cmd/gangway/gangway_process.h"

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

kube::Response Ask(const std::string& server, kube::Request request) {
  LoopThread thread;
  Owner owner;
  kube::Connection connection;
  connection.server = server;
  auto client = kube::HttpClient::Make(thread.loop(), connection);
  GW_CHECK(client.ok());
  Inbox<absl::StatusOr<kube::Response>> answers;
  (*client)->Send(std::move(request), owner.token(),
                  [&](absl::StatusOr<kube::Response> reply) { answers.Put(std::move(reply)); });
  auto answer = answers.Take();
  client->reset();
  thread.Join();
  kube::Response none;
  none.body = MakeBytes("");
  return answer.has_value() && answer->ok() ? **std::move(answer) : none;
}

// What follows `mark` up to a quote, a space or the end of the line, the last time it stands there.
std::string After(const std::string& text, const std::string& mark) {
  const std::size_t found = text.rfind(mark);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + mark.size();
  const std::size_t end = text.find_first_of("\" \n", begin);
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

}  // namespace

kube::Response Get(const std::string& url, const std::string& path) { return Ask(url, {"GET", path, "", "", "", ""}); }

ApiServerProcess::ApiServerProcess(const std::string& folder, std::vector<std::string> flags)
    : kubeconfig_(folder + "/kubeconfig") {
  std::vector<std::string> argv = {GW_GANGWAY, "sandbox", "--kubeconfig", kubeconfig_, "--quiet"};
  if (std::find(flags.begin(), flags.end(), "--components") == flags.end())
    argv.insert(argv.end(), {"--components", "apiserver,kubelets"});
  argv.insert(argv.end(), flags.begin(), flags.end());
  const std::string log = folder + "/sandbox.log";
  process_.emplace(argv, log);
  GW_CHECK(Eventually([&] {
    url_ = After(ReadFile(log), "API server at ");
    return !url_.empty() && Get(url_, "/readyz").code == 200;
  }));
}

ApiServerProcess::~ApiServerProcess() { process_->Stop(); }

int ApiServerProcess::port() const { return std::stoi(url_.substr(url_.rfind(':') + 1)); }

kube::Response ApiServerProcess::Call(const std::string& method, const std::string& path, const std::string& body,
                                      const std::string& content_type) const {
  return Ask(url_, {method, path, "", content_type, "", body});
}

void ApiServerProcess::Apply(const std::string& file) const {
  const auto documents = api::ReadManifest(ReadFile(file), file);
  GW_CHECK(documents.ok());
  for (const api::ManifestDocument& document : *documents) {
    const api::Resource* const resource = api::FindKind(document.api_version, document.kind);
    GW_CHECK(resource != nullptr);
    GW_CHECK(Call("POST", api::PathOf(*resource, document.ns.empty() ? "default" : document.ns), document.json).code ==
             201);
  }
}

std::string ApiServerProcess::PhaseOf(const std::string& path) const {
  const kube::Response reply = Call("GET", path);
  const auto object = api::ParseJson(*reply.body);
  if (!object.ok() || !object->is_object()) return "";
  for (const char* pointer : {"/status/state/phase", "/status/phase"}) {
    boost::system::error_code error;
    const boost::json::value* const phase = object->find_pointer(pointer, error);
    if (phase != nullptr && phase->is_string()) return std::string(phase->as_string());
  }
  return "";
}

GangwayProcess::GangwayProcess(const std::string& folder, const std::string& name, std::vector<std::string> arguments)
    : log_(absl::StrCat(folder, "/", name, ".log")) {
  arguments.insert(arguments.begin(), GW_GANGWAY);
  arguments.insert(arguments.end(), {"--health-addr=127.0.0.1:0", "--log-format=json", "--log-level=debug"});
  process_.emplace(arguments, log_);
}

std::string GangwayProcess::url() const { return After(log(), "\"what\":\"health\",\"url\":\""); }

std::string GangwayProcess::Page(const std::string& path) const {
  const std::string at = url();
  return at.empty() ? "" : std::string(*Get(at, path).body);
}

}  // namespace gangway::testutil
