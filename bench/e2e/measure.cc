#include "bench/e2e/measure.h"

#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "bench/e2e/load.h"
#include "bench/e2e/volcano.h"
#include "tests/testing/files.h"

namespace gangway::bench {

using testutil::InstalledGangway;
using testutil::InstalledGangwayOptions;
using testutil::ProcessUse;

std::map<std::string, Cost> Writes(testutil::ControlPlane& plane) {
  static const std::regex& pattern = *new std::regex(
      R"re(resource="([a-z]*)".*subresource="([a-z]*)".*verb="(POST|PUT|PATCH|APPLY|DELETE)".* ([0-9.e+-]+)$)re");
  const kube::Response reply = plane.Call("GET", "/metrics");
  std::map<std::string, Cost> writes;
  std::cmatch match;
  for (const absl::string_view line : absl::StrSplit(*reply.body, '\n')) {
    const bool time = absl::StartsWith(line, "apiserver_request_duration_seconds_sum{");
    if ((!time && !absl::StartsWith(line, "apiserver_request_total{")) ||
        !std::regex_search(line.begin(), line.end(), match, pattern) || match[1] == "leases")
      continue;
    Cost& cost =
        writes[absl::StrCat(match[3].str(), " ", match[1].str(), match[2].length() > 0 ? "/" : "", match[2].str())];
    (time ? cost.seconds : cost.count) += std::stod(match[4]);
  }
  return writes;
}

std::string Since(const std::map<std::string, Cost>& before, const std::map<std::string, Cost>& after) {
  std::vector<std::string> texts;
  for (const auto& [what, cost] : after) {
    const auto it = before.find(what);
    const Cost was = it == before.end() ? Cost{} : it->second;
    const double more = cost.count - was.count;
    if (more > 0)
      texts.push_back(absl::StrFormat("%s %.0f of %.1f ms", what, more, 1e3 * (cost.seconds - was.seconds) / more));
  }
  return texts.empty() ? "none" : absl::StrJoin(texts, ", ");
}

std::map<std::string, double> CpuByProcess() {
  std::map<std::string, double> seconds;
  const auto add = [&](const std::string& name, pid_t pid) { seconds[name] += testutil::UseOf(pid).cpu_seconds; };
  add("this loader", getpid());
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");  // of the thread that started them
    for (pid_t pid = 0; children >> pid;) {
      const std::vector<std::string> argv =
          absl::StrSplit(testutil::ReadFile(absl::StrCat("/proc/", pid, "/cmdline")), '\0');
      std::string name = std::filesystem::path(argv[0]).filename();
      if (name == "gangway" && argv.size() > 1) absl::StrAppend(&name, " ", argv[1]);
      add(name, pid);
    }
  }
  return seconds;
}

std::string CpuSince(const std::map<std::string, double>& before, const std::map<std::string, double>& after) {
  std::vector<std::string> texts;
  for (const auto& [name, seconds] : after) {
    const auto it = before.find(name);
    const double more = seconds - (it == before.end() ? 0 : it->second);
    if (more > 0) texts.push_back(absl::StrFormat("%s %.2f s", name, more));
  }
  return absl::StrJoin(texts, ", ");
}

std::unique_ptr<InstalledGangway> Install(int nodes, const std::string& program, bool audit) {
  return InstallOn(Nodes(nodes), program, audit);
}

std::unique_ptr<InstalledGangway> InstallOn(std::vector<kube::Request> nodes, const std::string& program, bool audit) {
  InstalledGangwayOptions options;
  options.nodes = 0;
  options.kwok = false;
  options.audit = audit;
  options.program = program;
  options.volcano_types = VolcanoTypes();
  auto gangway = InstalledGangway::Start(std::move(options));
  if (!gangway.ok()) std::fprintf(stderr, "%s\n", gangway.status().ToString().c_str());
  GW_CHECK(gangway.ok());
  Load((*gangway)->plane()).Send(std::move(nodes));
  return *std::move(gangway);
}

void MakeNamespace(testutil::ControlPlane& plane, const std::string& name) {
  GW_CHECK(plane.Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", name, R"("}})")).ok());
}
void MakeNamespace(InstalledGangway& gangway, const std::string& name) { MakeNamespace(gangway.plane(), name); }

std::string Seconds(absl::Duration d) { return absl::StrFormat("%.2f s", absl::ToDoubleSeconds(d)); }
std::string Memory(const ProcessUse& use) {
  return absl::StrFormat("%.1f MiB resident, %.1f of them its own", use.resident_mebibytes, use.anonymous_mebibytes);
}

std::vector<std::string> Programs() {
  const char* const peer = std::getenv("GW_BENCH_PEER");
  return peer == nullptr ? std::vector<std::string>{""} : std::vector<std::string>{peer, ""};
}

}  // namespace gangway::bench
