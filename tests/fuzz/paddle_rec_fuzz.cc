// PaddleRec's backend.yaml and config.yaml, two documents of one input, into a Job: the same each time; with an error
// nothing; else a Job that admission takes as it is.
#include "api/paddle/paddle_rec.h"
#include "tests/fuzz/manifest_input.h"
#include "translator/convert/paddle_rec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  using testutil::Require;
  const std::vector<api::MixedDocument> documents = testutil::DocumentsOf(data, size);
  if (documents.empty()) return 0;
  const absl::string_view text = testutil::TextOf(data, size);
  const convert::TranslateOptions options = testutil::OptionsFor(text);
  // Documents that are neither are given as both: they must be refused like any other.
  convert::RecSource source;
  source.backend_json = documents.front().document.json;
  source.config_json = source.config_text = documents.back().document.json;
  for (const api::MixedDocument& input : documents) {
    if (api::paddle::RecFileOf(input.document.json) == api::paddle::RecFile::kBackend)
      source.backend_json = input.document.json;
    if (api::paddle::RecFileOf(input.document.json) == api::paddle::RecFile::kConfig)
      source.config_json = source.config_text = input.document.json;
  }
  const convert::RecTranslation made = convert::TranslateRec(source, options),
                                again = convert::TranslateRec(source, options);
  const std::string encoded = api::Encode(made.job);
  Require(made.backend_errors == again.backend_errors && made.backend_warnings == again.backend_warnings &&
              made.config_errors == again.config_errors && made.findings == again.findings &&
              made.before == again.before && encoded == api::Encode(again.job),
          "the files translate the same each time", text);
  if (made.ok()) {
    testutil::RequireAdmitted(encoded, made.job.metadata.name);
  } else {
    Require(made.job.spec.tasks.empty() && made.before.empty(), "nothing comes out of files with an error", text);
  }
  return 0;
}
