#include "bench/seed_job/seed_job.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "api/manifest/manifest.h"
#include "base/check.h"

namespace gangway::bench {

std::string SeedJob() {
  std::ifstream file(GW_SOURCE_DIR "/examples/ctr-volcano.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto documents = api::ReadManifest(text, "ctr-volcano.yaml");
  GW_CHECK(documents.ok() && documents->size() == 1);
  return documents->front().json;
}

std::string Renamed(std::string job, int number) {
  const std::string name = "\"name\":\"ctr-volcano\"";
  const auto at = job.find(name);
  GW_CHECK(at != std::string::npos);
  return job.replace(at, name.size(), absl::StrCat("\"name\":\"ctr-", number, "\""));
}

}  // namespace gangway::bench
