#include "cmd/completion/names.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/cluster_resources.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/paddle_resources.h"
#include "api/volcano/kinds.h"
#include "base/log.h"
#include "cmd/caller/api_caller.h"

namespace gangway::cmd {
namespace {

constexpr char kAtMost[] = "limit=500";

struct Place {
  const char* command;  // the first words: "job view"
  std::size_t before;   // words that stand before it already
  const api::Resource* resource;
  bool again;  // may be given several times
};
const Place kPlaces[] = {
    {"job view", 0, &api::kJobs, true},
    {"job suspend", 0, &api::kJobs, true},
    {"job resume", 0, &api::kJobs, true},
    {"job delete", 0, &api::kJobs, true},
    {"logs", 0, &api::kJobs, false},
    {"queue get", 0, &api::kQueues, false},
    {"queue operate", 0, &api::kQueues, false},
    {"import", 0, &api::paddle::kPaddleJobs, true},
};
struct FlagNames {
  const char* flag;
  const api::Resource* resource;
};
const FlagNames kFlags[] = {{"--namespace", &api::kNamespaces}, {"--queue", &api::kQueues}};
const FlagNames kExplained[] = {
    {"job", &api::kJobs}, {"podgroup", &api::kPodGroups}, {"pod", &api::kPods}, {"queue", &api::kQueues}};

// The value of a flag among the words, as "-n ads", "--namespace ads" or "--namespace=ads".
std::string ValueOf(const std::vector<std::string>& typed, const std::string& brief, const std::string& flag) {
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    if ((typed[i] == flag || typed[i] == brief) && i + 2 < typed.size()) return typed[i + 1];
    absl::string_view rest = typed[i];
    if (absl::ConsumePrefix(&rest, absl::StrCat(flag, "="))) return std::string(rest);
  }
  return "";
}

}  // namespace

Sought SoughtAt(const Completion& at) {
  Sought out;
  if (!at.flag.empty()) {
    const auto* const flag =
        std::find_if(std::begin(kFlags), std::end(kFlags), [&](const FlagNames& one) { return at.flag == one.flag; });
    if (flag != std::end(kFlags)) out.resource = flag->resource;
    out.files = out.resource == nullptr;
    return out;
  }
  const std::string command = absl::StrCat(at.commands.empty() ? "" : at.commands[0], at.commands.size() > 1 ? " " : "",
                                           at.commands.size() > 1 ? at.commands[1] : "");
  if (command == "explain") {
    for (const FlagNames& kind : kExplained) {
      if (at.given.empty()) out.words.emplace_back(kind.flag);
      if (at.given.size() == 1 && at.given[0] == kind.flag) out.resource = kind.resource;
    }
    return out;
  }
  for (const Place& place : kPlaces) {
    if (command == place.command &&
        (at.given.size() == place.before || (place.again && at.given.size() > place.before)))
      out.resource = place.resource;
  }
  return out;
}

std::vector<std::string> NamesOf(const api::Resource& resource, const std::vector<std::string>& typed) {
  ServerFlags server;
  server.kubeconfig = ValueOf(typed, "-k", "--kubeconfig");
  server.context = ValueOf(typed, "--context", "--context");
  server.master = ValueOf(typed, "-s", "--master");
  kube::HttpClientOptions options;
  options.request_timeout = options.connect_timeout = absl::Seconds(2);
  const absl::StatusOr<std::unique_ptr<ApiCaller>> caller = ApiCaller::Make(server, std::move(options));
  std::vector<std::string> names;
  if (!caller.ok()) return names;
  std::string ns = ValueOf(typed, "-n", "--namespace");
  if (ns.empty()) ns = (*caller)->default_namespace();
  const absl::StatusOr<Bytes> body =
      (*caller)->Call("GET", api::PathOf(resource, resource.namespaced ? ns : ""), {}, kAtMost);
  const absl::StatusOr<boost::json::value> list = body.ok() ? api::ParseJson(**body) : body.status();
  if (!list.ok()) return names;
  for (const boost::json::value& item : api::ListAt(*list, {"items"})) {
    std::string name = api::TextAt(item, {"metadata", "name"});
    if (api::CheckDns1123Subdomain(name).empty()) names.push_back(std::move(name));  // shells put it into their line
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gangway::cmd
