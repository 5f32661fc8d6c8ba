// Inputs that are manifests: their documents, and what is asked of the objects in them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/volcano/admission.h"
#include "api/volcano/job.h"
#include "base/hash.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/round_trip.h"
#include "translator/convert/options.h"

namespace gangway::testutil {

// The documents of an input; none when it is no manifest, which is then said with the source's name.
inline std::vector<api::MixedDocument> DocumentsOf(const std::uint8_t* data, std::size_t size) {
  const absl::string_view text = TextOf(data, size);
  api::ManifestLimits limits;
  limits.max_nodes = 20'000;
  limits.max_documents = 50;
  absl::StatusOr<std::vector<api::MixedDocument>> read = api::ReadMixedManifest(text, "f.yaml", limits);
  const absl::StatusOr<std::vector<api::MixedDocument>> again = api::ReadMixedManifest(text, "f.yaml", limits);
  Require(read.status() == again.status(), "the same bytes are read the same", text);
  if (!read.ok()) {
    Require(absl::StartsWith(read.status().message(), "f.yaml: "), "an error names the source",
            read.status().message());
    return {};
  }
  Require(read->size() == again->size(), "the same bytes are as many documents", text);
  for (std::size_t i = 0; i < read->size(); ++i)
    Require((*read)[i].document.json == (*again)[i].document.json, "the same bytes are the same documents", text);
  return *std::move(read);
}

// For whom to translate, drawn from the input itself.
inline convert::TranslateOptions OptionsFor(absl::string_view text) {
  const std::uint64_t draw = StableHash(text, 0);
  convert::TranslateOptions out;
  out.target = draw % 2 == 0           ? convert::Target::kGangway
               : draw / 32768 % 3 == 0 ? convert::Target::kKubernetes
                                       : convert::Target::kVolcano;
  out.volcano.minor = 8 + static_cast<int>(draw / 2 % 8);
  out.strict = draw / 16 % 4 == 0;
  out.kept = draw / 64 % 2 == 0;
  out.explain = draw / 128 % 2 == 0;
  out.sidecars = draw / 256 % 4 == 0;
  if (draw / 1024 % 2 == 0) out.elastic_etcd = "etcd.infra:2379";
  if (draw / 2048 % 4 == 0) out.nodes = 3;
  if (draw / 8192 % 4 == 0) out.group = convert::HandMadeGroup{.name = "wd", .min_member = 2, .queue = "ads"};
  return out;
}

// A Job that Volcano's admission takes, and adds nothing to.
inline void RequireAdmitted(const std::string& job_json, const std::string& name) {
  boost::json::value object = *api::ParseJson(job_json);
  const boost::json::value before = object;
  const api::volcano::Verdict verdict =
      api::volcano::Admit({.resource = &api::kJobs, .ns = "default", .name = name}, &object, nullptr);
  Require(verdict.allowed(), verdict.message.c_str(), job_json);
  Require(object == before, "admission adds nothing", job_json);
  RequireRoundTrip<api::volcano::Job>(job_json);
  ++came_out;
}

}  // namespace gangway::testutil
