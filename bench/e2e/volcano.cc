#include "bench/e2e/volcano.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/load.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::bench {

using testutil::ChildProcess;
using testutil::ControlPlane;

std::string VolcanoFolder() {
  const char* const folder = std::getenv("GW_BENCH_VOLCANO");
  return folder == nullptr ? "" : folder;
}

std::string VolcanoTypes() { return VolcanoFolder().empty() ? "" : testutil::ReadFile(VolcanoFolder() + "/crds.yaml"); }

InstalledVolcano::InstalledVolcano(int nodes, bool audit) {
  testutil::ControlPlaneOptions options;
  options.volcano_types = VolcanoTypes();
  options.audit = audit;
  auto plane = ControlPlane::Start(std::move(options));
  if (!plane.ok()) std::fprintf(stderr, "%s\n", plane.status().ToString().c_str());
  GW_CHECK(plane.ok());
  plane_ = *std::move(plane);
  Load(*plane_).Send(Nodes(nodes));
  const auto start = [&](const std::string& program, std::vector<std::string> more) {
    std::vector<std::string> argv{absl::StrCat(VolcanoFolder(), "/", program),
                                  "--kubeconfig=" + plane_->admin_kubeconfig(), "--leader-elect=false",
                                  "--kube-api-qps=2000", "--kube-api-burst=2000"};
    argv.insert(argv.end(), more.begin(), more.end());
    return std::make_unique<ChildProcess>(argv, absl::StrCat(plane_->folder(), "/", program, ".log"),
                                          std::vector<std::string>{"DEBUG_SOCKET_DIR=" + plane_->folder()});
  };
  controllers_ = start("vc-controller-manager", {});
  scheduler_ = start("vc-scheduler", {absl::StrCat("--scheduler-conf=", VolcanoFolder(), "/scheduler.conf")});
  const bool ready = testutil::Eventually([&] {
    return absl::StrContains(*plane_->Call("GET", api::PathOf(api::kQueues, "", "default")).body, R"("state":"Open")");
  });
  if (!ready) {
    for (const char* program : {"vc-controller-manager", "vc-scheduler"})
      std::fprintf(stderr, "%s\n", testutil::ReadFile(absl::StrCat(plane_->folder(), "/", program, ".log")).c_str());
  }
  GW_CHECK(ready);
}

}  // namespace gangway::bench
