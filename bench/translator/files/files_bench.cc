// How long a file of PaddleJobs takes from text to text: read, checked, translated, written. Argument: jobs in the
// file.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/manifest/manifest.h"
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "translator/files/manifest.h"

namespace gangway {
namespace {

std::string Text(std::int64_t jobs) {
  std::string text;
  for (std::int64_t i = 0; i < jobs; ++i) {
    absl::StrAppend(&text, "---\napiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata:\n  name: wd-", i,
                    "\nspec:\n  withGloo: 1\n  intranet: PodIP\n  cleanPodPolicy: OnCompletion\n");
    for (const char* role : {"worker", "ps"}) {
      absl::StrAppend(&text, "  ", role,
                      ":\n    replicas: 2\n    template:\n      spec:\n        containers:\n          - name: paddle\n",
                      "            image: registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1\n            "
                      "command: [\"python\", \"train.py\"]\n",
                      "            resources:\n              limits:\n                cpu: \"2\"\n                "
                      "memory: 4Gi\n            volumeMounts:\n",
                      "              - {name: data, mountPath: /data}\n        volumes:\n          - name: data\n      "
                      "      persistentVolumeClaim: {claimName: data}\n");
    }
  }
  return text;
}

std::vector<api::MixedDocument> Read(const std::string& text) {
  auto documents = api::ReadMixedManifest(text, "jobs.yaml");
  GW_CHECK(documents.ok());
  return *std::move(documents);
}

void CountBytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_ReadYaml(benchmark::State& state) {
  const std::string text = Text(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Read(text));
  CountBytes(state, text);
}
BENCHMARK(BM_ReadYaml)->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);

void BM_TranslateManifest(benchmark::State& state) {
  const std::string text = Text(state.range(0));
  const std::vector<api::MixedDocument> documents = Read(text);
  const convert::TypeCheck check = cmd::CheckTypes;
  GW_CHECK(convert::TranslateManifest(documents, {}, check).refused == 0);
  for (auto _ : state) benchmark::DoNotOptimize(convert::TranslateManifest(documents, {}, check));
  CountBytes(state, text);
}
BENCHMARK(BM_TranslateManifest)->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);

void BM_FileToFile(benchmark::State& state) {
  const std::string text = Text(state.range(0));
  const convert::TypeCheck check = cmd::CheckTypes;
  for (auto _ : state) {
    const convert::ManifestTranslation translation = convert::TranslateManifest(Read(text), {}, check);
    GW_CHECK(translation.refused == 0);
    benchmark::DoNotOptimize(cmd::TranslationYaml(translation));
    benchmark::DoNotOptimize(cmd::TranslationFindings(translation));
  }
  CountBytes(state, text);
}
BENCHMARK(BM_FileToFile)->Arg(1)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gangway
