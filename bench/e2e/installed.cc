#include "bench/e2e/installed.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "bench/e2e/load.h"

namespace gangway::bench {

using testutil::InstalledGangway;
using testutil::InstalledGangwayOptions;

std::unique_ptr<InstalledGangway> InstallOn(std::vector<kube::Request> nodes) {
  InstalledGangwayOptions options;
  options.nodes = 0;
  options.kwok = false;
  options.audit = false;
  auto gangway = InstalledGangway::Start(std::move(options));
  if (!gangway.ok()) std::fprintf(stderr, "%s\n", gangway.status().ToString().c_str());
  GW_CHECK(gangway.ok());
  Load((*gangway)->plane()).Send(std::move(nodes));
  return *std::move(gangway);
}

void MakeNamespace(InstalledGangway& gangway, const std::string& name) {
  GW_CHECK(gangway.plane()
               .Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", name, R"("}})"))
               .ok());
}

std::string Seconds(absl::Duration duration) { return absl::StrFormat("%.2f s", absl::ToDoubleSeconds(duration)); }

}  // namespace gangway::bench
