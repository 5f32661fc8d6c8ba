// PaddleJobs of both dialects into Jobs: the same each time; with an error nothing; else a Job that admission takes as
// it is. As whole documents too, checked as a user's are: what comes out has no field of a wrong type.
#include "api/kinds/kinds.h"
#include "api/paddle/paddle_job.h"
#include "base/strings.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "tests/fuzz/manifest_input.h"
#include "translator/convert/translate.h"
#include "translator/files/manifest.h"

namespace gangway::testutil {
namespace {

template <class PaddleJob>
void RequireTranslatesWell(const std::string& json, const convert::TranslateOptions& options) {
  const absl::StatusOr<PaddleJob> job = api::Decode<PaddleJob>(json);
  if (!job.ok()) return;
  const convert::Translation made = convert::Translate(*job, options), again = convert::Translate(*job, options);
  const std::string encoded = api::Encode(made.job);
  Require(made.findings == again.findings && encoded == api::Encode(again.job) && made.before == again.before &&
              made.objects == again.objects && made.steps == again.steps,
          "a job translates the same each time", json);
  if (made.ok()) return RequireAdmitted(encoded, made.job.metadata.name);
  Require(made.job.spec.tasks.empty() && made.before.empty() && made.steps.empty(),
          "nothing comes out of a job with an error", json);
}

void RequireDocumentsTranslateWell(const std::vector<api::MixedDocument>& documents,
                                   const convert::TranslateOptions& options) {
  static const convert::TypeCheck check = cmd::CheckTypes;
  const convert::ManifestTranslation made = convert::TranslateManifest(documents, options, check);
  const std::string yaml = cmd::TranslationYaml(made), findings = cmd::TranslationFindings(made);
  const convert::ManifestTranslation again = convert::TranslateManifest(documents, options, check);
  Require(yaml == cmd::TranslationYaml(again) && findings == cmd::TranslationFindings(again),
          "documents translate the same each time", yaml);
  for (const convert::PlacedFinding& placed : made.findings)
    Require(placed.at.line >= 1, "every finding has a line", findings);
  for (const convert::ManifestObject& object : made.objects) {
    if (!object.made) continue;
    const boost::json::value value = *api::ParseJson(object.json);
    const api::Resource* const resource =
        api::FindKind(std::string(value.at("apiVersion").as_string()), std::string(value.at("kind").as_string()));
    if (resource == nullptr) continue;
    if (resource == &api::kJobs) RequireAdmitted(object.json, std::string(value.at("metadata").at("name").as_string()));
    Require(cmd::CheckTypes(*resource, value).errors.empty(), "the fields of an object have their types", object.json);
  }
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  const std::vector<api::MixedDocument> documents = testutil::DocumentsOf(data, size);
  if (documents.empty()) return 0;
  const convert::TranslateOptions options = testutil::OptionsFor(testutil::TextOf(data, size));
  for (const api::MixedDocument& input : documents) {
    testutil::RequireTranslatesWell<api::paddle::PaddleJob>(input.document.json, options);
    testutil::RequireTranslatesWell<api::paddle::kubeflow::PaddleJob>(input.document.json, options);
  }
  testutil::RequireDocumentsTranslateWell(documents, options);
  return 0;
}
