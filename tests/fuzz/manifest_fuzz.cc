// YAML and JSON into objects: the same each time, JSON that parses, YAML of it reads back as the same values, and
// whatever decodes as an object is what its encoding decodes to.
#include "api/manifest/yaml_writer.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/scheduling.h"
#include "tests/fuzz/manifest_input.h"
#include "tests/fuzz/near.h"

namespace gangway::testutil {
namespace {

void RequireReadableYaml(const api::ManifestDocument& document) {
  const absl::StatusOr<boost::json::value> value = api::ParseJson(document.json);
  Require(value.ok(), "a document is JSON", document.json);
  for (const api::KeyOrder order : {api::KeyOrder::kSorted, api::KeyOrder::kAsWritten}) {
    const absl::StatusOr<std::string> yaml = api::YamlOf(document.json, order);
    Require(yaml.ok(), "a document can be written as YAML", document.json);
    const auto read = api::ReadDocuments(*yaml, "out.yaml");
    Require(read.ok() && read->size() == 1, "its YAML is one document", *yaml);
    const absl::StatusOr<boost::json::value> again = api::ParseJson(read->front().json);
    Require(again.ok() && Near(*again, *value), "its YAML has the same values", *yaml);
  }
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  for (const api::MixedDocument& input : testutil::DocumentsOf(data, size)) {
    const api::ManifestDocument& document = input.document;
    if (document.json == "null") continue;  // nothing stands there, or it could not be read
    testutil::Require(document.Find("spec.worker.template.spec.containers[0].name").line >= 1, "every field has a line",
                      document.json);
    testutil::RequireReadableYaml(document);
    ++testutil::came_out;
    testutil::RequireRoundTrip<api::paddle::PaddleJob>(document.json);
    testutil::RequireRoundTrip<api::paddle::kubeflow::PaddleJob>(document.json);
    testutil::RequireRoundTrip<api::volcano::Job>(document.json);
    testutil::RequireRoundTrip<api::volcano::PodGroup>(document.json);
    testutil::RequireRoundTrip<api::volcano::Queue>(document.json);
  }
  return 0;
}
